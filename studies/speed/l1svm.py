"""scikit-learn's l1-SVM with a wanted number of features, as the peer of the selection."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

#: How far the number of features may be from the wanted one.
WITHIN = 0.2
LARGEST_C, SMALLEST_C = 1e6, 1e-6
MAX_FITS = 40


@dataclass(frozen=True, eq=False)
class L1Fit:
    """A fitted l1-SVM, its C, and whether liblinear said that it converged."""

    C: float
    model: LinearSVC
    converged: bool

    @property
    def n_features(self) -> int:
        """Non-zero weights."""
        return int(np.count_nonzero(self.model.coef_))

    def scores(self, X: sparse.csr_matrix) -> np.ndarray:
        """``X w + b``."""
        return self.model.decision_function(X)


def fit_l1svm(
    X: sparse.csr_matrix, y: np.ndarray, C: float, *, tol: float = 1e-4, intercept: float = 0.0
) -> L1Fit:
    """``min ||w||_1 + C sum_i (1 - y_i <w, x_i>)_+^2`` by liblinear."""
    model = LinearSVC(
        penalty="l1",
        dual=False,
        C=C,
        tol=tol,
        fit_intercept=intercept > 0,
        intercept_scaling=intercept or 1.0,
        random_state=0,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(X, y)
    return L1Fit(C, model, not any(w.category is ConvergenceWarning for w in caught))


def tune_C(
    X: sparse.csr_matrix, y: np.ndarray, n_features: int, *, tol: float, intercept: float = 0.0
) -> L1Fit:
    """The fit whose number of features is nearest to the wanted one, by bisection on log C.

    It ends as soon as the number is within 5 %; the caller looks whether it is within ``WITHIN``.
    """
    low, high, C = None, None, 1.0
    best = None
    for _ in range(MAX_FITS):
        fit = fit_l1svm(X, y, C, tol=tol, intercept=intercept)
        if best is None or distance(fit, n_features) < distance(best, n_features):
            best = fit
        if distance(fit, n_features) <= 0.25 * WITHIN:
            break
        if fit.n_features < n_features:
            low = C
        else:
            high = C
        if low is None or high is None:
            C *= 4.0 if high is None else 0.25
            if not SMALLEST_C <= C <= LARGEST_C:
                break
        else:
            C = float(np.sqrt(low * high))
            if high / low < 1.001:
                break
    return best


def distance(fit: L1Fit, n_features: int) -> float:
    """Relative difference of the number of features."""
    return abs(fit.n_features - n_features) / max(n_features, 1)


def peer_row(fit: L1Fit, n_features: int, **measured: Any) -> dict[str, Any]:
    """What a study says of the l1-SVM beside a model with ``n_features`` features.

    Parameters
    ----------
    fit : L1Fit
    n_features : int
        Of the model that it is compared with.
    **measured
        Its ``seconds`` and test scores.
    """
    return {
        "C": fit.C,
        "n_features": fit.n_features,
        "similar": distance(fit, n_features) <= WITHIN,
        "converged": fit.converged,
        **measured,
    }


def seconds_text(peer: dict[str, Any]) -> str:
    """Its seconds, and what is wrong with the comparison, if anything."""
    mark = "" if peer["similar"] else " (not similar)"
    mark += "" if peer["converged"] else " (not converged)"
    return f"{peer['seconds']:.2f}{mark}"
