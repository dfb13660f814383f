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


def many(column, values):
    rows = "".join(f"{value},{i % 2}\n" for i, value in enumerate(values))
    return f"{column},label\n{rows}"


def npz(**arrays):
    def write(path):
        np.savez(path, **arrays)

    return write


def parquet(**columns):
    return lambda path: pd.DataFrame(columns).to_parquet(path)


def zip_of(member):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, "text")

    return write


X, Y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])

#: Files that a fit refuses: name, content, and words of the line besides the name.
FILES = {
    "empty": ("data.csv", "", "empty | give"),
    "blank": ("data.csv", "\n \n", "empty"),
    "header only": ("data.csv", "a,label\n", "no rows | add"),
    "no header": ("data.csv", "1,2,0\n2,1,1\n", "names of the columns"),
    "column twice": ("data.csv", "a,a,label\n1,2,x\n", "'a' | twice"),
    "column without a name": ("data.csv", "a,,label\n1,2,x\n", "column 2 | name it"),
    "row too long": ("data.csv", "a,label\n1,x\n2,y,3,4\n", "more cells | quotes"),
    "all rows too long": ("data.csv", "a,label\n1,x,1\n2,y,3\n", "row 1 | more cells | quotes"),
    "quote without end": ("data.csv", 'a,label\n"1,x\n2,y\n', "cannot be read | quotes"),
    "not UTF-8": ("data.csv", "a,label\n1,caf\u00e9\n2,x\n".encode("latin-1"), "UTF-8 | save"),
    "binary": ("data.csv", bytes(range(256)), "convert"),
    "label missing in a row": ("data.csv", "a,label\n1,x\n2,\n3,y\n", "'label' | row 2 | fill"),
    "one class": ("data.csv", "a,label\n1,x\n2,x\n", "label x | second class"),
    "labels are measurements": (
        "data.csv",
        "a,label\n" + "".join(f"{i},{i + 0.5}\n" for i in range(40)),
        "not classes | --label",
    ),
    "no number at all": ("data.csv", "age,label\n,x\n,y\n,x\n", "'age' | no value | --drop age"),
    "word among numbers": (
        "data.csv",
        many("body mass", [*range(30), "high", *range(30)]),
        "'body mass' | 'high' in row 31 | numbers in most other rows | --drop 'body mass'",
    ),
    "several columns": (
        "data.csv",
        "id,it's,day,label\n" + "".join(f"u{i},{i},2020-01-3{i % 3},{i % 2}\n" for i in range(80)),
        "2 columns | 'id' has 80 | 'day' holds '2020-01-32' in row 3 | --drop id --drop day",
    ),
    "infinite number": ("data.csv", "age,label\n1,x\ninf,y\n3,x\n", "'age' | inf | correct"),
    "column of identifiers": (
        "data.csv",
        many("id", [f"user{i}" for i in range(80)]),
        "'id' | 80 different | --drop id",
    ),
    "text without a common word": (
        "data.csv",
        many("note", [f"q{i}a q{i}b q{i}c" for i in range(30)]),
        "'note' | --drop note",
    ),
    "spans of time": (
        "data.parquet",
        parquet(stay=pd.to_timedelta([1, 2, 3, 4], unit="D"), label=Y),
        "'stay' | spans of time | --drop stay",
    ),
    "lists": (
        "data.parquet",
        parquet(parts=[[1, 2]] * 4, label=Y),
        "'parts' | lists | --drop parts",
    ),
    "parquet cut off": ("data.parquet", b"PAR1 and then nothing", "cannot be read"),
    "svmlight with a word": ("data.svm", SVM + "1 1:abc\n", "label index:value | correct"),
    "svmlight unsorted": ("data.svm", SVM + "1 3:1 2:1\n", "increasing | correct"),
    "svmlight with NaN": ("data.svm", SVM + "1 3:nan\n", "NaN | fill in"),
    "svmlight with a negative column": ("data.svm", SVM + "1 -3:1\n", "index | correct"),
    "svmlight with a huge column": ("data.svm", SVM + "1 99999999999:1\n", "index | correct"),
    "svmlight of one class": ("data.svm", "1 1:1\n1 2:1\n", "label 1 | second class"),
    "gz in name only": ("data.svm.gz", SVM, ".gz | rename"),
    "gz cut off": (
        "data.gz",
        gzip.compress(SVM.encode() * 999)[:-30],
        "truncated | download it again",
    ),
    "bz2 cut off": (
        "data.bz2",
        bz2.compress(SVM.encode() * 999)[:-9],
        "truncated | download it again",
    ),
    "gz damaged": (
        "data.gz",
        gzip.compress(SVM.encode() * 999)[:20] + b"\0" * 40,
        "damaged | again",
    ),
    "xz": ("data.svm", b"\xfd7zXZ\0\0", "xz | gz or bz2"),
    "npz without a matrix": ("data.npz", npz(y=Y), "no matrix | save X"),
    "npz with too few labels": ("data.npz", npz(X=X, y=Y[:3]), "3 labels | 4 rows"),
    "npz of objects": ("data.npz", npz(X=X, y=np.array([{}, {}, {}, {}])), "cannot be read"),
    "npz of text": ("data.npz", npz(X=np.array([["a"]]), y=Y), "matrix of numbers"),
    "npz with NaN": ("data.npz", npz(X=X * np.nan, y=Y), "NaN | fill in"),
    "zip of something else": ("data.npz", zip_of("readme.txt"), "not an npz | unpack"),
}
#: Options of a fit that do not suit a table, and words of the line.
OPTIONS = {
    "no such label": ("--label c", "data.csv | --label c | a, b, label"),
    "label number too large": ("--label 4", "--label 4 | a, b, label"),
    "no such positive class": ("--positive z", "data.csv | --positive z | x, y"),
    "no such column to drop": ("--drop z", "data.csv | --drop z | a, b"),
    "columns to drop in one word": (
        "--drop a,b",
        "data.csv | --drop a,b is not one of | Give them one by one: --drop a --drop b.",
    ),
    "text and categorical": ("--text a --categorical a", "--text a | --categorical a | give one"),
    "names for a table": ("--names data.csv", "data.csv | --names | leave it out"),
    "unit rows of a table": ("--unit-rows", "data.csv | --unit-rows | leave it out"),
    "C below 0": ("-C -1", "-C | positive"),
    "no such measure": ("--measure f1x", "--measure f1x | f1"),
    "two measures": ("--measure f1,mcc", "--measure f1,mcc | give one"),
    "no such method": ("--method magic", "--method | 'magic' | sieve"),
    "cv of one model": ("--method hinge --cv 3", "--cv 3 | Leave it out"),
    "certificate of the sieve": ("--certificate", "--certificate | --method measure"),
    "unknown option": ("--fast", "--fast"),
}
#: Other commands beside the same table, the exit code, and words of the line.
COMMANDS = {
    "all columns dropped": (
        "fit data.csv --drop a --drop b -k 1 -o out",
        WRONG_DATA,
        "data.csv | no column is left | give",
    ),
    "label in other letters": (
        "fit data.csv --label Label -k 1 -o out",
        WRONG_USE,
        "--label Label is not one of its | (did you mean 'label'?)",
    ),
    "no such folder": ("fit data.csv -k 1 -o there/out", WRONG_DATA, "there/out | make it first"),
    "output is a folder": ("fit data.csv -k 1 -o .", WRONG_DATA, "folder | -o"),
    "k of zero": ("fit data.csv -k 0 -o out", WRONG_USE, "-k | '0' | 5,10"),
    "k is a word": ("fit data.csv -k few -o out", WRONG_USE, "-k | 'few'"),
    "several sizes of one model": (
        "fit data.csv -k 1,2 --method measure -o out",
        WRONG_USE,
        "--method measure | -k 10",
    ),
    "budget of the sieve": ("fit data.csv --budget 3 -o out", WRONG_USE, "--budget 3 | -k"),
    "path of auto budgets": (
        "path data.csv --method hinge -k auto",
        WRONG_USE,
        "-k auto | 5,10,20",
    ),
    "format of a conversion": ("convert data.csv out.xlsx", WRONG_USE, "out.xlsx | .npz"),
    "labels of a conversion": ("convert data.csv out.svm", WRONG_USE, "data.csv | --positive"),
    "no bags": ("mil fit data.csv -k 1 -o out", WRONG_USE, "data.csv | --bag"),
    "no model": ("predict model data.csv", WRONG_DATA, "model | -o model"),
}
#: The same with files of their own.
CASES = {
    "no file": ({}, "fit data.csv -k 1 -o out", WRONG_DATA, "data.csv | check the name"),
    "folder": ({}, "fit . -k 1 -o out", WRONG_DATA, ".: | folder | file"),
    "no usual label": (
        {"data.csv": TABLE.replace("label", "kind")},
        "fit data.csv -k 1 -o out",
        WRONG_USE,
        "data.csv | --label NAME | kind",
    ),
    "label of svmlight": (
        {"data.svm": SVM},
        "fit data.svm --label y -k 1 -o out",
        WRONG_USE,
        "data.svm | --label y | leave it out",
    ),
    "text column of svmlight": (
        {"data.svm": SVM},
        "fit data.svm --text a -k 1 -o out",
        WRONG_USE,
        "data.svm | --text | leave it out",
    ),
    "too few names": (
        {"data.svm": SVM, "names.txt": "one\ntwo\n"},
        "fit data.svm --names names.txt -k 1 -o out",
        WRONG_DATA,
        "names.txt | 2 lines | 3 columns",
    ),
    "npz without labels": (
        {"data.npz": npz(X=X)},
        "fit data.npz -k 1 -o out",
        WRONG_USE,
        "data.npz | labels | --label",
    ),
    "npz without that array": (
        {"data.npz": npz(X=X, y=Y)},
        "fit data.npz --label z -k 1 -o out",
        WRONG_USE,
        "data.npz | --label z | X, y",
    ),
    "too few rows of a class": (
        {"data.csv": "a,label\n1,x\n2,y\n3,x\n4,x\n"},
        "fit data.csv --positive y -k 1 -o out",
        WRONG_DATA,
        "data.csv | more rows | --cv 2",
    ),
    "unknown command": ({}, "fitt data.csv", WRONG_USE, "fitt | fit | --help"),
    "no argument": ({}, "fit", WRONG_USE, "FILE | scoresieve fit --help"),
    "bag without a name": (
        {"data.csv": "b,a,label\nm,1,x\n,2,y\n"},
        "mil fit data.csv --bag b -k 1 -o out",
        WRONG_DATA,
        "data.csv | row 2 | 'b' | fill",
    ),
    "bag with two labels": (
        {"data.csv": "b,a,label\nm,1,x\nm,2,y\nn,1,y\n"},
        "mil fit data.csv --bag b -k 1 -o out",
        WRONG_DATA,
        "data.csv | bag m | one label",
    ),
    "model is no model": (
        {"model": "text", "data.csv": TABLE},
        "predict model data.csv",
        WRONG_DATA,
        "model | not a model file",
    ),
}
CASES |= {
    name: ({file: content}, f"fit {file} -k 1 -o out", WRONG_DATA, f"{file} | {words}")
    for name, (file, content, words) in FILES.items()
}
CASES |= {
    name: ({"data.csv": TABLE}, f"fit data.csv {options} -k 1 -o out", WRONG_USE, words)
    for name, (options, words) in OPTIONS.items()
}
CASES |= {name: ({"data.csv": TABLE}, *case) for name, case in COMMANDS.items()}


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
    check(cli(line), code, words.split(" | "))
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
    name = "measure" if command == "certify" else "all"
    done = cli(f"{command} {models / name} other.csv")
    check(done, WRONG_USE if "--label label" in words else WRONG_DATA, ["other.csv", *words])


def test_models_that_do_not_fit_a_command(cli, models, folder):
    write_files(folder, {"data.svm": SVM})
    sieve, measure, lean = (models / name for name in ("sieve", "measure", "lean"))
    for line, code, words in (
        (f"certify {sieve} messages.csv", 1, [str(sieve), "no certificate", "--certificate"]),
        (f"certify {lean} messages.csv", 1, [str(lean), "no dual point", "--certificate"]),
        (f"mil predict {sieve} messages.csv", 2, [str(sieve), "scoresieve predict"]),
        (f"predict {measure} data.svm", 1, ["data.svm", "CSV or parquet"]),
        (f"predict messages.csv {measure}", 1, ["messages.csv", "not a model file"]),
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
        (lambda tree: tree["input"].update(version=99), ["input.version", "upgrade"]),
        (lambda tree: tree["input"].pop("label"), ["input.label is missing"]),
        (lambda tree: tree["input"].update(positive="z"), ["positive", "other, refund"]),
        (lambda tree: tree["input"].update(more=1), ["surplus", "more"]),
        (lambda tree: tree["input"]["rows"]["columns"].pop(), ["73 columns"]),
        (lambda tree: tree["input"]["rows"].update(kind="pickle"), ["must be one of"]),
        (lambda tree: tree["input"]["rows"]["columns"][0].update(terms=[1]), ["distinct texts"]),
        (lambda tree: tree["input"]["rows"]["columns"][2].update(scale=0.0), ["scale"]),
        (lambda tree: tree["input"]["rows"]["columns"][2].update(name="city"), ["distinct names"]),
        (lambda tree: tree.update(input=[]), ["input.rows", "does not refer to"]),
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
        check(cli("inspect cut"), WRONG_DATA, ["cut", "not a model file"])
