"""Fits of one method for every class of a data set, and what is said of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.common.figures import Line
from studies.common.limits import marked, tally
from studies.paper.compare import p_value


@dataclass(frozen=True, eq=False)
class ClassFits:
    """Test scores of a method: a row for each class, a column for each of its settings.

    Attributes
    ----------
    scores, n_features : ndarray of shape (n_classes, n_settings)
    limits : ndarray of shape (n_classes, n_settings)
        What ended each fit, None where it was no limit.
    """

    scores: np.ndarray
    n_features: np.ndarray
    limits: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[Mapping[str, Any]]], measure: str) -> ClassFits:
        """From the rows of each class; a setting that some class does not have is left out.

        Parameters
        ----------
        rows : sequence of sequence of rows
        measure : str
            Of the scores.
        """
        n_settings = min(len(each) for each in rows)
        rows = [each[:n_settings] for each in rows]
        return cls(
            np.array([[row["scores"][measure] for row in each] for each in rows], dtype=float),
            np.array([[row["n_features"] for row in each] for each in rows], dtype=float),
            np.array([[row["limit"] for row in each] for each in rows], dtype=object),
        )

    def at(self, setting: int) -> ClassFits:
        """One setting alone: arrays of shape (n_classes,)."""
        return ClassFits(*(a[:, setting] for a in (self.scores, self.n_features, self.limits)))

    def macro(self) -> str:
        """The mean over the classes of one setting, with a mark if a fit ended at a limit."""
        return marked(f"{self.scores.mean():.2f}", self.limits)

    def against(self, ours: ClassFits) -> str:
        """``score (won/lost)*``: the mean over the classes, and how it stands against ours."""
        won, lost = np.sum(self.scores > ours.scores), np.sum(self.scores < ours.scores)
        star = "*" if p_value(self.scores, ours.scores) < 0.05 else ""
        return f"{self.macro()} ({won}/{lost}){star}"

    def limit_counts(self) -> list[str | None]:
        """For each setting how many fits ended at a limit; None where none did."""
        columns = self.limits.T.tolist()
        return [tally(column) if any(column) else None for column in columns]

    def line(self, label: str, x: Sequence[float] | None = None) -> Line:
        """Mean scores over ``x``, by default over the mean numbers of features."""
        x = self.n_features.mean(axis=0).tolist() if x is None else list(x)
        return Line(label, x, self.scores.mean(axis=0).tolist(), self.limit_counts())
