"""Work in a forked process: others' modules stay imported, our own are loaded anew."""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import NamedTuple

#: Packages that are imported again in each child, because a mutant may change them.
OWN = ("scoresieve", "studies", "tests", "conftest")
#: Imported once before the first fork: what the tests need and takes long to load.
SLOW_TO_LOAD = (
    "clarabel",
    "hypothesis.extra.numpy",
    "hypothesis.strategies",
    "pandas",
    "pytest",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "sklearn.datasets",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
)
#: A child that waits for something is ended after so many times its CPU limit.
PATIENCE = 20


class End(NamedTuple):
    """How a child ended: its exit code, or the signal that ended it as a negative number."""

    code: int
    cpu_seconds: float

    @property
    def ran_out(self) -> bool:
        """Whether the limit on its time ended it."""
        return self.code in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM)


def load_slow_parts() -> None:
    """Import what children share."""
    for name in SLOW_TO_LOAD:
        importlib.import_module(name)


def in_child(work: Callable[[], int], cpu_seconds: float, output: str = os.devnull) -> End:
    """Do the work in a child with a limit on its CPU time; ``output`` takes what it prints."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _be_child(work, cpu_seconds, output)
    _, status, usage = os.wait4(pid, 0)
    return End(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)


def _be_child(work: Callable[[], int], cpu_seconds: float, output: str) -> None:
    code = 70
    try:
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        limit = max(1, round(cpu_seconds + time.process_time()))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        signal.alarm(PATIENCE * limit)
        forget_own_modules()
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def forget_own_modules() -> None:
    """The next import of the package reads its files again."""
    for name in list(sys.modules):
        if name.split(".")[0] in OWN:
            del sys.modules[name]
