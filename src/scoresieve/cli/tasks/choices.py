"""Options of a command as the parts that the work is about."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from scoresieve.cli.data.table import Choices
from scoresieve.cli.errors import WrongUse
from scoresieve.cli.tasks.models import Settings, check_measures


def choices_from(options: dict[str, Any]) -> Choices:
    """What is said about a file."""
    return Choices(**_known(options, Choices))


def settings_from(options: dict[str, Any]) -> Settings:
    """What is said about a model; its measure is one that the library knows."""
    settings = Settings(**_known(options, Settings))
    if len(check_measures(settings.measure)) > 1:
        raise WrongUse(
            f"--measure {settings.measure}: a model is fitted for one measure; give one."
        )
    return settings


def _known(options: dict[str, Any], form: type[Any]) -> dict[str, Any]:
    return {part.name: options[part.name] for part in fields(form) if part.name in options}
