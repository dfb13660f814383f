"""The package has layers, and imports go one way: read from the source, not by importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "scoresieve"
SOURCE = Path(__file__).resolve().parents[1] / "src" / PACKAGE

FOUNDATIONS = {"measures", "losses", "regularizers", "design"}
HELPERS = "_helpers"  # every private module in the root: _checks, _typing, ...
ROOT = "__init__"
CORE = FOUNDATIONS | {HELPERS, "solvers", "certificate", "loss_certificate"}
LIBRARY = CORE | {"estimators", "mil", "baselines"}
SHELVES = {"datasets", "plotting", "report"}
PROGRAMS = {"cli", "demo", "__main__"}

#: What each unit may import besides itself. "solvers.result" is that one module alone.
ALLOWED: dict[str, set[str]] = {
    **{unit: set() for unit in FOUNDATIONS},
    HELPERS: FOUNDATIONS,
    "solvers": FOUNDATIONS | {HELPERS},
    "certificate": {
        "measures",
        "regularizers",
        "design",
        HELPERS,
        "solvers.problem",
        "solvers.result",
    },
    "loss_certificate": {
        *FOUNDATIONS,
        HELPERS,
        "certificate",
        "solvers.loss_problem",
        "solvers.result",
    },
    "estimators": CORE,
    "mil": CORE | {"estimators"},
    "baselines": CORE | {"estimators", "mil"},
    ROOT: LIBRARY,
    **{unit: LIBRARY | {ROOT} for unit in SHELVES},
    **{unit: LIBRARY | {ROOT} | SHELVES for unit in PROGRAMS},
    "__main__": LIBRARY | {ROOT} | SHELVES | PROGRAMS,
}
#: Optional packages, imported in the function that needs them or not at all.
LAZY = {"matplotlib", "pandas", "polars"}


class Import(NamedTuple):
    """``importer`` and ``imported`` are dotted names; ``at_load`` if loading runs the import."""

    importer: str
    imported: str
    at_load: bool


def module_name(path: Path, source: Path) -> str:
    parts = [source.name, *path.relative_to(source).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, source: Path) -> Iterator[Import]:
    """Every import statement of a file, wherever it stands, with relative names resolved."""
    importer = module_name(path, source)
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    at_load = set(map(id, statements_run_at_load(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            yield Import(importer, name, id(node) in at_load)


def statements_run_at_load(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a module, but not into functions and not into ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from statements_run_at_load(child)


def all_imports(source: Path) -> list[Import]:
    return [each for path in sorted(source.rglob("*.py")) for each in imports_of(path, source)]


def unit_of(module: str, source: Path) -> str:
    """The row of ``ALLOWED`` for a dotted name; a name that ``__init__`` defines is the root's."""
    parts = module.split(".")[1:]
    if not parts or not any((source / name).exists() for name in (parts[0], f"{parts[0]}.py")):
        return ROOT
    if parts[0].startswith("_") and not parts[0].startswith("__"):
        return HELPERS
    return parts[0]


def layer_violations(source: Path) -> list[str]:
    found = []
    for importer, imported, _ in all_imports(source):
        if imported.split(".")[0] != source.name:
            continue
        unit, used = unit_of(importer, source), unit_of(imported, source)
        if unit not in ALLOWED or used not in ALLOWED:
            found.append(f"{importer} -> {imported}: not in the table of layers")
        elif unit != used and not ALLOWED[unit] & {used, ".".join(imported.split(".")[1:3])}:
            found.append(f"{importer} -> {imported}: {unit} may not import {used}")
    return found


def unknown_units(source: Path) -> list[str]:
    units = {unit_of(module_name(path, source), source) for path in source.rglob("*.py")}
    return sorted(units - set(ALLOWED))


def third_party_violations(source: Path) -> list[str]:
    found = []
    for importer, imported, at_load in all_imports(source):
        top, *rest = imported.split(".")
        if top == "clarabel" and importer != f"{source.name}.solvers.conic":
            found.append(f"{importer} -> {imported}: only solvers/conic.py imports clarabel")
        if top in LAZY and at_load:
            found.append(f"{importer} -> {imported}: import it in the function that needs it")
        if top == "sklearn" and any(is_private(part) for part in rest):
            found.append(f"{importer} -> {imported}: private part of scikit-learn")
    return found


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def test_imports_go_one_way():
    assert layer_violations(SOURCE) == []


def test_every_unit_is_in_the_table():
    assert unknown_units(SOURCE) == []


def test_third_party_imports_are_where_they_belong():
    assert third_party_violations(SOURCE) == []


def test_the_source_was_read():
    modules = {each.importer for each in all_imports(SOURCE)}
    assert f"{PACKAGE}.measures._base" in modules
    assert f"{PACKAGE}.datasets.docstrings" in modules


SOUND = {
    "__init__.py": "from .solvers import solve\nfrom .measures import F1\n",
    "_checks.py": "import numpy\nfrom .measures import F1\n",
    "measures/__init__.py": "from ._base import F1\n",
    "measures/_base.py": "from . import other\nfrom sklearn import __version__\n",
    "measures/other.py": "",
    "solvers/__init__.py": "from scoresieve.measures import F1\nfrom .. import _checks\n",
    "solvers/result.py": "",
    "solvers/conic.py": "import clarabel\n",
    "certificate.py": "from scoresieve.solvers.result import SolveResult\nfrom ._checks import x\n",
    "datasets/__init__.py": "",
    "plotting.py": "def draw():\n    import matplotlib.pyplot\n",
    "demo.py": "from scoresieve import solve\nfrom scoresieve.datasets import load\n",
}


def write_tree(folder: Path, files: dict[str, str]) -> Path:
    source = folder / PACKAGE
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    return source


def test_a_sound_tree_passes(tmp_path):
    source = write_tree(tmp_path, SOUND)
    assert layer_violations(source) == []
    assert third_party_violations(source) == []
    assert unknown_units(source) == []


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("measures/_base.py", "from scoresieve.solvers import solve", "measures may not import s"),
        ("measures/_base.py", "from ..solvers import solve", "measures may not import solvers"),
        ("measures/_base.py", "from .. import _checks", "measures may not import _helpers"),
        ("measures/_base.py", "import scoresieve.datasets", "measures may not import datasets"),
        ("measures/_base.py", "def f():\n    from .. import solvers", "measures may not import s"),
        ("measures/__init__.py", "from ..solvers import x", "measures may not import solvers"),
        ("solvers/result.py", "from ..certificate import x", "solvers may not import certificate"),
        ("solvers/result.py", "from scoresieve import solve", "solvers may not import __init__"),
        ("_checks.py", "from .solvers import solve", "_helpers may not import solvers"),
        ("certificate.py", "from .solvers import solve", "certificate may not import solvers"),
        ("certificate.py", "from .solvers.conic import x", "certificate may not import solvers"),
        ("__init__.py", "from . import datasets", "__init__ may not import datasets"),
        ("__init__.py", "from .demo import main", "__init__ may not import demo"),
        ("datasets/__init__.py", "from .. import plotting", "datasets may not import plotting"),
        ("solvers/result.py", "from ..stray import x", "solvers may not import __init__"),
    ],
)
def test_a_wrong_layer_is_found(tmp_path, file, line, message):
    source = write_tree(tmp_path, {**SOUND, file: f"{SOUND[file]}{line}\n"})
    (violation,) = layer_violations(source)
    assert message in violation


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("solvers/result.py", "def f():\n    import clarabel", "only solvers/conic.py"),
        ("solvers/result.py", "from clarabel import DefaultSolver", "only solvers/conic.py"),
        ("plotting.py", "import matplotlib.pyplot as plt", "in the function"),
        (
            "plotting.py",
            "try:\n    import pandas\nexcept ImportError:\n    pass",
            "in the function",
        ),
        ("plotting.py", "class Display:\n    from polars import DataFrame", "in the function"),
        ("solvers/result.py", "from sklearn.utils._param_validation import x", "private part"),
        ("solvers/result.py", "from sklearn.utils import _safe_indexing", "private part"),
        ("solvers/result.py", "import sklearn.svm._base", "private part"),
    ],
)
def test_a_wrong_third_party_import_is_found(tmp_path, file, line, message):
    source = write_tree(tmp_path, {**SOUND, file: f"{SOUND[file]}{line}\n"})
    (violation,) = third_party_violations(source)
    assert message in violation


def test_type_only_imports_of_optional_packages_are_fine(tmp_path):
    line = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\n"
    source = write_tree(tmp_path, {**SOUND, "plotting.py": line})
    assert third_party_violations(source) == []


def test_a_unit_outside_the_table_is_found(tmp_path):
    source = write_tree(tmp_path, {**SOUND, "gadgets/__init__.py": "from ..measures import F1\n"})
    assert unknown_units(source) == ["gadgets"]
    assert layer_violations(source) == [
        "scoresieve.gadgets -> scoresieve.measures.F1: not in the table of layers"
    ]
