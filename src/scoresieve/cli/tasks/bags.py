"""Rows with the name of a bag, as bags with labels."""

from __future__ import annotations

import numpy as np

from scoresieve._arrays import Array
from scoresieve.cli.data.table import Table
from scoresieve.cli.errors import BadData, WrongUse
from scoresieve.mil import Bags


def bags_of(table: Table) -> Bags:
    """The rows of each bag together, in the order of first appearance."""
    if table.bags is None:
        raise WrongUse(f"{table.file}: say which column names the bag of each row with --bag NAME.")
    return Bags.from_groups(table.X, table.bags)


def labels_of(table: Table, bags: Bags, y: Array) -> Array:
    """One label for each bag, from one for each row or one for each bag in the order of names."""
    names, first, bag_of = np.unique(table.bags, return_index=True, return_inverse=True)
    if y.size != bag_of.size:
        return y[np.searchsorted(names, bags.names)]
    labels = y[first]
    differs = np.flatnonzero(labels[bag_of] != y)
    if differs.size:
        bag = bag_of[differs[0]]
        raise BadData(
            f"{table.file}: the rows of the bag {names[bag]} have the labels {labels[bag]} and "
            f"{y[differs[0]]}; a bag needs one label, the same in all its rows."
        )
    return labels[np.searchsorted(names, bags.names)]
