"""Models of the chosen columns: which columns, and how much to shrink them, are two questions.

    own             the model that chose them
    squared hinge   C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 ||w||^2
    graded          C sum_i c_i (1 - y_i s_i)_+^2 + 1/2 sum_j (e_j / e)^2 w_j^2

Each costs a few Newton steps on k columns. Weights for the classes would bring nothing: they move
the intercept above all, and the threshold is set by the measure. Logistic regressions of as many C
in their place are half a point of F1 behind, see docs/quality.md.

Where k is more than there is to find, the columns that came in last are those that fit the noise
best, and no C serves them and the others. ``e_j`` is the number of columns that column j came in
with (:mod:`scoresieve.estimators.sieve.rungs`), e the least of them: a graded model of 100 columns
holds the last half back 2,500 times as much as the first two, and is close to one of fewer columns
if only these pay.
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
    """A squared hinge on the chosen columns, or with C = None the model that chose them.

    A graded one holds columns back by when they came in.
    """

    C: float | None = None
    is_graded: bool = False

    @property
    def name(self) -> str:
        """For tables."""
        own = "own" if self.C is None else f"{LOSS}, C={self.C:g}"
        return f"graded {own}" if self.is_graded else own


def fit_finals(
    finals: Sequence[FinalModel],
    X: Any,
    y: FloatArray,
    weights: FloatArray | None,
    selected: Selected,
) -> list[tuple[FloatArray, float]]:
    """The weights of the selected columns and the intercept of each.

    Each starts from the one before of its kind.

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
    block, risk, _ = merge_equal_rows(block, LossRisk(get_loss(LOSS), y, weights))
    # The penalty of a graded model is that of an even one on columns that are made smaller.
    factors = {False: np.ones(block.n_columns), True: np.append(grades(selected), 1.0)}
    blocks = {kind: block.scaled(factors[kind]) for kind in {final.is_graded for final in finals}}
    starts, found = dict.fromkeys(blocks, np.zeros(block.n_columns)), []
    for final in finals:
        kind, fit = final.is_graded, None
        if final.C is not None:
            fit = newton_fit(blocks[kind], risk, final.C, starts[kind], tol=TOL)
        if fit is None:  # its own, or Newton's method got stuck
            found.append(own)
            continue
        starts[kind], w = fit.w, factors[kind] * fit.w
        found.append((w[:-1], float(FREE_CONSTANT * w[-1])))
    return found


def grades(selected: Selected) -> FloatArray:
    """``e / e_j`` of every column; 1 where it is not known when they came in."""
    entered = selected.entered
    return np.ones(selected.columns.size) if entered is None else entered.min() / entered
