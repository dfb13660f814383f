"""Plots of fitted models as Display classes; matplotlib is imported when one is drawn."""

from scoresieve.plotting.bars import InstanceContributionsDisplay, WeightsDisplay
from scoresieve.plotting.curves import (
    ConvergenceDisplay,
    FeatureCurveDisplay,
    OperatingPointDisplay,
)
from scoresieve.plotting.dots import FeaturePathDisplay, SupportsDisplay

__all__ = [
    "ConvergenceDisplay",
    "FeatureCurveDisplay",
    "FeaturePathDisplay",
    "InstanceContributionsDisplay",
    "OperatingPointDisplay",
    "SupportsDisplay",
    "WeightsDisplay",
]
