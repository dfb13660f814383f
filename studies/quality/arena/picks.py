"""What a selector hands over: exactly k columns, and its own model on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from studies.paper.selectors import largest
from studies.quality.arena.refits import Linear


class Pick(NamedTuple):
    """A selection.

    Attributes
    ----------
    columns : ndarray of int or None
        Sorted; None for all.
    own : callable or None
        Scores of a block of these columns by the selector's own model; None if it has none.
    limit : str or None
        What ended a fit before its tolerance.
    """

    columns: np.ndarray | None
    own: Callable[[Any], np.ndarray] | None = None
    limit: str | None = None

    def block(self, by_column: Any) -> Any:
        """The columns of X, dense; X itself for all."""
        if self.columns is None:
            return by_column
        block = by_column[:, self.columns]
        return block.toarray() if hasattr(block, "toarray") else block


#: ``(X, y, ks, setting, target) -> one Pick for each k``; ``target`` is the measure to be good at.
Selector = Callable[[Any, np.ndarray, Sequence[int], Any, str], list[Pick]]


def strongest(weights: np.ndarray, intercept: float, k: int, limit: str | None = None) -> Pick:
    """The k largest ``|w_j|``, fewer if fewer are not 0, and the model of these weights alone."""
    columns = largest(weights, min(k, np.count_nonzero(weights)))
    return Pick(columns, Linear(weights[columns], float(intercept)), limit)
