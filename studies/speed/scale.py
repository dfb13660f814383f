"""A fit larger than memory: time beside that of its passes, memory beside mapped pages, and rivals.

Generated text of ``--nonzeros`` entries, for one size or several, is written as row blocks. Each
method runs in a process of its own: ours on the blocks, ``SGDClassifier.partial_fit`` on one block
after the other, and liblinear on a matrix in memory, if that has room for it.

``python -m studies.speed.scale --worker METHOD FOLDER`` is such a process; it prints JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from scoresieve import BudgetClassifier, MeasureSVC
from scoresieve.design import RowBlocks, open_blocks
from scoresieve.measures import get_measure
from studies.common.internals import counted_passes
from studies.common.options import finish, make_parser, start
from studies.common.progress import log
from studies.common.tables import number, pass_or_fail, print_note, print_table
from studies.common.timing import timed
from studies.speed.large_text import TextSize, make_text

GIGABYTE = 2.0**30
#: Targets: anonymous memory in GiB, and time as a multiple of that of the passes.
MOST_MEMORY, MOST_TIMES = 2.0, 3.0
#: Of our fit, and of the rivals'.
BUDGET, MAX_MEMORY = 50, 3 * 2**29
SGD_EPOCHS, SGD_ALPHA, LIBLINEAR_C = 5, 1e-5, 1.0
#: Bytes a non-zero that liblinear needs: its own copy, by rows and by columns, and the matrix.
LIBLINEAR_BYTES = 60
#: Seconds between two looks at the memory.
INTERVAL = 0.02
#: Our models: the first, and with exactly as many features, for the measure and for a loss.
OURS = {
    "scoresieve": MeasureSVC("f1", budget=BUDGET, max_iter=200),
    "exactly-f1": MeasureSVC("f1", n_features_to_select=BUDGET),
    "exactly-loss": BudgetClassifier(n_features_to_select=BUDGET),
}
METHODS = (*OURS, "sgd", "liblinear")


class AnonymousPeak:
    """The most memory of this process at once, pages of mapped files aside, in bytes."""

    def __init__(self) -> None:
        self.peak, self._ended = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> AnonymousPeak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            self.peak = max(self.peak, status_bytes("/proc/self/status", "RssAnon"))


def status_bytes(path: str, name: str) -> float:
    """An entry of a file of the system in bytes; NaN where there is none."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return float("nan")
    found = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return 1024.0 * int(found[0]) if found else float("nan")


def fit_ours(
    train: RowBlocks, model: Any
) -> tuple[Callable[[RowBlocks], np.ndarray], dict[str, Any]]:
    """A model of this package on the blocks, with the passes that it made."""
    with counted_passes() as counts:
        seconds, _ = timed(lambda: model.fit(train, train.labels))
    return model.decision_function, {
        "n_passes": counts.n_passes,
        "pass_seconds": counts.seconds,
        "fit_seconds": seconds,
        "gap": float(model.gap_[0]),
        "n_features": int(model.n_features_selected_),
    }


def fit_sgd(train: RowBlocks) -> tuple[Callable[[RowBlocks], np.ndarray], dict[str, Any]]:
    """Epochs of ``partial_fit`` with the l1 norm."""
    model, begin = SGDClassifier(penalty="l1", alpha=SGD_ALPHA, random_state=0), perf_counter()
    for _ in range(SGD_EPOCHS):
        for places, rows in train.pieces():
            model.partial_fit(rows, train.labels[places], classes=[0, 1])
    seconds = perf_counter() - begin
    return by_pieces(model.decision_function), {
        "fit_seconds": seconds,
        "n_features": int(np.count_nonzero(model.coef_)),
    }


def fit_liblinear(train: RowBlocks) -> tuple[Callable[[RowBlocks], np.ndarray], dict[str, Any]]:
    """Liblinear's l1-SVM on all rows in memory."""
    X = sparse.vstack([rows for _, rows in train.pieces()], format="csr")
    model = LinearSVC(penalty="l1", dual=False, C=LIBLINEAR_C, random_state=0)
    seconds, _ = timed(lambda: model.fit(X, train.labels))
    return by_pieces(model.decision_function), {
        "fit_seconds": seconds,
        "n_features": int(np.count_nonzero(model.coef_)),
    }


def by_pieces(decide: Callable[[Any], np.ndarray]) -> Callable[[RowBlocks], np.ndarray]:
    """Decisions for rows that are not in memory together."""
    return lambda X: np.concatenate([decide(rows) for _, rows in X.pieces()])


FITS = {
    **{name: partial(fit_ours, model=model) for name, model in OURS.items()},
    "sgd": fit_sgd,
    "liblinear": fit_liblinear,
}


def worker(method: str, folder: Path) -> dict[str, Any]:
    """One method on one problem."""
    limit = MAX_MEMORY if method in OURS else None
    train, test = (open_blocks(folder / name, max_memory=limit) for name in ("train", "test"))
    with AnonymousPeak() as memory:
        decide, answer = FITS[method](train)
        threshold = best_threshold(train.labels, decide(train))
        decision = decide(test)
    answer["anonymous_bytes"] = memory.peak
    answer["f1"] = float(f1_score(test.labels, decision > 0.0))
    answer["f1_tuned"] = float(f1_score(test.labels, decision > threshold))
    return answer


def best_threshold(y: np.ndarray, scores: np.ndarray) -> float:
    """Where F1 of the training rows is highest."""
    return get_measure("f1").threshold(np.where(y > 0, 1.0, -1.0), scores)


def in_process(method: str, folder: Path, max_time: float) -> dict[str, Any]:
    """A worker's answer, or why there is none."""
    command = [sys.executable, "-m", "studies.speed.scale", "--worker", method, str(folder)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=max_time)
    except subprocess.TimeoutExpired:
        return {"trouble": f"not done in {max_time:.0f} s"}
    if done.returncode:
        return {"trouble": f"ended with status {done.returncode}"}
    return json.loads(done.stdout)


def has_room(n_nonzeros: int) -> bool:
    """Whether liblinear would have the memory that it needs."""
    return status_bytes("/proc/meminfo", "MemAvailable") > LIBLINEAR_BYTES * n_nonzeros


def one_size(args: Any, n_nonzeros: int, folder: Path) -> dict[str, Any]:
    """All methods on one size."""
    size = TextSize(n_nonzeros)
    seconds, (train, _) = timed(lambda: make_text(size, folder))
    entry: dict[str, Any] = {"n_nonzeros": train.n_entries, "shape": train.shape}
    log(f"{train!r}: written in {seconds:.1f} s")
    for method in METHODS:
        if method == "liblinear" and not has_room(train.n_entries):
            entry[method] = {"trouble": "no room in memory"}
            continue
        entry[method] = in_process(method, folder, args.max_time)
        log(f"{method}: {entry[method]}")
    return entry


def row_of(entry: dict[str, Any], method: str) -> list[Any]:
    """A line of the table."""
    found, (n, m) = entry[method], entry["shape"]
    begin = [f"{entry['n_nonzeros']:.2g}", f"{n:,} x {m:,}", method]
    if "trouble" in found:
        return [*begin, None, None, None, None, None, None, found["trouble"]]
    times = found["fit_seconds"] / found["pass_seconds"] if "pass_seconds" in found else None
    return [
        *begin,
        number(found["fit_seconds"], 1),
        number(times),
        number(found["anonymous_bytes"] / GIGABYTE),
        found["n_features"],
        number(100 * found["f1"], 1),
        number(100 * found["f1_tuned"], 1),
        f"gap {found['gap']:.3f}, {found['n_passes']}" if "gap" in found else "",
    ]


HEAD = [
    *("non-zeros", "shape", "method", "fit, s", "of its passes", "memory, GiB", "features"),
    *("test F1, %", "at the best threshold", ""),
]


def extrapolated(entries: list[dict[str, Any]], n_nonzeros: float) -> dict[str, float]:
    """Time and memory at another size, as lines through the last two sizes measured."""
    sizes = [entry["n_nonzeros"] for entry in entries[-2:]]
    found = {}
    for name in ("fit_seconds", "pass_seconds", "anonymous_bytes"):
        values = [entry["scoresieve"][name] for entry in entries[-2:]]
        slope = (values[1] - values[0]) / (sizes[1] - sizes[0])
        found[name] = values[1] + slope * (n_nonzeros - sizes[1])
    return found


def report(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The table, how the targets stand, and what ten times as much would take."""
    print_table(HEAD, [row_of(entry, method) for entry in entries for method in METHODS], n_left=3)
    ours = [entry for entry in entries if "trouble" not in entry["scoresieve"]]
    for entry, method in product(ours, OURS):
        found = entry[method]
        if "trouble" in found:
            continue
        memory = found["anonymous_bytes"] / GIGABYTE
        times = found["fit_seconds"] / found["pass_seconds"]
        passed = memory < MOST_MEMORY and times <= MOST_TIMES
        print_note(
            f"{method}, {entry['n_nonzeros']:.2g} non-zeros: {memory:.2f} GiB (below "
            f"{MOST_MEMORY:g}), {times:.2f} times its passes (at most {MOST_TIMES:g}): "
            f"{pass_or_fail(passed)}."
        )
    if len(ours) < 2:
        return {}
    wanted = 10.0 * ours[-1]["n_nonzeros"]
    far = extrapolated(ours, wanted)
    print_note(
        f"{wanted:.2g} non-zeros, by a line through the last two sizes: "
        f"{far['fit_seconds']:.0f} s, {far['anonymous_bytes'] / GIGABYTE:.1f} GiB."
    )
    return far


def main(options: list[str] | None = None) -> None:
    parser = make_parser("speed.scale", __doc__ or "", data=False)
    parser.add_argument("--nonzeros", type=float, nargs="+", default=[2e7, 2e8])
    parser.add_argument("--folder", type=Path, help="where blocks are kept; a temporary one else")
    parser.add_argument("--max-time", type=float, default=3600.0, help="seconds for each method")
    parser.add_argument("--worker", nargs=2, metavar=("METHOD", "FOLDER"), help="one process")
    args = parser.parse_args(options)
    if args.worker is not None:
        print(json.dumps(worker(args.worker[0], Path(args.worker[1]))))
        return
    sizes = [200_000, 400_000] if args.quick else sorted(int(each) for each in args.nonzeros)
    with tempfile.TemporaryDirectory() as temporary:
        kept = args.folder or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        entries = []
        for size in sizes:
            place = kept / str(size)
            place.mkdir(exist_ok=True)
            entries.append(one_size(args, size, place))
    far = report(entries)
    finish(args, {"sizes": entries, "extrapolated": far})


if __name__ == "__main__":
    start(main)
