"""How many of our files and frames a reader crosses who follows one fit, and where objects peek.

``python tools/walks.py`` runs three fits under the profiler and reads the source; ``--show`` prints
each walk's deepest stack, too, ``--json`` the numbers alone.

Files: those in which anything but a module's top level runs during the fit. The library is loaded
before the first; of what the command loads, the bodies of classes and the decorators count.
Frames: ours at the deepest moment, without the top levels of modules. X is dense; of sparse rows,
four more files of ``design`` take part.

Private reads: ``x._name``, or ``getattr`` and ``hasattr`` with that name, where neither the file
defines the name nor ``x`` is ``self``, ``cls``, what a method of ``super()`` returns, or a module.
A named tuple's methods are public in spite of their names.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import scoresieve

SOURCE = Path(scoresieve.__file__).resolve().parent
TABLE = Path(__file__).resolve().parents[1] / "examples" / "command_line" / "messages.csv"
OF_NAMED_TUPLES = {"_asdict", "_make", "_replace"}
BY_NAME = {"getattr", "hasattr", "setattr", "delattr"}


class Walk(NamedTuple):
    """The files of ours that a program runs through, and its deepest stack, outermost first."""

    files: list[str]
    stack: list[str]


def walked(work: Callable[[], object]) -> Walk:
    """Run it under the profiler."""
    files: set[str] = set()
    depth, stack = 0, []
    counts: dict[CodeType, bool] = {}

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal depth, stack
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code not in counts:
            counts[code] = _counts(code)
        if not counts[code]:
            return
        depth += 1 if event == "call" else -1
        if event == "call":
            files.add(_name(code))
        if depth > len(stack):
            stack = _stack(frame)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return Walk(sorted(files), stack)


def _counts(code: CodeType) -> bool:
    return code.co_name != "<module>" and code.co_filename.startswith(f"{SOURCE}{os.sep}")


def _name(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(SOURCE).as_posix()


def _stack(frame: FrameType | None) -> list[str]:
    found = []
    while frame is not None:
        if _counts(frame.f_code):
            found.append(f"{_name(frame.f_code)}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return found[::-1]


def walks() -> dict[str, Walk]:
    """Each fit in turn, on rows so few that counting takes seconds."""
    for name in scoresieve.__all__:  # the library is loaded; the command line loads the rest
        getattr(scoresieve, name)
    from scoresieve.cli.app import program

    X = np.random.default_rng(0).normal(size=(60, 40))
    y = (X[:, :2].sum(axis=1) > 0.5).astype(int)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = [str(TABLE), "--label", "label", "--positive", "refund"]
        arguments = ["fit", *table, "-k", "5", "-o", f"{folder}/model"]
        fits: dict[str, Callable[[], object]] = {
            "MeasureSVC.fit": lambda: scoresieve.MeasureSVC(n_features_to_select=30).fit(X, y),
            "ScoreSieve.fit": lambda: scoresieve.ScoreSieve(n_features_to_select=5).fit(X, y),
            "scoresieve fit": lambda: program.main(arguments, standalone_mode=False),
        }
        with contextlib.redirect_stdout(io.StringIO()):
            return {name: walked(fit) for name, fit in fits.items()}


def private_reads(source: Path = SOURCE) -> list[str]:
    """Where a file uses what is private to another: ``file:line expression``."""
    return [
        f"{path.relative_to(source).as_posix()}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(source.rglob("*.py"))
        for node in _private_reads(ast.parse(path.read_text(encoding="utf-8")))
    ]


def _private_reads(tree: ast.Module) -> Iterator[ast.expr]:
    nodes = list(ast.walk(tree))
    known = OF_NAMED_TUPLES | {name for node in nodes for name in _defined(node)}
    open_to_all = {"self", "cls", "super"} | {
        (alias.asname or alias.name).split(".")[0]
        for node in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for node in nodes:
        match node:
            case ast.Attribute(value=value, attr=name):
                pass
            case ast.Call(
                func=ast.Name(id=function), args=[value, ast.Constant(value=str(name)), *_]
            ) if function in BY_NAME:
                pass
            case _:
                continue
        is_private = name.startswith("_") and not name.startswith("__")
        if is_private and name not in known and _owner(value) not in open_to_all:
            yield node


def _defined(node: ast.AST) -> list[str]:
    """Names that a statement gives to a class or to ``self``; those of functions, wherever."""
    match node:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
            return [name]
        case ast.ClassDef(body=body):
            targets = [t for each in body if isinstance(each, ast.Assign) for t in each.targets]
            targets += [each.target for each in body if isinstance(each, ast.AnnAssign)]
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def _owner(value: ast.expr) -> str | None:
    """The name ``x`` of ``x``, and ``super`` of ``super().method(...)``."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")))):
            return "super"
        case ast.Call(func=ast.Name(id="super")):
            return "super"
    return None


def n_switches(source: Path = SOURCE) -> int:
    """Uses of ``hasattr``."""
    return sum(
        isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr"
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="the numbers alone")
    parser.add_argument("--show", action="store_true", help="stacks and private reads, too")
    options = parser.parse_args()
    found, reads = walks(), private_reads()
    if options.json:
        print(json.dumps({name: [len(w.files), len(w.stack)] for name, w in found.items()}))
        return
    for name, walk in found.items():
        print(f"{name:15} {len(walk.files):4} files {len(walk.stack):3} frames")
        if options.show:
            print("".join(f"    {line}\n" for line in walk.stack))
    print(f"{len(reads)} private reads in {len({each.split(':')[0] for each in reads})} files")
    if options.show:
        print("".join(f"    {line}\n" for line in reads))
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    n_lines = sum(text.count("\n") for text in texts)
    print(f"{n_switches()} uses of hasattr; {len(texts)} files, {n_lines} lines")


if __name__ == "__main__":
    main()
