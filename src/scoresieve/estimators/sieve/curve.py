"""``FeatureCurve``: the score of the best setting against the number of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.estimators.sieve.choice import best_setting, one_standard_error

#: How the columns of a table with numbers of features, or of instances, begin.
SIZE_PREFIX = "param_n_"


class FeatureCurve(NamedTuple):
    """One point for each number of features.

    Attributes
    ----------
    sizes : ndarray of int, ascending
    scores, errors : ndarray
        On rows that the models had not seen, and standard errors.
    rows : ndarray of int
        Of the table: the setting that a choice among those of this size takes.
    chosen : int
        The place of the smallest size within one standard error of the best, or of what a model has
        chosen.
    """

    sizes: IntArray
    scores: FloatArray
    errors: FloatArray
    rows: IntArray
    chosen: int

    @property
    def best(self) -> int:
        """The place of the highest score."""
        return int(np.argmax(self.scores))

    @property
    def floor(self) -> float:
        """The highest score less its standard error."""
        return float(self.scores[self.best] - self.errors[self.best])


def feature_curve(table: Mapping[str, Any], row: int | None = None) -> FeatureCurve:
    """The curve of a table.

    Parameters
    ----------
    table : dict
        ``cv_results_`` of a sieve for one class, or of a ``GridSearchCV`` over
        ``n_features_to_select``.
    row : int, optional
        What was chosen from it; by default by the one-standard-error rule.
    """
    size_name = size_column(table)
    sizes = np.asarray(table[size_name], dtype=np.int64)
    scores = np.asarray(table["mean_test_score"], dtype=np.float64)
    errors = standard_errors(table)
    is_seen = np.ones(sizes.size, dtype=bool)
    if "param_sigma" in table:  # one width serves all sizes
        sigma = np.asarray(table["param_sigma"])
        is_seen = sigma == sigma[int(np.argmax(scores)) if row is None else row]
    n_finals = len(set(table.get("param_final_model", [None])))
    rows = []
    for size in np.unique(sizes):
        places = np.flatnonzero((sizes == size) & is_seen)
        of_size = scores[places].reshape(-1, n_finals), errors[places].reshape(-1, n_finals)
        if "param_final_model" in table:
            selection, final = best_setting(*of_size)
            rows.append(places[selection * n_finals + final])
        else:
            rows.append(places[int(np.argmax(of_size[0]))])
    found = np.array(rows)
    chosen = one_standard_error(scores[found], errors[found])
    if row is not None:
        chosen = int(np.searchsorted(sizes[found], sizes[row]))
        found[chosen] = row
    return FeatureCurve(sizes[found], scores[found], errors[found], found, chosen)


def size_column(table: Mapping[str, Any]) -> str:
    """The name of the column with numbers of features."""
    names = [name for name in table if name.startswith(SIZE_PREFIX)]
    if "mean_test_score" not in table or len(names) != 1:
        raise ValueError(
            "cv_results must have mean_test_score and one column that begins with "
            f"{SIZE_PREFIX!r}; it has {', '.join(table) or 'none'}. Take cv_results_ of a "
            "ScoreSieve, one class at a time."
        )
    return names[0]


def standard_errors(table: Mapping[str, Any]) -> FloatArray:
    """Those of a sieve; of a grid search the deviations over splits by the root of their number."""
    deviations = np.asarray(table["std_test_score"], dtype=np.float64)
    n_splits = sum(name.startswith("split") for name in table)
    return deviations / np.sqrt(n_splits) if n_splits else deviations
