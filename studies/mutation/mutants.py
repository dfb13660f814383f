"""Every mutant of a module: where a fault goes, and the module's code with it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from studies.mutation.operators import replacements

#: Functions whose results are for people to read.
UNTOUCHED = {"__repr__"}
#: Calls whose arguments are messages.
MESSAGES = {"logger"}


@dataclass(frozen=True)
class Mutant:
    """One fault in one module.

    Attributes
    ----------
    path : str
        The module's file below ``src``.
    number : int
        Among all faults of the module, in the order of its text.
    kind : str
        Such as "comparison".
    lines : tuple of int
        First and last line of the statement, or of the head of a block.
    function : str
        The innermost class and function around it; empty at the top of a module.
    before, after : str
        The changed piece as it stands, and as it is tried.
    occurrence : int
        Counts the same change of the same piece in the function, from 1.
    """

    path: str
    number: int
    kind: str
    lines: tuple[int, int]
    function: str
    before: str
    after: str
    occurrence: int

    @property
    def module(self) -> str:
        """Its name for ``import``."""
        return self.path.removesuffix(".py").replace("/", ".")

    @property
    def all_lines(self) -> range:
        """Numbers of its lines."""
        return range(self.lines[0], self.lines[1] + 1)

    @property
    def label(self) -> str:
        """What names it in results; it stays the same when lines move."""
        count = f" ({self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.path}: {self.function}: {self.before} -> {self.after}{count}"


@dataclass
class _Site:
    """A place in the tree, and what may stand there."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    new: ast.AST
    kind: str
    function: str
    statement: ast.stmt

    def put(self) -> None:
        if self.index is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.index] = self.new


def mutants_of(source: Path, path: str) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    found, seen = [], Counter[tuple[str, str, str]]()
    for number, site in enumerate(_sites(ast.parse((source / path).read_text()))):
        change = site.function, _text(site.node), _text(site.new)
        seen[change] += 1
        found.append(Mutant(path, number, site.kind, _lines(site.statement), *change, seen[change]))
    return found


def mutated_code(file: Path, number: int) -> CodeType:
    """The file compiled with its fault of this number; line numbers are those of the file."""
    tree = ast.parse(file.read_text())
    site = list(_sites(tree))[number]
    ast.copy_location(site.new, site.node)
    site.put()
    return compile(ast.fix_missing_locations(tree), str(file), "exec")


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """Those of a statement, and of a block the lines before its body."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno
    return statement.lineno, max(statement.lineno, last or statement.lineno)


def _text(node: ast.AST) -> str:
    """A piece of code in one line; of a block its head."""
    if isinstance(node, ast.If | ast.While):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())


def _sites(tree: ast.Module) -> Iterator[_Site]:
    for index, statement in enumerate(tree.body):
        yield from _of_statement(tree, "body", index, statement, "", set())


def _of_statement(
    parent: ast.AST, field: str, index: int, node: ast.stmt, function: str, known: set[str]
) -> Iterator[_Site]:
    """Faults of a statement and of those inside it; ``known`` are the names assigned before."""
    if _is_left_alone(node):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        name = f"{function}.{node.name}".strip(".")
        arguments = node.args if isinstance(node, ast.FunctionDef) else None
        inside = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        if arguments is not None:
            yield from _inside(arguments, "defaults", name, node)
            yield from _inside(arguments, "kw_defaults", name, node)
        for place, each in enumerate(node.body):
            yield from _of_statement(node, "body", place, each, name, inside)
        return
    may_vanish = _may_vanish(node, known) and bool(function)
    for kind, new in replacements(node, may_vanish=may_vanish):
        yield _Site(parent, field, index, node, new, kind, function, node)
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "targets", "target"} and not isinstance(node, ast.Assign):
            continue
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            for place, each in enumerate(value):
                yield from _of_statement(node, name, place, each, function, known)
        elif name != "exc" and name != "msg":
            yield from _inside(node, name, function, node)
    known |= {each.id for each in ast.walk(node) if _is_stored_name(each)}


def _inside(parent: ast.AST, field: str, function: str, statement: ast.stmt) -> Iterator[_Site]:
    """Faults of the expressions below one field of a node."""
    value = getattr(parent, field)
    for place, node in enumerate(value if isinstance(value, list) else [value]):
        if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
            continue
        index = place if isinstance(value, list) else None
        if isinstance(node, ast.expr):
            for kind, new in replacements(node, may_vanish=False):
                yield _Site(parent, field, index, node, new, kind, function, statement)
        for name, _ in ast.iter_fields(node):
            if name not in {"annotation", "ctx", "op", "ops"}:
                yield from _inside(node, name, function, statement)


def _is_left_alone(node: ast.stmt) -> bool:
    """Texts, imports, names of types, messages, and bodies that are never run."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return True
    if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
        return True
    if isinstance(node, ast.FunctionDef):
        marks = {ast.unparse(each) for each in node.decorator_list}
        return "abstractmethod" in marks or node.name in UNTOUCHED
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return isinstance(node, ast.Expr) and bool(names & MESSAGES)


def _may_vanish(node: ast.stmt, known: set[str]) -> bool:
    """Whether the code without the statement has no undefined name."""
    if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign | ast.Break | ast.Continue):
        return True
    if not isinstance(node, ast.Assign):
        return False
    stored = {each.id for each in ast.walk(node) if _is_stored_name(each)}
    return stored <= known


def _is_stored_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
