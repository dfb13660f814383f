"""The door to the package's internals opens, and it is the only one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import studies
from scoresieve import solve
from studies.common.internals import (
    captured_masters,
    clarabel_timed,
    solve_master,
    solve_master_conic,
)

FOLDER = Path(studies.__file__).parent
PARTS = ("baselines", "design", "losses", "measures", "mil", "regularizers")
PUBLIC = {"scoresieve"} | {f"scoresieve.{part}" for part in PARTS}


def test_only_one_module_looks_below_the_public_interface():
    imports = {
        path.relative_to(FOLDER).as_posix(): re.findall(
            r"^\s*(?:from|import) (scoresieve[\w.]*)", path.read_text(), re.M
        )
        for path in FOLDER.rglob("*.py")
    }
    assert {file for file, names in imports.items() if set(names) - PUBLIC} == {
        "common/internals.py"
    }


def test_masters_of_a_fit_are_captured_and_solved_by_both_solvers():
    X = np.random.default_rng(0).normal(size=(60, 12))
    y = np.where(X[:, 0] + X[:, 1] > 0.5, 1.0, -1.0)
    problems = []
    with captured_masters(problems):
        result = solve(X, y, measure="f1", price=1.0, budget=2, C=1.0)
    assert len(problems) == result.n_iter
    seconds = []
    with clarabel_timed(seconds):
        conic = solve_master_conic(problems[-1])
    assert len(seconds) == 1
    solve_master_conic(problems[-1])
    assert len(seconds) == 1
    ours = solve_master(problems[-1], tol=1e-8)
    value = problems[-1].primal
    assert value(ours.w) == pytest.approx(value(conic.w), rel=1e-6)
