"""Optima of SVM^perf and of the authors' program, computed outside this package.

A correct solver at the relative gap g has ``dual <= upper (1 + 1e-6)``, ``primal <= upper (1 + g)``
and ``primal >= lower (1 - 1e-6)``. SVM^perf's solution is an upper bound only.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

from scoresieve import solve
from studies.common.internals import solve_two_layer
from tests.helpers import load_reference, stored_optima

GAP = 0.01
#: What the two-layer algorithm solves within a second or two.
QUICK_FOR_TWO_LAYER = {("f1", 50, 0.0864), ("accuracy", 10, 0.4), ("prbep", 10, 0.864)}


def label(entry):
    return f"{entry['data']}-{entry['measure']}-B{entry.get('budget', 'all')}-C{entry['C']:g}"


def check(entry, solver=solve, gap=GAP):
    X, y = load_reference(entry["data"])
    upper = entry.get("upper", entry["primal"])
    lower = entry.get("lower", 0.0)
    result = solver(
        X,
        y,
        measure=entry["measure"],
        bound="paper",
        budget=entry.get("budget", X.shape[1]),
        C=entry["C"],
        # (primal - dual) / primal <= g / (1 + g) is primal <= (1 + g) dual.
        tol=gap / (1 + gap),
    )
    assert result.status.reached_tolerance
    assert result.dual <= upper * (1 + 1e-6)
    assert result.primal >= lower * (1 - 1e-6)
    assert result.primal <= upper * (1 + gap)


def by_label(found):
    return pytest.mark.parametrize("entry", found, ids=label)


def is_quick(entry):
    return (entry["measure"], entry["budget"], round(entry["C"], 6)) in QUICK_FOR_TWO_LAYER


def needs_data(entry):
    """A parameter that is skipped without the folder of real data."""
    missing = "SCORESIEVE_DATA" not in os.environ
    reason = "set SCORESIEVE_DATA to the folder of real data"
    return pytest.param(entry, id=label(entry), marks=pytest.mark.skipif(missing, reason=reason))


def test_tiny_is_as_described():
    X, y = load_reference("tiny")
    assert X.shape == (600, 1000)
    assert np.sum(y > 0) == 72
    assert sp.linalg.norm(X, axis=1) == pytest.approx(np.ones(600))


@by_label(stored_optima("svmperf", "tiny"))
def test_svmperf_on_tiny(entry):
    check(entry)


@by_label(stored_optima("authors", "tiny"))
def test_authors_program_on_tiny(entry):
    check(entry)


@by_label([e for e in stored_optima("authors", "tiny") if is_quick(e)])
def test_two_layer_against_the_authors_program(entry):
    check(entry, solver=solve_two_layer)


@by_label([e for e in stored_optima("svmperf", "tiny") if e["C"] == 0.3])
def test_two_layer_against_svmperf(entry):
    check(entry, solver=solve_two_layer)


# F1 with 50 features and the larger C takes the two-layer algorithm ten seconds: left out.
@pytest.mark.slow
@by_label(
    [
        e
        for e in stored_optima("authors", "tiny")
        if not is_quick(e) and (e["measure"], e["budget"]) != ("f1", 50)
    ]
)
def test_two_layer_against_the_authors_program_slowly(entry):
    check(entry, solver=solve_two_layer, gap=0.05)


@pytest.mark.parametrize("entry", [needs_data(e) for e in stored_optima("svmperf", "dexter")])
def test_svmperf_on_dexter(entry):
    check(entry)


@pytest.mark.parametrize("entry", [needs_data(e) for e in stored_optima("authors", "dexter")])
def test_authors_program_on_dexter(entry):
    check(entry)


# Precision at p/2 with the larger C takes longer than all others together: left out, it is solved
# on the two smaller data sets.
@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [
        needs_data(e)
        for e in stored_optima("svmperf", "dorothea")
        if (e["measure"], e["C"]) != ("prec@p/2", 3.0)
    ],
)
def test_svmperf_on_dorothea(entry):
    check(entry)


@pytest.mark.parametrize("entry", [needs_data(e) for e in stored_optima("authors", "dorothea")])
def test_authors_program_on_dorothea(entry):
    check(entry)
