"""The price of a false alarm that suits the measure: its own exchange rate where the model works.

    rho = (dDelta/db) / (-dDelta/da)   at the table (a, b) of the best threshold

A price decides where the bound of :class:`~scoresieve.risks.MeasureRisk` is tight. F1, say, wants
``rho = F / (2 - F)``: the better the model, the more an alarm costs. So the price is found with the
model: fit at a first price, look at the scores of rows that the fit has not seen, and take the rate
there. (Parambath, Usunier and Grandvalet 2014 use the same rate for cost-sensitive training.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.risks import MeasureRisk, PartialRisk
from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.problem import Problem

#: ``fit(problem, limits)``: weights of all columns of the design.
Fit = Callable[[Problem, Limits], FloatArray]

#: Parts that the rows are cut into; a part is held out of the fit whose scores it gets.
N_PARTS = 3
#: With at least so many positives one held-out part tells enough.
MANY_POSITIVES = 300
#: A coarse fit is enough to see where the model works.
COARSE_TOL = 0.1
#: Prices are kept inside this range.
SMALLEST_PRICE, LARGEST_PRICE = 0.02, 1.0


def with_own_price(problem: Problem, limits: Limits, fit: Fit) -> Problem:
    """The problem with the price that its measure has where its model works.

    Parameters
    ----------
    problem : Problem
        With ``has_open_price``; its risk is at a first price.
    limits : Limits
        Of the fit that comes after; the callback is not called, no smallest C is looked for.
    fit : callable
    """
    risk = problem.risk
    assert isinstance(risk, MeasureRisk)
    coarse = replace(
        limits,
        tol=max(limits.tol, COARSE_TOL),
        callback=None,
        find_smallest_C=False,
        deadline=limits.deadline or Deadline(limits.max_time),
    )
    held_out, scores = unseen_scores(problem, risk, coarse, fit)
    rate = risk.measure.exchange_rate(risk.y[held_out], scores)
    assert rate is not None
    price = float(np.clip(rate, SMALLEST_PRICE, LARGEST_PRICE))
    return replace(problem, risk=risk.with_price(price), has_open_price=False)


def unseen_scores(
    problem: Problem, risk: MeasureRisk, limits: Limits, fit: Fit
) -> tuple[IntArray, FloatArray]:
    """Rows, and their scores by models that were fitted without them.

    With fewer examples of a class than parts they are the scores of a model of all rows.
    """
    if min(np.count_nonzero(risk.y > 0), np.count_nonzero(risk.y <= 0)) < N_PARTS:
        w = fit(replace(problem, has_open_price=False), limits)
        support = np.flatnonzero(w)
        return np.arange(risk.y.size), problem.design.scores(w[support], support)
    n_rounds = 1 if np.count_nonzero(risk.y > 0) >= MANY_POSITIVES else N_PARTS
    rows, scores = [], []
    for held_out in parts(risk.y, N_PARTS, n_rounds):
        kept = np.setdiff1d(np.arange(risk.y.size), held_out)
        w = fit(replace(problem, risk=PartialRisk(risk, kept), has_open_price=False), limits)
        support = np.flatnonzero(w)
        rows.append(held_out)
        scores.append(problem.design.scores(w[support], support)[held_out])
    return np.concatenate(rows), np.concatenate(scores)


def parts(y: FloatArray, n_parts: int, n_wanted: int) -> Iterator[IntArray]:
    """Some of n parts of the rows, each class spread over all of them in turn."""
    part_of = np.empty(y.size, dtype=np.int64)
    for members in (np.flatnonzero(y > 0), np.flatnonzero(y <= 0)):
        part_of[members] = np.arange(members.size) % n_parts
    for part in range(n_wanted):
        yield np.flatnonzero(part_of == part)
