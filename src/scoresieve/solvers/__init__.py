"""Solvers join a risk, a regulariser and a design matrix.

``solve`` is the way in: one relaxed problem, or at most k features. ``engines`` chooses between
``bundle``, for the risks of measures and of losses with kinks, and ``smooth``; ``subset`` searches
for k features; ``path`` fits many budgets in one run.
"""

from scoresieve.solvers.engines import SolveResult
from scoresieve.solvers.limits import Progress, Status
from scoresieve.solvers.solve import solve

__all__ = ["Progress", "SolveResult", "Status", "solve"]
