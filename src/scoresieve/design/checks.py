"""What every X must be, wherever it comes from."""

from __future__ import annotations

from typing import Any


def check_matrix(X: Any) -> None:
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
