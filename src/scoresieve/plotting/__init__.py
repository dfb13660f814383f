"""Plots of fitted models, as Display classes; matplotlib is imported when one is drawn."""

from scoresieve.plotting.convergence import ConvergenceDisplay
from scoresieve.plotting.feature_curve import FeatureCurveDisplay
from scoresieve.plotting.feature_path import FeaturePathDisplay, SupportsDisplay
from scoresieve.plotting.instance_contributions import InstanceContributionsDisplay
from scoresieve.plotting.operating_point import OperatingPointDisplay
from scoresieve.plotting.weights import WeightsDisplay

__all__ = [
    "ConvergenceDisplay",
    "FeatureCurveDisplay",
    "FeaturePathDisplay",
    "InstanceContributionsDisplay",
    "OperatingPointDisplay",
    "SupportsDisplay",
    "WeightsDisplay",
]
