"""The limits of a run are checked when they are made."""

import pytest

from scoresieve.solvers.limits import Limits


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
