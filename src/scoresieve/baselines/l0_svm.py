"""``L0SVM``: few features by repeatedly rescaling each column with its weight."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_count
from scoresieve.baselines._baseline import BinaryFit
from scoresieve.baselines._liblinear import LiblinearBaseline, for_liblinear
from scoresieve.baselines.svm_rfe import largest_weights
from scoresieve.estimators.persistence.fields import array, each
from scoresieve.estimators.persistence.values import classifier

#: A weight counts as zero below this share of the largest. It is squared in the next round.
NEGLIGIBLE = 1e-6
#: The rounds have converged if each weight that is left changes by at most this share of itself.
SETTLED = 0.05
#: With k, C is halved if no weight changes by more than this share of the largest.
NEARLY_SETTLED = 0.1


@dataclass(eq=False, repr=False, kw_only=True)
class L0SVM(LiblinearBaseline):
    """``v = argmin_v 1/2 ||v||^2 + C sum_i loss(y_i, <v, z * x_i>)``, ``z <- z * |v|``, repeated.

    AROM (Weston, Elisseeff, Schoelkopf and Tipping, "Use of the zero-norm with linear models and
    kernel methods", JMLR 2003) approximates ``min ||w||_0`` subject to separation. Each round is an
    SVM on rescaled columns; with ``w = z * v`` it minimises
    ``1/2 sum_j (w_j / z_j)^2 + C sum_i loss_i``, which majorises
    ``sum_j log |w_j| + C sum_i loss_i`` at ``|w| = z``. So this sum never rises, and weights that
    the loss does not need go to 0.

    **Conventions**

    * Without k the rounds stop when the weights have converged; the remaining features are
      selected.
    * With k they stop as soon as at most k features are left, and the k largest weights are taken.
    * A final SVM is trained on the unscaled columns of those features.
    * The sum is not convex, so scaling the columns can change the selection. Give columns similar
      scales: weights below 1e-6 of the largest count as zero.

    Differences from the original:

    * it has a hard margin. Here the margin is soft; a large C comes close to a hard one. From the
      second round on a feature costs the same whatever its weight, so a small C leaves a single
      feature;
    * if the weights nearly converge with more than k features left, C is halved for the next round.
      Taking the k largest weights instead would be poor: the logarithm ignores the scale of
      columns, so on text the rarest words have the largest weights;
    * liblinear with a regularised intercept, whose column is not rescaled;
    * more than two classes, or an indicator matrix, are fitted one-vs-rest.

    Parameters
    ----------
    n_features_to_select : int, optional
        k, for each class. None for the number that the method finds.
    C : float, default=1.0
        Weight of the loss, as for ``LinearSVC``.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    max_rounds : int, default=100
    max_time : float, optional
        Seconds for each class, honoured within one round.
    class_weight, fit_intercept, intercept_scaling, tol, max_iter, n_jobs, random_state
        As in :class:`L1SVM`; ``max_iter`` for each round.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_
        As in :class:`~scoresieve.MeasureSVC`.
    scales_ : list of ndarray of shape (n_features,)
        z of each problem after the last round: the weights before the final SVM, without signs.
    n_iter_ : ndarray of int of shape (n_problems,)
        Rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import L0SVM
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> L0SVM(n_features_to_select=2).fit(X, X[:, 3] + X[:, 7] > 1.5).support_
    array([3, 7])
    """

    n_features_to_select: int | None = None
    C: float = 1.0
    loss: str = "squared_hinge"
    class_weight: Any = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    max_rounds: int = 100
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0

    _saved = classifier() | {"scales_": each(array(np.float64, "features"))}

    def _fit_binary(self, X: Any, y: FloatArray, class_weight: Any = None) -> BinaryFit:
        X = for_liblinear(X)
        k = self.n_features_to_select
        if k is not None:
            k = min(check_count(k, "n_features_to_select"), X.shape[1])
        z, n_rounds, trouble = self._rescale(X, y, k, class_weight)
        n_kept = int(np.count_nonzero(z > NEGLIGIBLE * z.max())) if k is None else k
        selected = largest_weights(z, n_kept)
        w, intercept = np.zeros(z.size), 0.0
        if selected.size:
            fit = self._train(X[:, selected], y, penalty="l2", C=self.C, class_weight=class_weight)
            w[selected], intercept, trouble = fit.w, fit.intercept, trouble or fit.trouble
        return BinaryFit(w, intercept, n_rounds, trouble, self.C, details={"scales_": z})

    def _rescale(
        self, X: Any, y: FloatArray, k: int | None, class_weight: Any
    ) -> tuple[FloatArray, int, str | None]:
        """``z``, the number of rounds, and what there is to tell the user.

        Columns whose weight has become negligible are left out of later rounds, with z = 0: the
        next round would square it.
        """
        begin = perf_counter()
        max_rounds = check_count(self.max_rounds, "max_rounds")
        z, left, C = np.ones(X.shape[1]), np.arange(X.shape[1]), self.C
        for n_rounds in range(1, max_rounds + 1):
            before = z[left]
            fit = self._train(scaled(X, before), y, penalty="l2", C=C, class_weight=class_weight)
            factors = np.abs(fit.w)
            z[left] = before * factors
            largest = z[left].max()
            kept = np.flatnonzero(z[left] > NEGLIGIBLE * largest)
            if kept.size <= (1 if k is None else k):
                return z, n_rounds, None
            if k is None and np.all(np.abs(factors[kept] - 1.0) <= SETTLED):
                return z, n_rounds, None
            if k is not None and np.max(np.abs(z[left] - before)) <= NEARLY_SETTLED * largest:
                C *= 0.5
            if kept.size < left.size:
                z[np.delete(left, kept)] = 0.0
                left, X = left[kept], X[:, kept]
            if self.max_time is not None and perf_counter() - begin > self.max_time:
                return z, n_rounds, f"stopped at max_time={self.max_time:g}; raise it."
        return z, max_rounds, f"stopped at max_rounds={max_rounds} before convergence; raise it."


def scaled(X: Any, z: FloatArray) -> Any:
    """``X diag(z)``, without a copy of the indices of a sparse X."""
    if not sp.issparse(X):
        return X * z
    return type(X)((X.data * z[X.indices], X.indices, X.indptr), shape=X.shape)
