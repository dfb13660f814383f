"""Generated text of any size, written as row blocks: words by Zipf's law, a rare class in some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from scoresieve.design import RowBlocks, open_blocks, write_blocks
from studies.common.progress import log

#: Words that decide about the class, and the ranks of frequency that they are drawn from.
N_TELLING, TELLING_RANKS = 40, (50, 5000)
#: Rows that are made at a time.
ROWS_AT_ONCE = 20_000
#: Of the scores' deviation, added as noise; and how many rows are positive.
NOISE, SHARE_OF_POSITIVES = 0.5, 0.02
#: The frequency of rank r falls as 1 / (r + SHIFT): the first words are in some ten per cent of
#: rows, as if stop words had been left out.
SHIFT = 100.0


@dataclass(frozen=True)
class TextSize:
    """Rows and columns for a number of non-zeros, in the shape of the largest problem."""

    n_nonzeros: int
    per_row: int = 100
    n_largest: int = 500_000

    @property
    def n_rows(self) -> int:
        """Rows with about ``per_row`` words each."""
        return max(2000, self.n_nonzeros // self.per_row)

    @property
    def n_columns(self) -> int:
        """Vocabularies grow with the root of the text, by Heaps' law, up to the largest."""
        return int(min(self.n_largest, 350 * self.n_rows**0.5))


class LargeText:
    """Rows ``x_i``: words with their frequency, rare ones weighing more, of unit length."""

    def __init__(self, size: TextSize, seed: int = 0) -> None:
        self.size, self._rng = size, np.random.default_rng(seed)
        frequency = 1.0 / (np.arange(size.n_columns) + SHIFT)
        self._cumulated = np.cumsum(frequency / frequency.sum())
        self._idf = np.log(1.0 / (frequency / frequency.max())) + 1.0
        # Ranks and numbers of words have nothing to do with each other.
        self._column = self._rng.permutation(size.n_columns)
        last = min(TELLING_RANKS[1], size.n_columns)
        self.telling = self._column[self._rng.integers(TELLING_RANKS[0], last, N_TELLING)]
        self._weights = np.zeros(size.n_columns)
        self._weights[self.telling] = self._rng.choice([2.0, 1.0, -1.0], N_TELLING)
        self._limit: float | None = None

    def rows(self, n_rows: int) -> tuple[sparse.csr_array, np.ndarray]:
        """Further rows and their labels."""
        lengths = np.maximum(1, self._rng.poisson(self.size.per_row, n_rows))
        row = np.repeat(np.arange(n_rows), lengths)
        rank = np.searchsorted(self._cumulated, self._rng.random(row.size))
        rank = np.minimum(rank, self.size.n_columns - 1)
        entries = (np.ones(rank.size), (row, self._column[rank]))
        X = sparse.csr_array(entries, shape=(n_rows, self.size.n_columns))  # repeated words add up
        idf = np.empty(self.size.n_columns)
        idf[self._column] = self._idf
        X.data = (1.0 + np.log(X.data)) * idf[X.indices]
        lengths = np.sqrt(np.add.reduceat(np.square(X.data), X.indptr[:-1]))
        X.data = (X.data / np.repeat(lengths, np.diff(X.indptr))).astype(np.float32)
        return X, self._labels(X)

    def _labels(self, X: sparse.csr_array) -> np.ndarray:
        scores = X @ self._weights
        scores += NOISE * scores.std() * self._rng.standard_normal(scores.size)
        if self._limit is None:  # of the first rows, for all of them
            self._limit = float(np.quantile(scores, 1.0 - SHARE_OF_POSITIVES))
        return (scores > self._limit).astype(np.int8)


def make_text(size: TextSize, folder: Path) -> tuple[RowBlocks, RowBlocks]:
    """Training and test part in two folders, made unless they are there."""
    parts = {"train": size.n_rows, "test": max(2000, size.n_rows // 10)}
    if not all((folder / name).is_dir() for name in parts):
        text = LargeText(size)
        for name, n_rows in parts.items():
            write_blocks(_pieces(text, n_rows), folder / name)
            log(f"{name}: {n_rows} rows of {size.n_columns} columns")
    train, test = (open_blocks(folder / name) for name in parts)
    return train, test


def _pieces(text: LargeText, n_rows: int) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
    for start in range(0, n_rows, ROWS_AT_ONCE):
        yield text.rows(min(ROWS_AT_ONCE, n_rows - start))
