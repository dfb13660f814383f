"""``L1BundleSVM``: the l1 norm and any measure, by a bundle method."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_C, check_positive
from scoresieve.baselines._base import BinaryFit, MeasureBaseline
from scoresieve.baselines._l1_solver import run_l1_bundle
from scoresieve.design import as_design
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.measures import Measure
from scoresieve.solvers.limits import Limits, Tracker, one_blas_thread
from scoresieve.solvers.problem import make_problem
from scoresieve.solvers.solve import finish


@dataclass(eq=False, repr=False)
class L1BundleSVM(MeasureBaseline):
    """``min_w ||w||_1 + C R(X w)`` by cutting planes: l1-regularised F1, and other measures.

    The paper's l1-bmrm-F1 is the program BMRM (Teo, Vishwanathan, Smola and Le, "Bundle methods for
    regularized risk minimization", JMLR 2010) with the l1 norm and the F1 risk. Each iteration
    solves a linear programme over all features and adds the most violated labelling at its
    solution. With the l1 norm its authors guarantee no convergence (their Appendix C); Mao and
    Tsang report that it does not converge on their image data, and does not end within two days on
    News20.binary.

    **Conventions**

    What is the same: the problem, the cuts, the linear programme, one cut a round at its solution
    without any line search or prox term, and by default their limits (relative gap 0.1, 1,000
    iterations). **It often ends without convergence**, above all at large C: then there is a
    ``ConvergenceWarning``, and ``gap_`` says how far from the optimum the model may be. Give
    it a ``max_time``. What differs:

    * ``C = 1 / lambda``, up to the unit of the loss, which is that of this package: with
      ``measure="accuracy"`` R is the sum of the hinge losses;
    * the programme has only the features that some round needed, and HiGHS solves it. A pass over
      all features in each round finds those that are missing;
    * the lower bound is the dual value over all features, so that it is certified;
    * the best point of all rounds is returned, not the last one;
    * the intercept is the weight of a constant column inside the norm, as in liblinear;
    * every measure of this package can be optimised.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk. On text 0.05 to 1 is the range from a few features to fifty.
    tol : float, default=0.1
        Certified relative gap to stop at.
    measure, fit_intercept, intercept_scaling, pos_label, max_iter, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, primal_, dual_, gap_, \
n_iter_, status_, history_, measure_
        As in :class:`~scoresieve.MeasureSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import L1BundleSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> model = L1BundleSVM("f1", C=1.0).fit(X, X[:, 3] + X[:, 7] > 1.5)
    >>> sorted(np.argsort(-abs(model.coef_[0]))[:2].tolist())
    [3, 7]
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    C: float = 1.0
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    pos_label: Any = None
    tol: float = 0.1
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None

    _fields = MeasureBaseline._fields | fields_of("primal_", "dual_", "gap_", "status_", "history_")

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        constant = scaling if self.fit_intercept else 0.0
        limits = Limits(self.tol, self.max_iter, self.max_time, find_smallest_C=False)
        with one_blas_thread():
            # The constant column is one like the others, and B = 1 is the l1 norm of all of them.
            design = as_design(X, constant=constant)
            problem = make_problem(
                design, y, measure=self.measure, bound="paper", budget=1, C=check_C(self.C)
            )
            tracker = Tracker(limits, problem.risk.no_dual_point())
            bundle, status = run_l1_bundle(problem, tracker)
            problem = replace(problem, constant=constant)
            result = finish(problem, tracker, bundle.weights(), tracker.primal, status)
        details = {"history_": result.history}
        return BinaryFit.of(result, None, trouble=self._gap_trouble(result), details=details)
