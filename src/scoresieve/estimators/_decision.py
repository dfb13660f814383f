"""Decisions of linear models: thresholds of top-k measures, and the score of a measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from scoresieve.estimators._targets import Targets
from scoresieve.measures import PRBEP, Accuracy, Measure, PrecisionAtK, RecallAtK

FloatArray = NDArray[np.float64]


def linear_scores(X: Any, coef: Any) -> FloatArray:
    """``X coef^T`` of shape (n_samples, n_problems), for X and coef dense or sparse."""
    return np.asarray(safe_sparse_dot(X, coef.T, dense_output=True), dtype=np.float64)


def n_alarms(measure: Measure, y: FloatArray) -> int | None:
    """How many examples the measure is about: k at k, P for a ranking; None for the threshold 0.

    Parameters
    ----------
    measure : Measure
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1}.
    """
    if isinstance(measure, PrecisionAtK | RecallAtK):
        return measure.n_selected(y)
    if isinstance(measure, PRBEP) or not measure.flips_examples:
        return int(np.count_nonzero(y > 0))
    return None


def top_threshold(scores: FloatArray, k: int) -> float:
    """``(s_(k) + s_(k+1)) / 2``, the scores descending: k of them are above, fewer if tied.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    k : int
        Between 1 and n_samples. For n_samples the threshold is below all scores.
    """
    if k == scores.size:
        lowest = float(scores.min())
        return lowest - max(1.0, abs(lowest))
    at = scores.size - k
    ordered = np.partition(scores, (at - 1, at))
    below, above = float(ordered[at - 1]), float(ordered[at])
    middle = below + 0.5 * (above - below)
    # Between neighbouring numbers the middle is one of them.
    return middle if middle < above else below


def measure_score(measure: Measure, targets: Targets, y: Any, decision: FloatArray) -> float:
    """The measure of the decisions, averaged over the classes.

    Conventions
    -----------
    Only the accuracy is defined for labels of one kind, so for every other measure a class that y
    holds no example of, or nothing else, is left out of the average.

    Parameters
    ----------
    measure : Measure
    targets : Targets
        Of the training data.
    y : ndarray or sparse matrix
        True labels, or an indicator matrix.
    decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
    """
    by_problem = targets.sign * decision.reshape(len(decision), -1)
    found = [
        measure.score(labels, scores)
        for labels, scores in zip(targets.labels(y), by_problem.T, strict=True)
        if isinstance(measure, Accuracy) or np.any(labels != labels[0])
    ]
    if not found:
        raise ValueError(
            f"y has one class only, for which the measure {measure.name!r} is not defined; score "
            "on data with positives and negatives."
        )
    return float(np.mean(found))
