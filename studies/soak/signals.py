"""SIGINT and SIGTERM at random moments of fits, conversions and saves, each in a process.

A server imports everything and is forked for each trial (:mod:`.work`). The child says that it is
ready, and does the work again and again, with the signal raised as KeyboardInterrupt as the command
line does it. The parent sends the signal after a random part of the time that the work takes. The
child then looks at what is left, and reports; the parent looks for processes and folders.
"""

from __future__ import annotations

import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from studies.common.progress import log
from studies.soak.tally import Clock, Run, Tally
from studies.soak.work import WORK

#: Seconds that a child may take to begin and to end, and that its own children may.
PATIENCE, MOMENTS_TO_END = 120.0, 10.0
REPORT_EVERY = 20


def run_signals(run: Run, folder: Path) -> Tally:
    """One child for each trial."""
    tally = Tally("signals")
    with Server() as server:
        for number in Clock(run).numbers():
            try_one(server, run.source(number), number, folder / str(number), tally)
            if (number + 1) % REPORT_EVERY == 0:
                log(f"signals: {number + 1} trials, {tally.n_failures} failures")
    return tally


class Server:
    """The process that is forked, with its lines of JSON."""

    def __enter__(self) -> Server:
        # With one thread: others would not be there in its children.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "studies.soak.work"],
            env=os.environ | threads,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)

    def start(self, name: str, folder: Path) -> int:
        """Begin a trial; the child's number."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, str(folder)]) + "\n")
        self._process.stdin.flush()
        return int(self.hear()["process"])

    def hear(self) -> dict[str, Any]:
        """The next line; ``queue.Empty`` if it does not come."""
        return json.loads(self._lines.get(timeout=PATIENCE))

    def __exit__(self, *_: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._listener.join()


def try_one(server: Server, source: random.Random, number: int, folder: Path, tally: Tally) -> None:
    """Start the work, send a signal, and judge what the child found."""
    name = sorted(WORK)[number % len(WORK)]
    sent = source.choice((signal.SIGINT, signal.SIGTERM))
    folder.mkdir()
    child = server.start(name, folder)
    report: dict[str, Any] = {}
    try:
        while "code" not in report:
            said = server.hear()
            report |= said
            if "ready" in said:
                time.sleep(source.random() * said["ready"])
                os.kill(child, sent)
    except queue.Empty:
        os.kill(child, signal.SIGKILL)
        while "code" not in server.hear():
            pass
        tally.fail(number, f"{name}: it did not end after {sent.name}")
        return
    faults = _faults(report, folder) + _left_over(child)
    if faults:
        log(f"signals: trial {number}: {faults}")
        tally.fail(number, f"{name}, {sent.name}: {'; '.join(faults)}")
    else:
        tally.count(f"{name}: {report['raised']}")


def _faults(report: dict[str, Any], folder: Path) -> list[str]:
    """What the child says of itself."""
    if report["code"] != 0 or "raised" not in report:
        said = (folder / "stderr").read_text()
        return [f"code {report['code']}, stderr: {said[-300:]}"]
    faults = [] if report["raised"] in ("KeyboardInterrupt", "nothing") else [report["raised"]]
    return faults + report["faults"]


def _left_over(child: int) -> list[str]:
    """Processes of the child's session, and temporary folders of its, that are still there."""
    end = time.monotonic() + MOMENTS_TO_END
    while (left := _of_session(child)) and time.monotonic() < end:
        time.sleep(0.05)
    faults = [f"process {number} is left" for number in left]
    return faults + [f"the folder {name} is left" for name in sorted(_temporary_folders(child))]


def _of_session(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            # Behind the name, which may hold anything: state, parent, group, session.
            state, _, _, of_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and int(of_session) == session and state != "Z":
            found.append(int(entry.name))
    return found


def _temporary_folders(process: int) -> set[str]:
    """Joblib's folders of memory maps, wherever it makes them, of one process.

    Their names hold its number. Those of other programs come and go meanwhile.
    """
    places = [place for place in ("/dev/shm", tempfile.gettempdir()) if os.path.isdir(place)]
    start = f"joblib_memmapping_folder_{process}_"
    return {name for place in places for name in os.listdir(place) if name.startswith(start)}
