"""One model for the k highest scores by one of the bounds: its problem, its fit, its scores.

    min 1/2 ||w||^2 + C R(X w)   with exactly so many words, or   1/2 ||w||_B^2 + C R(X w)

All bounds have the same data, norm, number of words and C; only R differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from scoresieve import get_measure
from scoresieve.measures import Measure
from studies.common.data import Split
from studies.common.internals import (
    Limits,
    MeasureRisk,
    Problem,
    Risk,
    make_problem,
    solve_hard_budget,
    solve_problem,
)
from studies.common.limits import limit_of
from studies.common.timing import timed
from studies.quality.quiet import quiet_thread
from studies.quality.top_k_risks import (
    HingeSums,
    OneClassSums,
    SquaredOneClassSums,
    SquaredSums,
    Surrogate,
)

INTERCEPT, TOL, MAX_ITER, MAX_TIME = 1.0, 0.1, 1000, 120.0
N_FOLDS = 3

#: ``make(measure, y)``.
BOUNDS: dict[str, Callable[[Measure, np.ndarray], Risk]] = {
    "paper": MeasureRisk,
    "two hinge sums": partial(MeasureRisk, is_tight=True),
    "one class each": OneClassSums,
    "squared": SquaredSums,
    "squared, one class": SquaredOneClassSums,
    "Kar avg": partial(Surrogate, form="avg"),
    "Kar max": partial(Surrogate, form="max"),
    "SVM^perf": partial(Surrogate, form="structural"),
    "two hinge sums, conjugate": HingeSums,
}
#: What is reported of the test rows.
SCORES = {
    "prbep": "prbep",
    "prec_half": "prec@p/2",
    "rec_2p": "rec@2p",
    "ap": "average_precision",
}


@dataclass(frozen=True)
class Setting:
    """What a fit is, but for its data.

    Attributes
    ----------
    bound : str
        A key of ``BOUNDS``.
    measure : str
        ``"prbep"`` for k = P, ``"prec@p/2"`` for half of that.
    budget : int
    is_hard : bool
        Whether exactly so many words are wanted.
    """

    bound: str
    measure: str
    budget: int
    C: float
    is_hard: bool = True


def problem_of(X: Any, y: np.ndarray, setting: Setting) -> Problem:
    """The problem, with the risk of the bound."""
    measure = get_measure(setting.measure)
    problem = make_problem(
        X,
        y,
        measure=measure,
        bound="paper",
        budget=setting.budget,
        C=setting.C,
        intercept_scaling=INTERCEPT,
    )
    return replace(problem, risk=BOUNDS[setting.bound](measure, y))


def limits() -> Limits:
    """The gap of the relaxed problem, and the time of all of it."""
    return Limits(TOL, MAX_ITER, MAX_TIME, find_smallest_C=False)


def fitted(X: Any, y: np.ndarray, setting: Setting) -> Any:
    """The solver's result."""
    problem = problem_of(X, y, setting)
    return (solve_hard_budget if setting.is_hard else solve_problem)(problem, limits())


def held_out(X: Any, y: np.ndarray, setting: Setting) -> float:
    """The mean score of its own measure on three folds that the fits have not seen."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    measure, scores = get_measure(setting.measure), []
    for train, rest in folds.split(X, y):
        fit = fitted(X[train], y[train], setting)
        scores.append(measure.score(y[rest], X[rest] @ fit.w + fit.intercept))
    return 100.0 * float(np.mean(scores))


def measured(split: Split, label: int, setting: Setting) -> dict[str, Any]:
    """One fit on all training rows, and its scores."""
    y, y_test = split.labels(label)
    with quiet_thread():
        seconds, fit = timed(lambda: fitted(split.X, y, setting))
    scores = split.X_test @ fit.w + fit.intercept
    found = {name: 100.0 * get_measure(each).score(y_test, scores) for name, each in SCORES.items()}
    train_scores = split.X @ fit.w + fit.intercept
    found["train_prbep"] = 100.0 * get_measure("prbep").score(y, train_scores)
    return found | {
        "seconds": seconds,
        "words": int(fit.support.size),
        "gap": fit.gap,
        "rounds": fit.n_iter,
        "limit": limit_of(fit),
    }


def cross_validated(split: Split, label: int, setting: Setting) -> float:
    """The held-out score of a setting on the training rows."""
    with quiet_thread():
        return held_out(split.X, split.labels(label)[0], setting)
