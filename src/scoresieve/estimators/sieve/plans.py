"""The plan of a sieve: all that is to be compared, from the parameters of an estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve.design import RowBlocks
from scoresieve.design.dense import squared_sum
from scoresieve.estimators.budget_model import default_C, loss_for
from scoresieve.estimators.sieve.arguments import check_Cs, check_names
from scoresieve.estimators.sieve.cross_fitting import Plan
from scoresieve.estimators.sieve.final_models import FinalModel
from scoresieve.estimators.sieve.selections import CORRELATION, DIRECT, Selection
from scoresieve.losses import get_loss
from scoresieve.measures import get_measure
from scoresieve.solvers.limits import Deadline, Limits

#: C of the losses if none are given, and of the squared hinges on the chosen columns.
DEFAULT_CS = (0.3, 1.0, 3.0, 10.0)
FINAL_CS = (0.1, 1.0, 10.0, 100.0)
#: C of the logistic regression on what is chosen one at a time.
CORRELATION_C = 1.0
#: The candidate that is the bound of the measure itself.
OWN_BOUND = "measure"
#: The mean squares of entries, 0 left out, that these serve: unit rows of text to unit deviations.
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-3, 10.0
#: The value of the constant column in the search for features.
CONSTANT = 1.0
#: Relative gap and rounds of a search; selections have gaps of their own.
TOL, MAX_ITER = 0.01, 1000


def start_clock(max_time: float | None) -> Limits:
    """The limits of all searches together, from this moment on."""
    limits = Limits(TOL, MAX_ITER, max_time, find_smallest_C=False, thorough=False)
    return replace(limits, deadline=Deadline(max_time))


def factor_of_C(X: Any) -> float:
    """What C is multiplied by where X has a scale of its own, so that the model does not change.

    ``C / s^2`` is for ``s X`` what C is for X. Between unit rows of text and columns of unit
    deviation one grid serves all; X is seen as the nearer of the two beyond.
    """
    if isinstance(X, RowBlocks):
        total, n_entries = X.statistics.sum_of_squares, int(np.sum(X.statistics.counts))
    else:
        entries = X.data if sp.issparse(X) else np.asarray(X)
        total, n_entries = squared_sum(entries), int(np.count_nonzero(entries))
    if not n_entries:
        return 1.0
    mean = total / n_entries
    return float(np.clip(mean, SMALLEST_SQUARE, LARGEST_SQUARE) / mean) if mean > 0.0 else 1.0


def make_plan(
    estimator: Any,
    sizes: list[int],
    limits: Limits,
    columns: dict[str, Any] | None = None,
    factor: float = 1.0,
) -> Plan:
    """Every candidate and every final model, for these numbers of features.

    Parameters
    ----------
    estimator : estimator
        With the parameters ``measure``, ``candidates`` and ``Cs``.
    factor : float
        By which every C that the user has not given is multiplied.
    columns : dict, optional
        Roles of columns, as for :func:`make_problem`.
    """
    finals = [FinalModel(factor * C) for C in FINAL_CS]
    Cs = estimator.Cs
    Cs = [factor * C for C in DEFAULT_CS] if Cs is None else check_Cs(Cs)
    return Plan(
        make_selections(estimator.measure, estimator.candidates, Cs, factor),
        (FinalModel(), *finals),
        tuple(sizes),
        limits,
        {**(columns or {}), "intercept_scaling": CONSTANT},
    )


def make_selections(
    measure: Any, candidates: Any, Cs: list[float], factor: float
) -> tuple[Selection, ...]:
    """What is chosen one at a time, the measure's bound, losses at every C, the measure itself."""
    names = check_names(candidates, "candidates")
    found = []
    if CORRELATION in names:
        loss = get_loss("logistic")
        found.append(Selection(loss, factor * CORRELATION_C, CORRELATION))
    if OWN_BOUND in names:
        found.append(Selection(get_measure(measure), factor * default_C(measure)))
    for name in sorted(set(names) - {CORRELATION, OWN_BOUND, DIRECT}):
        try:
            loss = loss_for(name, "classification")
        except (TypeError, ValueError) as error:
            raise ValueError(f"candidates holds {name!r}, but {error}") from error
        found += [Selection(loss, C) for C in Cs]
    if DIRECT in names:  # nothing holds it back, so that all others go before it
        found.append(Selection(get_measure(measure), None, DIRECT))
    return tuple(found)
