"""Files: read strictly, written all or not at all, and nothing in them is ever run."""

from __future__ import annotations

import io
import json
import os
import re
import tracemalloc
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scoresieve
from scoresieve import load
from scoresieve.estimators.persistence import file
from scoresieve.estimators.persistence.file import FORMAT_VERSION, read_model, write_model
from tests.estimators.persistence.files import members_of, npy, put, refused, write
from tests.estimators.persistence.models import assert_same, fitted

DOCS = Path(__file__).resolve().parents[3] / "docs" / "persistence.md"
HYPOTHESIS = {"derandomize": True, "deadline": None, "database": None}
#: A member with an array, of three numbers at least.
MEMBER = "fitted.models_.0.weights.npy"


@contextmanager
def in_little_memory():
    tracemalloc.start()
    yield
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_the_file_can_be_read_without_this_package(path):
    model, X, _ = fitted("plain")
    model.save(path)
    with np.load(path, allow_pickle=False) as stored:
        described = json.loads(stored["model.json"])
        one = described["fitted"]["models_"][0]
        columns, weights = (stored[f"fitted.models_.0.{name}"] for name in ("columns", "weights"))
        decision = X[:, columns] @ weights + one["intercept"] - one["threshold"]
    np.testing.assert_allclose(decision, model.decision_function(X), rtol=1e-12)
    assert described["format"] == "scoresieve-model"
    assert described["format_version"] == FORMAT_VERSION == 4
    assert (described["part"], described["class"]) == ("estimators", "MeasureSVC")
    assert described["parameters"]["budget"] == 3
    assert described["versions"]["scoresieve"] == scoresieve.__version__
    assert described["versions"]["numpy"] == np.__version__
    assert set(described["versions"]) == {"scoresieve", "numpy", "scikit-learn"}
    assert "Format version 4" in DOCS.read_text(encoding="utf-8")


def test_equal_models_are_equal_files(path, monkeypatch):
    model, _, _ = fitted("columns")
    model.save(path)
    monkeypatch.setattr("time.time", lambda: 2e9)
    model.save(path.with_name("later"))
    assert path.read_bytes() == path.with_name("later").read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


class Broken(Exception):
    pass


def fail_at(call, error):
    count = 0

    def fail(*arguments, **options):
        nonlocal count
        count += 1
        if count == call:
            raise error
        return original(*arguments, **options)

    original = np.lib.format.write_array
    return fail


@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("error", [Broken(), OSError(28, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("place", ["numpy.lib.format.write_array", "os.fsync", "os.replace"])
def test_a_failed_save_changes_nothing(path, monkeypatch, old, error, place):
    model, _, _ = fitted("plain")
    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(place, fail_at(3 if "write" in place else 1, error))
    with pytest.raises(type(error)):
        model.save(path)
    assert os.listdir(path.parent) == ([] if old is None else [path.name])
    assert old is None or path.read_bytes() == old


def test_where_files_go(path, monkeypatch):
    model, _, _ = fitted("plain")
    folder = path.parent / "missing"
    told = (
        f"cannot write it: No such file or directory. Nothing is changed; make the folder "
        f"{str(folder)!r} first"
    )
    with pytest.raises(FileNotFoundError) as caught:
        model.save(folder / "model")
    assert caught.value.strerror == told
    folder = path.with_name("folder")
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        model.save(folder)
    assert os.listdir(path.parent) == ["folder"]
    plain = folder / "plain"
    plain.write_text("made by open")
    monkeypatch.chdir(folder)
    model.save("relative.model", with_certificate=True)
    model.save(str(path))
    assert_same(load("relative.model"), model)
    if os.name == "posix":
        assert path.stat().st_mode == plain.stat().st_mode
        link = folder / "link"
        link.symlink_to(path)
        model.set_params(C=3.0).save(link)
        assert link.is_symlink()
        assert load(path).C == 3.0
    with pytest.raises(FileNotFoundError):
        load(path.with_name("missing"))
    with pytest.raises(TypeError):
        load(None)


def test_missing_surplus_and_doubled_members(good):
    path, members = good
    for name in members:
        write(path, {key: part for key, part in members.items() if key != name})
        refused(path, f"{re.escape(name)} is missing")
    write(path, members | {"other.npy": npy(np.zeros(3))})
    refused(path, "other.npy: unused")
    for name in ("model.json", MEMBER):
        write(path, [*members.items(), (name, members[name])])
        refused(path, f"{re.escape(name)} occurs twice")


@pytest.mark.parametrize(
    "name", ["a/b.npy", "/etc/passwd", "../x.npy", "a\\b.npy", "x.pkl", "y.json", "x", "é.npy", "."]
)
def test_names_of_members(good, name):
    path, members = good
    write(path, members | {name: npy(np.zeros(3))})
    refused(path, "member named")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_compressed_members_and_bombs(good, compression):
    path, members = good
    write(path, members, compression)
    refused(path, "is compressed")
    write(path, members | {MEMBER: npy(np.zeros(10**6))}, compression)
    assert path.stat().st_size < 10**5
    with in_little_memory():
        refused(path, "is compressed")


def header(descr="'<f8'", fortran="False", shape="(3,)", more="", version=(1, 0)):
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, {more}}}\n"
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(2, "little") + text.encode()


NO_ARRAY = "does not begin like a NumPy array"


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (header(shape="(1000000000000,)"), "needs 8000000000000."),
        (header(shape="(2,)"), "needs 16."),
        (header(shape="(999999999999999999, 0)"), "needs 0."),
        (header(shape="(-3,)"), NO_ARRAY),
        (header(shape="(3.0,)"), NO_ARRAY),
        (header(shape="[3]"), NO_ARRAY),
        (header(descr="'|O'"), "dtype '|O'"),
        (header(descr="'<U0'"), "dtype '<U0'"),
        (header(descr="'<f16'"), "dtype '<f16'"),
        (header(descr="'|V8'"), "dtype '|V8'"),
        (header(descr="[('a', '<f8')]"), NO_ARRAY),
        (header(descr="__import__('os')"), NO_ARRAY),
        (header(fortran="1"), NO_ARRAY),
        (header(more="'x': 1, "), NO_ARRAY),
        (header(version=(2, 0)), NO_ARRAY),
        (header()[:20], NO_ARRAY),
        (b"", NO_ARRAY),
        (b"\x80\x04K\x01.", NO_ARRAY),
        (b"\x93NUMPY\x01\x00\xff\xff" + header()[10:], NO_ARRAY),
    ],
)
def test_heads_of_arrays(good, start, message):
    path, members = good
    write(path, members | {MEMBER: start + bytes(24)})
    with in_little_memory():
        refused(path, re.escape(message))


def test_bytes_that_are_no_values(good):
    path, members = good
    text = npy(np.array(["a", "b"])).replace(b"a\0\0\0", b"\xff\xff\xff\x7f")
    flags = npy(np.array([True, False]))[:-2] + b"\2\0"
    for value, message in ((text, "invalid text"), (flags, "booleans")):
        write(path, members | {"parameters.always_features.npy": value})
        refused(path, message)


def test_objects_in_arrays_are_never_unpickled(good, monkeypatch):
    path, members = good
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for module in ("pickle.loads", "pickle.load", "numpy.lib.format.read_array"):
        monkeypatch.setattr(module, lambda *_, **__: pytest.fail("unpickled"))
    for name in members.keys() - {"model.json"}:
        write(path, members | {name: stream.getvalue()})
        refused(path, "dtype '|O'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting"),
        (b"[]", "the format in model.json is not"),
        (b"5", "the format in model.json is not"),
        (b"\xff\xfe\xfa", "codec|Expecting|Unexpected"),
        (b'{"a": 1, "a": 2}', "repeats a key"),
        (b'{"a": NaN}', "number NaN"),
        (b'{"a": 1e999}', "number 1e999"),
        (b'{"a": -Infinity}', "number -Infinity"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json(good, text, message):
    path, members = good
    write(path, members | {"model.json": text}, checksum=False)
    refused(path, message)


@pytest.mark.parametrize(
    ("number", "writer", "what_to_do"),
    [(5, "7.1", "Upgrade scoresieve"), (1, "0.1.0", "Fit again, or use scoresieve 0.1.0")]
    + [(old, "0.2.0", "Fit again, or use scoresieve 0.2.0") for old in (2, 3)],
)
def test_other_formats_say_who_wrote_them(good, number, writer, what_to_do):
    path, members = good
    described = json.loads(members["model.json"])
    described |= {"format_version": number, "surprise": {"$": "new"}}
    described["versions"]["scoresieve"] = writer
    write(path, members | {"model.json": json.dumps(described)})
    refused(
        path,
        rf"format version {number}, written by scoresieve {re.escape(writer)}; the installed "
        rf"scoresieve .* reads version 4\. {re.escape(what_to_do)}",
    )


def test_truncated_and_damaged_files(good):
    path, _ = good
    whole = path.read_bytes()
    for length in (0, 1, 21, 22, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(path, "truncated")
    for junk in (whole + b"\0", whole + b"PK", b"\0" * 4000, whole + whole[:50]):
        path.write_bytes(junk)
        refused(path, "truncated")
    path.write_bytes(b"#!/bin/sh\n" + whole)
    refused(path, "does not begin with its first member|damaged")
    write(path, {})
    refused(path, "model.json is missing")


def test_forged_sizes_and_encrypted_members(good):
    """A central directory that promises what the file has not."""
    path, _ = good
    whole = path.read_bytes()
    at, forged, encrypted = whole.index(b"PK\x01\x02"), bytearray(whole), bytearray(whole)
    forged[at + 20 : at + 28] = (2**31).to_bytes(4, "little") * 2
    path.write_bytes(forged)
    with in_little_memory():
        refused(path, "larger than the file")
    encrypted[at + 8] |= 1
    path.write_bytes(encrypted)
    refused(path, "encrypted")


def test_a_flipped_weight_is_an_error(good):
    """With the CRC-32 of the zip repaired, which a bit that flipped before it was taken is."""
    path, members = good
    for name in members:
        content = bytearray(members[name])
        content[-2] ^= 1
        write(path, members | {name: bytes(content)}, checksum=False)
        refused(path, "its checksum differs" if name.endswith("npy") else "damaged|Expecting")
    for value in (..., 7):
        write(path, put(members, "sha256", value), checksum=False)
        refused(path, "its checksum differs")


def outcome(path):
    """The model; None if it is refused."""
    try:
        return load(path)
    except ValueError as error:
        found = str(error)
    assert found.startswith("cannot load ")
    return None


@pytest.fixture(scope="module")
def small_file(tmp_path_factory):
    model, _, _ = fitted("warm objects")
    path = tmp_path_factory.mktemp("small") / "model"
    model.save(path, with_certificate=True)
    return path, path.read_bytes(), model


@settings(max_examples=150, **HYPOTHESIS)
@given(data=st.data())
def test_any_changed_byte_is_refused_or_makes_no_difference(small_file, data):
    path, whole, model = small_file
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    if (found := outcome(path)) is not None:
        assert_same(found, model)


@settings(max_examples=120, **HYPOTHESIS)
@given(data=st.data())
def test_any_changed_byte_in_a_member_is_a_value_error_or_a_model(small_file, data):
    """The checksums are right here, as in a file that somebody made on purpose."""
    path, whole, _ = small_file
    path.write_bytes(whole)
    members = members_of(path)
    name = data.draw(st.sampled_from(sorted(members)))
    content = bytearray(members[name])
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    write(path, members | {name: bytes(content)})
    if (found := outcome(path)) is not None:
        assert found.decision_function(np.zeros((60, 12))).shape == (60,)


@pytest.mark.parametrize("depth", [46, 300])
def test_what_is_nested_deeply_is_neither_written_nor_read(path, monkeypatch, depth):
    """Whoever printed such a model would run out of stack."""
    value = 1.0
    for _ in range(depth):
        value = [value]
    if depth < 50:
        write_model(path, {"fitted": value})
        assert read_model(path)["fitted"] == value
        return
    with pytest.raises(ValueError, match="nested too deeply"):
        write_model(path, {"fitted": value})
    assert not path.exists()
    with monkeypatch.context() as patch:
        patch.setattr(file, "_check_depth", lambda packed: None)
        write_model(path, {"fitted": value})
    refused(path, "nested too deeply")
