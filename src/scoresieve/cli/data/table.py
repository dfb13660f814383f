"""What a user says about a file, and what is read from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scoresieve.cli.data.encoding import Encoding


@dataclass(frozen=True)
class Choices:
    """What a user says about a file; ``names`` is a file with the names of numbered columns."""

    label: str | None = None
    positive: str | None = None
    bag: str | None = None
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    names: str | None = None
    unit_rows: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to fit on or to predict.

    Attributes
    ----------
    file : str
        For messages.
    X : ndarray or CSR matrix
    encoding : Encoding
        How other files like this one become X.
    y : ndarray, optional
    positive : object
        The positive class, if the user named it.
    bags : ndarray, optional
        The bag of each row.
    """

    file: str
    X: Any
    encoding: Encoding
    y: Any = None
    positive: Any = None
    bags: Any = None
