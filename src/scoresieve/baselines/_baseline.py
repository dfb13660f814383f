"""Base of all baselines: labels, selection, decisions and warnings."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from scoresieve._arrays import FloatArray, IntArray
from scoresieve._checks import check_positive
from scoresieve._user_warnings import warn_user
from scoresieve.estimators.data import read_X_y, whole_fit
from scoresieve.estimators.linear_model import LinearModelMixin, each_model, linear_scores
from scoresieve.estimators.model import ClassModel, FitCertificate
from scoresieve.estimators.persistence.registry import PersistenceMixin
from scoresieve.estimators.persistence.values import classifier
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.estimators.summary.facts import rival_facts
from scoresieve.estimators.targets import LARGER, Targets, read_targets
from scoresieve.measures import Measure, get_measure
from scoresieve.solvers.engines import SolveResult
from scoresieve.solvers.problem import Problem, ProblemArguments


@dataclass(frozen=True, eq=False)
class BinaryFit:
    """``scores = X w + intercept``: the result of one binary fit of a baseline."""

    w: FloatArray
    intercept: float
    #: Steps, of the method's own kind; at least 1.
    n_iter: int
    #: Why the fit is not what was asked for, in a sentence or two for the user; None if it is.
    trouble: str | None = None
    #: The weight of the loss, on the scale of the solver; None for methods without one.
    C: float | None = None
    #: Bounds of the method's own objective, where it has them.
    certificate: FitCertificate | None = None
    #: What makes the problem that the dual point belongs to, see :meth:`Problem.arguments`.
    problem: ProblemArguments | None = None
    #: Further fitted attributes by name; the same names for each problem.
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, result: SolveResult, problem: Problem | None, **others: Any) -> BinaryFit:
        """The result of a solver of this package; with the problem if it certifies that."""
        proved = ("primal", "dual", "gap", "status", "history", "dual_point")
        return cls(
            w=result.w,
            intercept=result.intercept,
            n_iter=result.n_iter,
            certificate=FitCertificate(**{name: getattr(result, name) for name in proved}),
            problem=None if problem is None else problem.arguments(),
            **others,
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
    * More than two classes, or an indicator matrix, are fitted one-vs-rest. ``supports_`` has the
      features of each class, ``support_`` their union.
    * ``fit`` sets ``classes_``, ``coef_``, ``intercept_``, ``support_``, ``supports_``,
      ``n_features_selected_``, ``n_iter_``, ``n_samples_fit_``, ``n_positives_`` and
      ``training_score_``. Methods with bounds also set ``primal_``, ``dual_`` and ``gap_``, and
      solvers of this package ``status_``, with one entry per problem.
    * ``score`` is the measure that the method is trained for, or else the accuracy.
    * A subclass has the parameters ``max_time`` (seconds for each problem, or None) and ``n_jobs``,
      checks its parameters in ``_fit_binary``, and changes nothing on ``self`` there: problems may
      be fitted in other processes.
    """

    _saved = classifier()
    _facts = rival_facts

    training_score_ = each_model(lambda model: model.training_score)
    n_iter_ = each_model(lambda model: model.n_iter)

    @abstractmethod
    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        """Fit one problem: X finite and never to be modified, y in {-1, +1} with both present."""

    def _class_arguments(self, targets: Targets, problem: int) -> dict[str, Any]:
        """Further keyword arguments of ``_fit_binary`` for one of the problems."""
        return {}

    @whole_fit
    def fit(self, X: Any, y: Any) -> Any:
        """Select features and fit one linear model for each class; X and y as for MeasureSVC."""
        X, y, _ = read_X_y(self, X, y, multi_output=True)
        targets, y = read_targets(y, getattr(self, "pos_label", LARGER))
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
        models = []
        for y, fit in zip(labels, fits, strict=True):
            scores = linear_scores(X, fit.w[np.newaxis]).ravel()
            threshold = self._threshold(y, scores, fit)
            decisions = scores + (fit.intercept - threshold)
            columns, every = fit.support, np.ones(y.size)
            constant = max(self._training_score(y, every), self._training_score(y, -every))
            models.append(
                ClassModel(
                    columns=columns,
                    weights=fit.w[columns],
                    intercept=float(fit.intercept),
                    threshold=threshold,
                    C=None if fit.C is None else float(fit.C),
                    n_positives=int(np.count_nonzero(y > 0)),
                    training_score=self._training_score(y, decisions),
                    constant_score=constant,
                    alarm_rate=float(np.mean(decisions > 0)),
                    n_iter=int(fit.n_iter),
                    certificate=fit.certificate,
                )
            )
        if fits[0].problem is not None:
            self.problem_ = fits[0].problem
        for name in fits[0].details:
            values = [fit.details[name] for fit in fits]
            setattr(self, name, np.array(values) if np.isscalar(values[0]) else values)
        self._keep(targets, models, labels[0].size)

    def _threshold(self, y: FloatArray, scores: FloatArray, fit: BinaryFit) -> float:
        """Where alarms begin, of scores with the intercept."""
        return 0.0

    def _training_score(self, y: FloatArray, scores: FloatArray) -> float:
        """Of the rows of the fit, of which those with scores above 0 are alarms."""
        return float(np.mean((y > 0) == (scores > 0)))

    def _gap_trouble(self, result: SolveResult) -> str | None:
        """What to tell the user about a fit of our solvers that stopped before its tolerance."""
        if result.status.reached_tolerance:
            return None
        return f"the certified gap is {result.gap:.3g}, tol={self.tol:g}. {result.status.value}"


class MeasureBaseline(Baseline):
    """A baseline that is trained for ``measure`` and scored by it.

    Conventions
    -----------
    For measures of the k highest scores the decision is shifted so that k training rows are above
    0; for rankings, as many as there are positives. The subclass has the parameters ``measure`` and
    ``pos_label``.
    """

    def _store(
        self, X: Any, labels: list[FloatArray], targets: Targets, fits: list[BinaryFit]
    ) -> None:
        self.measure_ = get_measure(self.measure)
        super()._store(X, labels, targets, fits)

    measure_: Measure

    def _threshold(self, y: FloatArray, scores: FloatArray, fit: BinaryFit) -> float:
        if self.measure_.n_alarms(y) is None:
            return 0.0
        return float(fit.intercept + self.measure_.threshold(y, scores))

    def _training_score(self, y: FloatArray, scores: FloatArray) -> float:
        return float(self.measure_.score(y, scores))


def _warn_about(fit: BinaryFit, name: str) -> None:
    """Tell the user of a fit that is not what was asked for, and of a model without features."""
    if fit.trouble is not None:
        warn_user(f"class {name}: {fit.trouble}", ConvergenceWarning)
    elif fit.support.size == 0:
        warn_user(f"class {name}: the model has no features; raise C.")
