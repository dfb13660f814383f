"""Options as estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scoresieve import BudgetClassifier, MeasureSVC, ScoreSieve, get_measure
from scoresieve.cli.errors import WrongUse, one_line
from scoresieve.mil import BagMeasureSVC, BagScoreSieve

SIEVE, MEASURE = "sieve", "measure"


@dataclass(frozen=True)
class Settings:
    """What a user asked for; None and empty where nothing was said.

    Attributes
    ----------
    method : str
        "sieve", "measure", or a loss with a hyphen.
    k : tuple of int, optional
        Numbers of features; an empty one is "auto".
    """

    method: str = SIEVE
    measure: str = "f1"
    k: tuple[int, ...] | None = None
    budget: int | None = None
    C: tuple[float, ...] | None = None
    cv: int | None = None
    jobs: int | None = None
    max_time: float | None = None

    @property
    def loss(self) -> str:
        """The name that the library has for a method that is a loss."""
        return self.method.replace("-", "_")


def check_measures(names: str) -> list[str]:
    """Names with commas, each of which the library knows."""
    found = [name.strip() for name in names.split(",")]
    for name in found:
        try:
            get_measure(name)
        except (ValueError, TypeError) as error:
            raise WrongUse(f"--measure {name}: {one_line(error)}") from error
    return found


def make_model(settings: Settings, positive: Any) -> Any:
    """The estimator of rows, not fitted."""
    if settings.method == SIEVE:
        return ScoreSieve(**_sieve_arguments(settings, positive, "n_features_to_select"))
    arguments = _single_arguments(settings, "n_features_to_select")
    if settings.method == MEASURE:
        return MeasureSVC(settings.measure, pos_label=positive, **arguments)
    return BudgetClassifier(settings.loss, **arguments)


def make_bag_model(settings: Settings, positive: Any) -> Any:
    """The estimator of bags, not fitted."""
    if settings.method == SIEVE:
        return BagScoreSieve(**_sieve_arguments(settings, positive, "n_instances_to_select"))
    arguments = _single_arguments(settings, "n_instances_to_select")
    return BagMeasureSVC(settings.measure, pos_label=positive, **arguments)


def _sieve_arguments(settings: Settings, positive: Any, number: str) -> dict[str, Any]:
    if settings.budget is not None:
        raise WrongUse(
            f"--budget {settings.budget} is for --method measure or a loss; say -k for the sieve."
        )
    sizes = list(settings.k or ())
    return {
        "measure": settings.measure,
        number: None if not sizes else sizes[0] if len(sizes) == 1 else sizes,
        "Cs": None if settings.C is None else list(settings.C),
        "cv": settings.cv,
        "pos_label": positive,
        "max_time": settings.max_time,
        "n_jobs": settings.jobs,
    }


def _single_arguments(settings: Settings, number: str) -> dict[str, Any]:
    """Of an estimator that fits one model and chooses nothing."""
    method = f"--method {settings.method}"
    if settings.cv is not None:
        raise WrongUse(
            f"--cv {settings.cv} is for the sieve; {method} fits one model. Leave it out."
        )
    if settings.C is not None and len(settings.C) > 1:
        raise WrongUse(f"-C has {len(settings.C)} values; {method} takes one of them.")
    if (settings.budget is None) == (not settings.k) or len(settings.k or ()) > 1:
        raise WrongUse(f"{method} needs one number of features, -k 10, or one budget, --budget 50.")
    return {
        number: settings.k[0] if settings.k else None,
        "budget": settings.budget,
        "max_time": settings.max_time,
        "n_jobs": settings.jobs,
        **({} if settings.C is None else {"C": settings.C[0]}),
    }
