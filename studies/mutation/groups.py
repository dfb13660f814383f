"""The modules that are mutated, and the test files that should notice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Group:
    """Modules and their tests, as patterns below ``src/scoresieve`` and ``tests``."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def paths(self, source: Path) -> list[str]:
        """The modules' files, relative to the source folder."""
        found = sorted(each for glob in self.modules for each in source.glob(f"scoresieve/{glob}"))
        return [each.relative_to(source).as_posix() for each in found if each.stem != "__init__"]

    def test_files(self, folder: Path) -> list[str]:
        """The test files, relative to the folder above ``tests``."""
        found = (each for glob in self.tests for each in sorted(folder.glob(f"tests/{glob}")))
        return [each.relative_to(folder).as_posix() for each in found]


#: Modules of the bundle that solve its master problem.
BUNDLE = ("master", "scaled", "kkt", "graded", "capped")

GROUPS = {
    "measures": Group(("measures/*.py",), ("measures/test_*.py",)),
    "risks": Group(
        ("risks/*.py",),
        ("risks/test_*.py", "losses/test_*.py"),
    ),
    "regularizers": Group(
        ("regularizers/*.py",), ("regularizers/test_*.py", "solvers/smooth/test_newton.py")
    ),
    "master": Group(
        (
            *(f"solvers/bundle/{name}.py" for name in BUNDLE),
            "solvers/interior/*.py",
        ),
        (
            *(f"solvers/bundle/test_{name}.py" for name in ("master", "kkt", "graded", "capped")),
            "solvers/interior/test_*.py",
            "solvers/smooth/test_graded.py",
        ),
    ),
    "smooth": Group(
        ("solvers/smooth/graded.py", "solvers/smooth/box.py"),
        tuple(f"solvers/smooth/test_{name}.py" for name in ("graded", "saddle", "restricted")),
    ),
    "certificate": Group(("certificate.py",), ("test_certificate.py",)),
}
