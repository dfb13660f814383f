"""A fit that does not end leaves the model of the fit before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Put the fitted attributes back if the block ends by an error, or by Ctrl-C.

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
    """Public attributes that ``fit`` has set."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }
