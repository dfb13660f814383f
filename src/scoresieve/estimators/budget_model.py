"""What the estimators of a feature budget share: columns by name, one problem a class, one fit.

min_w 1/2 ||w||_B^2 + C R(X w)      for each class against the rest
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_count, check_positive
from scoresieve.estimators.data import read_X_y
from scoresieve.estimators.decision import training_score, training_score_of_loss
from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.messages import warn_about, warn_of_scales
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.estimators.progress import CallbackMixin, FitTasks, Reporter, with_callbacks
from scoresieve.estimators.summary.models import classifier_facts
from scoresieve.estimators.summary.parts import Fact
from scoresieve.estimators.targets import LARGER, Targets, read_targets, same_labels
from scoresieve.estimators.whole_fit import whole_fit
from scoresieve.losses import Loss, get_loss, known_losses
from scoresieve.measures import HighestScores, Measure, get_measure
from scoresieve.risks import DualPoint, MeasureRisk
from scoresieve.solvers.hard_budget.search import solve_hard_budget
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.problem import Problem, make_problems
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.solve import solve_problem
from scoresieve.solvers.working import WarmStart

#: The budget of an estimator that was told none.
DEFAULT_BUDGET = 50
#: The value of the constant column whose weight costs next to nothing.
FREE_CONSTANT = 100.0
#: How the supports of several classes become one selection.
COMBINE: dict[str, Any] = {"union": np.union1d, "intersection": np.intersect1d}


def problem_arguments(
    estimator: Any, names: Any = None, *, task: str = "classification"
) -> dict[str, Any]:
    """The arguments of :func:`make_problems` that the parameters of an estimator stand for.

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
    is_loss = hasattr(estimator, "loss")
    loss = loss_for(estimator.loss, task) if is_loss else None
    return {
        "measure": getattr(estimator, "measure", None),
        "loss": loss,
        **{
            name: getattr(estimator, name)
            for name in ("bound", "price")
            if hasattr(estimator, name)
        },
        **budget_arguments(estimator.budget, estimator.n_features_to_select),
        "C": estimator.C if is_loss or estimator.C is not None else default_C(estimator.measure),
        "intercept_scaling": constant_column(
            estimator.fit_intercept, estimator.intercept_scaling, loss
        ),
        **column_arguments(estimator, names),
    }


def constant_column(fit_intercept: bool, intercept_scaling: Any, loss: Loss | None) -> float:
    """The value of the constant column, 0 if there is none.

    By default 1, or where users expect a free intercept so large that it almost is: a weight of
    ``b / 100`` costs a ten-thousandth of what b would.
    """
    if not fit_intercept:
        return 0.0
    if intercept_scaling is None:
        return FREE_CONSTANT if loss is not None and loss.has_free_intercept else 1.0
    return check_positive(intercept_scaling, "intercept_scaling")


def default_C(measure: str | Measure) -> float:
    """3, and 10 for measures of the k highest scores.

    The bounds of those weigh all rows alike, where prices make alarms lighter than misses.
    """
    return 10.0 if isinstance(get_measure(measure), HighestScores) else 3.0


def loss_for(name_or_loss: str | Loss, task: str) -> Loss:
    """The loss, which must be for the task."""
    loss = get_loss(name_or_loss)
    if loss.task != task:
        raise ValueError(
            f"loss={name_or_loss!r} is for {loss.task}; for {task} use one of "
            f"{', '.join(known_losses(task))}."
        )
    return loss


def budget_arguments(budget: Any, n_features_to_select: Any) -> dict[str, Any]:
    """``B`` = budget, else k, else 50; only the first is lowered with a warning."""
    k = n_features_to_select
    if k is not None:
        k = check_count(k, "n_features_to_select")
        if budget is not None and budget != k:
            raise ValueError(
                f"budget={budget!r} and n_features_to_select={k} differ; give one of them. "
                "n_features_to_select is a guarantee, budget lets more features in at less weight."
            )
    if budget is not None:
        return {"budget": budget, "at_most": False}
    return {"budget": DEFAULT_BUDGET if k is None else k, "at_most": True}


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
    """What may be numbers, a boolean mask or names, with names as numbers.

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
            f"{argument} holds names, but X has none; fit on a DataFrame with string column names, "
            "or give column numbers."
        )
    numbers = {name: number for number, name in enumerate(names)}
    unknown = [column for column in columns if column not in numbers]
    if unknown:
        raise ValueError(
            f"{argument} holds {', '.join(repr(column) for column in unknown)}, which X has no "
            "column of that name for; use names of the DataFrame that is fitted, or numbers only."
        )
    return [numbers[column] for column in columns]


def solve_reported(
    problem: Problem,
    limits: Limits,
    reporter: Reporter | None = None,
    *,
    hard: bool = False,
    certificate: bool = True,
    solver: str | None = None,
    warm: WarmStart | None = None,
) -> SolveResult:
    """One job of a parallel fit: it returns what there is to say and warns of nothing."""
    solve = partial(solve_hard_budget, certificate=certificate) if hard else solve_problem
    if reporter is None:
        return solve(problem, limits, solver=solver, warm=warm)
    reporter.begin()
    result = solve(problem, reporter.told(limits), solver=solver, warm=warm)
    reporter.end()
    return result


def warm_start(
    problem: Problem, w: FloatArray, intercept: float, dual_point: DualPoint | None
) -> WarmStart:
    """The weights of a previous fit that are still admissible in a new problem, and its cuts."""
    weights = problem.joined(w, intercept).copy()
    weights[problem.norm.excluded] = 0.0
    columns = np.flatnonzero(weights)
    return WarmStart(columns, weights[columns], dual_point)


class BudgetClassifierMixin(LinearModelMixin, CallbackMixin):
    """``fit`` of a classifier that is one problem for each class against the rest.

    Conventions
    -----------
    The estimator has the parameters of :class:`~scoresieve.MeasureSVC`, ``loss`` in place of
    ``measure`` if it is for one, and as far as they mean anything for it.
    """

    _fields: ClassVar = fields_of(
        *("n_features_in_", "feature_names_in_", "_targets", "_arguments", "support_", "coef_"),
        *("intercept_", "_biases", "supports_", "primal_", "dual_", "gap_", "l0_gap_"),
        *("refit_gap_", "n_iter_", "status_", "history_", "n_samples_fit_", "n_positives_"),
        *("training_score_", "_warm_y", "_warm_weights", "_dual_points"),
    )

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
            How often each row counts: 2 is the same as the row twice, 0 as leaving it out. Any
            weights for losses and for the measures ``"accuracy"``, ``"balanced_accuracy"`` and
            ``"roc_auc"``; whole ones, by repeated rows, for the other measures.
        """
        X, y = read_X_y(self, X, y, multi_output=True)
        has_positive = hasattr(self, "pos_label")
        targets, y = read_targets(y, self.pos_label if has_positive else LARGER)
        check_multi_class_support(self.multi_class_support)
        names = getattr(self, "feature_names_in_", None)
        arguments = problem_arguments(self, names)
        problems = make_problems(X, targets.labels(y), sample_weight=sample_weight, **arguments)
        warn_of_scales(X, names, arguments["excluded_features"])
        titles = [f"class {targets.name(problem)}" for problem in range(targets.n_problems)]
        limits = Limits(self.tol, self.max_iter, self.max_time)
        reporters: list[Reporter | None] = [None] * len(problems)
        if self.verbose or self._n_callbacks:
            tasks = FitTasks(self, titles, X, y, {"sample_weight": sample_weight})
            reporters = list(tasks.reporters)
        warm = self._warm_starts(problems, targets, y, sample_weight)
        results = Parallel(n_jobs=self.n_jobs)(
            delayed(solve_reported)(
                problem,
                limits,
                reporter,
                hard=self.n_features_to_select is not None,
                certificate=self.certificate,
                solver=getattr(self, "solver", None),
                warm=start,
            )
            for problem, reporter, start in zip(problems, reporters, warm, strict=True)
        )
        for problem, title, result in zip(problems, titles, results, strict=True):
            warn_about(problem, result, title, self.tol)
        self._store(problems, targets, results)
        self.n_samples_fit_, self.n_positives_ = X.shape[0], targets.n_positives(y)
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
        usable = (
            self.warm_start
            and hasattr(self, "_targets")
            and self._targets.kind == targets.kind
            and self._targets.positive == targets.positive
            and np.array_equal(self.classes_, targets.classes)
            and self.coef_.shape[1] == self.n_features_in_
        )
        if not usable:
            return [None] * len(problems)
        has_same_cuts = (
            self._warm_y is not None
            and same_labels(self._warm_y, y)
            and _same_weights(self._warm_weights, sample_weight)
            and self._kind() == problems[0].risk.kind
            and self._arguments["bound"] == problems[0].arguments()["bound"]
        )
        points = self._dual_points if has_same_cuts else [None] * len(problems)
        parts = zip(problems, self._coefficients(), self._biases, points, strict=True)
        return [warm_start(*part) for part in parts]

    def _store(self, problems: list[Problem], targets: Targets, results: list[SolveResult]) -> None:
        """Set the fitted attributes."""
        self._targets, self._arguments = targets, problems[0].arguments()
        self._dual_points = [result.dual_point for result in results]
        self._biases = np.array([result.intercept for result in results])
        self.coef_ = targets.sign * np.array([result.w for result in results])
        always, combine = problems[0].always_features, COMBINE[self.multi_class_support]
        self.supports_ = [np.union1d(result.support, always) for result in results]
        self.support_ = reduce(combine, self.supports_)
        for name in ("primal", "dual", "gap", "l0_gap", "refit_gap", "n_iter"):
            setattr(self, f"{name}_", np.array([getattr(result, name) for result in results]))
        if isinstance(problems[0].risk, MeasureRisk):
            self.price_ = np.array([result.price for result in results])
        self.status_ = [result.status for result in results]
        self.history_ = [result.history for result in results]
        intercepts, training = [], []
        for problem, result in zip(problems, results, strict=True):
            risk = problem.risk
            if not isinstance(risk, MeasureRisk):
                intercepts.append(result.intercept)
                training.append(training_score_of_loss(problem, result))
                continue
            scores = problem.design.scores(result.w[result.support], result.support)
            intercepts.append(_shifted(problem, risk, result, scores))
            training.append(training_score(risk, scores + intercepts[-1]))
        self.intercept_ = targets.sign * np.array(intercepts)
        self.training_score_ = np.array(training)
        self.__dict__.update(self._derived())

    def _derived(self) -> dict[str, Any]:
        return {"classes_": self._targets.classes} | derived_of_problem(self)

    def _facts(self, problem: int, owner: Any = None) -> list[Fact]:
        """What is known of the model of one class.

        Parameters
        ----------
        owner : estimator, optional
            With the parameters that the user gave; this one by default.
        """
        return classifier_facts(self, problem, owner or self)


def derived_of_problem(model: Any) -> dict[str, Any]:
    """Fitted attributes that the arguments of the problem and the selection imply."""
    kind = "measure" if model._arguments["loss"] is None else "loss"
    return {
        "n_features_selected_": int(model.support_.size),
        "budget_": model._arguments["budget"],
        f"{kind}_": model._arguments[kind],
    }


def _same_weights(first: Any, second: Any) -> bool:
    """Whether both are None, or equal in every entry."""
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def check_multi_class_support(name: Any) -> None:
    """Refuse a way to combine supports that there is not."""
    if name not in COMBINE:
        raise ValueError(
            f"multi_class_support must be one of {sorted(COMBINE)}; got {name!r}. Each class's own "
            "features are in supports_."
        )


def _shifted(problem: Problem, risk: MeasureRisk, result: SolveResult, scores: FloatArray) -> float:
    """The intercept, or minus the threshold that the measure asks for on the training rows."""
    is_free = risk.is_tight and problem.constant > 0
    return -risk.threshold(scores, -result.intercept, is_free=is_free)
