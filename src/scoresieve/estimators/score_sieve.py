"""``ScoreSieve``: the few features, and the model of them, best for the score you report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length

from scoresieve._checks import check_weights
from scoresieve.design import Design, as_design
from scoresieve.estimators.budget_model import (
    check_multi_class_support,
    column_arguments,
)
from scoresieve.estimators.data import read_X_y, warn_of_scales, whole_fit
from scoresieve.estimators.export import to_linear_svc
from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.model import ClassModel, FoldSelections
from scoresieve.estimators.persistence.registry import PersistenceMixin
from scoresieve.estimators.persistence.values import classifier
from scoresieve.estimators.progress import CallbackMixin, FitTasks, Reporter, with_callbacks
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.estimators.sieve.cross_fitting import RawColumns
from scoresieve.estimators.sieve.plan import Plan, facts_of, make_plan, read_sizes, start_clock
from scoresieve.estimators.sieve.results import ChosenMixin
from scoresieve.estimators.sieve.run import SieveRun
from scoresieve.estimators.sieve.splits import LabelledData, make_parts, n_default_rounds
from scoresieve.estimators.summary.facts import sieve_facts
from scoresieve.estimators.targets import read_targets
from scoresieve.measures import Measure, get_measure
from scoresieve.regularizers.units import Units
from scoresieve.solvers.limits import Limits


@dataclass(eq=False, repr=False)
class ScoreSieve(
    ChosenMixin,
    LinearModelMixin,
    CallbackMixin,
    PersistenceMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """A linear model of k features, both chosen by the cross-validated score that you report.

    Several candidates each select k columns, and several final models are fitted on each selection,
    inside every fold. The setting with the best score on the held-out rows, at its best threshold,
    is fitted on all rows and keeps that threshold.

    **Conventions**

    * Candidates: three univariate filters (average precision, chi2, correlation); the measure's own
      bound with at most k features (see :class:`MeasureSVC`); the squared hinge with at most k
      features, on the columns as given and scaled to unit deviation; and coordinate ascent on the
      measure itself.
    * Final models: the one that selected the columns (for filters, logistic regression with C = 1),
      and squared hinges on the columns with C = 0.1, 1, 10 and 100, with equal penalties and with
      larger ones for columns that were selected late.
    * Of all settings within a quarter of a standard error of the best the first is taken: by the
      order of final models, then of candidates, then by the smallest C. Filters come first if a
      class, or its complement, has fewer than 50 rows, else after the losses.
    * With more than two classes, or an indicator matrix, each class against the rest is one choice
      with its own features.
    * ``decision_function`` is the calibrated log-odds minus the threshold, and ``predict`` is
      positive above 0. With more than two classes it is the log-odds, and ``predict`` takes the
      most probable class; ``score`` is that of ``predict``, cross-validated scores are those of
      each class alone at its threshold.
    * :meth:`at` returns a copy with another threshold, for a recall, a precision, an alarm rate or
      costs; :meth:`predict_top` returns the rows of the highest scores.
    * Identical inputs give identical bits, for every ``n_jobs``, but not with ``max_time``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
        The score to optimise and to choose by.
    n_features_to_select : int, list of int or "auto", optional
        The number of features for each class. From a list, the smallest number whose score is
        within one standard error of the best. By default, and with "auto", from 2, 5, 10, 20, 50,
        100 and 200.
    candidates : list of str, optional
        The candidates to compare, by default those above. Univariate filters:
        ``"average_precision"``, ``"chi2"``, ``"correlation"``. The measure's bound: ``"bound"``.
        Losses: a name such as ``"squared_hinge"`` or ``"logistic"``, or ``"scaled_"`` and the name
        for columns of unit deviation. ``"coordinate_ascent"``: the measure itself.
    Cs : list of float, optional
        Weights of the losses. By default 0.3 and 3, adapted to the scale of X. The measure's bound
        has the C of :class:`MeasureSVC`.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn: 5 shuffled, stratified folds by default. Small data are split up to
        five times, until 1,500 rows were held out in all. Use a splitter where rows belong
        together. Each row must be held out equally often.
    always_features, excluded_features, feature_groups, pos_label, multi_class_support
        As in :class:`MeasureSVC`.
    max_time : float, optional
        Seconds for the whole fit, whatever ``n_jobs`` is. Where these are few, less is compared: at
        first fewer splits, down to a single one; then the final models, the slow candidates (the
        measure's bound, average precision) and the other candidates are left out, in this order.
        Their rows of ``cv_results_`` are NaN. What is left out depends on the machine and its load,
        so that only fits without ``max_time`` are reproducible.
    n_jobs : int, optional
        How many folds of how many classes are fitted at a time.
    verbose : int, default=0
        Above 0, one line on stderr for each fold of each class, and for each choice.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, measure_
        As in :class:`MeasureSVC`.
    cv_results_ : dict, or list of dict
        One row for each number of features, candidate and final model, with its cross-validated
        score (``mean_test_score``) and standard error; one table for each class.
    best_params_, best_score_ : dict and float, or lists of them
        The chosen row of the table. The score is the best of many, so slightly optimistic.
    thresholds_ : ndarray of shape (1,) or (n_classes,)
        The probability from which on each class is predicted; of several classes, each alone.
    smaller_models_ : list of tuple of ClassModel
        For each class, the models of the chosen setting with fewer features, by size; the model
        itself comes last. Empty for bags.
    fold_selections_ : list of FoldSelections
        For each class, how many folds selected each feature: ``counts``, sparse, with a row for
        each number of features. None for bags.
    n_samples_fit_ : int
        Training rows.
    n_positives_ : ndarray of int of shape (n_problems,)
        Those of each class among them.
    models_ : tuple of ClassModel
        The model of each class as a value; all attributes above are read off it. Scores and
        thresholds are log-odds.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import ScoreSieve
    >>> X = np.random.default_rng(0).normal(size=(300, 40))
    >>> y = X[:, 3] + X[:, 7] > 1.5
    >>> model = ScoreSieve("f1", n_features_to_select=2).fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    n_features_to_select: Any = None
    candidates: Iterable[str] = (
        *("average_precision", "chi2", "correlation", "bound"),
        *("squared_hinge", "scaled_squared_hinge", "coordinate_ascent"),
    )
    Cs: Iterable[float] | None = None
    cv: Any = None
    always_features: ArrayLike | None = None
    excluded_features: ArrayLike | None = None
    feature_groups: Any = None
    pos_label: Any = None
    multi_class_support: str = "union"
    max_time: float | None = None
    n_jobs: int | None = None
    verbose: int = 0

    _saved: ClassVar = classifier("measure_", "choice")
    _facts = sieve_facts
    to_linear_svc = to_linear_svc

    @property
    def smaller_models_(self) -> list[tuple[ClassModel, ...]]:
        """Models of the chosen setting with fewer features, for each class."""
        return [model.choice.smaller for model in self.models_ if model.choice]

    @property
    def fold_selections_(self) -> list[FoldSelections | None]:
        """How often the cross-validation fits selected each feature, for each class."""
        return [model.choice.folds for model in self.models_ if model.choice]

    @with_callbacks
    @whole_fit
    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: Any = None
    ) -> ScoreSieve:
        """Choose features and model by cross-validated scores, then fit them on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or RowBlocks of shape (n_samples, n_features)
            Never densified, never modified. Larger than memory: see ``docs/scale.md``.
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        groups : array-like of shape (n_samples,), optional
            Group labels for splitters such as ``GroupKFold``.
        """
        limits = start_clock(self.max_time)
        data, design = self._read_data(X, y, sample_weight)
        measure = get_measure(self.measure)
        plan = self._read_plan(design, data, limits)
        parts = make_parts(self.cv, data, groups, n_default_rounds(data.y.shape[0]))
        if data.weights is not None and parts.data is not data:
            design = design.rows(np.flatnonzero(data.weights))
        run = SieveRun(plan, measure, parts, [RawColumns(design)])
        names = getattr(self, "feature_names_in_", None)
        warn_of_scales(data.X, names, plan.roles["excluded_features"])
        tasks = None
        reporters: list[Reporter | None] = [None] * len(run.titles)
        if self.verbose or self._n_callbacks:
            tasks = FitTasks(self, run.titles, data.X, y, {"sample_weight": sample_weight})
            reporters = list(tasks.reporters)
        _, models = run.run(reporters, self.n_jobs)
        self.measure_ = measure
        self._keep(data.targets, models, data.y.shape[0])
        if tasks is not None:
            tasks.end()
        return self

    def _read_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[LabelledData, Design]:
        """What ``fit`` was given, in checked form, by rows."""
        X, y, design = read_X_y(self, X, y, multi_output=True)
        if sp.issparse(X) and X.format != "csr":  # parts are made of its rows
            X, squares = X.tocsr(), design.checked_squares
            design = as_design(X)
            design.checked_squares = squares
        targets, y = read_targets(y, self.pos_label)
        check_multi_class_support(self.multi_class_support)
        if sample_weight is None:
            return LabelledData(X, y, None, targets), design
        weights = check_weights(sample_weight)
        check_consistent_length(X, y, weights)
        if not weights.any():
            raise ValueError("sample_weight is zero for all rows; give a positive weight to some.")
        return LabelledData(X, y, weights, targets), design

    def _read_plan(self, X: Design, data: LabelledData, limits: Limits) -> Plan:
        """All that is to be compared."""
        roles = column_arguments(self, getattr(self, "feature_names_in_", None))
        units = Units.from_columns(self.n_features_in_, **roles)
        sizes = read_sizes(self.n_features_to_select, "n_features_to_select", units.n_units)
        facts = facts_of(X, data.targets.n_positives(data.y))
        return make_plan(self, sizes, limits, roles, facts)
