"""The faults that are put in: what may stand in the place of a node of the syntax tree.

* ``a < b``: ``a <= b`` and ``a >= b``; ``a + b``: ``a - b``; ``p and q``: ``p or q``;
* ``n``: ``n + 1``; ``x``: ``2 x``; ``True``: ``False``; ``min``: ``max``, ``any``: ``all``, ...;
* ``if p``: ``if not p``; ``return x``: ``return None``;
* nothing in the place of a statement that changes or checks something.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
#: Functions and words whose opposite is a likely slip.
_PAIRS = [
    ("min", "max"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("any", "all"),
    ("floor", "ceil"),
    ("zeros", "ones"),
    ("left", "right"),
]
OPPOSITES = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}


def replacements(node: ast.AST, *, may_vanish: bool) -> Iterator[tuple[str, ast.AST]]:
    """The kind of each fault at a node, and what stands there instead.

    Parameters
    ----------
    node : ast.AST
    may_vanish : bool
        Whether the node is a statement that can be left out without an undefined name.
    """
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                yield "comparison", changed
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        changed = copy.deepcopy(node)
        changed.op = ARITHMETIC[type(node.op)]()
        yield "arithmetic", changed
    elif isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "boolean", changed
    elif isinstance(node, ast.UnaryOp):
        yield "boolean" if isinstance(node.op, ast.Not) else "arithmetic", node.operand
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not _is_turned_inside(node.test):
        changed = copy.deepcopy(node)
        changed.test = ast.UnaryOp(ast.Not(), changed.test)
        yield "condition", changed
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Name | ast.Attribute):
        yield from _opposite_names(node)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "return", ast.Return(ast.Constant(None))
    if may_vanish:
        yield "deleted", ast.Pass()


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
    elif isinstance(value, float):
        yield "constant", ast.Constant(2.0 * value if value else 1.0)
    elif isinstance(value, str) and value in OPPOSITES:
        yield "opposite", ast.Constant(OPPOSITES[value])


def _opposite_names(node: ast.Name | ast.Attribute) -> Iterator[tuple[str, ast.AST]]:
    name = node.id if isinstance(node, ast.Name) else node.attr
    if name in OPPOSITES and isinstance(node.ctx, ast.Load):
        changed = copy.deepcopy(node)
        setattr(changed, "id" if isinstance(node, ast.Name) else "attr", OPPOSITES[name])
        yield "opposite", changed


def _is_turned_inside(test: ast.expr) -> bool:
    """Whether a fault of the test itself is its opposite already."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
