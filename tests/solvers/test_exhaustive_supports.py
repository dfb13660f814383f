"""Hard budgets beside the best of all supports, on columns that have much in common."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.subset.refits import Refitter
from studies.common.internals import solve_hard_budget

TOL = 1e-3
LIMITS = Limits(TOL, 1000)
PRICE = 0.5


def hinge(x):
    return np.maximum(0.0, 1.0 - x)


def hinge_of_pairs(y, s):
    return np.sum(hinge(s[y > 0][:, None] - s[y < 0])) / np.sum(y < 0)


def worst_table(y, s, price, loss):
    """The largest loss less margins, over all counts of missed positives and false alarms."""
    missed = np.append(0.0, np.cumsum(np.sort(s[y > 0])))
    alarms = np.append(0.0, np.cumsum(-np.sort(-s[y < 0])))
    return max(
        loss(missed.size - 1 - c, b) - missed[c] + price * alarms[b]
        for c, b in itertools.product(range(missed.size), range(alarms.size))
    )


def f1_at_its_price(y, s):
    P = np.sum(y > 0)
    return worst_table(y, s, PRICE, lambda a, b: P * (1 - 2 * a / (a + b + P)))


def misses_or_alarms(y, s):
    P = np.sum(y > 0)
    return worst_table(y, s, 1.0, lambda a, b: max(P - a, b))


#: The arguments of each problem, its risk written out, and how many problems there are.
KINDS = {
    "squared_hinge": ({"loss": "squared_hinge"}, lambda y, s: np.sum(hinge(y * s) ** 2), 10),
    "logistic": ({"loss": "logistic"}, lambda y, s: np.sum(np.logaddexp(0.0, -y * s)), 10),
    "squared": ({"loss": "squared"}, lambda y, s: 0.5 * np.sum((y - s) ** 2), 10),
    "huber": (
        {"loss": "huber"},
        lambda y, s: np.sum(
            np.where(np.abs(y - s) < 1.35, 0.5 * (y - s) ** 2, 1.35 * (np.abs(y - s) - 0.675))
        ),
        10,
    ),
    "hinge": ({"loss": "hinge"}, lambda y, s: np.sum(hinge(y * s)), 5),
    "accuracy": ({"measure": "accuracy", "price": 1.0}, lambda y, s: np.sum(hinge(y * s)), 5),
    "roc_auc": ({"measure": "roc_auc"}, hinge_of_pairs, 5),
    "f1": ({"measure": "f1", "price": PRICE}, f1_at_its_price, 5),
    "prbep": ({"measure": "prbep", "price": 1.0}, misses_or_alarms, 5),
}


def mixed(seed, n_samples=40):
    """Columns of four sources and a little noise, labels and targets; k, and some C."""
    rng = np.random.default_rng(seed)
    m, k = rng.integers(6, 10), int(rng.integers(1, 4))
    X = rng.normal(size=(n_samples, 4)) @ rng.normal(size=(4, m))
    X += 0.3 * rng.normal(size=X.shape)
    targets = X @ rng.normal(size=m) + 2.0 * rng.normal(size=n_samples)
    labels = np.where(targets > np.quantile(targets, 0.7), 1.0, -1.0)
    return X, labels, targets, k, 10.0 ** rng.uniform(-2.0, 1.0)


def objective(X, y, w, intercept, C, risk):
    return 0.5 * (w @ w + intercept**2) + C * risk(y, X @ w + intercept)


def best_svm(X, y, k, C, risk, *, of_pairs):
    """By LinearSVC, of the rows or of the differences of positives and negatives."""
    rows, labels, weight = X, y, C
    if of_pairs:
        rows = (X[y > 0][:, None] - X[y < 0]).reshape(-1, X.shape[1])
        rows, labels = np.vstack([rows, -rows]), np.repeat([1.0, -1.0], rows.shape[0])
        weight = 0.5 * C / np.sum(y < 0)
    svm = LinearSVC(
        loss="hinge", C=weight, fit_intercept=not of_pairs, tol=1e-5, max_iter=10**6, random_state=0
    )
    found = []
    for support in itertools.combinations(range(X.shape[1]), k):
        svm.fit(rows[:, support], labels)
        intercept = 0.0 if of_pairs else svm.intercept_[0]
        found.append(objective(X[:, support], y, svm.coef_[0], intercept, C, risk))
    return min(found)


def best_refit(problem, k):
    """By refits, whose objectives the caller checks; given up as soon as they are too dear."""
    refitter = Refitter(problem, LIMITS)
    best = refitter.refit(np.zeros(0, dtype=np.int64))
    for support in itertools.combinations(range(problem.norm.n_units), k):
        fit = refitter.refit(np.array(support), best, give_up_at=best.primal)
        best = fit if fit.primal < best.primal else best
    return best.primal


@pytest.mark.parametrize("name", KINDS)
def test_near_the_best_of_all_supports(name):
    """Within 1 % in nine of ten cases, with and without the relaxed problem's help."""
    kind, risk, n_problems = KINDS[name]
    n_missed = {True: 0, False: 0}
    for seed in range(n_problems):
        X, labels, targets, k, C = mixed(seed)
        y = targets if name in ("squared", "huber") else labels
        problem = make_problem(X, y, **kind, budget=k, C=C, intercept_scaling=1.0)
        if name in ("hinge", "accuracy", "roc_auc"):
            best = best_svm(X, y, k, C, risk, of_pairs=name == "roc_auc")
        else:
            best = best_refit(problem, k)
        for certificate in (True, False):
            result = solve_hard_budget(problem, LIMITS, certificate=certificate)
            assert np.count_nonzero(result.w) <= k
            # It is the objective of a model with k features, whoever computes it.
            expected = objective(X, y, result.w, result.intercept, C, risk)
            assert result.primal == pytest.approx(expected, rel=1e-9)
            assert result.primal >= best * (1 - TOL)
            if certificate:
                assert result.dual <= best * (1 + 1e-9)
            n_missed[certificate] += result.primal > 1.01 * best
    assert max(n_missed.values()) <= n_problems // 10
