"""Try the wheel and the sdist of ``dist`` as a new user would: clean environments, empty folders.

    wheel   alone: the README's blocks, and the command, which names the extra that it needs;
            with [all]: fit, score, predict and report on a table of mixed columns, then the demo
    sdist   installed alone: the README's blocks; unpacked, by make: tests are collected, some are
            run, and the documentation is built

``--only wheel`` and ``--only sdist`` try one of them, ``--keep folder`` leaves all of it there to
look at. The first command that fails ends the run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Python of a Markdown page.
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Tests that look at what could be missing in the sdist: data, documents, tools, studies.
SOME_TESTS = ("tests/docs", "tests/cli", "tests/report", "tests/studies", "tests/test_package.py")


class Trial:
    """A clean environment, and an empty folder to run commands in."""

    def __init__(self, folder: Path, python: str) -> None:
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        self.bin = folder / "environment" / "bin"
        run([python, "-m", "venv", self.bin.parent], folder)
        self.pip("--upgrade", "pip>=25.1")

    def pip(self, *arguments: str) -> None:
        """Install."""
        quiet = ["--quiet", "--disable-pip-version-check"]
        run([self.bin / "python", "-m", "pip", "install", *quiet, *arguments], self.work)

    def python(self, code: str) -> str:
        """What a program prints; a warning is an error."""
        return run([self.bin / "python", "-W", "error", "-c", code], self.work)

    def scoresieve(self, *arguments: str, code: int = 0) -> str:
        """What the command prints; it must exit with the code."""
        return run([self.bin / "scoresieve", *arguments], self.work, code=code)


def run(command: list, folder: Path, *, code: int = 0) -> str:
    """What a command prints; the end of the run, with its output, if its exit code is another."""
    words = [str(word) for word in command]
    print("$", *(word.splitlines()[0] if word else "''" for word in words), flush=True)
    # Nothing of the checkout: what is tried must stand by itself.
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        words,
        cwd=folder,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != code:
        sys.exit(f"{done.stdout}\nexit code {done.returncode}, not {code}: {' '.join(words)}")
    return done.stdout


def check(condition: bool, sentence: str) -> None:
    """End the run with the sentence unless the condition holds."""
    if not condition:
        sys.exit(sentence)


def try_readme(trial: Trial) -> None:
    """All Python blocks of the README as one program, and the version of what was installed."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    check(bool(blocks), "README.md has no Python blocks")
    printed = trial.python("\n".join(blocks))
    check("held-out F1:" in printed, f"README.md printed no score:\n{printed}")
    origin, version = trial.python(
        "import scoresieve; print(scoresieve.__file__); print(scoresieve.__version__)"
    ).split()
    check(str(ROOT) not in origin, f"{origin} is the checkout, not what was installed")
    print(f"  README.md runs with scoresieve {version}", flush=True)


def try_wheel(dist: Path, folder: Path, python: str) -> None:
    """The library without extras, then the command line with all of them."""
    trial, wheel = Trial(folder, python), only(dist, "*.whl")
    trial.pip(str(wheel))
    try_readme(trial)
    said = trial.scoresieve("--help", code=2)
    check('pip install "scoresieve[cli]"' in said, f"no word of the extra: {said}")
    trial.pip(f"{wheel}[all]")
    for table in (ROOT / "examples" / "command_line").glob("*.csv"):
        shutil.copy(table, trial.work)
    trial.scoresieve("--help")
    fit = ("--label", "label", "-k", "5", "-o", "model", "--test", "messages_new.csv")
    said = trial.scoresieve("fit", "messages.csv", "--positive", "refund", *fit)
    check("text:refund" in said and "f1 of messages_new.csv" in said, f"odd summary:\n{said}")
    trial.scoresieve("score", "model", "messages_new.csv")
    trial.scoresieve("predict", "model", "messages_new.csv", "-o", "predictions.csv")
    trial.scoresieve("report", "model", "messages_new.csv", "-o", "report.html")
    trial.scoresieve("demo")
    for name in ("predictions.csv", "report.html", "demo_output/report.html"):
        check((trial.work / name).stat().st_size > 0, f"{name} is empty")
    check(any(trial.work.glob("demo_output/*.png")), "the demonstration drew no figure")


def try_sdist(dist: Path, folder: Path, python: str) -> None:
    """The library from it, then its tests and its documentation, by make alone."""
    trial, sdist = Trial(folder, python), only(dist, "*.tar.gz")
    trial.pip(str(sdist))
    try_readme(trial)
    with tarfile.open(sdist) as archive:
        archive.extractall(trial.work, filter="data")
    tree = trial.work / sdist.name.removesuffix(".tar.gz")
    run(["make", f"PYTHON={python}", "lint"], tree)
    pytest = [tree / ".venv" / "bin" / "python", "-m", "pytest", "-q"]
    counted = run([*pytest, "--collect-only"], tree).strip().splitlines()[-1]
    print(f"  {counted}", flush=True)
    print(f"  {run([*pytest, '-m', 'not slow', *SOME_TESTS], tree).splitlines()[-1]}", flush=True)
    run(["make", f"PYTHON={python}", "docs"], tree)
    check((tree / "docs/_build/html/index.html").exists(), "make docs wrote no start page")


def only(dist: Path, pattern: str) -> Path:
    """The one file of a kind."""
    found = sorted(dist.resolve().glob(pattern))
    check(len(found) == 1, f"{dist} holds {len(found)} files {pattern}; run make dist first")
    return found[0]


def main() -> None:
    trials: dict[str, Callable[[Path, Path, str], None]] = {"wheel": try_wheel, "sdist": try_sdist}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path, help="the folder that make dist wrote")
    parser.add_argument("--only", choices=trials, help="one of them instead of both")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to start from")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a new folder to leave it in")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scoresieve-") as temporary:
        folder = (args.keep or Path(temporary)).resolve()
        for name in [args.only] if args.only else trials:
            print(f"--- {name}", flush=True)
            trials[name](args.dist, folder / name, args.python)
    print("--- all of it works")


if __name__ == "__main__":
    main()
