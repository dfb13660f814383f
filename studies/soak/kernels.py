"""The same fits with other kernels of BLAS, each in a process: what rounding may change.

OpenBLAS chooses its kernels by the processor, and OPENBLAS_CORETYPE overrules it: sums are in
another order, as they are with another library. Everything must be as it is, or within the gap.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from scoresieve import MeasureSVC, solve
from studies.common.progress import log
from studies.soak.tally import Run, Tally

#: Kernels from SSE3 to AVX2 and numbers of threads; the first is what others are compared with.
KERNELS = (("Prescott", 1), ("Nehalem", 1), ("Sandybridge", 1), ("Haswell", 1), ("Haswell", 2))
RISKS: tuple[dict[str, Any], ...] = (
    *({"measure": name} for name in ("f1", "prbep", "rec@2p", "roc_auc", "accuracy")),
    *({"loss": name} for name in ("hinge", "logistic", "squared_hinge", "squared")),
)
TOL = 1e-3


def run_kernels(run: Run, folder: Path) -> Tally:
    """All cases with each kernel, one process a kernel; then case by case."""
    tally = Tally("kernels")
    found = []
    for kernel, n_threads in KERNELS:
        log(f"kernels: {kernel}, {n_threads} threads")
        found.append(_in_a_process(kernel, n_threads, run))
    pairs = [(k, k + 1) for k in range(len(KERNELS) - 1) if KERNELS[k][0] == KERNELS[k + 1][0]]
    if any(found[first] != found[second] for first, second in pairs):
        tally.fail(-1, "other bits with another number of threads")
    largest = 0.0
    for number, (first, *others) in enumerate(zip(*found, strict=True), start=run.first):
        if all(other == first for other in others):
            tally.count("the same bits")
            continue
        faults = [fault for other in others for fault in differences(first, other)]
        largest = max([largest, *(_apart(first, other) for other in others)])
        if faults:
            tally.fail(number, "; ".join(sorted(set(faults))))
        else:
            tally.count("within the gap, the same k features")
    tally.notes |= {"kernels": len(KERNELS), "largest relative difference of primals": largest}
    return tally


def differences(first: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What another kernel must not change."""
    faults = []
    if max(first["dual"], other["dual"]) > min(first["primal"], other["primal"]) * (1 + 1e-9):
        faults.append("the bounds of one contradict those of the other")
    if first["selected"] != other["selected"]:
        faults.append(f"features {first['selected']} and {other['selected']}")
    return faults


def _apart(first: dict[str, Any], other: dict[str, Any]) -> float:
    return abs(first["primal"] - other["primal"]) / first["primal"]


def _in_a_process(kernel: str, n_threads: int, run: Run) -> list[dict[str, Any]]:
    threads = {name: str(n_threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-m", "studies.soak.kernels", *map(str, (run.seed, run.first, run.cases))],
        env=os.environ | threads | {"OPENBLAS_CORETYPE": kernel},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def one_case(seed: int, number: int) -> dict[str, Any]:
    """A relaxed fit and one with three features, of which the data have three that matter."""
    rng = np.random.default_rng([seed, number])
    X = rng.normal(size=(int(rng.integers(60, 300)), 25))
    signal = X[:, :3] @ np.array([2.0, 1.5, -1.5]) + 0.5 * rng.normal(size=len(X))
    risk = RISKS[number % len(RISKS)]
    y = signal if risk.get("loss") == "squared" else (signal > 1.0).astype(float)
    result = solve(X, y, budget=4, C=1.0, tol=TOL, intercept_scaling=1.0, **risk)
    model = MeasureSVC("f1", n_features_to_select=3).fit(X, signal > 1.0)
    return {
        "primal": result.primal,
        "dual": result.dual,
        "w": result.w.tolist(),
        "selected": model.get_support(indices=True).tolist(),
        "coef": model.coef_.tolist(),
    }


if __name__ == "__main__":
    of_seed, from_case, n_cases = map(int, sys.argv[1:])
    for case in range(from_case, from_case + n_cases):
        print(json.dumps(one_case(of_seed, case)))
