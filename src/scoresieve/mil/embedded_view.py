"""Bags as a sieve sees them: by their similarity to instances of the bags that train."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.estimators.sieve.splits import Split
from scoresieve.mil.bags import Bags
from scoresieve.mil.embedding import MILESEmbedding, check_sigma


@dataclass(frozen=True, eq=False)
class EmbeddedView:
    """``s(x^k, B_i)`` with x^k of the bags that train alone, and their median distance.

    An instance of a held-out bag is most similar to its own bag, which no model may profit from.

    Attributes
    ----------
    embedding : MILESEmbedding
        Not fitted.
    """

    bags: Bags
    embedding: MILESEmbedding
    settings: dict[str, Any]
    has_same_columns = False

    def of_split(self, split: Split) -> FloatArray:
        """All bags by the instances of those that train."""
        return self.fitted(split.train).transform(self.bags)

    def of_all(self) -> FloatArray:
        """All bags by the instances of all."""
        return self.fitted().transform(self.bags)

    def fitted(self, rows: IntArray | None = None) -> MILESEmbedding:
        """The embedding by the instances of some bags, or of all."""
        return clone(self.embedding).fit(self.bags if rows is None else self.bags[rows])

    def n_columns(self, split: Split) -> int:
        """How many instances there are at most to choose from without the held-out bags."""
        n_instances = int(self.bags.sizes[split.train].sum())
        return min(n_instances, self.embedding.n_prototypes or n_instances)


def check_sigmas(sigmas: Any) -> list[Any]:
    """Distinct widths in the order given, each of them checked."""
    if isinstance(sigmas, str) or not isinstance(sigmas, Iterable):
        raise ValueError(
            f"sigmas must be a list of numbers or multiples of the median; got {sigmas!r}. Put a "
            "single value in a list."
        )
    # Numbers of NumPy would be arrays in the files of saved models.
    sigmas = [each.item() if isinstance(each, np.generic) else each for each in sigmas]
    if not sigmas:
        raise ValueError("sigmas is empty; give at least one value.")
    for place, sigma in enumerate(sigmas):
        check_sigma(sigma, f"sigmas[{place}]")
    return list(dict.fromkeys(sigmas))
