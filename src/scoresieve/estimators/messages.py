"""What an estimator tells its user about a fit that did not end well: an open gap, no features."""

from __future__ import annotations

from math import ceil, floor, log10

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from scoresieve._user_warnings import warn_user
from scoresieve.risks import MeasureRisk
from scoresieve.solvers.engines import SolveResult
from scoresieve.solvers.limits import Status
from scoresieve.solvers.problem import PriceIs, Problem


def warn_about(problem: Problem, result: SolveResult, title: str, tol: float) -> None:
    """Tell the user of a fit that stopped early and of a model without features.

    Parameters
    ----------
    problem : Problem
        As it was before the fit.
    title : str
        What was fitted: "class 'rare'".
    """
    if not result.status.reached_tolerance:
        warn_user(
            f"{title}: the certified gap is {result.gap:.3g} and tol={tol:g}. "
            f"{result.status.value} Columns of similar size and a smaller C also help.",
            ConvergenceWarning,
        )
    elif result.support.size == 0:
        warn_user(f"{title}: {_why_empty(problem, result)} {_remedy(problem, result)}")


def _why_empty(problem: Problem, result: SolveResult) -> str:
    """What is known of a model without features, and no more than that."""
    if result.status is Status.EMPTY_CHOICE:
        return "the model has no features: nothing better was found with so few."
    empty = f"the model has no features: at C={problem.C:g}"
    if not isinstance(problem.risk, MeasureRisk):
        return f"{empty} none lowers the objective by more than the tolerance."
    name = problem.risk.kind.name
    return (
        f"{empty} and price={result.price:.3g} the bound of {name!r} is least without any. That "
        "says that the bound is empty here, not that the columns are."
    )


def _remedy(problem: Problem, result: SolveResult) -> str:
    """What to change for a model with features."""
    if result.status is Status.EMPTY_CHOICE:
        return "Allow more of them."
    smallest_C, other = result.smallest_C, _other_way(problem)
    if smallest_C is not None and np.isinf(smallest_C):
        return f"No larger C changes that: {other or 'no column tells high y from low y'}."
    enough = "" if smallest_C is None else f" to at least {_rounded_up(smallest_C):g}"
    return f"Raise C{enough}, or {other}." if other else f"Raise C{enough}."


def _other_way(problem: Problem) -> str:
    """What else a user of a measure can do."""
    risk = problem.risk
    if not isinstance(risk, MeasureRisk):
        return ""
    if not risk.is_tight and risk.flip_values is not None:
        return "use bound='tight' with an intercept, which follows the measure"
    if problem.price_is is PriceIs.GIVEN and risk.price != risk.kind.fixed_rate(risk.y):
        return "lower price, or leave it at 'auto'"
    return "select features with BudgetClassifier"


def _rounded_up(value: float) -> float:
    """The value with three digits, not below it, so that it can be taken as it is printed."""
    unit = 10.0 ** (floor(log10(value)) - 2)
    return ceil(value / unit) * unit
