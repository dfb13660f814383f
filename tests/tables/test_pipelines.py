"""Models of tables: fitted by the command line or in Python, asked in the other one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import scoresieve
from scoresieve import BudgetRegressor, MeasureSVC, ScoreSieve, TableEncoder, load, save
from scoresieve.cli.app import run
from tests.cli.conftest import EXAMPLES

MESSAGES = EXAMPLES / "messages.csv"


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """``ask("predict", "model", "data.csv")``: the table on stdout."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0):
        capsys.readouterr()
        assert run([str(each) for each in arguments]) == code
        out, err = capsys.readouterr()
        return err if code else out

    return call


def labels_of(csv):
    return [line.split(",")[0] for line in csv.splitlines()[1:]]


@pytest.fixture
def cancer():
    """Breast cancer as a user has it: a table with names."""
    data = load_breast_cancer(as_frame=True)
    return data.data.assign(diagnosis=np.where(data.target == 0, "malignant", "benign"))


def test_breast_cancer_from_the_command_line_in_python(ask, cancer):
    cancer[::2].to_csv("train.csv", index=False)
    cancer[1::2].to_csv("test.csv", index=False)
    options = ["--label", "diagnosis", "--positive", "malignant", "--method", "measure", "-k", 5]
    ask("fit", "train.csv", *options, "-o", "model")
    expected = labels_of(ask("predict", "model", "test.csv"))
    model, frame = load("model"), pd.read_csv("test.csv")
    for columns in (frame.columns, frame.columns[::-1]):
        assert model.predict(frame[columns]).tolist() == expected
    assert 60 < expected.count("malignant") < 140
    used = list(model[0].needed_)
    assert len(used) == 5
    assert model.predict(frame[used]).tolist() == expected
    scores = ask("score", "model", "test.csv")
    assert f"{model.score(frame, frame['diagnosis']):.4g}" in scores
    with pytest.raises(ValueError, match=f"X lacks '{used[0]}', which the model was fitted on"):
        model.predict(frame[used[1:]])
    assert used[0] in str(model[-1].summary())


def test_a_model_of_python_in_the_command_line(ask, cancer):
    X, y = cancer.drop(columns="diagnosis"), cancer["diagnosis"]
    X.loc[::7, "mean radius"] = np.nan
    model = make_pipeline(
        TableEncoder(drop=["mean area"]),
        ScoreSieve(n_features_to_select=3, cv=2, Cs=[1.0], pos_label="malignant"),
    )
    save(model.fit(X, y), "model")
    cancer.assign(**{"mean radius": X["mean radius"]}).to_csv("data.csv", index=False)
    assert labels_of(ask("predict", "model", "data.csv")) == model.predict(X).tolist()
    assert f"{model.score(X, y):.4g}" in ask("score", "model", "data.csv", "--label", "diagnosis")
    assert "by the median: mean radius (82 rows)" in ask("inspect", "model")
    copy = load("model")
    assert np.array_equal(copy.decision_function(X), model.decision_function(X))
    assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
    save(copy, "again")
    with open("model", "rb") as one, open("again", "rb") as other:
        assert one.read() == other.read()


def test_texts_keep_their_names(ask):
    frame = pd.read_csv(MESSAGES)
    model = make_pipeline(TableEncoder(), MeasureSVC(n_features_to_select=3, pos_label="refund"))
    model.fit(frame.drop(columns="label"), frame["label"])
    assert "text:money" in str(model[-1].summary())
    assert model[-1].feature_names_in_.tolist() == model[0].get_feature_names_out().tolist()
    save(model, "model")
    ask("fit", MESSAGES, "--positive", "refund", "--method", "measure", "-k", 3, "-o", "other")
    assert labels_of(ask("predict", "model", MESSAGES)) == labels_of(
        ask("predict", "other", MESSAGES)
    )
    assert np.array_equal(load("other").predict(frame), load("model").predict(frame))
    # Only the text has weights; nothing else is asked for.
    frame[["text"]].to_csv("text.csv", index=False)
    frame[["text"]].to_parquet("text.parquet")
    assert ask("predict", "model", "text.csv") == ask("predict", "model", MESSAGES)
    assert ask("predict", "model", "text.parquet") == ask("predict", "model", MESSAGES)
    other_names = model[0].transform(frame)
    other_names.feature_names = other_names.feature_names[::-1]
    with pytest.raises(ValueError, match=r"column 0 of X is .*fitted with"):
        model[-1].predict(other_names)


def test_rows_of_length_one(ask):
    rng = np.random.default_rng(0)
    X = rng.random((60, 4))
    y = (X[:, 1] > 0.5).astype(int)
    np.savez("data.npz", X=X, y=y)
    ask("fit", "data.npz", "--unit-rows", "--method", "measure", "-k", 2, "-o", "model")
    model = load("model")
    assert [type(step).__name__ for _, step in model.steps] == ["Normalizer", "MeasureSVC"]
    expected = labels_of(ask("predict", "model", "data.npz"))
    assert model.predict(3 * X).astype(str).tolist() == expected
    save(make_pipeline(Normalizer(), MeasureSVC(n_features_to_select=2)).fit(X, y), "again")
    assert labels_of(ask("predict", "again", "data.npz")) == expected
    ask("fit", "data.npz", "--method", "measure", "-k", 2, "-o", "plain")
    assert type(load("plain")) is MeasureSVC


def test_certificates_need_all_columns(ask, cancer):
    cancer = cancer.iloc[::3, [*range(8), -1]]
    cancer.to_csv("data.csv", index=False)
    options = ["--label", "diagnosis", "--positive", "malignant", "--method", "measure", "-k", 2]
    options += ["--certificate"]
    ask("fit", "data.csv", *options, "-o", "model")
    model = load("model")
    assert model[0].needed_.size == 8
    found = model[-1].certify(model[0].transform(cancer), cancer["diagnosis"])
    assert found.gap == pytest.approx(model[-1].gap_[0])
    part = cancer.drop(columns="mean radius")
    part.to_csv("part.csv", index=False)
    assert "X lacks 'mean radius'" in ask("certify", "model", "part.csv", code=1)
    assert ask("predict", "model", "part.csv") == ask("predict", "model", "data.csv")


def test_bags_of_a_table(ask):
    molecules = EXAMPLES / "molecules.csv"
    options = ["--bag", "molecule", "--label", "active", "--positive", "yes", "-k", 1]
    ask("mil", "fit", molecules, *options, "--method", "measure", "-o", "model")
    model, frame = load("model"), pd.read_csv(molecules)
    bags = scoresieve.mil.Bags.from_groups(model[0].transform(frame), frame["molecule"])
    rows = ask("mil", "predict", "model", molecules, "--drop", "active").splitlines()[1:]
    assert model[-1].predict(bags).tolist() == [row.split(",")[1] for row in rows]


def test_dropped_columns(ask):
    frame = pd.read_csv(MESSAGES).assign(**{"row id": np.arange(240).astype(str)})
    frame["row id"] = "r" + frame["row id"]
    frame.to_csv("data.csv", index=False)
    drop = ["--drop", "row id"]
    options = ["--positive", "refund", "--method", "measure", "-k", 2, "-o", "model"]
    assert "drop 'row id'" in ask("fit", "data.csv", *options, code=1)
    ask("fit", "data.csv", *options, *drop)
    assert ask("predict", "model", "data.csv", *drop) == ask("predict", "model", "data.csv")
    assert ask("score", "model", "data.csv", *drop) == ask("score", "model", "data.csv")
    assert "--drop text: the model needs" in ask(
        "predict", "model", "data.csv", "--drop", "text", code=2
    )
    assert "--drop z is not one of" in ask("score", "model", "data.csv", "--drop", "z", code=2)
    np.savez("data.npz", X=np.eye(4), y=[0, 1, 0, 1])
    ask("fit", "data.npz", "--method", "measure", "-k", 2, "-o", "numbers")
    assert "--drop needs named columns" in ask(
        "predict", "numbers", "data.npz", "--drop", "z", code=2
    )


def test_what_was_imputed_is_told(ask):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["age", "dose", "weight"])
    frame["label"] = np.where(frame["dose"] > 0, "yes", "no")
    frame["day"] = pd.date_range("2026-01-01", periods=80).strftime("%Y-%m-%d")
    frame.loc[:9, "age"] = frame.loc[3:4, "day"] = None
    frame.to_csv("data.csv", index=False)
    options = ["--positive", "yes", "--method", "measure", "-k", 1, "-o", "model"]
    out = ask("fit", "data.csv", *options)
    assert "imputed      by the median: age (10 rows), day (2 rows)\n" in out
    assert '"age": 10' in ask("fit", "data.csv", *options, "--json")
    assert "imputed" not in ask("fit", MESSAGES, *options[:1], "refund", *options[2:])


def test_what_cannot_be_saved(tmp_path):
    X, y = np.eye(4), [0, 1, 0, 1]
    path = tmp_path / "model"
    model = MeasureSVC(n_features_to_select=1).fit(X, y)
    scaled = make_pipeline(StandardScaler(), MeasureSVC(n_features_to_select=1)).fit(X, y)
    with pytest.raises(ValueError, match="pipeline of StandardScaler, MeasureSVC; a file holds"):
        save(scaled, path)
    with pytest.raises(TypeError, match="model is a LogisticRegression; pass a fitted"):
        save(LogisticRegression(), path)
    frame = pd.DataFrame({"a": [1, 2, 3]})
    with pytest.raises(ValueError, match="makes 1 columns, but the model was fitted on 4"):
        save(make_pipeline(TableEncoder().fit(frame), model), path)
    assert not path.exists()
    save(model, path)
    assert type(load(path)) is MeasureSVC


def test_a_class_does_not_load_a_pipeline(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0, 8.0]})
    model = make_pipeline(TableEncoder(), BudgetRegressor(budget=1)).fit(frame, [1, 2, 3, 5])
    save(model, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match=r"holds a Pipeline, not a B.*; use scoresieve\.load\."):
        BudgetRegressor.load(tmp_path / "model")


def test_the_report_tells_how_to_load(ask):
    ask("fit", MESSAGES, "--positive", "refund", "--method", "measure", "-k", 3, "-o", "model")
    ask("report", "model", "-o", "page.html")
    with open("page.html", encoding="utf-8") as page:
        text = page.read()
    assert "# Pipeline of TableEncoder and MeasureSVC" in text
    assert "print(model[-1].summary())\nmodel.predict(table)  # a DataFrame" in text
    load("model")[-1].report("bare.html")
    with open("bare.html", encoding="utf-8") as page:
        assert "model.predict(X)" in page.read()
