"""Folders of row blocks where commands take a file, and the command that writes them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

from scoresieve.design import open_blocks, write_blocks

FIT = "fit {} --method logistic --budget 2 --positive 1 --certificate -o {} --json"


@pytest.fixture
def svm(folder):
    """A file in svmlight form, and what is in it."""
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((120, 15)) < 0.4, rng.random((120, 15)), 0.0)
    dense[0, 14] = 1.0
    X, y = sp.csr_array(dense), np.where(dense[:, [2, 6]].sum(axis=1) > 0.5, 1, -1)
    dump_svmlight_file(X, y, str(folder / "rows.svm"), zero_based=False)
    return X, y


def test_every_command_reads_blocks_as_it_reads_the_file(cli, svm):
    done = cli("convert rows.svm rows.blocks --json")
    assert done.code == 0, done.err
    assert json.loads(done.out) == {"output": "rows.blocks", "rows": 120, "columns": 15}
    assert_array_equal(open_blocks("rows.blocks").labels, svm[1])
    answers = {}
    for data in ("rows.svm", "rows.blocks"):
        model = data.replace(".", "-")
        fitted = cli(FIT.format(data, model))
        assert fitted.code == 0, fitted.err
        path = cli(f"path {data} --method logistic -k 2,3 --positive 1 --json")
        runs = [cli(f"{line} {model} {data} --json") for line in ("score", "certify", "predict")]
        assert [run.code for run in (path, *runs)] == [0, 0, 0, 0], [run.err for run in runs]
        answers[data] = [json.loads(fitted.out)["features"], path.out, *(run.out for run in runs)]
    assert answers["rows.blocks"] == answers["rows.svm"]
    # A model of blocks reads the file that they are of, and the other way round.
    assert cli("score rows-blocks rows.svm").out == cli("score rows-svm rows.blocks").out


def test_columns_counted_from_0_standard_input_and_tables(cli, svm, folder):
    X, y = svm
    dump_svmlight_file(X, y, "zero.svm", zero_based=True)
    assert cli("convert zero.svm zero.blocks").code == 0
    content = (folder / "rows.svm").read_bytes()
    assert cli("convert - piped.blocks", content).code == 0
    assert cli("convert - piped.npz", content).code == 0
    for name in ("zero.blocks", "piped.blocks"):
        found = open_blocks(name)[:, np.arange(15)].toarray()
        np.testing.assert_allclose(found, X.toarray(), rtol=1e-12)
    assert cli("convert messages.csv messages.blocks").code == 0
    blocks = open_blocks("messages.blocks")
    assert blocks.feature_names is not None
    assert set(blocks.labels) == {"other", "refund"}
    assert cli("convert rows.svm unit.blocks --unit-rows").code == 0
    lengths = np.sqrt(open_blocks("unit.blocks")[:, np.arange(15)].power(2).sum(axis=1))
    np.testing.assert_allclose(lengths, 1.0)
    assert cli("convert rows.blocks again.blocks").code == 1  # there is no rows.blocks here
    assert cli("convert zero.blocks again.blocks").code == 0


def test_labels_beside_the_folder(cli, svm, folder):
    X, y = svm
    write_blocks(X, "bare")
    missing = cli("fit bare -k 2 --method measure")
    assert (missing.code, "no array y with the labels" in missing.err) == (2, True)
    np.save("y.npy", y)
    assert (
        cli("fit bare --budget 2 --method logistic --positive 1 --label y.npy -o model").code == 0
    )
    wrong = cli("fit bare -k 2 --label y")
    assert (wrong.code, "--label y is not a .npy file" in wrong.err) == (2, True)


def damage(folder):
    file = folder / "rows.blocks" / "000000.data.npy"
    content = bytearray(file.read_bytes())
    content[-3] ^= 4
    file.write_bytes(content)


def test_a_damaged_block_is_one_line(cli, svm, folder):
    assert cli("convert rows.svm rows.blocks").code == 0
    assert cli("fit rows.blocks --method logistic --budget 2 --certificate -o model").code == 0
    damage(folder)
    lines = [f"{command} rows.blocks -k 2 --method measure" for command in ("fit", "path")]
    lines += [f"{command} model rows.blocks" for command in ("predict", "score", "certify")]
    for line in lines:
        done = cli(line)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), line
        assert "block 0 is damaged: the checksum of" in done.err
        assert "not the training file" not in done.err


def test_what_is_no_folder_of_blocks(cli, svm, folder):
    (folder / "empty").mkdir()
    done = cli("fit empty -k 2")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "empty: this is a folder without row blocks" in done.err
    (folder / "empty" / "manifest.json").write_text("{}")
    done = cli("fit empty -k 2")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "is no manifest, or it is damaged" in done.err
    done = cli("convert rows.svm empty.blocks/")
    assert done.code == 0, done.err
    done = cli("convert rows.svm empty.blocks")
    assert (done.code, "it exists; give the name of a new folder" in done.err) == (1, True)
    done = cli("fit empty.blocks -k 2 --unit-rows")
    assert (done.code, "give --unit-rows to scoresieve convert" in done.err) == (2, True)
    assert cli("fit empty.blocks -k 2 --bag b").code == 2
    (folder / "bad.svm").write_text("1 1:2 2:3\n1 3:a\n-1 2:1\n")
    done = cli("convert bad.svm bad.blocks")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "bad.svm: cannot be read" in done.err
    assert not list(folder.glob("bad.blocks*"))
