"""The price of a false alarm: the measure's own exchange rate where the model works.

    rho = (dDelta/db) / (-dDelta/da)   at the table (a, b) of the best threshold

A price decides where the bound of :class:`~scoresieve.risks.MeasureRisk` is tight. F1, say, wants
``rho = F / (2 - F)``: the better the model, the more an alarm costs. So the price is found with the
model: fit at a first price, look at the scores of rows that the fit has not seen, and take the rate
there. (Parambath, Usunier and Grandvalet 2014 use the same rate for cost-sensitive training.)

Where the loss jumps there is no rate: precision given enough recall. Then the price is the one at
which the threshold of the model itself is where unseen scores reach the floor, because a hinge is
tight about its threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.measures import ContingencyMeasure, FloorMeasure
from scoresieve.risks import MeasureRisk, PartialRisk
from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.problem import FIRST_PRICE, PriceIs, Problem
from scoresieve.solvers.working import WarmStart

#: ``fit(problem, limits, warm)``: weights of all columns of the design, and what a fit of almost
#: the same rows can start from.
Fit = Callable[[Problem, Limits, WarmStart | None], tuple[FloatArray, WarmStart]]
#: Labels and scores.
Unseen: TypeAlias = tuple[FloatArray, FloatArray]

#: Parts that the rows are cut into; a part is held out of the fit whose scores it gets.
N_PARTS = 3
#: With at least so many positives one held-out part tells enough.
MANY_POSITIVES = 100
#: A coarse fit is enough to see where the model works.
COARSE_TOL = 0.1
#: By what the first price is divided as long as its models have no features.
EMPTY_STEP = 4.0
#: The ratio of neighbouring prices that are tried for a floor, and how many are at most.
LADDER_RATIO, LONGEST_LADDER = 3.0, 8


def with_own_price(problem: Problem, limits: Limits, fit: Fit) -> tuple[Problem, WarmStart | None]:
    """The problem with its measure's own price, and what its fit can start from.

    Parameters
    ----------
    problem : Problem
        If its price is not open it is returned as it is.
    limits : Limits
        Of the fit that comes after.
    fit : callable
    """
    if problem.price_is is not PriceIs.OPEN:
        return problem, None
    search = PriceSearch(problem, limits, fit)
    return search.priced(problem), search.last_start


class PriceSearch:
    """Finds the price of problems that differ in their budget or C, each fit near the last one.

    Parameters
    ----------
    problem : Problem
        With an open price.
    limits : Limits
        Of the fits that come after. In the search the callback is not called, and no smallest C is
        looked for.
    fit : callable

    Attributes
    ----------
    last_start : WarmStart or None
        What a fit of all rows can start from.
    """

    def __init__(self, problem: Problem, limits: Limits, fit: Fit) -> None:
        self._fit = fit
        self._limits = replace(
            limits,
            tol=max(limits.tol, COARSE_TOL),
            callback=None,
            find_smallest_C=False,
            deadline=limits.deadline or Deadline(limits.max_time),
        )
        self._parts = held_out_parts(problem.risk.y)
        self._starts: list[WarmStart | None] = [None] * len(self._parts)
        self.last_start: WarmStart | None = None

    def priced(self, problem: Problem) -> Problem:
        """The problem with its price."""
        risk = problem.risk
        assert isinstance(risk, MeasureRisk)
        assert isinstance(risk.kind, ContingencyMeasure)
        first = FIRST_PRICE
        y, scores = self._unseen(problem, risk, first)
        # Models without features have no operating point.
        while not self._has_features and first > balance(risk.y):
            first = max(first / EMPTY_STEP, balance(risk.y))
            y, scores = self._unseen(problem, risk, first)
        rate = risk.kind.exchange_rate(y, scores) if self._has_features else balance(risk.y)
        if rate is None:
            rate = self._at_floor(problem, risk, first, (y, scores))
        return replace(
            problem, risk=risk.with_price(within_reason(rate, risk.y)), price_is=PriceIs.FOUND
        )

    def _at_floor(
        self, problem: Problem, risk: MeasureRisk, first: float, labels_and_scores: Unseen
    ) -> float:
        """The price at which the unseen scores above 0 just reach the floor, as far as can be.

        Prices on a ladder, until the rate that has the floor passes it, and then the price in
        between, by the logarithm; or the last price at which any score is above 0.
        """
        kind = risk.kind
        assert isinstance(kind, FloorMeasure)
        price, reached = first, kind.floored_rate(*labels_and_scores)
        is_up = (reached < kind.floor) == kind.rises_with_price
        for _ in range(LONGEST_LADDER):
            trial = price * LADDER_RATIO if is_up else price / LADDER_RATIO
            y, scores = self._unseen(problem, risk, trial)
            if not np.any(scores > 0.0) or self._is_out_of_time:
                return price
            last, reached = reached, kind.floored_rate(y, scores)
            if (reached < kind.floor) != (last < kind.floor):
                share = (kind.floor - last) / (reached - last)
                return float(price ** (1.0 - share) * trial**share)
            price = trial
        return price

    @property
    def _is_out_of_time(self) -> bool:
        return self._limits.deadline is not None and self._limits.deadline.is_over

    def _unseen(self, problem: Problem, risk: MeasureRisk, price: float) -> Unseen:
        """Labels and scores of rows by models that were fitted without them, at this price."""
        priced, labels, scores = risk.with_price(price), [], []
        self._has_features = False
        for number, (kept, held_out) in enumerate(self._parts):
            partial = priced if kept is None else PartialRisk(priced, kept)
            at_price = replace(problem, risk=partial, price_is=PriceIs.FOUND)
            start = self._starts[number] or self.last_start
            w, self._starts[number] = self._fit(at_price, self._limits, start)
            self.last_start = self._starts[number]
            support = np.flatnonzero(w)
            self._has_features |= bool(np.any(problem.split(w)[0]))
            labels.append(risk.y[held_out])
            scores.append(problem.design.scores(w[support], support)[held_out])
        return np.concatenate(labels), np.concatenate(scores)


def with_lower_price(problem: Problem) -> Problem | None:
    """The problem at half its price, if it was found with a model and more than the balance P / N.

    There both classes have the same weight, and a lower price makes the negatives the lighter one.
    """
    risk = problem.risk
    if problem.price_is is not PriceIs.FOUND or not isinstance(risk, MeasureRisk):
        return None
    if risk.price <= balance(risk.y):
        return None
    return replace(problem, risk=risk.with_price(max(0.5 * risk.price, balance(risk.y))))


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


def balance(y: FloatArray) -> float:
    """``P / N``."""
    n_positive = np.count_nonzero(y > 0)
    return n_positive / (y.size - n_positive)
