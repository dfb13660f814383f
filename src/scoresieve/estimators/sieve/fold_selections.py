"""``FoldSelections``: in how many fits of the cross-validation each column was selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import IntArray


@dataclass(frozen=True, eq=False)
class FoldSelections:
    """For each number of columns that was tried, how many fits selected each column.

    A fit has all rows but those of one part. Up to the chosen number of columns the way to select
    is the chosen one, as in :class:`SmallerModels`; above it, the best for the number.

    Attributes
    ----------
    rows : ndarray of int of shape (n_sizes,)
        Of ``cv_results_``: what selected, and its score on unseen rows.
    counts : CSR array of int of shape (n_sizes, n_features)
    n_folds : int
        How many fits there were.
    """

    rows: IntArray
    counts: sp.csr_array
    n_folds: int


def count_selections(
    rows: Sequence[int], supports: Sequence[Sequence[IntArray]], n_features: int
) -> FoldSelections:
    """The counts of one class.

    Parameters
    ----------
    rows : sequence of int
        Of ``cv_results_``, for each number of columns.
    supports : sequence of sequence of ndarray
        For each fit and each number, the selected columns.
    """
    places = [np.full(part.size, at) for fit in supports for at, part in enumerate(fit)]
    columns = np.concatenate([part for fit in supports for part in fit])
    ones, shape = np.ones(columns.size, dtype=np.int64), (len(rows), n_features)
    # Entries of one place are added up.
    counts = sp.csr_array(sp.coo_array((ones, (np.concatenate(places), columns)), shape=shape))
    return FoldSelections(np.array(rows), counts, len(supports))
