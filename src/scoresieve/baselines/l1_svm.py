"""``L1SVM``: liblinear's l1-norm SVM, with a search for the C that gives k features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_count, check_share
from scoresieve.baselines._baseline import BinaryFit
from scoresieve.baselines._liblinear import LiblinearBaseline, for_liblinear
from scoresieve.estimators.linear_model import each_model
from scoresieve.estimators.persistence.fields import array, each
from scoresieve.estimators.persistence.values import classifier

#: Factor between the C of the search before both ends are known.
GROWTH = 4.0
#: The search ends where C is this much larger than the smallest that is of use.
LARGEST_RATIO = 1e6
#: The search ends where both ends are this near: no C between them will do better.
NARROWEST = 1.0005
MAX_FITS = 50


#: Each C that was tried, and how many features its model has.
TRIED = each(array(np.float64, None, 2))


class Tried(NamedTuple):
    """A C and its model."""

    C: float
    fit: BinaryFit

    @property
    def n_features(self) -> int:
        """Non-zero weights."""
        return int(np.count_nonzero(self.fit.w))

    def distance(self, k: int) -> tuple[int, bool, int, float]:
        """How far it is from k features; ties go to what has features, but few, and to small C."""
        return abs(self.n_features - k), self.n_features == 0, self.n_features, self.C


@dataclass(eq=False, repr=False, kw_only=True)
class L1SVM(LiblinearBaseline):
    """``min_w ||w||_1 + C sum_i c_i max(0, 1 - y_i (<w, x_i> + b))^2``; C for about k features.

    The l1-SVM of the paper's comparison is liblinear's (Yuan, Chang, Hsieh and Lin, "A comparison
    of optimization methods and software for large-scale L1-regularized linear classification", JMLR
    2010), run at several C, each with its number of features.

    **Conventions**

    The same as in the original: the problem and the program. Differences:

    * with ``n_features_to_select=k``, C is found by search: from the largest C of the empty model
      it grows by factors of 4 until at least k features are selected, then log C is bisected. The
      search accepts k features, up to ``k_tol * k`` more or less (rounded down). If no such model
      is found (the number of features jumps, and can fall while C grows), the nearest one is taken
      with a warning, or the sparser of two unless it is empty;
    * the intercept is regularised, as always in liblinear;
    * more than two classes, or an indicator matrix, are fitted one-vs-rest, each with its own C.

    Parameters
    ----------
    n_features_to_select : int, optional
        k, for each class. None for the model at ``C``.
    C : float, optional
        Weight of the loss, 1 by default; not with ``n_features_to_select``.
    k_tol : float, default=0.05
        Accepted deviation from k, as a fraction of k.
    loss : {"squared_hinge"}
        The only loss that liblinear supports with the l1 norm.
    class_weight : None, "balanced" or dict, default=None
        Weights by class; "balanced" applies to each problem separately.
    fit_intercept, intercept_scaling, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.
    tol : float, default=1e-4
        Of liblinear.
    max_iter : int, default=1000
        Of liblinear, for each C.
    max_time : float, optional
        Seconds for each class, honoured within the fit of one C.
    random_state : int, RandomState or None, default=0
        Seed for the order of liblinear's coordinates.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_
        As in :class:`~scoresieve.MeasureSVC`.
    C_ : ndarray of shape (n_problems,)
        The C of each model.
    path_ : list of ndarray of shape (n_fits, 2)
        Each C tried and its number of features, in the order of the search.
    n_iter_ : ndarray of int of shape (n_problems,)
        Iterations of liblinear for ``C_``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import L1SVM
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> L1SVM(n_features_to_select=2).fit(X, X[:, 3] + X[:, 7] > 1.5).support_
    array([3, 7])
    """

    n_features_to_select: int | None = None
    C: float | None = None
    k_tol: float = 0.05
    loss: str = "squared_hinge"
    class_weight: Any = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0

    _saved = classifier() | {"path_": TRIED}
    C_ = each_model(lambda model: model.C)

    def _fit_binary(self, X: Any, y: FloatArray, class_weight: Any = None) -> BinaryFit:
        X = for_liblinear(X)
        k, share = self.n_features_to_select, check_share(self.k_tol, "k_tol")
        missed = None
        if k is None:
            tried = [self._try(X, y, 1.0 if self.C is None else self.C, class_weight)]
            best = tried[0]
        else:
            if self.C is not None:
                raise ValueError(
                    f"C={self.C!r} and n_features_to_select={k!r} are both given, but "
                    "n_features_to_select searches for C; leave C=None."
                )
            k = min(check_count(k, "n_features_to_select"), X.shape[1])
            allowed = int(share * k)
            tried = self._search(X, y, k, allowed, class_weight)
            best = min(tried, key=lambda each: each.distance(k))
            if abs(best.n_features - k) > allowed:
                missed = (
                    f"none of the {len(tried)} C that were tried gives {k} features; C={best.C:.6g}"
                    f" gives {best.n_features}. Raise k_tol or max_time, or choose another number."
                )
        path = np.array([[each.C, each.n_features] for each in tried])
        trouble = missed or best.fit.trouble
        return replace(best.fit, trouble=trouble, C=best.C, details={"path_": path})

    def _try(self, X: Any, y: FloatArray, C: float, class_weight: Any) -> Tried:
        return Tried(C, self._train(X, y, penalty="l1", C=C, class_weight=class_weight))

    def _search(
        self, X: Any, y: FloatArray, k: int, allowed: int, class_weight: Any
    ) -> list[Tried]:
        """Bracket, then bisect log C, until a model has k features within ``allowed``."""
        begin = perf_counter()
        intercept = self.intercept_scaling if self.fit_intercept else 0.0
        smallest = low = smallest_C(X, y, intercept, class_weight)
        high = None
        tried: list[Tried] = []
        while len(tried) < MAX_FITS:
            C = GROWTH * low if high is None else float(np.sqrt(low * high))
            tried.append(self._try(X, y, C, class_weight))
            n_features = tried[-1].n_features
            if abs(n_features - k) <= allowed:
                break
            low, high = (C, high) if n_features < k else (low, C)
            late = self.max_time is not None and perf_counter() - begin > self.max_time
            at_end = low >= LARGEST_RATIO * smallest if high is None else high <= NARROWEST * low
            if late or at_end:
                break
        return tried


def smallest_C(X: Any, y: FloatArray, intercept: float, class_weight: Any) -> float:
    """``1 / (2 max_j |sum_i c_i y_i x_ij|)``: up to this C the optimum is 0; 1 if it is for all C.

    ``intercept`` is the value of the constant column, 0 for none.
    """
    signed = y * compute_sample_weight(class_weight, y)
    correlations = X.T @ signed
    largest = max(float(np.max(np.abs(correlations))), intercept * abs(float(np.sum(signed))))
    return 0.5 / largest if largest > 0 else 1.0
