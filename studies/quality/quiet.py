"""Fits whose warnings would repeat what their rows say."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits


@contextmanager
def quiet_thread() -> Iterator[None]:
    """One thread for BLAS, also in another process, and no warnings of limits and empty models."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*the model has no", category=UserWarning)
        yield
