"""Newton's method on a few columns, and constant models: optima of others, and true bounds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from scoresieve.design import as_design
from scoresieve.losses import get_loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.subset import quick_fits, refits
from scoresieve.solvers.subset.quick_fits import constant_fit, newton_fit
from scoresieve.solvers.subset.refits import Refitter
from scoresieve.solvers.subset.splice import start_at_constant

#: The losses written out again, of labels or targets and scores.
LOSSES = {
    "squared_hinge": lambda y, s: np.maximum(0.0, 1.0 - y * s) ** 2,
    "logistic": lambda y, s: np.logaddexp(0.0, -y * s),
    "squared": lambda y, s: 0.5 * (y - s) ** 2,
}
SMOOTH = ["squared_hinge", "logistic", "huber_hinge", "squared", "huber"]
each = pytest.mark.parametrize("name", SMOOTH)
Cs = pytest.mark.parametrize("C", [0.01, 1.0, 100.0])


def made(name, *, n_samples=60, n_columns=5, seed=0, weights=None):
    """X, y and the risk of the loss; columns that have much in common."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n_samples)
    y = y if get_loss(name).task == "regression" else np.where(y > 0.3, 1.0, -1.0)
    return X, y, LossRisk(get_loss(name), y, weights)


def fit(X, risk, C, start=None, tol=1e-9, **options):
    block = as_design(X).columns(np.arange(X.shape[1]))
    start = np.zeros(X.shape[1]) if start is None else start
    return newton_fit(block, risk, C, start, tol=tol, **options)


def objective(X, risk, C, w):
    """With the loss as its own tests know it."""
    return 0.5 * w @ w + C * risk.value(X @ w)


def least(X, risk, C):
    """By a quasi-Newton method that sees values and slopes alone."""

    def value_and_slope(w):
        scores = X @ w
        slope = w + C * X.T @ (risk.row_weights * risk.slopes(scores))
        return objective(X, risk, C, w), slope

    options = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 10_000, "maxfun": 10**5}
    return minimize(
        value_and_slope, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options=options
    )


@each
@Cs
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_the_optimum_is_that_of_another_method(name, C, weighted):
    weights = np.random.default_rng(7).uniform(0.0, 3.0, size=60) if weighted else None
    X, _, risk = made(name, weights=weights)
    found, expected = fit(X, risk, C), least(X, risk, C)
    assert found.value == pytest.approx(expected.fun, rel=1e-7)
    assert_allclose(found.w, expected.x, atol=2e-3 * np.abs(expected.x).max())
    assert found.value == pytest.approx(objective(X, risk, C, found.w), rel=1e-12)
    assert_allclose(found.scores, X @ found.w, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("squared_hinge", lambda C: LinearSVC(C=C, fit_intercept=False, tol=1e-8, max_iter=10**6)),
        ("logistic", lambda C: LogisticRegression(C=C, fit_intercept=False, tol=1e-8)),
        ("squared", lambda C: Ridge(alpha=1.0 / C, fit_intercept=False)),
    ],
)
@Cs
def test_the_optimum_is_that_of_scikit_learn(name, model, C):
    X, y, risk = made(name)
    found, w = fit(X, risk, C), np.ravel(model(C).fit(X, y).coef_)
    theirs = 0.5 * w @ w + C * np.sum(LOSSES[name](y, X @ w))
    assert found.value <= theirs * (1 + 1e-9)
    assert found.value == pytest.approx(theirs, rel=1e-5)


@each
@Cs
def test_what_is_left_bounds_the_distance_to_the_optimum(name, C):
    """At every accuracy, from far and near."""
    X, _, risk = made(name, seed=1)
    rng, best, seen = np.random.default_rng(2), fit(X, risk, C, tol=1e-13), []
    for start in (np.zeros(5), rng.normal(size=5), 100.0 * rng.normal(size=5)):
        for tol in (1e6, 1.0, 0.1, 1e-3):
            found = fit(X, risk, C, start, tol)
            distance = found.value - best.value
            assert -1e-9 * best.value <= distance <= found.left * (1 + 1e-9) + 1e-9 * best.value
            gradient = found.w - X.T @ found.v
            assert found.left == pytest.approx(0.5 * gradient @ gradient, rel=1e-9, abs=1e-20)
            assert found.left <= tol * found.value
            seen.append(distance)
    assert max(seen) > 0.01 * best.value


@each
def test_v_is_the_dual_side(name):
    weights = np.random.default_rng(3).uniform(0.0, 3.0, size=60)
    X, _, risk = made(name, weights=weights)
    found = fit(X, risk, 0.7, tol=1e-12)
    assert_allclose(found.w, X.T @ found.v, atol=1e-4)
    # No model is below what v proves: the gain of its slopes less half the squared norm.
    correlations = X.T @ found.v
    dual = 0.7 * risk.gain(risk.slopes(found.scores)) - 0.5 * correlations @ correlations
    assert dual <= found.value * (1 + 1e-12)
    assert dual == pytest.approx(found.value, rel=1e-5)


@each
@Cs
def test_it_is_given_up_only_where_no_model_is_below(name, C):
    given_up = 0
    for seed in range(2):
        X, _, risk = made(name, seed=seed)
        best = fit(X, risk, C, tol=1e-12).value
        for share in (0.2, 0.9, 0.999, 1.001, 1.1, 3.0):
            found = fit(X, risk, C, tol=1e-6, give_up_at=share * best)
            is_cut_short = found.left > 1e-6 * found.value
            given_up += is_cut_short
            if is_cut_short:
                assert share <= 1.0
                # No model below: that is what was known when it ended.
                assert found.value - found.left >= share * best
            else:
                assert found.value == pytest.approx(best, rel=2e-6)
    # Of squares one step finds the optimum, so that there is nothing to give up; and of Huber's
    # loss, which has only squares where the residuals become small.
    in_one_step = name == "squared" or (name == "huber" and C > 0.01)
    assert (given_up == 0) == in_one_step


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, np.float32, np.asfortranarray])
def test_other_formats_have_the_same_optimum(form):
    X, _, risk = made("logistic")
    X = X.astype(np.float32).astype(np.float64)
    one, two = fit(X, risk, 1.0), fit(form(X), risk, 1.0)
    assert_allclose(one.w, two.w, rtol=1e-6)


@each
def test_the_start_does_not_matter_and_the_optimum_needs_no_step(name):
    X, _, risk = made(name)
    rng = np.random.default_rng(4)
    best = fit(X, risk, 0.5, tol=1e-12)
    assert_array_equal(fit(X, risk, 0.5, best.w, tol=1e-9).w, best.w)
    for scale in (1.0, 1e3):
        other = fit(X, risk, 0.5, scale * rng.normal(size=5), tol=1e-12)
        assert_allclose(other.w, best.w, atol=1e-4)


def test_no_risk_is_no_model():
    """Targets of 0: the start that has no risk is the optimum, and its objective is 0."""
    X, _, _ = made("squared")
    found = fit(X, LossRisk(get_loss("squared"), np.zeros(60)), 1.0)
    assert (found.value, found.left) == (0.0, 0.0)
    assert_array_equal(found.w, 0.0)


@pytest.mark.parametrize("limit", ["MAX_STEPS", "MAX_HALVINGS"])
def test_where_it_gets_stuck_there_is_no_fit(monkeypatch, limit):
    X, _, risk = made("logistic")
    monkeypatch.setattr(quick_fits, limit, 0)
    assert fit(X, risk, 1.0) is None


def test_numbers_that_are_not_finite_are_no_fit():
    X, _, risk = made("squared_hinge")
    with np.errstate(over="ignore", invalid="ignore"):
        assert fit(1e200 * X, risk, 1.0) is None


KINDS = [
    *({"measure": name} for name in ("f1", "prbep", "rec@2p", "hamming", "prec@5", "roc_auc")),
    {"loss": "hinge"},
]
TOL = 1e-4


def constant_problem(kind, n_positive, C, constant):
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.where(np.arange(90) < n_positive, 1.0, -1.0)
    return make_problem(X, y, budget=2, C=C, intercept_scaling=constant, **kind)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: next(iter(kind.values())))
@pytest.mark.parametrize("n_positive", [4, 40])
@pytest.mark.parametrize("C", [0.02, 3.0, 500.0])
@pytest.mark.parametrize("constant", [1.0, 10.0])
def test_no_constant_is_better(kind, n_positive, C, constant):
    problem = constant_problem(kind, n_positive, C, constant)
    fit = start_at_constant(Refitter(problem, Limits(TOL, 100)))
    scores = np.linspace(-3.0, 3.0, 2001)
    values = [
        0.5 * (score / constant) ** 2 + C * problem.risk.value(np.full(90, score))
        for score in scores
    ]
    assert fit.primal <= min(values) * (1.0 + TOL) + 1e-12
    [w] = fit.w
    at_w = C * problem.risk.value(np.full(90, constant * w)) + 0.5 * w * w
    assert fit.primal == pytest.approx(at_w)
    gain, v = problem.risk.checked_dual(fit.point, C)
    bound = gain - 0.5 * (constant * v.sum()) ** 2
    assert fit.gap <= TOL
    assert (1.0 - fit.gap) * fit.primal == pytest.approx(bound)


def test_the_bundle_takes_over_where_cuts_are_too_many(monkeypatch):
    problem = constant_problem({"measure": "f1"}, 20, 3.0, 1.0)
    refitter = Refitter(problem, Limits(TOL, 100))
    alone = start_at_constant(refitter)
    monkeypatch.setattr(quick_fits, "MAX_CUTS", 1)
    assert constant_fit(problem.risk, 3.0, 1.0, TOL) is None
    called = []
    engine_for = refits.engine_for
    monkeypatch.setattr(refits, "engine_for", lambda p: called.append(p) or engine_for(p))
    assert start_at_constant(refitter).primal == pytest.approx(alone.primal, rel=2 * TOL)
    assert called
