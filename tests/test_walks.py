"""How far a reader walks to follow one fit, and how often objects read each other's private parts.

``python tools/walks.py --show`` says where. The limits only go down.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from scoresieve import solve
from tests.helpers import run_python
from tools import walks

#: Files of ours, and frames of ours at the deepest moment.
LIMITS = {"MeasureSVC.fit": [36, 15], "ScoreSieve.fit": [50, 20], "scoresieve fit": [75, 25]}
PRIVATE_READS = 10


@pytest.mark.slow
def test_walks_stay_short():
    # In a process of its own: what a command loads counts, whatever ran before.
    found = json.loads(run_python(walks.__file__, "--json"))
    assert found.keys() == LIMITS.keys()
    for name, (n_files, n_frames) in LIMITS.items():
        assert found[name][0] <= n_files, name
        assert found[name][1] <= n_frames, name


def test_private_reads_are_few():
    found = walks.private_reads()
    assert len(found) <= PRIVATE_READS, "\n".join(found)


def test_files_and_frames_of_a_walk():
    assert walks.walked(lambda: sorted([2, 1], key=lambda x: x)) == ([], [])
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    once = walks.walked(lambda: solve(X, y, budget=1, C=1.0, measure="f1"))
    assert {"_checks.py", "solvers/solve.py"} <= set(once.files)
    assert once.stack[0].startswith("solvers/solve.py:")
    twice = walks.walked(lambda: [solve(X, y, budget=1, C=1.0, measure="f1") for _ in range(2)])
    assert twice == once


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("model._rows", ["model._rows"]),
        ("self.model_._rows[0]", ["self.model_._rows"]),
        (
            "type(self)._x + getattr(model, '_y', None)",
            ["type(self)._x", "getattr(model, '_y', None)"],
        ),
        ("hasattr(model, '_y')", ["hasattr(model, '_y')"]),
        ("self._x + cls._y + super()._z + super().take(1)._z + sys._getframe()", []),
        ("model.__dict__, row._asdict(), model.x_, getattr(model, 'y')", []),
        ("other._own, other._kept, other._field, other._method()", []),
    ],
)
def test_private_reads_are_found(tmp_path, line, found):
    own = "class A:\n    _own = 1\n    _field: int\n    def _method(self): self._kept = 1\n"
    (tmp_path / "a.py").write_text(f"import sys\n{own}{line}\n")
    assert sorted(walks.private_reads(tmp_path)) == [f"a.py:6 {each}" for each in sorted(found)]
