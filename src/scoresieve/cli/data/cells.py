"""The cells of a column of a table, as numbers or as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.cli.errors import BadData


def numbers_of(values: Any, name: str, file: str) -> FloatArray:
    """The cells of a column as finite numbers; the first that is none is named."""
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if not wrong.size:
        return numbers
    cell, row = values.iloc[wrong[0]], wrong[0] + 1
    if pd.isna(cell):
        raise BadData(
            f"{file}: the column {name!r} has no value in {int(values.isna().sum())} rows, the "
            f"first is row {row}; fill them in, or leave the column out with --drop {name}."
        )
    raise BadData(
        f"{file}: the column {name!r} holds {str(cell)!r} in row {row}, which is no finite number; "
        "correct it, or leave the column out when fitting."
    )


def texts_of(values: Any) -> list[str]:
    """The cells as text; a missing one is empty."""
    known = values.notna().to_numpy()
    texts = [str(value) if is_known else "" for value, is_known in zip(values, known, strict=True)]
    # What pandas has read as a truth value is written in one way.
    return [text.capitalize() if text.lower() in ("true", "false") else text for text in texts]
