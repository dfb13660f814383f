"""The parts of the package below its public interface that studies look into, in one place.

The studies of speed take the master problem apart: they need its two solvers, the problems that
fits ask for, and the time that Clarabel takes of it. The study of bounds puts risks of its own into
problems, and solvers of its own into the search for k features. The study of scale counts passes.
The study of paths asks for what ``ScoreSieve`` searches.
The soak runs make files whose checksums are right, and load what the command line loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from scoresieve.cli.running import run as run_command
from scoresieve.cli.tasks.model_file import load_model as load_command_line_model
from scoresieve.design.blocks.disk import DiskBlocks
from scoresieve.design.blocks.manifest import checksum_of as manifest_checksum
from scoresieve.design.groups import rows_of_group
from scoresieve.estimators.budget_model import default_C
from scoresieve.estimators.persistence.checksum import checksum_of as model_checksum
from scoresieve.estimators.sieve.plans import DEFAULT_CS, FINAL_CS
from scoresieve.estimators.sieve.selections import Selected, searched_path
from scoresieve.risks import CutWeights, DualPoint, MeasureRisk, Risk
from scoresieve.solvers import conic
from scoresieve.solvers.bundle import rounds
from scoresieve.solvers.bundle.master import solve_master
from scoresieve.solvers.bundle.scaled import MasterProblem, MasterSolution
from scoresieve.solvers.conic import ConicProgramme, run_clarabel, solve_master_conic
from scoresieve.solvers.hard_budget import search
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Limits, Status
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.splicing.fetched import FetchedColumns
from scoresieve.solvers.splicing.refits import (
    FINE_TOL,
    Refit,
    Refitter,
    columns_of_units,
    moved,
)
from studies.common.timing import timed

__all__ = [
    "DEFAULT_CS",
    "FINAL_CS",
    "FINE_TOL",
    "ConicProgramme",
    "CutWeights",
    "DualPoint",
    "Limits",
    "MasterCounts",
    "MasterProblem",
    "MasterSolution",
    "MeasureRisk",
    "PassCounts",
    "Problem",
    "Refit",
    "Refitter",
    "Risk",
    "Selected",
    "Status",
    "captured_masters",
    "clarabel_timed",
    "columns_of_units",
    "counted_masters",
    "counted_passes",
    "default_C",
    "load_command_line_model",
    "make_problem",
    "manifest_checksum",
    "model_checksum",
    "moved",
    "refits_by",
    "rows_of_group",
    "run_clarabel",
    "run_command",
    "selection_path",
    "solve_hard_budget",
    "solve_master",
    "solve_master_conic",
    "solve_problem",
]


def selection_path(problem: Problem, ks: Sequence[int], limits: Limits) -> list[Selected]:
    """The search of ``ScoreSieve`` for each k, from the k before."""
    return searched_path(problem, ks, limits, [], FetchedColumns(problem.design))


@contextmanager
def captured_masters(problems: list[MasterProblem]) -> Iterator[None]:
    """Keep every master problem that the bundle solves inside the block."""
    original = rounds.solve_master

    def capture(problem: MasterProblem, **settings: Any) -> MasterSolution:
        # The pool's matrix is a view that the next round changes.
        problems.append(replace(problem, cuts=problem.cuts.copy()))
        return original(problem, **settings)

    with replaced(rounds, "solve_master", capture):
        yield


@dataclass
class MasterCounts:
    """How many master problems were solved, and for how many the conic solver took over."""

    n_solved: int = 0
    n_fallbacks: int = 0


@contextmanager
def counted_masters() -> Iterator[MasterCounts]:
    """Count the master problems that the bundle solves inside the block."""
    original, counts = rounds.solve_master, MasterCounts()

    def count(problem: MasterProblem, **settings: Any) -> MasterSolution:
        solution = original(problem, **settings)
        counts.n_solved += 1
        counts.n_fallbacks += solution.fell_back
        return solution

    with replaced(rounds, "solve_master", count):
        yield counts


@contextmanager
def clarabel_timed(seconds: list[float]) -> Iterator[None]:
    """Collect the seconds inside Clarabel, setup included, without our assembly."""
    original = conic.run_clarabel

    def run(*inputs: Any, **settings: Any) -> Any:
        spent, answer = timed(lambda: original(*inputs, **settings))
        seconds.append(spent)
        return answer

    with replaced(conic, "run_clarabel", run):
        yield


@dataclass
class PassCounts:
    """Passes over all row blocks, by what they were for, and the seconds in which blocks came."""

    n_passes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


@contextmanager
def counted_passes() -> Iterator[PassCounts]:
    """Count the passes over row blocks on disk inside the block."""
    counts = PassCounts()

    def counting(original: Callable[..., Any], sizes: str) -> Callable[..., Iterator[Any]]:
        def each(store: DiskBlocks, work: Callable[..., Any], calls: Any) -> Iterator[Any]:
            if len(calls) == getattr(store, sizes).size:
                counts.n_passes[work.__name__] = counts.n_passes.get(work.__name__, 0) + 1
            found = original(store, work, calls)
            while True:
                spent, answer = timed(lambda: next(found, counts))
                counts.seconds += spent
                if answer is counts:
                    return
                yield answer

        return each

    by_groups = counting(DiskBlocks.each, "sizes")
    by_blocks = counting(DiskBlocks.each_block, "block_sizes")
    with replaced(DiskBlocks, "each", by_groups), replaced(DiskBlocks, "each_block", by_blocks):
        yield counts


@contextmanager
def refits_by(make: Callable[[Problem, Limits], Refitter]) -> Iterator[None]:
    """Another refitter in the search for k features, inside the block."""
    with replaced(search, "Refitter", make):
        yield


@contextmanager
def replaced(module: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Another function under a name of a module, inside the block."""
    original = getattr(module, name)
    setattr(module, name, function)
    try:
        yield
    finally:
        setattr(module, name, original)
