"""Filters: columns one by one, the k with the largest statistic."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from sklearn.feature_selection import chi2, f_classif

from studies.paper.selectors import largest
from studies.quality.arena.picks import Pick, Selector

#: Parts of equal frequency into which a dense column is cut.
N_BINS = 5


def chi2_statistics(X: Any, y: np.ndarray) -> np.ndarray:
    """scikit-learn's chi2; dense columns with negative entries are moved to begin at 0."""
    if not sparse.issparse(X):
        X = X - np.minimum(0.0, X.min(axis=0))
    return chi2(X, y)[0]


def f_statistics(X: Any, y: np.ndarray) -> np.ndarray:
    """ANOVA's F of two classes."""
    return f_classif(X, y)[0]


def information(X: Any, y: np.ndarray) -> np.ndarray:
    """``I(x; y) = sum p(x, y) log(p(x, y) / (p(x) p(y)))``.

    Of a sparse column x says whether there is an entry; a dense one is cut into five parts of equal
    frequency. (The estimate by nearest neighbours takes minutes for each of these tasks.)
    """
    positive = (y > 0).astype(np.float64)
    if sparse.issparse(X):
        present = X.astype(bool).astype(np.float64)
        return _gained([present], positive)
    edges = np.quantile(X, np.arange(1, N_BINS) / N_BINS, axis=0)
    return _gained([edge < X for edge in edges], positive)


def _gained(above: list[Any], positive: np.ndarray) -> np.ndarray:
    """Mutual information of the class with the number of edges that an entry is above."""
    n_samples, n_positive = positive.size, np.sum(positive)
    sums = [(np.asarray(part.sum(axis=0)).ravel(), part.T @ positive) for part in above]
    n_columns = sums[0][0].size
    bounds = [(np.full(n_columns, n_samples), np.full(n_columns, n_positive)), *sums]
    bounds.append((np.zeros(n_columns), np.zeros(n_columns)))
    total = np.zeros(n_columns)
    for (n_high, a_high), (n_low, a_low) in pairwise(bounds):
        n_in, a_in = n_high - n_low, a_high - a_low
        for part, n_class in ((a_in, n_positive), (n_in - a_in, n_samples - n_positive)):
            total += xlogy(part, part * n_samples) - xlogy(part, n_in * n_class)
    return total / n_samples


def by_statistic(
    statistics: Callable[[Any, np.ndarray], np.ndarray],
    X: Any,
    y: np.ndarray,
    ks: Sequence[int],
    setting: Any,
    target: str,
) -> list[Pick]:
    """The k columns with the largest statistic; no model of its own."""
    found = finite(statistics, X, y)
    return [Pick(largest(found, k)) for k in ks]


def finite(
    statistics: Callable[[Any, np.ndarray], np.ndarray], X: Any, y: np.ndarray
) -> np.ndarray:
    """The statistics, 0 for columns without an entry in these rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.filterwarnings("ignore", message="(?s)Features .* are constant")
        return np.nan_to_num(statistics(X, y), nan=0.0)


FILTERS: dict[str, Selector] = {
    "chi2": partial(by_statistic, chi2_statistics),
    "ANOVA F": partial(by_statistic, f_statistics),
    "mutual information": partial(by_statistic, information),
}
