"""What the estimators of a feature budget share: columns by name, one problem a class, one fit.

min_w 1/2 ||w||_B^2 + C R(X w)      for each class against the rest
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import nan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_positive
from scoresieve.estimators.data import read_X_y, warn_of_scales, whole_fit
from scoresieve.estimators.export import to_linear_svc
from scoresieve.estimators.linear_model import COMBINE, CertifiedMixin, LinearModelMixin, proven
from scoresieve.estimators.messages import warn_about
from scoresieve.estimators.model import ClassModel, FitCertificate
from scoresieve.estimators.persistence.values import classifier
from scoresieve.estimators.progress import CallbackMixin, FitTasks, Reporter, with_callbacks
from scoresieve.estimators.summary.facts import budget_facts
from scoresieve.estimators.targets import LARGER, Targets, read_targets, same_labels
from scoresieve.losses import Loss, get_loss, known_losses
from scoresieve.measures import HighestScores, Measure, get_measure
from scoresieve.risks import LossRisk, MeasureRisk
from scoresieve.solvers.engines import SolveResult
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import Problem, budget_arguments, make_problems
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.working import WarmStart

#: The budget of an estimator that was told none.
DEFAULT_BUDGET = 50
#: The value of the constant column whose weight costs next to nothing.
FREE_CONSTANT = 100.0


def problem_arguments(
    estimator: Any, names: Any = None, *, task: str = "classification"
) -> dict[str, Any]:
    """The parameters of an estimator as arguments of :func:`make_problems`.

    Names become numbers and defaults are filled in; nothing else is checked here.

    Parameters
    ----------
    estimator : estimator
        With the parameters of :class:`~scoresieve.MeasureSVC`, or ``loss`` instead of ``measure``.
    names : array-like of str of shape (n_features,), optional
        Names of the columns, if X had any.
    task : {"classification", "regression"}
        What a loss must be for.
    """
    given = estimator.get_params(deep=False)
    loss = loss_for(given["loss"], task) if "loss" in given else None
    return {
        "measure": given.get("measure"),
        "loss": loss,
        **{name: given[name] for name in ("bound", "price") if name in given},
        **budget_arguments(estimator.budget, estimator.n_features_to_select, DEFAULT_BUDGET),
        "C": default_C(given["measure"]) if estimator.C is None and loss is None else estimator.C,
        "intercept_scaling": constant_column(
            estimator.fit_intercept, estimator.intercept_scaling, loss
        ),
        **column_arguments(estimator, names),
    }


def constant_column(fit_intercept: bool, intercept_scaling: Any, loss: Loss | None) -> float:
    """Value of the constant column, 0 without an intercept.

    By default 1. Where users expect an unregularised intercept it is 100: a weight of ``b / 100``
    costs a ten-thousandth of what b would.
    """
    if not fit_intercept:
        return 0.0
    if intercept_scaling is None:
        return FREE_CONSTANT if loss is not None and loss.has_free_intercept else 1.0
    return check_positive(intercept_scaling, "intercept_scaling")


def default_C(measure: str | Measure) -> float:
    """3, and 10 for measures of the k highest scores.

    Their bounds weigh all rows alike; the others charge false positives less than false negatives.
    """
    return 10.0 if isinstance(get_measure(measure), HighestScores) else 3.0


def loss_for(name_or_loss: str | Loss, task: str) -> Loss:
    """The loss, which must be for the task."""
    loss = get_loss(name_or_loss)
    if loss.task != task:
        raise ValueError(
            f"loss={name_or_loss!r} is for {loss.task}; for {task} use one of: "
            f"{', '.join(known_losses(task))}."
        )
    return loss


def column_arguments(estimator: Any, names: Any) -> dict[str, Any]:
    """``always_features``, ``excluded_features`` and ``feature_groups`` with names as numbers."""
    arguments = {
        argument: column_numbers(getattr(estimator, argument), names, argument)
        for argument in ("always_features", "excluded_features")
    }
    return arguments | {"feature_groups": group_numbers(estimator.feature_groups, names)}


def group_numbers(feature_groups: Any, names: Any) -> Any:
    """Groups as numbers, or as lists of numbers where the lists may hold names."""
    if not _is_list(feature_groups) or isinstance(feature_groups, np.ndarray):
        return feature_groups
    return [
        column_numbers(group, names, f"feature_groups[{number}]") if _is_list(group) else group
        for number, group in enumerate(feature_groups)
    ]


def _is_list(group: Any) -> bool:
    return isinstance(group, Iterable) and not isinstance(group, str)


def column_numbers(columns: Any, names: Any, argument: str) -> Any:
    """Columns given as numbers, a boolean mask or names; names become numbers.

    Parameters
    ----------
    columns : None, array-like of int or str, or boolean mask of shape (n_features,)
    argument : str
        For messages.
    """
    if columns is None:
        return None
    if not _is_list(columns):
        raise ValueError(
            f"{argument} must be a list of column numbers or names, or a boolean mask; got "
            f"{columns!r}. Put a single column in a list."
        )
    columns = list(columns)
    if not any(isinstance(column, str) for column in columns):
        return columns
    if names is None:
        raise ValueError(
            f"{argument} holds names, but X has none; fit on a DataFrame with string column names "
            "or give column numbers."
        )
    numbers = {name: number for number, name in enumerate(names)}
    unknown = [column for column in columns if column not in numbers]
    if unknown:
        raise ValueError(
            f"{argument} holds {', '.join(repr(column) for column in unknown)}, but X has no such "
            "column; use column names of the DataFrame passed to fit, or column numbers only."
        )
    return [numbers[column] for column in columns]


def solve_reported(
    reporter: Reporter, problem: Problem, limits: Limits, **options: Any
) -> SolveResult:
    """:func:`solve_problem` as one task, whose rounds the reporter is told of."""
    reporter.begin()
    result = solve_problem(problem, reporter.told(limits), **options)
    reporter.end()
    return result


def warm_start(
    problem: Problem, model: ClassModel, offset: float = 0.0, *, with_cuts: bool = False
) -> WarmStart:
    """The weights of a previous fit that the new problem still allows, and its cuts."""
    w = model.scattered(problem.n_features)
    weights = problem.joined(w, model.intercept - offset)
    weights[problem.norm.excluded] = 0.0
    columns = np.flatnonzero(weights)
    proof = model.certificate if with_cuts else None
    return WarmStart(columns, weights[columns], None if proof is None else proof.dual_point)


def class_model(
    problem: Problem, result: SolveResult, n_positives: int = 0, offset: float = 0.0
) -> ClassModel:
    """What a solver found for one problem, with the threshold that its measure asks for.

    Parameters
    ----------
    n_positives : int
        Rows of the class.
    offset : float
        Subtracted from y before the fit.
    """
    columns = np.union1d(result.support, problem.always_features)
    risk, shift = problem.risk, 0.0
    if isinstance(risk, MeasureRisk):
        scores = problem.design.scores(result.w[result.support], result.support)
        is_free = risk.is_tight and problem.constant > 0
        shift = result.intercept + risk.threshold(scores, -result.intercept, is_free=is_free)
        scores = scores + (result.intercept - shift)
        measure = risk.kind if risk.weights is None else risk.kind.weighted(risk.weights)
        score, constant = measure.score(risk.y, scores), measure.constant_score(risk.y)
        alarm_rate = float(np.average(scores > 0, weights=risk.weights))
    else:
        score, alarm_rate = training_score_of_loss(problem, result)
        constant = constant_accuracy(risk)
    proved = ("primal", "dual", "gap", "l0_gap", "refit_gap", "status", "history", "dual_point")
    return ClassModel(
        columns=columns,
        weights=result.w[columns],
        intercept=float(result.intercept + offset),
        threshold=float(shift),
        C=problem.C,
        price=float(result.price),
        n_positives=int(n_positives),
        training_score=float(score),
        alarm_rate=alarm_rate,
        constant_score=constant,
        n_iter=int(result.n_iter),
        certificate=FitCertificate(**{name: getattr(result, name) for name in proved}),
    )


def constant_accuracy(risk: Any) -> float:
    """The share of the larger class; NaN for a regression."""
    if risk.loss.task != "classification":
        return np.nan
    share = float(np.average(risk.y > 0, weights=risk.row_weights))
    return max(share, 1.0 - share)


def training_score_of_loss(problem: Problem, result: SolveResult) -> tuple[float, float]:
    """Accuracy and share of alarms of the training rows, or R^2 and NaN for a regression.

    No score leaves its block.
    """
    risk = problem.risk
    assert isinstance(risk, LossRisk)
    y, weights = risk.y, risk.row_weights
    model = result.w[result.support], result.support, result.intercept
    if risk.loss.task == "classification":
        total = float(weights.sum())
        right, alarms = (
            problem.design.total(weight, *model, y, weights) / total
            for weight in (weight_of_right, weight_of_alarms)
        )
        return right, alarms
    errors = problem.design.total(squared_errors, *model, y, weights)
    spread = float(squared_errors(np.average(y, weights=weights), y, weights))
    if spread == 0.0:  # as sklearn.metrics.r2_score has it
        return float(errors == 0.0), nan
    return 1.0 - errors / spread, nan


def weight_of_right(scores: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """``sum_i c_i [sign(s_i) = y_i]``."""
    return float(np.sum(weights[(scores > 0) == (y > 0)]))


def weight_of_alarms(scores: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """``sum_i c_i [s_i > 0]``."""
    return float(np.sum(weights[scores > 0]))


def squared_errors(scores: Any, y: FloatArray, weights: FloatArray) -> float:
    """``sum_i c_i (s_i - y_i)^2``."""
    return float(weights @ np.square(scores - y))


class BudgetClassifierMixin(CertifiedMixin, LinearModelMixin, CallbackMixin):
    """``fit`` of a one-vs-rest classifier.

    Conventions
    -----------
    The estimator has those parameters of :class:`~scoresieve.MeasureSVC` that apply to it, with
    ``loss`` in place of ``measure`` if it is for a loss.
    """

    _saved: ClassVar = classifier("problem_", "certificate", "_warm_y", "_warm_weights")
    _facts = budget_facts
    history_ = proven("history", list)
    to_linear_svc = to_linear_svc
    #: Both classes are alike to a loss; the estimator for measures has a parameter of that name.
    pos_label: Any = LARGER
    _warm_y: Any
    _warm_weights: Any

    @with_callbacks
    @whole_fit
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Select features and fit one linear model for each class.

        Parameters
        ----------
        X : array-like, sparse matrix or RowBlocks of shape (n_samples, n_features)
            Never densified, never modified. Larger than memory: see ``docs/scale.md``.
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: 2 is the same as the row twice, 0 the same as leaving it out.
            Losses, ``"accuracy"``, ``"balanced_accuracy"`` and ``"roc_auc"`` take any weights; the
            other measures take integers.
        """
        X, y, design = read_X_y(self, X, y, multi_output=True)
        targets, y = read_targets(y, self.pos_label)
        check_multi_class_support(self.multi_class_support)
        names = getattr(self, "feature_names_in_", None)
        arguments = problem_arguments(self, names)
        problems = make_problems(
            design, targets.labels(y), sample_weight=sample_weight, **arguments
        )
        warn_of_scales(X, names, arguments["excluded_features"])
        titles = [title for title, _ in targets.titles()]
        limits = Limits(self.tol, self.max_iter, self.max_time)
        reporters: list[Reporter | None] = [None] * len(problems)
        if self.verbose or self._n_callbacks:
            tasks = FitTasks(self, titles, X, y, {"sample_weight": sample_weight})
            reporters = list(tasks.reporters)
        warm = self._warm_starts(problems, targets, y, sample_weight)
        results = Parallel(n_jobs=self.n_jobs)(
            delayed(solve_problem if reporter is None else partial(solve_reported, reporter))(
                problem,
                limits,
                hard=self.n_features_to_select is not None,
                certificate=self.certificate,
                warm=start,
            )
            for problem, reporter, start in zip(problems, reporters, warm, strict=True)
        )
        for problem, title, result in zip(problems, titles, results, strict=True):
            if not result.ended_well:
                warn_about(problem, result, title, self.tol)
        counts = targets.n_positives(y)
        self.problem_ = problems[0].arguments()
        if arguments["measure"] is not None:
            self.measure_ = get_measure(arguments["measure"])
        self._keep(targets, list(map(class_model, problems, results, counts)), X.shape[0])
        self._warm_y = y.copy() if self.warm_start else None
        weighted = self.warm_start and sample_weight is not None
        self._warm_weights = np.array(sample_weight) if weighted else None
        if reporters[0] is not None:
            tasks.end()
        return self

    def _warm_starts(
        self, problems: list[Problem], targets: Targets, y: Any, sample_weight: Any
    ) -> list[WarmStart | None]:
        """What each problem may start from, if classes and columns have not changed.

        Cuts of the previous fit are cuts of the same rows, labels, weights and measure only.
        """
        before: Targets | None = getattr(self, "targets_", None)
        usable = (
            self.warm_start
            and before is not None
            and before.kind == targets.kind
            and before.positive == targets.positive
            and np.array_equal(before.classes, targets.classes)
            and self.coef_.shape[1] == self.n_features_in_
        )
        if not usable:
            return [None] * len(problems)
        now = problems[0].arguments()
        has_same_cuts = (
            self._warm_y is not None
            and same_labels(self._warm_y, y)
            and _same_weights(self._warm_weights, sample_weight)
            and all(self.problem_[name] == now[name] for name in ("measure", "loss", "bound"))
        )
        return [
            warm_start(problem, model, with_cuts=has_same_cuts)
            for problem, model in zip(problems, self.models_, strict=True)
        ]


def _same_weights(first: Any, second: Any) -> bool:
    """Whether both are None, or equal in every entry."""
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def check_multi_class_support(name: Any) -> None:
    """Refuse an unknown way to combine supports."""
    if name not in COMBINE:
        raise ValueError(
            f"multi_class_support must be one of {sorted(COMBINE)}; got {name!r}. The features of "
            "each class are in supports_."
        )
