"""One fit of a general loss, and what its estimators have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoresieve.estimators._inputs import LossSettings
from scoresieve.estimators._progress import Reporter
from scoresieve.solvers.loss_api import solve_loss_problem
from scoresieve.solvers.loss_hard_budget import solve_loss_hard_budget
from scoresieve.solvers.loss_path import warm_columns
from scoresieve.solvers.loss_problem import make_loss_problem
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.smooth import WarmColumns
from scoresieve.solvers.threads import one_blas_thread
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]


def fit_loss(
    X: Any,
    y: FloatArray,
    settings: LossSettings,
    limits: Limits,
    *,
    hard: bool = False,
    previous: tuple[FloatArray, float] | None = None,
    sample_weight: FloatArray | None = None,
    reporter: Reporter | None = None,
) -> SolveResult:
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l_i(w)``, or with ``hard`` over at most B features.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        In {-1, +1} or real.
    settings : LossSettings
    limits : Limits
    hard : bool
    previous : (ndarray of shape (n_features,), float), optional
        Weights and intercept that a smooth loss may start from.
    sample_weight : ndarray of shape (n_samples,), optional
    reporter : Reporter, optional
        Told of each round.
    """
    solve = solve_loss_hard_budget if hard else solve_loss_problem
    reporter = Reporter() if reporter is None else reporter
    with one_blas_thread():
        problem = make_loss_problem(X, y, sample_weight=sample_weight, **settings.arguments())
        warm = None
        if previous is not None:
            warm = _still_admissible(warm_columns(*previous, settings.intercept), problem)
        reporter.begin()
        limits = replace(limits, callback=reporter)
        result = solve(problem, limits, intercept=settings.intercept, warm=warm)
        reporter.end()
    return result


def _still_admissible(warm: WarmColumns, problem: Any) -> WarmColumns:
    """Without the columns that the new problem excludes."""
    kept = ~np.isin(warm.columns, problem.norm.excluded)
    return WarmColumns(warm.columns[kept], warm.w[kept])
