"""``FGM``: the feature generating machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_C, check_choice, check_count, check_positive, check_tol
from scoresieve.baselines._baseline import Baseline, BinaryFit
from scoresieve.baselines._fgm_solver import FGMResult, GroupRound, solve_fgm
from scoresieve.estimators.budget_model import DEFAULT_BUDGET
from scoresieve.estimators.linear_model import CertifiedMixin
from scoresieve.estimators.model import FitCertificate
from scoresieve.estimators.persistence.fields import array, each, table
from scoresieve.estimators.persistence.values import classifier
from scoresieve.risks import Slopes
from scoresieve.solvers.limits import one_blas_thread
from scoresieve.solvers.problem import budget_arguments, make_problems

#: Ends that are no trouble for the user: the wanted test was met.
REGULAR = ("change", "gap")


@dataclass(eq=False, repr=False, kw_only=True)
class FGM(CertifiedMixin, Baseline):
    """``min_w 1/2 ||w||_B^2 + C sum_i max(0, 1 - y_i <w, x_i>)^2``, one group of columns a round.

    The feature generating machine (Tan, Wang and Tsang, "Learning sparse SVM for feature selection
    on very high dimensional datasets", ICML 2010) scales features by d in {0, 1}^m with
    ``sum_j d_j <= B`` and solves the convex dual by cutting planes. Each round adds the group of
    the B columns with the largest ``|sum_i alpha_i y_i x_ij|`` and solves a multiple-kernel problem
    with one linear kernel a group, ``1/2 (sum_t ||w_t||)^2 + C loss(sum_t w_t)``. It stops when the
    objective hardly changes.

    **Conventions**

    The same as in the original: the problem, the groups, and with ``stop="change"`` the stopping
    rule. Differences:

    * The multiple-kernel problem is solved in the primal by accelerated proximal gradient steps, as
      in the authors' later paper (Tan, Tsang and Wang, "Towards ultrahigh dimensional feature
      selection for big data", JMLR 2014), not by SimpleMKL around dual coordinate descent. They
      found it faster, and every step yields bounds.
    * A subproblem ends at a relative duality gap of 0.3 ``tol``, not at a small change.
    * The loss is ``C xi^2`` as in ``LinearSVC``, not ``C/2 xi^2``: C = 5 in Mao and Tsang's
      comparison is 2.5 here.
    * As in the papers, columns are not scaled.
    * The intercept is a constant column in every group.
    * Every round certifies primal, dual and gap of the whole problem; ``stop="gap"`` stops at that
      gap.
    * More than two classes, or an indicator matrix, are fitted one-vs-rest.

    Parameters
    ----------
    budget : int, optional
        B, the size of a group. The model has more features, since several groups have weight. 50 by
        default, or all features if there are fewer.
    C : float, default=1.0
        Weight of the loss, in the scale of ``LinearSVC(loss="squared_hinge")``.
    stop : {"change", "gap"}, default="change"
        Stop when a round lowers the objective of the groups by at most the fraction ``tol``, or
        when the certified relative gap is at most ``tol``. A small change proves nothing: gaps of
        10 to 30 times ``tol`` are common.
    tol : float, default=0.001
    max_groups : int, default=50
        Maximum number of groups per class.
    fit_intercept, intercept_scaling, max_time, n_jobs
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, supports_, n_features_selected_, primal_, dual_, gap_
        As in :class:`~scoresieve.MeasureSVC`.
    support_ : ndarray of int
        Features with a weight: the union of the groups that have one.
    stopped_by_ : ndarray of str of shape (n_problems,)
        ``"change"``, ``"gap"``, ``"max_groups"``, ``"max_time"``, or ``"precision"`` if rounding
        prevents a smaller gap.
    n_iter_ : ndarray of int of shape (n_problems,)
        Rounds.
    n_steps_ : ndarray of int of shape (n_problems,)
        Proximal steps of all rounds.
    history_ : list of list of GroupRound
        Groups, seconds, proximal steps and bounds of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import FGM
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> model = FGM(budget=2, stop="gap", tol=0.01).fit(X, X[:, 3] + X[:, 7] > 0)
    >>> sorted(np.argsort(-abs(model.coef_[0]))[:2].tolist())
    [3, 7]
    >>> bool(model.gap_[0] <= 0.01)
    True
    """

    budget: int | None = None
    C: float = 1.0
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    stop: str = "change"
    tol: float = 1e-3
    max_groups: int = 50
    max_time: float | None = None
    n_jobs: int | None = None

    _saved = classifier("problem_", "certificate") | {
        "stopped_by_": array("U", "problems"),
        "n_steps_": array(np.int64, "problems"),
        "history_": each(table(GroupRound)),
    }

    def _fit_binary(self, X: Any, y: FloatArray) -> BinaryFit:
        scaling = check_positive(self.intercept_scaling, "intercept_scaling")
        with one_blas_thread():
            (problem,) = make_problems(
                X,
                [y],
                loss="squared_hinge",
                C=check_C(self.C),
                intercept_scaling=scaling if self.fit_intercept else 0.0,
                **budget_arguments(self.budget, None, DEFAULT_BUDGET),
            )
            result = solve_fgm(
                problem.design,
                problem.risk.y,
                problem.norm,
                problem.C,
                tol=check_tol(self.tol),
                stop=check_choice(self.stop, "stop", REGULAR),
                max_groups=check_count(self.max_groups, "max_groups"),
                max_time=self.max_time,
            )
        w, intercept = problem.split(result.w)
        return BinaryFit(
            w=w,
            intercept=intercept,
            n_iter=len(result.history),
            trouble=self._trouble(result),
            C=problem.C,
            certificate=FitCertificate(
                result.primal,
                result.dual,
                result.gap,
                # alpha are multipliers of the rows, v = alpha y = -C u.
                dual_point=Slopes(-result.alpha * y / problem.C),
            ),
            problem=problem.arguments(),
            details={
                "stopped_by_": result.stopped_by,
                "n_steps_": result.n_steps,
                "history_": result.history,
            },
        )

    def _trouble(self, result: FGMResult) -> str | None:
        """What to tell the user about an end that was not asked for."""
        if result.stopped_by in REGULAR:
            return None
        return (
            f"stopped by {result.stopped_by} after {len(result.history)} rounds, at a certified "
            f"gap of {result.gap:.3g}; raise max_groups, max_time or tol={self.tol:g}."
        )
