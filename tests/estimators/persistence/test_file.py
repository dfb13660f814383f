"""Files: read strictly, written all or not at all, and nothing in them is ever run."""

from __future__ import annotations

import io
import json
import os
import re
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scoresieve
from scoresieve import load
from scoresieve.estimators.persistence import file
from scoresieve.estimators.persistence.file import FORMAT_VERSION, read_model, write_model

DOCS = Path(__file__).resolve().parents[3] / "docs" / "persistence.md"
HYPOTHESIS = {"derandomize": True, "deadline": None, "database": None}


def test_the_file_can_be_read_without_this_package(fitted, path):
    model, X, _ = fitted("plain")
    model.save(path)
    with np.load(path, allow_pickle=False) as file:
        described = json.loads(file["model.json"])
        columns, data = file["fitted.coef_.columns"], file["fitted.coef_.data"]
        decision = X[:, columns] @ data + file["fitted.intercept_"]
    np.testing.assert_allclose(decision, model.decision_function(X), rtol=1e-12)
    assert described["format"] == "scoresieve-model"
    assert described["format_version"] == 3
    assert described["class"] == "MeasureSVC"
    assert described["parameters"]["budget"] == 3
    assert described["versions"]["scoresieve"] == scoresieve.__version__
    assert described["versions"]["numpy"] == np.__version__
    assert set(described["versions"]) == {"scoresieve", "numpy", "scikit-learn"}


def test_equal_models_are_equal_files(fitted, path, monkeypatch):
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
def test_a_failed_save_changes_nothing(fitted, path, monkeypatch, old, error, place):
    model, _, _ = fitted("plain")
    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(place, fail_at(5 if "write" in place else 1, error))
    with pytest.raises(type(error)):
        model.save(path)
    assert os.listdir(path.parent) == ([] if old is None else [path.name])
    assert old is None or path.read_bytes() == old


def test_where_files_go(fitted, path, monkeypatch, same):
    model, _, _ = fitted("plain")
    with pytest.raises(FileNotFoundError):
        model.save(path / "missing" / "model")
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
    same(load("relative.model"), model)
    if os.name == "posix":
        assert path.stat().st_mode == plain.stat().st_mode
        link = folder / "link"
        link.symlink_to(path)
        model.set_params(C=3.0).save(link)
        assert link.is_symlink()
        assert load(path).C == 3.0


def test_files_that_are_not_there(path):
    with pytest.raises(FileNotFoundError):
        load(path)
    with pytest.raises(TypeError):
        load(None)


def test_missing_and_surplus_members(good, files):
    path, members = good
    for name in members:
        files.write(path, {key: part for key, part in members.items() if key != name})
        files.refused(path, f"{re.escape(name)} is missing")
    files.write(path, members | {"other.npy": files.npy(np.zeros(3))})
    files.refused(path, "other.npy: surplus")


@pytest.mark.parametrize(
    "name", ["a/b.npy", "/etc/passwd", "../x.npy", "a\\b.npy", "x.pkl", "y.json", "x", "é.npy", "."]
)
def test_names_of_members(good, name, files):
    path, members = good
    files.write(path, members | {name: files.npy(np.zeros(3))})
    files.refused(path, "member of the name")


def test_members_that_are_there_twice(good, files, fitted):
    path, members = good
    for name in ("model.json", "fitted.intercept_.npy"):
        files.write(path, [*members.items(), (name, members[name])])
        files.refused(path, f"{re.escape(name)} is there twice")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_compressed_members_and_bombs(good, compression, files, fitted):
    path, members = good
    files.write(path, members, compression)
    files.refused(path, "is compressed")
    bomb = files.npy(np.zeros(10**6))
    files.write(path, members | {"fitted.intercept_.npy": bomb}, compression)
    assert path.stat().st_size < 10**5
    tracemalloc.start()
    files.refused(path, "is compressed")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def header(descr="'<f8'", fortran="False", shape="(3,)", more="", version=(1, 0)):
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, {more}}}\n"
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (header(shape="(1000000000000,)"), "should have 8000000000000 bytes"),
        (header(shape="(2,)"), "should have 16 bytes"),
        (header(shape="(999999999999999999, 0)"), "should have 0 bytes"),
        (header(shape="(-3,)"), "does not begin as an array"),
        (header(shape="(3.0,)"), "does not begin as an array"),
        (header(shape="[3]"), "does not begin as an array"),
        (header(descr="'|O'"), "dtype '|O'"),
        (header(descr="'<U0'"), "dtype '<U0'"),
        (header(descr="'<f16'"), "dtype '<f16'"),
        (header(descr="'|V8'"), "dtype '|V8'"),
        (header(descr="[('a', '<f8')]"), "does not begin as an array"),
        (header(descr="__import__('os')"), "does not begin as an array"),
        (header(fortran="1"), "does not begin as an array"),
        (header(more="'x': 1, "), "does not begin as an array"),
        (header(version=(2, 0)), "does not begin as an array"),
        (header()[:20], "does not begin as an array"),
        (b"", "does not begin as an array"),
        (b"\x80\x04K\x01.", "does not begin as an array"),
        (b"\x93NUMPY\x01\x00\xff\xff" + header()[10:], "does not begin as an array"),
    ],
)
def test_heads_of_arrays(good, start, message, files, fitted):
    path, members = good
    files.write(path, members | {"fitted.intercept_.npy": start + bytes(24)})
    tracemalloc.start()
    files.refused(path, re.escape(message))
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_bytes_that_are_no_values(good, files):
    path, members = good
    text = files.npy(np.array(["a", "b"])).replace(b"a\0\0\0", b"\xff\xff\xff\x7f")
    flags = files.npy(np.array([True, False]))[:-2] + b"\2\0"
    for value, message in ((text, "what is no text"), (flags, "booleans")):
        files.write(path, members | {"parameters.always_features.npy": value})
        files.refused(path, message)


def test_objects_in_arrays_are_never_unpickled(good, monkeypatch, files):
    path, members = good
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for module in ("pickle.loads", "pickle.load", "numpy.lib.format.read_array"):
        monkeypatch.setattr(module, lambda *_, **__: pytest.fail("unpickled"))
    for name in members.keys() - {"model.json"}:
        files.write(path, members | {name: stream.getvalue()})
        files.refused(path, "dtype '|O'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting"),
        (b"[]", "does not say that it is of the format"),
        (b"5", "does not say that it is of the format"),
        (b"\xff\xfe\xfa", "codec|Expecting|Unexpected"),
        (b'{"a": 1, "a": 2}', "a key twice"),
        (b'{"a": NaN}', "number NaN"),
        (b'{"a": 1e999}', "number 1e999"),
        (b'{"a": -Infinity}', "number -Infinity"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json(good, text, message, files):
    path, members = good
    files.write(path, members | {"model.json": text}, checksum=False)
    files.refused(path, message)


def test_deep_nesting_of_values(good, files):
    path, members = good
    text = members["model.json"].replace(b'"verbose": 0', b'"verbose": ' + b"[" * 900 + b"]" * 900)
    assert text != members["model.json"]
    files.write(path, members | {"model.json": text})
    files.refused(path, "nested too deeply")


def test_a_newer_format_says_who_wrote_it(good, files):
    path, members = good
    described = json.loads(members["model.json"])
    described |= {"format_version": 4, "surprise": {"$": "new"}}
    described["versions"]["scoresieve"] = "7.1"
    files.write(path, members | {"model.json": json.dumps(described)})
    files.refused(
        path, r"format version 4 and was written by scoresieve 7\.1; this is scoresieve .*Upgr"
    )


def test_the_first_format_says_who_wrote_it(good, files):
    path, members = good
    members = files.put(members, "format_version", 1)
    members = files.put(members, "versions.scoresieve", "0.1.0")
    files.write(path, members)
    files.refused(
        path,
        r"format version 1 and was written by scoresieve 0\.1\.0; this is scoresieve .*, which "
        r"reads version 3\. Fit again, or use scoresieve 0\.1\.0",
    )


def test_truncated_and_damaged_files(good, files):
    path, _ = good
    whole = path.read_bytes()
    for length in (0, 1, 21, 22, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        files.refused(path, "truncated")
    for junk in (whole + b"\0", whole + b"PK", b"\0" * 4000, whole + whole[:50]):
        path.write_bytes(junk)
        files.refused(path, "truncated")
    path.write_bytes(b"#!/bin/sh\n" + whole)
    files.refused(path, "does not begin with its first member|damaged")
    files.write(path, {})
    files.refused(path, "model.json is missing")


def test_forged_sizes(good, files):
    """A central directory that promises more than the file has."""
    path, _ = good
    whole = bytearray(path.read_bytes())
    at = whole.index(b"PK\x01\x02")
    whole[at + 20 : at + 28] = (2**31).to_bytes(4, "little") * 2
    path.write_bytes(whole)
    tracemalloc.start()
    files.refused(path, "larger than the file")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_a_flipped_weight_is_an_error(good, files):
    """With the CRC-32 of the zip repaired, which a bit that flipped before it was taken is."""
    path, members = good
    for name in members:
        content = bytearray(members[name])
        content[-2] ^= 1
        files.write(path, members | {name: bytes(content)}, checksum=False)
        files.refused(path, "its checksum differs" if name.endswith("npy") else "damaged|Expecting")
    for changed in (files.put(members, "sha256", ...), files.put(members, "sha256", 7)):
        files.write(path, changed, checksum=False)
        files.refused(path, "its checksum differs")


def test_encrypted_members(good, files):
    path, _ = good
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(whole)
    files.refused(path, "encrypted")


@pytest.fixture(scope="module")
def small_file(tmp_path_factory, fitted):
    model, _, _ = fitted("warm objects")
    path = tmp_path_factory.mktemp("small") / "model"
    model.save(path, with_certificate=True)
    return path, path.read_bytes(), model


@settings(max_examples=150, **HYPOTHESIS)
@given(data=st.data())
def test_any_changed_byte_is_refused_or_makes_no_difference(small_file, data, files, same):
    path, whole, model = small_file
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    found, message = files.outcome(path)
    if found is None:
        assert message.startswith("cannot load ")
    else:
        same(found, model)


@settings(max_examples=120, **HYPOTHESIS)
@given(data=st.data())
def test_any_changed_byte_in_a_member_is_a_value_error_or_a_model(small_file, data, files):
    """The checksums are right here, as in a file that somebody made on purpose."""
    path, whole, _ = small_file
    path.write_bytes(whole)
    members = files.members_of(path)
    name = data.draw(st.sampled_from(sorted(members)))
    content = bytearray(members[name])
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    files.write(path, members | {name: bytes(content)})
    found, message = files.outcome(path)
    if found is None:
        assert message.startswith("cannot load ")
    else:
        assert found.decision_function(np.zeros((60, 12))).shape == (60,)


def test_the_writer_and_the_reader_agree_on_the_version():
    assert FORMAT_VERSION == 3
    assert "Format version 3" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("depth", [46, 300])
def test_what_is_nested_deeply_is_neither_written_nor_read(tmp_path, monkeypatch, depth):
    """Whoever printed such a model would run out of stack."""
    value = 1.0
    for _ in range(depth):
        value = [value]
    path = tmp_path / "model"
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
    with pytest.raises(ValueError, match="nested too deeply"):
        read_model(path)
