"""Rungs: the smaller models that k columns are reached by, and when each column came in.

    k, k / 2, k / 4, ..., 2        and     e_j = the smallest of them since which all have column j

What came in early is what says most; among many columns the last are those that fit the noise best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scoresieve._arrays import IntArray


def rungs(ks: Sequence[int]) -> list[int]:
    """The numbers that a search goes through: ``ks``, and halves of each down to the one before.

    A search that begins with k columns at once finds more that are good by chance than one that
    adds to the fewer that were found before, above all where k is more than there is to find, see
    docs/quality.md.
    """
    found: list[int] = []
    for k in ks:
        last, halves = found[-1] if found else 1, [k]
        while (half := (halves[-1] + 1) // 2) > last:
            halves.append(half)
        found += halves[::-1]
    return found


def entered_at(k: int, supports: Mapping[int, IntArray]) -> IntArray:
    """``e_j`` of the columns of k: the smallest number since which every support has column j.

    Parameters
    ----------
    supports : mapping of int to ndarray
        The columns for k, and for what other numbers there are.
    """
    columns = supports[k]
    entered, stayed = np.full(columns.size, k), np.ones(columns.size, dtype=bool)
    for smaller in sorted((number for number in supports if number < k), reverse=True):
        stayed &= np.isin(columns, supports[smaller])
        entered[stayed] = smaller
    return entered
