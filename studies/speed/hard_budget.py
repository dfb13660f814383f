"""Exactly k features: the time of the search beside an older checkout, and beside the l1-SVM.

Run ``python -m studies.speed.hard_budget --data FOLDER --before CHECKOUT``, with nothing else on
the machine. Ten classes of Reuters-120 with 20 to 150 positives and three of News20, k = 10 and 50,
the squared hinge (C = 1), F1 and PRBEP (C = 3): both checkouts in turn, each in a process of its
own, the least of the repeats; with and without a certificate where there is a choice. The l1-SVM
is fitted for one C after the other, each 1.5 times the last, until it has k features.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from studies.common.data import load
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import geometric_mean, timed
from studies.quality.arena.outsiders import by_l1, l1_svm
from studies.speed.reuters import choose_classes

HERE = Path(__file__).resolve()
OURS = HERE.parents[2]
NEWS20_CLASSES = (2, 9, 13)
KS = (10, 50)
#: Class, what it is made for, C, and the share of the older time that is wanted.
MODELS = (
    ("BudgetClassifier", "squared_hinge", 1.0, 0.1),
    ("MeasureSVC", "f1", 3.0, 0.25),
    ("MeasureSVC", "prbep", 3.0, 0.25),
)


class Checkout:
    """A process that fits with the package of one checkout."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"}
        environment["OPENBLAS_NUM_THREADS"] = "1"
        command = [sys.executable, str(HERE.with_name("hard_budget_worker.py"))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def fit(self, task: dict[str, Any]) -> dict[str, Any]:
        """One fit."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process of a checkout has ended; its last words are above.")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def problems(args: argparse.Namespace) -> Iterator[tuple[str, int, Any, np.ndarray]]:
    """Set, class, X and y."""
    reuters = load(folder_of(args), "reuters120")
    for label, _ in choose_classes(reuters.y, 2 if args.quick else args.classes):
        yield "reuters120", label, reuters.X, reuters.labels(label)[0]
    news20 = load(folder_of(args), "news20")
    for label in () if args.quick else NEWS20_CLASSES:
        yield "news20", label, news20.X, news20.labels(label)[0]


def compare(
    checkouts: dict[str, Checkout], task: dict[str, Any], n_repeats: int
) -> dict[str, dict[str, Any]]:
    """The fastest fit of each checkout, with and without a certificate, in turn."""
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(n_repeats):
        for name, checkout in checkouts.items():
            for certificate in (False, True) if name == "now" else (True,):
                options = {**task["options"], "certificate": certificate}
                fit = checkout.fit({**task, "options": options})
                found.setdefault(name + " certified" * certificate, []).append(fit)
    return {name: min(fits, key=lambda fit: fit["seconds"]) for name, fits in found.items()}


def measure(args: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each class, k and model."""
    with ExitStack() as stack:
        checkouts = {"now": stack.enter_context(closing(Checkout(OURS)))}
        if args.before is not None:
            checkouts["before"] = stack.enter_context(closing(Checkout(args.before.resolve())))
        yield from measure_all(args, folder, checkouts)


def measure_all(
    args: argparse.Namespace, folder: Path, checkouts: dict[str, Checkout]
) -> Iterator[dict[str, Any]]:
    """The rows of :func:`measure`, by processes that have begun."""
    for name, label, X, y in problems(args):
        files = {"X": str(folder / "X.npz"), "y": str(folder / "y.npy")}
        sp.save_npz(files["X"], sp.csr_matrix(X), compressed=False)
        np.save(files["y"], y)
        for k in KS:
            l1_seconds, _ = timed(lambda X=X, y=y, k=k: by_l1(l1_svm, None, X, y, [k], None, ""))
            for kind, what, C, wanted in MODELS:
                options = {"C": C, "n_features_to_select": k}
                task = {**files, "class": kind, "kind": what, "options": options}
                times = compare(checkouts, task, args.repeats)
                about = {"set": name, "label": label, "k": k, "model": what, "wanted": wanted}
                yield {**about, "l1": l1_seconds, "fits": times}
                log(f"{name} {label}, k = {k}, {what}: {times['now']['seconds']:.2f} s")


def seconds_of(rows: list[dict[str, Any]], name: str) -> float:
    """The geometric mean of the times."""
    return geometric_mean([row["fits"][name]["seconds"] for row in rows])


def show(rows: list[dict[str, Any]], has_before: bool) -> None:
    """A line for each set, model and k, and what was wanted."""
    lines, older = [], "before certified"
    keys = sorted({(row["set"], row["model"], row["k"]) for row in rows})
    for key in keys:
        mine = [row for row in rows if (row["set"], row["model"], row["k"]) == key]
        now, certified = seconds_of(mine, "now"), seconds_of(mine, "now certified")
        line = [*map(str, key), f"{now:.3f}", f"{certified:.3f}"]
        if has_before:
            before = seconds_of(mine, older)
            line += [f"{before:.3f}", f"{now / before:.3f}", f"{certified / before:.3f}"]
        lines.append([*line, f"{geometric_mean([row['l1'] for row in mine]):.3f}"])
    titles = ["set", "model", "k", "s", "certified"]
    titles += ["before", "ratio", "certified"] if has_before else []
    print_table([*titles, "l1-SVM search"], lines)
    for what in dict.fromkeys(row["model"] for row in rows) if has_before else ():
        mine = [row for row in rows if row["model"] == what]
        for name in ("now", "now certified"):
            ratio, wanted = seconds_of(mine, name) / seconds_of(mine, older), mine[0]["wanted"]
            print_note(
                f"{what}, {name}: {ratio:.3f} of the time before, wanted at most {wanted:g}: "
                f"{pass_or_fail(ratio <= wanted)}."
            )
    ratios = [row["fits"]["now"]["seconds"] / row["l1"] for row in rows]
    print_note(
        f"Without a certificate: {geometric_mean(ratios):.3f} of the time of the l1-SVM's search, "
        f"at most {max(ratios):.2f}: {pass_or_fail(geometric_mean(ratios) <= 1.0)}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.hard_budget", __doc__)
    parser.add_argument("--before", type=Path, help="an older checkout, or a folder with its src")
    parser.add_argument("--classes", type=int, default=10, help="of Reuters-120")
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(args, Path(folder)))
    show(rows, args.before is not None)
    finish(args, {"rows": rows})


if __name__ == "__main__":
    start(main)
