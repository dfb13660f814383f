"""Losses: convex functions of one score an example. They never see X."""

from scoresieve.losses.classification import Hinge, HuberHinge, Logistic, SquaredHinge
from scoresieve.losses.loss import Loss, MarginLoss, ResidualLoss
from scoresieve.losses.loss_names import get_loss, known_losses
from scoresieve.losses.regression import EpsilonInsensitive, Huber, Squared

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "HuberHinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "ResidualLoss",
    "Squared",
    "SquaredHinge",
    "get_loss",
    "known_losses",
]
