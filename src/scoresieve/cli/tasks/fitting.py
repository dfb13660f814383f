"""Read a file, fit a model, keep it, and say what it is: of rows or of bags."""

from __future__ import annotations

from typing import Any

from scoresieve.cli.data.reading import read_training
from scoresieve.cli.data.table import Table
from scoresieve.cli.errors import WrongUse, naming
from scoresieve.cli.output import write, write_json
from scoresieve.cli.progress import progress_of_fit, progress_of_reading
from scoresieve.cli.tasks.bags import bags_of, labels_of
from scoresieve.cli.tasks.choices import choices_from, settings_from
from scoresieve.cli.tasks.describe import as_plain, in_words
from scoresieve.cli.tasks.files import check_output
from scoresieve.cli.tasks.model_file import SavedModel, save_model
from scoresieve.cli.tasks.models import SIEVE, Settings, make_bag_model, make_model
from scoresieve.cli.tasks.predictions import held_out_scores


def fit_file(
    file: str,
    options: dict[str, Any],
    *,
    output: str | None,
    certificate: bool,
    test: str | None,
    as_json: bool,
    quiet: bool,
    of_bags: bool = False,
) -> None:
    """All of ``scoresieve fit`` and ``scoresieve mil fit``.

    Parameters
    ----------
    options : dict
        By name, those of :class:`Settings` and of ``Choices``.
    """
    settings = settings_from(options)
    if certificate and settings.method == SIEVE:
        raise WrongUse("--certificate is for --method measure or a loss; the sieve has none.")
    check_output(output)
    with progress_of_reading(f"reading {file}", quiet) as watch:
        table = read_training(file, choices_from(options), watch)
    model = (_fit_bags if of_bags else _fit_rows)(table, settings, quiet)
    saved = SavedModel(model, table.encoding)
    held_out = {} if test is None else held_out_scores(saved, test)
    if output is not None:
        save_model(output, saved, with_certificate=certificate)
    if as_json:
        write_json({"model": output, "test": held_out or None, **as_plain(saved)})
        return
    write(in_words(saved))
    for name, value in held_out.items():
        write(f"{name} of {test}: {value:.3f}\n")
    write(f"model written to {output}\n" if output else "model not kept; name a file with -o\n")


def _fit_rows(table: Table, settings: Settings, quiet: bool) -> Any:
    model = make_model(settings, table.positive)
    with progress_of_fit(model, "fitting", quiet), naming(table.file):
        return model.fit(table.X, table.y)


def _fit_bags(table: Table, settings: Settings, quiet: bool) -> Any:
    bags, model = bags_of(table), make_bag_model(settings, table.positive)
    y = labels_of(table, bags, table.y)
    with progress_of_fit(model, "fitting", quiet), naming(table.file):
        return model.fit(bags, y)
