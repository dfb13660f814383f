"""Whatever ends the command line, and whenever, no file is left that is not complete."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

N_KILLS = 6
#: Runs in an interpreter of its own. Imports are done once there; each command is then a process
#: that runs ``main`` and sends itself a signal at one of the calls of functions that it makes.
LAUNCHER = """
import json, os, random, signal, sys
import scoresieve.cli.tasks.convert, scoresieve.cli.tasks.fitting, pandas
from scoresieve.cli.app import main

def code_of(arguments, number=None, stop_at=0):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 143  # a signal may come as late as in the lines below
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"
        if number is not None and calls == stop_at:
            sys.setprofile(None)
            os.kill(os.getpid(), number)

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        sys.argv = ["scoresieve", *arguments]
        sys.setprofile(count)
        main()
    except SystemExit as ending:
        code = ending.code or 0
    except KeyboardInterrupt:
        code = 130
    finally:
        sys.setprofile(None)
        if number is None:
            with open("calls", "w") as file:
                file.write(str(calls))
        os._exit(code)

signal.signal(signal.SIGINT, signal.SIG_DFL)
*arguments, output, n_kills = json.loads(sys.argv[1])
assert code_of([*arguments, output]) == 0
n_calls = int(open("calls").read())
whole = open(output, "rb").read()
moments = random.Random(0)
for turn in range(n_kills):
    name = ("SIGTERM", "SIGINT", "SIGKILL")[turn % 3]
    os.unlink(output)
    if turn % 2:
        with open(output, "wb") as file:
            file.write(b"old")
    # The last moments are those in which files are written.
    share = moments.uniform(0.0, 0.98) if turn < n_kills // 2 else moments.uniform(0.9, 0.98)
    code = code_of([*arguments, output], getattr(signal, name), int(share * n_calls) + 1)
    content = open(output, "rb").read() if os.path.exists(output) else None
    kept = {None: "nothing", b"old": "old", whole: "whole"}.get(content, "broken")
    others = [name for name in os.listdir() if name.endswith(".tmp")]
    print(json.dumps({"signal": name, "code": code, "kept": kept, "others": len(others)}))
    for other in others:
        os.unlink(other)
    if kept == "nothing":
        open(output, "wb").close()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="kills processes as Unix does")
@pytest.mark.parametrize(
    "line",
    [
        "convert data.npz data.csv.gz",
        "fit messages.csv -k 2 --cv 2 -C 1 --positive refund -o model",
    ],
)
def test_no_unfinished_file(folder, line):
    rng = np.random.default_rng(0)
    np.savez(folder / "data.npz", X=rng.normal(size=(500, 20)), y=np.arange(500) % 2)
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, json.dumps([*line.split(), N_KILLS])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(runs) == N_KILLS
    codes = {"SIGTERM": {143, -15}, "SIGINT": {130, -2}, "SIGKILL": {-9}}
    for number, run in enumerate(runs):
        before = "old" if number % 2 else "nothing"
        assert run["code"] in codes[run["signal"]], run
        # Not a part of it: a signal may also come after the file has its name.
        assert run["kept"] in (before, "whole"), run
        if run["signal"] != "SIGKILL":
            assert run["others"] == 0, run
