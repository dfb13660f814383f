"""Lists to choose from: numbers of features, and other settings, in checked form."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any

from scoresieve._checks import check_C, check_count, check_positive

#: Numbers of features to choose from when none are given, lowered to those that there are.
DEFAULT_SIZES = (2, 5, 10, 20, 50, 100, 200)


def default_sizes(n_units: int) -> list[int]:
    """2, 5, 10, ..., 200 up to the number of columns or groups, and that number if it is lower."""
    return [each for each in DEFAULT_SIZES if each < n_units] + (
        [n_units] if n_units <= DEFAULT_SIZES[-1] else []
    )


def read_sizes(sizes: Any, name: str, n_units: int) -> list[int]:
    """Sorted distinct numbers of at most ``n_units``, from one number, a list, or None.

    At most k features stay at most k, however few there are, so that lowering needs no warning.
    """
    if sizes is None:
        return default_sizes(n_units)
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


def check_names(names: Any, argument: str) -> list[str]:
    """Sorted distinct names."""
    return check_grid(names, argument, _check_name)


def _check_name(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a name; got {value!r}.")
    return value
