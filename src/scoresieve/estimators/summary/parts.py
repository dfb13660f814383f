"""``Summary``: what a fitted model is, as text, as a table for a notebook, and as plain data."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from scoresieve.estimators.summary.table import summary_table

#: Width of the text, and where the sentences begin.
WIDTH, INDENT = 100, 13
#: Features with a line of their own, unless the caller says otherwise.
MAX_FEATURES = 50


class Fact(NamedTuple):
    """One thing that is known of a model: a sentence for people, and its numbers by name."""

    name: str
    sentence: str
    values: dict[str, Any] = {}  # noqa: RUF012 (never changed)


class Weight(NamedTuple):
    """The weight of a selected feature; a positive one speaks for the class."""

    name: str
    weight: float


@dataclass(frozen=True)
class Part:
    """The model of one class, or of one budget.

    Attributes
    ----------
    title : str
        What it is about: "class 'rare'".
    label : object
        The class as plain data, the budget, or None for a regression.
    weights : tuple of Weight
        The largest first.
    n_columns : int or None
        How many there were to select from; None if that is not known.
    noun : str
        What is selected: "features" or "instances".
    facts : tuple of Fact
    """

    title: str
    label: Any
    weights: tuple[Weight, ...]
    n_columns: int | None
    noun: str
    facts: tuple[Fact, ...]

    @property
    def heading(self) -> str:
        """Title and number of features."""
        n = len(self.weights)
        noun = self.noun[:-1] if n == 1 and self.n_columns is None else self.noun
        return (
            f"{self.title}: {n} {'' if self.n_columns is None else f'of {self.n_columns} '}{noun}"
        )

    def rest(self, max_features: int) -> str:
        """A sentence about the features that have no line of their own; empty if all have."""
        n_left = len(self.weights) - max_features
        if n_left <= 0:
            return ""
        largest = abs(self.weights[max_features].weight)
        return f"and {n_left} more, with weights of at most {largest:.4g}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data; numbers that are not known are None."""
        return {
            "title": self.title,
            "label": self.label,
            "n_selected": len(self.weights),
            "n_columns": self.n_columns,
            self.noun: [each._asdict() for each in self.weights],
            **{
                fact.name: {"sentence": fact.sentence}
                | {name: _known(value) for name, value in fact.values.items()}
                for fact in self.facts
            },
        }


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


@dataclass(frozen=True)
class Summary:
    """A fitted model: ``str()`` is text, a notebook shows a table, ``as_dict()`` is for machines.

    Attributes
    ----------
    title : str
        The class of the model, and what it was trained for.
    parts : tuple of Part
        One for each class, or for each budget of a path.
    max_features : int
        How many features of each part the text and the table list.
    """

    title: str
    parts: tuple[Part, ...]
    max_features: int = field(default=MAX_FEATURES, compare=False)

    def __str__(self) -> str:
        paragraphs = [_paragraph(part, self.max_features) for part in self.parts]
        return "\n\n".join([self.title, *paragraphs])

    def _repr_html_(self) -> str:
        return summary_table(self)

    def as_dict(self) -> dict[str, Any]:
        """Plain data of dicts, lists, text and numbers, with every feature."""
        return {"title": self.title, "parts": [part.as_dict() for part in self.parts]}


def _paragraph(part: Part, max_features: int) -> str:
    """The text of one part."""
    lines = [part.heading]
    for fact in part.facts:
        lines += textwrap.wrap(
            fact.sentence,
            WIDTH,
            initial_indent=f"{fact.name.replace('_', ' '):<{INDENT}}",
            subsequent_indent=INDENT * " ",
        )
    lines += [f"{each.weight:+10.4g}  {each.name}" for each in part.weights[:max_features]]
    rest = part.rest(max_features)
    return "\n".join([*lines, f"{INDENT * ' '}{rest}"] if rest else lines)
