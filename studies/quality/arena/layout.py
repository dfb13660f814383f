"""What the tables of the arena share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studies.common.tables import number, print_table


def heading(text: str) -> None:
    """Above a table."""
    print(f"### {text}\n", flush=True)


def bold_best(columns: list[list[float | None]], digits: int = 1) -> list[list[str | None]]:
    """Numbers as text, the largest of each column in bold."""
    texts = []
    for column in columns:
        top = max((value for value in column if value is not None), default=None)
        texts.append(
            [
                f"**{number(value, digits)}**" if value is not None and value == top else text
                for value, text in ((value, number(value, digits)) for value in column)
            ]
        )
    return texts


def show_grid(
    title: str,
    methods: Sequence[str],
    heads: Sequence[str],
    value: Callable[[str, int], float | None],
) -> None:
    """One line for each method; ``value(method, i)`` is for the i-th head."""
    columns = [[value(method, i) for method in methods] for i in range(len(heads))]
    lines = [list(line) for line in zip(methods, *bold_best(columns), strict=True)]
    heading(title)
    print_table(["method", *heads], lines)
