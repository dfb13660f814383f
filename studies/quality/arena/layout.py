"""What the tables of the arena share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studies.common.tables import number, print_table


def heading(text: str) -> None:
    """Above a table."""
    print(f"### {text}\n", flush=True)


def bold_best(column: Sequence[float | None], digits: int = 1) -> list[str | None]:
    """Numbers as text, the largest in bold."""
    top = max((value for value in column if value is not None), default=None)
    texts = [number(value, digits) for value in column]
    return [
        f"**{text}**" if value is not None and value == top else text
        for value, text in zip(column, texts, strict=True)
    ]


def show_grid(
    title: str,
    methods: Sequence[str],
    heads: Sequence[str],
    value: Callable[[str, int], float | None],
) -> None:
    """One line for each method that has a value; ``value(method, i)`` is for the i-th head."""
    methods = [m for m in methods if any(value(m, i) is not None for i in range(len(heads)))]
    columns = [bold_best([value(method, i) for method in methods]) for i in range(len(heads))]
    lines = [list(line) for line in zip(methods, *columns, strict=True)]
    heading(title)
    print_table(["method", *heads], lines)
