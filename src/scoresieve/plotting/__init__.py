"""Plots of fitted models, as Display classes; matplotlib is imported when one is drawn."""

from scoresieve.plotting.instance_contributions import InstanceContributionsDisplay

__all__ = ["InstanceContributionsDisplay"]
