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
LIBRARY = CORE | {"estimators", "mil", "baselines", "tables"}
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
    "tables": {HELPERS, "estimators.persistence"},
    ROOT: LIBRARY,
    **{unit: LIBRARY | {ROOT} for unit in SHELVES},
    **{unit: LIBRARY | {ROOT} | SHELVES for unit in PROGRAMS},
    "cli": LIBRARY | {ROOT, "demo"} | SHELVES,
    "__main__": LIBRARY | {ROOT} | SHELVES | PROGRAMS,
}
#: The rooms of a unit, each of which may import those of the rows above it.
ROOMS: dict[str, tuple[set[str], ...]] = {
    "solvers": (
        {"limits", "row_weights", "interior", "ill_scaled"},
        {"problem"},
        {"working"},
        {"master", "smooth"},
        {"bundle"},
        {"engines"},
        {"subset"},
        {"prices"},
        {"smallest_C"},
        {"solve", "path"},
    ),
    "design": (
        {"_base"},
        {"dense", "scaled"},
        {"sparse"},
        {"blocks"},
        {"convert"},
    ),
    "cli": (
        {"errors"},
        {"output", "data"},
        {"options", "tasks"},
        {"commands"},
        {"app"},
        {"__main__"},
    ),
}
#: Modules that ask for one of the package by its name, when a user wants what is built on them.
BY_NAME = {"", "estimators.persistence.registry", "estimators.summary.mixin"}
#: What persistence reads of the estimators: fitted models as values, whosever they are.
VALUES, PERSISTENCE = ("model", "targets", "persistence"), "estimators.persistence"
PARTS_ABOVE = ("mil", "baselines")
#: Who looks at fitted models, of any class.
VIEWERS = ("estimators.summary", "report", "plotting")
#: Where the weights of all columns are made; others read ``coef_``, or a model.
COEF = ("estimators.linear_model", "estimators.budget_regressor")
#: Optional packages, imported in the function that needs them or not at all.
LAZY = {"matplotlib", "pandas", "polars", "pyarrow", "rich", "dask", "distributed"}
#: Modules of this folder answer ``--help`` and so load nothing slow; they import it in the function
#: that does the work. What they reach that way is in the test of circles, as any import is.
LIGHT = "cli"


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
    return parts[0] == LIGHT and len(parts) <= 2


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
        if top == "clarabel" and importer != f"{source.name}.solvers.master.conic":
            found.append(f"{importer} -> {imported}: only solvers/master/conic.py imports clarabel")
        if top in LAZY and at_load:
            found.append(f"{importer} -> {imported}: import it in the function that needs it")
        if top == "sklearn" and any(is_private(part) for part in rest):
            found.append(f"{importer} -> {imported}: private part of scikit-learn")
    return found


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def value_violations(source: Path) -> list[str]:
    """Where a model is not read as a value: by its class, by a class's name, or by ``_coef``."""
    parsed = {module_name(p, source): ast.parse(p.read_text("utf-8")) for p in source.rglob("*.py")}
    estimators = {
        node.name
        for tree in parsed.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(part, ast.FunctionDef) and part.name == "fit" for part in node.body)
    }
    found = []
    for importer, imported, *_ in all_imports(source):
        room, used = (name.partition(".")[2] for name in (importer, imported))
        is_value = any(is_in(used, f"estimators.{name}") for name in VALUES)
        if is_in(room, PERSISTENCE) and is_in(used, "estimators") and not is_value:
            found.append(f"{room} -> {used}: persistence reads values")
        if any(is_in(room, each) for each in VIEWERS) and used.rpartition(".")[2] in estimators:
            found.append(f"{room} -> {used}: models are told by their values")
    for room, node in ((m.partition(".")[2], node) for m in parsed for node in ast.walk(parsed[m])):
        is_name = isinstance(node, ast.Constant) and node.value in {*estimators, *PARTS_ABOVE}
        if is_name and is_in(room, PERSISTENCE):
            found.append(f"{room}: persistence names {node.value}")
        if isinstance(node, ast.Attribute) and node.attr == "_coef" and room not in COEF:
            found.append(f"{room}: reads _coef")
    return found


def is_in(module: str, room: str) -> bool:
    return f"{module}.".startswith(f"{room}.")


def circles(source: Path) -> list[str]:
    """The modules of each circle, by the last parts of their names."""
    loops = cycles(module_graph(source))
    return [" ".join(module.rpartition(".")[2] for module in loop) for loop in loops]


RULES = [
    *(layer_violations, room_violations, unknown_units, third_party_violations),
    *(circles, own_imports_in_functions, slow_imports, value_violations),
]


@pytest.mark.parametrize("rule", RULES)
def test_the_package_keeps_the_rules(rule):
    assert rule(SOURCE) == []


def test_imports_by_name_are_few():
    assert imports_by_name(SOURCE) == BY_NAME


def test_the_source_was_read():
    modules = {each.importer for each in all_imports(SOURCE)}
    assert f"{PACKAGE}.measures.measure" in modules
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
    "solvers/master/conic.py": "import clarabel\nfrom .. import problem\n",
    "design/dense.py": "",
    "design/sparse.py": "",
    "certificate.py": "from scoresieve.solvers.limits import Status\nfrom ._checks import x\n",
    "estimators/svc.py": "class SVC:\n    def fit(self): pass\n",
    "estimators/persistence/file.py": "'''Of an SVC.'''\nfrom ..model import ClassModel\n",
    "estimators/summary/facts.py": "",
    "estimators/linear_model.py": "def f(self): return self._coef\n",
    "mil/svc.py": "",
    "datasets/__init__.py": "",
    "plotting.py": "def draw():\n    import matplotlib.pyplot\n",
    "demo.py": "from scoresieve import solve\nfrom scoresieve.datasets import load\n",
    "cli/__init__.py": "import sys\ndef main():\n    from .app import run\n",
    "cli/app.py": "import click\nfrom .commands import fit\n",
    "cli/commands.py": "def fit():\n    import numpy\n    from .data import tables\n",
    "cli/data/tables.py": "import numpy\nclass Table: pass\n",
}


def write_tree(folder: Path, files: dict[str, str]) -> Path:
    source = folder / PACKAGE
    for name, text in (SOUND | files).items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    return source


TYPE_ONLY = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\n"


@pytest.mark.parametrize("files", [{}, {"plotting.py": TYPE_ONLY}], ids=["sound", "type only"])
@pytest.mark.parametrize("rule", RULES)
def test_a_sound_tree_passes(tmp_path, rule, files):
    assert rule(write_tree(tmp_path, files)) == []


#: What breaks a rule: a line more in a file of the sound tree, and what is said of it.
BROKEN = {
    layer_violations: [
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
        ("certificate.py", "from .solvers.master.conic import x", "may not import solvers"),
        ("__init__.py", "from . import datasets", "__init__ may not import datasets"),
        ("__init__.py", "from .demo import main", "__init__ may not import demo"),
        ("datasets/__init__.py", "from .. import plotting", "datasets may not import plotting"),
        ("solvers/limits.py", "from ..stray import x", "solvers may not import __init__"),
        ("gadgets/__init__.py", "from ..measures import F1", "F1: not in the table of layers"),
    ],
    unknown_units: [("gadgets/__init__.py", "", "gadgets")],
    room_violations: [
        ("solvers/limits.py", "from .master.conic import x", "limits may not import master"),
        ("design/dense.py", "from .sparse import x", "dense may not import sparse"),
        ("solvers/new.py", "from .limits import x", "new -> scoresieve.solvers.limits: not in"),
    ],
    third_party_violations: [
        ("solvers/limits.py", "def f():\n    import clarabel", "only solvers/master/conic.py"),
        ("solvers/limits.py", "from clarabel import DefaultSolver", "only solvers/master/conic.py"),
        ("plotting.py", "import matplotlib.pyplot as plt", "in the function"),
        ("plotting.py", "try:\n    import pandas\nexcept ImportError:\n    x = 1", "in the functi"),
        ("plotting.py", "class Display:\n    from polars import DataFrame", "in the function"),
        ("solvers/limits.py", "from sklearn.utils._param_validation import x", "private part"),
        ("solvers/limits.py", "from sklearn.utils import _safe_indexing", "private part"),
        ("solvers/limits.py", "import sklearn.svm._base", "private part"),
    ],
    circles: [
        ("measures/other.py", "from ._base import F1", "_base other _base"),
        ("measures/other.py", "from scoresieve.measures import F1", "measures"),
        ("solvers/limits.py", "def f():\n    from . import problem", "limits problem limits"),
    ],
    own_imports_in_functions: [
        (
            "solvers/master/conic.py",
            "def f():\n    from ..problem import Problem",
            "scoresieve.solvers.master.conic -> scoresieve.solvers.problem.Problem",
        ),
    ],
    slow_imports: [
        ("cli/app.py", "import numpy", "slow"),
        ("cli/commands.py", "from sklearn.svm import LinearSVC", "slow"),
        ("cli/commands.py", "from .data.tables import Table", "slow"),
        ("cli/commands.py", "from scoresieve import solve", "slow"),
    ],
    value_violations: [
        ("estimators/persistence/file.py", "from ..svc import limits", "persistence reads values"),
        ("estimators/persistence/file.py", "names = ['SVC']", "persistence names SVC"),
        ("estimators/persistence/file.py", "names = ['baselines']", "persistence names baselines"),
        ("estimators/summary/facts.py", "from ..svc import SVC", "told by their values"),
        ("plotting.py", "from .estimators import SVC", "told by their values"),
        ("mil/svc.py", "def f(model): return model._coef", "reads _coef"),
    ],
    lambda source: sorted(imports_by_name(source)): [
        ("solvers/master/conic.py", "from importlib import import_module", "solvers.master.conic"),
    ],
}


@pytest.mark.parametrize(
    ("rule", "file", "line", "message"),
    [(rule, *case) for rule, cases in BROKEN.items() for case in cases],
)
def test_what_breaks_a_rule_is_found(tmp_path, rule, file, line, message):
    (violation,) = rule(write_tree(tmp_path, {file: f"{SOUND.get(file, '')}{line}\n"}))
    assert message in violation
