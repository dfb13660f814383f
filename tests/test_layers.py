"""The package has layers, and imports go one way: read from the source, not by importing it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "scoresieve"
SOURCE = Path(__file__).resolve().parents[1] / "src" / PACKAGE

FOUNDATIONS = {"measures", "losses", "regularizers", "design"}
HELPERS = "_helpers"  # every private module in the root: _arrays, _checks, ...
ROOT = "__init__"
CORE = FOUNDATIONS | {HELPERS, "risks", "solvers", "certificate"}
LIBRARY = CORE | {"estimators", "mil", "baselines"}
SHELVES = {"datasets", "plotting", "report"}
PROGRAMS = {"cli", "demo", "__main__"}

#: What each unit may import besides itself. "solvers.limits" is that one module alone.
ALLOWED: dict[str, set[str]] = {
    HELPERS: set(),
    **{unit: {HELPERS} for unit in FOUNDATIONS},
    "risks": {HELPERS, "measures", "losses"},
    "solvers": FOUNDATIONS | {HELPERS, "risks"},
    "certificate": {HELPERS, "risks", "solvers.problem", "solvers.limits"},
    "estimators": CORE,
    "mil": CORE | {"estimators"},
    "baselines": CORE | {"estimators", "mil"},
    ROOT: LIBRARY,
    **{unit: LIBRARY | {ROOT} for unit in SHELVES},
    **{unit: LIBRARY | {ROOT} | SHELVES for unit in PROGRAMS},
    "cli": LIBRARY | {ROOT, "demo"} | SHELVES,
    "__main__": LIBRARY | {ROOT} | SHELVES | PROGRAMS,
}
#: The rooms of a unit, each of which may import those of the rows above it.
ROOMS: dict[str, tuple[set[str], ...]] = {
    "solvers": (
        {"limits", "row_weights", "interior"},
        {"problem", "result"},
        {"working"},
        {"bundle", "conic", "smooth", "smallest_C"},
        {"splicing", "two_layer"},
        {"prices", "direct"},
        {"solve"},
        {"path", "hard_budget"},
    ),
    "design": (
        {"_base", "checks", "groups", "pairwise"},
        {"dense", "lines", "wrapped"},
        {"split_columns", "scaled"},
        {"sparse"},
        {"blocks"},
        {"convert"},
    ),
    "cli": (
        {"errors", "output"},
        {"options", "progress", "data"},
        {"tasks"},
        {"commands"},
        {"program"},
        {"running"},
        {"__main__"},
    ),
}
#: Modules that ask for one of the package by its name, when a user wants what is built on them.
BY_NAME = {"", "estimators.persistence.classes", "estimators.summary.mixin"}
#: Optional packages, imported in the function that needs them or not at all.
LAZY = {"matplotlib", "pandas", "polars", "pyarrow", "rich", "dask", "distributed"}
#: Modules that answer ``--help`` and so load nothing slow; they import it in the function that
#: does the work. What they reach that way is in the test of circles, as any import is.
LIGHT = ("cli", "cli.commands")


class Import(NamedTuple):
    """``importer`` and ``imported`` are dotted names; ``at_load`` if loading runs the import."""

    importer: str
    imported: str
    at_load: bool
    in_function: bool = False


def module_name(path: Path, source: Path) -> str:
    parts = [source.name, *path.relative_to(source).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, source: Path) -> Iterator[Import]:
    """Every import statement of a file, wherever it stands, with relative names resolved."""
    importer = module_name(path, source)
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    at_load = set(map(id, statements_run_at_load(tree)))
    in_function = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
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
            yield Import(importer, name, id(node) in at_load, id(node) in in_function)


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
    for importer, imported, *_ in all_imports(source):
        if imported.split(".")[0] != source.name:
            continue
        unit, used = unit_of(importer, source), unit_of(imported, source)
        if unit not in ALLOWED or used not in ALLOWED:
            found.append(f"{importer} -> {imported}: not in the table of layers")
        elif unit != used and not ALLOWED[unit] & {used, ".".join(imported.split(".")[1:3])}:
            found.append(f"{importer} -> {imported}: {unit} may not import {used}")
    return found


def modules_of(source: Path) -> set[str]:
    return {module_name(path, source) for path in source.rglob("*.py")}


def module_graph(source: Path) -> dict[str, set[str]]:
    """Which module imports which, wherever the import stands; a name counts as its module."""
    modules = modules_of(source)
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for importer, imported, *_ in all_imports(source):
        target = imported if imported in modules else imported.rpartition(".")[0]
        if target in modules and target != importer:
            graph[importer].add(target)
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Sets of modules that import one another: what is left when leaves are taken off in turn."""
    left = {module: set(used) for module, used in graph.items()}
    while True:
        leaves = {module for module, used in left.items() if not used}
        if not leaves:
            break
        left = {m: used - leaves for m, used in left.items() if m not in leaves}
    return [_loop_from(module, left) for module in sorted(left)][:1]


def _loop_from(start: str, graph: dict[str, set[str]]) -> list[str]:
    """Follow imports until a module comes again; only modules that import something are left."""
    way = [start]
    while way[-1] not in way[:-1]:
        way.append(min(graph[way[-1]]))
    return way[way.index(way[-1]) :]


def own_imports_in_functions(source: Path) -> list[str]:
    """Imports of the package's own modules in functions: they could hide a cycle."""
    return [
        f"{importer} -> {imported}"
        for importer, imported, _, in_function in all_imports(source)
        if in_function and imported.split(".")[0] == source.name and not is_light(importer, source)
    ]


def imports_by_name(source: Path) -> set[str]:
    """Modules with ``import_module``, which no other rule sees."""
    return {
        importer.partition(".")[2]
        for importer, imported, *_ in all_imports(source)
        if imported in ("importlib", "importlib.import_module")
    }


def is_light(module: str, source: Path) -> bool:
    """Whether a module is a part of the command line that loads nothing slow."""
    parts = module.removeprefix(f"{source.name}.").split(".")
    return ".".join(parts) in LIGHT or ".".join(parts[:-1]) in LIGHT[: len(parts) - 1]


def slow_imports(source: Path) -> list[str]:
    """What a light module imports at load besides the standard library, click and light modules."""
    modules, found = modules_of(source), []
    for importer, imported, at_load, _ in all_imports(source):
        if not at_load or not is_light(importer, source):
            continue
        target = imported if imported in modules else imported.rpartition(".")[0]
        top = imported.split(".")[0]
        if imported == f"{source.name}.__version__":  # the package itself loads nothing
            continue
        if top not in {*sys.stdlib_module_names, "click"} and not is_light(target, source):
            found.append(f"{importer} -> {imported}: slow; import it in the function")
    return found


def room_violations(source: Path) -> list[str]:
    """Imports from a room of a unit into one that is not above it."""
    return sorted(
        found for unit in ROOMS for found in room_violations_of(unit, module_graph(source), source)
    )


def room_violations_of(unit: str, graph: dict[str, set[str]], source: Path) -> Iterator[str]:
    prefix, rank = f"{source.name}.{unit}.", {}
    for row, rooms in enumerate(ROOMS[unit]):
        rank |= dict.fromkeys(rooms, row)
    for module, used in graph.items():
        for other in used:
            if not (module.startswith(prefix) and other.startswith(prefix)):
                continue
            room, theirs = (name.removeprefix(prefix).split(".")[0] for name in (module, other))
            if room not in rank or theirs not in rank:
                yield f"{module} -> {other}: not in the table of rooms"
            elif room != theirs and rank[theirs] > rank[room]:
                yield f"{module} -> {other}: {room} may not import {theirs}"


def unknown_units(source: Path) -> list[str]:
    units = {unit_of(module_name(path, source), source) for path in source.rglob("*.py")}
    return sorted(units - set(ALLOWED))


def third_party_violations(source: Path) -> list[str]:
    found = []
    for importer, imported, at_load, _ in all_imports(source):
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


def test_modules_import_one_another_in_no_circle():
    assert cycles(module_graph(SOURCE)) == []


def test_no_import_hides_in_a_function():
    assert own_imports_in_functions(SOURCE) == []


def test_imports_by_name_are_few():
    assert imports_by_name(SOURCE) == BY_NAME


def test_an_import_by_name_is_found(tmp_path):
    late = "from importlib import import_module\n"
    source = write_tree(tmp_path, {**SOUND, "solvers/conic.py": late})
    assert imports_by_name(source) == {"solvers.conic"}


def test_rooms_are_in_order():
    assert room_violations(SOURCE) == []


def test_help_of_the_command_line_loads_nothing_slow():
    assert slow_imports(SOURCE) == []


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
    "_checks.py": "import numpy\n",
    "measures/__init__.py": "from ._base import F1\n",
    "measures/_base.py": "from . import other\nfrom sklearn import __version__\n",
    "measures/other.py": "from .. import _checks\n",
    "solvers/__init__.py": "from scoresieve.measures import F1\nfrom .. import _checks\n",
    "solvers/limits.py": "",
    "solvers/problem.py": "from .limits import Limits\n",
    "solvers/conic.py": "import clarabel\nfrom . import problem\n",
    "certificate.py": "from scoresieve.solvers.limits import Status\nfrom ._checks import x\n",
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
    assert cycles(module_graph(source)) == []
    assert own_imports_in_functions(source) == []
    assert room_violations(source) == []


@pytest.mark.parametrize(
    ("file", "line", "circle"),
    [
        ("measures/other.py", "from ._base import F1", "_base other _base"),
        ("measures/other.py", "from scoresieve.measures import F1", None),
        (
            "solvers/limits.py",
            "def f():\n    from . import problem",
            "limits problem limits",
        ),
    ],
)
def test_a_circle_is_found(tmp_path, file, line, circle):
    source = write_tree(tmp_path, {**SOUND, file: f"{SOUND[file]}{line}\n"})
    (found,) = cycles(module_graph(source))
    assert found[0] == found[-1]
    if circle is not None:
        assert [module.rpartition(".")[2] for module in found] == circle.split()


def test_an_import_in_a_function_is_found(tmp_path):
    late = "def f():\n    from .problem import Problem\n"
    source = write_tree(tmp_path, {**SOUND, "solvers/conic.py": late})
    assert own_imports_in_functions(source) == [
        "scoresieve.solvers.conic -> scoresieve.solvers.problem.Problem"
    ]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("cli/program.py", "import numpy"),
        ("cli/commands/fit.py", "from sklearn.svm import LinearSVC"),
        ("cli/commands/fit.py", "from ..data.table import Table"),
        ("cli/commands/fit.py", "from scoresieve import solve"),
    ],
)
def test_a_slow_import_is_found(tmp_path, file, line):
    light = {
        "cli/__init__.py": "import sys\ndef main():\n    from .program import run\n",
        "cli/program.py": "import click\nfrom .commands.fit import fit\n",
        "cli/commands/__init__.py": "",
        "cli/commands/fit.py": "def fit():\n    import numpy\n    from ..data import table\n",
        "cli/data/table.py": "import numpy\nclass Table: pass\n",
    }
    source = write_tree(tmp_path, SOUND | light)
    assert slow_imports(source) == []
    assert own_imports_in_functions(source) == []
    source = write_tree(tmp_path, {file: f"{light[file]}{line}\n"})
    assert len(slow_imports(source)) == 1


def test_a_wrong_room_is_found(tmp_path):
    source = write_tree(tmp_path, {**SOUND, "solvers/limits.py": "from .conic import x\n"})
    (violation,) = room_violations(source)
    assert "limits may not import conic" in violation
    source = write_tree(tmp_path, {"design/dense.py": "from .sparse import x\n"})
    source = write_tree(tmp_path, {"design/sparse.py": ""})
    assert any("dense may not import sparse" in each for each in room_violations(source))
    source = write_tree(tmp_path, {"solvers/new.py": "from .limits import x\n"})
    assert any("new" in each and "table of rooms" in each for each in room_violations(source))


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("measures/_base.py", "from scoresieve.solvers import solve", "measures may not import s"),
        ("measures/_base.py", "from ..solvers import solve", "measures may not import solvers"),
        ("_checks.py", "from .measures import F1", "_helpers may not import measures"),
        ("measures/_base.py", "import scoresieve.datasets", "measures may not import datasets"),
        ("measures/_base.py", "def f():\n    from .. import solvers", "measures may not import s"),
        ("measures/__init__.py", "from ..solvers import x", "measures may not import solvers"),
        ("solvers/limits.py", "from ..certificate import x", "solvers may not import certificate"),
        ("solvers/limits.py", "from scoresieve import solve", "solvers may not import __init__"),
        ("_checks.py", "from .solvers import solve", "_helpers may not import solvers"),
        ("certificate.py", "from .solvers import solve", "certificate may not import solvers"),
        ("certificate.py", "from .solvers.conic import x", "certificate may not import solvers"),
        ("__init__.py", "from . import datasets", "__init__ may not import datasets"),
        ("__init__.py", "from .demo import main", "__init__ may not import demo"),
        ("datasets/__init__.py", "from .. import plotting", "datasets may not import plotting"),
        ("solvers/limits.py", "from ..stray import x", "solvers may not import __init__"),
    ],
)
def test_a_wrong_layer_is_found(tmp_path, file, line, message):
    source = write_tree(tmp_path, {**SOUND, file: f"{SOUND[file]}{line}\n"})
    (violation,) = layer_violations(source)
    assert message in violation


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("solvers/limits.py", "def f():\n    import clarabel", "only solvers/conic.py"),
        ("solvers/limits.py", "from clarabel import DefaultSolver", "only solvers/conic.py"),
        ("plotting.py", "import matplotlib.pyplot as plt", "in the function"),
        (
            "plotting.py",
            "try:\n    import pandas\nexcept ImportError:\n    pass",
            "in the function",
        ),
        ("plotting.py", "class Display:\n    from polars import DataFrame", "in the function"),
        ("solvers/limits.py", "from sklearn.utils._param_validation import x", "private part"),
        ("solvers/limits.py", "from sklearn.utils import _safe_indexing", "private part"),
        ("solvers/limits.py", "import sklearn.svm._base", "private part"),
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
