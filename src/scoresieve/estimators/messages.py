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
    """Warn of a fit that stopped early and of a model without features.

    Parameters
    ----------
    problem : Problem
        As it was before the fit.
    title : str
        What was fitted: "class 'rare'".
    """
    if not result.status.reached_tolerance:
        warn_user(
            f"{title}: the certified gap is {result.gap:.3g}, above tol={tol:g}. "
            f"{result.status.value} Scaling the columns or lowering C also helps.",
            ConvergenceWarning,
        )
    elif result.support.size == 0:
        warn_user(f"{title}: {_why_empty(problem, result)} {_remedy(problem, result)}")


def _why_empty(problem: Problem, result: SolveResult) -> str:
    """Why a model has no features, as far as that is known."""
    if result.status is Status.EMPTY_CHOICE:
        return "the model has no features: no selection of that size lowers the objective."
    empty = f"the model has no features: at C={problem.C:g}"
    if not isinstance(problem.risk, MeasureRisk):
        return f"{empty} no feature lowers the objective by more than the tolerance."
    name = problem.risk.kind.name
    return (
        f"{empty} and price={result.price:.3g} the empty model minimises the bound of {name!r}. "
        "The columns may still be informative."
    )


def _remedy(problem: Problem, result: SolveResult) -> str:
    """What to change to get a model with features."""
    if result.status is Status.EMPTY_CHOICE:
        return "Allow more features."
    smallest_C, other = result.smallest_C, _other_way(problem)
    if smallest_C is not None and np.isinf(smallest_C):
        return f"Raising C does not help: {other or 'no column is correlated with y'}."
    enough = "" if smallest_C is None else f" to at least {_rounded_up(smallest_C):g}"
    return f"Raise C{enough}, or {other}." if other else f"Raise C{enough}."


def _other_way(problem: Problem) -> str:
    """What else a user of a measure can do."""
    risk = problem.risk
    if not isinstance(risk, MeasureRisk):
        return ""
    if not risk.is_tight and risk.flip_values is not None:
        return "use bound='tight' with an intercept"
    if problem.price_is is PriceIs.GIVEN and risk.price != risk.kind.fixed_rate(risk.y):
        return "lower price or use price='auto'"
    return "select features with BudgetClassifier"


def _rounded_up(value: float) -> float:
    """The value rounded up to three digits, so that the printed value suffices."""
    unit = 10.0 ** (floor(log10(value)) - 2)
    return ceil(value / unit) * unit
