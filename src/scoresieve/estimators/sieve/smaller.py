"""``SmallerModels``: what the setting that was chosen makes of fewer columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SmallerModels:
    """The models of all rows for each number of columns up to the chosen one, which is the last.

    The way to select and the final model are those that were chosen. Scores
    ``X @ coefs[i] + intercepts[i]`` are positive where model i raises an alarm.

    Attributes
    ----------
    rows : ndarray of int of shape (n_models,)
        Of ``cv_results_``: what each is, and its score on unseen rows.
    coefs : CSR array of shape (n_models, n_features)
    intercepts : ndarray of shape (n_models,)
    odds : ndarray of shape (n_models,)
        Log-odds of the thresholds.
    """

    rows: IntArray
    coefs: sp.csr_array
    intercepts: FloatArray
    odds: FloatArray


def smaller_models(path: list[Any]) -> SmallerModels:
    """The models of one class.

    Parameters
    ----------
    path : list of Chosen
        By ascending numbers of columns.
    """
    decisions = [model.decision() for model in path]
    return SmallerModels(
        np.array([model.row for model in path]),
        sp.csr_array(np.array([w for w, _ in decisions])),
        np.array([intercept for _, intercept in decisions]),
        np.array([model.odds for model in path]),
    )
