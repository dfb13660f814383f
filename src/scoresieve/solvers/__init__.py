"""Solvers join a measure, a regulariser and a design matrix.

``bundle`` is the default, ``two_layer`` the paper's algorithm. Both alternate between the oracle of
the measure and a small master problem: ``interior_point`` for the bundle, ``conic`` for the paper's
QCQP, for tests and as the fall-back.
"""

from scoresieve.solvers.api import solve
from scoresieve.solvers.result import DualPoint, Progress, SolveResult, Status

__all__ = ["DualPoint", "Progress", "SolveResult", "Status", "solve"]
