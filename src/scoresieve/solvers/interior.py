"""Mehrotra's predictor-corrector method, for any system of optimality conditions.

    F(f, x, z) = 0 ,     x z = 0 ,     x >= 0 ,  z >= 0

with positive variables x, their multipliers z, and free variables f. A system (that of the bundle's
master problem, or of a smooth loss's saddle point) knows F: it is evaluated at a point, linearised,
and solved for a step towards products ``x z`` of a given size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.linalg import LinAlgError

from scoresieve._arrays import FloatArray

#: Share of the way to the boundary that a step goes.
STEP_FRACTION = 0.99
#: Below these a predictor's or a corrector's step is short: then the corrector is a careful one.
SHORT_REACH, SHORT_STEP = 0.2, 0.1
#: A step below this does not move.
NO_STEP = 1e-10
#: A gap that is not below this share of the last smallest one is no progress.
PROGRESS = 0.99
#: From this multiple of the tolerance on the products are kept from falling below this share of
#: what the tolerance needs: smaller ones no longer matter and make the Newton matrix worse.
NEAR_END, LEAST_SHARE = 100.0, 0.1


class Iterate:
    """All positive variables x and their multipliers z, rows of ``values``; and the free variables.

    It also serves as a step in all of them.
    """

    __slots__ = ("free", "values")

    def __init__(self, values: FloatArray, free: FloatArray) -> None:
        self.values, self.free = values, free

    def moved(self, direction: Iterate, step: float) -> Iterate:
        """``self + step * direction``."""
        values = direction.values * step
        values += self.values
        return Iterate(values, self.free + step * direction.free)

    def longest_step(self, direction: Iterate) -> float:
        """Largest step in [0, 1] that keeps every variable non-negative."""
        steepest = float((direction.values / self.values).min(initial=np.inf))
        # Written so that what is not a number stays one.
        return 1.0 if steepest >= -1.0 else -1.0 / steepest


class KKTSystem(Protocol):
    """Optimality conditions as the method sees them."""

    def observe(self, point: Iterate) -> None:
        """Evaluate the point, and keep its primal and dual values where they are the best."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The best primal and the best dual value so far."""

    def linearise(self) -> Iterate:
        """Factorise at the point observed last; the step towards products of zero."""

    def corrected(self, target: float, affine: Iterate, weight: float) -> Iterate:
        """The step towards products of ``target``, with second-order terms of the affine step.

        Parameters
        ----------
        affine : Iterate
            What ``linearise`` gave.
        weight : float
            Share of the second-order terms.
        """


def predictor_corrector(
    system: KKTSystem,
    point: Iterate,
    *,
    tol: float,
    max_steps: int,
    stall_steps: int,
    is_late: Callable[[], bool] = lambda: False,
) -> int:
    """Step until the relative gap of the system's bounds is ``tol``, or nothing helps; how often.

    Parameters
    ----------
    system : KKTSystem
        Keeps the best points.
    point : Iterate
        Where to start: inside every bound.
    max_steps, stall_steps : int
        Most steps, and steps without a smaller gap after which it ends.
    is_late : callable
        Whether the time is over, asked after each step.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the system cannot be factorised at the start.
    """
    smallest_gap, n_idle = np.inf, 0
    for n_steps in range(max_steps + 1):
        system.observe(point)
        primal, dual = system.bounds
        gap = primal - dual
        n_idle = 0 if gap < PROGRESS * smallest_gap else n_idle + 1
        smallest_gap = min(smallest_gap, gap)
        relative = gap / max(abs(primal), np.finfo(float).tiny)
        if relative <= tol or n_idle >= stall_steps or n_steps == max_steps or is_late():
            break
        least_product = 0.0
        if relative <= NEAR_END * tol:
            least_product = LEAST_SHARE * tol * primal / max(1, point.values.shape[1])
        try:
            affine = system.linearise()
            direction, step = _corrector(system, point, affine, least_product)
        except LinAlgError:
            if n_steps == 0:
                raise
            break
        if not np.isfinite(step) or step < NO_STEP:
            break
        point = point.moved(direction, step)
    return n_steps


def _corrector(
    system: KKTSystem, point: Iterate, affine: Iterate, least_product: float
) -> tuple[Iterate, float]:
    """The direction after the predictor's, and how far to go."""
    n_pairs = point.values.shape[1]
    if n_pairs == 0:
        # Nothing is bounded: a plain Newton step.
        return affine, 1.0 if np.all(np.isfinite(affine.free)) else np.nan
    reach = point.longest_step(affine)
    total = float(point.values[0].dot(point.values[1]))
    # The affine step's first-order terms cancel the products, x dz + z dx = -x z.
    left = (1.0 - reach) * total + reach * reach * float(affine.values[0].dot(affine.values[1]))
    mu = total / n_pairs
    floor = min(mu, least_product)
    target = max((max(left, 0.0) / total) ** 3 * mu, floor)
    # Second-order terms of a direction that can hardly be followed mislead: then they are weighted
    # by how far it can. Without this the method cycled on a few problems.
    weight = 1.0 if reach >= SHORT_REACH else reach
    if target == floor:
        # The products stay almost where they are, and the step is as short: its second-order terms
        # are those of the affine step times the square of its share.
        weight *= (1.0 - target / mu) ** 2
    direction = system.corrected(target, affine, weight)
    step = point.longest_step(direction)
    if step < SHORT_STEP and weight == 1.0:
        careful = system.corrected(target, affine, reach * reach)
        careful_step = point.longest_step(careful)
        if careful_step > step:
            direction, step = careful, careful_step
    return direction, STEP_FRACTION * step
