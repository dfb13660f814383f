"""What a ``TableEncoder`` makes of each kind of column, of missing values and of bad cells."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from scoresieve import TableEncoder
from scoresieve._record import Record
from scoresieve.tables.encoding import Named

DAYS = pd.date_range("2026-01-30", periods=6)


def table(**columns):
    return pd.DataFrame(columns)


def encoded(frame, **options):
    return TableEncoder(**options).fit_transform(frame)


def kinds(encoder):
    return {column.name: column.kind for column in encoder.columns_}


@pytest.fixture
def mixed():
    """A column of each kind, with missing values."""
    return table(
        age=[31.0, None, 47.0, 40.0, 52.0, 28.0],
        day=[*DAYS[:5], None],
        member=[True, False, True, True, False, True],
        city=["Bern", None, "Graz", "Bern", "Oslo", "Graz"],
        note=["a red hat", "a blue hat", None, "red shoes", "blue shoes", "a hat"],
    )


def test_each_kind_of_column(mixed):
    encoder = TableEncoder(text=["note"]).fit(mixed)
    assert kinds(encoder) == {
        **{"age": "number", "day": "date", "member": "flag"},
        **{"city": "category", "note": "text"},
    }
    X = encoder.transform(mixed)
    assert sp.issparse(X)
    names = encoder.get_feature_names_out()
    assert X.feature_names.tolist() == names.tolist()
    assert names.tolist() == [
        *("age", "age=(missing)", "day", "day=(missing)", "member"),
        *("city=(missing)", "city=Bern", "city=Graz", "city=Oslo"),
        *("note:blue", "note:hat", "note:red", "note:shoes"),
    ]
    assert encoder.feature_names_in_.tolist() == list(mixed.columns)
    assert encoder.n_features_in_ == 5


def test_missing_numbers_are_the_median_and_have_a_column():
    X = encoded(table(age=[1.0, None, 3.0, 8.0]))
    filled = np.array([1.0, 3.0, 3.0, 8.0])
    assert np.allclose(X["age"], (filled - filled.mean()) / filled.std())
    assert X["age=(missing)"].tolist() == [0, 1, 0, 0]
    assert TableEncoder().fit(table(age=[1.0, None, 3.0])).imputed_ == {"age": 1}


def test_missing_values_where_training_had_none():
    encoder = TableEncoder().fit(table(age=[1.0, 3.0, 8.0], ok=[True, True, False]))
    assert encoder.imputed_ == {}
    with pytest.warns(UserWarning, match="had none in training") as told:
        X = encoder.transform(table(age=[3.0, None], ok=[None, False]))
    assert X["age"].iloc[0] == X["age"].iloc[1]
    assert X["ok"].tolist() == [1.0, 0.0]
    assert [str(each.message) for each in told] == [
        "the column 'age' has missing values in 1 rows (first: row 2) and had none in training; "
        "the median of the training rows stands for them.",
        "the column 'ok' has missing values in 1 rows (first: row 1) and had none in training; "
        "the usual value (true) of the training rows stands for them.",
    ]


@pytest.mark.parametrize(
    "days",
    [
        pd.Series(DAYS),
        pd.Series(DAYS.tz_localize("UTC")),
        pd.Series(DAYS.strftime("%Y-%m-%d")),
        pd.Series(DAYS.strftime("%Y-%m-%dT%H:%M:%S")),
        pd.Series(list(DAYS.date), dtype=object),
        pl.Series(list(DAYS.date)),
    ],
    ids=["stamps", "zone", "text", "text with time", "dates", "polars"],
)
def test_dates_are_days(days):
    frame = pl.DataFrame({"day": days}) if isinstance(days, pl.Series) else table(day=days)
    encoder = TableEncoder().fit(frame)
    assert kinds(encoder) == {"day": "date"}
    expected = (np.arange(6) - 2.5) / np.arange(6).std()
    assert np.allclose(encoder.transform(frame)["day"], expected)
    # A file has texts where a frame has dates.
    assert np.allclose(encoder.transform(table(day=["2026-02-04"]))["day"], expected[-1])


@pytest.mark.parametrize("cells", [["1,5", "2", "-3,25"], ["0,125", "0,250", "1,500"]])
def test_decimal_commas(cells):
    encoder = TableEncoder().fit(table(x=cells))
    assert kinds(encoder) == {"x": "number"}
    numbers = [float(cell.replace(",", ".")) for cell in cells]
    expected = encoded(table(x=numbers))
    assert np.allclose(encoder.transform(table(x=cells)), expected)
    # Known as decimals now, even where 1,500 alone could mean 1500.
    one = encoder.transform(table(x=["1,500"]))
    assert np.allclose(one, encoder.transform(table(x=[1.5])))


def test_texts_of_numbers_are_read_where_numbers_were():
    encoder = TableEncoder().fit(table(x=[1.5, 2.0, 4.0]))
    expected = encoder.transform(table(x=[1.5, 4.0]))
    for cells in (["1.5", "4"], ["1,5", "4,0"], [" 1.5", "4 "]):
        assert encoder.transform(table(x=cells)).equals(expected)


def test_frames_of_both_kinds_and_any_order(mixed):
    frame = mixed.drop(columns="note")
    encoder = TableEncoder().fit(frame)
    expected = encoder.transform(frame)
    other = pl.from_pandas(frame)
    assert np.array_equal(TableEncoder().fit(other).transform(other), expected)
    assert encoder.transform(frame[frame.columns[::-1]].assign(more=1)).equals(expected)
    shuffled = frame.iloc[[3, 3, 0]]  # rows keep their index, also if it is not unique
    assert encoder.transform(shuffled).index.tolist() == [3, 3, 0]
    assert np.array_equal(encoder.transform(shuffled), expected.iloc[[3, 3, 0]])


def test_as_scikit_learn_wants_it(mixed):
    encoder = TableEncoder(drop=["note"])
    assert clone(encoder).get_params() == encoder.get_params()
    with pytest.raises(NotFittedError):
        encoder.transform(mixed)
    expected = encoder.fit_transform(mixed)
    assert isinstance(expected, pd.DataFrame)
    assert pickle.loads(pickle.dumps(encoder)).transform(mixed).equals(expected)
    as_polars = encoder.set_output(transform="polars").transform(mixed)
    assert isinstance(as_polars, pl.DataFrame)
    assert as_polars.columns == list(expected.columns)


def test_categories_of_numbers_are_the_same_with_and_without_gaps():
    encoder = TableEncoder(categorical=["zip"]).fit(table(zip=[1, 2, 3, 3]))
    expected = encoder.transform(table(zip=["1", "3"]))
    found = encoder.transform(table(zip=[1.0, 3.0, None]))
    assert np.array_equal(found[:2], expected)
    assert found.iloc[2].sum() == 0


#: Columns that cannot be used, and words of the error.
BAD = {
    "word": (
        ["high" if i == 30 else str(i) for i in range(60)],
        "'high' in row 31, but numbers in",
    ),
    "two decimal signs": (
        ["3,14", *(f"{i}.5" for i in range(30))],
        "'3,14' in row 1, with a decimal comma, which other rows",
    ),
    "comma of thousands": (
        [f"{i},000" for i in range(1, 40)],
        "'1,000' in row 1, where the comma may be decimal or between thousands",
    ),
    "no such day": (["2026-01-01", "2026-02-30", "2026-01-03"], "'2026-02-30' in row 2.*ISO"),
    "word among dates": (["2026-01-01", "later", "2026-01-03"], "'later' in row 2, but dates in"),
    "infinite": ([1.0, np.inf], "'inf' in row 2, not a finite number"),
    "huge": ([1e308, -1e308, 1e308], "too large to standardise"),
    "empty": ([None, None], "no value in any row"),
    "lists": ([[1], [2]], "lists or other containers"),
    "complex": ([1 + 2j, 3], "complex numbers"),
    "spans": (pd.to_timedelta([1, 2], unit="D"), "spans of time"),
    "identifier": ([f"u{i}" for i in range(60)], "60 different values in 60 rows"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_column_names_cell_row_and_remedy(case):
    cells, words = BAD[case]
    with pytest.raises(ValueError, match=rf"the column 'x y' .*{words}.*drop=\['x y'\]"):
        TableEncoder().fit(table(**{"x y": cells}))


def test_one_error_tells_of_all_columns():
    frame = table(**{name: BAD[name][0] for name in ("infinite", "empty", "lists")}, good=[1, 2])
    with pytest.raises(ValueError, match="3 columns") as caught:
        TableEncoder().fit(frame)
    assert str(caught.value) == (
        "3 columns cannot be used. 'infinite' holds 'inf' in row 2, not a finite number. 'empty' "
        "has no value in any row. 'lists' holds lists or other containers. Correct the cells, "
        "leave columns out with drop=['infinite', 'empty', 'lists'], or give their types with "
        "categorical=[...] or text=[...]."
    )
    encoder = TableEncoder().fit(table(a=[1, 2], b=[True, False], day=["2026-01-01", "2026-01-02"]))
    with pytest.raises(ValueError, match=r"3 columns .*'a' holds 'x' in row 2.*'b' .*'day' "):
        encoder.transform(table(a=["1", "x"], b=["no", "true"], day=["1.2.26", "2026-01-01"]))


def test_few_levels_are_categories_though_most_are_numbers():
    levels = ["0", "1", "2", "3+"] * 5
    assert kinds(TableEncoder().fit(table(n=levels))) == {"n": "category"}
    with pytest.raises(ValueError, match=r"'few' in row 3, but numbers"):
        TableEncoder().fit(table(n=["1", "2", "few", "4", "5"]))


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        (np.eye(2), {}, "X is a ndarray.*pass a data frame"),
        (pd.DataFrame(np.eye(2)), {}, r"named 0.*X\.columns\.astype\(str\)"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), {}, "two columns named 'a'"),
        (table(a=[1]), {"drop": "a"}, r"drop='a' is not a list; write drop=\['a'\]"),
        (table(a=[1]), {"text": ["b"]}, r"text=\['b'\] is not one of the 1 columns of X: 'a'"),
        (table(a=[1]), {"drop": ["a"]}, "1 rows and 0 columns"),
        (table(a=[1]), {"text": ["a"], "categorical": ["a"]}, "exclude each other"),
    ],
)
def test_wrong_use(X, options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        TableEncoder(**options).fit(X)


def test_a_missing_column_is_named(mixed):
    encoder = TableEncoder(text=["note"]).fit(mixed)
    with pytest.raises(ValueError, match="X lacks 'age', 'city', which the model was fitted on"):
        encoder.transform(mixed.drop(columns=["age", "city"]))


def test_columns_that_no_weight_is_on_may_be_bad_or_gone(mixed):
    encoder = TableEncoder(drop=["note"]).fit(mixed)
    names = encoder.get_feature_names_out().tolist()
    of_age = [names.index("age"), names.index("city=Graz")]
    lean = encoder.needing(np.array(of_age))
    assert lean.needed_.tolist() == ["age", "city"]
    expected = encoder.transform(mixed)
    assert lean.transform(mixed).equals(expected)
    for frame in (mixed[["city", "age"]], mixed.assign(day="soon")):
        found = lean.transform(frame)
        assert found[["age", "city=Graz"]].equals(expected[["age", "city=Graz"]])
        assert np.all(found["day"] == 0)
    with pytest.raises(ValueError, match="X lacks 'city'"):
        lean.transform(mixed[["age"]])


def test_plain_data_gives_the_encoder_back(mixed):
    encoder = TableEncoder(text=["note"]).fit(mixed)
    plain = {key: value for key, value in Named(encoder).plain().items() if key != "kind"}
    copy = Named.from_record(Record(plain, "rows")).encoder
    assert abs(copy.transform(mixed) - encoder.transform(mixed)).max() == 0
    assert copy.text == ["note"]
    assert copy.imputed_ == encoder.imputed_ == {"age": 1, "day": 1}
