"""What every X must be, wherever it comes from."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from scoresieve._checks import check_structure


def check_matrix(X: Any) -> None:
    """Refuse what has no rows and columns of real numbers, and sparse arrays that are broken."""
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
    if sp.issparse(X):
        check_structure(X)
