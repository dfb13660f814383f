"""Options that several commands share, and the forms of their values."""

from __future__ import annotations

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


class Sizes(click.ParamType):
    """``10``, ``5,10,20`` or ``auto``."""

    name = "sizes"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """Numbers of features; none for auto."""
        if not isinstance(value, str):
            return value
        if value.strip().lower() == "auto":
            return ()
        sizes = [part.strip() for part in value.split(",")]
        if not all(part.isdecimal() and int(part) > 0 for part in sizes):
            self.fail(f"{value!r} must be a number such as 10, a list such as 5,10,20, or auto.")
        return tuple(sorted({int(part) for part in sizes}))


class Reals(click.ParamType):
    """``3`` or ``0.3,1,3``: positive numbers."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        """The numbers."""
        if not isinstance(value, str):
            return value
        try:
            numbers = tuple(float(part) for part in value.split(","))
        except ValueError:
            numbers = ()
        if not numbers or not all(0.0 < number < float("inf") for number in numbers):
            self.fail(f"{value!r} must be a positive number such as 3, or a list such as 1,3,10.")
        return numbers


class MeasureName(click.ParamType):
    """The name of a measure, or several with commas."""

    name = "measure"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[Any]:
        """Usual names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in MEASURES if name.startswith(incomplete)]


def all_of(*decorators: Decorator) -> Decorator:
    """Several decorators as one, the first on top."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


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
bag_option = click.option(
    "--bag", metavar="NAME", help="Column with the bag of each row; for npz the array."
)
labelled_options = all_of(label_option, bag_option, common_options)
measure_option = click.option(
    "--measure",
    type=MeasureName(),
    default="f1",
    show_default=True,
    help="What to optimise: f1, prec@100, rec@2p, prbep, roc_auc, mcc, recall@precision>=0.9, ...",
)


def method_option(about: str, methods: Sequence[str] = METHODS) -> Decorator:
    """``--method``, with what it changes in a command."""
    return click.option(
        "--method", type=click.Choice(methods), default="sieve", show_default=True, help=about
    )


solving_options = all_of(
    click.option(
        "-C",
        "C",
        type=Reals(),
        metavar="NUMBER",
        help="Weight of the loss; a list to choose from for the sieve.",
    ),
    click.option("--cv", type=click.IntRange(min=2), help="Parts of the cross-fitting, 5."),
    click.option("--jobs", type=int, help="Processes; -1 for all cores."),
    click.option("--max-time", type=click.FloatRange(min=0, min_open=True), help="Seconds."),
)
#: Options of a fit that are neither about the file nor about the model.
FITTING = ("output", "certificate", "test", "as_json", "quiet")
fitting_options = all_of(
    click.option(
        "-o", "--output", type=click.Path(), metavar="MODEL", help="Where to keep the model."
    ),
    click.option("--certificate", is_flag=True, help="Keep in the model what certify needs."),
    click.option("--test", type=click.Path(), metavar="FILE", help="Held-out data to score."),
    common_options,
)
