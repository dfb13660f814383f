"""The master with its largest columns made smaller: for weights where no bound is to be had.

    A_j -> f_j A_j ,  f_j <= 1     has the weights  w_j -> w_j / f_j  of the same outputs

and a larger norm, so that its solution, multiplied by f, is a point of the master itself that is
worth at least as much. A column whose weight costs nothing at one size costs nothing at a larger
one: the two optima differ by the cost of such weights alone. What differs is what double precision
can do. alpha has to balance on a large column to ``eps`` of its size, and where that is too coarse
for any bound, the steps of the interior-point methods are as coarse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution

#: Columns are at most so large that their squares times alpha are this multiple of the losses. The
#: weight of such a column costs the inverse of it; from about 1e32 on doubles have no bound.
RANGE = 1e28
#: Where the optimum is below this share of what it was taken for, larger columns are tried.
FAR_BELOW = 1e-2
#: Most sizes that are tried: from one to the next columns can grow by the root of the range.
MOST_SIZES = 16
#: A dual point that proves less than this share of the primal value serves nobody.
LEAST_WORTH = 1e-3


def with_smaller_columns(
    problem: MasterProblem,
    solution: MasterSolution,
    solve: Callable[[MasterProblem], MasterSolution | None],
) -> MasterSolution:
    """The solution with the weights found on smaller columns, where these are better.

    Its alpha is that of smaller columns, too, unless the present one proves something: it says
    which cuts matter.

    Parameters
    ----------
    problem : MasterProblem
    solution : MasterSolution
        Whose gap is rounding.
    solve : callable
        Solves a master as far as it can; None if it cannot.
    """
    sizes = np.abs(problem.cuts).max(axis=0, initial=0.0)
    largest = float(problem.losses.max())
    expected = problem.C * largest
    for _ in range(MOST_SIZES):
        factors = _factors(sizes, largest * np.sqrt(RANGE / expected))
        if np.all(factors == 1.0):
            break
        found = solve(replace(problem, cuts=problem.cuts * factors, gram=None))
        if found is None:
            break
        w = factors * found.w
        primal = problem.primal(w)
        if primal < solution.primal:
            solution = replace(solution, w=w, primal=primal)
            if solution.dual < LEAST_WORTH * primal:
                alpha = problem.feasible(found.alpha)
                solution = replace(solution, alpha=alpha, dual=problem.dual(alpha))
        if not 0.0 < found.primal < FAR_BELOW * expected:
            break
        expected = found.primal
    return solution


def _factors(sizes: FloatArray, most: float) -> FloatArray:
    """Powers of two, at most 1, that bring the sizes to at most about ``most``."""
    excess = np.ones_like(sizes)
    np.divide(sizes, most, out=excess, where=sizes > most)
    return np.ldexp(1.0, -np.frexp(excess)[1] + 1)
