"""Decisions of linear models, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.extmath import safe_sparse_dot

from scoresieve._arrays import FloatArray
from scoresieve.design import RowBlocks
from scoresieve.estimators.targets import Targets
from scoresieve.measures import Accuracy, Measure
from scoresieve.risks import Risk
from scoresieve.solvers.row_weights import apply_weights


def linear_scores(X: Any, coef: Any) -> FloatArray:
    """``X coef^T`` of shape (n_samples, n_problems), for X and coef dense or sparse."""
    if isinstance(X, RowBlocks):
        return _block_scores(X, coef)
    return np.asarray(safe_sparse_dot(X, coef.T, dense_output=True), dtype=np.float64)


def _block_scores(X: RowBlocks, coef: Any) -> FloatArray:
    """The same for row blocks, by the columns with a weight."""
    coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef, dtype=np.float64)
    used = np.flatnonzero(np.any(coef != 0.0, axis=0))
    scores = X.scores(coef[:, used], used)
    if not np.all(np.isfinite(scores)):
        raise ValueError("X contains NaN or infinity; impute the values or drop those rows.")
    return scores


def training_score(risk: Risk, scores: FloatArray) -> float:
    """The measure of the rows that a risk is bound to; of a loss the accuracy, or R^2.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Those above 0 are alarms; predictions for a regression.
    """
    y, weights = risk.y, risk.weights
    if isinstance(risk.kind, Measure):
        return float(
            (risk.kind if weights is None else risk.kind.weighted(weights)).score(y, scores)
        )
    if risk.kind.task == "regression":
        return float(r2_score(y, scores, sample_weight=weights))
    return float(accuracy_score(y > 0, scores > 0, sample_weight=weights))


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
