"""Files as X and y, and other files in the same way."""

from __future__ import annotations

import bz2
import gzip
import io
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from scoresieve._record import Record
from scoresieve.cli.data.labels import as_labels, choose_positive, match_labels
from scoresieve.cli.data.reading import read_like, read_training
from scoresieve.cli.data.source import Choices, Kind, find_source
from scoresieve.tables.encoding import Encoding

SVM = b"# a comment\n1 qid:3 1:1.5 3:2\n-1 2:1 # more\n\n1 1:2\n"


@pytest.fixture
def mixed():
    """Forty rows with a column of each kind."""
    rng = np.random.default_rng(0)
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    return pd.DataFrame(
        {
            "size": rng.normal(50.0, 7.0, 40).round(3),
            "n": rng.integers(0, 9, 40),
            "fixed": 3,
            "shop": rng.choice(["a", "b", ""], 40),
            "ok": np.arange(40) % 3 == 0,
            "note": [" ".join(rng.choice(words, 5)) for _ in range(40)],
            "label": np.where(np.arange(40) % 4 == 0, "yes", "no"),
        }
    )


def kept(encoding):
    """As it comes back from a file."""
    return Encoding.from_record(Record(encoding.plain(), "input"))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (SVM, Kind.SVMLIGHT),
        (b"1\n-1 2:1\n", Kind.SVMLIGHT),
        (b"+1 1:1\r\n-1 2:1\r\n", Kind.SVMLIGHT),
        (b"a,b\n1,2\n", Kind.CSV),
        (b"\xef\xbb\xbfa;b\n1;2\n", Kind.CSV),
        (b"time,label\n12:30,1\n12:40,0\n", Kind.CSV),
        (b"text\tlabel\n1 2:3\t1\n", Kind.CSV),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_content_says_what_a_file_is(tmp_path, content, kind, pack):
    path = tmp_path / "file"
    path.write_bytes(pack(content))
    assert find_source(str(path)).kind is kind


def test_binary_formats_are_known_by_content(tmp_path, mixed):
    np.savez(tmp_path / "a.npz", X=np.eye(2))
    (tmp_path / "a.npz").rename(tmp_path / "a")
    mixed.to_parquet(tmp_path / "b")
    assert find_source(str(tmp_path / "a")).kind is Kind.NPZ
    assert find_source(str(tmp_path / "b")).kind is Kind.PARQUET


def test_a_watcher_sees_all_of_a_file(tmp_path):
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(SVM))
    shares = []
    read_training(str(path), Choices(), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_columns_of_svmlight_count_from_one_unless_there_is_a_zero(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(SVM)
    table = read_training(str(path), Choices())
    assert table.X.toarray().tolist() == [[1.5, 0, 2], [0, 1, 0], [2, 0, 0]]
    assert table.y.tolist() == [1, -1, 1]
    assert table.encoding.rows.feature_names().tolist() == [1, 2, 3]
    # A file that lacks the first column is read with the numbers of the training file.
    path.write_bytes(b"1 2:1\n")
    assert read_like(str(path), kept(table.encoding)).X.toarray().tolist() == [[0, 1, 0]]
    path.write_bytes(b"1 0:1 2:3\n-1 1:1\n")
    table = read_training(str(path), Choices())
    assert table.X.toarray().tolist() == [[1, 0, 3], [0, 1, 0]]
    path.write_bytes(b"1 1:1 2:5\n")
    assert read_like(str(path), kept(table.encoding)).X.toarray().tolist() == [[0, 1, 5]]


def test_each_kind_of_column(tmp_path, mixed):
    path = str(tmp_path / "data.csv")
    mixed.to_csv(path, index=False)
    table = read_training(path, Choices())
    kinds = {column.name: column.kind for column in table.encoding.rows.encoder.columns_}
    assert kinds == {
        **{"size": "number", "n": "number", "fixed": "number"},
        **{"shop": "category", "ok": "flag", "note": "text"},
    }
    names = table.encoding.rows.feature_names().tolist()
    X = pd.DataFrame(table.X.toarray(), columns=names)
    for name in ("size", "n"):
        expected = (mixed[name] - mixed[name].mean()) / mixed[name].std(ddof=0)
        assert np.allclose(X[name], expected)
    assert np.all(X["fixed"] == 0)
    assert np.array_equal(X["ok"], mixed["ok"])
    for value in ("a", "b", ""):
        assert np.array_equal(X[f"shop={value or '(missing)'}"], mixed["shop"] == value)
    words = [name for name in names if name.startswith("note:")]
    expected = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(mixed["note"])
    assert np.allclose(X[words], expected.toarray(), rtol=1e-12)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_table_in_each_form_gives_the_same_bits(tmp_path, mixed, separator):
    path, other = str(tmp_path / "data.csv"), str(tmp_path / "other")
    mixed.to_csv(path, index=False)
    table = read_training(path, Choices(positive="yes"))
    encoding = kept(table.encoding)
    mixed.to_csv(other, index=False, sep=separator, encoding="utf-8-sig", lineterminator="\r\n")
    found = read_like(other, encoding, with_labels=True)
    assert abs(found.X - table.X).max() == 0
    assert np.array_equal(found.y, table.y)
    mixed[mixed.columns[::-1]].to_parquet(other)
    assert abs(read_like(other, encoding).X - table.X).max() == 0


def test_the_type_of_a_column_can_be_given(tmp_path, mixed):
    path = str(tmp_path / "data.csv")
    mixed.to_csv(path, index=False)
    table = read_training(path, Choices(label="7", drop=("size", "3"), categorical=("n",)))
    kinds = {column.name: column.kind for column in table.encoding.rows.encoder.columns_}
    assert kinds == {"n": "category", "shop": "category", "ok": "flag", "note": "text"}
    # Categories that look like numbers are the same in a file where all of them do not.
    mixed["n"] = ["x", *mixed["n"].astype(str)[1:]]
    mixed.to_csv(path, index=False)
    with pytest.warns(UserWarning, match=r"'n' has values unseen in training in 1 of 40"):
        found = read_like(path, kept(table.encoding))
    names = table.encoding.rows.feature_names().tolist()
    of_n = [place for place, name in enumerate(names) if name.startswith("n=")]
    assert found.X[:, of_n].toarray()[0].sum() == 0
    assert np.array_equal(found.X[1:, of_n].toarray(), table.X[1:, of_n].toarray())


def test_two_values_are_one_column(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("sex,label\nm,1\nf,0\nm,1\n")
    table = read_training(str(path), Choices())
    assert table.encoding.rows.feature_names().tolist() == ["sex=f"]
    assert table.X.to_numpy().tolist() == [[0], [1], [0]]
    path.write_text("sex\nf\nm\n")
    assert read_like(str(path), kept(table.encoding)).X.to_numpy().tolist() == [[1], [0]]
    path.write_text("sex\nx\nm\n")
    with pytest.warns(UserWarning, match=r"in 1 of 2 rows \('x'\)"):
        assert read_like(str(path), kept(table.encoding)).X.to_numpy().tolist() == [[0], [0]]


def test_few_columns_of_numbers_are_dense(tmp_path, mixed):
    path = str(tmp_path / "data.csv")
    mixed.drop(columns="note").to_csv(path, index=False)
    assert isinstance(read_training(path, Choices()).X, pd.DataFrame)


def test_names_of_many_columns_are_kept_for_the_selected_ones(tmp_path):
    path, names = tmp_path / "data", tmp_path / "names"
    path.write_bytes(SVM)
    names.write_text("one\ntwo\nthree\n")
    table = read_training(str(path), Choices(names=str(names)))
    assert table.encoding.rows.feature_names().tolist() == ["one", "two", "three"]
    encoding = kept(Encoding(table.encoding.rows.keeping(np.array([1]))))
    assert encoding.rows.names == {1: "two"}
    assert encoding.rows.feature_names().tolist() == [1, "two", 3]


def test_labels():
    assert as_labels("file", [1.0, 0.0]).tolist() == [1, 0]
    assert as_labels("file", ["a", "b"]).tolist() == ["a", "b"]
    assert as_labels("file", [True, False]).dtype == bool
    assert as_labels("file", [0.5, 1.0]).tolist() == [0.5, 1.0]
    y = np.array([-1, 1])
    for text in ("1", "+1", "1.0"):
        assert choose_positive("file", y, text).positive == 1
    of_three = choose_positive("file", np.array([1, 2, 3]), "2")
    assert of_three.y.tolist() == ["not 2", "2", "not 2"]
    assert of_three.positive == of_three.against_rest == "2"
    assert match_labels("file", np.array([2, 9]), of_three.y, "2").tolist() == ["2", "not 2"]
    assert match_labels("file", np.array(["1", "-1"]), y, None).tolist() == [1, -1]


def test_an_encoding_is_checked_as_a_whole(mixed, tmp_path):
    path = str(tmp_path / "data.csv")
    mixed.to_csv(path, index=False)
    plain = read_training(path, Choices()).encoding.plain()
    for column in plain["rows"]["columns"]:
        for key in column:
            without = {name: value for name, value in column.items() if name != key}
            rows = plain["rows"] | {"columns": [without]}
            with pytest.raises(ValueError, match=re.escape(f"columns.0.{key} is missing")):
                Encoding.from_record(Record(plain | {"rows": rows}, "input"))


def test_arrays_of_numpy(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, X=np.eye(3, dtype=np.float32), kind=["a", "b", "a"], feature_names=list("xyz"))
    path = tmp_path / "data"
    path.write_bytes(buffer.getvalue())
    table = read_training(str(path), Choices(label="kind"))
    assert table.X.dtype == np.float32
    assert table.y.tolist() == ["a", "b", "a"]
    assert table.encoding.rows.feature_names().tolist() == ["x", "y", "z"]
