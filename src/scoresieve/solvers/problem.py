"""The problem that every engine minimises, from arguments that are checked here and nowhere else.

J(w) = 1/2 ||w||_B^2 + C R(X w)                                  (the paper's (3) and (5))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import (
    check_budget,
    check_C,
    check_count,
    check_labels,
    check_positive,
    check_real_targets,
    check_row_weights,
    check_weights,
    check_X,
)
from scoresieve.design import Design, as_design
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import HighestScores, Measure, get_measure
from scoresieve.regularizers import BudgetNorm
from scoresieve.regularizers.units import ALWAYS, EXCLUDED
from scoresieve.risks import LossRisk, MeasureRisk, Risk
from scoresieve.solvers.row_weights import repeat_rows

#: Where the search for a measure's own price begins.
FIRST_PRICE = 0.5


class PriceIs(Enum):
    """Where the price of a false alarm comes from."""

    GIVEN = "by the user or by the bound"
    FIXED = "by the measure, whatever the model is"
    OPEN = "to be found with a model"
    FOUND = "found with a model"

    @property
    def may_fall(self) -> bool:
        """Whether a lower price may take its place where the model would have no features."""
        return self in (PriceIs.FIXED, PriceIs.FOUND)


class ProblemArguments(TypedDict, total=False):
    """The settings of a problem, without its data; see :func:`scoresieve.solve`."""

    measure: str | Measure | None
    loss: str | Loss | None
    bound: str
    price: str | float
    budget: int
    C: float
    intercept_scaling: float
    always_features: ArrayLike | None
    excluded_features: ArrayLike | None
    feature_groups: Any
    sample_weight: ArrayLike | None


@dataclass(frozen=True, eq=False)
class Problem:
    """``J(w) = 1/2 ||w||_B^2 + C R(X w)``.

    Attributes
    ----------
    design : Design
        X, with the constant column last if there is an intercept.
    norm : BudgetNorm
        On all columns of the design.
    constant : float
        Value of the constant column, whose weight times it is the intercept; 0 if there is none.
    price_is : PriceIs
        Whether the price of the risk is a first guess, to be replaced by the measure's own.
    """

    design: Design
    risk: Risk
    norm: BudgetNorm
    C: float
    constant: float = 0.0
    price_is: PriceIs = PriceIs.GIVEN

    def objective(self, w: FloatArray, scores: FloatArray, norm: BudgetNorm | None = None) -> float:
        """``J(w)``, or on some columns that of the w that is 0 on all others, with their norm."""
        return 0.5 * (norm or self.norm).value_squared(w) + self.C * self.risk.value(scores)

    def dual_value(self, gain: float, correlations: FloatArray) -> float:
        """``gain - 1/2 ||X^T v||_(B)^2`` over all columns: a lower bound of min J."""
        return gain - 0.5 * self.norm.dual_squared(correlations)

    def with_budget(self, budget: int) -> Problem:
        """The problem with another budget."""
        return replace(self, norm=self.norm.with_budget(budget))

    def reopened(self) -> Problem:
        """The problem before its price was found with a model, if it was."""
        if self.price_is is not PriceIs.FOUND:
            return self
        return replace(self, price_is=PriceIs.OPEN)

    def arguments(self) -> ProblemArguments:
        """The arguments that make this problem again from the same X, y and sample weights."""
        roles = self.norm.unit_of[: self.n_features]
        risk, kind = self.risk, self.risk.kind
        is_tight = not isinstance(risk, MeasureRisk) or risk.is_tight
        return {
            "measure": kind if isinstance(kind, Measure) else None,
            "loss": kind if isinstance(kind, Loss) else None,
            "bound": "tight" if is_tight else "paper",
            "budget": self.norm.budget,
            "C": self.C,
            "intercept_scaling": self.constant,
            "always_features": self.always_features,
            "excluded_features": np.flatnonzero(roles == EXCLUDED),
            # Columns in no unit have a number of their own there, so that it serves as their group.
            "feature_groups": roles.copy() if self.norm.has_groups else None,
        }

    @property
    def always_features(self) -> IntArray:
        """Columns of X that are always in."""
        return np.flatnonzero(self.norm.unit_of[: self.n_features] == ALWAYS)

    @property
    def n_features(self) -> int:
        """Columns of X, without the constant one."""
        return self.design.n_columns - (self.constant > 0)

    def split(self, w: FloatArray) -> tuple[FloatArray, float]:
        """Weights of the features, and the intercept."""
        return (w[:-1], float(w[-1] * self.constant)) if self.constant else (w, 0.0)

    def joined(self, w: FloatArray, intercept: float) -> FloatArray:
        """Weights of all columns of the design: the inverse of :meth:`split`."""
        return np.append(w, intercept / self.constant) if self.constant else w


def make_problem(X: Any, y: ArrayLike, **arguments: Unpack[ProblemArguments]) -> Problem:
    """The problem that the arguments of :func:`scoresieve.solve` describe, all of them checked."""
    return make_problems(X, [y], **arguments)[0]


def make_problems(
    X: Any,
    ys: Iterable[ArrayLike],
    *,
    measure: str | Measure | None = None,
    loss: str | Loss | None = None,
    bound: str = "tight",
    price: str | float = "auto",
    budget: int,
    C: float = 1.0,
    intercept_scaling: float = 0.0,
    always_features: ArrayLike | None = None,
    excluded_features: ArrayLike | None = None,
    feature_groups: Any = None,
    sample_weight: ArrayLike | None = None,
    at_most: bool = False,
) -> list[Problem]:
    """One problem for each vector of labels or targets, all on the same X.

    Parameters
    ----------
    X, measure, loss, bound, price, budget, C, intercept_scaling
    always_features, excluded_features, feature_groups, sample_weight
        As for :func:`scoresieve.solve`. A design that has been checked is not checked again.
    ys : iterable of array-like of shape (n_samples,)
    at_most : bool
        Whether a budget above the number of units is lowered without a warning.
    """
    kind = measure_or_loss(measure, loss)
    check_bound(bound, price, kind, has_threshold=intercept_scaling != 0)
    C = check_C(C)
    constant = check_positive(intercept_scaling, "intercept_scaling", or_zero=True)
    design, ys, weights = as_design(X), list(ys), None
    if sample_weight is not None:
        weights = check_weights(sample_weight)
        if isinstance(kind, Measure) and not kind.takes_weights:
            design, ys = repeat_rows(kind, design, ys, weights)
            weights = None
    design.check_problems(len(ys))
    check_X(design, constant)
    design = as_design(design, constant=constant)
    norm = BudgetNorm(
        1,
        design.n_columns - (constant > 0),
        always_features=always_features,
        excluded_features=excluded_features,
        feature_groups=feature_groups,
        has_constant=constant > 0,
    )
    norm = norm.with_budget(check_budget(budget, norm.n_units, at_most=at_most))
    found = []
    for y in ys:
        y = check_targets_of(kind, y, weights, design.n_samples)
        if isinstance(kind, Loss):
            found.append(Problem(design, LossRisk(kind, y, weights), norm, C, constant))
            continue
        risk, price_is = priced_risk(
            kind, y, weights, bound=bound, price=price, has_threshold=constant > 0
        )
        found.append(Problem(design, risk, norm, C, constant, price_is))
    return found


def budget_arguments(
    budget: Any, n_features_to_select: Any, default: int | None = None
) -> dict[str, Any]:
    """``B`` = budget, else k, else the default; only the first is lowered with a warning."""
    k = n_features_to_select
    if k is not None:
        k = check_count(k, "n_features_to_select")
        if budget is not None and budget != k:
            raise ValueError(
                f"budget={budget!r} and n_features_to_select={k} differ; give one of them. "
                "n_features_to_select is a hard limit; budget lets more features in at less weight."
            )
    if budget is not None:
        return {"budget": budget, "at_most": False}
    if k is None and default is None:
        raise ValueError(
            "neither budget nor n_features_to_select is given, so nothing limits the number of "
            "features; pass one of them, for example n_features_to_select=50."
        )
    return {"budget": default if k is None else k, "at_most": True}


def measure_or_loss(measure: str | Measure | None, loss: str | Loss | None) -> Measure | Loss:
    """The measure or the loss, whichever was given."""
    if (measure is None) == (loss is None):
        raise ValueError(
            f"pass a measure or a loss, one of them; got measure={measure!r} and loss={loss!r}."
        )
    if measure is not None:
        return get_measure(measure)
    assert loss is not None
    return get_loss(loss)


def check_bound(bound: Any, price: Any, kind: Measure | Loss, *, has_threshold: bool) -> None:
    """Refuse an unknown bound, and a price that the problem does not have."""
    if bound not in ("tight", "paper"):
        raise ValueError(f"bound must be 'tight' or 'paper'; got {bound!r}.")
    if isinstance(price, str):
        if price != "auto":
            raise ValueError(f"price must be 'auto' or a positive number; got {price!r}.")
        return
    if check_positive(price, "price") == 1.0:
        return
    reason = None
    if isinstance(kind, Loss):
        reason = f"the loss {kind.name!r} has no price; pass class weights as sample_weight"
    elif bound == "paper":
        reason = "bound='paper' has the price 1"
    elif not kind.flips_examples:
        reason = f"{kind.name!r} ranks the rows and has no false alarms"
    elif isinstance(kind, HighestScores) and not has_threshold:
        reason = f"{kind.name!r} without an intercept has the price 1"
    if reason is not None:
        raise ValueError(f"price={price!r} cannot be set: {reason}. Leave price='auto'.")


def check_targets_of(
    kind: Measure | Loss, y: Any, weights: FloatArray | None, n_samples: int
) -> FloatArray:
    """The labels or targets of a measure or a loss, and the weights with them, checked."""
    is_regression = isinstance(kind, Loss) and kind.task == "regression"
    y = (check_real_targets if is_regression else check_labels)(y, n_samples)
    if weights is not None:
        check_row_weights(weights, y, by_class=not is_regression)
    return y


def priced_risk(
    measure: Measure,
    y: FloatArray,
    weights: FloatArray | None,
    *,
    bound: str,
    price: str | float,
    has_threshold: bool,
) -> tuple[MeasureRisk, PriceIs]:
    """The risk of a measure with its price, or a first one, and where the price comes from.

    Without an intercept there is no threshold, so that measures of the k highest scores have the
    paper's bound, whose labellings are restricted, and the price 1.
    """
    if bound == "paper" or (isinstance(measure, HighestScores) and not has_threshold):
        return MeasureRisk(measure, y, weights), PriceIs.GIVEN
    fixed = (measure if weights is None else measure.weighted(weights)).fixed_rate(y)
    if price != "auto":
        first, price_is = float(price), PriceIs.GIVEN
    elif fixed is not None:
        first, price_is = fixed, PriceIs.FIXED if measure.flips_examples else PriceIs.GIVEN
    else:
        first, price_is = FIRST_PRICE, PriceIs.OPEN
    return MeasureRisk(measure, y, weights, price=first, is_tight=True), price_is
