"""Decisions by the command line: another threshold, the highest scores, ids, and intervals."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import precision_score, recall_score

import scoresieve
from scoresieve.cli.tasks.predicting import wilson_interval
from tests.cli.conftest import QUICK


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("options", "goal"),
    [
        ("--recall 0.95", {"recall": 0.95}),
        ("--precision 0.6", {"precision": 0.6}),
        ("--alarm-rate 0.1", {"alarm_rate": 0.1}),
        ("--cost-of-alarm 1 --cost-of-miss 20", {"cost_of_miss": 20.0, "cost_of_alarm": 1.0}),
    ],
)
def test_another_threshold_is_that_of_python(cli, models, options, goal):
    before = rows_of(cli(f"predict {models / 'sieve'} messages_new.csv").out)
    done = cli(f"predict {models / 'sieve'} messages_new.csv {options}")
    assert done.code == 0, done.err
    old = scoresieve.load(models / "sieve")[-1]
    shift = old.models_[0].threshold - old.at(**goal).models_[0].threshold
    for row, known in zip(rows_of(done.out), before, strict=True):
        score = float(known["score"]) + shift
        assert float(row["score"]) == pytest.approx(score, abs=1e-5)
        assert row["label"] == ("refund" if score > 0 else "other")
        assert row["probability"] == known["probability"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--recall 90", 2, "'--recall': 90.0 is not in the range 0<x<=1"),
        ("--cost-of-miss 0 --cost-of-alarm 1", 2, "'--cost-of-miss': 0.0 is not in the range x>0"),
        ("--cost-of-miss 3", 2, "--cost-of-miss 3: give one of --recall, --precision and"),
        ("--recall 0.9 --alarm-rate 0.1", 2, "--recall 0.9 and --alarm-rate 0.1: give one of"),
        ("--precision 1", 1, "precision=1 is not reached on the held-out rows, where the highest"),
        ("--top 61", 2, "messages_new.csv: --top 61 is more than its 60 rows; lower it."),
        ("--id name", 2, "--id name is not one of its 6 columns: text, city"),
        ("--keep label", 2, "the column label has the name of a column of predictions; rename it"),
    ],
)
def test_wrong_decisions(cli, models, monkeypatch, options, code, message):
    if options == "--precision 1":  # as if the highest score were of a false alarm
        table = scoresieve.ClassModel.__module__
        monkeypatch.setattr(f"{table}.ThresholdTable.precisions", np.array([0.0, 0.8, 0.5]))
        monkeypatch.setattr(f"{table}.ThresholdTable.n_alarms", np.array([0.0, 5.0, 8.0]))
    done = cli(f"predict {models / 'sieve'} messages_new.csv {options}")
    assert done.code == code
    assert message in done.err
    assert done.out == ""


def test_models_without_held_out_rows_or_with_several_classes_have_one_threshold(cli, models):
    done = cli(f"predict {models / 'measure'} messages_new.csv --recall 0.9")
    assert done.code == 2
    assert "--recall 0.9 needs scores of held-out rows, which a MeasureSVC does not" in done.err
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame.assign(label=np.digitize(frame["a"], [-0.5, 0.5])).to_csv("three.csv", index=False)
    assert cli(f"fit three.csv {QUICK} -o three").code == 0
    for option in ("--recall 0.9", "--top 3"):
        done = cli(f"predict three three.csv {option}")
        assert done.code == 2
        assert f"three: {option} needs a model of two classes; fit one class against" in done.err
    assert set(json.loads(cli("score three three.csv --json").out)) == {
        "f1",
        "classes",
        "confusion",
    }


def test_ids_before_and_kept_columns_behind_as_they_stand(cli, models, folder):
    frame = pd.read_csv("messages_new.csv")
    codes = [f"{row:04}" if row % 7 else "" for row in range(len(frame))]
    frame.assign(code=codes).to_csv("coded.csv", index=False)
    line = f"predict {models / 'sieve'} coded.csv --id code --id text --keep amount"
    rows = rows_of(cli(line).out)
    assert list(rows[0]) == ["code", "text", "label", "score", "probability", "amount"]
    assert [row["code"] for row in rows] == codes
    assert [row["text"] for row in rows] == frame["text"].tolist()
    with open(folder / "coded.csv", newline="") as file:
        assert [r["amount"] for r in rows] == [r["amount"] for r in csv.DictReader(file)]
    plain = rows_of(cli(f"predict {models / 'sieve'} messages_new.csv").out)
    assert [{name: row[name] for name in plain[0]} for row in rows] == plain
    content = (folder / "coded.csv").read_bytes()
    assert cli(line.replace("coded.csv", "-"), content).out == cli(line).out
    frame.assign(code=codes).to_parquet("coded.parquet")
    assert cli(line.replace("coded.csv", "coded.parquet")).out == cli(line).out
    (first, *_) = cli(f"{line} --json").out.splitlines()
    assert json.loads(first)["code"] == codes[0]


def test_copied_columns_need_a_table(cli):
    assert cli("convert messages.csv messages.npz --positive refund").code == 0
    assert cli(f"fit messages.npz {QUICK} --positive refund -o model").code == 0
    done = cli("predict model messages.npz --id text")
    assert done.code == 2
    assert "--id text needs a table, whose columns have names; give CSV or parquet." in done.err


def test_the_highest_scores_with_their_rows(cli, models):
    every = rows_of(cli(f"predict {models / 'sieve'} messages_new.csv").out)
    order = sorted(range(len(every)), key=lambda row: (-float(every[row]["score"]), row))
    rows = rows_of(cli(f"predict {models / 'sieve'} messages_new.csv --top 9 --id text").out)
    assert list(rows[0])[:2] == ["row", "text"]
    assert [int(row["row"]) - 1 for row in rows] == order[:9]
    texts = pd.read_csv("messages_new.csv")["text"]
    assert [row["text"] for row in rows] == [texts[at] for at in order[:9]]
    assert [row["label"] for row in rows] == [every[at]["label"] for at in order[:9]]


def test_bags_have_names_instead_of_row_numbers(cli):
    line = "mil fit molecules.csv --bag molecule --label active --positive yes"
    assert cli(f"{line} {QUICK} -o model").code == 0
    every = rows_of(cli("mil predict model molecules.csv").out)
    rows = rows_of(cli("mil predict model molecules.csv --top 4").out)
    scores = sorted((float(row["score"]) for row in every), reverse=True)
    assert [float(row["score"]) for row in rows] == scores[:4]
    assert list(rows[0]) == ["bag", "label", "score", "probability"]
    found = rows_of(cli("mil predict model molecules.csv --recall 1").out)
    assert [row["label"] for row in found].count("yes") >= 20


def test_scores_with_intervals_and_the_number_of_alarms(cli, models):
    truth = pd.read_csv("messages_new.csv")["label"]
    rows = rows_of(cli(f"predict {models / 'sieve'} messages_new.csv").out)
    labels = [row["label"] for row in rows]
    found = json.loads(cli(f"score {models / 'sieve'} messages_new.csv --json").out)
    of = {"precision": labels.count("refund"), "recall": int(np.sum(truth == "refund"))}
    hits = int(np.sum((truth == "refund") & (np.array(labels) == "refund")))
    for name, score in {"precision": precision_score, "recall": recall_score}.items():
        assert found[name]["value"] == score(truth, labels, pos_label="refund")
        ends = binomtest(hits, of[name]).proportion_ci(method="wilson")
        assert [found[name]["low"], found[name]["high"]] == pytest.approx([*ends])
    counts = {"hits": hits, "alarms": of["precision"], "positives": of["recall"], "rows": 60}
    assert counts.items() <= found.items()
    lines = cli(f"score {models / 'sieve'} messages_new.csv").out.splitlines()
    assert lines[0].split() == ["measure", "score", "95", "%", "from", "to"]
    assert [line.split()[0] for line in lines[1:4]] == ["f1", "precision", "recall"]
    assert lines[4] == (
        f"{of['precision']} alarms in 60 rows, {hits} of them right; {of['recall']} positives"
    )


@pytest.mark.parametrize(("n_hits", "n"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (450, 1000)])
def test_intervals_of_shares(n_hits, n):
    ends = binomtest(n_hits, n).proportion_ci(method="wilson")
    assert wilson_interval(n_hits, n) == pytest.approx([*ends], abs=1e-12)
    assert all(math.isnan(end) for end in wilson_interval(0, 0))
