"""Columns whose sizes are many orders apart: equilibrated by powers of two.

    X_j -> f_j X_j ,  f_j = 2^-e <= 1      gives the same outputs  X w  with the weights  w_j / f_j

and has a larger norm, so that f times its solution is worth at least as much on X itself. Where a
weight costs next to nothing anyway the two optima hardly differ, but doubles now have the digits:
the dual vector ``a`` has to balance on a large column to ``eps`` of its size, and the products in
a Newton matrix square that size. What the smaller columns leave of ``X^T a`` is taken away at the
end, by least squares.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scoresieve._arrays import FloatArray

#: The weight of a smaller column that gives typical outputs costs at most this share of the
#: objective, at first and at last, and each time by this factor less. A small share costs digits.
SHARE, LEAST_SHARE, FINER = 1e-5, 1e-15, 1e-2
#: Most sets of factors of one problem. Two are usual; an objective that turns out to be smaller by
#: a hundred orders of magnitude takes more.
MOST_SETS = 16
#: Shares of rows stay this far from underflow.
LEAST_ROW = 1e-60
#: Largest whole multiples that are tried for exact balance.
MULTIPLES = (1.0, 2.0, 3.0, 4.0)
#: Number of successive least squares solutions, and the relative size that counts as rank.
BALANCINGS, RANK = 3, 1e-10


class Equilibration:
    """The factors of the columns, which follow the objective and the dual vector.

    The size of a column is that of the terms of ``X_j^T a``: an entry of 1e12 in a row on which
    hardly anything depends makes no large column. Before a is known it is the largest entry.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    output : float
        The size of the outputs ``X w`` that matter.
    """

    def __init__(self, X: FloatArray, output: float) -> None:
        self._X, self._output, self._share = np.abs(X), output, SHARE
        self._sizes = self._X.max(axis=0, initial=0.0)
        self._tried: set[bytes] = set()

    def factors(self, objective: float) -> FloatArray | None:
        """The factors for an optimum of about this value; None if no others are worth a trial.

        Parameters
        ----------
        objective : float
            The best primal value so far.
        """
        tiny, huge = np.finfo(float).tiny, np.finfo(float).max
        while self._share >= LEAST_SHARE and len(self._tried) < MOST_SETS:
            largest = self._output / np.sqrt(self._share) / np.sqrt(max(objective, tiny))
            excess = np.clip(self._sizes / max(largest, tiny), 1.0, huge)
            factors = np.ldexp(1.0, 1 - np.frexp(excess)[1])
            if factors.tobytes() not in self._tried:
                self._tried.add(factors.tobytes())
                return factors
            self._share *= FINER
        return None

    def follow(self, a: FloatArray) -> None:
        """Take over the dual vector, one number a row."""
        total = float(np.abs(a).sum())
        if total > 0.0:
            self._sizes = (np.abs(a) / total) @ self._X


def shares_of_rows(X: FloatArray) -> FloatArray:
    """``min(1, median / size)`` with the largest entry of each row as its size.

    Where a row has a huge entry, only a small dual variable keeps ``X^T a`` small.
    """
    sizes = np.abs(X).max(axis=1, initial=0.0)
    positive = sizes[sizes > 0.0]
    if not positive.size:
        return np.ones(sizes.size)
    usual = float(np.quantile(positive, 0.5, method="lower"))
    return np.maximum(usual / np.maximum(sizes, usual), LEAST_ROW)


def near_balance(
    a: FloatArray, X: FloatArray, low: FloatArray | float, high: FloatArray | float
) -> Iterator[FloatArray]:
    """Points near ``a`` with a small ``X^T a``: to cancel to the last bit, or as far as doubles go.

    Whole multiples of one number cancel where the entries of large columns are alike, as those of
    a constant column are; least squares, which change each number by a share of it, elsewhere.

    Parameters
    ----------
    X : ndarray of shape (a.size, n_columns)
        The columns to balance on: those that were made smaller.
    low, high : ndarray or float
        Bounds of a.
    """
    yield a
    largest = float(np.abs(a).max(initial=0.0))
    if not (X.shape[1] and 0.0 < largest < np.inf):
        return
    for most in MULTIPLES:
        step = np.ldexp(1.0, np.frexp(largest / most)[1] - 1)
        yield np.clip(np.rint(a * (most / largest)) * step, low, high)
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1])
    for _ in range(BALANCINGS):
        room = np.minimum(np.abs(a), np.minimum(a - low, high - a))
        shares = np.linalg.lstsq(
            (X * room[:, None]).T, -np.sum(a[:, None] * X, axis=0), rcond=RANK
        )[0]
        a = np.clip(a + room * shares, low, high)
        yield a
