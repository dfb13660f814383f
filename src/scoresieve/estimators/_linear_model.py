"""What a fitted linear model can do: decide, predict, score, and prove how good it is."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from scoresieve.certificate import Certificate, certify
from scoresieve.estimators._decision import linear_scores, measure_score
from scoresieve.estimators._inputs import ColumnSettings
from scoresieve.estimators._targets import Targets
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.row_weights import apply_weights

FloatArray = NDArray[np.float64]


#: How the supports of several classes become one selection.
COMBINE = {"union": np.union1d, "intersection": np.intersect1d}


def check_multi_class_support(name: str) -> None:
    """Refuse a way to combine supports that there is not."""
    if name not in COMBINE:
        raise ValueError(
            f"multi_class_support must be one of {sorted(COMBINE)}; got {name!r}. Each class's own "
            "features are in supports_."
        )


class LinearModelMixin:
    """``decision_function(X) = X coef_^T + intercept_``.

    Conventions
    -----------
    ``fit`` sets ``coef_``, ``intercept_``, ``classes_`` and ``measure_``, and for the problems that
    were solved ``_targets`` (a row for each class, and its sign), ``_settings``, ``_biases`` (the
    intercepts before they were shifted to a threshold) and ``_dual_points``.
    """

    #: Recomputes the bounds of one problem.
    _certifier = staticmethod(certify)

    def _store_results(
        self, targets: Targets, settings: ColumnSettings, results: list[SolveResult]
    ) -> None:
        """Set the fitted attributes that one result for each problem decides."""
        self._targets, self._settings = targets, settings
        self._dual_points = [result.dual_point for result in results]
        self._biases = np.array([result.intercept for result in results])
        self.classes_, self.budget_ = targets.classes, settings.budget
        self.coef_ = targets.sign * np.array([result.w for result in results])
        self.supports_ = [np.union1d(result.support, settings.always) for result in results]
        self.support_ = reduce(COMBINE[self.multi_class_support], self.supports_)
        self.n_features_selected_ = int(self.support_.size)
        for name in ("primal", "dual", "n_iter"):
            setattr(self, f"{name}_", np.array([getattr(result, name) for result in results]))
        self.dual_gap_ = np.array([result.gap for result in results])
        self.status_ = [result.status for result in results]
        self.history_ = [result.history for result in results]
        if self.n_features_to_select is not None:
            self.l0_gap_ = np.array([result.l0_gap for result in results])
        elif hasattr(self, "l0_gap_"):
            del self.l0_gap_

    def _weights(self) -> FloatArray:
        """The weights of each problem, where a positive score speaks for the positive class."""
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        return self._targets.sign * coef

    def _validated(self, X: Any) -> Any:
        """X for a fitted model."""
        check_is_fitted(self, "coef_")
        dtypes = [np.float64, np.float32]
        return validate_data(self, X, accept_sparse=["csr", "csc"], dtype=dtypes, reset=False)

    def _validated_targets(self, X: Any, y: Any) -> Any:
        """The labels in the shape that the model was fitted with, one for each row of X."""
        if self._targets.kind == "multilabel":
            y = y.tocsr() if sp.issparse(y) else np.asarray(y)
            if y.ndim != 2 or y.shape[1] != self.classes_.size:
                raise ValueError(
                    f"y has shape {y.shape}; the model was fitted on an indicator matrix with "
                    f"{self.classes_.size} columns."
                )
        else:
            y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return y

    def decision_function(self, X: Any) -> FloatArray:
        """``X coef_^T + intercept_``: how much speaks for each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one column, positive for ``classes_[1]``.
        """
        X = self._validated(X)
        decision = linear_scores(X, self.coef_) + self.intercept_
        return decision.ravel() if self._targets.kind == "binary" else decision

    def predict(self, X: Any) -> NDArray:
        """The class of each row, or its indicator matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        decision = self.decision_function(X)
        return self._targets.predict(decision)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The measure that the model was trained for, in [0, 1].

        With several classes it is the mean over the classes, each against the rest, that y holds
        an example of.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, as in ``fit``.

        Returns
        -------
        float
        """
        decision = self.decision_function(X)
        y = self._validated_targets(decision, y)
        return measure_score(self.measure_, self._targets, y, decision, sample_weight)

    def certify(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> Certificate | list[Certificate]:
        """Recompute primal, dual and gap from the training data, without any solver's state.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        Certificate, or list of Certificate
            One for each class if there are more than two, or an indicator matrix.
        """
        X = self._validated(X)
        y = self._validated_targets(X, y)
        X, y, weights = self._with_weights(X, y, sample_weight)
        arguments = self._settings.arguments() | {"sample_weight": weights}
        parts = zip(
            self._targets.labels(y), self._weights(), self._biases, self._dual_points, strict=True
        )
        found = [
            self._certifier(X, labels, w, dual_point, bias=float(bias), **arguments)
            for labels, w, bias, dual_point in parts
        ]
        return found[0] if self._targets.kind == "binary" else found

    def _with_weights(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Data and weights as the problems see them."""
        return apply_weights(self.measure_, X, y, sample_weight)

    def sparsify(self) -> Any:
        """Convert ``coef_`` to a CSR matrix, as scikit-learn's linear models do.

        Returns
        -------
        self
        """
        check_is_fitted(self, "coef_")
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Any:
        """Convert ``coef_`` to an array.

        Returns
        -------
        self
        """
        check_is_fitted(self, "coef_")
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self
