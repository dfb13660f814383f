"""Sample weights of measures that are no sums: repeated rows.

    c_i copies of (x_i, y_i)   ==   (x_i, y_i) with the weight c_i

Where the measure is a sum over examples or pairs, the right side is solved as it stands and any
weights will do. Elsewhere (F1, Prec@k, ...) the left side is what a weight means, so that whole
weights repeat rows, a weight of 0 leaves one out, and other weights have no exact meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_weights
from scoresieve.design import Design
from scoresieve.measures import Measure

#: Repeated rows are made in memory, so that there may be this many times as many as before.
MOST_COPIES = 10


def apply_weights(
    measure: Measure, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[Any, Any, FloatArray | None]:
    """``(X, y, c)``, or ``(X, y, None)`` with the rows repeated as often as they count.

    Returns
    -------
    X, y
        As given, or with repeated rows.
    weights : ndarray of shape (n_samples,) or None
        For a measure that takes them.

    Raises
    ------
    ValueError
        If the weights are none, or the measure needs whole ones and these are not.
    """
    if sample_weight is None:
        return X, y, None
    weights = check_weights(sample_weight)
    if measure.takes_weights:
        _check_length(weights, y)
        return X, y, weights
    X, (y,) = repeat_rows(measure, X, [y], weights)
    return X, y, None


def repeat_rows(
    measure: Measure, X: Any, ys: list[Any], weights: FloatArray
) -> tuple[Any, list[Any]]:
    """X and the ys with each row repeated by its weight; ValueError where that has no meaning.

    Parameters
    ----------
    measure : Measure
        Which takes no weights; for messages.
    X : Design, or array-like with a number or more for each row
    weights : ndarray of shape (n_samples,)
        As :func:`check_weights` returns them.
    """
    for y in ys:
        _check_length(weights, y)
    _check_whole(measure, weights)
    if np.all(weights == 1.0) or _n_rows(X) != weights.size:
        return X, ys  # whoever joins X and y refuses another number of rows
    rows = np.repeat(np.arange(weights.size), weights.astype(np.int64))
    return take_rows(X, rows), [take_rows(y, rows) for y in ys]


def take_rows(data: Any, rows: IntArray) -> Any:
    """``data[rows]`` for designs, arrays, lists and sparse matrices of any format."""
    if isinstance(data, Design):
        return data.rows(rows)
    return data.tocsr()[rows] if sp.issparse(data) else np.asarray(data)[rows]


def _n_rows(data: Any) -> int:
    if isinstance(data, Design):
        return data.n_samples
    return data.shape[0] if hasattr(data, "shape") else len(data)


def _check_length(weights: FloatArray, y: Any) -> None:
    if weights.size != _n_rows(y):
        raise ValueError(
            f"sample_weight has {weights.size} weights, but y has {_n_rows(y)} labels; give one "
            "weight for each row."
        )


def _check_whole(measure: Measure, weights: FloatArray) -> None:
    """Weights that stand for repetitions that fit into memory."""
    broken = np.flatnonzero(weights != np.floor(weights))
    if broken.size:
        raise ValueError(
            f"sample_weight[{broken[0]}] is {weights[broken[0]]:g}, but {measure.name} takes whole "
            "weights only: a weight of 2 repeats the row. Round the weights, or use accuracy, "
            "balanced_accuracy or roc_auc."
        )
    total = weights.sum()
    if total == 0:
        raise ValueError("sample_weight is zero for all rows; give a positive weight to some.")
    if total > MOST_COPIES * weights.size:
        raise ValueError(
            f"sample_weight sums to {total:.6g}, but {measure.name} repeats each row as often as "
            f"its weight, up to {MOST_COPIES} times the {weights.size} rows. Divide the weights by "
            "a factor, or use accuracy, balanced_accuracy or roc_auc."
        )
