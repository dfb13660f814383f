"""The command line: which experiments, with which data, into which folder."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.common.options import add_data_options
from studies.common.progress import duration, log
from studies.common.storing import Store
from studies.paper.context import Context, Unit
from studies.paper.data import missing_files
from studies.paper.report import write_page, write_section
from studies.paper.runner import Results, run_units

#: In the order of the page.
NAMES = (
    "sensitivity",
    "training_time",
    "accuracy_features",
    "sparsity",
    "image_retrieval",
    "documents",
    "tuned_thresholds",
)
GENERATED = "generated"
#: The results of a full run, which are part of the repository.
RESULTS = Path(__file__).parent / "results"


def make_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m studies.paper", description=__doc__)
    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        choices=(*NAMES, "all"),
        help=f"all, or some of {', '.join(NAMES)}",
    )
    add_data_options(parser, ", or 'generated' for small generated sets")
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=Path,
        help="results; by default studies/paper/results, or build/paper with --quick or "
        "generated data",
    )
    parser.add_argument("--quick", action="store_true", help="a small part, under two minutes")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    return parser


def make_context(args: argparse.Namespace) -> Context:
    """The options as the experiments need them."""
    generated = args.data == GENERATED
    small = args.quick or generated
    default_out = Path("build/paper") if small else RESULTS
    return Context(
        data=None if args.data is None or generated else Path(args.data),
        out=args.out or default_out,
        cache=args.cache,
        quick=args.quick,
        generated=generated,
        jobs=args.jobs,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments that were asked for; 2 if data sets were missing, else 0."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    if args.jobs < 1:
        parser.error(f"--jobs must be at least 1; got {args.jobs}")
    context = make_context(args)
    names = NAMES if "all" in args.names else [name for name in NAMES if name in args.names]
    prepared = [prepare(context, name) for name in names]
    seconds = sum(each.seconds_expected(context) for each in prepared)
    log(f"{len(prepared)} experiments, about {duration(seconds)} on {context.jobs} free cores")
    for each in prepared:
        each.run(context)
    log(f"wrote {write_page(context, NAMES)}")
    return 2 if any(each.missing for each in prepared) else 0


@dataclass(frozen=True, eq=False)
class Prepared:
    """An experiment before its run.

    Attributes
    ----------
    name : str
        One of ``NAMES``.
    available : list of str
        Its data sets that are there.
    missing : list of str
        A sentence for each file that is not.
    units : list of Unit
    store : Store
    """

    name: str
    available: list[str]
    missing: list[str]
    units: list[Unit]
    store: Store

    @property
    def module(self) -> Any:
        """The experiment itself."""
        return importlib.import_module(f"{__package__}.{self.name}")

    def seconds_expected(self, context: Context) -> float:
        """Of the units that are not stored yet."""
        costs = [unit.cost for unit in self.units if unit.key(context) not in self.store]
        return sum(costs) / getattr(self.module, "JOBS", context.jobs)

    def run(self, context: Context) -> None:
        """Do what is not stored yet, then write tables, figures and claims."""
        jobs = getattr(self.module, "JOBS", None)
        run_units(self.name, context, self.units, self.store, jobs=jobs)
        results = Results(context, self.units, self.store)
        section = self.module.present(context, results, self.available)
        section.notes += self.missing
        write_section(context, self.name, section, results.seconds)


def prepare(context: Context, name: str) -> Prepared:
    """Look for the data of an experiment, name those that are missing, and plan its units.

    Parameters
    ----------
    context : Context
    name : str
        One of ``NAMES``.
    """
    module = importlib.import_module(f"{__package__}.{name}")
    problems = {data: missing_files(context, data) for data in module.DATASETS}
    missing = [text for texts in problems.values() for text in texts]
    for text in missing:
        log(text)
    available = [data for data, texts in problems.items() if not texts]
    store = Store(context.out / "raw" / f"{name}.jsonl")
    return Prepared(name, available, missing, module.plan(context, available), store)
