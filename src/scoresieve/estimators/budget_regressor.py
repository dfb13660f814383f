"""``BudgetRegressor``: the feature budget for real targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from scoresieve.certificate import Certificate
from scoresieve.estimators._decision import linear_scores
from scoresieve.estimators._fit import warn_about
from scoresieve.estimators._inputs import LossSettings, resolve_loss_settings
from scoresieve.estimators._loss_fit import fit_loss
from scoresieve.estimators._progress import CallbackMixin, FitTasks, with_callbacks
from scoresieve.estimators._selector import SparseSelectorMixin
from scoresieve.loss_certificate import certify_loss
from scoresieve.losses import Loss
from scoresieve.measures.weighted import as_weights
from scoresieve.solvers.loss_problem import check_weights
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]


class BudgetRegressor(CallbackMixin, RegressorMixin, SparseSelectorMixin, BaseEstimator):
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(<w, x_i> + b - y_i)``: few features for real targets.

    Every fit comes with a certified distance to the optimum.

    Conventions
    -----------
    * C has the scale of scikit-learn: without intercept and with a budget of all features the
      problem is that of ``Ridge(alpha=1 / C)`` (``"squared"``) or ``LinearSVR``
      (``"epsilon_insensitive"``).
    * With an intercept the mean of y (the median for the other losses) is taken off first, so that
      a shift of y shifts the predictions and changes nothing else. What is left of the intercept is
      the weight of a constant column and regularised, as in ``LinearSVR``.
    * Identical inputs give identical bits.

    Parameters
    ----------
    loss : {"squared", "epsilon_insensitive", "huber"} or Loss, default="squared"
        By name, or with settings of its own: ``scoresieve.losses.Huber(epsilon=0.5)``.
    budget : int, optional
        B. The model has more non-zero weights than that. By default ``n_features_to_select``, or
        else 50, or all features if there are fewer.
    n_features_to_select : int, optional
        k: a model with at most k features (or groups), besides ``always_features``. ``l0_gap_``
        bounds how far it is from the best model of that size.
    C : float, default=1.0
        Weight of the losses.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant column; the larger, the less the intercept is regularised.
    always_features, excluded_features, feature_groups
        As in :class:`MeasureSVC`.
    tol : float, default=0.01
        Certified relative gap to stop at.
    max_iter : int, default=1000
        Most rounds.
    max_time : float, optional
        Seconds, honoured within one round.
    warm_start : bool, default=False
        Start from the weights of the previous fit, if the number of features is the same. For
        smooth losses; the epsilon-insensitive loss always starts anew.
    verbose : int, default=0
        Above 0, each round is reported on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    support_ : ndarray of int
        Selected features: those with a weight, and ``always_features``.
    n_features_selected_ : int
    budget_ : int
    primal_, dual_, dual_gap_ : float
        Objective, its certified lower bound, and ``(primal - dual) / primal``.
    l0_gap_ : float
        With ``n_features_to_select``: the same gap, to the best possible model with k features.
    n_iter_ : int
    status_ : Status
    history_ : list of Progress
    loss_ : Loss
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import BudgetRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> model = BudgetRegressor(n_features_to_select=2, C=10.0).fit(X, X[:, 3] - 2 * X[:, 7] + 5)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> model.coef_[[3, 7]].round(2), round(model.intercept_, 2)
    (array([ 1., -2.]), 5.0)
    """

    def __init__(
        self,
        loss: str | Loss = "squared",
        *,
        budget: int | None = None,
        n_features_to_select: int | None = None,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        always_features: ArrayLike | None = None,
        excluded_features: ArrayLike | None = None,
        feature_groups: Any = None,
        tol: float = 0.01,
        max_iter: int = 1000,
        max_time: float | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.budget = budget
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.always_features = always_features
        self.excluded_features = excluded_features
        self.feature_groups = feature_groups
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BudgetRegressor:
        """Select features and fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Never densified, never modified.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            What each row's loss is multiplied with: 2 is the same as the row twice.

        Returns
        -------
        self
        """
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=["csr", "csc"],
            accept_large_sparse=True,
            dtype=[np.float64, np.float32],
            y_numeric=True,
            ensure_min_samples=2,
        )
        y = np.asarray(y, dtype=np.float64)
        names = getattr(self, "feature_names_in_", None)
        settings = resolve_loss_settings(self, "regression", self.n_features_in_, names)
        weights = None if sample_weight is None else as_weights(sample_weight)
        offset = 0.0
        if self.fit_intercept:
            offset = centre(y, check_weights(weights, y, by_class=False), settings.loss)
        previous = None
        if self.warm_start and getattr(self, "coef_", np.zeros(0)).size == self.n_features_in_:
            previous = (self.coef_, self.intercept_ - offset)
        tasks = FitTasks(self, ["regression"], X, y, {"sample_weight": weights})
        result = fit_loss(
            X,
            y - offset,
            settings,
            Limits(self.tol, self.max_iter, self.max_time),
            hard=self.n_features_to_select is not None,
            previous=previous,
            sample_weight=weights,
            reporter=tasks.reporters[0],
        )
        warn_about(result, "regression", settings.C, self.tol)
        self._store(offset, settings, result)
        tasks.end()
        return self

    def _store(self, offset: float, settings: LossSettings, result: SolveResult) -> None:
        """Set the fitted attributes."""
        self._offset, self._settings, self._dual_point = offset, settings, result.dual_point
        self.loss_, self.budget_ = settings.loss, settings.budget
        self.coef_, self.intercept_ = result.w, float(result.intercept + offset)
        self.support_ = np.union1d(result.support, settings.always)
        self.n_features_selected_ = int(self.support_.size)
        self.primal_, self.dual_, self.dual_gap_ = result.primal, result.dual, result.gap
        self.n_iter_, self.status_, self.history_ = result.n_iter, result.status, result.history
        if self.n_features_to_select is not None:
            self.l0_gap_ = result.l0_gap
        elif hasattr(self, "l0_gap_"):
            del self.l0_gap_

    def predict(self, X: Any) -> FloatArray:
        """``X coef_ + intercept_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._validated(X)
        return linear_scores(X, self.coef_[np.newaxis]).ravel() + self.intercept_

    def _validated(self, X: Any) -> Any:
        """X for a fitted model."""
        check_is_fitted(self, "coef_")
        dtypes = [np.float64, np.float32]
        return validate_data(self, X, accept_sparse=["csr", "csc"], dtype=dtypes, reset=False)

    def certify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Certificate:
        """Recompute primal, dual and gap from the training data, without any solver's state.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.
        """
        X = self._validated(X)
        return certify_loss(
            X,
            np.asarray(y, dtype=np.float64) - self._offset,
            self.coef_,
            self._dual_point,
            bias=self.intercept_ - self._offset,
            sample_weight=sample_weight,
            **self._settings.arguments(),
        )


def centre(y: FloatArray, weights: FloatArray, loss: Loss) -> float:
    """The weighted mean of y for the squared loss, a weighted median for the others.

    Parameters
    ----------
    y, weights : ndarray of shape (n_samples,)
    loss : Loss
    """
    if loss.name == "squared":
        return float(np.average(y, weights=weights))
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(weights[order])
    return float(y[order[np.searchsorted(reached, 0.5 * reached[-1])]])
