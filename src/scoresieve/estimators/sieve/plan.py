"""The plan of a sieve: all that is to be compared, from the parameters of an estimator.

Candidates choose columns; final models are fitted on them. Which columns to select and how much to
shrink them are two questions:

    own             the model that chose them
    squared hinge   C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 ||w||^2
    graded          C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 sum_j (e_j / e)^2 w_j^2

Each costs a few Newton steps on k columns. Class weights would not help: they mainly move the
intercept, and the threshold is tuned anyway. Logistic regressions at the same C score half a point
of F1 less, see studies/notes/choice.md.

Where k exceeds the number of informative columns, the last ones to enter fit noise, and no single C
suits both. ``e_j`` is the number of columns that column j came in with
(:func:`~scoresieve.estimators.sieve.candidates.entered_at`), e the least of them: a graded model of
100 columns penalises the last half 2,500 times as much as the first two, and is close to one of
fewer columns if only these pay.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import BoolArray, FloatArray, IntArray
from scoresieve._checks import check_C, check_count, check_positive, did_you_mean
from scoresieve.design import Design
from scoresieve.design.scaled import column_means, have_one_scale
from scoresieve.estimators.budget_model import default_C
from scoresieve.estimators.sieve.candidates import (
    CONSTANT,
    FREE_CONSTANT,
    MEAN_SQUARES,
    Candidate,
    SelectedColumns,
    SelectionProblem,
    constant_for,
)
from scoresieve.estimators.sieve.coordinate_ascent import CoordinateAscent
from scoresieve.estimators.sieve.filters import STATISTICS, Filter
from scoresieve.estimators.sieve.searches import SCALED, Bound, LossSearch
from scoresieve.losses import SquaredHinge, get_loss, known_losses
from scoresieve.measures import Measure, get_measure
from scoresieve.risks import LossRisk
from scoresieve.solvers.limits import Deadline, Limits
from scoresieve.solvers.subset.columns import merge_equal_rows
from scoresieve.solvers.subset.quick_fits import newton_fit

#: The loss of the models on the chosen columns.
LOSS = SquaredHinge()
#: Relative accuracy of the fits.
FINAL_TOL = 1e-6


@dataclass(frozen=True)
class FinalModel:
    """A squared hinge on the chosen columns, or with C = None the model that chose them.

    A graded one penalises a column by when it came in.
    """

    C: float | None = None
    is_graded: bool = False

    @property
    def name(self) -> str:
        """For tables."""
        own = "own" if self.C is None else f"{LOSS.name}, C={self.C:g}"
        return f"graded {own}" if self.is_graded else own


def fit_finals(
    finals: Sequence[FinalModel],
    problem: SelectionProblem,
    selected: SelectedColumns,
    beside: IntArray | None = None,
) -> list[tuple[FloatArray, float]]:
    """Weights of the selected columns and intercept of each final model on the rows given.

    Each starts from the previous one of its kind. Where time is over only the first is there.

    Parameters
    ----------
    beside : ndarray of int, optional
        Columns needed next, fetched at the same time.
    """
    own = selected.weights, selected.intercept
    if not selected.columns.size or all(final.C is None for final in finals):
        return [own for _ in finals]
    block = problem.fetched.block(np.append(selected.columns, problem.X.n_columns), beside)
    risk = LossRisk(LOSS, problem.y, problem.weights)
    block, risk, _ = merge_equal_rows(block, risk)
    # The penalty of a graded model is that of an even one on columns that are made smaller.
    even, free = np.ones(selected.columns.size), FREE_CONSTANT / CONSTANT
    factors = {False: np.append(even, free), True: np.append(grades(selected), free)}
    blocks = {kind: block.scaled(factors[kind]) for kind in {final.is_graded for final in finals}}
    starts = dict.fromkeys(blocks, np.zeros(block.n_columns))
    found: list[tuple[FloatArray, float]] = []
    for final in finals:
        if found and problem.time_is_over:
            break
        kind, fit = final.is_graded, None
        if final.C is not None:
            fit = newton_fit(blocks[kind], risk, final.C, starts[kind], tol=FINAL_TOL)
        if fit is None:  # its own, or Newton's method got stuck
            found.append(own)
            continue
        starts[kind], w = fit.w, factors[kind] * fit.w
        found.append((w[:-1], float(CONSTANT * w[-1])))
    return found


def grades(selected: SelectedColumns) -> FloatArray:
    """``e / e_j`` of every column; 1 where it is not known when they came in."""
    entered = selected.entered
    return np.ones(selected.columns.size) if entered is None else entered.min() / entered


#: Numbers of features to choose from when none are given, lowered to those that there are.
DEFAULT_SIZES = (2, 5, 10, 20, 50, 100, 200)
#: C of the losses if none are given, and of the squared hinges on the chosen columns.
DEFAULT_CS = (0.3, 3.0)
FINAL_CS = (0.1, 1.0, 10.0, 100.0)
#: C of the logistic regression of a filter.
FILTER_C = 1.0
#: Rows of a class, or of all others, below which filters are to be preferred.
FEW_ROWS = 50
#: Relative gap and rounds of a search; candidates have gaps of their own.
TOL, MAX_ITER = 0.01, 1000


class Settings(NamedTuple):
    """Settings that candidates are made from.

    Attributes
    ----------
    factor : float
        By which every C that the user has not given is multiplied, see :func:`factor_of_C`.
    Cs, scaled_Cs : sequence of float
        Of the losses, for the columns as they are and for those of one deviation.
    """

    measure: Measure
    factor: float
    Cs: Sequence[float]
    scaled_Cs: Sequence[float]


def _searches(name: str, settings: Settings) -> list[Candidate]:
    loss, is_scaled = get_loss(name.removeprefix(SCALED)), name.startswith(SCALED)
    Cs = settings.scaled_Cs if is_scaled else settings.Cs
    return [LossSearch(loss, check_C(C), is_scaled) for C in Cs]


def _filter(name: str, settings: Settings) -> list[Candidate]:
    return [Filter(name, check_C(settings.factor * FILTER_C))]


_LOSSES = sorted(known_losses("classification"))
#: What users call each candidate, and what makes it. Of those that are equally good the first is
#: taken, except that filters go first where rows are few. Nothing regularises the last one.
CANDIDATES: dict[str, Callable[[Settings], list[Candidate]]] = {
    "bound": lambda given: [Bound(given.measure, check_C(given.factor * default_C(given.measure)))],
    **{name: partial(_searches, name) for name in _LOSSES},
    **{SCALED + name: partial(_searches, SCALED + name) for name in _LOSSES},
    **{name: partial(_filter, name) for name in STATISTICS},
    "coordinate_ascent": lambda given: [CoordinateAscent(given.measure)],
}


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that is compared: candidates, numbers of features, final models.

    Attributes
    ----------
    roles : dict
        Of columns, as for :class:`SelectionProblem`.
    wanted : ndarray of bool of the shape, or None
        The settings that other splits have reached in time; None for all.
    """

    candidates: tuple[Candidate, ...]
    finals: tuple[FinalModel, ...]
    sizes: tuple[int, ...]
    limits: Limits
    roles: Mapping[str, Any] = field(default_factory=dict)
    wanted: BoolArray | None = None

    @property
    def is_timed(self) -> bool:
        """Whether time is limited."""
        return self.limits.max_time is not None

    @property
    def turns(self) -> list[int]:
        """Numbers of the candidates in the order of work.

        Filters first: what they fetch is what searches want. Where time is limited slow ones last.
        """
        order = [
            (self.is_timed and each.is_slow, not each.is_univariate) for each in self.candidates
        ]
        return sorted(range(len(order)), key=lambda at: order[at])

    @property
    def deadline(self) -> Deadline:
        """The end of the whole fit."""
        return self.limits.deadline or Deadline(None)

    def until(self, deadline: Deadline, wanted: BoolArray | None = None) -> Plan:
        """The plan of a part of the work."""
        return replace(self, limits=replace(self.limits, deadline=deadline), wanted=wanted)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Candidates, numbers of features, final models."""
        return len(self.candidates), len(self.sizes), len(self.finals)

    def row(self, at_size: int, candidate: int, final: int) -> int:
        """The row of a setting in ``cv_results_``."""
        n_candidates, _, n_finals = self.shape
        return (at_size * n_candidates + candidate) * n_finals + final

    def problem(
        self, X: Design, y: FloatArray, weights: FloatArray | None, share: float = 1.0
    ) -> SelectionProblem:
        """The problem that candidates choose columns for."""
        return SelectionProblem(X, y, weights, self.limits, self.roles, share)


class DataFacts(NamedTuple):
    """Properties of the data that the plan depends on.

    Attributes
    ----------
    factor : float
        What C is multiplied by, see :func:`factor_of_C`.
    has_one_scale : bool
        Whether all columns have one deviation, and means near 0: scaling changes nothing then.
    has_few_rows : bool
        Whether some class, or all others together, has few rows.
    """

    factor: float = 1.0
    has_one_scale: bool = False
    has_few_rows: bool = True


#: For columns and rows that are not known yet.
UNKNOWN = DataFacts()


def facts_of(X: Design, n_positives: IntArray) -> DataFacts:
    """Those of the rows that a sieve is fitted on, given how many are of each class."""
    rarest = int(np.minimum(n_positives, X.n_samples - n_positives).min())
    is_near_zero = constant_for(column_means(X)) == CONSTANT
    return DataFacts(factor_of_C(X), is_near_zero and have_one_scale(X), rarest < FEW_ROWS)


def factor_of_C(X: Design) -> float:
    """Factor for C that makes the model independent of the scale of X.

    ``C / s^2`` is for ``s X`` what C is for X. From unit-length rows of text to columns of unit
    deviation one grid suits all; beyond this range, X counts as the nearer of the two.
    """
    n_entries = float(X.column_counts().sum())
    mean = X.sum_of_squares() / n_entries if n_entries else 0.0
    return float(np.clip(mean, *MEAN_SQUARES) / mean) if mean > 0.0 else 1.0


def start_clock(max_time: float | None) -> Limits:
    """The limits of all searches together, from this moment on."""
    limits = Limits(TOL, MAX_ITER, max_time, find_smallest_C=False, thorough=False)
    return replace(limits, deadline=Deadline(max_time))


def make_plan(
    estimator: Any,
    sizes: list[int],
    limits: Limits,
    roles: Mapping[str, Any] | None = None,
    facts: DataFacts = UNKNOWN,
    Cs: Sequence[float] = DEFAULT_CS,
) -> Plan:
    """Every candidate and every final model, for these numbers of features.

    Parameters
    ----------
    estimator : estimator
        With the parameters ``measure``, ``candidates`` and ``Cs``.
    roles : dict, optional
        Of columns, as for :class:`SelectionProblem`.
    facts : DataFacts
        By whose factor every C that the user has not given is multiplied.
    Cs : sequence of float
        Default values for the losses.
    """
    finals = [FinalModel(facts.factor * C, graded) for graded in (False, True) for C in FINAL_CS]
    candidates = make_candidates(estimator, facts, Cs)
    return Plan(candidates, (FinalModel(), *finals), tuple(sizes), limits, roles or {})


def make_candidates(
    estimator: Any, facts: DataFacts = UNKNOWN, Cs: Sequence[float] = DEFAULT_CS
) -> tuple[Candidate, ...]:
    """The candidates that an estimator names, in order of preference at equal scores.

    ValueError, with all names, if one is not known.
    """
    names = check_grid(estimator.candidates, "candidates", check_name)
    unknown = [name for name in names if name not in CANDIDATES]
    if unknown:
        raise ValueError(
            f"candidates holds {unknown[0]!r}, which is not a candidate"
            f"{did_you_mean(unknown[0], CANDIDATES)}; choose from "
            f"{', '.join(CANDIDATES)}."
        )
    if facts.has_one_scale:  # the same search twice
        names = [each for each in names if each.removeprefix(SCALED) not in set(names) - {each}]
    given = None if estimator.Cs is None else check_Cs(estimator.Cs)
    # What is brought to one scale has the mean square that the grid is for.
    settings = Settings(
        *(get_measure(estimator.measure), facts.factor),
        *(given or [facts.factor * C for C in Cs], given or Cs),
    )
    found = [each for name in CANDIDATES if name in names for each in CANDIDATES[name](settings)]
    if facts.has_few_rows:
        found.sort(key=lambda each: not each.is_univariate)
    return tuple(found)


def read_sizes(sizes: Any, name: str, n_units: int) -> list[int]:
    """Sorted distinct numbers of at most ``n_units``, from one number, a list, None or "auto".

    k is an upper limit, so lowering it to the number of columns needs no warning. By default 2, 5,
    10, ..., as far as there are columns or groups.
    """
    if isinstance(sizes, str) and sizes != "auto":
        raise ValueError(f"{name} must be a number, a list of numbers or 'auto'; got {sizes!r}.")
    if sizes is None or isinstance(sizes, str):
        all_of_few = [n_units] if n_units <= DEFAULT_SIZES[-1] else []
        return [each for each in DEFAULT_SIZES if each < n_units] + all_of_few
    if isinstance(sizes, numbers.Number):
        return [min(check_count(sizes, name), n_units)]
    return sorted({min(size, n_units) for size in check_grid(sizes, name, check_count)})


def check_grid(values: Any, name: str, check: Callable[[Any, str], Any]) -> list:
    """Sorted distinct values of a list, each in the form that ``check(value, name)`` gives it."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list; got {values!r}. Put a single value in a list.")
    checked = {check(each, f"{name}[{place}]") for place, each in enumerate(values)}
    if not checked:
        raise ValueError(f"{name} is empty; give at least one value.")
    return sorted(checked)


def check_Cs(Cs: Any) -> list[float]:
    """Sorted distinct values of C."""
    return check_grid(Cs, "Cs", lambda C, name: check_C(check_positive(C, name)))


def check_name(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a name; got {value!r}.")
    return value
