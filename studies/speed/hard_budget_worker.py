"""Fits of one checkout, asked for line by line: the other side of ``studies.speed.hard_budget``.

It needs nothing but ``scoresieve``, of whatever checkout is on the path: it reads one JSON object a
line and answers with one.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

import scoresieve


def fit(task: dict[str, Any]) -> dict[str, Any]:
    """Seconds of a fit with k features, and its number of features."""
    X, y = sp.load_npz(task["X"]), np.load(task["y"])
    kind = getattr(scoresieve, task["class"])
    options = dict(task["options"])
    if "certificate" not in inspect.signature(kind).parameters:
        options.pop("certificate", None)
    model = kind(task["kind"], **options)
    begin = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - begin
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return {"seconds": seconds, "features": int(np.count_nonzero(w)), "value": value(task, w, b)}


def value(task: dict[str, Any], w: np.ndarray, b: float) -> float | None:
    """``1/2 ||w||^2 + 1/2 b^2 + C sum_i (1 - y_i s_i)_+^2`` of a squared hinge."""
    if task["kind"] != "squared_hinge":
        return None
    X, y = sp.load_npz(task["X"]), np.load(task["y"])
    short = np.maximum(0.0, 1.0 - y * (X @ w + b))
    return float(0.5 * (w @ w + b * b) + task["options"]["C"] * (short @ short))


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(fit(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
