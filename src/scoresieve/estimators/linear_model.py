"""What a fitted linear model can do: decide, predict, score, and prove how good it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve.certificate import Certificate, certify
from scoresieve.estimators.data import read_X
from scoresieve.estimators.decision import linear_scores, measure_score
from scoresieve.estimators.summary.mixin import SummaryMixin
from scoresieve.estimators.targets import LabelTagsMixin, Targets
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.risks import DualPoint
from scoresieve.solvers.problem import ProblemArguments, measure_or_loss


class LinearModelMixin(SummaryMixin, LabelTagsMixin):
    """``decision_function(X) = X coef_^T + intercept_``.

    Conventions
    -----------
    ``fit`` sets ``coef_``, ``intercept_`` and ``classes_``, ``measure_`` if the model was trained
    for one, and for the problems that were solved ``_targets`` (a row for each class, its sign),
    ``_arguments`` (all of a problem but its data), ``_biases`` (the intercepts before they were
    shifted to a threshold) and ``_dual_points``.
    """

    coef_: Any
    intercept_: FloatArray
    classes_: Array
    measure_: Measure
    n_iter_: IntArray
    price_: FloatArray
    _targets: Targets
    _arguments: ProblemArguments
    _biases: FloatArray
    _dual_points: list[DualPoint | None]

    def _kind(self) -> Measure | Loss:
        """What the model was trained for."""
        return measure_or_loss(self._arguments["measure"], self._arguments["loss"])

    def _arguments_of(self, problem: int, sample_weight: ArrayLike | None) -> ProblemArguments:
        """All of one of the problems but X and y."""
        arguments: ProblemArguments = {**self._arguments, "sample_weight": sample_weight}
        if hasattr(self, "price_"):
            arguments["price"] = float(self.price_[problem])
        return arguments

    def _coefficients(self) -> FloatArray:
        """The weights of each problem, where a positive score speaks for the positive class."""
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        return self._targets.sign * coef

    def _validated(self, X: Any) -> Any:
        """X for a fitted model."""
        check_is_fitted(self, "coef_")
        return read_X(self, X)

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

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one column, positive for ``classes_[1]``.
        """
        X = self._validated(X)
        decision = linear_scores(X, self.coef_) + self.intercept_
        return decision.ravel() if self._targets.kind == "binary" else decision

    def _above_thresholds(self, decision: FloatArray) -> FloatArray:
        """Decisions that are positive where each class alone would be predicted."""
        return decision

    def predict(self, X: Any) -> Array:
        """The class of each row of X, or an indicator matrix of shape (n_samples, n_classes)."""
        decision = self.decision_function(X)
        return self._targets.predict(decision)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """What the model was trained for: its measure, in [0, 1]; for a loss, the accuracy.

        With several classes a measure is averaged over the classes, each against the rest, that y
        holds an example of. The accuracy is that of every classifier in scikit-learn.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, as in ``fit``.
        """
        check_is_fitted(self, "coef_")
        if not hasattr(self, "measure_"):
            return ClassifierMixin.score(self, X, y, sample_weight)
        decision = self._above_thresholds(self.decision_function(X))
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
        labels = self._targets.labels(y)
        parts = zip(labels, self._coefficients(), self._dual_points, self._biases, strict=True)
        found = [
            certify(
                X,
                labels_of_class,
                w,
                dual_point,
                intercept=float(intercept),
                **self._arguments_of(problem, sample_weight),
            )
            for problem, (labels_of_class, w, dual_point, intercept) in enumerate(parts)
        ]
        return found[0] if self._targets.kind == "binary" else found

    def sparsify(self) -> Any:
        """Convert ``coef_`` to a CSR matrix, as scikit-learn's linear models do."""
        check_is_fitted(self, "coef_")
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Any:
        """Convert ``coef_`` to an array."""
        check_is_fitted(self, "coef_")
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self
