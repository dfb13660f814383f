"""The parts of the package below its public interface that studies look into, in one place.

The studies of speed take the master problem apart: they need its two solvers, the problems that
fits ask for, and the time that Clarabel takes of it. The study of bounds puts risks of its own into
problems, and solvers of its own into the search for k features. The study of scale counts passes.
The study of paths asks for what ``ScoreSieve`` searches. The paper's own algorithm is run as our
solver is.
The soak runs make files whose checksums are right, and load what the command line loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from scoresieve import SolveResult
from scoresieve.baselines.fs_multi import run_two_layer
from scoresieve.cli.app import run as run_command
from scoresieve.cli.tasks.models import load_model as load_command_line_model
from scoresieve.design import as_design
from scoresieve.design.blocks.disk import DiskBlocks
from scoresieve.design.blocks.manifest import checksum_of as manifest_checksum
from scoresieve.estimators.budget_model import default_C
from scoresieve.estimators.persistence.file import checksum_of as model_checksum
from scoresieve.estimators.sieve.candidates import SelectedColumns, SelectionProblem
from scoresieve.estimators.sieve.plan import DEFAULT_CS, FINAL_CS
from scoresieve.estimators.sieve.searches import Bound, LossSearch
from scoresieve.losses import Loss
from scoresieve.risks import CutWeights, DualPoint, MeasureRisk, Risk
from scoresieve.solvers.bundle import rounds
from scoresieve.solvers.engines import result_of
from scoresieve.solvers.limits import Limits, Progress, Status, Tracker, one_blas_thread
from scoresieve.solvers.master import conic
from scoresieve.solvers.master.conic import ConicProgramme, run_clarabel, solve_master_conic
from scoresieve.solvers.master.problem import MasterProblem, MasterSolution
from scoresieve.solvers.master.solve import solve_master
from scoresieve.solvers.prices import with_own_price
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.solve import default_tol, solve_problem
from scoresieve.solvers.subset import hard_budget
from scoresieve.solvers.subset.refits import (
    FINE_TOL,
    Refit,
    Refitter,
    columns_of_units,
    moved,
)
from scoresieve.solvers.working import Ended
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
    "SelectedColumns",
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
    "run_clarabel",
    "run_command",
    "selection_path",
    "solve_by",
    "solve_hard_budget",
    "solve_master",
    "solve_master_conic",
    "solve_problem",
    "solve_two_layer",
]


def selection_path(
    X: Any, problem: Problem, ks: Sequence[int], limits: Limits
) -> list[SelectedColumns]:
    """The search of ``ScoreSieve`` for each k, from the k before; a price that is given stays."""
    kind, C = problem.risk.kind, problem.C
    search = LossSearch(kind, C) if isinstance(kind, Loss) else Bound(kind, C)
    with replaced(SelectionProblem, "minimising", lambda *_: problem):
        rows = SelectionProblem(as_design(X), problem.risk.y, None, limits)
        return search.select(rows, ks)


def solve_by(
    engine: Callable[[Problem, Tracker], Ended],
    X: Any,
    y: Any,
    *,
    tol: float | None = None,
    max_iter: int = 1000,
    max_time: float | None = None,
    callback: Callable[[Progress], object] | None = None,
    **arguments: Any,
) -> SolveResult:
    """``solve`` by a certain engine, at the price that is given or found."""
    problem = make_problem(X, y, **arguments)
    limits = Limits(default_tol(tol, problem), max_iter, max_time, callback)
    problem = with_own_price(problem, limits)
    tracker = Tracker(limits, problem.risk.no_dual_point())
    with one_blas_thread():
        return result_of(engine(problem, tracker))


#: With at most k units, k being the budget of the problem.
solve_hard_budget = partial(solve_problem, hard=True)
#: The paper's own algorithm.
solve_two_layer = partial(solve_by, run_two_layer)


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

    original = DiskBlocks.each

    def each(store: DiskBlocks, work: Callable[..., Any], calls: Any) -> Iterator[Any]:
        if len(calls) == store.sizes.size:
            counts.n_passes[work.__name__] = counts.n_passes.get(work.__name__, 0) + 1
        found = original(store, work, calls)
        while True:
            spent, answer = timed(lambda: next(found, counts))
            counts.seconds += spent
            if answer is counts:
                return
            yield answer

    with replaced(DiskBlocks, "each", each):
        yield counts


@contextmanager
def refits_by(make: Callable[[Problem, Limits], Refitter]) -> Iterator[None]:
    """Another refitter in the search for k features, inside the block."""
    with replaced(hard_budget, "Refitter", make):
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
