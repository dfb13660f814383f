"""Risks: what a solver minimises, bound to the labels or targets.

    min_w  1/2 ||w||_B^2 + C R(X w)

A risk R is a convex function of the scores. That of a measure is a convex bound of its loss, that
of a loss the sum over the examples. A solver sees its value, its cuts, and what a dual point is
worth; never a label.
"""

from scoresieve.risks.measure_risk import CutWeights, MeasureRisk
from scoresieve.risks.risk import DualPoint, LossRisk, Risk, Slopes

__all__ = ["CutWeights", "DualPoint", "LossRisk", "MeasureRisk", "Risk", "Slopes"]
