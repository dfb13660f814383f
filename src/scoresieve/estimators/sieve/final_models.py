"""Models of the chosen columns: which columns, and how much to shrink them, are two questions.

    own        the model that chose them
    logistic   C sum_i c_i log(1 + exp(-y_i s_i)) + 1/2 ||w||^2 , plain or with balanced classes

Each costs a few Newton steps on k columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.design import as_design
from scoresieve.estimators.sieve.selections import Selected
from scoresieve.losses import get_loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.splicing.newton import newton_fit

#: The value of the constant column: so large that the intercept is almost free.
CONSTANT = 10.0
#: Relative accuracy of the fits.
TOL = 1e-6


@dataclass(frozen=True)
class FinalModel:
    """A logistic regression on the chosen columns, or with C = None the model that chose them.

    Attributes
    ----------
    balanced : bool
        Whether the two classes weigh the same.
    """

    C: float | None = None
    balanced: bool = False

    @property
    def name(self) -> str:
        """For tables."""
        if self.C is None:
            return "own"
        return f"logistic{', balanced' if self.balanced else ''}, C={self.C:g}"

    def fit(
        self, X: Any, y: FloatArray, weights: FloatArray | None, selected: Selected
    ) -> tuple[FloatArray, float]:
        """The weights of the selected columns, and the intercept.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, len(selected.columns))
            The selected columns.
        weights : ndarray of shape (n_samples,), optional
            How often each row counts.
        """
        if self.C is None or not selected.columns.size:
            return selected.w, selected.intercept
        counts = np.ones(y.size) if weights is None else weights
        if self.balanced:
            counts = counts * balancing(y, counts)
        design = as_design(X, constant=CONSTANT)
        block = design.columns(np.arange(design.n_columns))
        risk = LossRisk(get_loss("logistic"), y, counts)
        fit = newton_fit(block, risk, self.C, np.zeros(block.n_columns), tol=TOL)
        if fit is None:
            return selected.w, selected.intercept
        return fit.w[:-1], float(CONSTANT * fit.w[-1])


def balancing(y: FloatArray, counts: FloatArray) -> FloatArray:
    """``n / (2 n_class)`` of each row's class, as scikit-learn has it."""
    positive = y > 0
    total, of_positives = counts.sum(), counts[positive].sum()
    return np.where(positive, total / (2.0 * of_positives), total / (2.0 * (total - of_positives)))
