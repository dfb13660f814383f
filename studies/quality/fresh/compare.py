"""Play the tasks, and print means, leads and their standard errors."""

from __future__ import annotations

import argparse
import json
import lzma
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from studies.common.options import add_state_options, finish, make_parser, result_file
from studies.common.saved_runs import run_saved
from studies.common.tables import print_note, print_table
from studies.quality.arena.board import Board, Cell, make_board
from studies.quality.arena.cells import Unit, cells
from studies.quality.arena.layout import bold_best, heading
from studies.quality.arena.methods import METHODS
from studies.quality.arena.packed import pack
from studies.quality.fresh.tasks import load_collection, load_task, names_in
from studies.quality.quiet import quiet_thread

DESCRIPTION = "ScoreSieve beside outsiders on text that no choice was ever made on."
OURS = "ScoreSieve"
OUTSIDERS = (
    *("l1-SVM", "l1-SVM balanced", "l1 logistic", "l1 logistic balanced"),
    *("SVM-RFE", "SVM-RFE balanced", "chi2"),
)
KS = (5, 10, 20, 50, 100)
N_PARTS = 5
#: A lead is claimed if it is above so many standard errors.
ERRORS = 2.0
#: Which form of an outsider counts: the arena's name of the rule, and words for it.
RULES = {
    "cv": "outsiders with the form of the higher cross-validated F1 (what a user gets)",
    "set": "outsiders with the form of the higher F1 on test rows (which favours them)",
}
#: What is kept of a cell.
KEPT = ("kind", "set", "class", "positives", "k", "method", "form", "target", "cv", "f1", "limit")
#: The cells that the documents are about.
PLAYED = Path(__file__).with_name("played.jsonl.xz")
#: Seconds of one task, roughly, ours and an outsider.
SECONDS = (12.0, 1.5)


class Lead(NamedTuple):
    """Of us over another: the mean over tasks, its standard error, that over collections."""

    mean: float
    over_tasks: float
    over_collections: float

    @property
    def is_clear(self) -> bool:
        """Whether it may be claimed."""
        return self.mean > ERRORS * self.over_tasks


def standard_error(values: Sequence[float] | np.ndarray) -> float:
    """Of a mean; infinite for a single value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf


def lead_of(gains: np.ndarray, groups: Sequence[str]) -> Lead:
    """The mean of paired differences; over collections it is the error of the mean of means."""
    names = np.asarray(groups)
    means = [float(np.mean(gains[names == name])) for name in dict.fromkeys(groups)]
    return Lead(float(np.mean(gains)), standard_error(gains), standard_error(means))


def play(folder: Path, unit: Unit) -> list[dict[str, Any]]:
    """The cells of a method on a task, at all k."""
    task = load_task(folder, unit.name, unit.label)
    n_rows, n_columns = task.X.shape
    about = {
        "name": load_collection(folder, unit.name).classes[unit.label],
        "rows": n_rows,
        "columns": n_columns,
        "test_positives": int(np.sum(task.y_test > 0)),
    }
    with quiet_thread():
        warnings.filterwarnings("ignore", message="columns of X differ", category=UserWarning)
        rows = list(cells(task, METHODS[unit.method], unit))
    return [{name: row[name] for name in KEPT if name in row} | about for row in rows]


def units_of(args: argparse.Namespace) -> list[Unit]:
    """Everything, task by task; the first class of each collection, then the second, and so on."""
    names = names_in(args.data)
    places = {name: range(len(load_collection(args.data, name).classes)) for name in names}
    tasks = sorted((place, name) for name in names for place in places[name])
    if args.quick:
        tasks = tasks[:2]
    ks = KS[:2] if args.quick else KS
    methods = (OURS, *OUTSIDERS)
    return [Unit(n, place, method, ks, "f1", N_PARTS) for place, n in tasks for method in methods]


def stored_rows(path: Path) -> list[dict[str, Any]]:
    """The cells that were packed."""
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    return [row for line in lines for row in json.loads(line)["result"]]


def gains_of(board: Board, outsider: str, k: int) -> tuple[list[Cell], np.ndarray]:
    """The tasks, and how far we are ahead on each."""
    found, values = board.common([OURS, outsider], [k])
    return found, values[:, 0] - values[:, 1]


def leads_of(board: Board, k: int) -> dict[str, Lead]:
    """Over each outsider."""
    leads = {}
    for outsider in OUTSIDERS:
        found, gains = gains_of(board, outsider, k)
        leads[outsider] = lead_of(gains, [cell.name for cell in found])
    return leads


def nearest_of(leads: dict[str, Lead]) -> str:
    """The outsider that we are least ahead of in the mean."""
    return min(leads, key=lambda name: leads[name].mean)


def show_rule(board: Board, words: str) -> dict[int, dict[str, Lead]]:
    """Means and the least lead, with what may be claimed; then all leads with both errors."""
    ks = board.ks()
    n_tasks = len({cell.task for cell in board.values})
    heads = [f"k = {k}" for k in ks]
    methods = (OURS, *OUTSIDERS)
    values = [board.common(methods, [k])[1].mean(axis=0) for k in ks]
    columns = [bold_best(each.tolist()) for each in values]
    leads = {k: leads_of(board, k) for k in ks}
    least = [leads[k][nearest_of(leads[k])] for k in ks]
    clear = [all(each.is_clear for each in leads[k].values()) for k in ks]
    lines = [list(line) for line in zip(methods, *columns, strict=True)]
    lines += [
        ["lead over the nearest", *(f"{each.mean:+.2f}" for each in least)],
        ["its error over tasks", *(f"{each.over_tasks:.2f}" for each in least)],
        ["its error over collections", *(f"{each.over_collections:.2f}" for each in least)],
        [f"ahead of each by {ERRORS:g} errors over tasks", *("yes" if c else "no" for c in clear)],
    ]
    heading(f"{n_tasks} tasks of {len(board.sets())} collections, {words}")
    print_table(["mean test F1", *heads], lines)
    for title, field, form in (
        ("lead over", "mean", "+.2f"),
        ("its standard error over tasks", "over_tasks", ".2f"),
        ("its standard error over collections", "over_collections", ".2f"),
    ):
        lines = [
            [name, *(f"{getattr(leads[k][name], field):{form}}" for k in ks)] for name in OUTSIDERS
        ]
        print_table([title, *heads], lines)
    return leads


def show_collections(board: Board) -> None:
    """Where the lead comes from."""
    ks = board.ks()
    nearest = {k: nearest_of(leads_of(board, k)) for k in ks}
    lines = []
    for name in board.sets():
        line: list[Any] = [name, len({cell.task for cell in board.values if cell.name == name})]
        for k in ks:
            found, gains = gains_of(board, nearest[k], k)
            line.append(f"{np.mean(gains[[cell.name == name for cell in found]]):+.1f}")
        lines.append(line)
    heading("Lead over the outsider that is best in the mean, by collection")
    print_table(["collection", "tasks", *(f"k = {k}, {nearest[k]}" for k in ks)], lines)


def show(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """All tables."""
    found = {}
    for rule, words in RULES.items():
        board = make_board(rows, "f1", "f1", rule)
        leads = show_rule(board, words)
        found[rule] = {k: {n: each._asdict() for n, each in leads[k].items()} for k in leads}
        if board.n_dropped:
            print_note(f"{board.n_dropped} cells are left out, because a method lacks them.")
    show_collections(make_board(rows, "f1", "f1", "cv"))
    return found


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = make_parser("quality.fresh", DESCRIPTION)
    add_state_options(parser, "cells")
    parser.add_argument(
        "--stored", action="store_true", help="tables of the cells that come with it"
    )
    parser.add_argument("--pack", type=result_file, help="write the state there, packed")
    args = parser.parse_args(arguments)
    if args.pack is not None and args.state is None:
        parser.error("--pack is about a state file; give --state FILE, too")
    return args


def main(arguments: Sequence[str] | None = None) -> None:
    args = parse(arguments)
    if args.stored:
        rows = stored_rows(PLAYED)
    else:
        units = units_of(args)
        costs = [SECONDS[unit.method != OURS] for unit in units]
        work = [(("fresh", *unit.key[1:]), partial(play, args.data, unit)) for unit in units]
        rows = run_saved(work, args.state, args.jobs, costs)
        if args.pack is not None:
            pack(args.state, args.pack)
    finish(args, {"leads": show(rows), "rows": rows})
