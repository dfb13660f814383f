"""The line search against the true objective on a grid, and against its own lower model."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.measures import Cut
from scoresieve.solvers.bundle.cut_pool import MAX_TRIALS, Trial, search_segment
from scoresieve.solvers.problem import make_problem

NO_LINES = (np.zeros(0), np.zeros(0))
F1 = {"measure": "f1"}
KINDS = [
    F1,
    {"measure": "accuracy"},
    {"measure": "prbep"},
    {"measure": "roc_auc"},
    {"loss": "hinge"},
    {"loss": "logistic"},
]


class Segment:
    """``w + t dw`` for a problem, with what the line search asks for."""

    def __init__(self, X, y, kind, budget, C, w, dw):
        self.problem = make_problem(X, y, **kind, budget=budget, C=C)
        self.w, self.dw, self.scores, self.moves = w, dw, X @ w, X @ dw
        self.n_cuts_found = 0

    def half_norm(self, t):
        return 0.5 * self.problem.norm.value_squared(self.w + t * self.dw)

    def find_cut(self, scores):
        self.n_cuts_found += 1
        return self.problem.risk.cut(scores)

    def value(self, t):
        scores = self.scores + t * self.moves
        return self.half_norm(t) + self.problem.C * self.problem.risk.value(scores)

    def search(self, tol=1e-9, lines=NO_LINES):
        return search_segment(
            start=Trial(0.0, self.value(0.0), self.problem.risk.cut(self.scores)),
            half_norm=self.half_norm,
            find_cut=self.find_cut,
            scores=(self.scores, self.moves),
            lines=lines,
            line_of=lambda cut: (cut.value(self.scores), -float(cut.delta @ self.moves)),
            C=self.problem.C,
            tol=tol,
        )


@pytest.fixture
def segment(data):
    def make(seed, kind=F1, C=1.0, size=1.0, budget=3):
        X, y = data(seed, n_samples=40)
        rng = np.random.default_rng(seed)
        w = 0.3 * rng.normal(size=10)
        towards = np.zeros(10)
        towards[:3] = size
        return Segment(X, y, kind, budget, C, w, towards - w)

    return make


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_decrease_against_a_fine_grid(segment, seed, kind, C):
    """The norm's parabola is only a model here, so almost all of the decrease is enough."""
    line = segment(seed, kind, C)
    trial = line.search()
    grid = np.array([line.value(t) for t in np.linspace(0.0, 1.0, 201)])
    assert grid[0] - trial.value >= 0.99 * (grid[0] - grid.min())
    assert trial.value == pytest.approx(line.value(trial.t), rel=1e-12)
    assert 0.0 <= trial.t <= 1.0
    scores = line.scores + trial.t * line.moves
    assert trial.cut.value(scores) == pytest.approx(line.problem.risk.value(scores), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_exact_where_the_norm_is_a_parabola(segment, seed):
    """With a budget for all columns the model is exact: the minimum to the tolerance."""
    line = segment(seed, C=10.0, budget=10)
    trial = line.search(tol=1e-9)
    grid = np.array([line.value(t) for t in np.linspace(0.0, 1.0, 2001)])
    assert grid.min() < grid[0]
    assert trial.value <= grid.min() + 1e-9


def test_never_worse_than_the_start(segment):
    """Uphill from the first step on: the start comes back, with its cut."""
    line = segment(0, C=1e-6, size=50.0)
    assert line.value(0.01) > line.value(0.0)
    trial = line.search()
    assert trial.t == 0.0
    assert trial.value == line.value(0.0)


def test_goes_to_the_end_where_that_is_best(data):
    """From w to 0 with next to no risk: the norm falls all the way."""
    X, y = data(1)
    w = np.linspace(-1.0, 1.0, 10)
    line = Segment(X, y, F1, 3, 1e-12, w, -w)
    trial = line.search()
    assert trial.t == 1.0
    assert trial.value == pytest.approx(line.value(1.0))


def test_a_loose_tolerance_saves_trials(data):
    """A segment that overshoots, so that the first trial is not the last."""
    X, y = data(2, n_samples=60, noise=2.0)
    towards = np.zeros(10)
    towards[:3] = 5.0
    lines = [
        Segment(X, y, {"measure": "accuracy"}, 10, 1.0, np.zeros(10), towards) for _ in range(2)
    ]
    best, near = lines[0].search(tol=1e-9), lines[1].search(tol=5.0)
    assert lines[1].n_cuts_found < lines[0].n_cuts_found <= MAX_TRIALS
    assert best.value <= near.value <= best.value + 5.0


def test_known_cuts_are_used(segment):
    """The cut of the minimum, given as a line, makes its search as good and not longer."""
    first, second = segment(3, C=10.0), segment(3, C=10.0)
    best = first.search()
    offset, slope = best.cut.value(first.scores), -float(best.cut.delta @ first.moves)
    again = second.search(lines=(np.array([offset]), np.array([slope])))
    assert again.value <= best.value * (1 + 1e-9)
    assert second.n_cuts_found <= first.n_cuts_found


def test_a_risk_of_zero_counts_as_zero():
    """Beyond t = 1/2 the only cut is negative; the minimum is where it vanishes or before."""
    trial = search_segment(
        start=Trial(0.0, 10.0, Cut(np.zeros(1), 1.0)),
        half_norm=lambda t: 0.5 * t * t,
        scores=(np.zeros(1), np.ones(1)),
        find_cut=lambda _: Cut(np.array([1.0]), 1.0),
        lines=NO_LINES,
        line_of=lambda cut: (1.0, -2.0),
        C=10.0,
        tol=1e-12,
    )
    assert trial.t == pytest.approx(0.5, abs=1e-9)
    assert trial.value == pytest.approx(0.125, abs=1e-8)


def test_a_negative_cut_does_not_lower_the_objective():
    """No labelling is violated at the end: the objective there is the norm alone."""
    trial = search_segment(
        start=Trial(0.0, 1.0, Cut(np.zeros(1), 0.0)),
        half_norm=lambda t: (1.0 - t) ** 2,
        scores=(np.zeros(1), np.ones(1)),
        find_cut=lambda _: Cut(np.zeros(1), 1.0),
        lines=NO_LINES,
        line_of=lambda cut: (-1.0, 0.0),
        C=10.0,
        tol=1e-12,
    )
    assert trial.t == 1.0
    assert trial.value == 0.0
