"""Baselines with the objective of this package: another budget, or another solver."""

from __future__ import annotations

from typing import Any

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_C, check_choice, check_positive
from scoresieve.baselines._baseline import BinaryFit, MeasureBaseline
from scoresieve.estimators.budget_model import DEFAULT_BUDGET
from scoresieve.estimators.linear_model import CertifiedMixin, each_model
from scoresieve.estimators.persistence.values import classifier
from scoresieve.measures import get_measure
from scoresieve.measures.scales import C_from_paper, C_from_svmperf
from scoresieve.solvers.bundle.rounds import run_bundle
from scoresieve.solvers.engines import make_result, result_of
from scoresieve.solvers.limits import Limits, Tracker, one_blas_thread
from scoresieve.solvers.problem import Problem, budget_arguments, make_problems
from scoresieve.solvers.working import Ended

#: Our C from that of other programs, as functions of (C, y, measure).
C_SCALES = {
    "linear_svc": lambda C, y, measure: C,
    "svmperf": C_from_svmperf,
    "paper": C_from_paper,
}


class BudgetBaseline(CertifiedMixin, MeasureBaseline):
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` with certified bounds, by one of our solvers.

    Conventions
    -----------
    * The subclass has the parameters ``C``, ``C_scale``, ``fit_intercept``, ``intercept_scaling``,
      ``tol``, ``max_iter`` and ``max_time``.
    * ``C_scale`` is the scale of C: ``"linear_svc"`` is that of this package, ``"svmperf"`` that of
      SVM^perf's ``-c``, ``"paper"`` Mao and Tsang's C divided by n. The last two depend on the
      number of positives, so ``C_`` differs between classes.
    """

    _saved = classifier("problem_", "measure_", "certificate")
    C_ = each_model(lambda model: model.C)
    #: Whether weights that do not matter are set to 0.
    _drops_small_weights = True

    def _budget(self, n_features: int) -> int | None:
        """``B``; None for the default."""
        return None

    def _run(self, problem: Problem, tracker: Tracker) -> Ended:
        """Run a solver, the bundle if nothing else is said, until a reason to stop."""
        return run_bundle(problem, tracker)

    def _problem_arguments(self, n_features: int) -> dict[str, Any]:
        """Arguments of ``make_problems``: all but the data and C."""
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        return {
            "measure": get_measure(self.measure),
            "bound": "paper",
            "intercept_scaling": scaling if self.fit_intercept else 0.0,
            **budget_arguments(self._budget(n_features), None, DEFAULT_BUDGET),
        }

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        arguments = self._problem_arguments(X.shape[1])
        limits = Limits(self.tol, self.max_iter, self.max_time)
        convert = C_SCALES[check_choice(self.C_scale, "C_scale", C_SCALES)]
        C = convert(check_C(self.C), y, arguments["measure"])
        with one_blas_thread():
            (problem,) = make_problems(X, [y], C=C, **arguments)
            tracker = Tracker(limits, problem.risk.no_dual_point())
            ended = self._run(problem, tracker)
            if self._drops_small_weights:
                result = result_of(ended)
            else:
                w = ended.working.scattered(ended.best.w)
                result = make_result(problem, tracker, w, tracker.primal, ended.status)
        return BinaryFit.of(result, problem, trouble=self._gap_trouble(result), C=C)
