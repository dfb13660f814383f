"""What tests of several folders use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from scoresieve import SolveResult, solve
from scoresieve.design import as_design
from scoresieve.design.blocks.writer import written_folder
from scoresieve.estimators.persistence.file import checksum_of
from scoresieve.estimators.sieve.candidates import SelectionProblem
from scoresieve.estimators.sieve.plan import start_clock
from scoresieve.losses import get_loss, known_losses
from scoresieve.mil import BagScoreSieve
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.path import check_budgets, solve_budgets
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import default_tol
from studies.common.internals import solve_two_layer

REFERENCE = Path(__file__).parent / "reference"

#: Every role that columns can have, among the ten of ``data``.
ALL_ROLES: dict[str, Any] = {
    "intercept_scaling": 0.5,
    "always_features": [6, 7],
    "excluded_features": [9],
    "feature_groups": [0, 0, 0, 1, 1, 2, 3, 3, 4, 5],
}

#: Every loss, those with a setting in two forms.
LOSSES = [get_loss(name) for name in known_losses()]
LOSSES += [get_loss("huber_hinge", delta=0.3), get_loss("huber", epsilon=0.2)]
LOSSES.append(get_loss("epsilon_insensitive", epsilon=0.0))

#: scikit-learn's checks of what X and y may be given as. The code that reads them is the same for
#: every setting of an estimator, and :mod:`tests.design.test_conformance` tests each form of X.
CHECKS_OF_FORMS = {
    "check_classifier_data_not_an_array",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimators_dtypes",
    "check_readonly_memmap_input",
    "check_regressor_data_not_an_array",
    "check_supervised_y_2d",
    "check_transformer_data_not_an_array",
}


def worth_checking(cases: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """All of scikit-learn's checks for the first setting of each class.

    The others see all but those of the forms of X and y.
    """
    first: dict[type, Any] = {}
    return [
        (estimator, check)
        for estimator, check in cases
        if first.setdefault(type(estimator), estimator) is estimator or not _is_of_forms(check)
    ]


def _is_of_forms(check: Any) -> bool:
    return check.func.__name__ in CHECKS_OF_FORMS or check.keywords.get("readonly_memmap", False)


def run_python(*arguments: Any, **options: Any) -> str:
    """What an interpreter of its own prints; it must end without an error."""
    command = [sys.executable, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert run.returncode == 0, run.stderr
    return run.stdout


def sieve_of_bags(*sigmas: float) -> tuple[Any, Any, Any]:
    """A model of 30 bags, a third of which hold a telling instance; the bags and their labels."""
    rng = np.random.default_rng(0)
    bags, y = [rng.normal(size=(3, 2)) for _ in range(30)], np.arange(30) % 3 == 0
    for number in np.flatnonzero(y):
        bags[number][0] = [4.0, 4.0]
    quick = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 2}
    model = BagScoreSieve(n_instances_to_select=[1, 2], sigmas=list(sigmas), **quick)
    return model.fit(bags, y), bags, y


def stored_optima(name: str, data: str) -> list[dict[str, Any]]:
    """Entries of a file of reference optima for one data set."""
    found = json.loads((REFERENCE / f"{name}.json").read_text())
    return [entry for entry in found if entry["data"] == data]


@lru_cache
def load_reference(name: str) -> tuple[Any, Any]:
    """X with rows of unit length and y; skips where the data are not at hand."""
    if name == "tiny":
        labels = np.load(REFERENCE / "tiny.train.labels.npy")
        return sp.load_npz(REFERENCE / "tiny.train.npz"), labels
    if "SCORESIEVE_DATA" not in os.environ:
        pytest.skip("set SCORESIEVE_DATA to the folder of real data")
    path = Path(os.environ["SCORESIEVE_DATA"]) / "small" / f"{name}.train.svm.gz"
    X, y = load_svmlight_file(str(path))
    return normalize(X), y


#: Our own solver, and the paper's, which has the same optimum.
SOLVERS = {"bundle": solve, "two_layer": solve_two_layer}
both_solvers = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)


def solve_path(
    X: Any,
    y: Any,
    budgets: Any,
    *,
    tol: float | None = None,
    max_iter: int = 1000,
    max_time: float | None = None,
    callback: Any = None,
    **arguments: Any,
) -> list[SolveResult]:
    """``solve`` for many budgets, as ``budget_path`` does it after it has read the labels."""
    budgets = check_budgets(budgets)
    problem = make_problem(X, y, budget=max(budgets), **arguments)
    limits = Limits(default_tol(tol, problem), max_iter, max_time, callback)
    return solve_budgets(problem, budgets, limits)


def with_checksum(members: dict[str, bytes]) -> dict[str, bytes]:
    """The members of a model file with a checksum that is right, if ``model.json`` is an object."""
    others = {name: content for name, content in members.items() if name != "model.json"}
    try:
        described = json.loads(members["model.json"])
        described["sha256"] = checksum_of(described, others)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return members
    return members | {"model.json": json.dumps(described).encode()}


def write_cut_blocks(X, folder, sizes):
    """A folder of row blocks with these numbers of rows, as other writers may cut them."""
    with written_folder(folder) as writer:
        first = 0
        for size in sizes:
            writer.add(X[first : first + size])
            writer._write_block()
            first += size
        assert first == X.shape[0]
        writer.finish()
    return folder


def selected_by(
    candidates: Iterable[Any], X: Any, y: Any, sizes: Any, *, weights: Any = None, **options: Any
) -> list[list[Any]]:
    """What each candidate of a sieve selects from the same rows, for each size."""
    limits = options.pop("limits", None) or start_clock(None)
    problem = SelectionProblem(as_design(X), y, weights, limits, **options)
    return [candidate.select(problem, sizes) for candidate in candidates]
