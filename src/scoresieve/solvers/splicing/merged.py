"""Equal rows of a few sparse columns, merged: most rows of text have none of ten words.

    sum_i c_i l(y_i, <w, x_i>) = sum_{i in T} c_i l(y_i, <w, x_i>) + sum_y c_y l(y, <w, x_0>)

T are the rows with an entry in some column that is not constant, x_0 is what all others are, and
c_y the weight of those of them with the label y.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scoresieve._arrays import IntArray
from scoresieve.design import Columns
from scoresieve.risks import LossRisk


class Merged(NamedTuple):
    """A block of distinct rows and its risk; row i of the whole is row ``places[i]`` of it."""

    block: Columns
    risk: LossRisk
    places: IntArray | slice


def merge_equal_rows(block: Columns, risk: LossRisk) -> Merged:
    """The rows that differ, and one row for each label of those that do not."""
    rows = block.varied_rows() if risk.loss.task == "classification" else None
    if rows is None:
        return Merged(block, risk, slice(None))
    n_samples, weights = risk.y.size, risk.row_weights
    is_other = np.ones(n_samples, dtype=bool)
    is_other[rows] = False
    places = np.empty(n_samples, dtype=np.int64)
    places[rows] = np.arange(rows.size)
    firsts: list[int] = []
    totals: list[float] = []
    for members in (
        np.flatnonzero(is_other & (risk.y > 0)),
        np.flatnonzero(is_other & (risk.y < 0)),
    ):
        if members.size:
            places[members] = rows.size + len(firsts)
            firsts.append(int(members[0]))
            totals.append(float(np.sum(weights[members])))
    kept = np.append(rows, firsts).astype(np.int64)
    merged = LossRisk(risk.loss, risk.y[kept], np.append(weights[rows], totals))
    return Merged(block.only_rows(kept), merged, places)
