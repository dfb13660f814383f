"""Losses by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from scoresieve._checks import did_you_mean
from scoresieve.losses.classification import Hinge, HuberHinge, Logistic, SquaredHinge
from scoresieve.losses.loss import Loss
from scoresieve.losses.regression import EpsilonInsensitive, Huber, Squared

_LOSSES: dict[str, Any] = {
    loss.name: loss
    for loss in (Hinge, SquaredHinge, Logistic, HuberHinge, Squared, EpsilonInsensitive, Huber)
}


def known_losses(task: str | None = None) -> list[str]:
    """Names that :func:`get_loss` knows, of all losses or of those for one task."""
    return [name for name, loss in _LOSSES.items() if task in (None, loss.task)]


def get_loss(name_or_loss: str | Loss, **settings: float) -> Loss:
    """``get_loss(loss.name) == loss`` for default settings: a loss by name, or the loss itself.

    Conventions
    -----------
    =================== ============== ============================== =================
    name                task           loss of m = y s or r = s - y   settings
    =================== ============== ============================== =================
    hinge               classification max(0, 1 - m)
    squared_hinge       classification max(0, 1 - m)^2
    logistic            classification log(1 + exp(-m))
    huber_hinge         classification hinge with a round corner      delta (1)
    squared             regression     r^2 / 2
    epsilon_insensitive regression     max(0, abs(r) - epsilon)       epsilon (0.1)
    huber               regression     r^2 / 2, linear from epsilon   epsilon (1.35)
    =================== ============== ============================== =================

    Parameters
    ----------
    name_or_loss : str or Loss
        A name from the table, or a loss.
    **settings : float
        Settings of a loss given by name, such as ``epsilon``.

    Examples
    --------
    >>> get_loss("squared_hinge")
    SquaredHinge()
    >>> get_loss("huber", epsilon=2.0)
    Huber(epsilon=2.0)
    """
    if isinstance(name_or_loss, Loss):
        if settings:
            raise ValueError(
                f"settings {sorted(settings)} cannot change {name_or_loss!r}; make the loss with "
                "them, or pass its name."
            )
        return name_or_loss
    if not isinstance(name_or_loss, str):
        raise TypeError(f"loss must be a name or a Loss, got {type(name_or_loss).__name__}.")
    if name_or_loss not in _LOSSES:
        raise ValueError(
            f"unknown loss {name_or_loss!r}{did_you_mean(name_or_loss, _LOSSES)}; known are "
            f"{', '.join(known_losses('classification'))} for classification and "
            f"{', '.join(known_losses('regression'))} for regression."
        )
    kind = _LOSSES[name_or_loss]
    known = [field.name for field in fields(kind)]
    for name in settings:
        if name not in known:
            has = f"its settings are {', '.join(known)}" if known else "it has no settings"
            raise ValueError(f"{name_or_loss} has no setting {name!r}; {has}.")
    return kind(**settings)
