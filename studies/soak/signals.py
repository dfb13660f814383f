"""SIGINT and SIGTERM at random moments of fits, conversions and saves, each in a process.

A child imports everything, says that it is ready, and does the work again and again, with SIGTERM
raised as KeyboardInterrupt as the command line does it. The parent sends the signal after a random
part of the time that the work takes. The child then looks at what is left, and reports.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from studies.common.progress import log
from studies.soak.tally import Clock, Run, Tally
from studies.soak.work import WORK

#: Seconds that a child may take to begin and to end.
PATIENCE = 120.0
REPORT_EVERY = 20


def run_signals(run: Run, folder: Path) -> Tally:
    """One child for each trial."""
    tally = Tally("signals")
    for number in Clock(run).numbers():
        try_one(run.source(number), number, folder / str(number), tally)
        if (number + 1) % REPORT_EVERY == 0:
            log(f"signals: {number + 1} trials, {tally.n_failures} failures")
    return tally


def try_one(source: random.Random, number: int, folder: Path, tally: Tally) -> None:
    """Start the work, send a signal, and judge what the child found."""
    name = sorted(WORK)[number % len(WORK)]
    sent = source.choice((signal.SIGINT, signal.SIGTERM))
    folder.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-m", "studies.soak.work", name, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        ready = child.stdout.readline()
        if ready:
            time.sleep(source.random() * float(ready))
            child.send_signal(sent)
        out, err = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        tally.fail(number, f"{name}: it did not end after {sent.name}")
        return
    faults = _faults(child.returncode, out, err) + _left_over(child.pid, folder)
    if faults:
        tally.fail(number, f"{name}, {sent.name}: {'; '.join(faults)}")
    else:
        tally.count(f"{name}: {json.loads(out.splitlines()[-1])['raised']}")


def _faults(code: int, out: str, err: str) -> list[str]:
    """What the child says of itself."""
    if code != 0 or not out.strip():
        return [f"code {code}, stderr: {err[-300:]}"]
    report = json.loads(out.splitlines()[-1])
    faults = [] if report["raised"] in ("KeyboardInterrupt", "nothing") else [report["raised"]]
    return faults + report["faults"]


def _left_over(child: int, folder: Path) -> list[str]:
    """Processes of the child's group, and temporary folders of its, that are still there."""
    faults = [f"the folder {name} is left" for name in sorted(_temporary_folders(child))]
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder).encode() in (entry / "cmdline").read_bytes():
                faults.append(f"process {entry.name} is left")
        except OSError:
            continue
    return faults


def _temporary_folders(process: int) -> set[str]:
    """Joblib's folders of memory maps, wherever it makes them, of one process.

    Their names hold its number. Those of other programs come and go meanwhile.
    """
    places = [place for place in ("/dev/shm", tempfile.gettempdir()) if os.path.isdir(place)]
    start = f"joblib_memmapping_folder_{process}_"
    return {name for place in places for name in os.listdir(place) if name.startswith(start)}
