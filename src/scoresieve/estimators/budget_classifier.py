"""``BudgetClassifier``: the feature budget with the losses of ordinary classifiers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from scoresieve.estimators.budget_model import BudgetClassifierMixin
from scoresieve.estimators.persistence.registry import PersistenceMixin
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.losses import Loss


@dataclass(eq=False, repr=False)
class BudgetClassifier(
    BudgetClassifierMixin,
    PersistenceMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)``: a sparse classifier, ordinary loss.

    Every fit reports a certified bound on its distance from the optimum. With the squared hinge
    this is the problem of the feature generating machine (Tan, Wang and Tsang 2010).

    **Conventions**

    * C has scikit-learn's scale: with a budget of all features the problem equals ``LinearSVC``
      (``"squared_hinge"``, ``"hinge"``) or ``LogisticRegression`` (``"logistic"``).
    * More than two classes, or an indicator matrix, are fitted one-vs-rest, as in
      :class:`MeasureSVC`. C, budgets and limits apply to each problem.
    * ``score`` is the accuracy.
    * Identical inputs give bitwise identical models, for every ``n_jobs``.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge", "logistic", "huber_hinge"} or Loss, default="squared_hinge"
        A name, or an instance with its own settings: ``scoresieve.losses.HuberHinge(delta=0.5)``.
    budget : int, optional
        B of the budget norm. The model has more than B non-zero weights. By default
        ``n_features_to_select`` if given, else 50 (or all features if there are fewer).
    n_features_to_select : int, optional
        k: at most k features (or groups) per class, besides ``always_features``. ``l0_gap_`` bounds
        the gap to the best model of that size.
    certificate : bool, default=True
        As in :class:`MeasureSVC`.
    C : float, default=1.0
        Weight of the losses.
    fit_intercept, always_features, excluded_features, feature_groups, multi_class_support, \
max_iter, max_time, n_jobs, verbose
        As in :class:`MeasureSVC`.
    intercept_scaling : float, optional
        Value of the constant column whose weight is the intercept. By default 1, as in
        ``LinearSVC``; 100 for ``"logistic"``, which hardly regularises the intercept, as in
        ``LogisticRegression``.
    tol : float, default=0.01
        The fit stops at this certified relative gap.
    warm_start : bool, default=False
        Start from the weights of the previous fit if classes and number of features are unchanged.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, budget_, primal_, \
dual_, gap_, l0_gap_, refit_gap_, n_iter_, status_, history_, n_samples_fit_, n_positives_, \
n_features_in_, feature_names_in_
        As in :class:`MeasureSVC`.
    training_score_ : ndarray of shape (n_problems,)
        Accuracy of each one-vs-rest problem on the training rows (optimistic).
    loss_ : Loss

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import BudgetClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = X[:, 3] + X[:, 7] > 0
    >>> model = BudgetClassifier("logistic", n_features_to_select=2).fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    loss: str | Loss = "squared_hinge"
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
    multi_class_support: str = "union"
    tol: float = 0.01
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    @property
    def loss_(self) -> Loss:
        """The loss that was used."""
        return self.problem_["loss"]  # type: ignore[return-value]
