"""Memory of a fit beyond X, each number from a process of its own.

``python -m studies.speed.memory FOLDER WHAT HOW`` is such a process: FOLDER has the arrays of X and
y, WHAT is ``l1svm`` or the arguments of :func:`scoresieve.solve` as JSON, HOW is ``resident`` or
``traced``. It prints megabytes as JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from scoresieve import solve
from studies.common.options import start
from studies.common.progress import log
from studies.speed.l1svm import fit_l1svm

MEGABYTE = 2.0**20
ARRAYS = ("data", "indices", "indptr", "shape", "y")
L1SVM = "l1svm"


def measure_memory(
    X: sparse.csr_matrix, y: np.ndarray, fits: Mapping[str, dict[str, Any] | str]
) -> dict[str, dict[str, float]]:
    """Peak memory beyond X of each fit, by its name.

    The processes read the training part from plain arrays: reading the original file needs more
    memory than the fit and would hide it.

    Parameters
    ----------
    X, y
        The training part.
    fits : mapping of str to dict or str
        Arguments of :func:`scoresieve.solve`, or ``L1SVM``.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip(ARRAYS, (X.data, X.indices, X.indptr, X.shape, y), strict=True):
            np.save(Path(folder) / f"{name}.npy", np.asarray(array))
        return {name: in_process(folder, name, what) for name, what in fits.items()}


def in_process(folder: str, name: str, what: dict[str, Any] | str) -> dict[str, float]:
    """One fit for resident memory and one for traced allocations."""
    answer = {}
    for how in ("resident", "traced"):
        command = [sys.executable, "-m", "studies.speed.memory", folder, json.dumps(what), how]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        answer |= json.loads(done.stdout)
    log(f"memory of {name}: {', '.join(f'{key} {value:.0f}' for key, value in answer.items())}")
    return answer


def probe(folder: str, what: str, how: str) -> dict[str, float]:
    """Load X, fit, and say how much memory that took, in megabytes."""
    data, indices, indptr, shape, y = (np.load(Path(folder) / f"{name}.npy") for name in ARRAYS)
    X = sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))
    if how == "traced":
        tracemalloc.start()
        fit(X, y, json.loads(what))
        return {"traced_peak": tracemalloc.get_traced_memory()[1] / MEGABYTE}
    peak_before, resident_before = peak_resident(), linux_status("VmRSS")
    fit(X, y, json.loads(what))
    peak = peak_resident()
    answer = {"x": (data.nbytes + indices.nbytes + indptr.nbytes) / MEGABYTE}
    answer["peak_growth"] = peak - peak_before
    if resident_before is not None:
        answer["peak_over_resident"] = peak - resident_before
    return answer


def fit(X: sparse.csr_matrix, y: np.ndarray, what: dict[str, Any] | str) -> None:
    """What is measured."""
    if what == L1SVM:
        fit_l1svm(X, y, 1.0)
    else:
        solve(X, y, **what)


def peak_resident() -> float:
    """The largest resident memory so far, in megabytes.

    Linux counts the memory of the parent process into ``ru_maxrss`` of a child that has just
    started, so there the peak is read from the process's own status.
    """
    own = linux_status("VmHWM")
    if own is not None:
        return own
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MEGABYTE if sys.platform == "darwin" else peak / 1024.0


def linux_status(name: str) -> float | None:
    """An entry of the process's status in megabytes; None where there is no such file."""
    path = Path("/proc/self/status")
    if not path.is_file():
        return None
    lines = (line.split() for line in path.read_text().splitlines())
    return next((int(line[1]) / 1024.0 for line in lines if line[0] == f"{name}:"), None)


if __name__ == "__main__":
    start(lambda: print(json.dumps(probe(*sys.argv[1:]))))
