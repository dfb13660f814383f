"""Bad files and wrong options: one line that names the culprit and says what to do, no file."""

from __future__ import annotations

import bz2
import gzip
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from tests.helpers import with_checksum

WRONG_DATA, WRONG_USE = 1, 2

TABLE = "a,b,label\n1,2,x\n2,1,y\n3,5,x\n4,4,y\n"
SVM = "1 1:1 3:2\n-1 2:1\n1 1:2\n-1 3:1\n"


def csv_with(text):
    return {"data.csv": text}


def many(column, values):
    rows = "".join(f"{value},{i % 2}\n" for i, value in enumerate(values))
    return csv_with(f"{column},label\n{rows}")


def npz(**arrays):
    def write(path):
        np.savez(path, **arrays)

    return {"data.npz": write}


def parquet(**columns):
    return {"data.parquet": lambda path: pd.DataFrame(columns).to_parquet(path)}


def zip_of(member):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, "text")

    return {"data.npz": write}


FIT = "fit {} -k 1 -o out"
X, Y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])

#: Files to write, the command, its exit code, and what the line must hold.
CASES = {
    "no file": ({}, FIT.format("data.csv"), WRONG_DATA, ["data.csv", "check the name"]),
    "folder": ({}, FIT.format("."), WRONG_DATA, [".:", "folder", "file"]),
    "empty": (csv_with(""), FIT.format("data.csv"), WRONG_DATA, ["data.csv", "empty", "give"]),
    "blank": (csv_with("\n \n"), FIT.format("data.csv"), WRONG_DATA, ["data.csv", "empty"]),
    "header only": (
        csv_with("a,label\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "no rows", "add"],
    ),
    "no header": (
        csv_with("1,2,0\n2,1,1\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "names of the columns"],
    ),
    "column twice": (
        csv_with("a,a,label\n1,2,x\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "'a'", "twice"],
    ),
    "column without a name": (
        csv_with("a,,label\n1,2,x\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "column 2", "name it"],
    ),
    "row too long": (
        csv_with("a,label\n1,x\n2,y,3,4\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "more cells", "quotes"],
    ),
    "all rows too long": (
        csv_with("a,label\n1,x,1\n2,y,3\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "row 1", "more cells", "quotes"],
    ),
    "quote without end": (
        csv_with('a,label\n"1,x\n2,y\n'),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "cannot be read", "quotes"],
    ),
    "not UTF-8": (
        {"data.csv": "a,label\n1,caf\u00e9\n2,x\n".encode("latin-1")},
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "UTF-8", "save"],
    ),
    "binary": (
        {"data.csv": bytes(range(256))},
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "convert"],
    ),
    "no such label": (
        csv_with(TABLE),
        FIT.format("data.csv --label c"),
        WRONG_USE,
        ["data.csv", "--label c", "a, b, label"],
    ),
    "label number too large": (
        csv_with(TABLE),
        FIT.format("data.csv --label 4"),
        WRONG_USE,
        ["--label 4", "a, b, label"],
    ),
    "no usual label": (
        csv_with(TABLE.replace("label", "kind")),
        FIT.format("data.csv"),
        WRONG_USE,
        ["data.csv", "--label NAME", "kind"],
    ),
    "label missing in a row": (
        csv_with("a,label\n1,x\n2,\n3,y\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "'label'", "row 2", "fill"],
    ),
    "one class": (
        csv_with("a,label\n1,x\n2,x\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "label x", "second class"],
    ),
    "labels are measurements": (
        csv_with("a,label\n" + "".join(f"{i},{i + 0.5}\n" for i in range(40))),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "no classes", "--label"],
    ),
    "no such positive class": (
        csv_with(TABLE),
        FIT.format("data.csv --positive z"),
        WRONG_USE,
        ["data.csv", "--positive z", "x, y"],
    ),
    "no such column to drop": (
        csv_with(TABLE),
        FIT.format("data.csv --drop z"),
        WRONG_USE,
        ["data.csv", "--drop z", "a, b"],
    ),
    "columns to drop in one word": (
        csv_with(TABLE),
        FIT.format("data.csv --drop a,b"),
        WRONG_USE,
        ["data.csv", "--drop a,b is none", "Give them one by one: --drop a --drop b."],
    ),
    "all columns dropped": (
        csv_with(TABLE),
        FIT.format("data.csv --drop a --drop b"),
        WRONG_DATA,
        ["data.csv", "no column is left", "give"],
    ),
    "text and categorical": (
        csv_with(TABLE),
        FIT.format("data.csv --text a --categorical a"),
        WRONG_USE,
        ["--text a", "--categorical a", "give one"],
    ),
    "number missing": (
        csv_with("age,label\n1,x\n,y\n3,x\n,y\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "'age'", "2 rows", "row 2", "--drop age"],
    ),
    "infinite number": (
        csv_with("age,label\n1,x\ninf,y\n3,x\n"),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "'age'", "inf", "correct"],
    ),
    "column of identifiers": (
        many("id", [f"user{i}" for i in range(80)]),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "'id'", "80 different", "--drop id"],
    ),
    "text without a common word": (
        many("note", [f"q{i}a q{i}b q{i}c" for i in range(30)]),
        FIT.format("data.csv"),
        WRONG_DATA,
        ["data.csv", "'note'", "--drop note"],
    ),
    "names for a table": (
        csv_with(TABLE),
        FIT.format("data.csv --names data.csv"),
        WRONG_USE,
        ["data.csv", "--names", "leave it out"],
    ),
    "unit rows of a table": (
        csv_with(TABLE),
        FIT.format("data.csv --unit-rows"),
        WRONG_USE,
        ["data.csv", "--unit-rows", "leave it out"],
    ),
    "dates": (
        parquet(day=pd.to_datetime(["2020-01-01"] * 4), label=Y),
        FIT.format("data.parquet"),
        WRONG_DATA,
        ["data.parquet", "'day'", "dates", "--drop day"],
    ),
    "lists": (
        parquet(parts=[[1, 2]] * 4, label=Y),
        FIT.format("data.parquet"),
        WRONG_DATA,
        ["data.parquet", "'parts'", "lists", "--drop parts"],
    ),
    "parquet cut off": (
        {"data.parquet": b"PAR1 and then nothing"},
        FIT.format("data.parquet"),
        WRONG_DATA,
        ["data.parquet", "cannot be read"],
    ),
    "svmlight with a word": (
        {"data.svm": SVM + "1 1:abc\n"},
        FIT.format("data.svm"),
        WRONG_DATA,
        ["data.svm", "label index:value", "correct"],
    ),
    "svmlight unsorted": (
        {"data.svm": SVM + "1 3:1 2:1\n"},
        FIT.format("data.svm"),
        WRONG_DATA,
        ["data.svm", "rising", "correct"],
    ),
    "svmlight with NaN": (
        {"data.svm": SVM + "1 3:nan\n"},
        FIT.format("data.svm"),
        WRONG_DATA,
        ["data.svm", "NaN", "fill in"],
    ),
    "svmlight with a negative column": (
        {"data.svm": SVM + "1 -3:1\n"},
        FIT.format("data.svm"),
        WRONG_DATA,
        ["data.svm", "index", "correct"],
    ),
    "svmlight with a huge column": (
        {"data.svm": SVM + "1 99999999999:1\n"},
        FIT.format("data.svm"),
        WRONG_DATA,
        ["data.svm", "index", "correct"],
    ),
    "svmlight of one class": (
        {"data.svm": "1 1:1\n1 2:1\n"},
        FIT.format("data.svm"),
        WRONG_DATA,
        ["data.svm", "label 1", "second class"],
    ),
    "label of svmlight": (
        {"data.svm": SVM},
        FIT.format("data.svm --label y"),
        WRONG_USE,
        ["data.svm", "--label y", "leave it out"],
    ),
    "text column of svmlight": (
        {"data.svm": SVM},
        FIT.format("data.svm --text a"),
        WRONG_USE,
        ["data.svm", "--text", "leave it out"],
    ),
    "too few names": (
        {"data.svm": SVM, "names.txt": "one\ntwo\n"},
        FIT.format("data.svm --names names.txt"),
        WRONG_DATA,
        ["names.txt", "2 lines", "3 columns"],
    ),
    "gz in name only": (
        {"data.svm.gz": SVM},
        FIT.format("data.svm.gz"),
        WRONG_DATA,
        ["data.svm.gz", ".gz", "rename"],
    ),
    "gz cut off": (
        {"data.gz": gzip.compress(SVM.encode() * 999)[:-30]},
        FIT.format("data.gz"),
        WRONG_DATA,
        ["data.gz", "truncated", "download it again"],
    ),
    "bz2 cut off": (
        {"data.bz2": bz2.compress(SVM.encode() * 999)[:-9]},
        FIT.format("data.bz2"),
        WRONG_DATA,
        ["data.bz2", "truncated", "download it again"],
    ),
    "gz damaged": (
        {"data.gz": gzip.compress(SVM.encode() * 999)[:20] + b"\0" * 40},
        FIT.format("data.gz"),
        WRONG_DATA,
        ["data.gz", "damaged", "again"],
    ),
    "xz": (
        {"data.svm": b"\xfd7zXZ\0\0"},
        FIT.format("data.svm"),
        WRONG_DATA,
        ["data.svm", "xz", "gz or bz2"],
    ),
    "npz without a matrix": (
        npz(y=Y),
        FIT.format("data.npz"),
        WRONG_DATA,
        ["data.npz", "no matrix", "save X"],
    ),
    "npz without labels": (
        npz(X=X),
        FIT.format("data.npz"),
        WRONG_USE,
        ["data.npz", "labels", "--label"],
    ),
    "npz without that array": (
        npz(X=X, y=Y),
        FIT.format("data.npz --label z"),
        WRONG_USE,
        ["data.npz", "--label z", "X, y"],
    ),
    "npz with too few labels": (
        npz(X=X, y=Y[:3]),
        FIT.format("data.npz"),
        WRONG_DATA,
        ["data.npz", "3 labels", "4 rows"],
    ),
    "npz of objects": (
        npz(X=X, y=np.array([{}, {}, {}, {}])),
        FIT.format("data.npz"),
        WRONG_DATA,
        ["data.npz", "cannot be read"],
    ),
    "npz of text": (
        npz(X=np.array([["a"]]), y=Y),
        FIT.format("data.npz"),
        WRONG_DATA,
        ["data.npz", "matrix of numbers"],
    ),
    "npz with NaN": (
        npz(X=X * np.nan, y=Y),
        FIT.format("data.npz"),
        WRONG_DATA,
        ["data.npz", "NaN", "fill in"],
    ),
    "zip of something else": (
        zip_of("readme.txt"),
        FIT.format("data.npz"),
        WRONG_DATA,
        ["data.npz", "no npz", "unpack"],
    ),
    "no such folder": (
        csv_with(TABLE),
        "fit data.csv -k 1 -o there/out",
        WRONG_DATA,
        ["there/out", "make it first"],
    ),
    "output is a folder": (csv_with(TABLE), "fit data.csv -k 1 -o .", WRONG_DATA, ["folder", "-o"]),
    "k of zero": (csv_with(TABLE), "fit data.csv -k 0 -o out", WRONG_USE, ["-k", "'0'", "5,10"]),
    "k is a word": (csv_with(TABLE), "fit data.csv -k few -o out", WRONG_USE, ["-k", "'few'"]),
    "C below 0": (csv_with(TABLE), FIT.format("data.csv -C -1"), WRONG_USE, ["-C", "positive"]),
    "no such measure": (
        csv_with(TABLE),
        FIT.format("data.csv --measure f1x"),
        WRONG_USE,
        ["--measure f1x", "f1"],
    ),
    "two measures": (
        csv_with(TABLE),
        FIT.format("data.csv --measure f1,mcc"),
        WRONG_USE,
        ["--measure f1,mcc", "give one"],
    ),
    "no such method": (
        csv_with(TABLE),
        FIT.format("data.csv --method magic"),
        WRONG_USE,
        ["--method", "'magic'", "sieve"],
    ),
    "several sizes of one model": (
        csv_with(TABLE),
        "fit data.csv -k 1,2 --method measure -o out",
        WRONG_USE,
        ["--method measure", "-k 10"],
    ),
    "cv of one model": (
        csv_with(TABLE),
        FIT.format("data.csv --method hinge --cv 3"),
        WRONG_USE,
        ["--cv 3", "Leave it out"],
    ),
    "budget of the sieve": (
        csv_with(TABLE),
        "fit data.csv --budget 3 -o out",
        WRONG_USE,
        ["--budget 3", "-k"],
    ),
    "certificate of the sieve": (
        csv_with(TABLE),
        FIT.format("data.csv --certificate"),
        WRONG_USE,
        ["--certificate", "--method measure"],
    ),
    "too few rows of a class": (
        csv_with("a,label\n1,x\n2,y\n3,x\n4,x\n"),
        FIT.format("data.csv --positive y"),
        WRONG_DATA,
        ["data.csv", "more rows", "--cv 2"],
    ),
    "unknown option": (csv_with(TABLE), FIT.format("data.csv --fast"), WRONG_USE, ["--fast"]),
    "unknown command": ({}, "fitt data.csv", WRONG_USE, ["fitt", "fit", "--help"]),
    "no argument": ({}, "fit", WRONG_USE, ["FILE", "scoresieve fit --help"]),
    "path of auto budgets": (
        csv_with(TABLE),
        "path data.csv --method hinge -k auto",
        WRONG_USE,
        ["-k auto", "5,10,20"],
    ),
    "format of a conversion": (
        csv_with(TABLE),
        "convert data.csv out.xlsx",
        WRONG_USE,
        ["out.xlsx", ".npz"],
    ),
    "labels of a conversion": (
        csv_with(TABLE),
        "convert data.csv out.svm",
        WRONG_USE,
        ["data.csv", "--positive"],
    ),
    "no bags": (csv_with(TABLE), "mil fit data.csv -k 1 -o out", WRONG_USE, ["data.csv", "--bag"]),
    "bag without a name": (
        csv_with("b,a,label\nm,1,x\n,2,y\n"),
        "mil fit data.csv --bag b -k 1 -o out",
        WRONG_DATA,
        ["data.csv", "row 2", "'b'", "fill"],
    ),
    "bag with two labels": (
        csv_with("b,a,label\nm,1,x\nm,2,y\nn,1,y\n"),
        "mil fit data.csv --bag b -k 1 -o out",
        WRONG_DATA,
        ["data.csv", "bag m", "one label"],
    ),
    "no model": ({"data.csv": TABLE}, "predict model data.csv", WRONG_DATA, ["model", "-o model"]),
    "model is no model": (
        {"model": "text", "data.csv": TABLE},
        "predict model data.csv",
        WRONG_DATA,
        ["model", "no model file"],
    ),
}


def check(done, code, words):
    """One line for people, the code for scripts, and nothing on stdout."""
    assert done.code == code
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("scoresieve: error: ")
    for word in words:
        assert word in line
    assert "Traceback" not in line


def write_files(folder, files):
    for name, content in files.items():
        if callable(content):
            content(folder / name)
        else:
            content = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(content)


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_no_file(cli, folder, case):
    files, line, code, words = CASES[case]
    write_files(folder, files)
    before = {path.name for path in folder.iterdir()}
    check(cli(line), code, words)
    assert {path.name for path in folder.iterdir()} == before


def test_there_are_enough_cases():
    assert len(CASES) >= 40


#: The same for files that a model of the messages is asked about: columns to change, and the words.
OTHERS = {
    "column missing": (lambda f: f.drop(columns="amount"), "predict", ["'amount'", "add"]),
    "word for a number": (
        lambda f: f.assign(amount=f["amount"].astype(str).replace("23.06", "much")),
        "predict",
        ["'amount'", "'much'", "row 1", "correct"],
    ),
    "number missing": (
        lambda f: f.assign(orders=f["orders"].where(f.index != 4)),
        "predict",
        ["'orders'", "row 5", "fill"],
    ),
    "not a truth value": (
        lambda f: f.assign(member="maybe"),
        "predict",
        ["'member'", "'maybe'", "true or false"],
    ),
    "unknown label": (
        lambda f: f.assign(label="spam"),
        "score",
        ["label spam", "other, refund", "--label"],
    ),
    "label missing": (lambda f: f.assign(label=""), "score", ["no label", "row 1", "fill"]),
    "no column of labels": (lambda f: f.drop(columns="label"), "score", ["--label label"]),
    "one class": (lambda f: f.assign(label="other"), "score", ["f1", "score"]),
    "other rows": (lambda f: f, "certify", ["not the training file", "give that file"]),
}


@pytest.mark.parametrize("case", OTHERS)
def test_files_that_do_not_fit_a_model(cli, models, folder, case):
    change, command, words = OTHERS[case]
    change(pd.read_csv("messages_new.csv")).to_csv("other.csv", index=False)
    done = cli(f"{command} {models / 'measure'} other.csv")
    check(done, WRONG_USE if "--label label" in words else WRONG_DATA, ["other.csv", *words])


def test_models_that_do_not_fit_a_command(cli, models, folder):
    write_files(folder, {"data.svm": SVM})
    sieve, measure, lean = (models / name for name in ("sieve", "measure", "lean"))
    for line, code, words in (
        (f"certify {sieve} messages.csv", 1, [str(sieve), "no certificate", "--certificate"]),
        (f"certify {lean} messages.csv", 1, [str(lean), "no dual point", "--certificate"]),
        (f"mil predict {sieve} messages.csv", 2, [str(sieve), "scoresieve predict"]),
        (f"predict {measure} data.svm", 1, ["data.svm", "CSV or parquet"]),
        (f"predict messages.csv {measure}", 1, ["messages.csv", "no model file"]),
        (f"predict {measure} {sieve}", 1, [str(sieve), "model before the data"]),
        (f"score {measure} messages.csv --measure f3x", 2, ["--measure f3x"]),
        (f"predict {measure} messages.csv -o no/where", 1, ["no/where", "make it first"]),
        (f"predict {measure} -", 1, ["standard input", "empty"]),
    ):
        check(cli(line), code, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tree: tree.update(format_version=99), ["format version 99", "Upgrade"]),
        (lambda tree: tree["input"].update(version=2), ["input.version", "upgrade"]),
        (lambda tree: tree["input"].pop("label"), ["input.label is missing"]),
        (lambda tree: tree["input"].update(positive="z"), ["positive", "other, refund"]),
        (lambda tree: tree["input"].update(more=1), ["surplus", "more"]),
        (lambda tree: tree["input"]["rows"]["columns"].pop(), ["73 columns"]),
        (lambda tree: tree["input"]["rows"].update(kind="pickle"), ["must be one of"]),
        (lambda tree: tree["input"]["rows"]["columns"][0].update(terms=[1]), ["distinct texts"]),
        (lambda tree: tree["input"]["rows"]["columns"][2].update(scale=0.0), ["scale"]),
        (lambda tree: tree["input"]["rows"]["columns"][2].update(name="city"), ["distinct names"]),
        (lambda tree: tree.update(input=[]), ["input.rows", "surplus"]),
    ],
)
def test_model_files_that_were_changed(cli, models, folder, change, words):
    with zipfile.ZipFile(models / "sieve") as old:
        members = {name: old.read(name) for name in old.namelist()}
    tree = json.loads(members["model.json"])
    change(tree)
    members = with_checksum(members | {"model.json": json.dumps(tree).encode()})
    with zipfile.ZipFile(folder / "changed", "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    check(cli("predict changed messages.csv"), WRONG_DATA, ["changed", *words])


def test_a_model_file_that_was_cut_off(cli, models, folder):
    content = (models / "sieve").read_bytes()
    for size in (0, 10, len(content) // 2, len(content) - 1):
        (folder / "cut").write_bytes(content[:size])
        check(cli("inspect cut"), WRONG_DATA, ["cut", "no model file"])
