"""``BudgetRegressor``: the feature budget for real targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import FloatArray, IntArray
from scoresieve.certificate import Certificate
from scoresieve.estimators.budget_model import (
    class_model,
    problem_arguments,
    solve_reported,
    warm_start,
)
from scoresieve.estimators.data import read_X, read_X_y, warn_of_scales, whole_fit
from scoresieve.estimators.linear_model import certify_model, linear_scores
from scoresieve.estimators.messages import warn_about
from scoresieve.estimators.model import ClassModel
from scoresieve.estimators.persistence.registry import PersistenceMixin
from scoresieve.estimators.persistence.values import REGRESSOR
from scoresieve.estimators.progress import CallbackMixin, FitTasks, with_callbacks
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.estimators.summary.facts import regressor_facts
from scoresieve.estimators.summary.mixin import SummaryMixin
from scoresieve.losses import Loss
from scoresieve.risks import LossRisk
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import Problem, make_problems


def of_model(get: Callable[[ClassModel], Any]) -> Any:
    """A fitted attribute of the one model."""
    return property(lambda self: get(self.models_[0]))


@dataclass(eq=False, repr=False)
class BudgetRegressor(
    SummaryMixin,
    CallbackMixin,
    PersistenceMixin,
    RegressorMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(<w, x_i> + b - y_i)``: sparse linear regression.

    Every fit reports a certified bound on its distance from the optimum.

    **Conventions**

    * C has scikit-learn's scale: without intercept and with a budget of all features the problem
      equals ``Ridge(alpha=1 / C)`` (``"squared"``) or ``LinearSVR`` (``"epsilon_insensitive"``).
    * With an intercept, y is centred first: by its mean for the squared loss, by its median for the
      others. So shifting y only shifts the predictions. The rest of the intercept is the weight of
      a constant column.
    * Identical inputs give bitwise identical models.

    Parameters
    ----------
    loss : {"squared", "epsilon_insensitive", "huber"} or Loss, default="squared"
        A name, or an instance with its own settings: ``scoresieve.losses.Huber(epsilon=0.5)``.
    budget : int, optional
        B of the budget norm. The model has more than B non-zero weights. By default
        ``n_features_to_select`` if given, else 50 (or all features if there are fewer).
    n_features_to_select : int, optional
        k: at most k features (or groups), besides ``always_features``. ``l0_gap_`` bounds the gap
        to the best model of that size.
    certificate : bool, default=True
        As in :class:`MeasureSVC`.
    C : float, default=1.0
        Weight of the losses.
    fit_intercept, always_features, excluded_features, feature_groups, max_iter, max_time, verbose
        As in :class:`MeasureSVC`.
    intercept_scaling : float, optional
        Value of the constant column whose weight is the intercept. By default 100, which hardly
        regularises the intercept, as in ``Ridge``; 1 for ``"epsilon_insensitive"``, as in
        ``LinearSVR``.
    tol : float, default=0.01
        The fit stops at this certified relative gap.
    warm_start : bool, default=False
        Start from the weights of the previous fit if the number of features is unchanged.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_, primal_, dual_, gap_, l0_gap_, refit_gap_ : float
    training_score_ : float
        R^2 on the training rows (optimistic).
    support_, n_features_selected_, budget_, n_iter_, status_, history_, n_samples_fit_
        As in :class:`MeasureSVC`, for the single problem.
    loss_ : Loss

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

    loss: str | Loss = "squared"
    _: KW_ONLY
    budget: int | None = None
    n_features_to_select: int | None = None
    certificate: bool = True
    C: float = 1.0
    fit_intercept: bool = True
    intercept_scaling: float | None = None
    always_features: ArrayLike | None = None
    excluded_features: ArrayLike | None = None
    feature_groups: Any = None
    tol: float = 0.01
    max_iter: int = 1000
    max_time: float | None = None
    warm_start: bool = False
    verbose: int = 0

    _saved = REGRESSOR
    _computed = ("_coef",)
    _facts = regressor_facts

    support_ = of_model(lambda model: model.columns)
    primal_ = of_model(lambda model: model.proof.primal)
    dual_ = of_model(lambda model: model.proof.dual)
    gap_ = of_model(lambda model: model.proof.gap)
    l0_gap_ = of_model(lambda model: model.proof.l0_gap)
    refit_gap_ = of_model(lambda model: model.proof.refit_gap)
    status_ = of_model(lambda model: model.proof.status)
    history_ = of_model(lambda model: model.proof.history)
    training_score_ = of_model(lambda model: model.training_score)
    n_iter_ = of_model(lambda model: model.n_iter)
    intercept_ = of_model(lambda model: model.intercept)

    def _refresh(self) -> None:
        (model,) = self.models_
        self._coef = model.scattered(self.n_features_in_)

    def _numbered(self, model: ClassModel) -> IntArray:
        return model.columns

    @property
    def coef_(self) -> FloatArray:
        """Weights of all columns, 0 for those not selected."""
        return self._coef

    @property
    def n_features_selected_(self) -> int:
        """Number of selected features."""
        return int(self.support_.size)

    @property
    def budget_(self) -> int:
        """The budget that was used."""
        return self.problem_["budget"]

    @property
    def loss_(self) -> Loss:
        """The loss that was used."""
        return self.problem_["loss"]  # type: ignore[return-value]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    @whole_fit
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BudgetRegressor:
        """Select features and fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or RowBlocks of shape (n_samples, n_features)
            Never densified, never modified.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each row's loss: 2 is the same as the row twice.

        Returns
        -------
        self
        """
        X, y, design = read_X_y(self, X, y, y_numeric=True, ensure_min_samples=2)
        names = getattr(self, "feature_names_in_", None)
        arguments = problem_arguments(self, names, task="regression")
        (problem,) = make_problems(design, [y], sample_weight=sample_weight, **arguments)
        warn_of_scales(X, names, arguments["excluded_features"])
        problem, offset = centred(problem) if self.fit_intercept else (problem, 0.0)
        warm, before = None, getattr(self, "models_", ())
        if self.warm_start and before and self.coef_.size == self.n_features_in_:
            warm = warm_start(problem, before[0], offset)
        tasks = FitTasks(self, ["regression"], X, y, {"sample_weight": sample_weight})
        result = solve_reported(
            tasks.reporters[0],
            problem,
            Limits(self.tol, self.max_iter, self.max_time),
            hard=self.n_features_to_select is not None,
            certificate=self.certificate,
            warm=warm,
        )
        if not result.ended_well:
            warn_about(problem, result, "regression", self.tol)
        self.problem_, self.offset_ = problem.arguments(), offset
        self.models_ = (class_model(problem, result, offset=offset),)
        self.n_samples_fit_ = X.shape[0]
        self._refresh()
        tasks.end()
        return self

    def predict(self, X: Any) -> FloatArray:
        """``X coef_ + intercept_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "models_")
        X = read_X(self, X)
        return linear_scores(X, self.coef_[np.newaxis]).ravel() + self.intercept_

    def certify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Certificate:
        """Recompute primal, dual and gap from the training data, without any solver's state.

        Parameters
        ----------
        X, y, sample_weight
            The training data.
        """
        check_is_fitted(self, "models_")
        (model,) = self.models_
        model = replace(model, intercept=model.intercept - self.offset_)
        y = np.asarray(y, dtype=np.float64) - self.offset_
        return certify_model(model, self.problem_, read_X(self, X), y, sample_weight)


def centred(problem: Problem) -> tuple[Problem, float]:
    """The problem with centred targets, and the centre that was subtracted.

    The centre is the weighted mean for the squared loss and the weighted median for the others. Of
    two medians it is the midpoint, so that -y gives the model with the opposite sign.

    Parameters
    ----------
    problem : Problem
        Of a loss for regression.
    """
    risk = problem.risk
    assert isinstance(risk, LossRisk)
    y, weights = risk.y, risk.row_weights
    if risk.loss.name == "squared":
        centre = float(np.average(y, weights=weights))
    else:
        centre = 0.5 * (lower_median(y, weights) - lower_median(-y, weights))
    return replace(problem, risk=LossRisk(risk.loss, y - centre, risk.weights)), centre


def lower_median(y: FloatArray, weights: FloatArray) -> float:
    """The smallest target that half of the weight is not above."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(weights[order])
    return float(y[order[np.searchsorted(reached, 0.5 * reached[-1])]])
