"""Selectors of exactly k columns, and the model and threshold that follow all of them.

A selector takes (X, y, ks) and returns one :class:`Choice` for each k. None has seen the test part,
and none chooses a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import chi2
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC

from scoresieve import budget_path, get_measure
from scoresieve.baselines import FGM, L1SVM, SVMRFE
from studies.common.limits import fit_noting_limit, limit_of
from studies.common.thresholds import best_threshold


class Choice(NamedTuple):
    """The columns that were selected, and the limit that ended the fit behind them, or None."""

    columns: np.ndarray
    limit: str | None = None


Selector = Callable[[Any, np.ndarray, Sequence[int]], list[Choice]]

#: C of FSMulti, the first that gives k features; accuracy sums over all rows and wants less.
CS_F1, CS_ACCURACY = (10.0, 30.0, 100.0, 300.0), (2.0, 8.0, 32.0)
#: C of SVM-RFE and FGM as in the paper.
C_RFE, C_FGM = 5.0, 2.5
TOL, MAX_ITER, L1_MAX_ITER = 0.1, 150, 200
N_FOLDS = 5
#: The l1-SVM's C grows by this factor until there are enough features, at most so often.
GROWTH, MAX_FITS = 2.0, 20


def largest(weights: np.ndarray, k: int) -> np.ndarray:
    """Sorted positions of the k largest ``|w_j|``; of equal ones, the first."""
    return np.sort(np.argsort(-np.abs(weights), kind="stable")[:k])


def by_measure(measure: str, Cs: Sequence[float]) -> Selector:
    """The k largest weights of ``min_w 1/2 ||w||_k^2 + C R(X w)``, at the first C that has k.

    With rare positives a small C has the optimum w = 0; therefore C grows until there are enough.
    """

    def select(X: Any, y: np.ndarray, ks: Sequence[int]) -> list[Choice]:
        found: dict[int, Choice] = {}
        for attempt, C in enumerate(Cs, start=1):
            left = [k for k in ks if k not in found]
            if not left:
                break
            path = budget_path(
                X, y, left, measure=measure, bound="paper", C=C, tol=TOL, max_iter=MAX_ITER
            )
            for i, k in enumerate(left):
                if path.n_features_selected[i] >= k or attempt == len(Cs):
                    weights = path.results[i].w
                    columns = largest(weights, min(k, np.count_nonzero(weights)))
                    found[k] = Choice(columns, limit_of(path.results[i]))
        return [found[k] for k in ks]

    return select


def by_fgm(X: Any, y: np.ndarray, ks: Sequence[int]) -> list[Choice]:
    """The k largest weights of FGM with budget k."""
    choices = []
    for k in ks:
        model = FGM(budget=k, C=C_FGM, tol=0.01, max_groups=5)
        limit = fit_noting_limit(model, X, y)
        choices.append(Choice(largest(dense_weights(model), k), limit))
    return choices


def by_rfe(X: Any, y: np.ndarray, ks: Sequence[int]) -> list[Choice]:
    """SVM-RFE by halving, with balanced classes."""
    choices = []
    for k in ks:
        model = SVMRFE(n_features_to_select=k, C=C_RFE, class_weight="balanced")
        limit = fit_noting_limit(model, X, y)
        choices.append(Choice(model.support_, limit))
    return choices


def by_l1(X: Any, y: np.ndarray, ks: Sequence[int]) -> list[Choice]:
    """The k largest weights of the sparsest of a series of l1-SVMs that has at least k."""
    smallest = 1.0 / (2.0 * float(np.max(np.abs(X.T @ y))) + 1.0)
    weights, limits, C, left = [], [], smallest, max(ks)
    while len(weights) < MAX_FITS:
        model = L1SVM(C=C, class_weight="balanced", max_iter=L1_MAX_ITER)
        limits.append(fit_noting_limit(model, X, y))
        weights.append(dense_weights(model))
        if np.count_nonzero(weights[-1]) >= left:
            break
        C *= GROWTH
    sizes = [np.count_nonzero(each) for each in weights]
    enough = [next((i for i, size in enumerate(sizes) if size >= k), -1) for k in ks]
    return [Choice(largest(weights[i], k), limits[i]) for i, k in zip(enough, ks, strict=True)]


def by_chi2(X: Any, y: np.ndarray, ks: Sequence[int]) -> list[Choice]:
    """The k largest chi2 statistics: a filter, for scale."""
    statistics = np.nan_to_num(chi2(X, y)[0], nan=0.0)
    return [Choice(largest(statistics, k)) for k in ks]


def dense_weights(model: Any) -> np.ndarray:
    """``w`` of a fitted two-class model."""
    return np.ravel(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_)


SELECTORS: dict[str, Selector] = {
    "FSMulti F1": by_measure("f1", CS_F1),
    "FSMulti accuracy": by_measure("accuracy", CS_ACCURACY),
    "FGM": by_fgm,
    "SVM-RFE": by_rfe,
    "l1-SVM": by_l1,
    "chi2": by_chi2,
}


def tuned_f1(
    X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray, columns: np.ndarray, seed: int
) -> float:
    """Test F1 in percent of the same model and threshold rule for every selector.

    Parameters
    ----------
    X, y, X_test, y_test
        Labels in {-1, +1}.
    columns : ndarray of int
        The selection; 0 is the answer if it is empty.
    seed : int
        Of the folds.
    """
    if columns.size == 0:
        return 0.0
    model = LinearSVC(C=1.0, class_weight="balanced", dual="auto", random_state=0)
    part = X[:, columns]
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    scores = cross_val_predict(model, part, y, cv=folds, method="decision_function")
    threshold = best_threshold(y, scores)
    decision = model.fit(part, y).decision_function(X_test[:, columns]) - threshold
    return 100.0 * get_measure("f1").score(y_test, decision)
