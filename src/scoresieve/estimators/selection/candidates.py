"""Scores of rows that a model never saw, for all budgets of one C in one job.

s_f(B, C) = measure on part f of the model (B, C) that was fitted on all other parts
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._user_warnings import warn_user
from scoresieve.estimators.budget_model import warm_start
from scoresieve.estimators.decision import measure_score
from scoresieve.estimators.measure_svc import MeasureSVC
from scoresieve.estimators.selection.splits import LabelledData, Split, measure_of_part
from scoresieve.measures import Measure, get_measure
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.path import solve_budgets
from scoresieve.solvers.problem import Problem, make_problems
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.solve import solve_problem

Scorer = Callable[..., float]


@dataclass(frozen=True, eq=False)
class PathScores:
    """One row for each budget of a path that was fitted on the training part of one split.

    Attributes
    ----------
    scores : ndarray of shape (n_budgets,)
        Of the held-out rows.
    n_features : ndarray of int of shape (n_budgets,)
    seconds : ndarray of shape (n_budgets,)
        Of the solver.
    gaps : ndarray of shape (n_budgets, n_problems)
        Certified relative gaps of fits that stopped before their tolerance; 0 for all others.
    """

    scores: FloatArray
    n_features: IntArray
    seconds: FloatArray
    gaps: FloatArray


@dataclass(frozen=True, eq=False)
class PathJob:
    """``s_f(B, C)`` for all B, one part f and one C.

    Attributes
    ----------
    models : list of MeasureSVC
        Not fitted. They differ in their budget, or in their number of features.
    arguments : dict
        Of their problems, see :func:`make_problems`; the budget is any.
    scorer : callable or None
        ``scorer(model, X, y)``, with sample_weight if there are weights; None for the measure.
    name : str or None
        For a line on stderr when the job is done; None for no line.
    """

    models: list[MeasureSVC]
    arguments: dict[str, Any]
    split: Split
    scorer: Scorer | None = None
    name: str | None = None

    def run(self, data: LabelledData) -> PathScores:
        """Fit on the training part of the data, score the held-out part."""
        return self.run_parts(data.rows(self.split.train), data.rows(self.split.test), data)

    def run_parts(self, train: LabelledData, test: LabelledData, data: LabelledData) -> PathScores:
        """Fit on one part, score the other; their columns need not be those of the data.

        Parameters
        ----------
        train, test : LabelledData
            With the same columns. Budgets above their number are lowered to it.
        data : LabelledData
            All rows, for their number.
        """
        begin = perf_counter()
        measure = get_measure(self.arguments["measure"])
        of_test = measure_of_part(measure, test, data)
        arguments = self.arguments | {"measure": measure_of_part(measure, train, data)}
        wanted = [model.n_features_to_select or model.budget for model in self.models]
        budgets = [min(size, train.X.shape[1]) for size in wanted]
        labels = train.targets.labels(train.y)
        arguments |= {"budget": max(budgets), "sample_weight": train.weights}
        problems = make_problems(train.X, labels, **arguments)
        fits = [fit_budgets(problem, budgets, self.models[0]) for problem in problems]
        scores, n_features = [], []
        for model, budget, *results in zip(self.models, budgets, *fits, strict=True):
            at_budget = [problem.with_budget(budget) for problem in problems]
            fitted = as_fitted(model, at_budget, train, results)
            n_features.append(fitted.n_features_selected_)
            scores.append(self._score(fitted, test, of_test))
        if self.name is not None:
            seconds = perf_counter() - begin
            sys.stderr.write(
                f"{self.name}: scores {min(scores):.3f} to {max(scores):.3f}, {seconds:.1f} s\n"
            )
        return _collect(scores, n_features, fits)

    def _score(self, model: MeasureSVC, test: LabelledData, measure: Measure) -> float:
        """The measure of the model, or what the scorer says."""
        if self.scorer is None:
            decision = model.decision_function(test.X)
            return measure_score(measure, test.targets, test.y, decision, test.weights)
        weights = {} if test.weights is None else {"sample_weight": test.weights}
        score = self.scorer(model, test.X, test.y, **weights)
        if not isinstance(score, numbers.Real) or not np.isfinite(score):
            raise ValueError(
                f"scoring gave {score!r} for a held-out part; it must give one finite number. Use "
                "a scorer that is defined on every test part of cv."
            )
        return float(score)


def warn_of_open_paths(paths: list[PathScores], Cs: list[float], tol: float) -> None:
    """One warning for all fits that stopped early; ``Cs`` has the C of each path."""
    gaps = np.array([path.gaps for path in paths])
    if not np.any(gaps):
        return
    worst = np.unravel_index(np.argmax(gaps), gaps.shape)
    warn_user(
        f"{np.count_nonzero(gaps)} of the {gaps.size} fits of the cross-validation stopped before "
        f"tol={tol:g}; the largest gap is {gaps[worst]:.3g}, at C={Cs[worst[0]]:g}. Raise "
        "max_iter, max_time or tol, or leave out large Cs.",
        ConvergenceWarning,
    )


def _collect(scores: list, n_features: list, problems: list[list[SolveResult]]) -> PathScores:
    """Lists of numbers by budget, and results by problem and budget, as arrays by budget."""
    seconds = [[sum(result.timings.values()) for result in results] for results in problems]
    gaps = [
        [0.0 if result.status.reached_tolerance else result.gap for result in results]
        for results in problems
    ]
    return PathScores(
        np.array(scores),
        np.array(n_features, dtype=np.int64),
        np.sum(seconds, axis=0),
        np.transpose(gaps),
    )


def fit_budgets(problem: Problem, budgets: list[int], model: MeasureSVC) -> list[SolveResult]:
    """One fit for each budget: a path, or hard budgets that start from those of a path.

    Parameters
    ----------
    problem : Problem
        Its budget is the largest one.
    model : MeasureSVC
        For the solver, its limits, and whether the budgets are hard.
    """
    limits = Limits(model.tol, model.max_iter, model.max_time, find_smallest_C=False)
    hard = model.n_features_to_select is not None
    if model.solver != "bundle":
        solve = solve_hard_budget if hard else solve_problem
        singles = [problem.with_budget(budget) for budget in budgets]
        return [solve(single, limits, solver=model.solver) for single in singles]
    path = solve_budgets(problem, budgets, limits)
    if not hard:
        return path
    fits = []
    for budget, relaxed in zip(budgets, path, strict=True):
        warm = warm_start(problem, relaxed.w, relaxed.intercept, relaxed.dual_point)
        result = solve_hard_budget(problem.with_budget(budget), limits, warm=warm)
        timings = result.timings | {"path": sum(relaxed.timings.values())}
        fits.append(replace(result, timings=timings))
    return fits


def as_fitted(
    model: MeasureSVC, problems: list[Problem], data: LabelledData, results: list[SolveResult]
) -> MeasureSVC:
    """A copy with the attributes that ``fit`` would set, from results that it did not make."""
    model = clone(model)
    model.n_features_in_ = data.X.shape[1]
    model._store(problems, data.targets, results)
    return model
