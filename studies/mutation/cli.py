"""``python -m studies.mutation``: try a sample of mutants of each group, and count."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from studies.common.progress import Progress, log
from studies.common.storing import Store, write_text
from studies.common.tables import print_table
from studies.mutation.children import load_slow_parts
from studies.mutation.groups import GROUPS
from studies.mutation.mutants import Mutant, mutants_of
from studies.mutation.page import HEAD, row_of
from studies.mutation.tracing import trace
from studies.mutation.trying import Verdict, quickest, tests_for, try_mutant

SOURCE = Path("src")
RESULTS = Path(__file__).parent / "results"
#: Expected CPU seconds of a mutant, for the time left.
SECONDS_EACH = 4.0


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code is 1 if fewer mutants than ``--least`` percent are killed in a group."""
    args = _parser().parse_args(arguments)
    load_slow_parts()
    threadpool_limits(1)  # a fork takes the limit along
    lines = []
    for name in args.groups or GROUPS:
        line = run_group(name, args)
        lines.append(line)
        if not args.label:
            write_text(args.results / f"{name}.json", json.dumps(line, indent=1) + "\n")
    print_table(HEAD, [row_of(line) for line in lines])
    for line in lines:
        for each in line["survivors"]:
            print(f"{each['outcome']}: line {each['line']} of {each['label']}", flush=True)
    return int(any(line["percent"] < args.least for line in lines))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m studies.mutation", description=__doc__.splitlines()[0]
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; all")
    parser.add_argument("--share", type=float, default=1.0, help="of the mutants; all unless told")
    parser.add_argument("--most", type=int, default=10**9, help="mutants of a group at most")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--marks", default="not slow", help="which tests, as for pytest -m")
    parser.add_argument(
        "--seconds", type=float, default=inf, help="of tests for a mutant, the quick ones first"
    )
    parser.add_argument("--again", action="store_true", help="try again what survived before")
    parser.add_argument("--label", default="", help="only mutants whose label holds this text")
    parser.add_argument("--least", type=float, default=85.0, help="percent that must be killed")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument(
        "--state", type=Path, default=Path(".mutation"), help="folder; a later run goes on from it"
    )
    return parser


def sample(mutants: list[Mutant], share: float, most: int, seed: int) -> list[Mutant]:
    """A share of the mutants, the same for the same seed; smaller shares are parts of larger."""
    shuffled = list(mutants)
    random.Random(seed).shuffle(shuffled)
    chosen = shuffled[: min(most, round(share * len(mutants)))]
    return sorted(chosen, key=lambda each: (each.path, each.number))


def run_group(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Its result as plain data."""
    group = GROUPS[name]
    paths = group.paths(SOURCE)
    everything = [mutant for path in paths for mutant in mutants_of(SOURCE, path)]
    chosen = sample(everything, args.share, args.most, args.seed)
    chosen = [mutant for mutant in chosen if args.label in mutant.label]
    files = [SOURCE / path for path in paths]
    log(f"{name}: {len(chosen)} of {len(everything)} mutants; tracing the tests")
    traces = [trace(each, files, args.marks, args.state) for each in group.test_files(Path.cwd())]
    for file in files:
        if not any(each.tests_of.get(str(file)) for each in traces):
            raise RuntimeError(f"no test of the group {name!r} loads {file}; add one to GROUPS.")
    store = Store(args.state / f"{name}.jsonl")
    todo = [mutant for mutant in chosen if _is_open(mutant, store, args.again)]
    progress = Progress(name, [SECONDS_EACH] * len(todo), 1, len(chosen) - len(todo))
    for mutant in todo:
        tests = quickest(tests_for(mutant, SOURCE, traces), args.seconds)
        verdict = try_mutant(mutant, SOURCE, tests)
        store.append(_key(mutant), verdict._asdict(), verdict.cpu_seconds, [])
        progress.step(SECONDS_EACH, f"{verdict.outcome} {mutant.label}", verdict.cpu_seconds)
    verdicts = [Verdict(**store.result(_key(mutant))) for mutant in chosen]
    return _summary(name, args.seed, len(everything), chosen, verdicts)


def _key(mutant: Mutant) -> str:
    digest = hashlib.sha256((SOURCE / mutant.path).read_bytes()).hexdigest()[:12]
    return json.dumps({"label": mutant.label, "content": digest}, sort_keys=True)


def _is_open(mutant: Mutant, store: Store, again: bool) -> bool:
    key = _key(mutant)
    if key not in store:
        return True
    return again and store.result(key)["outcome"] in ("survived", "untested")


def _summary(
    name: str, seed: int, n_all: int, chosen: list[Mutant], verdicts: list[Verdict]
) -> dict[str, Any]:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    survivors = [
        {"label": mutant.label, "line": mutant.lines[0], "outcome": verdict.outcome}
        for mutant, verdict in zip(chosen, verdicts, strict=True)
        if verdict.outcome in ("survived", "untested")
    ]
    n_killed = len(chosen) - len(survivors)
    return {
        "group": name,
        "seed": seed,
        "mutants": n_all,
        "tried": len(chosen),
        "outcomes": dict(sorted(outcomes.items())),
        "percent": round(100.0 * n_killed / max(1, len(chosen)), 1),
        "survivors": survivors,
    }
