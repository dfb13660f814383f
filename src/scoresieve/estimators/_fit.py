"""One binary fit, what it may start from, and what the user is told about it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from scoresieve.estimators._inputs import ProblemSettings
from scoresieve.estimators._progress import WRAPPERS_OF_FIT, Reporter
from scoresieve.solvers.api import solve_problem
from scoresieve.solvers.bundle import WarmStart
from scoresieve.solvers.hard_budget import solve_hard_budget
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.result import DualPoint, SolveResult, Status
from scoresieve.solvers.threads import one_blas_thread
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PreviousFit:
    """``w``, the bias and the dual point of a fit on the same labels with the same measure."""

    w: FloatArray
    bias: float
    dual_point: DualPoint

    def start(self, problem: Problem, intercept: float) -> WarmStart:
        """The cuts, columns and weights that are still admissible in a new problem."""
        w = self.w
        if intercept > 0:
            w = np.append(w, self.bias / intercept)
        out = np.zeros(w.size, dtype=bool)
        out[problem.norm.excluded] = True
        columns = np.flatnonzero((w != 0) & ~out)
        return WarmStart(self.dual_point, columns, w[columns])


def fit_binary(
    X: Any,
    y: FloatArray,
    settings: ProblemSettings,
    limits: Limits,
    *,
    solver: str = "bundle",
    hard: bool = False,
    previous: PreviousFit | None = None,
    sample_weight: FloatArray | None = None,
    reporter: Reporter | None = None,
) -> SolveResult:
    """``min_w 1/2 ||w||_B^2 + C R(X w)``, or with ``hard`` over the w of at most B features.

    It is one job of a parallel fit, so it returns what there is to say and warns of nothing.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        In {-1, +1}.
    settings : ProblemSettings
    limits : Limits
    solver : {"bundle", "two_layer"}
    hard : bool
    previous : PreviousFit, optional
        What the bundle may start from.
    sample_weight : ndarray of shape (n_samples,), optional
        For a measure that takes weights.
    reporter : Reporter, optional
        Told of each round.
    """
    solve = solve_hard_budget if hard else solve_problem
    reporter = Reporter() if reporter is None else reporter
    with one_blas_thread():
        problem = make_problem(X, y, sample_weight=sample_weight, **settings.arguments())
        warm = None
        if previous is not None and solver == "bundle":
            warm = previous.start(problem, settings.intercept)
        reporter.begin()
        limits = replace(limits, callback=reporter)
        result = solve(problem, limits, solver=solver, intercept=settings.intercept, warm=warm)
        reporter.end()
    return result


def warn_about(result: SolveResult, title: str, C: float, tol: float) -> None:
    """Tell the user of a fit that stopped early and of a model without features.

    Parameters
    ----------
    result : SolveResult
    title : str
        What was fitted: "class 'rare'".
    C, tol : float
    """
    if not result.status.reached_tolerance:
        warnings.warn(
            f"{title}: the certified gap is {result.gap:.3g} and tol={tol:g}. "
            f"{result.status.value} Columns of similar size and a smaller C also help.",
            ConvergenceWarning,
            stacklevel=3 + WRAPPERS_OF_FIT,
        )
    elif result.support.size == 0:
        warnings.warn(
            f"{title}: the model has no features at C={C:g}; {_remedy(result)}",
            UserWarning,
            stacklevel=3 + WRAPPERS_OF_FIT,
        )


def _remedy(result: SolveResult) -> str:
    """What to change for a model with features."""
    smallest_C = result.smallest_C
    if result.status is Status.EMPTY_CHOICE:
        return "nothing better was found with so few; allow more."
    if smallest_C is None:
        return "raise C."
    if np.isinf(smallest_C):
        return "no larger C changes that: no column tells the classes apart."
    return f"raise C to at least {smallest_C:.3g}."
