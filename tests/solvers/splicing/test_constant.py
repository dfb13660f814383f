"""The best constant model, beside a fine grid of constants, and what its cuts prove."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.splicing import refits
from scoresieve.solvers.splicing.constant import constant_fit
from scoresieve.solvers.splicing.refits import Refitter
from scoresieve.solvers.splicing.splice import start_at_constant

KINDS = [
    *({"measure": name} for name in ("f1", "prbep", "rec@2p", "hamming", "prec@5", "roc_auc")),
    {"loss": "hinge"},
]
TOL = 1e-4


def make(kind, n_positive, C, constant):
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.where(np.arange(90) < n_positive, 1.0, -1.0)
    return make_problem(X, y, budget=2, C=C, intercept_scaling=constant, **kind)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: next(iter(kind.values())))
@pytest.mark.parametrize("n_positive", [4, 40])
@pytest.mark.parametrize("C", [0.02, 3.0, 500.0])
@pytest.mark.parametrize("constant", [1.0, 10.0])
def test_no_constant_is_better(kind, n_positive, C, constant):
    problem = make(kind, n_positive, C, constant)
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
    problem = make({"measure": "f1"}, 20, 3.0, 1.0)
    refitter = Refitter(problem, Limits(TOL, 100))
    alone = start_at_constant(refitter)
    monkeypatch.setattr("scoresieve.solvers.splicing.constant.MAX_CUTS", 1)
    assert constant_fit(problem.risk, 3.0, 1.0, TOL) is None
    called = []
    engine = refits.run_engine
    monkeypatch.setattr(refits, "run_engine", lambda *a: called.append(a) or engine(*a))
    assert start_at_constant(refitter).primal == pytest.approx(alone.primal, rel=2 * TOL)
    assert called
