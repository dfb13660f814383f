"""Records: every entry is asked for, with its type, its shape and the sizes it must agree with."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve._record import Known, Record


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", "other", "format 'scoresieve-model'"),
        ("format", ..., "format 'scoresieve-model'"),
        ("format_version", 0, "format version 0"),
        ("format_version", "1", "format version '1'"),
        ("format_version", True, "format version True"),
        ("versions", ..., "by which versions"),
        ("versions", {"scoresieve": 1}, "by which versions"),
        ("class", "os.system", "class must be one of"),
        ("class", ["MeasureSVC"], "class must be str"),
        ("class", ..., "class is missing"),
        ("output", "excel", "output must be one of"),
        ("extra", 1, "surplus entries: extra"),
        ("parameters", [], r"parameters\..*: surplus"),
        ("parameters.C", ..., r"parameters\.C is missing"),
        ("parameters.gamma", 1.0, "surplus entries: gamma"),
        ("parameters.measure", {"measure": "os.system"}, "unknown measure"),
        ("parameters.measure", {"measure": "f1", "x": 1}, "surplus entries: x"),
        ("parameters.measure", {"call": "f1"}, "measure.measure is missing"),
        ("parameters.measure", {"loss": "hinge"}, "measure.measure is missing"),
        ("parameters.measure", 1, "measure must be an object"),
        ("parameters.C", {"$": "call", "items": []}, "unknown kind: 'call'"),
        ("parameters.C", {"$": "array", "x": 1}, "unknown kind: 'array'"),
        ("parameters.C", {"$": ["array"]}, "unknown kind"),
        ("parameters.C", {"$": {}, "items": []}, "unknown kind"),
        ("parameters.C", {"$": "float", "value": "0x1"}, "unknown kind: 'float'"),
        ("parameters.C", {"$": "range", "items": [0, 1]}, "unknown kind: 'range'"),
        ("parameters.C", {"$": "range", "items": [0, 1, 0]}, "arg 3 must not be zero"),
        ("parameters.C", {"$": "set", "items": [[]]}, "cannot be in a set"),
        ("parameters.C", {"$": "dict", "items": [1]}, "cannot be in a dict"),
        ("parameters.C", {"$": "dict", "items": [[[], 1]]}, "cannot be in a dict"),
        ("parameters.C", {"$": "dict", "items": [[1, 2, 3]]}, "length 3; 2 is required"),
        ("parameters.C", {"$": "objects", "items": [1], "shape": [2]}, "shape"),
        ("parameters.C", {"$": "objects", "items": [], "shape": [0, 2**70]}, "shape"),
        ("parameters.C", {"$": "array"}, r"member parameters\.C\.npy is missing"),
        ("parameters.always_features", None, r"always_features\.npy: surplus"),
    ],
)
def test_wrong_heads_and_parameters(good, files, place, value, message):
    path, members = good
    files.write(path, files.put(members, place, value))
    files.refused(path, message)


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
    assert entries.is_null("a")
    assert not entries.is_null("b")
    assert not entries.is_null("c")
    assert entries.names() == ["b"]


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_numbers_have_bounds(value):
    assert record(a=1.0).number("a", float, 0.0, 1.0) == 1.0
    with pytest.raises(ValueError, match=r"model\.a must be a number from 0.0 to 1.0"):
        record(a=value).number("a", float, 0.0, 1.0)


def test_sizes_with_a_name_agree_everywhere():
    """Also in records inside, which share them."""
    inner = {"c": np.zeros((3, 4)), "d": np.zeros(5)}
    entries = record(a=np.zeros(3), b=np.zeros(4), inner=inner, e=np.zeros((1, 2)))
    entries.array("a", np.float64, ("rows",))
    assert entries.size("a", "columns", 4) == 4
    with pytest.raises(ValueError, match=r"model\.b has the shape \(4,\); it must be \(3,\)"):
        entries.array("b", np.float64, ("rows",))
    part = entries.record("inner")
    part.array("c", "f", ("rows", "columns"))
    with pytest.raises(ValueError, match=r"inner\.d has the shape \(5,\); it must be \(4,\)"):
        part.array("d", "f", ("columns",))
    with pytest.raises(ValueError, match=r"model\.x is about 5 columns; there must be 4"):
        entries.size("x", "columns", 5)
    entries.array("e", "f", (None, 2))
    assert entries.known.sizes == {"rows": 3, "columns": 4}


def test_a_refused_array_says_no_size():
    entries = Record({"a": np.array([np.nan]), "b": np.zeros((2, 2))}, "model", Known())
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
