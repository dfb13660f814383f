"""Files and their origins, splits, the cache."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from studies.common.bags import load_image
from studies.common.data import FILES, ORIGINS, DataFolder, Missing, load, missing_files


def test_every_file_has_an_origin():
    assert {file for files in FILES.values() for file in files} <= set(ORIGINS)


@pytest.mark.parametrize("name", FILES)
def test_missing_files_are_named_with_their_origin(tmp_path, name):
    text = " ".join(missing_files(DataFolder(tmp_path), name))
    for file in FILES[name]:
        assert f"{tmp_path / file} is missing" in text
        assert ORIGINS[file] in text
    with pytest.raises(Missing, match="is missing"):
        load_image(DataFolder(tmp_path)) if name == "image" else load(DataFolder(tmp_path), name)
    assert "--data" in missing_files(DataFolder(None), name)[0]


def test_files_are_split_as_the_data_folder_says_and_cached(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((20, 6)) * (rng.random((20, 6)) < 0.6)
    X[:, 0] += 1.0
    path = tmp_path / FILES["sector12"][0]
    path.parent.mkdir()
    dump_svmlight_file(X, np.arange(20), str(path.with_suffix("")), zero_based=False)
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    folder = DataFolder(tmp_path, tmp_path / "cache")
    split = load(folder, "sector12")
    order = np.random.default_rng(0).permutation(20)
    np.testing.assert_array_equal(split.y, order[:12])
    np.testing.assert_array_equal(split.y_test, order[12:])
    rows = X[order[:12]] / np.linalg.norm(X[order[:12]], axis=1, keepdims=True)
    np.testing.assert_allclose(split.X[:, :6].toarray(), rows, atol=1e-12)
    (cached,) = folder.cache.iterdir()
    stamp = cached.stat().st_mtime_ns
    assert load(folder, "sector12").X.nnz == split.X.nnz
    assert cached.stat().st_mtime_ns == stamp


def test_images_are_split_by_the_same_rule(tmp_path):
    X, Y = np.arange(40.0).reshape(10, 2, 2), np.ones((10, 5), dtype=np.int8)
    (tmp_path / "image").mkdir()
    np.savez(tmp_path / FILES["image"][0], X=X, Y=Y)
    split = load_image(DataFolder(tmp_path))
    order = np.random.default_rng(0).permutation(10)
    np.testing.assert_array_equal(split.bags.instances, X[order[:6]].reshape(12, 2))
    np.testing.assert_array_equal(split.test_bags.instances, X[order[6:]].reshape(8, 2))
    assert split.y_test.shape == (4, 5)
