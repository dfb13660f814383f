"""From the options of a command to a fitted model, or to a path of them: fit, mil fit and path."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import scoresieve
from scoresieve import BudgetClassifier, MeasureSVC, ScoreSieve, budget_path, get_measure
from scoresieve.cli.data.labels import Table
from scoresieve.cli.data.reading import examples_of, read_training
from scoresieve.cli.data.source import Choices
from scoresieve.cli.errors import WrongUse, naming, one_line
from scoresieve.cli.output import (
    check_output,
    progress_of_fit,
    progress_of_reading,
    write,
    write_json,
)
from scoresieve.cli.tasks.models import SavedModel, as_plain, save_model, summary_of
from scoresieve.cli.tasks.predicting import held_out_scores, plain_scores, show_classes
from scoresieve.estimators.sieve.results import feature_curve
from scoresieve.tables.encoding import text_of

SIEVE, MEASURE = "sieve", "measure"

Row = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """Options of a model; None or empty where the user gave none.

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


def fit_file(
    file: str,
    *,
    output: str | None,
    certificate: bool,
    test: str | None,
    as_json: bool,
    quiet: bool,
    of_bags: bool = False,
    **options: Any,
) -> None:
    """Read a file, fit a model, save it, and show its summary.

    Parameters
    ----------
    **options
        Those of :class:`Settings` and of ``Choices``.
    """
    settings = _settings_from(options)
    if certificate and settings.method == SIEVE:
        raise WrongUse("--certificate: the sieve has none; add --method measure or a loss.")
    check_output(output)
    table = _read(file, options, quiet)
    X, y = examples_of(table, of_bags)
    model = make_model(settings, table.positive, of_bags)
    with progress_of_fit(model, quiet), naming(table.file):
        model.fit(X, y)
    saved = SavedModel(model, table.encoding)
    held_out = None if test is None else held_out_scores(saved, test, quiet=True)
    if output is not None:
        save_model(output, saved, with_certificate=certificate)
    if as_json:
        of_test = None if held_out is None else plain_scores(held_out)
        write_json({"model": output, "test": of_test, **as_plain(saved)})
        return
    write(summary_of(saved))
    if held_out is not None:
        for name, value in held_out["measures"].items():
            write(f"{name} of {test}: {value:.3f}\n")
        show_classes(held_out)
    write(f"model written to {output}\n" if output else "model not saved; name a file with -o\n")


def path_of_file(file: str, *, quiet: bool, **options: Any) -> list[Row]:
    """Score, or objective, against the number of features: one row for each number."""
    settings = _settings_from(options)
    table = _read(file, options, quiet)
    return (_sieve_path if settings.method == SIEVE else _budget_path)(table, settings, quiet)


def _settings_from(options: dict[str, Any]) -> Settings:
    """Options of a model, with a measure that the library knows."""
    settings = Settings(**_known(options, Settings))
    if len(check_measures(settings.measure)) > 1:
        raise WrongUse(
            f"--measure {settings.measure}: a model is fitted for one measure; give one."
        )
    return settings


def _read(file: str, options: dict[str, Any], quiet: bool) -> Table:
    with progress_of_reading(file, quiet) as watch:
        return read_training(file, Choices(**_known(options, Choices)), watch)


def _known(options: dict[str, Any], form: type[Any]) -> dict[str, Any]:
    return {part.name: options[part.name] for part in fields(form) if part.name in options}


def check_measures(names: str) -> list[str]:
    """Names with commas, each of which the library knows."""
    found = [name.strip() for name in names.split(",")]
    for name in found:
        try:
            get_measure(name)
        except (ValueError, TypeError) as error:
            raise WrongUse(f"--measure {name}: {one_line(error)}") from error
    return found


def make_model(settings: Settings, positive: Any, of_bags: bool = False) -> Any:
    """The estimator of rows, or of bags, not fitted."""
    number = "n_instances_to_select" if of_bags else "n_features_to_select"
    if settings.method == SIEVE:
        # The package loads its part for bags when it is asked for.
        sieve: Any = scoresieve.mil.BagScoreSieve if of_bags else ScoreSieve
        return sieve(**_sieve_arguments(settings, positive, number))
    arguments = _single_arguments(settings, number)
    if settings.method == MEASURE:
        bounded: Any = scoresieve.mil.BagMeasureSVC if of_bags else MeasureSVC
        return bounded(settings.measure, pos_label=positive, **arguments)
    return BudgetClassifier(settings.loss, **arguments)


def _sieve_arguments(settings: Settings, positive: Any, number: str) -> dict[str, Any]:
    if settings.budget is not None:
        raise WrongUse(
            f"--budget {settings.budget} needs --method measure or a loss; the sieve takes -k."
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
            f"--cv {settings.cv} is for --method sieve; {method} chooses nothing. Leave it out."
        )
    if settings.C is not None and len(settings.C) > 1:
        raise WrongUse(f"-C has {len(settings.C)} values, but {method} fits one model; give one.")
    if (settings.budget is None) == (not settings.k) or len(settings.k or ()) > 1:
        raise WrongUse(f"{method} needs one number of features (-k 10) or budget (--budget 50).")
    return {
        number: settings.k[0] if settings.k else None,
        "budget": settings.budget,
        "max_time": settings.max_time,
        "n_jobs": settings.jobs,
        **({} if settings.C is None else {"C": settings.C[0]}),
    }


def _sieve_path(table: Table, settings: Settings, quiet: bool) -> list[Row]:
    """The setting that a choice among those of each size takes, and the size that is chosen."""
    model = make_model(settings, table.positive)
    with progress_of_fit(model, quiet), naming(table.file):
        model.fit(table.X, table.y)
    of_classes: list[Row] = [{}]
    tables, chosen = [model.cv_results_], [model.best_params_]
    if isinstance(chosen[0], list):  # more than two classes, each with a choice of its own
        of_classes = [{"class": text_of(label)} for label in model.classes_]
        (tables,), (chosen,) = tables, chosen
    rows = []
    for of_class, results, best in zip(of_classes, tables, chosen, strict=True):
        curve = feature_curve(results, results["params"].index(best))
        for place, row in enumerate(curve.rows):
            point = results["params"][row]
            rows.append(
                {
                    **of_class,
                    "k": int(curve.sizes[place]),
                    model.measure_.name: float(curve.scores[place]),
                    "standard error": float(curve.errors[place]),
                    "columns by": point["selection"],
                    "model": point["final_model"],
                    "chosen": "*" if place == curve.chosen else "",
                }
            )
    return rows


def _budget_path(table: Table, settings: Settings, quiet: bool) -> list[Row]:
    """Objective, bound and gap of each budget."""
    if settings.cv is not None:
        raise WrongUse(f"--cv {settings.cv} is for --method sieve; leave it out.")
    if not settings.k:
        raise WrongUse("-k auto is for --method sieve; list the budgets, such as -k 5,10,20.")
    if settings.C is not None and len(settings.C) > 1:
        raise WrongUse(f"-C has {len(settings.C)} values; give one, for all budgets.")
    is_measure = settings.method == MEASURE
    with progress_of_fit(None, quiet), naming(table.file):
        found = budget_path(
            table.X,
            table.y,
            settings.k,
            measure=settings.measure if is_measure else None,
            loss=None if is_measure else settings.loss,
            C=None if settings.C is None else settings.C[0],
            pos_label=table.positive,
            max_time=settings.max_time,
        )
    columns = {
        "budget": found.budgets,
        "features": found.n_features_selected,
        "objective": found.primal,
        "lower bound": found.dual,
        "gap": found.gap,
        "rounds": found.n_iter,
    }
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]
