"""One BLAS thread while a solver runs. threadpoolctl comes with scikit-learn, which requires it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Looks for the loaded BLAS libraries once: that takes milliseconds, a limit microseconds."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager:
    """A context with one BLAS thread; the caller's number is restored at its end.

    The master's matrices are small (a few hundred rows), so threads gain nothing, and on a busy
    machine their waiting for each other slowed fits down thirty times. It also makes the result
    independent of the number of threads.
    """
    return _controller().limit(limits=1, user_api="blas")
