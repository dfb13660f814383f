"""``OperatingPoint``: the confusion matrix of a fitted classifier on some rows, and its price.

    a true, b false alarms, of P positives and N negatives:   recall a / P,  precision a / (a + b)
    (a + rho t, b + t) for every t:   tables that are worth the same at the price rho of an alarm

For F1 and its own price this line is that of equal F1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve

from scoresieve._arrays import BoolArray, FloatArray
from scoresieve.estimators.data import read_X
from scoresieve.estimators.linear_model import (
    class_columns,
    decision_intercepts,
    linear_scores,
    measure_of,
)
from scoresieve.estimators.model import ClassModel


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """The confusion matrix of one class against the rest, and its precision-recall curve.

    Of several classes the rows of a class are those that ``predict`` gives it, and the curve is
    that of its decisions less the highest of the others.

    Attributes
    ----------
    n_hits, n_alarms : int
        a, and a + b.
    n_positives, n_samples : int
        P, and P + N.
    precisions, recalls : ndarray
        At every threshold, from ``sklearn.metrics.precision_recall_curve``.
    price : float or None
        rho; None where the model has none.
    score : float or None
        The model's measure of this class against the rest; None for losses.
    """

    n_hits: int
    n_alarms: int
    n_positives: int
    n_samples: int
    precisions: FloatArray
    recalls: FloatArray
    price: float | None
    score: float | None = None

    @property
    def precision(self) -> float:
        """``a / (a + b)``; 0 if no row is predicted positive."""
        return self.n_hits / self.n_alarms if self.n_alarms else 0.0

    @property
    def recall(self) -> float:
        """``a / P``."""
        return self.n_hits / self.n_positives

    @property
    def confusion(self) -> list[list[int]]:
        """Rows: true labels, the rest first; columns: predicted labels."""
        false_alarms, misses = self.n_alarms - self.n_hits, self.n_positives - self.n_hits
        n_negatives = self.n_samples - self.n_positives
        return [[n_negatives - false_alarms, false_alarms], [misses, self.n_hits]]

    def price_line(self, n_points: int = 101) -> tuple[FloatArray, FloatArray]:
        """Recalls and precisions of the tables that score as high as that of the model.

        Empty without a price.
        """
        if self.price is None or not self.n_alarms:
            return np.zeros(0), np.zeros(0)
        recalls = np.linspace(0.0, 1.0, n_points)
        hits = self.n_positives * recalls
        false_alarms = self.n_alarms - self.n_hits + (hits - self.n_hits) / self.price
        n_negatives = self.n_samples - self.n_positives
        possible = (false_alarms >= 0.0) & (false_alarms <= n_negatives) & (hits > 0.0)
        hits, false_alarms = hits[possible], false_alarms[possible]
        return recalls[possible], hits / (hits + false_alarms)


def operating_points(model: Any, X: Any, y: Any) -> list[OperatingPoint | None]:
    """The point of each class against the rest; None where y lacks positives or negatives.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this package.
    X, y
        Training rows and labels, or others.
    """
    decision = model.decision_function(X)
    labels = model.targets_.labels(model.targets_.checked(y, decision))
    return [
        point_of_class(model, number, model.models_, each > 0, decision)
        for number, each in enumerate(labels)
    ]


def smaller_points(
    model: Any, number: int, smaller: Sequence[ClassModel], X: Any, y: Any
) -> list[OperatingPoint | None]:
    """The points of models with fewer features for one class; other classes keep their models.

    Parameters
    ----------
    model : estimator
        The fitted classifier that keeps them.
    number : int
        Of the class.
    """
    X, targets = read_X(model, X), model.targets_
    is_positive = list(targets.labels(targets.checked(y, X)))[number] > 0
    coef = np.array([each.scattered(X.shape[1]) for each in smaller])
    columns = (linear_scores(X, coef) + [decision_intercepts(targets, [e])[0] for e in smaller]).T
    whole, points = np.reshape(model.decision_function(X), (-1, targets.n_problems)), []
    for one, column in zip(smaller, columns, strict=True):
        models, decision = [*model.models_], whole.copy()
        models[number], decision[:, number] = one, targets.sign * column
        points.append(point_of_class(model, number, models, is_positive, decision))
    return points


def point_of_class(
    model: Any,
    number: int,
    models: Sequence[ClassModel],
    is_positive: BoolArray,
    decision: FloatArray,
) -> OperatingPoint | None:
    """The point of one class, with price and score of the model; None if all labels are equal.

    Parameters
    ----------
    models : sequence of ClassModel
        Those that the decisions are of.
    decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
    """
    if is_positive.all() or not is_positive.any():
        return None
    measure, targets, score = measure_of(model), model.targets_, None
    point = point_of_scores(is_positive, class_columns(None, targets, models, decision)[:, number])
    if measure is not None:
        scores = class_columns(measure, targets, models, decision)[:, number]
        score = measure.score(np.where(is_positive, 1.0, -1.0), scores)
    return replace(point, price=price_of(model, number, point), score=score)


def point_of_scores(is_positive: BoolArray, scores: FloatArray) -> OperatingPoint:
    """The point of scores that are positive above 0, without a price."""
    alarms = scores > 0
    precisions, recalls, _ = precision_recall_curve(is_positive, scores)
    return OperatingPoint(
        int(np.count_nonzero(alarms & is_positive)),
        int(np.count_nonzero(alarms)),
        int(np.count_nonzero(is_positive)),
        int(is_positive.size),
        precisions,
        recalls,
        None,
    )


def price_of(model: Any, problem: int, point: OperatingPoint) -> float | None:
    """The price that a model was trained with, or that of its measure at the point."""
    measure, one = measure_of(model), model.models_[problem]
    if measure is None or not measure.flips_examples:
        return None
    if one.choice is None and not np.isnan(one.price):
        return one.price
    y = np.where(np.arange(point.n_samples) < point.n_positives, 1.0, -1.0)
    fixed = measure.fixed_rate(y)
    if fixed is None and hasattr(measure, "rate_at"):
        n_false = point.n_alarms - point.n_hits
        sizes = point.n_positives, point.n_samples - point.n_positives
        fixed = measure.rate_at(point.n_hits, n_false, *sizes)
    return float(fixed) if fixed is not None and 0.0 < fixed < np.inf else None
