"""The saddle point of a smooth loss: its interior-point method, its steps, its start."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.losses import Huber, HuberHinge, Logistic, Squared, SquaredHinge
from scoresieve.solvers.interior import Iterate, predictor_corrector
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.smooth.saddle import SaddleKKT, starting_point

LOSSES = [SquaredHinge(), Logistic(), HuberHinge(0.5), Squared(), Huber()]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
SETS = {
    "plain": {},
    "always": {"always_features": [1, 3]},
    "excluded": {"excluded_features": [0]},
    "groups": {"feature_groups": np.arange(60) // 3, "always_features": [0, 1, 2]},
    "all": {"budget": 60},
}


def system_of(loss, n_samples=40, n_features=15, weights=None, **arguments):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    y = X[:, 0] - X[:, 1] + rng.normal(size=n_samples)
    y = y if loss.task == "regression" else np.sign(y)
    if "feature_groups" in arguments:
        arguments = arguments | {"feature_groups": arguments["feature_groups"][:n_features]}
    arguments = {"budget": 3, "C": 0.7} | arguments
    arguments["budget"] = min(arguments["budget"], n_features)
    problem = make_problem(X, y, loss=loss, sample_weight=weights, **arguments)
    return problem, SaddleKKT(problem.risk, problem.C, problem.norm, X)


def solve_saddle(system, slopes, tol):
    return predictor_corrector(
        system, starting_point(system, slopes, 1.0), tol=tol, max_steps=80, stall_steps=15
    )


@every_loss
@pytest.mark.parametrize("shape", [(15, 60), (60, 15)])
def test_the_interior_point_method_alone(loss, shape):
    """Primal and dual values, recomputed here, meet; both ways to factorise."""
    problem, system = system_of(loss, *shape)
    X, risk, C = system.all_X, problem.risk, problem.C
    solve_saddle(system, risk.slopes(np.zeros(shape[0])), 1e-8)
    primal = 0.5 * problem.norm.value_squared(system.w) + C * risk.value(X @ system.w)
    strength = problem.norm.dual_squared(X.T @ risk.vector(system.slopes, C))
    dual = C * risk.gain(system.slopes) - 0.5 * strength
    assert system.bounds == pytest.approx((primal, dual), rel=1e-9)
    assert -1e-12 * primal <= primal - dual <= 1e-8 * primal


@every_loss
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
@pytest.mark.parametrize("shape", [(15, 60), (60, 15)])
def test_every_kind_of_columns(loss, sets, shape):
    weights = np.arange(shape[0]) % 3 / 2.0
    problem, system = system_of(loss, *shape, weights, **sets)
    solve_saddle(system, problem.risk.slopes(np.zeros(shape[0])), 1e-7)
    primal, dual = system.bounds
    assert -1e-12 * primal <= primal - dual <= 1e-7 * primal
    assert not np.any(system.w[problem.norm.excluded])
    assert not np.any(system.slopes[weights == 0.0])


def some_point(system, seed=1):
    """A point inside every bound, as far from optimal as the start and moved at random."""
    rng = np.random.default_rng(seed)
    start = starting_point(system, 0.5 * system.risk.slopes(np.zeros(system.risk.y.size)), 1.0)
    values = start.values.copy()
    values[1] *= rng.uniform(0.5, 2.0, size=values.shape[1])
    return Iterate(values, start.free)


def conditions(system, point):
    """Left sides of the optimality conditions, which a Newton step makes zero."""
    v, level = point.free[:-1], point.free[-1]
    n_low, n_high, n_units = system.has_low.size, system.has_high.size, system.n_units
    x, z = point.values
    z_low, z_high = np.zeros(v.size), np.zeros(v.size)
    z_low[system.has_low], z_high[system.has_high] = z[:n_low], z[n_low : n_low + n_high]
    d = x[n_low + n_high : n_low + n_high + n_units]
    u, complement = np.split(z[n_low + n_high :], 2)
    c = system.X.T @ v
    unit_of = system.norm.unit_of
    delta = np.array([1.0 if k == -1 or (k >= 0 and not n_units) else 0.0 for k in unit_of])
    strengths = np.zeros(n_units)
    if n_units:
        inside = unit_of >= 0
        delta[inside] = d[unit_of[inside]]
        np.add.at(strengths, unit_of[inside], c[inside] ** 2)
    parts = [
        system.gradient(v) + system.X @ (delta * c) - z_low + z_high,
        0.5 * strengths - level + u - complement if n_units else np.zeros(0),
        [d.sum() - system.norm.budget if n_units else 0.0],
        x * z,
    ]
    return np.concatenate(parts)


@pytest.mark.parametrize("loss", [SquaredHinge(), HuberHinge(0.5), Squared(), Huber()], ids=repr)
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
@pytest.mark.parametrize("shape", [(15, 60), (60, 15)])
def test_the_affine_step_solves_the_linearised_conditions(loss, sets, shape):
    """A central difference is exact where the conjugate is quadratic, but for cubic terms."""
    _, system = system_of(loss, *shape, **sets)
    point = some_point(system)
    system.observe(point)
    step = system.linearise()
    h = 1e-4
    ahead, behind = (conditions(system, point.moved(step, sign * h)) for sign in (1.0, -1.0))
    here = conditions(system, point)
    slope = (ahead - behind) / (2.0 * h)
    assert slope == pytest.approx(-here, abs=1e-5 * np.abs(here).max())


@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_the_corrected_step_aims_at_products_of_one_size(weight, sets):
    """With the affine step's second-order terms of the products and of both residuals."""
    _, system = system_of(Squared(), **sets)
    point = some_point(system)
    system.observe(point)
    affine = system.linearise()
    step = system.corrected(0.02, affine, weight)
    h = 1e-4
    here = conditions(system, point)

    def parts(direction):
        ahead, behind = (conditions(system, point.moved(direction, s * h)) for s in (1.0, -1.0))
        return (ahead - behind) / (2.0 * h), (ahead + behind - 2.0 * here) / (2.0 * h * h)

    wanted = -here - weight * parts(affine)[1]
    wanted[here.size - point.values.shape[1] :] += 0.02
    size = np.abs(wanted).max()
    assert parts(step)[0] == pytest.approx(wanted, abs=1e-4 * size)


@every_loss
@pytest.mark.parametrize("share", [1.0, 1e-2])
def test_the_start_is_inside_every_bound(loss, share):
    """Also from slopes at the end of their range, and for rows of any weight."""
    problem, system = system_of(loss, weights=10.0 ** np.linspace(-6, 6, 40))
    low, high = loss.slope_range(problem.risk.y)
    for slopes in (np.zeros(40), np.nan_to_num(low, neginf=-1.0), np.nan_to_num(high, posinf=1.0)):
        start = starting_point(system, slopes, share)
        assert np.all(start.values > 0.0)
        assert np.all(np.isfinite(start.values))
        assert np.all(np.isfinite(start.free))


@every_loss
def test_an_extreme_start_is_inside_every_bound_and_as_near_0_as_its_slopes(loss):
    """Huge entries of a row bring its v nearer, and multipliers of far bounds stay small."""
    problem, _ = system_of(loss)
    X = np.random.default_rng(1).normal(size=(40, 15))
    X[3] *= 1e12
    extreme = SaddleKKT(problem.risk, 1e30, problem.norm, X, 1e-20)
    slopes = 1e-45 * problem.risk.slopes(np.zeros(40))
    start = starting_point(extreme, slopes, 1.0)
    assert np.all(start.values > 0.0)
    assert np.all(np.isfinite(start.values))
    v = start.free[:-1]
    assert np.abs(v).max() < 1e-10
    if loss.task == "classification":
        x, z = start.values
        assert abs(v[3]) == pytest.approx(1e30 * abs(slopes[3]))
        assert np.all((x * z)[x > 1e20] < 1e-20)


@pytest.mark.parametrize("primal", [None, 1.0])
def test_weights_are_stretched_to_margins_of_1_where_these_decide(primal):
    X = np.array([[0.5], [1.0], [-0.75]])
    problem = make_problem(X, np.array([1.0, 1.0, -1.0]), loss="squared_hinge", budget=1, C=1e20)
    system = SaddleKKT(problem.risk, problem.C, problem.norm, X, primal)
    system.offer(np.array([2.0 - 1e-6]))
    assert system.w == pytest.approx(2.0, rel=1e-5)
    assert (system.bounds[0] < 3.0) == (primal is not None)
