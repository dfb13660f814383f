"""Options that several commands share, and the forms of their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import click

#: Offered by shell completion; ``--measure`` takes every name that the library knows.
MEASURES = (
    *("f1", "f2", "f0.5", "prec@100", "prec@1%", "rec@2p", "prbep", "roc_auc"),
    "average_precision",
    *("accuracy", "balanced_accuracy", "jaccard", "mcc", "gmean"),
    *("precision@recall>=0.8", "recall@precision>=0.9"),
)
METHODS = ("sieve", "measure", "squared-hinge", "hinge", "logistic", "huber-hinge")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def examples(*lines: str) -> str:
    """A part of the help that is shown as it stands."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class ExamplesFirst(click.Command):
    """The help shows examples before the options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Both of them."""
        super().format_epilog(ctx, formatter)
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Nothing more at the end."""


def command(*lines: str, name: str | None = None) -> Callable[[Callable[..., Any]], ExamplesFirst]:
    """A command with these examples; by default it is named after its function."""
    return click.command(name, cls=ExamplesFirst, epilog=examples(*lines))


def usual_measures(context: Any, parameter: Any, incomplete: str) -> list[str]:
    """What shell completion offers."""
    return [name for name in MEASURES if name.startswith(incomplete)]


def _sizes(context: Any, parameter: Any, value: str | None) -> tuple[int, ...] | None:
    """``10``, ``5,10,20`` or ``auto``, which is no number."""
    if value is None or value.strip().lower() == "auto":
        return None if value is None else ()
    sizes = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in sizes):
        raise click.BadParameter(
            f"{value!r} is not a number of features; give one (10), a list (5,10,20), or auto."
        )
    return tuple(sorted({int(part) for part in sizes}))


def _positive_numbers(context: Any, parameter: Any, value: str | None) -> tuple[float, ...] | None:
    """``3`` or ``0.3,1,3``."""
    try:
        numbers = None if value is None else tuple(float(part) for part in value.split(","))
    except ValueError:
        numbers = ()
    if numbers is not None and not (numbers and all(0.0 < each < math.inf for each in numbers)):
        raise click.BadParameter(
            f"{value!r} is not a positive number; give one (3), or a list (1,3,10)."
        )
    return numbers


def all_of(*decorators: Decorator) -> Decorator:
    """Several decorators as one, the first on top."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def sizes_option(about: str | None = None, default: str | None = None) -> Decorator:
    """``-k``, with what is counted."""
    return click.option(
        "-k",
        "k",
        callback=_sizes,
        default=default,
        show_default=True,
        metavar="SIZES",
        help=about,
    )


def method_option(about: str, methods: Sequence[str] = METHODS) -> Decorator:
    """``--method``, with what it changes in a command."""
    return click.option(
        "--method", type=click.Choice(methods), default="sieve", show_default=True, help=about
    )


file_argument = click.argument("file", type=click.Path(allow_dash=True))
model_argument = click.argument("model", type=click.Path())
json_option = click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="No progress on stderr (scripts never get any)."
)
common_options = all_of(json_option, quiet_option, debug_option)

label_option = click.option(
    "--label",
    metavar="NAME",
    help="Column of the labels: its name, or its number from 1. Of npz: an array, or a .npy file. "
    "Default: the column label, target, class or y.",
)
bag_option = click.option(
    "--bag", metavar="NAME", help="Column (of npz: array) with the bag of each row."
)
drop_option = click.option(
    "--drop", multiple=True, metavar="NAME", help="Column to leave out (repeatable)."
)
labelled_options = all_of(label_option, bag_option, common_options)
reading_options = all_of(
    label_option,
    click.option(
        "--positive",
        metavar="LABEL",
        help="Positive class; needed for two names such as spam and ham. Of more than two classes: "
        "this one against the rest.",
    ),
    click.option("--text", multiple=True, metavar="NAME", help="Column of texts (TF-IDF)."),
    click.option("--categorical", multiple=True, metavar="NAME", help="Column of categories."),
    drop_option,
    click.option(
        "--names",
        type=click.Path(),
        metavar="FILE",
        help="Column names of svmlight, npz or row blocks, one a line.",
    ),
    click.option("--unit-rows", is_flag=True, help="Scale rows of svmlight or npz to length 1."),
)
measure_option = click.option(
    "--measure",
    metavar="MEASURE",
    shell_complete=usual_measures,
    default="f1",
    show_default=True,
    help="Score to optimise: f1, prec@100, rec@2p, prbep, roc_auc, mcc, recall@precision>=0.9, ...",
)
solving_options = all_of(
    click.option(
        "-C",
        "C",
        callback=_positive_numbers,
        metavar="NUMBER",
        help="Weight of the loss against regularisation: 3; for the sieve also a list: 1,3,10.",
    ),
    click.option("--cv", type=click.IntRange(min=2), help="Folds of the cross-validation (5)."),
    click.option("--jobs", type=int, help="Parallel processes; -1: all cores."),
    click.option(
        "--max-time", type=click.FloatRange(min=0, min_open=True), help="Time limit in seconds."
    ),
)


def _share_option(name: str, about: str) -> Decorator:
    return click.option(
        name, type=click.FloatRange(min=0, max=1, min_open=True), metavar="SHARE", help=about
    )


def _cost_option(name: str, about: str) -> Decorator:
    return click.option(
        name, type=click.FloatRange(min=0, min_open=True), metavar="NUMBER", help=about
    )


prediction_options = all_of(
    click.option(
        "--top",
        type=click.IntRange(min=1),
        metavar="K",
        help="Only the K highest scores, highest first, with their row numbers from 1.",
    ),
    _share_option("--recall", "Threshold that finds this share of the held-out positives: 0.9."),
    _share_option("--precision", "Threshold at which this share of the alarms is right: 0.8."),
    _share_option("--alarm-rate", "Threshold with alarms for at most this share of rows: 0.01."),
    _cost_option("--cost-of-miss", "With --cost-of-alarm: the threshold with the lowest cost."),
    _cost_option("--cost-of-alarm", "Of one false alarm, in the unit of --cost-of-miss."),
    drop_option,
    click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Default: stdout."),
    common_options,
)
copying_options = all_of(
    click.option(
        "--id",
        "ids",
        multiple=True,
        metavar="NAME",
        help="Column of FILE to put before the predictions (repeatable).",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="NAME",
        help="Column of FILE to put behind the predictions (repeatable).",
    ),
)
fitting_options = all_of(
    reading_options,
    solving_options,
    click.option(
        "-o", "--output", type=click.Path(), metavar="MODEL", help="File to save the model to."
    ),
    click.option("--certificate", is_flag=True, help="Also save what scoresieve certify needs."),
    click.option("--test", type=click.Path(), metavar="FILE", help="Held-out rows to score."),
    common_options,
)
