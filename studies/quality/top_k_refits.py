"""The refits of the search for k words: by cuts, and by the direct solution, side by side.

    min { 1/2 ||w||^2 + C R(X w)  :  w has only these words }

R is the two-hinge-sum bound. Every refit that the search asks for is solved in turn by the bundle,
warm-started as it is there, by an interior-point method, and by Clarabel, to the same gap;
and given up at the same lower bound, but for Clarabel, which cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from studies.common.internals import (
    Limits,
    Problem,
    Refit,
    Refitter,
    Status,
    columns_of_units,
    moved,
)
from studies.common.timing import timed
from studies.quality.top_k_direct import (
    Direct,
    FewColumns,
    by_clarabel,
    by_interior_point,
    few_columns,
)

#: The refits' own gap, and what Clarabel needs to reach it.
REFIT_TOL, CLARABEL_TOL = 0.01, 1e-4


def start_of(near: Refit | None, columns: np.ndarray) -> np.ndarray:
    """The weights of another refit at these columns."""
    return np.zeros(columns.size) if near is None else moved(near.columns, near.w, columns)


class DirectRefitter(Refitter):
    """Refits by the interior-point method.

    Parameters
    ----------
    problem : Problem
        Its risk is that of two hinge sums with k = P, its last column the constant one.
    limits : Limits
    X : csc_matrix
        Without the constant column.
    """

    def __init__(self, problem: Problem, limits: Limits, *, X: sparse.csc_matrix) -> None:
        super().__init__(problem, limits)
        self._X, self._tol = X, min(limits.tol, REFIT_TOL)

    def columns(self, units: np.ndarray) -> np.ndarray:
        """The constant column, then those of the units."""
        return columns_of_units(self.norm, units)

    def few(self, columns: np.ndarray) -> FewColumns:
        """The problem on these columns; k = P has no constants."""
        problem = self.problem
        block = self._X[:, columns[1:]]
        return few_columns(block, problem.risk.y, problem.constant, (0.0, 0.0), problem.C)

    def direct(
        self, columns: np.ndarray, start: np.ndarray, give_up_at: float
    ) -> tuple[FewColumns, Direct]:
        """The rows on these columns, and their solution."""
        few = self.few(columns)
        return few, by_interior_point(few, start, tol=self._tol, give_up_at=give_up_at)

    def refit(
        self,
        units: np.ndarray,
        near: Refit | None = None,
        *,
        beside: np.ndarray | None = None,
        give_up_at: float = np.inf,
        tol: float | None = None,
    ) -> Refit:
        """As the search expects it; there are no cuts to hand on."""
        columns = self.columns(units)
        few, found = self.direct(columns, start_of(near, columns), give_up_at)
        risk = self.problem.risk
        v = risk.y * (found.v / few.counts)[few.row_of]
        status = Status.CALLBACK if found.dual >= give_up_at else Status.CONVERGED
        if found.gap > self._tol and status is Status.CONVERGED:
            status = Status.STALLED
        point = risk.no_dual_point()
        return Refit(units, columns, found.w, found.primal, found.gap, v, np.abs(v), point, status)


class SideBySide(DirectRefitter):
    """The bundle's refits, and beside each the direct ones; their seconds and gaps are kept.

    Parameters
    ----------
    rows : list
        Receives one record a refit.
    with_clarabel : bool
    """

    def __init__(
        self,
        problem: Problem,
        limits: Limits,
        *,
        X: sparse.csc_matrix,
        rows: list[dict[str, Any]],
        with_clarabel: bool,
    ) -> None:
        super().__init__(problem, limits, X=X)
        self._rows, self._with_clarabel = rows, with_clarabel

    def refit(
        self,
        units: np.ndarray,
        near: Refit | None = None,
        *,
        beside: np.ndarray | None = None,
        give_up_at: float = np.inf,
        tol: float | None = None,
    ) -> Refit:
        """The bundle's."""
        columns = self.columns(units)
        by_cuts = super(DirectRefitter, self).refit
        options = {"beside": beside, "give_up_at": give_up_at, "tol": tol}
        seconds, fit = timed(lambda: by_cuts(units, near, **options))
        start = start_of(near, columns)
        direct_s, (few, found) = timed(lambda: self.direct(columns, start, give_up_at))
        row = {
            "words": int(units.size),
            "rows": int(few.counts.size),
            "given_up": fit.status is Status.CALLBACK,
            "bundle_s": seconds,
            "direct_s": direct_s,
            "bundle_gap": fit.gap,
            "direct_gap": found.gap,
            "direct_steps": found.n_steps,
            "direct_given_up": bool(found.dual >= give_up_at),
            "difference": found.primal / fit.primal - 1.0,
        }
        if self._with_clarabel:
            clarabel_s, conic = timed(lambda: by_clarabel(self.few(columns), tol=CLARABEL_TOL))
            row |= {"clarabel_s": clarabel_s, "clarabel_gap": conic.gap}
        self._rows.append(row)
        return fit
