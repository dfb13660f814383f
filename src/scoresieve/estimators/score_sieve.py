"""``ScoreSieve``: the few features, and the model of them, best for the score you report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_weights
from scoresieve.estimators.budget_model import (
    COMBINE,
    check_multi_class_support,
    column_arguments,
)
from scoresieve.estimators.data import read_X_y
from scoresieve.estimators.export import LinearExportMixin
from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.messages import warn_of_scales
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.estimators.persistence.saving import PersistenceMixin
from scoresieve.estimators.progress import CallbackMixin, FitTasks, with_callbacks
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.estimators.sieve.arguments import read_sizes
from scoresieve.estimators.sieve.calibration import probabilities
from scoresieve.estimators.sieve.cross_fitting import Plan
from scoresieve.estimators.sieve.fold_selections import FoldSelections
from scoresieve.estimators.sieve.plans import facts_of, make_plan, start_clock
from scoresieve.estimators.sieve.sieving import Sieved, Sieving
from scoresieve.estimators.sieve.smaller import SmallerModels, smaller_models
from scoresieve.estimators.sieve.splits import LabelledData, make_parts, n_default_rounds
from scoresieve.estimators.sieve.views import AsGiven
from scoresieve.estimators.summary.models import sieve_facts
from scoresieve.estimators.summary.parts import Fact
from scoresieve.estimators.targets import read_targets
from scoresieve.estimators.whole_fit import whole_fit
from scoresieve.measures import Measure, get_measure
from scoresieve.regularizers.units import Units
from scoresieve.solvers.limits import Limits


@dataclass(eq=False, repr=False)
class ScoreSieve(
    LinearExportMixin,
    CallbackMixin,
    PersistenceMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """The k features and the linear model on them whose cross-fitted score is highest.

    Several ways to choose k columns, and several models of what they chose, are fitted without one
    part of the rows after the other. Each then has a score for every row by a model that has not
    seen it, and the measure of these scores, at the threshold that is best for them, decides. What
    won is fitted on all rows, with that threshold.

    **Conventions**

    * Candidates: the columns that say most one at a time, by average precision, chi2 (both of
      the 300 that correlate most with y) and correlation; the measure's own bound under the
      limit of k features (see :class:`MeasureSVC`); the squared hinge, likewise, at each of
      ``Cs``, for the columns as they are and brought to one deviation, by way of fewer columns;
      and the measure itself, raised on the training rows by one column after the other. Final
      models: the one that chose the columns (a logistic regression with C = 1 where none did),
      and squared hinges on them with C of 0.1, 1, 10 and 100, with the same penalty for all
      columns, and graded, with the larger one for those that came in later.
    * Of all that are within a quarter of a standard error of the best the first is taken, by the
      order of the final models, then that of the candidates, and of one loss the smallest C. What
      is chosen one at a time comes first where a class, or the rest, has fewer than 50 rows, and
      after the losses where they have more.
    * More than two classes, or an indicator matrix, make one choice for each class against the
      rest, of the number of features, too.
    * ``decision_function`` is the log-odds of the calibrated score above those of the threshold,
      and ``predict`` takes what is above 0. Of more than two classes it is the log-odds, and
      ``predict`` takes the most probable; ``score`` looks at each class at its own threshold.
    * Identical inputs give identical bits, for every ``n_jobs``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
        What to optimise and to choose by.
    n_features_to_select : int or list of int, optional
        How many features for each class, or numbers to choose from: the smallest whose score is
        within one standard error of the best. By default 2, 5, 10, 20, 50, 100 and 200.
    candidates : list of str, optional
        What to choose columns by; by default all of the above. ``"alone"``, by the average
        precision of a column, ``"chi2"`` and ``"correlation"``, one at a time; ``"measure"``, its
        own bound; ``"direct"``, the measure itself on the training rows; or the name of a loss, or
        ``"scaled_"`` and that name for columns brought to one deviation.
    Cs : list of float, optional
        Weights of the losses. By default 0.3 and 3, divided by the mean square of X's entries, 0
        left out, as far as that is outside of 0.001 to 10, so that the unit of X does not matter.
        The measure's own bound has the C of :class:`MeasureSVC`, divided likewise.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn: 5 parts by default, stratified unless y is an indicator matrix, and
        where rows are few anew several times, so that 1,500 rows are held out together, at most 5
        times (once with ``max_time``); scores and thresholds are means then. The rows of a number
        of parts are in random order, the same at every call; give a splitter where neighbours
        belong together. Every row must be held out equally often, as by ``KFold`` and
        ``RepeatedKFold``.
    always_features, excluded_features, feature_groups, pos_label, multi_class_support
        As in :class:`MeasureSVC`.
    max_time : float, optional
        Seconds for all from the call of ``fit`` on, for every ``n_jobs``. Searches end early then,
        and each candidate has a model still.
    n_jobs : int, optional
        How many parts of how many classes are fitted at a time.
    verbose : int, default=0
        Above 0, a line on stderr for each part of each class, and for each choice.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, measure_
        As in :class:`MeasureSVC`.
    cv_results_ : dict, or list of dict
        For each number of features, candidate and final model: the cross-fitted score
        (``mean_test_score``), its standard error, and what it is of; one table for each class.
    best_params_, best_score_ : dict and float, or lists of them
        The chosen row of the table.
    smaller_models_ : list of SmallerModels
        For each class the models that the chosen setting makes of fewer features: ``rows`` of the
        table, ``coefs``, ``intercepts`` and ``odds``. Sieves for bags have none.
    fold_selections_ : list of FoldSelections
        For each class, in how many of the ``n_folds`` fits of the cross-validation each feature was
        selected: ``counts``, sparse, with a row for each number of features, and the ``rows`` of
        the table that they belong to. Sieves for bags have none.
    n_samples_fit_ : int
    n_positives_ : ndarray of int of shape (n_problems,)
        Rows that the model was fitted on, and those of each class among them.
    thresholds_ : ndarray of shape (1,) or (n_classes,)
        The probability from which on each class raises an alarm.
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
        *("alone", "chi2", "correlation", "measure"),
        *("squared_hinge", "scaled_squared_hinge", "direct"),
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

    _fields: ClassVar = fields_of(
        *("n_features_in_", "feature_names_in_", "_targets", "measure_", "support_", "supports_"),
        *("coef_", "intercept_", "_odds", "_tables", "_rows", "n_samples_fit_", "n_positives_"),
        *("smaller_models_", "fold_selections_", "_prices"),
    )
    certify = available_if(lambda self: hasattr(self, "_arguments"))(LinearModelMixin.certify)

    @with_callbacks
    @whole_fit
    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: Any = None
    ) -> ScoreSieve:
        """Choose features and model by cross-fitted scores, then fit them on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or RowBlocks of shape (n_samples, n_features)
            Never densified, never modified. Larger than memory: see ``docs/scale.md``.
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        groups : array-like of shape (n_samples,), optional
            Rows that a splitter such as ``GroupKFold`` keeps together.
        """
        limits = start_clock(self.max_time)
        data = self._read_data(X, y, sample_weight)
        plan, measure = self._read_plan(data, limits), get_measure(self.measure)
        n_rounds = n_default_rounds(data.y.shape[0]) if self.max_time is None else 1
        parts = make_parts(self.cv, data, groups, n_rounds)
        sieving = Sieving(plan, measure, parts, [AsGiven(parts.data.X)])
        names = getattr(self, "feature_names_in_", None)
        warn_of_scales(data.X, names, plan.columns["excluded_features"])
        tasks = FitTasks(self, sieving.titles, data.X, y, {"sample_weight": sample_weight})
        self._store(data, measure, sieving.run(tasks.reporters, self.n_jobs))
        tasks.end()
        return self

    def _read_data(self, X: Any, y: Any, sample_weight: Any) -> LabelledData:
        """What ``fit`` was given, in checked form, by rows."""
        X, y = read_X_y(self, X, y, multi_output=True)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        targets, y = read_targets(y, self.pos_label)
        check_multi_class_support(self.multi_class_support)
        if sample_weight is None:
            return LabelledData(X, y, None, targets)
        weights = check_weights(sample_weight)
        check_consistent_length(X, y, weights)
        if not weights.any():
            raise ValueError("sample_weight is zero for all rows; give a positive weight to some.")
        return LabelledData(X, y, weights, targets)

    def _read_plan(self, data: LabelledData, limits: Limits) -> Plan:
        """All that is to be compared."""
        columns = column_arguments(self, getattr(self, "feature_names_in_", None))
        units = Units.from_columns(self.n_features_in_, **columns)
        sizes = read_sizes(self.n_features_to_select, "n_features_to_select", units.n_units)
        return make_plan(self, sizes, limits, columns, facts_of(data))

    def _store(self, data: LabelledData, measure: Measure, sieved: Sieved) -> None:
        """Set the fitted attributes."""
        models, targets = sieved.models, data.targets
        self._targets, self.measure_ = targets, measure
        self.n_samples_fit_, self.n_positives_ = data.y.shape[0], targets.n_positives(data.y)
        decisions = [model.decision() for model in models]
        self.coef_ = targets.sign * np.array([w for w, _ in decisions])
        self.intercept_ = targets.sign * np.array([intercept for _, intercept in decisions])
        self._odds = np.array([model.odds for model in models])
        self._prices = np.array([model.price for model in models])
        if targets.kind == "multiclass":
            # One of them is taken: the most probable, wherever its own threshold lies.
            self.intercept_ = self.intercept_ + self._odds
        self.supports_ = [model.columns for model in models]
        self.support_ = reduce(COMBINE[self.multi_class_support], self.supports_)
        self._tables, self._rows = sieved.tables, np.array([model.row for model in models])
        self.smaller_models_: list[SmallerModels] | None = list(map(smaller_models, sieved.paths))
        self.fold_selections_: list[FoldSelections] | None = sieved.selections
        self.__dict__.update(self._derived())

    def _derived(self) -> dict[str, Any]:
        """What the tables and the choices in them imply."""
        chosen = list(zip(self._tables, self._rows, strict=True))
        points = [table["params"][row] for table, row in chosen]
        scores = [float(table["mean_test_score"][row]) for table, row in chosen]
        is_one = self._targets.kind == "binary"
        return {
            "classes_": self._targets.classes,
            "n_features_selected_": int(self.support_.size),
            "cv_results_": self._tables[0] if is_one else self._tables,
            "best_params_": points[0] if is_one else points,
            "best_score_": scores[0] if is_one else scores,
            "thresholds_": expit(self._odds),
        }

    def _above_thresholds(self, decision: FloatArray) -> FloatArray:
        return decision - self._odds if self._targets.kind == "multiclass" else decision

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, calibrated on the cross-fitted scores.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Of more than two classes, those of each against the rest, divided by their sum; of an
            indicator matrix those of each column alone.
        """
        check_is_fitted(self, "coef_")
        return probabilities(self._targets, self.decision_function(X), self._odds)

    def _facts(self, problem: int, owner: Any = None) -> list[Fact]:
        """What is known of the choice for one class, in the words of the owner."""
        return sieve_facts(self, problem, owner or self)
