"""Similarities of bags to prototypes, by blocks of matrix products.

    min_j ||x_ij - x^k||^2 = min_j ( ||x_ij||^2 - 2 <x_ij, x^k> ) + ||x^k||^2

The bracket is one product of [-2 x_ij, ||x_ij||^2] with [x^k, 1], of which only the least number of
each bag is kept; likewise the greatest cosine. No array is larger than a block and the result:
``max_bytes`` is what all besides the result may take. ``prototypes`` are an array or a CSR array of
shape (n_prototypes, n_columns).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from scoresieve._arrays import FloatArray
from scoresieve.mil.bags import Bags

#: Numbers of a block that stays in the processor's caches well enough.
GOOD_BLOCK = 2**20
#: Rows that a block has at least, if memory allows, so that products are worth their call.
GOOD_ROWS = 256
#: Numbers in memory for each one of a block: the product and its least for each bag, in sparse
#: matrices also the product's stored values and indices.
DENSE_COPIES, SPARSE_COPIES = 2, 5
#: Bytes of the buffers of NumPy, of offsets and objects, which do not grow with the blocks.
SMALL_CHANGE = 2**18
#: Instances of the sample whose pairs give the median distance.
MEDIAN_SAMPLE = 500
#: Share of the largest distance below which a distance is rounding.
NEGLIGIBLE = 1e-6


def nearest_squared(bags: Bags, prototypes: Any, max_bytes: int) -> FloatArray:
    """``min_j ||x_ij - x^k||^2`` of shape (n_bags, n_prototypes)."""
    # Products of numbers far from 0 would lose the digits of their differences.
    centre = None
    if not sp.issparse(prototypes) and prototypes.shape[0]:
        centre = prototypes.mean(axis=0, dtype=np.float64)

    def left(instances: Any) -> Any:
        rows = _shifted(instances, centre)
        return _with_column(-2.0 * rows, _squared_norms(rows))

    def right(chosen: Any) -> tuple[Any, FloatArray]:
        rows = _shifted(chosen, centre)
        return _with_column(rows, np.ones(rows.shape[0])), _squared_norms(rows)

    nearest = reduce_over_bags(bags, prototypes, left, right, np.minimum, max_bytes)
    # Rounding leaves small negative numbers where an instance is its own prototype.
    return np.maximum(nearest, 0.0, out=nearest)


def greatest_cosine(bags: Bags, prototypes: Any, max_bytes: int) -> FloatArray:
    """``max_j <x_ij, x^k> / (||x_ij|| ||x^k||)`` of shape (n_bags, n_prototypes), 0 for zeros."""

    def left(rows: Any) -> Any:
        return normalize(rows.astype(np.float64, copy=False))

    return reduce_over_bags(
        bags, prototypes, left, lambda rows: (left(rows), 0.0), np.maximum, max_bytes
    )


def reduce_over_bags(
    bags: Bags,
    prototypes: Any,
    left: Callable[[Any], Any],
    right: Callable[[Any], tuple[Any, Any]],
    best: np.ufunc,
    max_bytes: int,
) -> FloatArray:
    """``best_j <left(x_ij), right(x^k)> + added_k`` of shape (n_bags, n_prototypes).

    ``left`` turns instances into factors, ``right`` prototypes into factors and what is added;
    ``best`` is ``np.minimum`` or ``np.maximum``.
    """
    worst = np.inf if best is np.minimum else -np.inf
    found = np.full((len(bags), prototypes.shape[0]), worst)
    n_rows, n_columns = block_shape(bags, prototypes, max_bytes)
    for columns in _pieces(prototypes.shape[0], n_columns):
        factors, added = right(prototypes[columns])
        for rows in _pieces(bags.n_instances, n_rows):
            block = left(bags.instances[rows]) @ factors.T
            block = block.toarray() if sp.issparse(block) else block
            # The first and the last bag of the block may go on in its neighbours.
            first = np.searchsorted(bags.offsets, rows.start, side="right") - 1
            last = np.searchsorted(bags.offsets, rows.stop, side="left")
            starts = np.maximum(bags.offsets[first:last] - rows.start, 0)
            target = found[first:last, columns]
            best(target, best.reduceat(block, starts, axis=0), out=target)
        found[:, columns] += added
    return found


def block_shape(bags: Bags, prototypes: Any, max_bytes: int) -> tuple[int, int]:
    """Rows r and columns c of a block: ``copies r c + (r + c) width`` numbers fit into memory."""
    sparse = sp.issparse(bags.instances) and sp.issparse(prototypes)
    copies = SPARSE_COPIES if sparse else DENSE_COPIES
    # The factors, the rows they are made of, and intermediate products.
    width = 3 * (bags.shape[1] + 1)
    if sparse:
        # Stored values of an average row.
        stored = max(rows.nnz / max(1, rows.shape[0]) for rows in (bags.instances, prototypes))
        width = 6 * (1 + int(stored))
    numbers = max(1, (max_bytes - SMALL_CHANGE) // 8)
    # With r = c = s: copies s^2 + 2 width s = numbers.
    square = int((np.sqrt(width**2 + copies * numbers) - width) / copies)
    n_columns = min(prototypes.shape[0], max(1, square), GOOD_BLOCK // GOOD_ROWS)
    n_rows = int((numbers - n_columns * width) / (copies * n_columns + width))
    return max(1, min(n_rows, max(GOOD_ROWS, GOOD_BLOCK // max(1, n_columns)))), max(1, n_columns)


def median_distance(instances: Any) -> float:
    """``median over pairs of ||x - x'||``, on at most 500 instances spread over all.

    If most pairs are equal, the median is over those that differ.
    """
    n_sampled = min(instances.shape[0], MEDIAN_SAMPLE)
    rows = np.linspace(0, instances.shape[0] - 1, n_sampled).round().astype(np.int64)
    sample = Bags(instances[rows], np.arange(n_sampled + 1))
    squared = nearest_squared(sample, sample.instances, 8 * GOOD_BLOCK)
    distances = np.sqrt(squared[np.triu_indices(n_sampled, k=1)])
    # Products leave equal instances a little apart.
    distances[distances <= NEGLIGIBLE * distances.max(initial=0.0)] = 0.0
    middle = float(np.median(distances)) if distances.size else 0.0
    if middle == 0.0 and np.any(distances > 0.0):
        middle = float(np.median(distances[distances > 0.0]))
    if middle == 0.0:
        raise ValueError(
            "sigma='median' needs instances that differ, but all sampled ones are equal; give a "
            "number for sigma."
        )
    return middle


def _pieces(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _shifted(rows: Any, centre: FloatArray | None) -> Any:
    """Rows in float64, minus the centre if there is one."""
    rows = rows.astype(np.float64, copy=False)
    if centre is None:
        return rows
    return (rows.toarray() if sp.issparse(rows) else rows) - centre


def _squared_norms(rows: Any) -> FloatArray:
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def _with_column(rows: Any, column: FloatArray) -> Any:
    if sp.issparse(rows):
        return sp.hstack([rows, sp.csr_array(column[:, None])], format="csr")
    return np.column_stack([rows, column])
