"""Each command on small files, as a user would try it."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import confusion_matrix, f1_score, matthews_corrcoef, roc_auc_score

import scoresieve
from scoresieve.baselines import L1SVM, SVMPerf
from scoresieve.estimators.sieve.results import feature_curve

from .conftest import QUICK


def table_of(text):
    """The cells of a CSV by row."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def sparse(folder):
    """A svmlight file in three forms, and an npz, of three classes."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((90, 30)) * (rng.random((90, 30)) < 0.2))
    y = np.arange(90) % 3 + 1
    X = X + sp.csr_array((np.full(90, 2.0), (np.arange(90), y + 4)), shape=X.shape)
    plain = io.BytesIO()
    dump_svmlight_file(sp.csr_matrix(X), y, plain, zero_based=False)
    (folder / "data.svm").write_bytes(plain.getvalue())
    (folder / "data.gz").write_bytes(gzip.compress(plain.getvalue()))
    (folder / "data.bz2").write_bytes(bz2.compress(plain.getvalue()))
    return X, y


def test_fit_writes_what_it_says(cli, folder):
    done = cli(f"fit messages.csv --label label {QUICK} --positive refund -o model")
    assert done.code == 0
    assert done.err == ""
    assert "class 'refund': 3 of " in done.out
    assert "text:money" in done.out
    assert done.out.endswith("model written to model\n")
    model = scoresieve.load(folder / "model")[-1]
    assert model.n_features_selected_ == 3
    assert model.pos_label == "refund"


def test_fit_without_a_name_keeps_nothing(cli, folder):
    before = sorted(folder.iterdir())
    done = cli(f"fit messages.csv {QUICK} --positive refund")
    assert "name a file with -o" in done.out
    assert sorted(folder.iterdir()) == before


def test_fit_as_json(cli):
    done = cli(
        f"fit messages.csv {QUICK} --positive refund --test messages_new.csv -o model --json"
    )
    found = json.loads(done.out)
    assert found["estimator"] == "ScoreSieve"
    assert found["positive"] == ["refund"]
    assert len(found["features"]) == 3
    scores = json.loads(cli("score model messages_new.csv --json").out)
    assert found["test"].items() <= scores.items()


def test_two_names_need_the_positive_one(cli):
    done = cli(f"fit messages.csv --label label {QUICK}")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "scoresieve: error: messages.csv: --positive is missing: the labels 'other' and "
        "'refund' do not tell which class is positive, and the score depends on it; type "
        "--positive 'other' or --positive 'refund'.\n"
    )


def test_predictions_of_a_table_need_no_training_data(cli, models, folder):
    (folder / "messages.csv").unlink()
    done = cli(f"predict {models / 'sieve'} messages_new.csv")
    assert done.code == 0
    rows = table_of(done.out)
    truth = pd.read_csv("messages_new.csv")["label"]
    assert len(rows) == len(truth)
    labels = [row["label"] for row in rows]
    assert f1_score(truth, labels, pos_label="refund") > 0.6
    for row in rows:
        assert (float(row["score"]) > 0) == (row["label"] == "refund")
        assert 0 <= float(row["probability"]) <= 1
    scores = [float(row["score"]) for row in rows]
    found = cli(f"score {models / 'sieve'} messages_new.csv --measure f1,roc_auc --json")
    expected = {
        "f1": f1_score(truth, labels, pos_label="refund"),
        "roc_auc": roc_auc_score(truth == "refund", scores),
    }
    scores = json.loads(found.out)
    assert {name: scores[name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_columns_may_come_in_any_order_and_labels_may_be_missing(cli, models):
    expected = cli(f"predict {models / 'sieve'} messages_new.csv").out
    frame = pd.read_csv("messages_new.csv")
    frame["more"] = 1
    frame.drop(columns="label")[["more", *frame.columns[-3::-1]]].to_csv("other.csv", index=False)
    assert cli(f"predict {models / 'sieve'} other.csv").out == expected
    frame.drop(columns="label").to_parquet("other.parquet")
    assert cli(f"predict {models / 'sieve'} other.parquet").out == expected


def test_predictions_from_standard_input_and_to_a_file(cli, models, folder):
    expected = cli(f"predict {models / 'sieve'} messages_new.csv").out
    content = (folder / "messages_new.csv").read_bytes()
    assert cli(f"predict {models / 'sieve'} -", content).out == expected
    assert cli(f"predict {models / 'sieve'} -", gzip.compress(content)).out == expected
    done = cli(f"predict {models / 'sieve'} messages_new.csv -o out.csv")
    assert done.out == ""
    assert (folder / "out.csv").read_text() == expected
    lines = cli(f"predict {models / 'sieve'} messages_new.csv --json").out.splitlines()
    assert [json.loads(line)["label"] for line in lines] == [
        row["label"] for row in table_of(expected)
    ]


@pytest.mark.parametrize("name", ["data.svm", "data.gz", "data.bz2"])
def test_svmlight_in_each_packing(cli, sparse, name):
    _, y = sparse
    done = cli(f"fit {name} --positive 3 {QUICK} -o model")
    assert done.code == 0, done.err
    assert "class '3': 3 of 30 features" in done.out
    assert "8" in done.out.split()  # the column that tells, counted from 1
    labels = [row["label"] for row in table_of(cli(f"predict model {name}").out)]
    assert {*labels} == {"3", "not 3"}
    assert np.mean((np.array(labels) == "3") == (y == 3)) > 0.9
    assert json.loads(cli(f"score model {name} --json").out)["f1"] > 0.8


def test_labels_beside_a_sparse_matrix(cli, sparse, folder):
    X, y = sparse
    sp.save_npz(folder / "X.npz", sp.csr_matrix(X))
    np.save(folder / "y.npy", y)
    assert cli(f"fit X.npz --label y.npy --positive 3 {QUICK} -o model").code == 0
    assert json.loads(cli("score model X.npz --label y.npy --json").out)["f1"] > 0.8
    assert "--label" in cli("score model X.npz").err
    np.save(folder / "short.npy", y[:-1])
    done = cli("fit X.npz --label short.npy -k 1")
    assert done.code == 1
    assert "89 labels for 90 rows" in done.err


def test_several_classes(cli, sparse):
    assert cli(f"fit data.svm {QUICK} -o model").code == 0
    rows = table_of(cli("predict model data.svm").out)
    assert np.mean([row["label"] for row in rows] == sparse[1].astype(str)) > 0.9
    assert all(float(row["probability"]) > 1 / 3 for row in rows)
    found = json.loads(cli("inspect model --json").out)
    assert found["positive"] == found["classes"] == ["1", "2", "3"]
    rows = json.loads(cli(f"path data.svm {QUICK} --json").out)
    assert [row["class"] for row in rows] == ["1", "2", "3"]


@pytest.mark.parametrize("method", ["sieve --cv 2 -C 1", "logistic"])
def test_the_score_of_several_classes_is_that_of_the_predicted_ones(cli, sparse, method):
    _, y = sparse
    done = cli(f"fit data.svm --method {method} -k 1 --test data.svm -o model --json")
    rows = table_of(cli("predict model data.svm").out)
    predicted = np.array([int(row["label"]) for row in rows])
    found = json.loads(cli("score model data.svm --measure f1,accuracy,mcc,roc_auc --json").out)
    assert found["f1"] == pytest.approx(f1_score(y, predicted, average="macro"))
    assert found["accuracy"] == pytest.approx(np.mean(y == predicted))
    assert found["mcc"] == pytest.approx(matthews_corrcoef(y, predicted))
    assert found["confusion"] == confusion_matrix(y, predicted).tolist()
    assert [each["class"] for each in found["classes"]] == ["1", "2", "3"]
    assert [each["f1"] for each in found["classes"]] == pytest.approx(
        f1_score(y, predicted, average=None)
    )
    own = json.loads(done.out)["test"]
    assert own["confusion"] == found["confusion"]
    assert own["classes"][0]["right"] == found["confusion"][0][0]
    text = cli("score model data.svm --measure f1").out
    assert text.split()[:4] == ["measure", "score", "f1", f"{found['f1']:.4g}"]
    assert text.splitlines()[-1].split() == ["3", *map(str, found["confusion"][2])]
    assert "each class against the rest" not in cli("inspect model").out


def test_the_positive_class_of_a_loss_is_the_one_that_was_named(cli):
    for label in ("other", "refund"):
        options = f"--positive {label} --method logistic -k 3"
        done = cli(f"fit messages.csv {options} -o {label} --json")
        assert json.loads(done.out)["positive"] == [label]
        rows = table_of(cli(f"predict {label} messages.csv").out)
        assert all((float(row["score"]) > 0) == (row["label"] == label) for row in rows)
        truth = pd.read_csv("messages.csv")["label"]
        found = [row["label"] for row in rows]
        scores = json.loads(cli(f"score {label} messages.csv --measure f1 --json").out)
        assert scores["f1"] == pytest.approx(f1_score(truth, found, pos_label=label))
        assert scores["alarms"] == found.count(label)
    weights = [
        {each["feature"]: each["weight"] for each in json.loads(cli(line).out)["features"]}
        for line in ("inspect other --json", "inspect refund --json")
    ]
    assert weights[0] == {name: -weight for name, weight in weights[1].items()}


def test_columns_beyond_those_of_training_are_left_out(cli, sparse, folder):
    assert cli(f"fit data.svm --positive 3 {QUICK} -o model").code == 0
    text = (folder / "data.svm").read_text()
    (folder / "wide.svm").write_text(text.replace("\n", " 77:1\n"))
    assert cli("predict model wide.svm").out == cli("predict model data.svm").out


def test_names_and_rows_of_length_one(cli, sparse, folder):
    (folder / "names.txt").write_text("\n".join(f"word{j}" for j in range(30)))
    done = cli(f"fit data.svm --positive 3 --unit-rows --names names.txt {QUICK} -o model")
    assert "word7" in done.out
    found = cli("inspect model")
    assert "word7" in found.out
    assert "rows divided by their length" in found.out
    # Twice the counts are the same rows of length 1.
    X, y = sparse
    np.savez(folder / "twice.npz", X=2 * X.toarray(), y=y)
    assert cli("predict model twice.npz").out == cli("predict model data.svm").out


def test_a_model_of_python_is_taken_and_one_of_the_command_line_is_read(cli, models, folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    y = np.where(frame["b"] > 0.3, "yes", "no")
    model = scoresieve.MeasureSVC(n_features_to_select=1, pos_label="yes").fit(frame, y)
    model.save(folder / "model")
    frame.assign(label=y).to_csv("data.csv", index=False)
    scores = json.loads(cli("score model data.csv --label label --json").out)
    assert scores["f1"] == model.score(frame, y)
    assert [row["label"] for row in table_of(cli("predict model data.csv").out)] == list(
        model.predict(frame)
    )
    assert scoresieve.load(models / "sieve").classes_.tolist() == ["other", "refund"]


@pytest.mark.parametrize(
    "rival",
    [L1SVM(C=1.0), SVMPerf(), scoresieve.BudgetClassifier("logistic", budget=2)],
    ids=lambda model: type(model).__name__,
)
def test_rivals_that_python_saved_can_be_asked(cli, folder, rival):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 1] > 0.3, 1, 0)
    rival.fit(X, y).save(folder / "model")
    np.savez(folder / "data.npz", X=X, y=y)
    labels = [int(row["label"]) for row in table_of(cli("predict model data.npz").out)]
    assert labels == rival.predict(X).tolist()
    assert json.loads(cli("inspect model --json").out)["estimator"] == type(rival).__name__
    assert type(rival).__name__ in cli("inspect model").out
    assert cli("score model data.npz").code == 0


def test_models_that_are_no_classifiers_of_rows_are_for_python(cli, folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    scoresieve.BudgetRegressor(budget=2).fit(X, X[:, 0]).save(folder / "regressor")
    scoresieve.MeasureSVC(budget=2).fit(X, X[:, :2] > 0).save(folder / "labels")
    for name, words in (("regressor", "not a classifier"), ("labels", "several labels")):
        done = cli(f"inspect {name}")
        assert done.code == 1
        assert words in done.err


def test_path_of_the_sieve_and_of_budgets(cli):
    options = "--positive refund -k 1,2,5"
    rows = json.loads(cli(f"path messages.csv {options} --cv 2 -C 1 --json").out)
    assert [row["k"] for row in rows] == [1, 2, 5]
    assert [row["chosen"] for row in rows].count("*") == 1
    assert all(0 < row["f1"] <= 1 for row in rows)
    rows = json.loads(cli(f"path messages.csv {options} --method logistic --json").out)
    assert [row["budget"] for row in rows] == [1, 2, 5]
    objectives = [row["objective"] for row in rows]
    assert objectives == sorted(objectives, reverse=True)
    assert all(row["lower bound"] <= row["objective"] for row in rows)
    assert len(cli(f"path messages.csv {options} --method squared-hinge").out.splitlines()) == 4


@pytest.mark.parametrize("data", ["messages.csv --positive refund -k 1,2,5", "data.svm -k 1,2"])
def test_path_marks_the_setting_that_the_model_takes(cli, sparse, data):
    """Of each size the setting that a fit takes is shown, which is not always the largest mean."""
    options = f"{data} --cv 2 -C 1"
    rows = json.loads(cli(f"path {options} --json").out)
    assert cli(f"fit {options} -o model").code == 0
    model = scoresieve.load("model")
    model = model[-1] if "messages" in data else model
    of_one_class = isinstance(model.best_params_, dict)
    tables = [model.cv_results_] if of_one_class else model.cv_results_
    chosen = [model.best_params_] if of_one_class else model.best_params_
    expected, marked = [], []
    for table, params in zip(tables, chosen, strict=True):
        at = table["params"].index(params)
        for row in feature_curve(table, at).rows:
            expected.append((table["params"][row], table["mean_test_score"][row], row == at))
        marked.append(params["n_features_to_select"])
    found = [
        (row["k"], row["columns by"], row["model"], row["f1"], row["chosen"] == "*") for row in rows
    ]
    assert found == [
        (p["n_features_to_select"], p["selection"], p["final_model"], score, is_chosen)
        for p, score, is_chosen in expected
    ]
    assert [row["k"] for row in rows if row["chosen"]] == marked


def test_certificates_are_recomputed(cli, models):
    (row,) = json.loads(cli(f"certify {models / 'measure'} messages.csv --json").out)
    model = scoresieve.load(models / "measure")[-1]
    assert row["objective"] == pytest.approx(model.primal_[0])
    assert row["lower bound"] == pytest.approx(model.dual_[0])
    assert row["gap"] == pytest.approx(row["gap of the fit"])
    assert "objective" in cli(f"certify {models / 'measure'} messages.csv").out


def test_inspect_shows_what_is_kept(cli, models):
    out = cli(f"inspect {models / 'measure'}").out
    assert out.startswith("MeasureSVC(n_features_to_select=3, pos_label='refund')\n")
    assert "classes: other, refund" in out
    assert "text (text), city (category), orders (number), amount (number), member (flag)" in out
    assert cli(f"inspect {models / 'sieve'}").out.count("text:") >= 1


def test_matrices_survive_conversions(cli, sparse):
    for first, second in (("data.svm", "a.npz"), ("a.npz", "b.svm.bz2"), ("b.svm.bz2", "c.csv")):
        done = cli(f"convert {first} {second}")
        assert done.out == f"90 rows and 30 columns written to {second}\n"
    assert cli("convert c.csv d.parquet").code == 0
    X, y = sparse
    frame = pd.read_parquet("d.parquet")
    assert np.array_equal(frame.pop("label"), y)
    assert list(frame.columns[:2]) == ["x1", "x2"]
    assert np.allclose(frame, X.toarray(), rtol=1e-12)
    assert np.allclose(sp.load_npz("a.npz").toarray(), X.toarray())


def test_tables_stay_as_they_are_and_become_matrices(cli):
    assert cli("convert messages.csv a.parquet").code == 0
    assert cli("convert a.parquet b.csv.gz").code == 0
    pd.testing.assert_frame_equal(pd.read_csv("b.csv.gz"), pd.read_csv("messages.csv"))
    assert cli("convert messages.csv a.svm --positive refund").code == 0
    lines = Path("a.svm").read_text().splitlines()
    assert {line.split()[0] for line in lines} == {"1", "-1"}
    assert cli("convert messages.csv a.npz").code == 0
    with np.load("a.npz") as file:
        assert "text:refund" in file["feature_names"]
    assert "text:money" in cli(f"fit a.npz --positive refund {QUICK}").out


def test_bags_from_a_table_and_from_arrays(cli, folder):
    options = "--label active --positive yes --cv 2 -C 1 -k 1"
    done = cli(f"mil fit molecules.csv --bag molecule {options} -o model")
    assert done.code == 0, done.err
    assert "class 'yes': 1 instance" in done.out
    (named,) = re.findall(r"bag (m\d\d), instance \d", done.out)
    assert named in set(pd.read_csv("molecules.csv")["molecule"])
    (feature,) = json.loads(cli("inspect model --json").out)["features"]
    assert feature["feature"].startswith(f"bag {named}, instance ")
    rows = table_of(cli("mil predict model molecules.csv").out)
    frame = pd.read_csv("molecules.csv").groupby("molecule", sort=False)["active"].first()
    assert [row["bag"] for row in rows] == list(frame.index)
    assert np.mean([row["label"] for row in rows] == frame.to_numpy()) > 0.85
    assert json.loads(cli("score model molecules.csv --json").out)["f1"] > 0.8
    assert "molecules.csv" not in cli("inspect model").out

    bags = pd.read_csv("molecules.csv")
    X = bags[["width", "charge", "depth"]].to_numpy()
    names, bag = np.unique(bags["molecule"], return_inverse=True)
    labels = (frame[names] == "yes").to_numpy().astype(int)
    np.savez(folder / "bags.npz", X=X, bag=bag, bag_label=labels)
    done = cli("mil fit bags.npz --method measure -k 1 --certificate -o of_arrays")
    assert done.code == 0, done.err
    assert json.loads(cli("score of_arrays bags.npz --json").out)["f1"] > 0.9
    (row,) = json.loads(cli("certify of_arrays bags.npz --json").out)
    assert row["lower bound"] <= row["objective"]


def test_report_writes_a_page(cli, models, folder):
    done = cli(f"report {models / 'sieve'} messages_new.csv -o page.html --title Refunds")
    assert done.out == "page written to page.html\n", done.err
    page = (folder / "page.html").read_text()
    assert "Refunds" in page
    assert "text:money" in page
    cli(f"report {models / 'sieve'} -o without.html")
    assert len((folder / "without.html").read_text()) < len(page)
    done = cli(f"report {models / 'sieve'} messages_new.csv -o bad.html --label city")
    assert done.code == 1
    assert not (folder / "bad.html").exists()


def test_demo_runs_the_demonstration(cli, monkeypatch):
    calls = []
    monkeypatch.setattr("scoresieve.demo.main", lambda arguments: calls.append(arguments) or 0)
    assert cli("demo -o here").code == 0
    assert calls == [["--output", "here"]]


def test_demo_ends_with_its_reader(cli, monkeypatch):
    def nobody_reads(arguments):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("scoresieve.demo.main", nobody_reads)
    assert cli("demo") == (141, "", "")
