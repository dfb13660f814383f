"""``SVMRFE``: train, drop the smallest weights, repeat."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import reduce
from time import perf_counter
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_count
from scoresieve.baselines._baseline import BinaryFit
from scoresieve.baselines._liblinear import LiblinearBaseline, for_liblinear
from scoresieve.estimators.persistence.fields import array, each
from scoresieve.estimators.persistence.values import classifier


@dataclass(eq=False, repr=False, kw_only=True)
class SVMRFE(LiblinearBaseline):
    """``w = argmin 1/2 ||w||^2 + C sum_i loss_i`` on what is left; drop the smallest ``|w_j|``.

    SVM-RFE (Guyon, Weston, Barnhill and Vapnik, "Gene selection for cancer classification using
    support vector machines", Machine Learning 2002) trains a linear SVM, removes the features with
    the smallest weights, and repeats until few are left.

    **Conventions**

    ``step="halving"`` is that paper's schedule for many features: the first round keeps the largest
    power of 2, each later round half. ``step=1`` removes one feature per round. A fraction refers
    to the remaining features; in scikit-learn's ``RFE``, to all features. The last round stops at
    exactly k features, on which a final SVM is trained. Differences from the original:

    * liblinear with the squared hinge and a regularised intercept, as in the paper's comparison
      (with C = 5 there), not an SVM with the plain hinge (``loss="hinge"``) and a free bias;
    * more than two classes, or an indicator matrix, are fitted one-vs-rest, with one ranking each.

    Parameters
    ----------
    n_features_to_select : int, optional
        k, for each class; by default half of the features, as in scikit-learn's ``RFE``.
    step : {"halving"}, float or int, default="halving"
        Features to remove per round: half, a fraction in (0, 1) of those left, or a number.
    C : float, default=1.0
        Weight of the loss, as for ``LinearSVC``.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    max_time : float, optional
        Seconds for each class, honoured within one round; then all but k features are removed at
        once.
    class_weight, fit_intercept, intercept_scaling, tol, max_iter, n_jobs, random_state
        As in :class:`L1SVM`; ``max_iter`` for each round.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_
        As in :class:`~scoresieve.MeasureSVC`.
    ranking_ : ndarray of int of shape (n_features,)
        1 for selected features (of any class), 2 for those removed last, and so on.
    rankings_ : list of ndarray of int of shape (n_features,)
        The same for each problem.
    n_iter_ : ndarray of int of shape (n_problems,)
        Number of SVMs trained.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import SVMRFE
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> SVMRFE(n_features_to_select=2).fit(X, X[:, 3] + X[:, 7] > 1.5).support_
    array([3, 7])
    """

    n_features_to_select: int | None = None
    step: str | float = "halving"
    C: float = 1.0
    loss: str = "squared_hinge"
    class_weight: Any = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0

    _saved = classifier() | {"rankings_": each(array(np.int64, "features"))}

    @property
    def ranking_(self) -> IntArray:
        """The best rank of each feature over the classes; 1 for the selected ones."""
        return reduce(np.minimum, self.rankings_)

    def _fit_binary(self, X: Any, y: FloatArray, class_weight: Any = None) -> BinaryFit:
        begin = perf_counter()
        X, n_features = for_liblinear(X), X.shape[1]
        k = self.n_features_to_select
        k = max(1, n_features // 2) if k is None else check_count(k, "n_features_to_select")
        check_step(self.step)
        train = {"penalty": "l2", "C": self.C, "class_weight": class_weight}
        left, rounds, stopped, late = np.arange(n_features), [], [], False
        fit = self._train(X, y, **train)
        while left.size > k:
            stopped.append(fit.trouble is not None)
            late = self.max_time is not None and perf_counter() - begin > self.max_time
            n_kept = k if late else max(k, n_after_round(left.size, self.step))
            kept = largest_weights(fit.w, n_kept)
            rounds.append(np.delete(left, kept))
            left, X = left[kept], X[:, kept]
            fit = self._train(X, y, **train)
        w = np.zeros(n_features)
        w[left] = fit.w
        ranking = np.ones(n_features, dtype=np.int64)
        for rank, removed in enumerate(reversed(rounds), start=2):
            ranking[removed] = rank
        return BinaryFit(
            w=w,
            intercept=fit.intercept,
            n_iter=len(rounds) + 1,
            trouble=self._trouble(late, [*stopped, fit.trouble is not None]),
            C=fit.C,
            details={"rankings_": ranking},
        )

    def _trouble(self, late: bool, stopped: list[bool]) -> str | None:
        """What to tell the user about rounds that ended early."""
        if late:
            return f"max_time={self.max_time:g} ended the elimination in one round; raise it."
        if any(stopped):
            return (
                f"liblinear stopped at max_iter={self.max_iter} in {sum(stopped)} of "
                f"{len(stopped)} rounds; raise max_iter or tol."
            )
        return None


def check_step(step: Any) -> None:
    """Refuse an invalid schedule."""
    number = isinstance(step, numbers.Real) and not isinstance(step, bool)
    whole = isinstance(step, numbers.Integral)
    if step != "halving" and not (number and (step >= 1 if whole else 0 < step < 1)):
        raise ValueError(
            "step must be 'halving', a fraction in (0, 1) or an integer of at least 1; got "
            f"{step!r}."
        )


def n_after_round(n_left: int, step: Any) -> int:
    """How many of n >= 2 features are left after one round; ``2^(ceil(log2 n) - 1)`` by halving."""
    if step == "halving":
        return 1 << ((n_left - 1).bit_length() - 1)
    n_removed = step if isinstance(step, numbers.Integral) else max(1, step * n_left)
    return n_left - int(n_removed)


def largest_weights(w: FloatArray, n_kept: int) -> IntArray:
    """Sorted positions of the largest ``|w_j|``; of equal ones, the first."""
    return np.sort(np.argsort(-np.abs(w), kind="stable")[:n_kept])
