"""The rivals that train a model to select.

Conventions
-----------
Every selector takes ``(X, y, ks, setting, target)`` after its own arguments; ``setting`` is its C
where it has one to choose. liblinear's tolerances are ten times finer than its own defaults for the
same problems. A rival without a measure of its own ignores ``target``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

from scoresieve import budget_path
from scoresieve.baselines import FGM, SVMRFE
from studies.common.limits import fit_noting_limit, limit_of
from studies.paper.selectors import dense_weights, largest
from studies.quality.arena.filters import f_statistics, finite
from studies.quality.arena.picks import Pick, strongest
from studies.quality.arena.refits import Linear

#: C of an l1 path grows by this factor, by its square as long as there is no feature.
GROWTH, MAX_FITS = 1.5, 40
L1_TOL, RFE_TOL, MAX_ITER = 1e-3, 0.01, 1_000
#: Of the paper's problem: gap, rounds and seconds of each budget.
PAPER_TOL, PAPER_ROUNDS, PAPER_SECONDS = 0.1, 150, 300.0
N_TREES = 200
#: abess sees all columns up to this many entries of X, else the columns of the largest F.
ABESS_ENTRIES, ABESS_COLUMNS = 5e7, 1_000
#: scikit-learn 1.8 has another name for the l1 norm.
L1_NORM: dict[str, Any] = (
    {"l1_ratio": 1.0}
    if getattr(LogisticRegression(), "penalty", "deprecated") == "deprecated"
    else {"penalty": "l1"}
)


def l1_svm(C: float, class_weight: str | None) -> Any:
    """``min ||w||_1 + C sum_i c_i max(0, 1 - m_i)^2``."""
    settings = {"class_weight": class_weight, "tol": L1_TOL, "max_iter": MAX_ITER}
    return LinearSVC(penalty="l1", dual=False, C=C, random_state=0, **settings)


def l1_logistic(C: float, class_weight: str | None) -> Any:
    """``min ||w||_1 + C sum_i c_i log(1 + exp(-m_i))``."""
    settings = {"class_weight": class_weight, "tol": L1_TOL, "max_iter": MAX_ITER}
    return LogisticRegression(solver="liblinear", C=C, random_state=0, **L1_NORM, **settings)


def by_l1(
    make: Callable[[float, str | None], Any],
    class_weight: str | None,
    X: Any,
    y: np.ndarray,
    ks: Sequence[int],
    setting: Any,
    target: str,
) -> list[Pick]:
    """The k largest weights at the smallest C of a series that has k features, else at the last."""
    fits: list[tuple[np.ndarray, float, str | None]] = []
    n_columns, filled = X.shape[1], filled_columns(X)
    X = X[:, filled]
    C = smallest_C(X, y, class_weight)
    sizes: list[int] = []
    while len(fits) < MAX_FITS and max(sizes, default=0) < max(ks):
        model = make(C, class_weight)
        limit = fit_noting_limit(model, X, y)
        fits.append((dense_weights(model), float(model.intercept_[0]), limit))
        sizes.append(int(np.count_nonzero(fits[-1][0])))
        C *= GROWTH if sizes[-1] else GROWTH**2
    picks = []
    for k in ks:
        first = next((i for i, size in enumerate(sizes) if size >= k), int(np.argmax(sizes)))
        weights, intercept, limit = fits[first]
        everywhere = np.zeros(n_columns)
        everywhere[filled] = weights
        picks.append(strongest(everywhere, intercept, k, limit))
    return picks


def filled_columns(X: Any) -> np.ndarray:
    """Columns with an entry: liblinear takes its time for the others, too."""
    return np.flatnonzero(X.getnnz(axis=0)) if hasattr(X, "getnnz") else np.arange(X.shape[1])


def smallest_C(X: Any, y: np.ndarray, class_weight: str | None) -> float:
    """A C below which no column has a weight, with an intercept of 0 or of -1."""
    weights = compute_sample_weight(class_weight, y)
    slopes = [X.T @ (weights * y), X.T @ (weights * (y > 0))]
    return 0.25 / max(float(np.max(np.abs(slope))) for slope in slopes)


def by_rfe(
    class_weight: str | None, X: Any, y: np.ndarray, ks: Sequence[int], setting: float, target: str
) -> list[Pick]:
    """SVM-RFE by halving; all k share the rounds down to the next power of two."""
    settings = {"C": setting, "class_weight": class_weight, "tol": RFE_TOL}
    left, limit, picks = filled_columns(X), None, {}
    for k in sorted(ks, reverse=True):
        stop = 1 << (min(k, left.size) - 1).bit_length()
        if stop < left.size:
            model = SVMRFE(n_features_to_select=stop, **settings)
            limit = fit_noting_limit(model, X[:, left], y) or limit
            left = left[model.support_]
        model = SVMRFE(n_features_to_select=min(k, left.size), **settings)
        own_limit = fit_noting_limit(model, X[:, left], y)
        columns = left[model.support_]
        own = Linear(dense_weights(model)[model.support_], float(model.intercept_[0]))
        picks[k] = Pick(columns, own, own_limit or limit)
    return [picks[k] for k in ks]


def by_fgm(X: Any, y: np.ndarray, ks: Sequence[int], setting: float, target: str) -> list[Pick]:
    """The k largest weights of FGM with the budget k."""
    picks = []
    for k in ks:
        model = FGM(budget=k, C=setting, tol=0.01, max_groups=5)
        limit = fit_noting_limit(model, X, y)
        picks.append(strongest(dense_weights(model), float(model.intercept_[0]), k, limit))
    return picks


def by_fs_multi(
    X: Any, y: np.ndarray, ks: Sequence[int], setting: float, target: str
) -> list[Pick]:
    """The k largest weights of the paper's problem with the budget k.

    Solved by the bundle method: the same optimum as that of the two-layer algorithm, sooner.
    """
    path = budget_path(
        X,
        y,
        ks,
        measure=target,
        bound="paper",
        C=setting,
        tol=PAPER_TOL,
        max_iter=PAPER_ROUNDS,
        max_time=PAPER_SECONDS,
    )
    weights = (path.coefs[[i]].toarray().ravel() for i in range(len(ks)))
    limits = (limit_of(result) for result in path.results)
    found = zip(weights, path.intercepts, ks, limits, strict=True)
    return [strongest(*each) for each in found]


def by_abess(X: Any, y: np.ndarray, ks: Sequence[int], setting: Any, target: str) -> list[Pick]:
    """Best subsets of a logistic regression by splicing (Zhu et al., PNAS 2020), the program abess.

    It takes minutes for a large text set: there it sees the 1,000 columns of the largest F only. It
    refuses constant columns.
    """
    from abess.linear import LogisticRegression as BestSubset

    seen = np.flatnonzero(deviations(X))
    if X.shape[0] * X.shape[1] > ABESS_ENTRIES:
        seen = largest(finite(f_statistics, X, y), ABESS_COLUMNS)
    block = X[:, seen]
    block = block.toarray() if hasattr(block, "toarray") else block
    picks = []
    for k in ks:
        model = BestSubset(support_size=min(k, seen.size)).fit(block, (y > 0).astype(int))
        weights = np.zeros(X.shape[1])
        weights[seen] = model.coef_
        picks.append(strongest(weights, float(np.ravel(model.intercept_)[0]), k))
    return picks


def deviations(X: Any) -> np.ndarray:
    """The largest less the smallest entry of each column."""
    high, low = X.max(axis=0), X.min(axis=0)
    return np.ravel((high - low).toarray() if hasattr(high, "toarray") else high - low)


def by_forest(X: Any, y: np.ndarray, ks: Sequence[int], setting: Any, target: str) -> list[Pick]:
    """The k largest importances of a random forest; its own model is a forest on these columns."""

    def forest() -> RandomForestClassifier:
        return RandomForestClassifier(N_TREES, class_weight=setting, random_state=0)

    importances = forest().fit(X, y).feature_importances_
    picks = []
    for k in ks:
        columns = largest(importances, k)
        model = forest().fit(X[:, columns], y)
        picks.append(Pick(columns, lambda block, model=model: model.predict_proba(block)[:, 1]))
    return picks


#: (loss, class weights, C) of the models on all columns.
ALL_SETTINGS = tuple(
    (loss, weight, C)
    for loss, Cs in (("squared hinge", (0.1, 1.0, 10.0)), ("logistic", (1.0, 10.0, 100.0)))
    for weight in (None, "balanced")
    for C in Cs
)


def by_nothing(X: Any, y: np.ndarray, ks: Sequence[int], setting: Any, target: str) -> list[Pick]:
    """All columns: liblinear's l2-regularised models, for scale."""
    loss, weight, C = setting
    shared = {"C": C, "class_weight": weight, "random_state": 0, "tol": RFE_TOL}
    model = (
        LinearSVC(dual="auto", **shared)
        if loss == "squared hinge"
        else LogisticRegression(solver="liblinear", **shared)
    )
    limit = fit_noting_limit(model, X, y)
    own = Linear(dense_weights(model), float(model.intercept_[0]))
    return [Pick(None, own, limit) for _ in ks]
