"""Rivals with our own objective: another budget, or another solver."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoresieve._checks import check_C, check_positive
from scoresieve.baselines._base import BinaryFit, MeasureBaseline, check_choice, gap_trouble
from scoresieve.certificate import Certificate, certify
from scoresieve.measures import get_measure
from scoresieve.measures.scales import C_from_paper, C_from_svmperf
from scoresieve.solvers.bundle import Bundle, run_bundle
from scoresieve.solvers.problem import Problem, make_problem
from scoresieve.solvers.result import Status, relative_gap, split_intercept
from scoresieve.solvers.sparsify import drop_small_weights
from scoresieve.solvers.threads import one_blas_thread
from scoresieve.solvers.tracker import Limits, Tracker
from scoresieve.solvers.two_layer import TwoLayer

FloatArray = NDArray[np.float64]

#: Our C from that of other programs, as functions of (C, y, measure).
C_SCALES = {
    "linear_svc": lambda C, y, measure: C,
    "svmperf": C_from_svmperf,
    "paper": C_from_paper,
}


class BudgetBaseline(MeasureBaseline):
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` with certified bounds, by one of our solvers.

    Conventions
    -----------
    * The subclass has the parameters ``C``, ``C_scale``, ``fit_intercept``, ``intercept_scaling``,
      ``tol``, ``max_iter`` and ``max_time``.
    * ``C_scale`` says whose C it is: ``"linear_svc"`` is the scale of this package, ``"svmperf"``
      that of SVM^perf's ``-c``, ``"paper"`` Mao and Tsang's C divided by n. The last two depend on
      the number of positives, so that each class has its own C in ours: ``C_``.
    """

    @abstractmethod
    def _budget(self, n_features: int) -> int:
        """``B``."""

    def _run(self, problem: Problem, tracker: Tracker) -> tuple[Bundle | TwoLayer, Status]:
        """Run a solver, the bundle if nothing else is said, until a reason to stop."""
        return run_bundle(problem, tracker)

    def _weights_of(
        self, problem: Problem, state: Bundle | TwoLayer, tracker: Tracker
    ) -> tuple[FloatArray, float]:
        """The weights on the working columns without those that do not matter; their objective."""
        return drop_small_weights(
            problem,
            state.pool.block,
            state.pool.norm,
            state.best.w,
            primal=tracker.primal,
            dual=tracker.dual,
            tol=self.tol,
        )

    def _trouble(self, status: Status, gap: float) -> str | None:
        """What to tell the user about a fit that stopped before its tolerance."""
        return gap_trouble(status, gap, self.tol)

    def _problem_settings(self, n_features: int) -> dict[str, Any]:
        """Arguments of ``make_problem`` and ``certify``: all but the data and C."""
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        return {
            "measure": get_measure(self.measure),
            "budget": self._budget(n_features),
            "intercept": scaling if self.fit_intercept else 0.0,
        }

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        settings = self._problem_settings(X.shape[1])
        tracker = Tracker(Limits(self.tol, self.max_iter, self.max_time))
        convert = C_SCALES[check_choice(self.C_scale, "C_scale", C_SCALES)]
        C = convert(check_C(self.C), y, settings["measure"])
        with one_blas_thread():
            problem = make_problem(X, y, C=C, **settings)
            state, status = self._run(problem, tracker)
            w_working, primal = self._weights_of(problem, state, tracker)
        w = np.zeros(problem.design.n_columns)
        w[state.pool.columns] = w_working
        w, bias = split_intercept(w, settings["intercept"])
        gap = relative_gap(primal, tracker.dual)
        if gap <= self.tol:
            status = Status.CONVERGED if np.any(w) else Status.ZERO_MODEL
        return BinaryFit(
            w=w,
            intercept=bias,
            n_iter=len(tracker.history),
            trouble=self._trouble(status, gap),
            primal=primal,
            dual=tracker.dual,
            gap=gap,
            status=status,
            dual_point=tracker.dual_point,
            details={"C_": C},
        )

    def certify(self, X: Any, y: Any) -> Certificate | list[Certificate]:
        """Recompute primal, dual and gap from the training data, without any solver's state.

        Parameters
        ----------
        X, y
            What the model was fitted on.

        Returns
        -------
        Certificate, or list of Certificate
            One for each class if there are more than two, or an indicator matrix.
        """
        X = self._validated(X)
        y = self._validated_targets(X, y)
        settings = self._problem_settings(self.n_features_in_) | {"measure": self.measure_}
        parts = zip(self._weights(), self._dual_points, self._biases, self.C_, strict=True)
        found = [
            certify(X, labels, w, point, bias=float(bias), C=float(C), **settings)
            for labels, (w, point, bias, C) in zip(self._targets.labels(y), parts, strict=True)
        ]
        return found[0] if self._targets.kind == "binary" else found
