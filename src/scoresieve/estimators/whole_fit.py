"""What holds for the ``fit`` of every estimator: it happens as a whole, with sound switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from sklearn.utils import check_random_state

from scoresieve._checks import check_flag, check_n_jobs, check_verbose


def check_seed(value: Any, name: str) -> None:
    """What scikit-learn takes for a source of random numbers."""
    try:
        check_random_state(value)
    except ValueError as error:
        raise ValueError(
            f"{name} must be None, an integer from 0 or a RandomState; got {value!r}."
        ) from error


#: Parameters that mean the same in every estimator that has them.
SWITCHES: dict[str, Callable[[Any, str], object]] = {
    "certificate": check_flag,
    "fit_intercept": check_flag,
    "n_jobs": check_n_jobs,
    "random_state": check_seed,
    "verbose": check_verbose,
    "warm_start": check_flag,
}


def whole_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that refuses wrong switches, and that leaves no half of a model behind."""

    @wraps(fit)
    def fit_whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_switches(self)
        with all_or_nothing(self):
            return fit(self, *args, **kwargs)

    return fit_whole


def check_switches(estimator: Any) -> None:
    """Refuse values that Python would take for true or false without a word."""
    for name, value in estimator.get_params(deep=False).items():
        if name in SWITCHES:
            SWITCHES[name](value, name)


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Make the estimator what it was if the block ends by an error, or by Ctrl-C.

    Checking X already changes ``n_features_in_``, which would not fit the weights that are left.
    """
    before = fitted_state(estimator)
    try:
        yield
    except BaseException:
        for name in fitted_state(estimator):
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def fitted_state(estimator: Any) -> dict[str, Any]:
    """What ``fit`` sets: public attributes, and those that a saved model needs."""
    kept = getattr(estimator, "_fields", ())
    return {
        name: value
        for name, value in vars(estimator).items()
        if name in kept or (name.endswith("_") and not name.startswith("_"))
    }
