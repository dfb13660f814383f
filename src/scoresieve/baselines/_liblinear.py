"""Linear SVMs by liblinear, through scikit-learn, for the baselines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_C, check_choice, check_count, check_positive
from scoresieve.baselines._baseline import Baseline, BinaryFit
from scoresieve.estimators.targets import Targets

#: Losses by penalty, as liblinear has them.
LOSSES = {"l1": ("squared_hinge",), "l2": ("squared_hinge", "hinge")}
LARGEST_INDEX = np.iinfo(np.int32).max


class LiblinearBaseline(Baseline):
    """``min_w pen(w) + C sum_i c_i loss(y_i (<w, x_i> + b))`` as the step of a baseline.

    Conventions
    -----------
    * ``pen`` is ``||w||_1`` or ``1/2 ||w||_2^2`` and covers the intercept, which is the weight of a
      column of ``intercept_scaling``.
    * The subclass has the parameters ``loss``, ``class_weight``, ``fit_intercept``,
      ``intercept_scaling``, ``tol``, ``max_iter`` and ``random_state``, as ``LinearSVC`` has them,
      and takes the keyword argument ``class_weight`` in ``_fit_binary``.
    * With more than two classes, the weight of a class applies to that class and the rest has
      weight 1; "balanced" gives both sides of each problem the same total.
    """

    def _class_arguments(self, targets: Targets, problem: int) -> dict[str, Any]:
        weights = self.class_weight
        if weights is None or weights == "balanced":
            return {"class_weight": weights}
        if not isinstance(weights, Mapping):
            raise ValueError(
                "class_weight must be None, 'balanced' or a dict {class: weight}; got "
                f"{weights!r}."
            )
        classes = targets.classes.tolist()
        unknown = [label for label in weights if label not in classes]
        if unknown:
            raise ValueError(
                f"class_weight has a weight for {unknown[0]!r}, which is not a class of y; use "
                f"{classes}."
            )
        by_class = [check_positive(weights.get(label, 1.0), "class_weight") for label in classes]
        if targets.kind != "binary":
            return {"class_weight": {-1: 1.0, 1: by_class[problem]}}
        return {"class_weight": {-1: by_class[1 - targets.positive], 1: by_class[targets.positive]}}

    def _train(
        self, X: Any, y: FloatArray, *, penalty: str, C: float, class_weight: Any
    ) -> BinaryFit:
        """One SVM with the parameters of this estimator, X as :func:`for_liblinear` returns it."""
        model = LinearSVC(
            penalty=penalty,
            loss=check_choice(self.loss, f"loss with the {penalty} norm", LOSSES[penalty]),
            dual=False if penalty == "l1" else "auto",
            C=check_C(C),
            class_weight=class_weight,
            fit_intercept=bool(self.fit_intercept),
            intercept_scaling=check_positive(self.intercept_scaling, "intercept_scaling"),
            tol=check_positive(self.tol, "tol"),
            max_iter=check_count(self.max_iter, "max_iter"),
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # It is told to the user once for all fits, as a number of iterations that was reached.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        n_iter = int(np.max(model.n_iter_))
        intercept = float(np.ravel(model.intercept_)[0])
        late = f"liblinear stopped at max_iter={self.max_iter}; raise max_iter or tol."
        trouble = late if n_iter >= self.max_iter else None
        return BinaryFit(model.coef_[0], intercept, n_iter, trouble, C)


def for_liblinear(X: Any) -> Any:
    """``X`` for liblinear: float64, CSR with int32 indices; copied only if necessary.

    ``load_svmlight_file`` returns int64 indices, which ``LinearSVC`` refuses.
    """
    if not sp.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    if max(X.nnz, *X.shape) > LARGEST_INDEX:
        raise ValueError(
            f"X has shape {X.shape} and {X.nnz} stored values; liblinear takes at most "
            f"{LARGEST_INDEX} of each. Use fewer rows or columns, or MeasureSVC, which has no such "
            "limit."
        )
    X = X.tocsr()
    parts = (
        X.data.astype(np.float64, copy=False),
        X.indices.astype(np.int32, copy=False),
        X.indptr.astype(np.int32, copy=False),
    )
    return type(X)(parts, shape=X.shape)
