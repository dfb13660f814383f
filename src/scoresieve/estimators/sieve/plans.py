"""The plan of a sieve: all that is to be compared, from the parameters of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve.design import RowBlocks, as_design
from scoresieve.design.dense import squared_sum
from scoresieve.design.scaled import column_means, have_one_scale
from scoresieve.estimators.budget_model import default_C, loss_for
from scoresieve.estimators.sieve.arguments import check_Cs, check_names
from scoresieve.estimators.sieve.cross_fitting import Plan
from scoresieve.estimators.sieve.final_models import FinalModel
from scoresieve.estimators.sieve.selections import (
    CONSTANT,
    DIRECT,
    MEAN_SQUARES,
    ONE_AT_A_TIME,
    SCALED,
    Selection,
    constant_for,
)
from scoresieve.estimators.sieve.splits import LabelledData
from scoresieve.losses import get_loss
from scoresieve.measures import get_measure
from scoresieve.solvers.limits import Deadline, Limits

#: C of the losses if none are given, and of the squared hinges on the chosen columns.
DEFAULT_CS = (0.3, 3.0)
FINAL_CS = (0.1, 1.0, 10.0, 100.0)
#: C of the logistic regression on what is chosen one at a time.
ONE_AT_A_TIME_C = 1.0
#: Rows of a class, or of all others, below which what is chosen one at a time is to be preferred.
FEW_ROWS = 50
#: The candidate that is the bound of the measure itself.
OWN_BOUND = "measure"
#: Relative gap and rounds of a search; selections have gaps of their own.
TOL, MAX_ITER = 0.01, 1000


def start_clock(max_time: float | None) -> Limits:
    """The limits of all searches together, from this moment on."""
    limits = Limits(TOL, MAX_ITER, max_time, find_smallest_C=False, thorough=False)
    return replace(limits, deadline=Deadline(max_time))


class DataFacts(NamedTuple):
    """What of the data the plan depends on.

    Attributes
    ----------
    factor : float
        What C is multiplied by, see :func:`factor_of_C`.
    has_one_scale : bool
        Whether all columns have one deviation, and means near 0: scaling changes nothing then.
    has_few_rows : bool
        Whether some class, or all others together, has few rows.
    """

    factor: float = 1.0
    has_one_scale: bool = False
    has_few_rows: bool = True


#: For columns and rows that are not known yet.
UNKNOWN = DataFacts()


def facts_of(data: LabelledData) -> DataFacts:
    """Those of the rows that a sieve is fitted on."""
    counts = data.targets.n_positives(data.y)
    rarest = int(np.minimum(counts, data.y.shape[0] - counts).min())
    design = as_design(data.X)
    is_near_zero = constant_for(column_means(design)) == CONSTANT
    has_one_scale = is_near_zero and have_one_scale(design)
    return DataFacts(factor_of_C(data.X), has_one_scale, rarest < FEW_ROWS)


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
    return float(np.clip(mean, *MEAN_SQUARES) / mean) if mean > 0.0 else 1.0


def make_plan(
    estimator: Any,
    sizes: list[int],
    limits: Limits,
    columns: dict[str, Any] | None = None,
    facts: DataFacts = UNKNOWN,
    Cs: Sequence[float] = DEFAULT_CS,
) -> Plan:
    """Every candidate and every final model, for these numbers of features.

    Parameters
    ----------
    estimator : estimator
        With the parameters ``measure``, ``candidates`` and ``Cs``.
    columns : dict, optional
        Roles of columns, as for :func:`make_problem`.
    facts : DataFacts
        By whose factor every C that the user has not given is multiplied.
    Cs : sequence of float
        Those of the losses if the user has given none.
    """
    finals = [FinalModel(facts.factor * C, graded) for graded in (False, True) for C in FINAL_CS]
    return Plan(
        make_selections(estimator, facts, Cs),
        (FinalModel(), *finals),
        tuple(sizes),
        limits,
        {**(columns or {}), "intercept_scaling": CONSTANT},
    )


def make_selections(
    estimator: Any, facts: DataFacts = UNKNOWN, Cs: Sequence[float] = DEFAULT_CS
) -> tuple[Selection, ...]:
    """What is preferred first: the order decides among those that are equally good.

    With few rows what is chosen one at a time comes first, because a search finds sets that are
    good by chance; with more rows it comes after what a bound or a loss has found. Nothing holds
    the measure itself back, so that it is the last.
    """
    measure, names = estimator.measure, check_names(estimator.candidates, "candidates")
    if facts.has_one_scale:  # the same search twice
        names = [each for each in names if each.removeprefix(SCALED) not in set(names) - {each}]
    alone = [
        Selection(get_loss("logistic"), facts.factor * ONE_AT_A_TIME_C, way)
        for way in ONE_AT_A_TIME
        if way in names
    ]
    held_back = []
    if OWN_BOUND in names:
        held_back.append(Selection(get_measure(measure), facts.factor * default_C(measure)))
    of_losses = set(names) - {*ONE_AT_A_TIME, OWN_BOUND, DIRECT}
    for name in sorted(of_losses, key=lambda each: (each.startswith(SCALED), each)):
        # What is brought to one scale has the mean square that the grid is for.
        by = 1.0 if name.startswith(SCALED) else facts.factor
        grid = [by * C for C in Cs] if estimator.Cs is None else check_Cs(estimator.Cs)
        held_back += searches_of_loss(name, grid)
    direct = [Selection(get_measure(measure), None, DIRECT)] if DIRECT in names else []
    first = [*alone, *held_back] if facts.has_few_rows else [*held_back, *alone]
    return *first, *direct


def searches_of_loss(name: str, Cs: list[float]) -> list[Selection]:
    """The loss at every C, for the columns as they are or brought to one scale."""
    is_scaled = name.startswith(SCALED)
    try:
        loss = loss_for(name.removeprefix(SCALED), "classification")
    except (TypeError, ValueError) as error:
        raise ValueError(f"candidates holds {name!r}, but {error}") from error
    return [Selection(loss, C, is_scaled=is_scaled) for C in Cs]
