"""Cross-fitting: what every selection with every final model says of rows it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.estimators.sieve.final_models import FinalModel, fit_finals
from scoresieve.estimators.sieve.selections import Selection, paths
from scoresieve.solvers.limits import Limits, one_blas_thread


@dataclass(frozen=True, eq=False)
class Plan:
    """All that is compared: ways to select, numbers of features, and final models.

    Attributes
    ----------
    columns : dict
        Roles of columns and the constant, as for :func:`make_problem`.
    """

    selections: tuple[Selection, ...]
    finals: tuple[FinalModel, ...]
    ks: tuple[int, ...]
    limits: Limits
    columns: dict[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Selections, numbers of features, final models."""
        return len(self.selections), len(self.ks), len(self.finals)

    def row(self, selection: int, at_k: int, final: int) -> int:
        """The row of a setting in ``cv_results_``."""
        n_selections, _, n_finals = self.shape
        return (at_k * n_selections + selection) * n_finals + final


class Fitted(NamedTuple):
    """A model of all rows: ``scores = X[:, columns] @ w + intercept``; the price of `Selected`."""

    columns: IntArray
    w: FloatArray
    intercept: float
    price: float


class FoldScores(NamedTuple):
    """What the fits without one part of the rows say of that part, and what they selected.

    Attributes
    ----------
    scores : ndarray of shape (selections, ks, finals, n_test)
    supports : list of list of ndarray
        The columns, by selection and number of columns.
    """

    scores: FloatArray
    supports: list[list[IntArray]]


def fold_scores(
    plan: Plan,
    X: Any,
    y: FloatArray,
    weights: FloatArray | None,
    train: IntArray,
    test: IntArray,
) -> FoldScores:
    """Scores of the test rows by every setting."""
    out, supports = np.empty((*plan.shape, test.size)), []
    X_train, X_test, y_train = X[train], X[test], y[train]
    counts = None if weights is None else weights[train]
    with one_blas_thread():
        selections = [each.of_share(train.size / y.size) for each in plan.selections]
        every = paths(
            *(selections, X_train, y_train, plan.ks, plan.limits),
            sample_weight=counts,
            **plan.columns,
        )
        for number, path in enumerate(every):
            chosen = [selected.columns for selected in path]
            supports.append(chosen)
            parts = zip(path, columns_of(X_train, chosen), columns_of(X_test, chosen), strict=True)
            for place, (selected, part, held_out) in enumerate(parts):
                models = fit_finals(plan.finals, part, y_train, counts, selected)
                for last, (w, intercept) in enumerate(models):
                    out[number, place, last] = held_out @ w + intercept
    return FoldScores(out, supports)


def columns_of(X: Any, chosen: list[IntArray]) -> Iterator[Any]:
    """``X[:, columns]`` for each choice, from one pass over X for all that are chosen."""
    every = np.unique(np.concatenate(chosen))
    few = X[:, every]
    few = few.tocsc() if sp.issparse(few) else few
    for columns in chosen:
        part = few[:, np.searchsorted(every, columns)]
        yield part.tocsr() if sp.issparse(part) else part


def final_fits(
    plan: Plan,
    X: Any,
    y: FloatArray,
    weights: FloatArray | None,
    selection: Selection,
    k: int,
    final: FinalModel,
) -> list[Fitted]:
    """The models of all rows for each number up to k, each from the one before."""
    ks = [each for each in plan.ks if each <= k]
    found = []
    with one_blas_thread():
        [path] = paths([selection], X, y, ks, plan.limits, sample_weight=weights, **plan.columns)
        parts = columns_of(X, [selected.columns for selected in path])
        for selected, part in zip(path, parts, strict=True):
            [(w, intercept)] = fit_finals([final], part, y, weights, selected)
            found.append(Fitted(selected.columns, w, intercept, selected.price))
    return found
