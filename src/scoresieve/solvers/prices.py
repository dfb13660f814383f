"""The price of a false alarm: the measure's exchange rate at the operating point.

    rho = (dDelta/db) / (-dDelta/da)   at the table (a, b) of the best threshold

A price decides where the bound of :class:`~scoresieve.risks.MeasureRisk` is tight. For F1 it is
``rho = F / (2 - F)``: the better the model, the more an alarm costs. (Parambath, Usunier and
Grandvalet 2014 use the same rate for cost-sensitive training.) Where the loss jumps, as that of
precision given enough recall does, it is the rate of new hits to new alarms at the threshold.

The operating point is estimated by cross-fitting: a squared hinge on as many units as the budget,
found by splicing in milliseconds, scores held-out rows. Training scores are optimistic where
positives are rare.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.measures import ContingencyMeasure
from scoresieve.risks import LossRisk, MeasureRisk, Risk
from scoresieve.solvers.engines import balance, run_at_falling_price
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import PriceIs, Problem
from scoresieve.solvers.subset.refits import Refitter
from scoresieve.solvers.subset.splice import (
    exchange_many,
    most_promising,
    start_at_constant,
)
from scoresieve.solvers.subset.surrogate import squared_hinge_of
from scoresieve.solvers.working import Resumable, WarmStart

#: Folds of the cross-fitting.
N_PARTS = 3
#: With at least this many positives one held-out part is enough, and so are the most promising
#: units, without exchanges: on news20.binary with 250 units the price is 0.68, and 0.70 after a
#: search.
MANY_POSITIVES = 300
#: Most positives that are scored; of the negatives the same share is.
MOST_POSITIVES = 900
#: Most units of the model: more of them hardly move the operating point.
MOST_UNITS = 100
#: A coarse search is enough to find the operating point.
COARSE_TOL, FEW_REFITS = 0.1, 2


def run_at_own_price(problem: Problem, limits: Limits, warm: WarmStart | None = None) -> Resumable:
    """Run the engine at the price of the problem, which is found first where it is open."""
    limits = limits.begun()
    return run_at_falling_price(with_own_price(problem, limits), limits, warm)


def with_own_price(problem: Problem, limits: Limits) -> Problem:
    """The problem with its measure's own price; as it is, if its price is not open.

    Parameters
    ----------
    limits : Limits
        Of the fit that comes after, for its deadline.
    """
    if problem.price_is is not PriceIs.OPEN:
        return problem
    risk = problem.risk
    assert isinstance(risk, MeasureRisk)
    assert isinstance(risk.kind, ContingencyMeasure)
    seen = unseen_scores(problem, limits)
    rate = risk.kind.exchange_rate(seen.y, seen.scores) if seen.has_units else balance(risk.y)
    priced = risk.with_price(within_reason(rate, risk.y))
    return replace(problem, risk=priced, price_is=PriceIs.FOUND)


class Unseen(NamedTuple):
    """Labels and scores of held-out rows; whether their models had any units."""

    y: FloatArray
    scores: FloatArray
    has_units: bool


def unseen_scores(problem: Problem, limits: Limits) -> Unseen:
    """Scores of held-out rows by squared hinges with as many units as the budget."""
    refitter = squared_hinge(problem, replace(limits, tol=COARSE_TOL))
    has_units = False
    rows = enough_rows(problem.risk.y)
    if rows.size < problem.risk.y.size:
        refitter = refitter.of_rows(rows)
    hinge, k = refitter.problem.risk, min(problem.norm.budget, MOST_UNITS)
    assert isinstance(hinge, LossRisk)
    labels, scores = [], []
    is_rare = np.count_nonzero(hinge.y > 0) < MANY_POSITIVES
    for kept, held_out in held_out_parts(hinge.y):
        part = refitter.with_risk(without_rows(hinge, kept))
        fit = most_promising(part, start_at_constant(part), k)
        if is_rare:
            fit, _ = exchange_many(part, fit, k, part.n_refits + FEW_REFITS)
        has_units |= not part.is_empty(fit)
        labels.append(hinge.y[held_out])
        scores.append(part.scores(fit)[held_out])
    return Unseen(np.concatenate(labels), np.concatenate(scores), has_units)


def squared_hinge(problem: Problem, limits: Limits) -> Refitter:
    """Refits of the same columns, labels, weights and C with the squared hinge as loss."""
    risk = squared_hinge_of(problem.risk)
    return Refitter(replace(problem, risk=risk, price_is=PriceIs.GIVEN), limits)


def without_rows(risk: Risk, kept: IntArray | None) -> Risk:
    """The risk of the kept rows alone; of all of them for None."""
    assert isinstance(risk, LossRisk)
    if kept is None:
        return risk
    weights = np.zeros(risk.y.size)
    weights[kept] = risk.row_weights[kept]
    return LossRisk(risk.loss, risk.y, weights)


def enough_rows(y: FloatArray) -> IntArray:
    """All rows, or every n-th one of both classes where there are more positives than needed."""
    classes = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    step = -(-classes[0].size // MOST_POSITIVES)
    return np.sort(np.concatenate([members[::step] for members in classes]))


def held_out_parts(y: FloatArray) -> list[tuple[IntArray | None, IntArray]]:
    """Rows to fit and rows to look at, disjoint, each class spread over the parts in turn.

    With fewer examples of a class than parts there is one pair: None for all rows, and all rows.
    """
    classes = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    if min(members.size for members in classes) < N_PARTS:
        return [(None, np.arange(y.size))]
    part_of = np.empty(y.size, dtype=np.int64)
    for members in classes:
        part_of[members] = np.arange(members.size) % N_PARTS
    n_wanted = 1 if classes[0].size >= MANY_POSITIVES else N_PARTS
    return [
        (np.flatnonzero(part_of != part), np.flatnonzero(part_of == part))
        for part in range(n_wanted)
    ]


def within_reason(rate: float, y: FloatArray) -> float:
    """The rate, or the nearest one at which neither class is a thousandth of the other."""
    return float(np.clip(rate, 1e-3 * min(1.0, balance(y)), 1e3 * max(1.0, balance(y))))
