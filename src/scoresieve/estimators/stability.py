"""``selection_frequency``: how much of a selection is the data and how much is luck."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve._checks import check_count, check_positive


def selection_frequency(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_resamples: int = 50,
    sample_fraction: float = 1.0,
    replace: bool | None = None,
    stratify: bool = True,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> FloatArray:
    """``(1/R) sum_r [feature j is selected in resample r]`` for every feature j.

    A frequency near 1 means that the feature is selected whichever rows are drawn. A frequency near
    ``n_selected / n_features`` is that of chance.

    Conventions
    -----------
    * The default is a bootstrap: n rows with replacement. Stability selection draws half of the
      rows without replacement (``sample_fraction=0.5``).
    * ``estimator`` is cloned for each resample and never fitted itself; its own ``random_state`` is
      kept.
    * All rows are drawn before the first fit, so the result does not depend on ``n_jobs``.

    Parameters
    ----------
    estimator : estimator with ``get_support``
        Any selector of scikit-learn, or one of this package.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), or of shape (n_samples, n_labels) without ``stratify``
    n_resamples : int
    sample_fraction : float
        Fraction of the rows to draw, at most 1 without replacement.
    replace : bool, optional
        Whether a row can be drawn twice. By default only with ``sample_fraction >= 1``.
    stratify : bool
        Whether to draw within each class of y, so that no resample lacks a rare class.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Number of parallel fits, as in joblib.

    Returns
    -------
    ndarray of shape (n_features,)
        In [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from scoresieve.estimators.stability import selection_frequency
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> y = (X[:, 2] > 0).astype(int)
    >>> float(selection_frequency(SelectKBest(k=1), X, y, n_resamples=10)[2])
    1.0
    """
    if not hasattr(estimator, "get_support"):
        raise TypeError(
            f"estimator must have get_support, like scikit-learn's selectors; got {estimator!r}. "
            "Wrap a model with coef_ in sklearn.feature_selection.SelectFromModel."
        )
    n_resamples = check_count(n_resamples, "n_resamples")
    X, y = indexable(X, y)
    draws = _draw_rows(y, n_resamples, sample_fraction, replace, stratify, random_state)
    masks = Parallel(n_jobs=n_jobs)(
        delayed(_selected)(clone(estimator), X, y, rows) for rows in draws
    )
    # A sum of whole numbers is exact, so that the order of the jobs does not matter either.
    return np.asarray(np.sum(masks, axis=0, dtype=np.int64) / n_resamples)


def _draw_rows(
    y: Any,
    n_resamples: int,
    sample_fraction: float,
    replace: bool | None,
    stratify: bool,
    random_state: Any,
) -> list[IntArray]:
    """Sorted row numbers of each resample."""
    fraction = check_positive(sample_fraction, "sample_fraction")
    replace = fraction >= 1.0 if replace is None else replace
    if not replace and fraction > 1.0:
        raise ValueError(
            f"sample_fraction={fraction:g} needs more rows than X has; use at most 1, or draw with "
            "replace=True."
        )
    random = check_random_state(random_state)
    n_samples = y.shape[0] if hasattr(y, "shape") else len(y)
    strata = _rows_of_classes(y) if stratify else [np.arange(n_samples)]
    sizes = [max(1, round(fraction * rows.size)) for rows in strata]
    return [
        np.sort(
            np.concatenate(
                [
                    random.choice(rows, size, replace=replace)
                    for rows, size in zip(strata, sizes, strict=True)
                ]
            )
        )
        for _ in range(n_resamples)
    ]


def _rows_of_classes(y: Any) -> list[IntArray]:
    """Row numbers of each class, in the order of the classes."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(
            f"stratify=True needs one label per row; y has shape {labels.shape}. Use "
            "stratify=False."
        )
    classes, members = np.unique(labels, return_inverse=True)
    return [np.flatnonzero(members == number) for number in range(classes.size)]


def _selected(estimator: Any, X: Any, y: Any, rows: IntArray) -> BoolArray:
    """Fit on the rows; which features were selected."""
    fitted = estimator.fit(_take(X, rows), _take(y, rows))
    return np.asarray(fitted.get_support(), dtype=bool)


def _take(data: Any, rows: IntArray) -> Any:
    """Some rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return np.asarray(data)[rows] if isinstance(data, list | tuple) else data[rows]
