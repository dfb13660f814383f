"""What all rivals share: labels of any kind, selection, decisions, and what the user is told."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_positive, check_X
from scoresieve._user_warnings import warn_user
from scoresieve.design import as_design
from scoresieve.estimators.data import read_X_y
from scoresieve.estimators.decision import linear_scores
from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.estimators.persistence.saving import PersistenceMixin
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.estimators.summary.models import rival_facts
from scoresieve.estimators.summary.parts import Fact
from scoresieve.estimators.targets import LARGER, Targets, read_targets
from scoresieve.estimators.whole_fit import whole_fit
from scoresieve.measures import get_measure
from scoresieve.risks import DualPoint
from scoresieve.solvers.limits import Status
from scoresieve.solvers.problem import Problem, ProblemArguments
from scoresieve.solvers.result import SolveResult


@dataclass(frozen=True, eq=False)
class BinaryFit:
    """``scores = X w + intercept``: what one binary fit of a rival found.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
    n_iter : int
        Steps, of the method's own kind; at least 1.
    trouble : str or None
        Why the fit is not what was asked for, as one or two sentences for the user; None if it is.
    primal, dual, gap : float or None
        Objective, lower bound and ``(primal - dual) / primal``, where the method has them.
    status : Status or None
        Why a solver of this package stopped.
    dual_point : DualPoint or None
        Proves ``dual``.
    arguments : dict or None
        What makes the problem that ``dual_point`` belongs to, see :meth:`Problem.arguments`.
    details : dict of str to object
        Further fitted attributes by name, such as ``C_``; the same names for each problem.
    """

    w: FloatArray
    intercept: float
    n_iter: int
    trouble: str | None = None
    primal: float | None = None
    dual: float | None = None
    gap: float | None = None
    status: Status | None = None
    dual_point: DualPoint | None = None
    arguments: ProblemArguments | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        result: SolveResult,
        problem: Problem | None,
        *,
        trouble: str | None,
        details: dict[str, Any],
    ) -> BinaryFit:
        """What a solver of this package found; with the problem, if the result certifies that."""
        return cls(
            w=result.w,
            intercept=result.intercept,
            n_iter=result.n_iter,
            trouble=trouble,
            primal=result.primal,
            dual=result.dual,
            gap=result.gap,
            status=result.status,
            dual_point=result.dual_point,
            arguments=None if problem is None else problem.arguments(),
            details=details,
        )

    @property
    def support(self) -> IntArray:
        """Sorted numbers of the columns with a non-zero weight."""
        return np.flatnonzero(self.w)


class Baseline(
    LinearModelMixin,
    PersistenceMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """``decision_function(X) = X coef_^T + intercept_``, ``support_ = {j : coef_j != 0}``.

    Conventions
    -----------
    * More than two classes, or an indicator matrix, make one problem for each class against the
      rest; ``support_`` is the union over the classes, ``supports_`` has each class's own.
    * ``fit`` sets ``classes_``, ``coef_``, ``intercept_``, ``support_``, ``supports_``,
      ``n_features_selected_``, ``n_iter_``, ``n_samples_fit_``, ``n_positives_`` and
      ``training_score_``. Methods with bounds also set ``primal_``, ``dual_`` and ``gap_``, solvers
      of this package ``status_``; each has one entry a problem.
    * ``score`` is the measure of methods that are trained for one, else the accuracy.
    * A subclass has the parameters ``max_time`` (seconds for each problem, or None) and ``n_jobs``,
      checks its parameters in ``_fit_binary``, and changes nothing on ``self`` there: problems may
      be fitted in other processes.
    """

    _fields = fields_of(
        *("n_features_in_", "feature_names_in_", "_targets", "support_", "coef_", "intercept_"),
        *("_biases", "supports_", "n_iter_", "_dual_points"),
        *("n_samples_fit_", "n_positives_", "training_score_"),
    )

    @abstractmethod
    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        """Fit one problem.

        Parameters
        ----------
        X : ndarray, CSR or CSC matrix of shape (n_samples, n_features)
            float64 or float32, finite; never to be modified.
        y : ndarray of shape (n_samples,)
            In {-1, +1}, both present.
        """

    def _class_arguments(self, targets: Targets, problem: int) -> dict[str, Any]:
        """Further keyword arguments of ``_fit_binary`` for one of the problems."""
        return {}

    @whole_fit
    def fit(self, X: Any, y: Any) -> Any:
        """Select features and fit one linear model for each class; X and y as for MeasureSVC."""
        X, y = read_X_y(self, X, y, multi_output=True)
        targets, y = read_targets(y, getattr(self, "pos_label", LARGER))
        check_X(as_design(X))
        if self.max_time is not None:
            check_positive(self.max_time, "max_time")
        labels = list(targets.labels(y))
        fits = Parallel(n_jobs=self.n_jobs)(
            delayed(self._fit_binary)(X, each, **self._class_arguments(targets, problem))
            for problem, each in enumerate(labels)
        )
        for problem, fit in enumerate(fits):
            _warn_about(fit, targets.name(problem))
        self._store(X, labels, targets, fits)
        return self

    def _store(
        self, X: Any, labels: list[FloatArray], targets: Targets, fits: list[BinaryFit]
    ) -> None:
        """Set the fitted attributes."""
        self._targets = targets
        self._biases = np.array([fit.intercept for fit in fits])
        self._dual_points = [fit.dual_point for fit in fits]
        if fits[0].arguments is not None:
            self._arguments = fits[0].arguments
        self.coef_ = targets.sign * np.array([fit.w for fit in fits])
        intercepts, training = [], []
        for y, fit in zip(labels, fits, strict=True):
            scores = linear_scores(X, fit.w[np.newaxis]).ravel()
            intercepts.append(self._threshold(y, scores, fit))
            training.append(self._training_score(y, scores + intercepts[-1]))
        self.intercept_ = targets.sign * np.array(intercepts)
        self.training_score_ = np.array(training)
        self.n_samples_fit_ = labels[0].size
        self.n_positives_ = np.array([np.count_nonzero(y > 0) for y in labels])
        self.supports_ = [fit.support for fit in fits]
        self.support_ = reduce(np.union1d, self.supports_)
        self.n_iter_ = np.array([fit.n_iter for fit in fits])
        for name in ("primal", "dual", "gap"):
            values = [getattr(fit, name) for fit in fits]
            if None not in values:
                setattr(self, f"{name}_", np.array(values))
        if all(fit.status is not None for fit in fits):
            self.status_ = [fit.status for fit in fits]
        for name in fits[0].details:
            values = [fit.details[name] for fit in fits]
            setattr(self, name, np.array(values) if np.isscalar(values[0]) else values)
        self.__dict__.update(self._derived())

    def _derived(self) -> dict[str, Any]:
        selected = int(self.support_.size)
        return {"classes_": self._targets.classes, "n_features_selected_": selected}

    def _facts(self, problem: int, owner: Any = None) -> list[Fact]:
        return rival_facts(self, problem, owner or self)

    def _threshold(self, y: FloatArray, scores: FloatArray, fit: BinaryFit) -> float:
        """What is added to the scores, so that those above 0 are alarms."""
        return fit.intercept

    def _training_score(self, y: FloatArray, scores: FloatArray) -> float:
        """Of the rows of the fit, of which those with scores above 0 are alarms."""
        return float(np.mean((y > 0) == (scores > 0)))

    def _gap_trouble(self, result: SolveResult) -> str | None:
        """What to tell the user about a fit of our solvers that stopped before its tolerance."""
        if result.status.reached_tolerance:
            return None
        return f"the certified gap is {result.gap:.3g} and tol={self.tol:g}. {result.status.value}"

    #: Only for methods whose objective :func:`scoresieve.certify` knows: those with ``_arguments``.
    certify = available_if(lambda self: hasattr(self, "_arguments"))(LinearModelMixin.certify)


class MeasureBaseline(Baseline):
    """A rival that is trained for ``measure``, and scored by it.

    Conventions
    -----------
    For measures of the k highest scores the decision is shifted so that k of the training examples
    are above 0, for rankings as many as are positive. The subclass has the parameters ``measure``
    and ``pos_label``.
    """

    _fields = fields_of("measure_") | Baseline._fields

    def _store(
        self, X: Any, labels: list[FloatArray], targets: Targets, fits: list[BinaryFit]
    ) -> None:
        self.measure_ = get_measure(self.measure)
        super()._store(X, labels, targets, fits)

    def _threshold(self, y: FloatArray, scores: FloatArray, fit: BinaryFit) -> float:
        if self.measure_.n_alarms(y) is None:
            return fit.intercept
        return -self.measure_.threshold(y, scores)

    def _training_score(self, y: FloatArray, scores: FloatArray) -> float:
        return float(self.measure_.score(y, scores))


def _warn_about(fit: BinaryFit, name: str) -> None:
    """Tell the user of a fit that is not what was asked for, and of a model without features."""
    if fit.trouble is not None:
        warn_user(f"class {name}: {fit.trouble}", ConvergenceWarning)
    elif fit.support.size == 0:
        warn_user(f"class {name}: the model has no features; raise C.")


def check_choice(value: Any, name: str, choices: Collection[str]) -> str:
    """One of a few names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}; got {value!r}.")
    return value
