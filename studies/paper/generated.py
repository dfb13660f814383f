"""Small generated sets of the same kind as the files, so that every experiment can be tried.

A document of class c has words drawn from a mixture: most from a background that falls like 1/rank,
some from the words of its class. Counts are weighted by tf and rows have unit length. Bags have one
instance near the centre of each class that they belong to, the others are noise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from scoresieve.mil import Bags, MILESEmbedding
from studies.common.data import TRAIN_SHARE, Split

#: Words of a class, words of a document, and the share of them that are of its class.
N_CLASS_WORDS, N_WORDS, CLASS_SHARE = 8, 30, 0.12


def documents(
    class_sizes: list[int], n_columns: int, seed: int
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Unit-length rows and class numbers 1, 2, ... in random order.

    Parameters
    ----------
    class_sizes : list of int
    n_columns : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    background = 1.0 / np.arange(1, n_columns + 1)
    background /= background.sum()
    y = rng.permutation(np.repeat(np.arange(1, len(class_sizes) + 1), class_sizes))
    words = rng.permutation(n_columns)[: N_CLASS_WORDS * len(class_sizes)]
    words = words.reshape(len(class_sizes), N_CLASS_WORDS)
    drawn = rng.choice(n_columns, size=(y.size, N_WORDS), p=background)
    own = words[y - 1][np.arange(y.size)[:, None], rng.integers(N_CLASS_WORDS, size=drawn.shape)]
    columns = np.where(rng.random(drawn.shape) < CLASS_SHARE, own, drawn)
    rows = np.repeat(np.arange(y.size), N_WORDS)
    counts = sparse.csr_matrix(
        (np.ones(rows.size), (rows, columns.ravel())), shape=(y.size, n_columns)
    )
    X = normalize(counts).tocsr()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def _text(
    class_sizes: list[int], n_columns: int, seed: int, *, signs: bool = False
) -> Callable[[], Split]:
    def make() -> Split:
        X, y = documents(class_sizes, n_columns, seed)
        y = np.where(y == 1, 1, -1) if signs else y
        n_train = int(TRAIN_SHARE * y.size)
        return Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])

    return make


def _images() -> Split:
    """60 training and 40 test bags of 4 instances in 6 dimensions, five classes."""
    rng = np.random.default_rng(5)
    n_bags, n_train = 100, 60
    Y = np.where(rng.random((n_bags, 5)) < 0.3, 1, -1)
    Y[:2] = [[1] * 5, [-1] * 5]
    bags = rng.normal(size=(n_bags, 5, 6))
    centres = 1.5 * rng.normal(size=(5, 6))
    bags = bags + np.where(Y[:, :, None] > 0, centres, 0.0)
    embedding = MILESEmbedding(sigma="median").fit(Bags.from_list(list(bags[:n_train])))
    X = np.asarray(embedding.transform(Bags.from_list(list(bags))))
    return Split(X[:n_train], Y[:n_train], X[n_train:], Y[n_train:])


MAKERS: dict[str, Callable[[], Split]] = {
    "news20": _text([40] * 4, 200, 0),
    "news20_binary": _text([90, 90], 300, 1, signs=True),
    "url": _text([60, 90], 250, 2, signs=True),
    "image": _images,
    "reuters120": _text([50, 40, 40, 30], 150, 3),
    "sector12": _text([40, 40, 40], 180, 4),
}
