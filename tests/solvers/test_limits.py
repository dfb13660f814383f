"""The limits of a run are checked when they are made; a tracker keeps them and the best bounds."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from scoresieve.risks import Slopes
from scoresieve.solvers import limits as limits_module
from scoresieve.solvers.limits import Clock, Deadline, Limits, Status, Tracker


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"tol": 0}, ValueError, "tol must be a positive finite number; got 0"),
        ({"max_iter": 0}, ValueError, "max_iter must be an integer of at least 1; got 0"),
        ({"max_iter": 2.0}, ValueError, "max_iter must be an integer of at least 1; got 2.0"),
        ({"max_time": 0}, ValueError, "max_time must be a positive finite number; got 0"),
        ({"callback": 3}, TypeError, "callback must be a function or None; got 3"),
    ],
)
def test_each_limit_is_checked(changes, error, message):
    with pytest.raises(error, match=message):
        Limits(**{"tol": 0.1, "max_iter": 10, **changes})


def test_good_limits_are_kept():
    limits = Limits(0.1, 10, max_time=3, callback=print)
    assert (limits.tol, limits.max_iter, limits.max_time) == (0.1, 10, 3)


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""

    class Hands:
        seconds = 0.0

        def __call__(self):
            return self.seconds

    hands = Hands()
    monkeypatch.setattr(limits_module, "perf_counter", hands)
    return hands


def record(tracker):
    return tracker.record(n_cuts=1, n_working=2, n_support=3)


def _fail_after(clock, seconds):
    clock.seconds += seconds
    raise ZeroDivisionError


def test_a_deadline_is_a_moment(clock):
    never, soon = Deadline(None), Deadline(3.0)
    assert not soon.is_over
    clock.seconds = 3.0
    assert soon.is_over
    assert not never.is_over


def test_a_deadline_is_the_same_moment_in_another_process(clock):
    clock.seconds = 1.0
    deadline = Deadline(3.0)
    clock.seconds = 3.5
    late = pickle.loads(pickle.dumps(deadline))
    assert not late.is_over
    clock.seconds = 4.0
    assert late.is_over


def test_the_clock_counts_parts_even_if_they_fail(clock):
    times = Clock()
    for seconds in (1.0, 2.0):
        with times.part("master"):
            clock.seconds += seconds
    with pytest.raises(ZeroDivisionError), times.part("oracle"):
        _fail_after(clock, 5.0)
    assert times.parts == {"master": 3.0, "oracle": 5.0}
    assert times.elapsed == 8.0


def test_a_deadline_of_the_whole_takes_the_place_of_the_time_for_a_part(clock):
    whole = Deadline(10.0)
    clock.seconds = 9.0
    tracker = Tracker(Limits(0.1, 10, max_time=5.0, deadline=whole), Slopes(np.zeros(2)))
    tracker.primal = 1.0
    assert record(tracker) is None
    clock.seconds = 10.0
    assert record(tracker) is Status.MAX_TIME
    alone = Tracker(Limits(0.1, 10, max_time=5.0), Slopes(np.zeros(2)))
    alone.primal = 1.0
    clock.seconds = 14.0
    assert record(alone) is None


def test_the_best_bound_is_kept_with_what_proves_it():
    first = Slopes(np.zeros(2))
    tracker = Tracker(Limits(0.1, 10), first)
    tracker.primal = 4.0
    assert (tracker.dual, tracker.dual_point) == (0.0, first)
    better, asked = Slopes(np.ones(2)), []
    tracker.lower_bound(3.0, lambda: better)
    tracker.lower_bound(2.0, lambda: asked.append(1))
    assert (tracker.dual, tracker.dual_point, tracker.gap) == (3.0, better, 0.25)
    assert not asked


def test_reasons_to_stop_in_their_order(clock):
    """A gap within the tolerance counts first, then the callback, the time, the rounds."""
    limits = Limits(0.1, 1, max_time=1.0, callback=lambda row: True)
    tracker = Tracker(limits, Slopes(np.zeros(2)))
    tracker.primal = 1.0
    clock.seconds = 2.0
    tracker.lower_bound(0.95, lambda: Slopes(np.ones(2)))
    assert record(tracker) is Status.CONVERGED
    tracker.dual = 0.5
    assert record(tracker) is Status.CALLBACK
    tracker.is_stopped, tracker.limits = False, replace(limits, callback=None)
    assert record(tracker) is Status.MAX_TIME
    clock.seconds = 0.5
    assert record(tracker) is Status.MAX_ITER
    row = tracker.history[-1]
    assert (row.iteration, row.time, row.primal, row.dual) == (4, 0.5, 1.0, 0.5)
    assert (row.n_cuts, row.n_working, row.n_support, row.gap) == (1, 2, 3, 0.5)


@pytest.mark.parametrize(
    ("answer", "stops"),
    [(True, True), (np.True_, True), (False, False), (np.False_, False), (None, False), (1, False)],
)
def test_true_is_the_word_to_stop_and_it_is_not_asked_for_twice(answer, stops):
    told = []
    limits = Limits(0.1, 10, callback=lambda row: told.append(row) or answer)
    tracker = Tracker(limits, Slopes(np.zeros(2)))
    tracker.primal = 1.0
    assert [record(tracker) for _ in range(2)] == [Status.CALLBACK if stops else None] * 2
    assert tracker.is_stopped == stops
    assert len(told) == (1 if stops else 2)
    later = Tracker(replace(limits, is_stopped=tracker.is_stopped), Slopes(np.zeros(2)))
    later.primal = 1.0
    assert record(later) is (Status.CALLBACK if stops else None)
    assert len(told) == (1 if stops else 3)


def test_a_caller_that_has_enough_ends_a_run_and_the_callback_is_only_told():
    told, wanted = [], [0.4, 0.2]
    limits = Limits(0.1, 10, callback=told.append, enough=lambda row: row.gap <= wanted[-1])
    tracker = Tracker(limits, Slopes(np.zeros(2)))
    tracker.primal = 1.0
    tracker.dual = 0.7
    assert record(tracker) is None
    wanted.pop()
    assert record(tracker) is Status.CONVERGED
    assert not tracker.is_stopped
    assert [row.gap for row in told] == pytest.approx([0.3, 0.3])
