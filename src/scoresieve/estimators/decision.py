"""Decisions of linear models: thresholds of top-k measures, and the score of a measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from scoresieve._arrays import FloatArray
from scoresieve.estimators.targets import Targets
from scoresieve.measures import Accuracy, Measure
from scoresieve.solvers.row_weights import apply_weights


def linear_scores(X: Any, coef: Any) -> FloatArray:
    """``X coef^T`` of shape (n_samples, n_problems), for X and coef dense or sparse."""
    return np.asarray(safe_sparse_dot(X, coef.T, dense_output=True), dtype=np.float64)


def top_threshold(scores: FloatArray, k: float, weights: FloatArray | None = None) -> float:
    """``(s_(k) + s_(k+1)) / 2``, the scores descending: k of them are above, fewer if tied.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    k : int, or float with weights
        Between 1 and n_samples, or the total weight. For all of them the threshold is below all
        scores.
    weights : ndarray of shape (n_samples,), optional
        How often each score counts.
    """
    above, below = _neighbours(scores, int(k)) if weights is None else _weighted(scores, k, weights)
    if below is None:
        return above - max(1.0, abs(above))
    middle = below + 0.5 * (above - below)
    # Between neighbouring numbers the middle is one of them.
    return middle if middle < above else below


def _neighbours(scores: FloatArray, k: int) -> tuple[float, float | None]:
    """``s_(k)`` and ``s_(k+1)``, the second None if there are only k."""
    at = scores.size - k
    if at == 0:
        return float(scores.min()), None
    ordered = np.partition(scores, (at - 1, at))
    return float(ordered[at]), float(ordered[at - 1])


def _weighted(scores: FloatArray, k: float, weights: FloatArray) -> tuple[float, float | None]:
    """The scores at which the weight of those that are as high reaches and exceeds k."""
    present = weights > 0
    scores, weights = scores[present], weights[present]
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(weights[order])
    # Sums of whole weights are exact; others may miss k by the rounding of a sum.
    slack = k * scores.size * np.finfo(np.float64).eps
    at = min(int(np.searchsorted(reached, k - slack)), scores.size - 1)
    after = int(np.searchsorted(reached, k + slack, side="right"))
    return float(scores[order[at]]), float(scores[order[after]]) if after < scores.size else None


def measure_score(
    measure: Measure,
    targets: Targets,
    y: Any,
    decision: FloatArray,
    sample_weight: Any = None,
) -> float:
    """The measure of the decisions, averaged over the classes.

    Conventions
    -----------
    Only the accuracy is defined for labels of one kind, so for every other measure a class that y
    holds no example of, or nothing else, is left out of the average.

    Parameters
    ----------
    targets : Targets
        Of the training data.
    y : ndarray or sparse matrix
        True labels, or an indicator matrix.
    decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts.
    """
    decision, y, weights = apply_weights(measure, decision, y, sample_weight)
    if weights is not None:
        present = np.flatnonzero(weights)
        decision, y, weights = decision[present], y[present], weights[present]
    weighted = measure if weights is None else measure.weighted(weights)
    by_problem = targets.sign * decision.reshape(len(decision), -1)
    found = [
        weighted.score(labels, scores)
        for labels, scores in zip(targets.labels(y), by_problem.T, strict=True)
        if isinstance(measure, Accuracy) or np.any(labels != labels[0])
    ]
    if not found:
        raise ValueError(
            f"y has one class only, for which the measure {measure.name!r} is not defined; score "
            "on data with positives and negatives."
        )
    return float(np.mean(found))
