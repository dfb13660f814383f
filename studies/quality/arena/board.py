"""The cells as one table: for each (set, class, k) the value of each method.

Conventions
-----------
A method stands with the better of its own model and the common refit. With the rule ``"set"`` that
is, for each set and k, the form with the higher mean on the test rows: a choice in the favour of
every method that has both. With ``"cv"`` it is the form with the higher cross-validated measure,
cell by cell, which a user could make.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from studies.quality.arena.methods import ALL_FEATURES, METHODS

RULES = ("set", "cv")


class Cell(NamedTuple):
    """A task with a number of features."""

    name: str
    label: int
    k: int

    @property
    def task(self) -> tuple[str, int]:
        """Set and class."""
        return self.name, self.label


@dataclass(frozen=True)
class Board:
    """``values[cell][method]`` of one measure.

    Attributes
    ----------
    values : dict
        Only cells that every method of their set and k has.
    n_dropped : int
        Cells that a method lacks which has most of the others.
    """

    values: dict[Cell, dict[str, float]]
    n_dropped: int = 0

    def sets(self) -> list[str]:
        """In the order of the cells."""
        return list(dict.fromkeys(cell.name for cell in self.values))

    def ks(self) -> list[int]:
        """Sorted."""
        return sorted({cell.k for cell in self.values})

    def methods(self) -> list[str]:
        """All that have a value somewhere."""
        found = {name for row in self.values.values() for name in row}
        return [name for name in METHODS if name in found]

    def mean(self, method: str, name: str, k: int | None = None) -> float | None:
        """Over the classes of a set, and over all its k if none is given; None if there is none."""
        rows = [row for cell, row in self.values.items() if cell.name == name]
        if k is not None:
            rows = [row for cell, row in self.values.items() if (cell.name, cell.k) == (name, k)]
        found = [row[method] for row in rows if method in row]
        return float(np.mean(found)) if rows and len(found) == len(rows) else None

    def mean_over_sets(self, method: str, k: int) -> float | None:
        """Every set counts the same; None if the method lacks one."""
        names = list(dict.fromkeys(cell.name for cell in self.values if cell.k == k))
        means = [self.mean(method, name, k) for name in names]
        return float(np.mean(means)) if means and None not in means else None

    def common(self, methods: Sequence[str], ks: Iterable[int]) -> tuple[list[Cell], np.ndarray]:
        """The cells that all of the methods have, and their values, one column each."""
        wanted = set(ks)
        cells = [
            cell
            for cell, row in self.values.items()
            if cell.k in wanted and all(name in row for name in methods)
        ]
        return cells, np.array([[self.values[cell][name] for name in methods] for cell in cells])

    def regular(self, ks: Iterable[int]) -> list[str]:
        """The methods that have every cell with these k."""
        wanted = set(ks)
        rows = [row for cell, row in self.values.items() if cell.k in wanted]
        return [name for name in self.methods() if rows and all(name in row for row in rows)]


def make_board(rows: list[dict[str, Any]], metric: str, target: str, rule: str = "set") -> Board:
    """The test values of a metric for models made for a target."""
    by_form: dict[Cell, dict[str, dict[str, dict[str, Any]]]] = defaultdict(dict)
    for row in rows:
        if row["kind"] == "cell" and row["target"] == target and row["method"] != ALL_FEATURES:
            cell = Cell(row["set"], row["class"], row["k"])
            by_form[cell].setdefault(row["method"], {})[row["form"]] = row
    forms = best_forms(by_form, metric) if rule == "set" else None
    values: dict[Cell, dict[str, float]] = {}
    for cell, methods in by_form.items():
        values[cell] = {}
        for method, found in methods.items():
            if forms is None:
                row = max(found.values(), key=lambda row: row.get("cv", 0.0))
            else:
                row = found[forms[cell.name, cell.k, method]]
            values[cell][method] = row[metric]
    return without_gaps(values)


def best_forms(by_form: dict, metric: str) -> dict[tuple[str, int, str], str]:
    """For each set, k and method the form with the higher mean."""
    sums: dict[tuple, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell, methods in by_form.items():
        for method, found in methods.items():
            for form, row in found.items():
                sums[cell.name, cell.k, method][form].append(row[metric])
    return {key: max(found, key=lambda form: np.mean(found[form])) for key, found in sums.items()}


def without_gaps(values: dict[Cell, dict[str, float]]) -> Board:
    """Methods with less than half of a set's cells go, then the cells that a method lacks."""
    groups: dict[tuple[str, int], list[Cell]] = defaultdict(list)
    for cell in values:
        groups[cell.name, cell.k].append(cell)
    kept, n_dropped = {}, 0
    for cells in groups.values():
        names = dict.fromkeys(name for cell in cells for name in values[cell])
        regular = [
            name for name in names if 2 * sum(name in values[cell] for cell in cells) >= len(cells)
        ]
        for cell in cells:
            if all(name in values[cell] for name in regular):
                kept[cell] = {name: values[cell][name] for name in regular}
            else:
                n_dropped += 1
    return Board(kept, n_dropped)
