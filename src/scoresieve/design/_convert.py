"""From what users have to a design."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve.design._base import Design
from scoresieve.design.constant import ConstantDesign
from scoresieve.design.dense import DenseDesign
from scoresieve.design.sparse import SparseDesign


def as_design(X: Any, *, constant: float = 0.0) -> Design:
    """``X``, or ``[X, constant * 1]`` if ``constant`` is not 0, as a design.

    Parameters
    ----------
    X : array-like or sparse matrix or array of shape (n_samples, n_columns), or Design
        Any real type, any memory order, read-only or memory-mapped. CSR and CSC are used as they
        are; other sparse formats are converted to CSR.
    constant : float, default=0
        Value of a constant column to append (the intercept's), or 0 for none.

    Returns
    -------
    Design

    Examples
    --------
    >>> import numpy as np
    >>> design = as_design(np.array([[1.0, 2.0], [3.0, 4.0]]), constant=5.0)
    >>> design.correlate(np.array([1.0, 1.0]))
    array([ 4.,  6., 10.])
    """
    if isinstance(X, Design):
        design = X
    elif sp.issparse(X):
        _check_array(X)
        design = SparseDesign(X if X.format in ("csr", "csc") else X.tocsr())
    else:
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise ValueError(f"X cannot be read as a numeric 2-D array: {error}") from error
        _check_array(X)
        design = DenseDesign(X)
    if not isinstance(constant, numbers.Real) or not np.isfinite(constant):
        raise ValueError(f"constant must be a finite number; got {constant!r}.")
    return ConstantDesign(design, float(constant)) if constant else design


def _check_array(X: Any) -> None:
    """Refuse what has no rows and columns of real numbers."""
    if X.ndim != 2:
        raise ValueError(
            f"X must be 2-D, one row for each sample; got {X.ndim}-D of shape {X.shape}. "
            "Use X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold real numbers; got dtype {X.dtype}. Encode text and categories as "
            "numbers, or convert with X.astype(float)."
        )
