"""Records: every entry is asked for, with its type, its shape and the sizes it must agree with."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve._record import Record


def record(**content):
    return Record(content, "model")


@pytest.mark.parametrize("content", [None, [], "text", 1.0, [("a", 1)]])
def test_what_is_no_object(content):
    with pytest.raises(ValueError, match="model must be an object"):
        Record(content, "model")


def test_everything_is_asked_for():
    entries = record(a=1, b="text")
    assert entries.names() == ["a", "b"]
    assert entries.take("a", int, float) == 1
    with pytest.raises(ValueError, match=r"model has surplus entries: b\."):
        entries.end()
    assert entries.take("b") == "text"
    entries.end()
    with pytest.raises(ValueError, match=r"model\.b is missing"):
        entries.take("b")


@pytest.mark.parametrize(("value", "kind"), [(True, int), (1, float), (1, str), (None, int)])
def test_types_are_exact(value, kind):
    with pytest.raises(ValueError, match=rf"model\.a must be {kind.__name__}, not {value}"):
        record(a=value).take("a", kind)


def test_null_is_not_the_same_as_missing():
    entries = record(a=None, b=0)
    assert [entries.is_null(name) for name in "abc"] == [True, False, False]
    assert entries.names() == ["b"]


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_numbers_have_bounds(value):
    assert record(a=1.0).number("a", float, 0.0, 1.0) == 1.0
    with pytest.raises(ValueError, match=r"model\.a must be a number from 0.0 to 1.0"):
        record(a=value).number("a", float, 0.0, 1.0)


def test_sizes_with_a_name_agree_everywhere():
    """Also in records inside, which share them, but for those whose name begins with a dot."""
    inner = {"c": np.zeros((3, 4)), "d": np.zeros(5), "f": np.zeros(7)}
    entries = record(a=np.zeros(3), b=np.zeros(4), inner=inner, e=np.zeros((1, 2)), f=np.zeros(6))
    entries.array("a", np.float64, ("rows",))
    assert entries.size("a", "columns", 4) == 4
    with pytest.raises(ValueError, match=r"model\.b has the shape \(4,\); it must be \(3,\)"):
        entries.array("b", np.float64, ("rows",))
    part = entries.record("inner")
    part.array("c", "f", ("rows", "columns"))
    with pytest.raises(ValueError, match=r"inner\.d has the shape \(5,\); it must be \(4,\)"):
        part.array("d", "f", ("columns",))
    for one in (entries, part):
        one.array("f", "f", (".own",))
    assert (entries.size_of(".own"), part.size_of(".own")) == (6, 7)
    for size, message in (("columns", "5 columns; there must be 4"), (".own", "5 own; .* be 6")):
        with pytest.raises(ValueError, match=rf"model\.x is about {message}"):
            entries.size("x", size, 5)
    entries.array("e", "f", (None, 2))
    assert (entries.size_of("rows"), entries.size_of("columns")) == (3, 4)
    assert entries.size_of("other") is None


def test_a_refused_array_says_no_size():
    entries = record(a=np.array([np.nan]), b=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="NaN or infinity"):
        entries.array("a", "f", ("rows",), finite=True)
    with pytest.raises(ValueError, match="shape"):
        entries.array("b", "f", ("rows",))
    assert entries.known.sizes == {}


def test_lists_are_records_by_number():
    items = record(a=[1, None]).items("a", 2)
    assert items.names() == [0, 1]
    assert items.take(0, int) == 1
    assert items.is_null(1)
    with pytest.raises(ValueError, match=r"model\.a has 2 items; it must be 3"):
        record(a=[1, None]).items("a", 3)
