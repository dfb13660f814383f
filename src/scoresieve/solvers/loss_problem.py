"""The problem of a general loss, its dual, and the point that proves a lower bound.

    J(w) = 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)
    D(u) = -C sum_i c_i l*(y_i, u_i) - 1/2 ||X^T v||_(B)^2 ,     v_i = -C c_i u_i

``D(u) <= J(w)`` for all w and all slopes u, with equality at the optimum, where
``u_i = l'(y_i, <w, x_i>)`` and ``w = d * X^T v``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoresieve._checks import MAX_SUM_OF_SQUARES, check_positive, check_problem
from scoresieve.design import Design, as_design
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import Cut
from scoresieve.measures.weighted import as_weights
from scoresieve.regularizers import BudgetNorm

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossDualPoint:
    """``u``: one slope of the loss an example, in the domain of its conjugate.

    Attributes
    ----------
    slopes : ndarray of shape (n_samples,)
    """

    slopes: FloatArray

    def combined(self, row_scale: FloatArray) -> FloatArray:
        """``v = -C c u``, whose correlations with the columns the dual norm takes.

        Parameters
        ----------
        row_scale : ndarray of shape (n_samples,)
            ``C c``.
        """
        return -row_scale * self.slopes


@dataclass(frozen=True, eq=False)
class LossProblem:
    """``J(w) = 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)``.

    Attributes
    ----------
    design : Design
        X, with the constant column last if there is an intercept.
    y : ndarray of shape (n_samples,)
        In {-1, +1} for classification, real for regression.
    loss : Loss
    norm : BudgetNorm
        On all columns of the design.
    C : float
    weights : ndarray of shape (n_samples,)
        c, not negative.
    """

    design: Design
    y: FloatArray
    loss: Loss
    norm: BudgetNorm
    C: float
    weights: FloatArray

    @property
    def row_scale(self) -> FloatArray:
        """``C c_i``: how much the loss of each example counts."""
        return self.C * self.weights

    def risk(self, scores: FloatArray) -> float:
        """``C sum_i c_i l(y_i, s_i)``."""
        return float(self.row_scale @ self.loss.value(self.y, scores))

    def slopes(self, scores: FloatArray) -> FloatArray:
        """``u_i = l'(y_i, s_i)``: the dual point at the scores."""
        return self.loss.derivative(self.y, scores)

    def curvatures(self, scores: FloatArray) -> FloatArray:
        """``C c_i l''(y_i, s_i)``."""
        return self.row_scale * self.loss.curvature(self.y, scores)

    def pull(self, slopes: FloatArray) -> FloatArray:
        """``v = -C c u``: minus the gradient of the risk in the scores, where u is the slope."""
        return -self.row_scale * slopes

    def gain(self, slopes: FloatArray) -> float:
        """``-C sum_i c_i l*(y_i, u_i)``, the first part of the dual value."""
        return -float(self.row_scale @ self.loss.conjugate(self.y, slopes))

    def cut(self, scores: FloatArray) -> Cut:
        """``sum_i c_i l(y_i, s'_i) >= loss - <delta, s'>`` for every s', equal at the scores."""
        slopes = self.slopes(scores)
        loss = -float(self.weights @ self.loss.conjugate(self.y, slopes))
        return Cut(-self.weights * slopes, loss)

    def best_multiple(self, slopes: FloatArray, strength: float) -> tuple[float, float]:
        """``theta`` with a large ``D(theta u)``, and that value.

        ``gain(theta u)`` is 0 at theta = 0 and quadratic in theta for every loss but the logistic
        one, so that its values at 1/2 and 1 give the best theta in closed form.

        Parameters
        ----------
        slopes : ndarray of shape (n_samples,)
            u.
        strength : float
            ``||X^T v||_(B)^2`` of u, over the columns that the bound is wanted for.
        """
        whole, half = self.gain(slopes), self.gain(0.5 * slopes)
        bend = max(0.0, 2.0 * (2.0 * half - whole))
        curvature = 2.0 * bend + strength
        value = whole - 0.5 * strength
        if not (curvature > 0.0 and np.isfinite(curvature)):
            return 1.0, value
        theta = max(0.0, (whole + bend) / curvature)
        theta = min(theta, self.loss.largest_multiple(self.y, slopes))
        scaled = self.gain(self.clipped(theta * slopes)) - 0.5 * theta * theta * strength
        return (theta, scaled) if scaled > value else (1.0, value)

    def clipped(self, slopes: FloatArray) -> FloatArray:
        """The slopes moved into the domain of the conjugate; rounding may have led them out."""
        return np.clip(slopes, *self.loss.slope_range(self.y))


def make_loss_problem(
    X: Any,
    y: ArrayLike,
    *,
    loss: str | Loss,
    budget: int,
    C: float,
    intercept: float = 0.0,
    always: ArrayLike | None = None,
    excluded: ArrayLike | None = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
) -> LossProblem:
    """The problem that the arguments of ``solve_loss`` describe, all of them checked."""
    loss = get_loss(loss)
    intercept = check_positive(intercept, "intercept", or_zero=True)
    design = as_design(X, constant=intercept)
    is_regression = loss.task == "regression"
    checked = check_problem(
        design,
        y,
        budget=budget,
        C=C,
        intercept=intercept,
        always=always,
        excluded=excluded,
        feature_groups=feature_groups,
        check_y=check_targets if is_regression else None,
    )
    y = checked.y
    norm = BudgetNorm(
        checked.budget,
        design.n_columns,
        always=checked.always,
        excluded=checked.excluded,
        groups=checked.groups,
    )
    weights = check_weights(sample_weight, y, by_class=not is_regression)
    return LossProblem(design, y, loss, norm, checked.C, weights)


def check_targets(y: Any, n_samples: int) -> FloatArray:
    """``y`` as finite float64 numbers, one for each row.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Real numbers.
    n_samples : int
        Number of rows of X.
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must be 1-D; got shape {y.shape}. Use y.ravel() for one column.")
    if y.size != n_samples:
        raise ValueError(
            f"y has {y.size} targets and X has {n_samples} rows; they must be the same number."
        )
    try:
        targets = y.astype(np.float64) if y.dtype.kind in "Obiuf" else None
    except (TypeError, ValueError):
        targets = None
    if targets is None:
        raise ValueError(
            f"y must hold real numbers for a regression loss; got dtype {y.dtype}, first target "
            f"{y[0]!r}."
        )
    if not np.all(np.isfinite(targets)):
        raise ValueError("y contains NaN or infinity; drop those rows or impute the targets.")
    with np.errstate(over="ignore"):
        if not float(targets @ targets) <= MAX_SUM_OF_SQUARES:
            raise ValueError(
                f"y is too large: its largest target is {np.abs(targets).max():.3g}, so that the "
                "solver's numbers would overflow; divide the targets by a factor."
            )
    return targets


def check_weights(sample_weight: Any, y: FloatArray, *, by_class: bool) -> FloatArray:
    """``c``: finite, not negative, one for each row, and not all 0 (in a class).

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,) or None
        None for ones.
    y : ndarray of shape (n_samples,)
        Checked labels or targets.
    by_class : bool
        Whether each class needs a positive weight.
    """
    if sample_weight is None:
        return np.ones(y.size)
    weights = as_weights(sample_weight)
    if weights.size != y.size:
        raise ValueError(
            f"sample_weight has {weights.size} weights, but y has {y.size} entries; give one "
            "weight for each row."
        )
    parts = {"positives": y > 0, "negatives": y < 0} if by_class else {"rows": np.ones(y.size) > 0}
    for members, chosen in parts.items():
        if not np.any(weights[chosen] > 0):
            raise ValueError(
                f"sample_weight is zero for all {members}; give a positive weight to at least one "
                f"row{' of each class' if by_class else ''}."
            )
    return weights
