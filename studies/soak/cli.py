"""``python -m studies.soak PROGRAM``: run one, keep its result, and print it as a line of JSON."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from studies.common.storing import versions, write_text
from studies.soak.kernels import run_kernels
from studies.soak.loaders.blocks import BlockFolders
from studies.soak.loaders.models import CommandLineFiles, ModelFiles
from studies.soak.loaders.svmlight import SvmlightFiles
from studies.soak.numerics.program import run_numerics
from studies.soak.signals import run_signals
from studies.soak.tally import Clock, Run, Tally
from studies.soak.watched import run_watched

#: Of each program: what runs, the cases of a full run, and its limit in seconds.
PROGRAMS: dict[str, tuple[Callable[[Run, Path], Tally], int, int]] = {
    "models": (partial(run_watched, ModelFiles), 100_000, 3600),
    "command-line-models": (partial(run_watched, CommandLineFiles), 100_000, 3600),
    "blocks": (partial(run_watched, BlockFolders), 100_000, 3600),
    "kernels": (run_kernels, 90, 3600),
    "numerics": (run_numerics, 20_000, 3600),
    "signals": (run_signals, 500, 3600),
    "svmlight": (partial(run_watched, SvmlightFiles), 100_000, 3600),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.soak", description="Try to break the package."
    )
    parser.add_argument("program", choices=[*PROGRAMS, "all"])
    parser.add_argument("--cases", type=int, help="how many; each program has its own default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="end after these; 3600 unless told")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="begin at this case")
    parser.add_argument("--results", type=Path, default=None, help="folder to keep the result in")
    args = parser.parse_args(arguments)
    names = list(PROGRAMS) if args.program == "all" else [args.program]
    n_failures = 0
    for name in names:
        line = run_program(name, args)
        print(json.dumps(line), flush=True)
        n_failures += line["failures"]
        if args.results is not None:
            write_text(args.results / f"{name}.json", json.dumps(line, indent=1) + "\n")
    return int(n_failures > 0)


def run_program(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Its result as plain data."""
    program, cases, seconds = PROGRAMS[name]
    run = Run(args.cases or cases, args.seed, args.seconds or seconds, args.first)
    clock = Clock(run)
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None  # many small files, each synced
    with tempfile.TemporaryDirectory(prefix="scoresieve-soak-", dir=place) as folder:
        tally = program(run, Path(folder).resolve())
    return tally.line(run, clock.spent()) | {"versions": versions()}
