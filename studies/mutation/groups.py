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


#: The modules of the master problem that are ours: the conic one is Clarabel's.
MASTER = ("solve", "problem", "kkt")

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
            *(f"solvers/master/{name}.py" for name in MASTER),
            "solvers/interior.py",
            "solvers/ill_scaled.py",
        ),
        (
            *(f"solvers/master/test_{name}.py" for name in ("solve", "kkt", "ill_scaled")),
            "solvers/test_interior.py",
            "solvers/test_ill_scaled.py",
            "solvers/smooth/test_ill_scaled.py",
        ),
    ),
    "smooth": Group(
        ("solvers/smooth/saddle.py",),
        tuple(f"solvers/smooth/test_{name}.py" for name in ("ill_scaled", "saddle", "restricted")),
    ),
    "certificate": Group(("certificate.py",), ("test_certificate.py",)),
}
