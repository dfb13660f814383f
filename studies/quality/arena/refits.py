"""The common refit: ordinary classifiers on a few dense columns, by Newton's method.

min_{w, b}  1/2 ||w||^2 + C sum_i c_i l(y_i (<w, x_i> + b))

with the logistic loss, as ``LogisticRegression``, or the squared hinge, as ``LinearSVC`` with a
free intercept. A fit takes milliseconds: rows without any of the columns count as one row for each
class, and each C starts from the solution of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

#: Steps, halvings of a step, and the decrement by the objective at which a fit ends.
MAX_STEPS, MAX_HALVINGS, TOL = 50, 30, 1e-6
#: Blocks with a smaller share of entries are kept sparse.
DENSE_FROM = 0.1
#: Keeps the intercept determined where the squared hinge is satisfied everywhere.
RIDGE = 1e-10

#: Value, slope and curvature at margins.
Loss = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def logistic(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``log(1 + exp(-m))``."""
    wrong = expit(-margins)
    return np.logaddexp(0.0, -margins), -wrong, wrong * (1.0 - wrong)


def squared_hinge(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``max(0, 1 - m)^2``."""
    short = np.maximum(0.0, 1.0 - margins)
    return short**2, -2.0 * short, np.where(short > 0.0, 2.0, 0.0)


LOSSES: dict[str, Loss] = {"logistic": logistic, "squared hinge": squared_hinge}


class Rows(NamedTuple):
    """Rows of a few columns and a constant one, labels, and how often each row counts.

    ``Z`` and its transpose are dense, or in CSR.
    """

    Z: Any
    transposed: Any
    y: np.ndarray
    counts: np.ndarray

    def second_moment(self, weights: np.ndarray) -> np.ndarray:
        """``Z^T diag(weights) Z``."""
        if not sparse.issparse(self.Z):
            used = weights > 0.0
            Z = self.Z[used]
            return Z.T @ (Z * weights[used, None])
        scaled = self.Z.data * np.repeat(weights, np.diff(self.Z.indptr))
        scaled = sparse.csr_array((scaled, self.Z.indices, self.Z.indptr), shape=self.Z.shape)
        return (self.transposed @ scaled).toarray()


class Linear(NamedTuple):
    """``scores = block @ weights + intercept``."""

    weights: np.ndarray
    intercept: float

    def __call__(self, block: Any) -> np.ndarray:
        """The scores of a block of columns."""
        return np.asarray(block @ self.weights).ravel() + self.intercept


def merge_rows(block: np.ndarray, y: np.ndarray) -> Rows:
    """The rows with a non-zero entry, and one row of zeros for each class with the count of these.

    Parameters
    ----------
    block : ndarray of shape (n_samples, k)
    y : ndarray of shape (n_samples,)
        In {-1, +1}.
    """
    filled = np.any(block != 0.0, axis=1)
    empty = np.array([np.sum(y[~filled] > 0), np.sum(y[~filled] < 0)], dtype=float)
    Z = np.vstack([block[filled], np.zeros((2, block.shape[1]))])
    Z = np.column_stack([Z, np.ones(len(Z))])
    if np.count_nonzero(Z) < DENSE_FROM * Z.size:
        Z = sparse.csr_array(Z)
    transposed = Z.T.tocsr() if sparse.issparse(Z) else Z.T
    counts = np.append(np.ones(filled.sum()), empty)
    return Rows(Z, transposed, np.append(y[filled], [1.0, -1.0]), counts)


def balanced(rows: Rows) -> Rows:
    """``c_i = n / (2 n_class)``: both classes have the same total weight."""
    totals = {sign: rows.counts[rows.y == sign].sum() for sign in (-1.0, 1.0)}
    by_class = np.where(rows.y > 0, *(0.5 * rows.counts.sum() / totals[s] for s in (1.0, -1.0)))
    return rows._replace(counts=rows.counts * by_class)


def fit_path(rows: Rows, loss: Loss, Cs: Sequence[float]) -> list[Linear]:
    """One model for each C, in the order of ``Cs``, each starting from the one before."""
    v, models = np.zeros(rows.Z.shape[1]), []
    for C in Cs:
        v = newton(rows, loss, C, v)
        models.append(Linear(v[:-1], float(v[-1])))
    return models


def newton(rows: Rows, loss: Loss, C: float, v: np.ndarray) -> np.ndarray:
    """Weights, the intercept last, from a start."""
    penalty = np.append(np.ones(v.size - 1), RIDGE)
    weights, scores = C * rows.counts, rows.Z @ v
    values, slopes, curves = loss(rows.y * scores)
    objective = 0.5 * v @ (penalty * v) + weights @ values
    for _ in range(MAX_STEPS):
        gradient = penalty * v + rows.transposed @ (weights * slopes * rows.y)
        hessian = rows.second_moment(weights * curves)
        hessian.flat[:: v.size + 1] += penalty
        step = np.linalg.solve(hessian, -gradient)
        decrement = -gradient @ step
        if decrement <= TOL * objective:
            break
        along, length = rows.Z @ step, 1.0
        for _ in range(MAX_HALVINGS):
            new = v + length * step
            values, slopes, curves = loss(rows.y * (scores + length * along))
            reached = 0.5 * new @ (penalty * new) + weights @ values
            if reached <= objective - 1e-4 * length * decrement:
                break
            length *= 0.5
        else:
            break
        v, scores, objective = new, scores + length * along, reached
    return v
