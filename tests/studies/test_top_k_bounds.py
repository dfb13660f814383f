"""The bounds of the k highest scores: what holds of them, and their fits on generated text."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from studies.common.data import Split
from studies.common.internals import solve_hard_budget, solve_problem
from studies.quality.top_k_bounds import fit_task, refit_task
from studies.quality.top_k_checks import check_risk, check_surrogates
from studies.quality.top_k_direct import by_clarabel, by_interior_point, few_columns
from studies.quality.top_k_fits import BOUNDS, Setting, cross_validated, limits, problem_of

SETTING = Setting("two hinge sums", "prbep", 3, 10.0)


@pytest.fixture(scope="module")
def split():
    """300 rows of 40 rare words, three of which tell the class."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 40)) * (rng.random((600, 40)) < 0.15)
    y = np.where(X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=600) > 0.6, 1, -1)
    X = sparse.csr_matrix(X)
    return Split(X[:300], y[:300], X[300:], y[300:])


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("at_p", [False, True])
def test_bounds_are_convex_and_have_right_cuts(bound, at_p):
    found = check_risk(BOUNDS[bound], 100, k_above=False, at_p=at_p)
    assert found["not_convex"] == found["wrong_cut"] == 0
    # Below P the paper's and SVM^perf's are no bounds of Prec@k.
    assert (found["below"] > 0) == (bound in ("paper", "SVM^perf") and not at_p)


def test_surrogates_are_those_of_their_definitions():
    assert max(check_surrogates(50).values()) < 1e-9


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_fit_certifies_its_gap(bound, split):
    setting = dataclasses.replace(SETTING, bound=bound, is_hard=False)
    problem = problem_of(split.X, split.labels(1)[0], setting)
    result = solve_problem(problem, limits())
    gain, v = problem.risk.checked_dual(result.dual_point, problem.C)
    dual = problem.dual_value(gain, problem.design.correlate(v))
    assert dual == pytest.approx(result.dual, rel=1e-3)
    assert result.gap <= 0.1


def test_direct_solution_is_that_of_clarabel(split):
    y = split.labels(1)[0]
    few = few_columns(split.X.tocsc()[:, :3], y, 1.0, (0.0, 0.0), 10.0)
    assert few.counts.sum() == y.size
    assert few.counts.size < y.size
    found, conic = by_interior_point(few, np.zeros(4), tol=1e-6), by_clarabel(few, tol=1e-8)
    assert found.gap <= 1e-6
    assert found.primal == pytest.approx(conic.primal, rel=1e-5)


def test_tasks_give_rows(split):
    (row,) = fit_task("generated", split, 1, SETTING)
    assert row["words"] == 3
    assert row["prbep"] > 60.0
    assert cross_validated(split, 1, SETTING) > 60.0
    whole, *refits = refit_task("generated", split, 1, 3)
    problem = problem_of(split.X, split.labels(1)[0], SETTING)
    assert whole["objective"] == solve_hard_budget(problem, limits()).primal
    assert whole["direct_objective"] == pytest.approx(whole["objective"], rel=0.05)
    finished = [refit for refit in refits if not refit["direct_given_up"]]
    assert finished
    assert max(refit["direct_gap"] for refit in finished) <= 0.03
