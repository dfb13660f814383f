"""Models of the chosen columns: which columns, and how much to shrink them, are two questions.

    own             the model that chose them
    squared hinge   C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 ||w||^2

Each costs a few Newton steps on k columns. Weights for the classes would bring nothing: they move
the intercept above all, and the threshold is set by the measure. Logistic regressions of as many C
in their place are half a point of F1 behind, see docs/quality.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.design import as_design
from scoresieve.estimators.sieve.selections import FREE_CONSTANT, Selected
from scoresieve.losses import get_loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.merged import merge_equal_rows
from scoresieve.solvers.splicing.newton import newton_fit

#: The loss of the models on the chosen columns.
LOSS = "squared_hinge"
#: Relative accuracy of the fits.
TOL = 1e-6


@dataclass(frozen=True)
class FinalModel:
    """A squared hinge on the chosen columns, or with C = None the model that chose them."""

    C: float | None = None

    @property
    def name(self) -> str:
        """For tables."""
        return "own" if self.C is None else f"{LOSS}, C={self.C:g}"


def fit_finals(
    finals: Sequence[FinalModel],
    X: Any,
    y: FloatArray,
    weights: FloatArray | None,
    selected: Selected,
) -> list[tuple[FloatArray, float]]:
    """The weights of the selected columns and the intercept of each; each starts from the last.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, len(selected.columns))
        The selected columns.
    weights : ndarray of shape (n_samples,), optional
        How often each row counts.
    """
    own = selected.w, selected.intercept
    if not selected.columns.size or all(final.C is None for final in finals):
        return [own for _ in finals]
    design = as_design(X, constant=FREE_CONSTANT)
    block = design.columns(np.arange(design.n_columns))
    risk = LossRisk(get_loss(LOSS), y, weights)
    block, risk, _ = merge_equal_rows(block, risk)
    start, found = np.zeros(block.n_columns), []
    for final in finals:
        fit = None
        if final.C is not None:
            fit = newton_fit(block, risk, final.C, start, tol=TOL)
        if fit is None:  # its own, or Newton's method got stuck
            found.append(own)
            continue
        start = fit.w
        found.append((fit.w[:-1], float(FREE_CONSTANT * fit.w[-1])))
    return found
