"""The methods as the experiments run them: settings in, rows of numbers out.

Conventions
-----------
* All take a ``Split``, the class that is set against the rest, and by name the measures that are
  ``scored`` on the test part. ``measure`` is what is trained for, ``c`` the paper's C divided by n,
  ``tol`` a certified relative gap, ``max_iter`` the most rounds of each fit, those of liblinear for
  its methods; ``exponents`` are those of powers of 2.
* A row has the setting, the number of features, the ``limit`` that ended the fit or None, and
  ``scores``, test scores in percent by measure; ``gap`` and ``rounds`` where the method has them.
  Contingency measures take scores above 0 as positive; Rec@2p and PRBEP take the highest 2p and p
  of the test.
* ``FSMulti`` here is the paper's problem at its C, without an intercept, solved by the package's
  bundle method to a certified relative gap. ``two_layers`` is the paper's own algorithm: the same
  optimum, but it ends after 10 groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from scoresieve import budget_path, get_measure
from scoresieve.baselines import FGM, L1SVM, SVMRFE, FSMulti, L1BundleSVM, SVMPerf
from scoresieve.measures import C_from_paper
from studies.common.data import Split
from studies.common.limits import fit_noting_limit, limit_of

Row = dict[str, Any]

#: The paper's C for SVM-RFE; FGM's loss has a factor 1/2 there, so that its C = 5 is 2.5 here.
C_RFE, C_FGM = 5.0, 2.5


def test_scores(
    y_test: np.ndarray, decision: np.ndarray, measures: Sequence[str]
) -> dict[str, float]:
    """``100 * score`` by measure."""
    decision = np.ravel(decision)
    return {name: 100.0 * get_measure(name).score(y_test, decision) for name in measures}


def row_of(model: Any, split: Split, label: int, scored: Sequence[str], **setting: Any) -> Row:
    """Fit a model to one class against the rest, and score it.

    Parameters
    ----------
    model : estimator of this package
    split, label, scored
        As everywhere here.
    **setting
        What the row begins with.
    """
    y, y_test = split.labels(label)
    limit = fit_noting_limit(model, split.X, y)
    row = {**setting, "n_features": int(model.n_features_selected_), "limit": limit}
    if hasattr(model, "gap_"):
        row |= {"gap": float(model.gap_[0]), "rounds": int(model.n_iter_[0])}
    if hasattr(model, "C_"):
        row["C"] = float(model.C_[0])
    return row | {"scores": test_scores(y_test, model.decision_function(split.X_test), scored)}


def fs_multi(
    split: Split,
    label: int,
    *,
    measure: str,
    c: float,
    budgets: Sequence[int],
    scored: Sequence[str],
    tol: float,
    max_iter: int,
    supports: bool = False,
) -> list[Row]:
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` for each budget, at the paper's ``C = c n``.

    With ``supports`` rows hold the numbers of the features.
    """
    y, y_test = split.labels(label)
    C = C_from_paper(c, y, measure)
    path = budget_path(
        split.X,
        y,
        [min(budget, split.X.shape[1]) for budget in budgets],
        measure=measure,
        bound="paper",
        C=C,
        fit_intercept=False,
        tol=tol,
        max_iter=max_iter,
    )
    decisions = path.decision_function(split.X_test)
    rows = []
    for i, budget in enumerate(budgets):
        row = {
            "budget": budget,
            "C": C,
            "n_features": int(path.n_features_selected[i]),
            "limit": limit_of(path.results[i]),
            "gap": float(path.gap[i]),
            "rounds": int(path.n_iter[i]),
            "scores": test_scores(y_test, decisions[:, i], scored),
        }
        rows.append(row | ({"support": path.results[i].support.tolist()} if supports else {}))
    return rows


def two_layers(
    split: Split,
    label: int,
    *,
    budgets: Sequence[int],
    measure: str,
    scored: Sequence[str],
    c: float,
    max_iter: int,
) -> list[Row]:
    """The paper's own algorithm with at most 10 groups, so that there are at most 10 B features."""
    rows = []
    for budget in budgets:
        size = min(budget, split.X.shape[1])
        model = FSMulti(measure, budget=size, C=c, C_scale="paper", max_iter=max_iter)
        rows.append(row_of(model, split, label, scored, budget=budget))
    return rows


def svm_perf(
    split: Split,
    label: int,
    *,
    measure: str,
    exponents: Sequence[int],
    tol: float,
    max_iter: int,
) -> list[Row]:
    """``min_w 1/2 ||w||^2 + C R(X w)`` with all features, SVM^perf's ``-c`` a power of 2."""
    fixed = {"C_scale": "svmperf", "fit_intercept": False, "tol": tol, "max_iter": max_iter}
    rows = []
    for exponent in exponents:
        model = SVMPerf(measure, C=2.0**exponent, **fixed)
        rows.append(row_of(model, split, label, [measure], exponent=exponent))
    return rows


def svm_rfe(
    split: Split,
    label: int,
    *,
    n_levels: int,
    scored: Sequence[str],
    C: float = C_RFE,
    max_iter: int = 1000,
) -> list[Row]:
    """SVM-RFE by halving: the models with 2, 4, ..., ``2^n_levels`` features.

    One elimination passes through all these sets; the final SVM of each is trained on its columns,
    which is what an elimination that stops there does. A limit in the elimination is one of all.
    """
    y, y_test = split.labels(label)
    elimination = SVMRFE(n_features_to_select=2, C=C, max_iter=max_iter)
    limit = fit_noting_limit(elimination, split.X, y)
    rows = []
    for rank in range(1, n_levels + 1):
        columns = np.flatnonzero(elimination.ranking_ <= rank)
        if columns.size == split.X.shape[1]:
            break
        model = LinearSVC(C=C, dual="auto", max_iter=max_iter, random_state=0)
        own_limit = fit_noting_limit(model, split.X[:, columns], y)
        decision = model.decision_function(split.X_test[:, columns])
        row = {"n_features": int(columns.size), "limit": limit or own_limit}
        rows.append(row | {"scores": test_scores(y_test, decision, scored)})
    return rows


def l1_svm(
    split: Split, label: int, *, exponents: Sequence[int], scored: Sequence[str], max_iter: int
) -> list[Row]:
    """``min_w ||w||_1 + C sum_i max(0, 1 - y_i f(x_i))^2`` for C the powers of 2."""
    models = {exponent: L1SVM(C=2.0**exponent, max_iter=max_iter) for exponent in exponents}
    return [row_of(model, split, label, scored, exponent=e) for e, model in models.items()]


def fgm(
    split: Split, label: int, *, budgets: Sequence[int], scored: Sequence[str], C: float = C_FGM
) -> list[Row]:
    """FGM: ``min_w 1/2 ||w||_B^2 + C sum_i max(0, 1 - y_i <w, x_i>)^2`` for each budget."""
    rows = []
    for budget in budgets:
        model = FGM(budget=min(budget, split.X.shape[1]), C=C, fit_intercept=False, max_groups=10)
        rows.append(row_of(model, split, label, scored, budget=budget))
    return rows


def l1_bundle(
    split: Split,
    label: int,
    *,
    Cs: Sequence[float],
    scored: Sequence[str],
    tol: float,
    max_iter: int,
) -> list[Row]:
    """``min_w ||w||_1 + C R(X w)`` for F1 by cutting planes, the paper's l1-bmrm-F1."""
    models = [L1BundleSVM("f1", C=C, tol=tol, max_iter=max_iter) for C in Cs]
    return [row_of(model, split, label, scored, C=model.C) for model in models]
