"""``FSMulti``: the paper's own algorithm with its authors' settings."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from scoresieve._checks import check_count, check_positive
from scoresieve.baselines._budget import BudgetBaseline
from scoresieve.measures import Measure
from scoresieve.solvers.limits import Status, Tracker
from scoresieve.solvers.problem import Problem
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.two_layer import TwoLayer, run_two_layer


@dataclass(eq=False, repr=False)
class FSMulti(BudgetBaseline):
    """``min_w 1/2 ||w||_B^2 + C R(X w)`` by two nested layers of cutting planes, T groups at most.

    FS_multi (Mao and Tsang, "A feature selection method for multivariate performance measures",
    IEEE TPAMI 2013) adds the group of the B most violated features, then finds weights of all
    groups so far by cutting planes and a conic solver, and goes on until nothing is gained.

    **Conventions**

    What is the same: the problem, both layers, eps_1 = 0.1 (``tol``), eps_2 = 0.01
    (``inner_tol``), at most 10 groups, no intercept; with ``C_scale="paper"`` the paper's C divided
    by the number of examples. What differs:

    * the outer layer stops at the certified relative gap eps_1, not when the objective changes by
      less; a fit that ends at ``max_groups`` with a larger gap says so;
    * cuts are kept from one inner run to the next, and groups without weight are dropped;
    * weights that do not matter within the tolerance are set to zero, as in
      :class:`~scoresieve.MeasureSVC`; the program counts features of all groups with weight;
    * the conic solver is Clarabel, not Mosek; every measure of this package can be optimised.

    :class:`~scoresieve.MeasureSVC` has the same optimum and gets there faster.

    Parameters
    ----------
    budget : int, optional
        B, the size of a group. By default 50, or all features if there are fewer.
    C : float, default=1.0
        Weight of the risk, in the scale of ``C_scale``.
    C_scale : {"linear_svc", "svmperf", "paper"}, default="linear_svc"
        Whose C it is: that of ``LinearSVC`` and of this package, SVM^perf's ``-c`` (not for
        ``"accuracy"``), or the paper's C divided by n (0.1 for its News20 experiments).
    tol : float, default=0.1
        eps_1: the certified relative gap to stop at.
    inner_tol : float, default=0.01
        eps_2: the relative gap of the inner layer.
    max_groups : int, default=10
        T: groups after which the outer layer ends.
    max_iter : int, default=1000
        Most steps of the inner layer, all groups together, for each class.
    measure, fit_intercept, intercept_scaling, pos_label, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, supports_, n_features_selected_, primal_, dual_, gap_, \
measure_
        As in :class:`~scoresieve.MeasureSVC`.
    C_ : ndarray of shape (n_problems,)
        C of each problem in the scale of ``LinearSVC``.
    n_iter_ : ndarray of int of shape (n_problems,)
        Steps of the inner layer.
    status_ : list of Status
        ``MAX_ITER`` also for an end at ``max_groups``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import FSMulti
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> model = FSMulti("f1", budget=2, C=0.1, C_scale="paper").fit(X, X[:, 3] + X[:, 7] > 1.5)
    >>> sorted(np.argsort(-abs(model.coef_[0]))[:2].tolist())
    [3, 7]
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    budget: int | None = None
    C: float = 1.0
    C_scale: str = "linear_svc"
    fit_intercept: bool = False
    intercept_scaling: float = 1.0
    pos_label: Any = None
    tol: float = 0.1
    inner_tol: float = 0.01
    max_groups: int = 10
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None

    def _budget(self, n_features: int) -> int | None:
        return self.budget

    def _run(self, problem: Problem, tracker: Tracker) -> TwoLayer:
        inner_tol = check_positive(self.inner_tol, "inner_tol")
        max_groups = check_count(self.max_groups, "max_groups")
        return run_two_layer(problem, tracker, inner_tol=inner_tol, max_groups=max_groups)

    def _gap_trouble(self, result: SolveResult) -> str | None:
        if result.status is not Status.MAX_ITER:
            return super()._gap_trouble(result)
        return (
            f"the certified gap is {result.gap:.3g} and tol={self.tol:g} after max_groups="
            f"{self.max_groups} groups or max_iter={self.max_iter} steps; raise these, or tol."
        )
