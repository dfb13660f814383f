"""Run the tests on the oldest and the newest Python and scikit-learn that are supported.

    {oldest, newest Python}  x  {scikit-learn 1.6, newest release}

Each pair gets an environment of its own under ``.venv-matrix``, which later runs use again. Pythons
are those named on the command line, or else the oldest and the newest ``python3.N``, 3.11 or newer,
that is on the PATH or among pyenv's versions and starts.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv-matrix"
OLDEST_MINOR, NEWEST_MINOR = 11, 30
SCIKIT_LEARNS = {"1.6": "scikit-learn==1.6.*", "newest": "scikit-learn"}


def found_pythons() -> list[str]:
    """The oldest and the newest ``python3.N`` that start; one if there is only one."""
    works = [
        path
        for minor in range(OLDEST_MINOR, NEWEST_MINOR)
        for path in candidates(f"python3.{minor}")
        if subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
    ]
    if not works:
        sys.exit("no python3.11 or newer is on the PATH; name one: test_matrix.py python3.11")
    return list(dict.fromkeys([works[0], works[-1]]))


def candidates(name: str) -> Iterator[str]:
    """Where the PATH has a command of this name, and where pyenv keeps its versions."""
    if path := shutil.which(name):
        yield path
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(versions.glob(f"*/bin/{name}")))


def make_environment(python: str, scikit_learn: str) -> Path:
    """The interpreter of an environment with the package, its tests' needs and one scikit-learn."""
    version = subprocess.run(
        [python, "-c", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = FOLDER / f"python-{version}-scikit-learn-{scikit_learn}"
    own = folder / "bin" / "python"
    if not own.exists():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(own), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--upgrade"]
    subprocess.run([*pip, "pip>=25.1"], check=True)
    subprocess.run(
        [*pip, "--editable", ".", "--group", "test", SCIKIT_LEARNS[scikit_learn]],
        cwd=ROOT,
        check=True,
    )
    return own


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", help="interpreters; by default the oldest and newest")
    parser.add_argument("--only", choices=SCIKIT_LEARNS, help="one scikit-learn instead of all")
    parser.add_argument("--pytest", default="", metavar="ARGUMENTS", help="for pytest, in one word")
    args = parser.parse_args()
    pythons = args.pythons or found_pythons()
    outcomes = []
    for python in pythons:
        for scikit_learn in [args.only] if args.only else SCIKIT_LEARNS:
            own = make_environment(python, scikit_learn)
            print(f"--- {own.parent.parent.name}", flush=True)
            command = [str(own), "-m", "pytest", "-q", *shlex.split(args.pytest)]
            outcomes.append((own, subprocess.run(command, cwd=ROOT, check=False).returncode))
    print("--- results")
    for own, code in outcomes:
        print(f"{'passed' if code == 0 else 'FAILED'}  {own.parent.parent.name}")
    return int(any(code for _, code in outcomes))


if __name__ == "__main__":
    sys.exit(main())
