"""Options that several commands share, and the forms of their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import click

#: Offered by shell completion; ``--measure`` takes every name that the library knows.
MEASURES = (
    *("f1", "f2", "f0.5", "prec@100", "rec@2p", "prbep", "roc_auc", "average_precision"),
    *("accuracy", "balanced_accuracy", "jaccard", "mcc", "gmean"),
    *("precision@recall>=0.8", "recall@precision>=0.9"),
)
METHODS = ("sieve", "measure", "squared-hinge", "hinge", "logistic", "huber-hinge")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def examples(*lines: str) -> str:
    """An epilog that is shown as it stands."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


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
            f"{value!r} must be a number such as 10, a list such as 5,10,20, or auto."
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
            f"{value!r} must be a positive number such as 3, or a list such as 1,3,10."
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
    "-q", "--quiet", is_flag=True, help="No progress on stderr; scripts see none anyway."
)
common_options = all_of(json_option, quiet_option, debug_option)

label_option = click.option(
    "--label",
    metavar="NAME",
    help="Column of the labels, by name or by number from 1 on; for npz the name of the array, or "
    "a .npy file. By default one called label, target, class or y.",
)
bag_option = click.option(
    "--bag", metavar="NAME", help="Column with the bag of each row; for npz the array."
)
labelled_options = all_of(label_option, bag_option, common_options)
reading_options = all_of(
    label_option,
    click.option(
        "--positive",
        metavar="LABEL",
        help="The positive class; of more than two, this one against the rest.",
    ),
    click.option("--text", multiple=True, metavar="NAME", help="A column of texts (TF-IDF)."),
    click.option(
        "--categorical", multiple=True, metavar="NAME", help="A column of categories (one-hot)."
    ),
    click.option("--drop", multiple=True, metavar="NAME", help="A column to leave out."),
    click.option(
        "--names",
        type=click.Path(),
        metavar="FILE",
        help="Names of the columns of svmlight, npz or row blocks, one in each line.",
    ),
    click.option(
        "--unit-rows", is_flag=True, help="Divide rows of svmlight or npz by their length."
    ),
)
measure_option = click.option(
    "--measure",
    metavar="MEASURE",
    shell_complete=usual_measures,
    default="f1",
    show_default=True,
    help="What to optimise: f1, prec@100, rec@2p, prbep, roc_auc, mcc, recall@precision>=0.9, ...",
)
solving_options = all_of(
    click.option(
        "-C",
        "C",
        callback=_positive_numbers,
        metavar="NUMBER",
        help="Weight of the loss; a list to choose from for the sieve.",
    ),
    click.option("--cv", type=click.IntRange(min=2), help="Parts of the cross-fitting, 5."),
    click.option("--jobs", type=int, help="Processes; -1 for all cores."),
    click.option("--max-time", type=click.FloatRange(min=0, min_open=True), help="Seconds."),
)
prediction_options = all_of(
    click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Instead of stdout."),
    common_options,
)
fitting_options = all_of(
    reading_options,
    solving_options,
    click.option(
        "-o", "--output", type=click.Path(), metavar="MODEL", help="Where to keep the model."
    ),
    click.option("--certificate", is_flag=True, help="Keep in the model what certify needs."),
    click.option("--test", type=click.Path(), metavar="FILE", help="Held-out data to score."),
    common_options,
)
