"""The child of a trial: some work, done until a signal comes, and a look at what it left.

``python -m studies.soak.work`` reads a line of JSON for each trial, ``[name, folder]``, forks, and
writes how the child ended as a line of JSON, behind those of the child itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve import MeasureSVC, ScoreSieve, budget_path, load
from scoresieve.design import blocks_from_svmlight, open_blocks, write_blocks

#: Seconds of work in which the signal comes.
MOMENT = 0.5


def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=120) > 0.8).astype(int)


def _fit(folder: Path, number: int, model: Any) -> None:
    X, y = _data()
    model.fit(X, y)


def _path(folder: Path, number: int, model: Any) -> None:
    X, y = _data()
    budget_path(X, y, [1, 2, 5, 10], measure="f1")


def _sieve(folder: Path, number: int, model: Any) -> None:
    X, y = _data()
    ScoreSieve(n_features_to_select=3, cv=2, Cs=[1.0], n_jobs=2).fit(X, y)


def _write(folder: Path, number: int, model: Any) -> None:
    X, y = _data()
    write_blocks(sp.csr_array(X), folder / f"blocks{number}", y=y, block_bytes=2000)


def _convert(folder: Path, number: int, model: Any) -> None:
    source = folder / "data.svm"
    if not source.exists():
        source.write_text("".join(f"{i % 2} 1:{i} {2 + i % 9}:0.5\n" for i in range(400)))
    blocks_from_svmlight(source, folder / f"blocks{number}", block_bytes=2000)


def _save(folder: Path, number: int, model: Any) -> None:
    model.save(folder / "model", with_certificate=True)


WORK: dict[str, Callable[[Path, int, Any], None]] = {
    "fit": _fit,
    "budget_path": _path,
    "ScoreSieve": _sieve,
    "write_blocks": _write,
    "blocks_from_svmlight": _convert,
    "save": _save,
}


def main(name: str, folder: Path) -> None:
    """Work until the signal, and say what was raised and what is wrong."""
    warnings.simplefilter("ignore")
    arrived: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        arrived.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    model = MeasureSVC("f1", budget=3).fit(*_data())
    WORK[name](folder, 0, model)  # lazy imports and pools of processes are part of no trial
    before = _state(model)
    raised, end = "nothing", time.monotonic() + 4 * MOMENT
    try:
        # Inside, since the signal may come as soon as this is read.
        say(ready=MOMENT)
        number = 1
        while time.monotonic() < end:
            WORK[name](folder, number, model)
            number += 1
    except BaseException as error:
        raised = type(error).__name__
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    faults = _faults(folder, model, before)
    if arrived and raised == "nothing":
        faults.append("the KeyboardInterrupt was lost")
    say(raised=raised, faults=faults)


def _state(model: Any) -> dict[str, str]:
    """Every attribute as text, but for the times of rounds, which differ between equal fits."""
    timeless = [
        replace(each, certificate=replace(each.proof, history=None)) for each in model.models_
    ]
    return {key: repr(value) for key, value in (vars(model) | {"models_": timeless}).items()}


def _faults(folder: Path, model: Any, before: dict[str, str]) -> list[str]:
    """Half-written or left-over files, maps that are held, and an estimator that is half fitted."""
    faults = [f"{path.name} is left" for path in folder.iterdir() if path.suffix == ".tmp"]
    for path in folder.iterdir():
        try:
            if path.name.startswith("blocks"):
                open_blocks(path, n_jobs=1).verify()
            elif path.name == "model":
                load(path)
        except Exception as error:
            faults.append(f"{path.name}: {error}")
    now = _state(model)
    if different := {key for key in {*now, *before} if now.get(key) != before.get(key)}:
        faults.append(f"the estimator has other {sorted(different)}")
    if os.path.isdir("/proc/self/map_files"):
        maps = Path("/proc/self/maps").read_text()
        if "joblib_memmap" in maps:
            faults.append("a memory map of joblib is held")
    return faults


def say(**what: Any) -> None:
    """A line of JSON, in one piece."""
    os.write(1, (json.dumps(what) + "\n").encode())


def serve() -> None:
    """A child for each line."""
    for line in sys.stdin:
        name, folder = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setsid()
            # Nothing of the server's input is the child's.
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(os.open(Path(folder) / "stderr", os.O_CREAT | os.O_WRONLY), 2)
            say(process=os.getpid())
            main(name, Path(folder))
            # Pools of idle processes end with the interpreter, as they would in any program.
            return
        say(code=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    serve()
