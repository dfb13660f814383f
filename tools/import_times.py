"""What ``import scoresieve``, the first use of an estimator and ``scoresieve --help`` cost.

Each program runs in interpreters of its own, all in turn, so that a busy machine is busy for all of
them; the median counts. Bytecode is written to a folder of this run first, as an installation does,
whatever the environment says. Seconds are those on the clock, beside those of the processor.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

BASE = "import sklearn.linear_model"
PROGRAMS = {
    "an empty program": ["-c", ""],
    BASE: ["-c", BASE],
    f"{BASE}, scoresieve": ["-c", f"{BASE}, scoresieve"],
    f"{BASE}, and ScoreSieve": ["-c", f"{BASE}\nfrom scoresieve import ScoreSieve"],
    "scoresieve --help": ["-m", "scoresieve.cli", "--help"],
}


class Seconds(NamedTuple):
    clock: float
    processor: float


def measured(arguments: list[str], env: dict[str, str]) -> Seconds:
    """One run."""
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=env, check=True, stdout=subprocess.DEVNULL)
    clock, after = time.perf_counter() - begin, os.times()
    used = after.children_user + after.children_system
    return Seconds(clock, used - before.children_user - before.children_system)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9, help="runs of each program")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = folder
        runs: dict[str, list[Seconds]] = {name: [] for name in PROGRAMS}
        for repeat in range(repeats + 1):
            for name, arguments in PROGRAMS.items():
                seconds = measured(arguments, env)
                if repeat:  # the first writes the bytecode
                    runs[name].append(seconds)
    medians = {
        name: Seconds(*map(statistics.median, zip(*found, strict=True)))
        for name, found in runs.items()
    }
    print(f"{'':42}  clock  processor  above {BASE}")
    for name, (clock, processor) in medians.items():
        above = f"{clock - medians[BASE].clock:+.2f}" if name.startswith(f"{BASE},") else ""
        print(f"{name:42} {clock:6.2f} {processor:10.2f}  {above}".rstrip())


if __name__ == "__main__":
    main()
