"""Rows that are the same in a few sparse columns, taken together.

    sum_i c_i l(y_i, s_i) = sum over the rows with an entry + sum over the two classes of the rest

Most rows of text have none of k words: all of them have the score of the intercept. One row for
each class, with the weight of all, stands for them, and what is left is small enough to be dense.
"""

from __future__ import annotations

import numpy as np

from scoresieve.design import Columns
from scoresieve.risks import LossRisk

#: Most numbers of the dense block (16 MB); sparse products are used beyond.
MOST_NUMBERS = 2**21


def pack_rows(block: Columns, risk: LossRisk) -> tuple[Columns, LossRisk] | None:
    """The rows that differ, and one for all others of each class; None where that is no gain."""
    if risk.loss.task != "classification":
        return None
    unlike = block.unlike_rows()
    if unlike is None or unlike.size * block.n_columns > MOST_NUMBERS:
        return None
    is_like = np.ones(risk.y.size, dtype=bool)
    is_like[unlike] = False
    rows, weights = [unlike], [risk.row_weights[unlike]]
    for positive in (False, True):
        alike = np.flatnonzero(is_like & ((risk.y > 0) == positive))
        rows.append(alike[:1])
        weights.append(risk.row_weights[alike].sum(keepdims=True)[: alike.size])
    chosen = np.concatenate(rows)
    packed = LossRisk(risk.loss, risk.y[chosen], np.concatenate(weights))
    return block.dense_rows(chosen), packed
