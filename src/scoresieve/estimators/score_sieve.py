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
    """The k features and the linear model on them whose cross-validated score is highest.

    Several candidates choose k columns, and several final models are fitted on what they chose,
    each time without one part of the rows. So every setting has a score for every row by a model
    that has not seen it. The measure of these scores, at the threshold that is best for them,
    decides. The best setting is fitted on all rows, with that threshold.

    **Conventions**

    * Candidates: univariate filters, by average precision, chi2 (both of the 300 columns that
      correlate most with y) and correlation; the measure's own bound under the limit of k features
      (see :class:`MeasureSVC`); the squared hinge, likewise, at each of ``Cs``, for the columns as
      they are and scaled to one deviation, in steps of fewer columns; and coordinate ascent, which
      raises the measure itself on the training rows by one column after the other.
    * Final models: the one that chose the columns (for filters a logistic regression with C = 1),
      and squared hinges on the columns with C of 0.1, 1, 10 and 100, once with the same penalty for
      all columns and once with a larger one for those that came in later.
    * The first setting within a quarter of a standard error of the best is taken, by the order of
      the final models, then that of the candidates, and of one loss the smallest C. Filters come
      first where a class, or the rest, has fewer than 50 rows, and after the losses otherwise.
    * More than two classes, or an indicator matrix, make one choice for each class against the
      rest, of the number of features as well.
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
        What to choose columns by; by default all of the above. ``"average_precision"``, ``"chi2"``
        and ``"correlation"`` are univariate filters, ``"bound"`` is that of the measure,
        ``"coordinate_ascent"`` raises the measure itself, and the name of a loss, or ``"scaled_"``
        and that name, minimises it for the columns as they are, or scaled to one deviation.
    Cs : list of float, optional
        Weights of the losses. By default 0.3 and 3, divided by the mean square of the entries of X
        that are not 0, as far as that is outside of 0.001 to 10, so that the unit of X does not
        matter. The measure's own bound has the C of :class:`MeasureSVC`, divided likewise.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn: 5 parts by default, stratified unless y is an indicator matrix. Where
        rows are few they are split several times, until 1,500 rows have been held out together, at
        most 5 times (once with ``max_time``); scores and thresholds are means then. With a number
        of parts rows are shuffled, the same at every call; give a splitter where neighbours belong
        together. Every row must be held out equally often, as by ``KFold`` and ``RepeatedKFold``.
    always_features, excluded_features, feature_groups, pos_label, multi_class_support
        As in :class:`MeasureSVC`.
    max_time : float, optional
        Seconds from the call of ``fit``, for all together whatever ``n_jobs`` is. Searches end
        early then, and each candidate still has a model.
    n_jobs : int, optional
        How many parts of how many classes are fitted at a time.
    verbose : int, default=0
        Above 0, a line on stderr for each part of each class, and for each choice.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, measure_
        As in :class:`MeasureSVC`.
    cv_results_ : dict, or list of dict
        For each number of features, candidate and final model: the cross-validated score
        (``mean_test_score``) and its standard error; one table for each class.
    best_params_, best_score_ : dict and float, or lists of them
        The chosen row of the table.
    smaller_models_ : list of tuple of ClassModel
        For each class the models that the chosen setting makes of fewer features, the model itself
        last. Sieves for bags have none.
    fold_selections_ : list of FoldSelections
        For each class, how many fits of the cross-validation selected each feature: ``counts``,
        sparse, with a row for each number of features. Sieves for bags have none.
    n_samples_fit_ : int
    n_positives_ : ndarray of int of shape (n_problems,)
        Rows that the model was fitted on, and those of each class among them.
    thresholds_ : ndarray of shape (1,) or (n_classes,)
        The probability from which on each class raises an alarm.
    models_ : tuple of ClassModel
        The model of each class as a value: columns, weights, intercept, threshold, choice. Scores
        and thresholds are log-odds. The attributes above are read off these.
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
        """The models that the chosen setting makes of fewer features, for each class."""
        return [model.choice.smaller for model in self.models_ if model.choice]

    @property
    def fold_selections_(self) -> list[FoldSelections | None]:
        """What the fits of the cross-validation selected, for each class."""
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
            Rows that a splitter such as ``GroupKFold`` keeps together.
        """
        limits = start_clock(self.max_time)
        data, design = self._read_data(X, y, sample_weight)
        measure = get_measure(self.measure)
        plan = self._read_plan(design, data, limits)
        n_rounds = n_default_rounds(data.y.shape[0]) if self.max_time is None else 1
        parts = make_parts(self.cv, data, groups, n_rounds)
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
