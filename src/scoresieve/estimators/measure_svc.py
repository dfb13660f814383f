"""``MeasureSVC``: classifier and feature selector for the measure that is reported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

from scoresieve.estimators._decision import linear_scores, n_alarms, top_threshold
from scoresieve.estimators._export import LinearExportMixin
from scoresieve.estimators._fit import PreviousFit, fit_binary, warn_about
from scoresieve.estimators._inputs import ProblemSettings, resolve_settings
from scoresieve.estimators._linear_model import LinearModelMixin, check_multi_class_support
from scoresieve.estimators._persistence import PersistenceMixin
from scoresieve.estimators._progress import CallbackMixin, FitTasks, Reporter, with_callbacks
from scoresieve.estimators._selector import SparseSelectorMixin
from scoresieve.estimators._targets import Targets, read_targets, same_labels
from scoresieve.measures import Measure
from scoresieve.solvers.api import check_solver
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.row_weights import apply_weights
from scoresieve.solvers.tracker import Limits

FloatArray = NDArray[np.float64]


class MeasureSVC(
    LinearModelMixin,
    LinearExportMixin,
    PersistenceMixin,
    CallbackMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """``min_w 1/2 ||w||_B^2 + C R(X w)``: a sparse linear model for the measure you report.

    R is the risk of the measure, a convex bound of its loss, and ``||.||_B`` the budget norm, which
    lets about B features in. Every fit comes with a certified distance to the optimum.

    Conventions
    -----------
    * C has the scale of ``LinearSVC``: with ``measure="accuracy"`` and a budget of all features the
      problem is that of ``LinearSVC(loss="hinge")`` with the same C.
    * More than two classes, or an indicator matrix, make one problem for each class against the
      rest. C, budgets and limits are for each problem.
    * ``predict`` is ``decision_function > 0`` for two classes and for indicator matrices, and the
      class of the largest decision otherwise. For measures of the k highest scores the decision is
      shifted so that k of the training examples are above 0, for rankings as many as are positive.
    * Identical inputs give identical bits, for every ``n_jobs``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
        What to optimise: ``"f1"``, ``"prec@100"``, ``"rec@2p"``, ``"prbep"``, ``"roc_auc"``, ...
    budget : int, optional
        B. The model has more non-zero weights than that, usually two to five times as many. By
        default ``n_features_to_select``, or else 50, or all features if there are fewer.
    n_features_to_select : int, optional
        k: a model with at most k features (or groups) for each class, besides ``always_features``.
        ``l0_gap_`` bounds how far it is from the best model of that size.
    C : float, default=30.0
        Weight of the risk. For F1 on text 3 to 100 is the useful range; the default is within a
        point of the best C for most classes of four text sets, see ``benchmarks/RESULTS.md``.
        Accuracy sums the risk over all rows, not over the positives, and wants a smaller C.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant column whose weight is the intercept; the larger, the less the
        intercept is regularised.
    always_features, excluded_features : array-like of int or str, or boolean mask, optional
        Columns that are always in, outside the budget, and columns that never are; by number, or by
        name when fitted on a DataFrame.
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns that enter together, by equal numbers or as lists of numbers or names. The budget
        counts groups.
    pos_label : object, optional
        The positive one of two classes; ``classes_[1]`` by default.
    multi_class_support : {"union", "intersection"}, default="union"
        How the features of several classes become ``support_``.
    solver : {"bundle", "two_layer"}, default="bundle"
        ``"two_layer"`` is the paper's algorithm: the same optimum, more slowly.
    tol : float, default=0.05
        Certified relative gap to stop at.
    max_iter : int, default=1000
        Most rounds for each class.
    max_time : float, optional
        Seconds for each class, honoured within one round.
    n_jobs : int, optional
        How many classes are fitted at a time, as everywhere in scikit-learn.
    warm_start : bool, default=False
        Start from the cuts, columns and weights of the previous fit if labels, sample weights,
        measure and number of features are the same. The solver ``"two_layer"`` always starts anew.
    verbose : int, default=0
        Above 0, each round is reported on stderr: iteration, gap, features. With scikit-learn 1.9
        or newer, ``set_callbacks`` takes progress bars and callbacks that stop the rounds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, or the column numbers of an indicator matrix.
    coef_ : ndarray or CSR matrix of shape (1, n_features) or (n_classes, n_features)
        A positive decision speaks for ``classes_[1]``, also with ``pos_label=classes_[0]``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of int
        Selected features: those with a weight, and ``always_features``.
    supports_ : list of ndarray of int
        The same for each problem.
    n_features_selected_ : int
    budget_ : int
        The budget that was used.
    primal_, dual_, dual_gap_ : ndarray of shape (n_problems,)
        Objective, its certified lower bound, and ``(primal - dual) / primal``.
    l0_gap_ : ndarray of shape (n_problems,)
        With ``n_features_to_select``: the same gap, to the best possible model with k features.
    n_iter_ : ndarray of int of shape (n_problems,)
    status_ : list of Status
        Why each fit stopped; the value is a sentence.
    history_ : list of list of Progress
    measure_ : Measure
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import MeasureSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = np.where(X[:, 3] + X[:, 7] > 1.5, "rare", "common")
    >>> model = MeasureSVC("f1", n_features_to_select=2, C=10.0, pos_label="rare").fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        measure: str | Measure = "f1",
        *,
        budget: int | None = None,
        n_features_to_select: int | None = None,
        C: float = 30.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        always_features: ArrayLike | None = None,
        excluded_features: ArrayLike | None = None,
        feature_groups: Any = None,
        pos_label: Any = None,
        multi_class_support: str = "union",
        solver: str = "bundle",
        tol: float = 0.05,
        max_iter: int = 1000,
        max_time: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.budget = budget
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.always_features = always_features
        self.excluded_features = excluded_features
        self.feature_groups = feature_groups
        self.pos_label = pos_label
        self.multi_class_support = multi_class_support
        self.solver = solver
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
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> MeasureSVC:
        """Select features and fit one linear model for each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Never densified, never modified.
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: 2 is the same as the row twice, 0 as leaving it out. Any
            weights for ``"accuracy"``, ``"balanced_accuracy"`` and ``"roc_auc"``; whole ones, by
            repeated rows, for the others.

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
        settings = resolve_settings(self, self.n_features_in_, names)
        X, y, weights = apply_weights(settings.measure, X, y, sample_weight)
        targets, y = read_targets(y, self.pos_label)
        check_multi_class_support(self.multi_class_support)
        problems = [f"class {targets.name(problem)}" for problem in range(targets.n_problems)]
        tasks = FitTasks(self, problems, X, y, {"sample_weight": weights})
        results = self._fit_each(X, y, weights, targets, settings, tasks.reporters)
        for problem, result in zip(problems, results, strict=True):
            warn_about(result, problem, settings.C, self.tol)
        self._store(X, y, weights, targets, settings, results)
        tasks.end()
        return self

    def _fit_each(
        self,
        X: Any,
        y: Any,
        weights: FloatArray | None,
        targets: Targets,
        settings: ProblemSettings,
        reporters: list[Reporter],
    ) -> list[SolveResult]:
        """One job for each class."""
        solver = check_solver(self.solver)
        hard = self.n_features_to_select is not None
        limits = Limits(self.tol, self.max_iter, self.max_time)
        previous = self._previous_fits(y, weights, targets, settings)
        jobs = zip(targets.labels(y), reporters, previous, strict=True)
        return Parallel(n_jobs=self.n_jobs)(
            delayed(fit_binary)(
                X,
                labels,
                settings,
                limits,
                solver=solver,
                hard=hard,
                previous=fit,
                sample_weight=weights,
                reporter=reporter,
            )
            for labels, reporter, fit in jobs
        )

    def _previous_fits(
        self, y: Any, weights: FloatArray | None, targets: Targets, settings: ProblemSettings
    ) -> list[PreviousFit | None]:
        """What each problem may start from, if rows, measure and columns have not changed."""
        usable = (
            self.warm_start
            and getattr(self, "_warm_y", None) is not None
            and self._targets.kind == targets.kind
            and self._targets.positive == targets.positive
            and same_labels(self._warm_y, y)
            and np.array_equal(self._warm_weights, weights)
            and self._settings.measure == settings.measure
            and self.coef_.shape[1] == self.n_features_in_
        )
        if not usable:
            return [None] * targets.n_problems
        fits = zip(self._weights(), self._biases, self._dual_points, strict=True)
        return [PreviousFit(*fit) for fit in fits]

    def _store(
        self,
        X: Any,
        y: Any,
        weights: FloatArray | None,
        targets: Targets,
        settings: ProblemSettings,
        results: list[SolveResult],
    ) -> None:
        """Set the fitted attributes."""
        self._store_results(targets, settings, results)
        self._warm_y = y.copy() if self.warm_start else None
        self._warm_weights = weights if self.warm_start else None
        self.measure_ = settings.measure
        self.intercept_ = targets.sign * self._shifted(X, y, weights)

    def _shifted(self, X: Any, y: Any, weights: FloatArray | None) -> FloatArray:
        """The intercepts, or minus the thresholds of measures of the highest scores."""
        shifted = self._biases.copy()
        scores = None
        for problem, labels in enumerate(self._targets.labels(y)):
            k = n_alarms(self.measure_, labels, weights)
            if k is not None:
                scores = linear_scores(X, self.coef_) if scores is None else scores
                of_class = self._targets.sign * scores[:, problem]
                shifted[problem] = -top_threshold(of_class, k, weights)
        return shifted
