"""Solvers join a risk, a regulariser and a design matrix.

``solve`` chooses the engine: ``bundle`` for the risks of measures and of losses with kinks,
``smooth`` for smooth losses, ``two_layer`` for the paper's own algorithm. ``path`` makes all
budgets in one run, ``hard_budget`` at most k features, and ``conic`` is the fall-back.
"""

from scoresieve.solvers.limits import Progress, Status
from scoresieve.solvers.result import SolveResult
from scoresieve.solvers.solve import solve

__all__ = ["Progress", "SolveResult", "Status", "solve"]
