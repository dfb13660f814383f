"""Decisions of linear models, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot

from scoresieve._arrays import FloatArray
from scoresieve.design import RowBlocks
from scoresieve.estimators.targets import Targets
from scoresieve.measures import Accuracy, Measure
from scoresieve.risks import LossRisk, MeasureRisk
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import SolveResult
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


def training_score(risk: MeasureRisk, scores: FloatArray) -> float:
    """The measure of the rows that a risk is bound to, of which scores above 0 are alarms."""
    measure = risk.kind if risk.weights is None else risk.kind.weighted(risk.weights)
    return float(measure.score(risk.y, scores))


def training_score_of_loss(problem: Problem, result: SolveResult) -> float:
    """The accuracy of the training rows, or R^2 for a regression; no score leaves its block."""
    risk = problem.risk
    assert isinstance(risk, LossRisk)
    y, weights = risk.y, risk.row_weights
    model = result.w[result.support], result.support, result.intercept
    if risk.loss.task == "classification":
        return problem.design.total(weight_of_right, *model, y, weights) / float(weights.sum())
    errors = problem.design.total(squared_errors, *model, y, weights)
    spread = float(squared_errors(np.average(y, weights=weights), y, weights))
    if spread == 0.0:  # as sklearn.metrics.r2_score has it
        return float(errors == 0.0)
    return 1.0 - errors / spread


def weight_of_right(scores: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """``sum_i c_i [sign(s_i) = y_i]``."""
    return float(np.sum(weights[(scores > 0) == (y > 0)]))


def squared_errors(scores: Any, y: FloatArray, weights: FloatArray) -> float:
    """``sum_i c_i (s_i - y_i)^2``."""
    return float(weights @ np.square(scores - y))


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
