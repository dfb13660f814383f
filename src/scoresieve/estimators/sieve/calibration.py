"""``P(y = 1 | s) = 1 / (1 + exp(-(a s + b)))``, fitted on scores of rows that no model has seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from scoresieve._arrays import FloatArray
from scoresieve.estimators.targets import Targets

#: Almost no regularisation of the two numbers.
C = 1e6


class Sigmoid(NamedTuple):
    """``a s + b``, the log-odds of a score; a is positive."""

    slope: float
    shift: float

    def log_odds(self, scores: FloatArray | float) -> FloatArray | float:
        """``a s + b``."""
        return self.slope * scores + self.shift


def fit_sigmoid(y: FloatArray, scores: FloatArray, weights: FloatArray | None) -> Sigmoid:
    """The sigmoid of the scores (Platt 2000), by a logistic regression on one column.

    Where scores say nothing, or the contrary, the slope is a small positive number: a higher score
    never lowers the odds.
    """
    spread = float(np.std(scores)) or 1.0
    column = (scores / spread)[:, np.newaxis]
    model = LogisticRegression(C=C).fit(column, y > 0, sample_weight=weights)
    slope = max(float(model.coef_[0, 0]), 1e-3) / spread
    return Sigmoid(slope, float(model.intercept_[0]))


def probabilities(targets: Targets, decision: FloatArray, odds: FloatArray) -> FloatArray:
    """``1 / (1 + exp(-log-odds))`` of each class, of shape (n_samples, n_classes).

    Of more than two classes they are divided by their sum, which leaves the most probable as it is;
    of an indicator matrix each column stands alone.

    Parameters
    ----------
    decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Log-odds above those of the threshold; of more than two classes log-odds themselves.
    odds : ndarray of shape (n_problems,)
        Log-odds of the thresholds.
    """
    if targets.kind == "binary":
        positive = expit(targets.sign * decision + odds[0])
        both = np.column_stack([1.0 - positive, positive])
        return both if targets.sign > 0 else both[:, ::-1]
    if targets.kind == "multilabel":
        return expit(decision + odds)
    each = expit(decision)
    return each / each.sum(axis=1, keepdims=True)
