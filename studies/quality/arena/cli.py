"""Options, the order of work, and the end."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from studies.common.options import (
    add_state_options,
    finish,
    folder_of,
    make_parser,
    result_file,
    start,
)
from studies.common.progress import log
from studies.common.saved_runs import Task, run_saved
from studies.common.tables import print_note
from studies.quality.arena.board import RULES
from studies.quality.arena.cells import Unit, is_out_of_date, play
from studies.quality.arena.claims import all_claims
from studies.quality.arena.methods import ALL_FEATURES, KS, MAIN_KS, METHODS, TARGET_SETS, TARGETS
from studies.quality.arena.packed import PLAYED, pack, unpack
from studies.quality.arena.report import show_scores
from studies.quality.arena.sets import SETS, load_set, tasks_of
from studies.quality.arena.side_tables import show_claims, show_side_tables
from studies.quality.arena.stability import STABILITY_TASKS, key_of, resample

DESCRIPTION = "Exactly k features: our models beside the usual ones, under the same rules for all."
#: Stands for us in claims and pairs; the second until the first is there.
REFERENCES = ("ScoreSieve", "MeasureSVC tight")
#: Classes are taken with this stride, so that a part of them is spread over all.
STRIDE = 4
QUICK = {"sets": ["reuters120"], "ks": [10], "n_classes": 2, "folds": 3}
QUICK_METHODS = ("ScoreSieve", "MeasureSVC tight", "l1-SVM balanced", "SVM-RFE", "chi2")
#: Rough cost of a set beside News20.
COSTS = {"reuters120": 0.8, "sector12": 0.5, "url": 2.0, "news20_binary": 5.0, "generated": 8.0}
SMALL_COST = 0.2


def units_of(args: argparse.Namespace, name: str, labels: Sequence[int]) -> Iterator[Unit]:
    """Everything that is played on a set."""
    for label in labels:
        for method_name in args.methods:
            method = METHODS[method_name]
            ks = [k for k in args.ks if k in MAIN_KS or args.all_k or not method.main_ks_only]
            if method_name == ALL_FEATURES:
                ks = [0]
            targets = [t for t in args.targets if t in (method.targets or TARGETS[:1])]
            for target in targets:
                if target != TARGETS[0]:
                    ks = [k for k in ks if k in MAIN_KS and name in TARGET_SETS]
                for some in [tuple(ks)] if method.one_run else [(k,) for k in ks]:
                    if some:
                        yield Unit(name, label, method_name, some, target, args.folds)


def stage(unit: Unit) -> int:
    """The main k for F1 first, then other measures, then the other k."""
    if unit.target != TARGETS[0]:
        return 1
    return 0 if METHODS[unit.method].one_run or unit.ks[0] in MAIN_KS else 2


def spread(labels: Sequence[int]) -> list[int]:
    """``0, 4, 8, ..., 1, 5, 9, ...``"""
    return [label for first in range(STRIDE) for label in labels[first::STRIDE]]


def stability_units(args: argparse.Namespace, name: str, labels: Sequence[int]) -> Iterator[Unit]:
    """The half-samples of a set."""
    ks = tuple(k for k in MAIN_KS if k in args.ks)
    for label in labels[: STABILITY_TASKS.get(name, 0)]:
        for method in args.methods:
            if ks and method != ALL_FEATURES:
                yield Unit(name, label, method, ks, TARGETS[0], args.folds)


def cost_of(unit: Unit) -> float:
    """Seconds on one core, roughly."""
    method = METHODS[unit.method]
    n_fits = 1 if method.tunes_itself else unit.n_parts + 1
    one = method.seconds * n_fits * (1 if method.one_run else len(unit.ks))
    return COSTS.get(unit.name, 1.0 if unit.name == "news20" else SMALL_COST) * (one + 3.0)


def tasks(args: argparse.Namespace) -> list[tuple[Any, Task, float]]:
    """(key, work, cost) in the order in which a part of it says most."""
    folder, units, halves = folder_of(args), [], []
    for name in args.sets:
        labels = spread(tasks_of(name, load_set(folder, name)[0])[:: args.every])[: args.n_classes]
        units += units_of(args, name, labels)
        if not args.no_stability:
            halves += stability_units(args, name, labels)
    staged: list[list[tuple[Any, Task, float]]] = [[], [], []]
    for unit in units:
        staged[stage(unit)].append((unit.key, partial(play, folder, unit), cost_of(unit)))
    for unit in halves:
        staged[1].append((key_of(unit), partial(resample, folder, unit), cost_of(unit)))
    return [each for some in staged for each in some]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = make_parser("quality.arena", DESCRIPTION)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--ks", "--k", nargs="+", type=int, default=list(KS), metavar="K")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--folds", type=int, default=5, help="parts of the cross-fitting")
    parser.add_argument("--every", type=int, default=1, help="take every n-th class only")
    parser.add_argument("--n-classes", type=int, help="at most so many classes of a set")
    parser.add_argument("--all-k", action="store_true", help="every k for our slow models, too")
    parser.add_argument("--no-stability", action="store_true", help="no half-samples")
    parser.add_argument("--reference", choices=list(METHODS), help="stands for us in the claims")
    parser.add_argument("--better", choices=RULES, default=RULES[0], help="of own model and refit")
    parser.add_argument("--stored", action="store_true", help="tables of the state; run nothing")
    parser.add_argument(
        "--again", nargs="+", choices=list(METHODS), default=[], help="run these though stored"
    )
    add_state_options(parser, "cells")
    parser.add_argument(
        "--played",
        type=Path,
        nargs="?",
        const=PLAYED,
        help="begin a new state with packed cells, by default those that come with the study",
    )
    parser.add_argument("--pack", type=result_file, help="write the state there, packed")
    parser.add_argument("--figure", type=result_file, help="draw the mean ranks to this PNG file")
    args = parser.parse_args(arguments)
    if args.quick:
        for name, value in QUICK.items():
            setattr(args, name, value)
        args.methods = [name for name in args.methods if name in QUICK_METHODS]
    if args.state is None and (args.played is not None or args.pack is not None):
        parser.error("--played and --pack are about a state file; give --state FILE, too")
    if args.reference is None:
        args.reference = next(name for name in REFERENCES if name in METHODS)
    return args


def main(arguments: Sequence[str] | None = None) -> None:
    args = parse(arguments)
    if "abess" not in METHODS:
        log("abess is not installed, so that it does not take part: pip install abess")
    if args.played is not None:
        unpack(args.played, args.state)
    found = tasks(args)
    costs = [task[2] for task in found]
    work = [task[:2] for task in found]
    is_old = partial(is_out_of_date, changed=args.again)
    rows = run_saved(work, args.state, args.jobs, costs, only_stored=args.stored, is_old=is_old)
    ranks = show_scores(rows, args.reference, args.better)
    show_side_tables(rows)
    claims = all_claims(rows, args.reference, args.better)
    show_claims(claims, args.reference)
    if "ScoreSieve" not in METHODS:
        print_note(f"ScoreSieve is not there yet; {args.reference} stands for it.")
    if args.figure is not None and ranks:
        draw_ranks(args, ranks[0])
    if args.pack is not None:
        pack(args.state, args.pack)
    finish(args, {"ranks": ranks, "claims": [claim._asdict() for claim in claims], "rows": rows})


def draw_ranks(args: argparse.Namespace, table: dict[str, Any]) -> None:
    """The critical-difference plot of the first table of ranks."""
    import numpy as np

    from studies.quality.arena.figure import draw

    title = f"Mean ranks for F1, {table['n_cells']} cells of {table['n_tasks']} tasks"
    draw(table["names"], np.array(table["ranks"]), table["difference"], title, args.figure)


def run() -> None:
    """The command."""
    start(main)
