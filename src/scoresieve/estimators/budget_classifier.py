"""``BudgetClassifier``: the feature budget with the losses of ordinary classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

from scoresieve.estimators._export import LinearExportMixin
from scoresieve.estimators._fit import warn_about
from scoresieve.estimators._inputs import resolve_loss_settings
from scoresieve.estimators._linear_model import LinearModelMixin, check_multi_class_support
from scoresieve.estimators._loss_fit import fit_loss
from scoresieve.estimators._progress import CallbackMixin, FitTasks, with_callbacks
from scoresieve.estimators._selector import SparseSelectorMixin
from scoresieve.estimators._targets import Targets, read_targets
from scoresieve.loss_certificate import certify_loss
from scoresieve.losses import Loss
from scoresieve.measures.weighted import as_weights
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]


class BudgetClassifier(
    LinearModelMixin,
    LinearExportMixin,
    CallbackMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """``min_w 1/2 ||w||_B^2 + C sum_i c_i l(y_i, <w, x_i>)``: few features, an ordinary loss.

    With the squared hinge it is the problem of the feature generating machine (Tan, Wang and Tsang
    2010). Every fit comes with a certified distance to the optimum.

    Conventions
    -----------
    * C has the scale of scikit-learn: with a budget of all features the problem is that of
      ``LinearSVC`` (``"squared_hinge"``, ``"hinge"``) or ``LogisticRegression`` (``"logistic"``).
    * More than two classes, or an indicator matrix, make one problem for each class against the
      rest, as in :class:`MeasureSVC`. C, budgets and limits are for each problem.
    * Identical inputs give identical bits, for every ``n_jobs``.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge", "logistic", "huber_hinge"} or Loss, default="squared_hinge"
        By name, or with settings of its own: ``scoresieve.losses.HuberHinge(delta=0.5)``.
    budget : int, optional
        B. The model has more non-zero weights than that. By default ``n_features_to_select``, or
        else 50, or all features if there are fewer.
    n_features_to_select : int, optional
        k: a model with at most k features (or groups) for each class, besides ``always_features``.
        ``l0_gap_`` bounds how far it is from the best model of that size.
    C : float, default=1.0
        Weight of the losses.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant column whose weight is the intercept; the larger, the less the
        intercept is regularised.
    always_features, excluded_features, feature_groups
        As in :class:`MeasureSVC`.
    multi_class_support : {"union", "intersection"}, default="union"
        How the features of several classes become ``support_``.
    tol : float, default=0.01
        Certified relative gap to stop at.
    max_iter : int, default=1000
        Most rounds for each class.
    max_time : float, optional
        Seconds for each class, honoured within one round.
    n_jobs : int, optional
        How many classes are fitted at a time.
    warm_start : bool, default=False
        Start from the weights of the previous fit, if classes and number of features are the same.
        For smooth losses; the hinge always starts anew.
    verbose : int, default=0
        Above 0, each round is reported on stderr.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, budget_, primal_, \
dual_, dual_gap_, l0_gap_, n_iter_, status_, history_, n_features_in_, feature_names_in_
        As in :class:`MeasureSVC`.
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

    def __init__(
        self,
        loss: str | Loss = "squared_hinge",
        *,
        budget: int | None = None,
        n_features_to_select: int | None = None,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        always_features: ArrayLike | None = None,
        excluded_features: ArrayLike | None = None,
        feature_groups: Any = None,
        multi_class_support: str = "union",
        tol: float = 0.01,
        max_iter: int = 1000,
        max_time: float | None = None,
        n_jobs: int | None = None,
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
        self.multi_class_support = multi_class_support
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> BudgetClassifier:
        """Select features and fit one linear model for each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Never densified, never modified.
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
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
            multi_output=True,
        )
        names = getattr(self, "feature_names_in_", None)
        settings = resolve_loss_settings(self, "classification", self.n_features_in_, names)
        weights = None if sample_weight is None else as_weights(sample_weight)
        targets, y = read_targets(y)
        check_multi_class_support(self.multi_class_support)
        problems = [f"class {targets.name(problem)}" for problem in range(targets.n_problems)]
        tasks = FitTasks(self, problems, X, y, {"sample_weight": weights})
        limits = Limits(self.tol, self.max_iter, self.max_time)
        jobs = zip(targets.labels(y), tasks.reporters, self._previous(targets), strict=True)
        results = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_loss)(
                X,
                labels,
                settings,
                limits,
                hard=self.n_features_to_select is not None,
                previous=previous,
                sample_weight=weights,
                reporter=reporter,
            )
            for labels, reporter, previous in jobs
        )
        for problem, result in zip(problems, results, strict=True):
            warn_about(result, problem, settings.C, self.tol)
        self._store_results(targets, settings, results)
        self.loss_, self.intercept_ = settings.loss, self._biases.copy()
        tasks.end()
        return self

    def _previous(self, targets: Targets) -> list[tuple[FloatArray, float] | None]:
        """What each problem may start from."""
        usable = (
            self.warm_start
            and hasattr(self, "_targets")
            and self._targets.kind == targets.kind
            and np.array_equal(self.classes_, targets.classes)
            and self.coef_.shape[1] == self.n_features_in_
        )
        if not usable:
            return [None] * targets.n_problems
        return list(zip(self._weights(), self._biases, strict=True))

    #: The accuracy, as for every classifier of scikit-learn.
    score = ClassifierMixin.score
    _certifier = staticmethod(certify_loss)

    def _with_weights(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Every loss takes weights as they are."""
        return X, y, sample_weight
