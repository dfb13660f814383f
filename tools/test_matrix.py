"""Run the tests on the oldest and the newest Python and libraries that are supported.

    oldest Python:  {the lower bounds of pyproject.toml, newest releases}
    newest Python:  {scikit-learn 1.6, newest releases}

Lower bounds are those of the package and of its extras: "numpy>=1.26" is tried as numpy 1.26. A new
Python has no builds of such old libraries, so that there only scikit-learn, whose interface changes
most, is an old one. Each pair gets an environment of its own under ``.venv-matrix``, which later
runs use again. Pythons are those named on the command line, or else the oldest and the newest
``python3.N``, 3.11 or newer, that is on the PATH or among pyenv's versions and starts.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv-matrix"
OLDEST_MINOR, NEWEST_MINOR = 11, 30
LIBRARIES = ("oldest", "scikit-learn-1.6", "newest")
LOWER_BOUND = re.compile(r"(?P<name>[\w-]+)(\[[\w,]+\])?>=(?P<major>\d+)(\.(?P<minor>\d+))?")


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


def lower_bounds() -> list[str]:
    """``name==major.minor.*`` for each requirement of the package and of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    required = {*project["dependencies"], *(each for name in extras for each in extras[name])}
    found = [
        LOWER_BOUND.fullmatch(each) for each in sorted(required) if project["name"] not in each
    ]
    if not all(found):
        sys.exit("every requirement in pyproject.toml must have a lower bound: name>=1.2")
    return [f"{each['name']}=={each['major']}.{each['minor'] or 0}.*" for each in found]


def pins(libraries: str) -> list[str]:
    """The versions that are asked for; others are as new as these allow."""
    if libraries == "oldest":
        return lower_bounds()
    return ["scikit-learn==1.6.*"] if libraries == "scikit-learn-1.6" else []


def make_environment(python: str, libraries: str) -> Path:
    """The interpreter of an environment with the package, its tests' needs and some libraries."""
    version = subprocess.run(
        [python, "-c", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = FOLDER / f"python-{version}-{libraries}"
    own = folder / "bin" / "python"
    if not own.exists():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(own), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--upgrade"]
    subprocess.run([*pip, "pip>=25.1"], check=True)
    subprocess.run(
        [*pip, "--editable", ".", "--group", "test", *pins(libraries)],
        cwd=ROOT,
        check=True,
    )
    return own


def chosen_pairs(pythons: list[str], only: str | None) -> list[tuple[str, str]]:
    """Each Python, the oldest first, with the libraries that the tests run on."""
    if only:
        return [(pythons[0], only)]
    first, *others = pythons
    old = [(first, "oldest"), *((python, "scikit-learn-1.6") for python in others)]
    return [pair for python, libraries in old for pair in ((python, libraries), (python, "newest"))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", help="interpreters; by default the oldest and newest")
    parser.add_argument("--only", choices=LIBRARIES, help="these libraries, on the first Python")
    parser.add_argument("--pytest", default="", metavar="ARGUMENTS", help="for pytest, in one word")
    args = parser.parse_args()
    pythons = args.pythons or found_pythons()
    outcomes = []
    for python, libraries in chosen_pairs(pythons, args.only):
        own = make_environment(python, libraries)
        print(f"--- {own.parent.parent.name}", flush=True)
        command = [str(own), "-m", "pytest", "-q", *shlex.split(args.pytest)]
        outcomes.append((own, subprocess.run(command, cwd=ROOT, check=False).returncode))
    print("--- results")
    for own, code in outcomes:
        print(f"{'passed' if code == 0 else 'FAILED'}  {own.parent.parent.name}")
    return int(any(code for _, code in outcomes))


if __name__ == "__main__":
    sys.exit(main())
