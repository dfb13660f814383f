"""``ScoreSieve``: the few features, and the model of them, best for the score you report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_weights
from scoresieve.estimators.budget_model import (
    COMBINE,
    X_OPTIONS,
    check_multi_class_support,
    column_arguments,
    default_C,
    loss_for,
)
from scoresieve.estimators.export import LinearExportMixin
from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.messages import warn_of_scales
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.estimators.persistence.saving import PersistenceMixin
from scoresieve.estimators.selection.choice import (
    check_grid,
    check_sizes,
    default_budgets,
    lower_sizes,
)
from scoresieve.estimators.selection.splits import LabelledData, Split, make_splits
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.estimators.sieve.calibration import Sigmoid, fit_sigmoid
from scoresieve.estimators.sieve.choice import (
    Judge,
    Judged,
    best_of_each_size,
    one_standard_error,
    tabulate,
)
from scoresieve.estimators.sieve.cross_fitting import Plan, final_fit, fold_scores
from scoresieve.estimators.sieve.final_models import FinalModel
from scoresieve.estimators.sieve.selections import Selection
from scoresieve.estimators.targets import read_targets
from scoresieve.measures import Measure, get_measure
from scoresieve.regularizers.units import Units
from scoresieve.solvers.limits import Deadline, Limits

#: C of the logistic regressions on the chosen columns.
FINAL_CS = (10.0, 100.0)
#: The value of the constant column in the search for features.
CONSTANT = 1.0


class Chosen(NamedTuple):
    """The model of one class.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
    intercept : float
        Before the threshold is taken off.
    threshold : float
        Where the cross-fitted scores are best cut.
    row : int
        Of ``cv_results_``.
    """

    w: FloatArray
    intercept: float
    columns: Any
    threshold: float
    sigmoid: Sigmoid
    row: int


@dataclass(eq=False, repr=False)
class ScoreSieve(
    LinearExportMixin,
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

    Conventions
    -----------
    * Candidates: the squared hinge under the limit of k features, at each of ``Cs``, and the
      measure's own bound (see :class:`MeasureSVC`). Final models: the one that chose the columns,
      and logistic regressions on them with C of 10 and 100.
    * More than two classes, or an indicator matrix, make one choice for each class against the
      rest, of the number of features, too.
    * ``decision_function`` is the log-odds of the calibrated score above those of the threshold;
      ``predict`` takes what is above 0, of more than two classes the highest.
    * Identical inputs give identical bits, for every ``n_jobs``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
        What to optimise and to choose by.
    n_features_to_select : int or list of int, optional
        How many features for each class, or numbers to choose from: the smallest whose score is
        within one standard error of the best. By default 2, 5, 10, 20, 50, 100 and 200.
    candidates : list of str, default=("squared_hinge", "measure")
        What to choose columns by: ``"measure"`` is its own bound, the others are losses.
    Cs : list of float, default=(0.3, 1.0, 3.0, 10.0)
        Weights of the losses. The measure's own bound has the C of :class:`MeasureSVC`.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn: 5 parts by default, stratified unless y is an indicator matrix. Every
        row must be held out once.
    always_features, excluded_features, feature_groups, pos_label, multi_class_support
        As in :class:`MeasureSVC`.
    max_time : float, optional
        Seconds for all; searches end early then, and each candidate has a model still.
    n_jobs : int, optional
        How many parts of how many classes are fitted at a time.
    verbose : int, default=0

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, measure_
        As in :class:`MeasureSVC`.
    cv_results_ : dict, or list of dict
        For each number of features, candidate and final model: the cross-fitted score
        (``mean_test_score``), its standard error, and what it is of; one table for each class.
    best_params_, best_score_ : dict and float, or lists of them
        The chosen row of the table.
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
    candidates: Iterable[str] = ("squared_hinge", "measure")
    Cs: Iterable[float] = (0.3, 1.0, 3.0, 10.0)
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
        *("coef_", "intercept_", "_odds", "_tables", "_rows"),
    )
    certify = available_if(lambda self: hasattr(self, "_arguments"))(LinearModelMixin.certify)

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: Any = None
    ) -> ScoreSieve:
        """Choose features and model by cross-fitted scores, then fit them on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Never densified, never modified.
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        groups : array-like of shape (n_samples,), optional
            Rows that a splitter such as ``GroupKFold`` keeps together.
        """
        data = self._read_data(X, y, sample_weight)
        plan, measure = self._read_plan(), get_measure(self.measure)
        data, splits = only_counted(data, make_splits(self.cv, data, groups))
        labels = list(data.targets.labels(data.y))
        for each in labels:
            measure.check(each)
        part_of = parts_of_rows(splits, data.X.shape[0])
        jobs = [(one, split) for one in labels for split in splits]
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(fold_scores)(plan, data.X, one, data.weights, split.train, split.test)
            for one, split in jobs
        )
        tables, models = [], []
        for number, one in enumerate(labels):
            scores = pooled(found[number * len(splits) :], splits, plan, one.size)
            judge = Judge(measure, one, data.weights, part_of)
            judged = judge.judged(scores)
            tables.append(tabulate(plan, judged))
            models.append(self._chosen(plan, data, judge, scores, judged))
        self._store(data, measure, tables, models)
        return self

    def _read_data(self, X: Any, y: Any, sample_weight: Any) -> LabelledData:
        """What ``fit`` was given, in checked form, by rows."""
        X, y = validate_data(self, X, y, multi_output=True, accept_large_sparse=True, **X_OPTIONS)
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

    def _read_plan(self) -> Plan:
        """All that is to be compared."""
        names = getattr(self, "feature_names_in_", None)
        columns = column_arguments(self, names)
        units = Units.from_columns(self.n_features_in_, **columns)
        sizes = self.n_features_to_select
        if sizes is None:
            ks = default_budgets(units.n_units)
        else:
            sizes = [sizes] if isinstance(sizes, int | np.integer) else sizes
            ks = check_sizes(sizes, "n_features_to_select")
            ks = lower_sizes(ks, units.n_units, "n_features_to_select")
        finals = [FinalModel(C) for C in FINAL_CS]
        limits = Limits(0.01, 1000, self.max_time, deadline=Deadline(self.max_time))
        return Plan(
            self._selections(),
            (FinalModel(), *finals),
            tuple(ks),
            limits,
            {**columns, "intercept_scaling": CONSTANT},
        )

    def _selections(self) -> tuple[Selection, ...]:
        """Every candidate at every C."""
        Cs = check_grid(self.Cs, "Cs", lambda C, name: float(C))
        found = []
        for name in check_grid(self.candidates, "candidates", lambda each, _: each):
            if name == "measure":
                found.append(Selection(get_measure(self.measure), default_C(self.measure)))
                continue
            loss = loss_for(name, "classification")
            found += [Selection(loss, C) for C in Cs]
        return tuple(found)

    def _chosen(
        self, plan: Plan, data: LabelledData, judge: Judge, scores: FloatArray, judged: Judged
    ) -> Chosen:
        """The best setting, fitted on all rows."""
        settings = best_of_each_size(judged)
        tops = [judged.scores[s, k, f] for k, (s, f) in enumerate(settings)]
        errors = [judged.errors[s, k, f] for k, (s, f) in enumerate(settings)]
        size = one_standard_error(np.array(tops), np.array(errors))
        selection, final = settings[size]
        unseen = scores[selection, size, final]
        selected, w, intercept = final_fit(
            *(plan, data.X, judge.y, data.weights),
            *(plan.selections[selection], plan.ks[size], plan.finals[final]),
        )
        weights = np.zeros(data.X.shape[1])
        weights[selected.columns] = w
        n_selections, _, n_finals = plan.shape
        row = (size * n_selections + selection) * n_finals + final
        sigmoid = fit_sigmoid(judge.y, unseen, data.weights)
        threshold = judge.threshold(unseen)
        return Chosen(weights, intercept, selected.columns, threshold, sigmoid, row)

    def _store(
        self,
        data: LabelledData,
        measure: Measure,
        tables: list[dict[str, Any]],
        models: list[Chosen],
    ) -> None:
        """Set the fitted attributes."""
        warn_of_scales(data.X, getattr(self, "feature_names_in_", None), None)
        self._targets, self.measure_ = data.targets, measure
        sign, slopes = data.targets.sign, np.array([model.sigmoid.slope for model in models])
        self.coef_ = sign * slopes[:, np.newaxis] * np.array([model.w for model in models])
        above = np.array([model.intercept - model.threshold for model in models])
        self.intercept_ = sign * slopes * above
        self._odds = np.array([model.sigmoid.log_odds(model.threshold) for model in models])
        self.supports_ = [model.columns for model in models]
        self.support_ = reduce(COMBINE[self.multi_class_support], self.supports_)
        self._tables, self._rows = tables, np.array([model.row for model in models])
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
        }

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, calibrated on the cross-fitted scores.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Of more than two classes, those of each against the rest, divided by their sum; of an
            indicator matrix those of each column alone.
        """
        check_is_fitted(self, "coef_")
        decision = self.decision_function(X)
        targets = self._targets
        if targets.kind == "binary":
            positive = expit(targets.sign * decision + self._odds[0])
            both = np.column_stack([1.0 - positive, positive])
            return both if targets.sign > 0 else both[:, ::-1]
        each = expit(decision + self._odds)
        return each if targets.kind == "multilabel" else each / each.sum(axis=1, keepdims=True)

    def summary(self) -> str:
        """What was chosen, in words: features and their weights, the score and where it is from."""
        check_is_fitted(self, "coef_")
        names = getattr(self, "feature_names_in_", None)
        parts = zip(self._tables, self._rows, self.supports_, self._coefficients(), strict=True)
        return "\n\n".join(
            class_summary(self, number, *part, names) for number, part in enumerate(parts)
        )


def class_summary(
    model: ScoreSieve,
    number: int,
    table: dict[str, Any],
    row: int,
    support: Any,
    w: FloatArray,
    names: Any,
) -> str:
    """The paragraph of one class."""
    point = table["params"][row]
    lines = [
        f"class {model._targets.name(number)}: {support.size} of {model.n_features_in_} features",
        f"{model.measure_.name} {table['mean_test_score'][row]:.3f} (standard error "
        f"{table['std_test_score'][row]:.3f}) on rows that the models had not seen, the best of "
        f"{len(table['params'])} settings and so a little too high",
        f"columns chosen by {point['selection']}; model on them: {point['final_model']}",
        f"alarms from a probability of {expit(model._odds[number]):.3f} on",
    ]
    order = support[np.argsort(-np.abs(w[support]), kind="stable")]
    lines += [f"{w[j]:+10.4g}  {j if names is None else names[j]}" for j in order]
    return "\n".join(lines)


def only_counted(data: LabelledData, splits: list[Split]) -> tuple[LabelledData, list[Split]]:
    """Without the rows of weight 0, which are in no split either."""
    if data.weights is None or np.all(data.weights > 0.0):
        return data, splits
    counts = data.weights > 0.0
    place = np.cumsum(counts) - 1
    moved = [Split(place[split.train], place[split.test]) for split in splits]
    return data.rows(np.flatnonzero(counts)), moved


def parts_of_rows(splits: list[Split], n_samples: int) -> Any:
    """The split in which each row is held out; ValueError if a row is in none or in several."""
    part_of = np.full(n_samples, -1)
    for number, split in enumerate(splits):
        taken = split.test[part_of[split.test] >= 0]
        if taken.size:
            raise ValueError(
                f"row {taken[0]} is held out in splits {part_of[taken[0]]} and {number}; cv must "
                "hold every row out once, as KFold does."
            )
        part_of[split.test] = number
    if np.any(part_of < 0):
        raise ValueError(
            f"row {np.flatnonzero(part_of < 0)[0]} is held out in no split; cv must hold every row "
            "out once, as KFold does."
        )
    return part_of


def pooled(found: list[FloatArray], splits: list[Split], plan: Plan, n_samples: int) -> FloatArray:
    """One score for each row and setting, by the models that have not seen the row."""
    scores = np.full((*plan.shape, n_samples), np.nan)
    for part, split in zip(found, splits, strict=False):
        scores[..., split.test] = part
    return scores
