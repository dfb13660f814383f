"""Held-out scores of bags: the embedding is made anew from the bags that train.

s_f(sigma, B, C) = measure on bags f of the model that was fitted on all others, on their embedding
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from scoresieve.estimators.selection.candidates import PathJob, PathScores
from scoresieve.estimators.selection.choice import tabulate
from scoresieve.estimators.selection.splits import LabelledData
from scoresieve.mil.embedding import MILESEmbedding, check_sigma


@dataclass(frozen=True, eq=False)
class EmbeddedPaths:
    """``s_f(sigma, B, C)`` for all B and C, one part f and one sigma.

    Attributes
    ----------
    embedding : MILESEmbedding
        Not fitted.
    paths : list of PathJob
        One for each C, all of the same split.
    """

    embedding: MILESEmbedding
    paths: list[PathJob]

    def run(self, data: LabelledData) -> list[PathScores]:
        """Embed by the instances of the training part, fit there, score the held-out part.

        Parameters
        ----------
        data : LabelledData
            Whose X is ``Bags``.
        """
        split = self.paths[0].split
        train, test = data.rows(split.train), data.rows(split.test)
        embedding = clone(self.embedding).fit(train.X)
        train = replace(train, X=embedding.transform(train.X))
        test = replace(test, X=embedding.transform(test.X))
        return [path.run_parts(train, test, data) for path in self.paths]


def tabulate_sigmas(
    kind: str,
    sizes: list[int],
    Cs: list[float],
    sigmas: list[Any],
    paths: list[list[list[PathScores]]],
) -> dict[str, Any]:
    """``cv_results_`` with one row for each sigma, size and C; the Cs change fastest.

    Parameters
    ----------
    kind : {"budget", "n_instances_to_select"}
    paths : list of list of list of PathScores
        For each sigma, each split and each C.
    """
    tables = [tabulate(kind, sizes, Cs, by_split) for by_split in paths]
    joined: dict[str, Any] = {
        name: np.concatenate([table[name] for table in tables])
        for name in tables[0]
        if name != "params"
    }
    joined["param_sigma"] = np.repeat(np.array(sigmas, dtype=object), len(sizes) * len(Cs))
    joined["params"] = [
        point | {"sigma": sigma}
        for sigma, table in zip(sigmas, tables, strict=True)
        for point in table["params"]
    ]
    ranks = rankdata(-joined["mean_test_score"], method="min")
    joined["rank_test_score"] = ranks.astype(np.int32)
    joined["mean_n_instances"] = joined["mean_n_features"]
    return joined


def check_sigmas(sigmas: Any) -> list[Any]:
    """Distinct widths in the order given, each of them checked."""
    if isinstance(sigmas, str) or not isinstance(sigmas, Iterable):
        raise ValueError(
            f"sigmas must be a list of numbers or multiples of the median; got {sigmas!r}. Put a "
            "single value in a list."
        )
    sigmas = list(sigmas)
    if not sigmas:
        raise ValueError("sigmas is empty; give at least one value.")
    for place, sigma in enumerate(sigmas):
        check_sigma(sigma, f"sigmas[{place}]")
    return list(dict.fromkeys(sigmas))
