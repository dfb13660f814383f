"""Checks of the settings of losses."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

#: Widths beyond these bounds, or squares of them, would leave the range of float64.
SMALLEST, LARGEST = 1e-100, 1e100


def positive_setting(value: Any, name: str, *, or_zero: bool = False) -> float:
    """``1e-100 <= value <= 1e100``, or 0 with ``or_zero``; ValueError otherwise.

    Parameters
    ----------
    name : str
        Of the setting, for the message.
    """
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if real and np.isfinite(value) and (SMALLEST <= value <= LARGEST or (or_zero and value == 0)):
        return float(value)
    wanted = "0 or a positive" if or_zero else "a positive"
    raise ValueError(
        f"{name} must be {wanted} number between {SMALLEST:g} and {LARGEST:g}; got {value!r}."
    )
