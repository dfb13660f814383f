"""``Summary``: what a fitted model is, as text, as a table for a notebook, and as plain data."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from typing import Any, NamedTuple

#: Width of the text, and where the sentences begin.
WIDTH, INDENT = 100, 13
#: Features with a line of their own, by default.
MAX_FEATURES = 50
#: Facts that are told before the features.
LEAD = {"score", "weights"}
#: No colours of its own but those of bars, so that light and dark notebooks both can be read.
STYLE = """\
.scoresieve-summary table {border-collapse: collapse; margin: 0.3em 0 1em}
.scoresieve-summary th, .scoresieve-summary td {padding: 0.15em 0.7em; text-align: left; \
vertical-align: top; max-width: 60em}
.scoresieve-summary caption {text-align: left; font-weight: bold; padding: 0.15em 0.7em}
.scoresieve-summary td.weight {text-align: right; font-variant-numeric: tabular-nums}
.scoresieve-summary td.bar {min-width: 12em}
.scoresieve-summary .for, .scoresieve-summary .against \
{display: inline-block; height: 0.8em; min-width: 1px}
.scoresieve-summary .for {background: #0072b2}
.scoresieve-summary .against {background: #d55e00}
"""


class Fact(NamedTuple):
    """One thing that is known of a model: a sentence for people, and its numbers by name."""

    name: str
    sentence: str
    values: dict[str, Any] = {}  # noqa: RUF012 (never changed)

    @property
    def title(self) -> str:
        """Its name as it is shown."""
        return self.name.replace("_", " ")


class Weight(NamedTuple):
    """The weight of a selected feature; a positive one speaks for the class."""

    name: str
    weight: float
    column: int
    note: str = ""

    @property
    def title(self) -> str:
        """The name, with the note in brackets."""
        return f"{self.name} ({self.note})" if self.note else self.name


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
    nouns : tuple of str
        What is selected, and on what: "features" and "rows", or "instances" and "bags".
    facts : tuple of Fact
    """

    title: str
    label: Any
    weights: tuple[Weight, ...]
    n_columns: int | None
    nouns: tuple[str, str]
    facts: tuple[Fact, ...]

    @property
    def lead(self) -> list[Fact]:
        """The facts that are told before the features; the weights of none need no word."""
        shown = LEAD if self.weights else LEAD - {"weights"}
        return [fact for fact in self.facts if fact.name in shown]

    @property
    def details(self) -> list[Fact]:
        """The facts that are told after the features."""
        return [fact for fact in self.facts if fact.name not in LEAD]

    @property
    def heading(self) -> str:
        """Title and number of features."""
        n = len(self.weights)
        noun = self.nouns[0][:-1] if n == 1 and self.n_columns is None else self.nouns[0]
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
        noun, _ = self.nouns
        return {
            "title": self.title,
            "label": self.label,
            "n_selected": len(self.weights),
            "n_columns": self.n_columns,
            noun: [{"name": each.name, "weight": each.weight} for each in self.weights],
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
    """The text of one part: its score, its features, and what else is known."""
    lines = [part.heading]
    for fact in part.lead:
        lines += _wrapped(fact)
    lines += [f"{each.weight:+10.4g}  {each.title}" for each in part.weights[:max_features]]
    rest = part.rest(max_features)
    lines += [f"{INDENT * ' '}{rest}"] if rest else []
    for fact in part.details:
        lines += _wrapped(fact)
    return "\n".join(lines)


def _wrapped(fact: Fact) -> list[str]:
    return textwrap.wrap(
        fact.sentence,
        WIDTH,
        initial_indent=f"{fact.title:<{INDENT}}",
        subsequent_indent=INDENT * " ",
        break_on_hyphens=False,
    )


def summary_table(summary: Summary) -> str:
    """The fragment.

    Parameters
    ----------
    summary : Summary
    """
    parts = "".join(_part(part, summary.max_features) for part in summary.parts)
    return (
        f'<div class="scoresieve-summary"><style>{STYLE}</style>'
        f"<p><strong>{escape(summary.title)}</strong></p>{parts}</div>"
    )


def _part(part: Part, max_features: int) -> str:
    """Facts, then features with their weights as bars."""
    largest = max((abs(each.weight) for each in part.weights), default=0.0) or 1.0
    rows = "".join(_row(each, largest) for each in part.weights[:max_features])
    rest = escape(part.rest(max_features))
    return (
        f"<table><caption>{escape(part.heading)}</caption>{_facts(part.lead)}</table>"
        f"<table><caption>Weights for {escape(part.title)}</caption><thead><tr>"
        f'<th scope="col">{escape(part.nouns[0][:-1])}</th>'
        f'<th scope="col">weight</th><th scope="col" aria-hidden="true"></th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
        + (f"<p>{rest}</p>" if rest else "")
        + f"<table>{_facts(part.details)}</table>"
    )


def _facts(facts: list[Fact]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(fact.title)}</th><td>{escape(fact.sentence)}</td></tr>'
        for fact in facts
    )
    return f"<tbody>{rows}</tbody>"


def _row(each: Weight, largest: float) -> str:
    side = "for" if each.weight >= 0 else "against"
    width = 100.0 * abs(each.weight) / largest
    return (
        f'<tr><th scope="row">{escape(each.title)}</th><td class="weight">{each.weight:+.4g}</td>'
        f'<td class="bar" aria-hidden="true"><span class="{side}" style="width:{width:.1f}%">'
        "</span></td></tr>"
    )
