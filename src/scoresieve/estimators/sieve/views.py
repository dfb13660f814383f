"""Views: what the columns of the rows are. One view is chosen for all classes.

ScoreSieve has one, the columns of X. An embedding of bags has columns that are instances of the
bags that train, so that each split has columns of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from scoresieve.estimators.sieve.choice import Judged
from scoresieve.estimators.sieve.splits import Split


class View(Protocol):
    """Columns for the rows, which may depend on the rows that train."""

    @property
    def settings(self) -> dict[str, Any]:
        """What makes this view, for the table."""

    @property
    def has_same_columns(self) -> bool:
        """Whether a column is the same for all splits."""

    def of_split(self, split: Split) -> Any:
        """All rows, with columns that the training rows alone decide about."""

    def of_all(self) -> Any:
        """All rows, with columns that all of them decide about."""


@dataclass(frozen=True, eq=False)
class AsGiven:
    """The columns of X themselves."""

    X: Any
    settings: dict[str, Any] = field(default_factory=dict)
    has_same_columns = True

    def of_split(self, split: Split) -> Any:
        """X."""
        return self.X

    def of_all(self) -> Any:
        """X."""
        return self.X


def best_view(judged: list[list[Judged]]) -> int:
    """The view whose highest scores are highest on average over the classes; of equal, the first.

    Parameters
    ----------
    judged : list of list of Judged
        For each view and each class.
    """
    return int(np.argmax([np.mean([each.scores.max() for each in part]) for part in judged]))


def joined(tables: list[dict[str, Any]], views: Sequence[View]) -> dict[str, Any]:
    """The tables of all views as one, with the settings of the views as further columns."""
    if not views[0].settings:
        return tables[0]
    found: dict[str, Any] = {
        name: np.concatenate([table[name] for table in tables]) for name in tables[0]
    }
    pairs = list(zip(tables, views, strict=True))
    found["params"] = [point | view.settings for table, view in pairs for point in table["params"]]
    for name in views[0].settings:
        column = [view.settings[name] for table, view in pairs for _ in table["params"]]
        found[f"param_{name}"] = np.array(column, dtype=object)
    order = np.argsort(np.argsort(-found["mean_test_score"], kind="stable"), kind="stable")
    found["rank_test_score"] = (order + 1).astype(np.int32)
    return found
