"""The interior-point method on systems made by hand: a known solution, and every way to end."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve.solvers import interior as module
from scoresieve.solvers.interior import Iterate, predictor_corrector


class Projection:
    """``min 1/2 ||x - b||^2`` over ``x >= 0``, ``sum x = 1``, with the level of the sum as free.

    x - b - level - z = 0 ,   sum x = 1 ,   x z = 0
    """

    def __init__(self, b):
        self.b, self.n_observed, self.n_factorised = b, 0, 0
        self.primal, self.dual = np.inf, -np.inf

    @property
    def bounds(self):
        return self.primal, self.dual

    def observe(self, point):
        self.n_observed += 1
        self.point, (x, z), level = point, point.values, float(point.free[0])
        feasible = x / x.sum()
        value = 0.5 * float(np.sum((feasible - self.b) ** 2))
        if value < self.primal:
            self.primal, self.x = value, feasible
        g = level + z
        self.dual = max(self.dual, level - 0.5 * float(g @ g) - float(g @ self.b))

    def linearise(self):
        self.n_factorised += 1
        x, z = self.point.values
        return self._step(-x * z)

    def corrected(self, target, affine, weight):
        (x, z), (dx, dz) = self.point.values, affine.values
        return self._step(target - x * z - weight * dx * dz)

    def _step(self, goal):
        x, z = self.point.values
        residual = x - self.b - self.point.free[0] - z
        D = 1.0 / (1.0 + z / x)
        side = goal / x - residual
        d_level = (1.0 - x.sum() - D @ side) / D.sum()
        dx = D * (side + d_level)
        return Iterate(np.stack([dx, (goal - z * dx) / x]), np.array([d_level]))


def projected(b):
    """The same by bisection on the level."""
    low, high = -b.max(), 1.0 - b.min()
    for _ in range(200):
        level = 0.5 * (low + high)
        low, high = (level, high) if np.maximum(b + level, 0.0).sum() < 1.0 else (low, level)
    return np.maximum(b + high, 0.0)


def start(b):
    """Inside every bound, and not far from the conditions."""
    return Iterate(
        np.stack([np.full(b.size, 1.0 / b.size), b.max() - b + 0.1]), -b.max(keepdims=True)
    )


def run(system, point=None, *, tol=1e-9, max_steps=60, stall_steps=20, **options):
    point = start(system.b) if point is None else point
    return predictor_corrector(
        system, point, tol=tol, max_steps=max_steps, stall_steps=stall_steps, **options
    )


@pytest.mark.parametrize("n", [1, 2, 10, 300])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_the_known_solution_of_a_quadratic_programme(n, scale):
    b = scale * np.random.default_rng(n).normal(size=n) + 2.0
    system = Projection(b)
    n_steps = run(system)
    primal, dual = system.bounds
    expected = projected(b)
    optimum = 0.5 * np.sum((expected - b) ** 2)
    assert 0 < n_steps < 25
    assert primal - dual <= 1e-9 * primal
    assert dual - 1e-12 <= optimum <= primal * (1 + 1e-9)
    assert_allclose(system.x, expected, atol=1e-3)


@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-6])
def test_it_goes_no_further_than_the_tolerance(tol):
    b = np.random.default_rng(0).normal(size=20)
    system, finer = Projection(b), Projection(b)
    n_steps = run(system, tol=tol)
    assert system.primal - system.dual <= tol * system.primal
    assert system.n_observed == n_steps + 1
    assert n_steps < run(finer, tol=1e-10)


def test_a_start_that_is_good_enough_needs_no_step():
    b = np.random.default_rng(0).normal(size=20)
    system = Projection(b)
    run(system)
    again = Projection(b)
    assert run(again, system.point, tol=1e-6) == 0
    assert again.n_factorised == 0


def test_the_limit_of_steps():
    b = np.random.default_rng(1).normal(size=50)
    for max_steps in (0, 1, 3):
        system = Projection(b)
        assert run(system, tol=1e-15, max_steps=max_steps) == max_steps
        assert system.n_factorised == max_steps
        assert system.n_observed == max_steps + 1
        assert system.dual <= 0.5 * np.sum((projected(b) - b) ** 2) <= system.primal


def test_it_ends_when_the_time_is_over():
    late = iter([False, False, True])
    system = Projection(np.random.default_rng(2).normal(size=50))
    assert run(system, is_late=lambda: next(late)) == 2
    assert system.n_observed == 3


@pytest.mark.parametrize("stall_steps", [1, 4])
def test_it_ends_when_the_gap_stays(stall_steps):
    class Stuck(Projection):
        bounds = (2.0, 1.0)

    assert run(Stuck(np.ones(3)), stall_steps=stall_steps) == stall_steps


def test_progress_below_a_hundredth_is_none():
    """The gap falls, but by half a percent a step."""

    class Slow(Projection):
        @property
        def bounds(self):
            return 1.0 + 0.995**self.n_observed, 1.0

    assert run(Slow(np.ones(3)), stall_steps=4, max_steps=30) == 4


@pytest.mark.parametrize("where", ["linearise", "corrected"])
def test_a_failure_at_the_start_is_raised(where, monkeypatch):
    system = Projection(np.random.default_rng(3).normal(size=10))

    def fails(*_):
        raise LinAlgError("not positive definite")

    monkeypatch.setattr(system, where, fails)
    with pytest.raises(LinAlgError, match="not positive definite"):
        run(system)


@pytest.mark.parametrize("n_good", [1, 4])
def test_a_failure_later_on_ends_with_the_best_so_far(n_good):
    class Fragile(Projection):
        def linearise(self):
            if self.n_factorised == n_good:
                raise LinAlgError("not positive definite")
            return super().linearise()

    b = np.random.default_rng(4).normal(size=10)
    system, same = Fragile(b), Projection(b)
    assert run(system, tol=1e-15) == n_good
    run(same, tol=1e-15, max_steps=n_good)
    assert system.bounds == same.bounds
    assert np.isfinite(system.primal - system.dual)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1e30])
def test_a_step_that_leads_nowhere_ends_it(wrong):
    """One that is no number, or that the first bound stops at once."""

    class Astray(Projection):
        def corrected(self, target, affine, weight):
            return Iterate(np.full((2, 5), wrong), np.zeros(1))

    system = Astray(np.random.default_rng(5).normal(size=5))
    with np.errstate(invalid="ignore"):
        assert run(system) <= 1
    assert np.all(np.isfinite(system.bounds))
    assert np.all(np.isfinite(system.x))


def test_without_bounds_it_is_a_newton_step():
    """Nothing positive at all: one step solves a linear system, and nothing is corrected."""

    class Linear:
        H, side, primal = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, -3.0]), np.inf
        exact = float(np.array([1.0, -3.0]) @ np.linalg.solve(H, np.array([1.0, -3.0])))

        @property
        def bounds(self):
            return self.primal, 10.0 - 0.5 * self.exact

        def observe(self, point):
            self.f = f = point.free
            self.primal = min(self.primal, 10.0 + 0.5 * f @ self.H @ f - self.side @ f)

        def linearise(self):
            step = np.linalg.solve(self.H, self.side - self.H @ self.f)
            return Iterate(np.zeros((2, 0)), step)

    system = Linear()
    empty = Iterate(np.zeros((2, 0)), np.zeros(2))
    assert predictor_corrector(system, empty, tol=1e-12, max_steps=10, stall_steps=3) == 1
    assert_allclose(system.f, np.linalg.solve(system.H, system.side))


def test_a_short_step_is_tried_once_more_with_care():
    """Second-order terms that mislead: the corrector is asked again with hardly any of them."""
    weights = []

    class Misled(Projection):
        def corrected(self, target, affine, weight):
            weights.append(weight)
            step = super().corrected(target, affine, weight)
            if weight == 1.0:
                step.values[:] = -1e6 * self.point.values
            return step

    b = np.random.default_rng(6).normal(size=10)
    system = Misled(b)
    run(system, max_steps=1)
    assert weights[0] == 1.0
    assert 0.0 < weights[1] < 1.0
    assert len(weights) == 2
    assert system.n_observed == 2


@pytest.mark.parametrize("is_careful", [True, False])
def test_of_a_short_step_and_a_careful_one_the_longer_is_taken(is_careful):
    """Steps to a bound at 5 % and at 2 % of the way, by the weight of their second order."""

    class Told(Projection):
        def corrected(self, target, affine, weight):
            is_longer = (weight < 1.0) == is_careful
            return Iterate(self.point.values / (-0.05 if is_longer else -0.02), self.point.free)

    b = np.random.default_rng(6).normal(size=10)
    system, point = Told(b), start(b)
    system.observe(point)
    direction, step = module._corrector(system, point, system.linearise(), 0.0)
    assert step == pytest.approx(module.STEP_FRACTION * 0.05)
    assert_allclose(direction.values, -20.0 * point.values)


def test_products_are_kept_from_vanishing_near_the_end(monkeypatch):
    """Within a hundred times the tolerance the target is at least what the tolerance needs.

    Before that nothing holds it up.
    """
    b, targets, least_products = np.random.default_rng(7).normal(size=30), [], []

    class Noted(Projection):
        def corrected(self, target, affine, weight):
            gap = (self.primal - self.dual) / self.primal
            targets.append((gap, target, self.primal))
            return super().corrected(target, affine, weight)

    def corrector(system, point, affine, least_product):
        least_products.append(((system.primal - system.dual) / system.primal, least_product))
        return working(system, point, affine, least_product)

    working = module._corrector
    monkeypatch.setattr(module, "_corrector", corrector)
    run(Noted(b), tol=1e-4)
    near = [(target, primal) for gap, target, primal in targets if gap <= module.NEAR_END * 1e-4]
    assert near
    for target, primal in near:
        assert target >= module.LEAST_SHARE * 1e-4 * primal / 30 * (1 - 1e-12)
    far = [least for gap, least in least_products if gap > module.NEAR_END * 1e-4]
    assert far
    assert not any(far)


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0, 3.0])
def test_a_step_that_keeps_the_products_keeps_little_of_the_second_order(share):
    """At the floor a step is the share 1 - target / mu of the affine one, and has its square."""
    calls = []

    class Noted(Projection):
        def corrected(self, target, affine, weight):
            calls.append((target, weight))
            return super().corrected(target, affine, weight)

    system, point = Noted(np.full(30, 0.3)), start(np.full(30, 0.3))
    system.observe(point)
    affine = system.linearise()
    mu = float(point.values[0] @ point.values[1]) / 30
    module._corrector(system, point, affine, share * mu)
    target, weight = calls[0]
    assert target == pytest.approx(min(share, 1.0) * mu)
    reach = point.longest_step(affine)
    whole = 1.0 if reach >= module.SHORT_REACH else reach
    assert weight == pytest.approx(whole * (1.0 - min(share, 1.0)) ** 2)


def test_the_longest_step_ends_at_a_bound():
    none = np.zeros(0)
    point = Iterate(np.array([[1.0, 2.0], [3.0, 4.0]]), none)
    towards = Iterate(np.array([[-4.0, 1.0], [-6.0, 0.0]]), none)
    assert point.longest_step(towards) == 0.25
    assert point.moved(towards, 0.25).values.min() == 0.0
    assert point.longest_step(Iterate(np.array([[-0.5, 1.0], [-3.0, 0.0]]), none)) == 1.0
    assert np.isnan(point.longest_step(Iterate(np.array([[np.nan, 1.0], [-9.0, 0.0]]), none)))
    assert Iterate(np.zeros((2, 0)), none).longest_step(Iterate(np.zeros((2, 0)), none)) == 1.0


def test_a_move_leaves_the_point_alone():
    point = Iterate(np.ones((2, 3)), np.array([1.0]))
    moved = point.moved(Iterate(np.full((2, 3), 2.0), np.array([-4.0])), 0.5)
    assert_array_equal(moved.values, np.full((2, 3), 2.0))
    assert_array_equal(moved.free, [-1.0])
    assert_array_equal(point.values, np.ones((2, 3)))
