"""The plan of a sieve: all that is to be compared, from the parameters of an estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scoresieve.estimators.budget_model import default_C, loss_for
from scoresieve.estimators.sieve.arguments import check_Cs, check_names
from scoresieve.estimators.sieve.cross_fitting import Plan
from scoresieve.estimators.sieve.final_models import FinalModel
from scoresieve.estimators.sieve.selections import Selection
from scoresieve.measures import get_measure
from scoresieve.solvers.limits import Deadline, Limits

#: C of the logistic regressions on the chosen columns.
FINAL_CS = (10.0, 100.0)
#: The value of the constant column in the search for features.
CONSTANT = 1.0
#: Relative gap and rounds of a search; selections have gaps of their own.
TOL, MAX_ITER = 0.01, 1000


def start_clock(max_time: float | None) -> Limits:
    """The limits of all searches together, from this moment on."""
    limits = Limits(TOL, MAX_ITER, max_time)
    return replace(limits, deadline=Deadline(max_time))


def make_plan(
    estimator: Any, sizes: list[int], limits: Limits, columns: dict[str, Any] | None = None
) -> Plan:
    """Every candidate and every final model, for these numbers of features.

    Parameters
    ----------
    estimator : estimator
        With the parameters ``measure``, ``candidates`` and ``Cs``.
    columns : dict, optional
        Roles of columns, as for :func:`make_problem`.
    """
    finals = [FinalModel(C) for C in FINAL_CS]
    return Plan(
        make_selections(estimator.measure, estimator.candidates, estimator.Cs),
        (FinalModel(), *finals),
        tuple(sizes),
        limits,
        {**(columns or {}), "intercept_scaling": CONSTANT},
    )


def make_selections(measure: Any, candidates: Any, Cs: Any) -> tuple[Selection, ...]:
    """Every candidate at every C."""
    Cs = check_Cs(Cs)
    found = []
    for name in check_names(candidates, "candidates"):
        if name == "measure":
            found.append(Selection(get_measure(measure), default_C(measure)))
            continue
        loss = loss_for(name, "classification")
        found += [Selection(loss, C) for C in Cs]
    return tuple(found)
