"""Every sentence of the package that a user can see, in one piece, to be read from start to end.

``python tools/sentences.py`` prints the strings of ``src`` by file and line, with ``{...}`` for
values: errors, warnings, help of the command line, output (summary, report, command line,
progress), and the docstrings of public names. ``--kind error`` prints one kind, ``--banned`` only
the places where ``src``, the README or the guide break the rules of :data:`BANNED`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "scoresieve"

#: Phrases that make a reader stumble, with what to write instead.
BANNED = {
    r"\btoo[.,;:)!?]": "also",
    r"\b(hold|holds|holding|held)( [a-z]+){0,3} back\b": "left out, held out, or regularised more",
    r"\bone after the other\b": "sequentially, in turn",
    r"\bto be had\b": "available",
    r"\bfor others\b": "name them",
    r"\bso many\b": "this many, or the number",
    r"\bby way of\b": "through, along a path of",
    r"\bas good\b(?! as\b)": "as good as what?",
    r"\bbeyond chance\b": "significantly (name the test)",
    r"\bsay most\b": "are most informative",
    r"\bsteady best\b": "tuned on held-out rows",
    r"\bso too high\b": "optimistic",
    r"\b(?<!to )(?<!must )says?\b": "tells, shows, indicates, names",
    r"\bwhat [a-z]+(?<!ne)ed\b": "name the thing",
    r"(?<![\d.])\d[\d.]* / \d[\d.]*( %)? / \d": "a table with one number a cell, or a plot",
    r"(?<=[a-z`\")])(;[^;.:]*){3}": "at most two parts with a semicolon",
}
KINDS = ("error", "warning", "help", "output", "docstring")
#: Words from which on a string is a sentence, not a key.
FEWEST_WORDS = 3
OF_HELP = {"help", "description", "epilog"}
WARN = {"warn", "warn_user"}


class Sentence(NamedTuple):
    """A string that a user can see."""

    path: Path
    line: int
    kind: str
    text: str


def sentences(source: Path = SOURCE) -> Iterator[Sentence]:
    """All of them, file by file."""
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from sorted(_of_file(path, tree), key=lambda sentence: sentence.line)


def _of_file(path: Path, tree: ast.Module) -> Iterator[Sentence]:
    docstrings = {
        id(node.body[0].value): node
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
    }
    public = _public(tree)
    for node, kind in _strings(tree, "output"):
        text = _text(node)
        if id(node) in docstrings:
            if docstrings[id(node)] in public:
                yield Sentence(path, node.lineno, "docstring", text)
        elif len(text.split()) >= FEWEST_WORDS:
            yield Sentence(path, node.lineno, kind, " ".join(text.split()))


def _public(tree: ast.Module) -> set[ast.AST]:
    """Classes and functions without an underscore, and the methods of such classes."""
    found: set[ast.AST] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found.add(node)
            found |= {
                child
                for child in ast.iter_child_nodes(node)
                if isinstance(child, ast.FunctionDef) and not child.name.startswith("_")
            }
    return found


def _strings(node: ast.AST, kind: str) -> Iterator[tuple[ast.expr, str]]:
    """Whole strings below a node, and their kind."""
    for child in ast.iter_child_nodes(node):
        of_child = kind
        if isinstance(child, ast.Raise):
            of_child = "error"
        elif isinstance(child, ast.Call) and _name(child.func) in WARN:
            of_child = "warning"
        elif isinstance(child, ast.keyword) and child.arg in OF_HELP:
            of_child = "help"
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Constant) and isinstance(child.value, str)
        ):
            yield child, of_child
        else:
            yield from _strings(child, of_child)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.JoinedStr)
    parts = [
        f"{{{ast.unparse(part.value)}}}" if isinstance(part, ast.FormattedValue) else _text(part)
        for part in node.values
    ]
    return "".join(parts)


class Breach(NamedTuple):
    """A banned phrase where it stands."""

    place: str
    found: str
    better: str


def breaches(text: str, name: str) -> Iterator[Breach]:
    """The banned phrases of a text, whose lines may be broken anywhere."""
    # One character for each white space or comment sign, so that places stay what they are.
    flat = re.sub(r"\n[ \t]*(#:? ?)?", lambda match: " " * len(match[0]), text)
    flat = re.sub(r" +", lambda match: " " + "\0" * (len(match[0]) - 1), flat)
    places = [at for at, character in enumerate(flat) if character != "\0"]
    flat = flat.replace("\0", "")
    for pattern, better in BANNED.items():
        for match in re.finditer(pattern, flat, re.IGNORECASE):
            line = text.count("\n", 0, places[match.start()]) + 1
            yield Breach(f"{name}:{line}", match[0], better)


def prose(path: Path) -> str:
    """The prose of a file: of Python docstrings, comments and strings, of others all but code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return re.sub(r"```.*?```", _blank, text, flags=re.DOTALL)
    kept = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')
    pieces, end = [], 0
    for match in kept.finditer(text):
        pieces += [_blank(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join(pieces)


def _blank(code: str | re.Match[str]) -> str:
    """As many lines, each a sentence of its own."""
    code = code if isinstance(code, str) else code[0]
    return re.sub(r"[^\n]", "", code).replace("\n", ".\n") or " " if code.strip() else code


def read_by_users() -> list[Path]:
    """The README, the guide and the source."""
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted(SOURCE.rglob("*.py")),
    ]


def main() -> int:
    """Print sentences, or breaches."""
    parser = argparse.ArgumentParser(description="Every sentence that a user can see.")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--banned", action="store_true", help="only what breaks the rules")
    parser.add_argument(
        "--below", default="", help="a folder or file of src, as estimators/summary"
    )
    args = parser.parse_args()
    if args.banned:
        found = [
            each
            for path in read_by_users()
            if args.below in str(path)
            for each in breaches(prose(path), str(path.relative_to(ROOT)))
        ]
        for place, phrase, better in found:
            print(f"{place}: {phrase!r} ({better})")
        return bool(found)
    last = None
    for path, line, kind, text in sentences():
        if args.kind in (None, kind) and args.below in str(path):
            if path != last:
                print(f"\n== {path.relative_to(SOURCE)}")
            print(f"{line:4} {kind}: {text}")
            last = path
    return 0


if __name__ == "__main__":
    sys.exit(main())
