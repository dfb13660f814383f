"""The data sets of the experiments: files with a cache of what was parsed, or generated ones.

Conventions
-----------
* Rows of text have unit length. Splits are those of the data folder's README: News20 has its own
  test file; the others take ``default_rng(0).permutation(n)``, its first 60 % train.
* A file that is not there makes :class:`Missing`, which says where to get it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from scoresieve.mil import Bags, MILESEmbedding
from studies.common.storing import write_atomically
from studies.paper import generated
from studies.paper.context import Context

REBUILT = "rebuilt from gokriznastic/20-newsgroups_text-classification @ 06ac4005 on GitHub"
#: The files of each data set, and where each comes from.
FILES = {
    "news20": {
        "news20/news20.bz2": "LIBSVM's news20, training part (konstmish/opt_methods @ 8a3ae3ab)",
        "news20/news20.t.bz2": f"LIBSVM's news20, test part, {REBUILT}",
    },
    "news20_binary": {
        "news20_binary/news20.binary.npz": f"LIBSVM's news20.binary, {REBUILT}",
        "news20_binary/news20.binary.labels.npy": "made together with news20.binary.npz",
    },
    "url": {
        "url/url_subset.svm.gz": "rows of URL (Artwot/Data-exploration-url_svmlight @ 7027a683, "
        "kanni5353/Malicious-URL-Classification @ f34ddc67)",
    },
    "image": {"image/miml_image.npz": "MIML images (sandgh/mtp_stage1 @ 11a94301)"},
    "reuters120": {"text/reuters120.svm.gz": "Reuters-21578 (ragero/text-collections @ 08f63cb2)"},
    "sector12": {
        "text/industry_sector12.svm.gz": "Sector's 12 top classes (ragero/text-collections "
        "@ 08f63cb2)"
    },
}
N_COLUMNS = {"news20": 62_061, "url": 3_231_961, "reuters120": 14_034, "sector12": 21_489}
TRAIN_SHARE = 0.6
IMAGE_CLASSES = ("desert", "mountains", "sea", "sunset", "trees")


class Missing(Exception):
    """A data file is not there; the text says which and where it comes from."""


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test part; ``y`` has class numbers, -1 and +1, or one column for each class."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    def labels(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """+1 for the class and -1 for the others, training and test."""
        if self.y.ndim == 2:
            return self.y[:, label].astype(float), self.y_test[:, label].astype(float)
        return tuple(np.where(y == label, 1.0, -1.0) for y in (self.y, self.y_test))


def missing_files(context: Context, name: str) -> list[str]:
    """One sentence for each file of a data set that is not there."""
    if context.generated:
        return []
    if context.data is None:
        where = "; ".join(f"{file}: {origin}" for file, origin in FILES[name].items())
        return [f"{name} needs --data FOLDER, which has {where}."]
    return [
        f"{name} is left out: {context.data / file} is missing. It is {origin}."
        for file, origin in FILES[name].items()
        if not (context.data / file).is_file()
    ]


@lru_cache(maxsize=2)
def load(context: Context, name: str) -> Split:
    """The data set; :class:`Missing` if a file is not there.

    Parameters
    ----------
    context : Context
    name : str
        A key of ``FILES``.
    """
    if context.generated:
        return generated.MAKERS[name](Split)
    problems = missing_files(context, name)
    if problems:
        raise Missing(" ".join(problems))
    return LOADERS[name](context)


def _news20(context: Context) -> Split:
    files = FILES["news20"]
    (X, y), (X_test, y_test) = (_svmlight(context, file, N_COLUMNS["news20"]) for file in files)
    return Split(X, y, X_test, y_test)


def _news20_binary(context: Context) -> Split:
    matrix, labels = (context.data / file for file in FILES["news20_binary"])
    return _shuffled(sparse.load_npz(matrix).tocsr(), np.load(labels).astype(np.int64))


def _one_file(name: str) -> Callable[[Context], Split]:
    def loader(context: Context) -> Split:
        return _shuffled(*_svmlight(context, next(iter(FILES[name])), N_COLUMNS[name]))

    return loader


def _image(context: Context) -> Split:
    """The MILES embedding of the images, all training instances as prototypes, in float64."""
    with np.load(context.data / next(iter(FILES["image"]))) as stored:
        bags, Y = stored["X"], stored["Y"]
    train, test = _permuted(len(bags))
    embedding = MILESEmbedding(sigma="median").fit(Bags.from_list(list(bags[train])))
    parts = (
        np.asarray(embedding.transform(Bags.from_list(list(bags[rows])))) for rows in (train, test)
    )
    X, X_test = parts
    return Split(X, Y[train], X_test, Y[test])


def _permuted(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of training and test rows."""
    order = np.random.default_rng(0).permutation(n_samples)
    n_train = int(TRAIN_SHARE * n_samples)
    return order[:n_train], order[n_train:]


def _shuffled(X: sparse.csr_matrix, y: np.ndarray) -> Split:
    train, test = _permuted(y.size)
    return Split(X[train], y[train], X[test], y[test])


def _svmlight(context: Context, file: str, n_columns: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Unit-length rows and labels of a 1-based file, kept as npz after the first parse."""
    path = context.data / file
    stamp = path.stat()
    name = f"{file.replace('/', '-')}-{stamp.st_size}-{stamp.st_mtime_ns}.npz"
    cached = Path(context.cache) / name
    if not cached.is_file():
        X, y = load_svmlight_file(str(path), n_features=n_columns, zero_based=False)
        X = normalize(X).tocsr()
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "y": y}
        write_atomically(cached, lambda file: np.savez(file, **parts))
    with np.load(cached) as stored:
        # liblinear takes 32-bit indices only.
        indices, indptr = stored["indices"].astype(np.int32), stored["indptr"].astype(np.int32)
        shape = (indptr.size - 1, n_columns)
        X = sparse.csr_matrix((stored["data"], indices, indptr), shape=shape)
        return X, stored["y"].astype(np.int64)


LOADERS: dict[str, Callable[[Context], Split]] = {
    "news20": _news20,
    "news20_binary": _news20_binary,
    "url": _one_file("url"),
    "image": _image,
    "reuters120": _one_file("reuters120"),
    "sector12": _one_file("sector12"),
}
