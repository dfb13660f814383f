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
LEAD = {"score", "baseline", "weights"}
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

    def values(self, name: str) -> dict[str, Any]:
        """The numbers of a fact; empty if the part has none of that name."""
        return next((fact.values for fact in self.facts if fact.name == name), {})

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
    overview : Overview or None
        Of several classes: text and table show it instead of the parts.
    """

    title: str
    parts: tuple[Part, ...]
    max_features: int = field(default=MAX_FEATURES, compare=False)
    overview: Overview | None = None

    def __str__(self) -> str:
        if self.overview is not None:
            return "\n\n".join([self.title, self.overview.text()])
        paragraphs = [_paragraph(part, self.max_features) for part in self.parts]
        return "\n\n".join([self.title, *paragraphs])

    def _repr_html_(self) -> str:
        return summary_table(self)

    def as_dict(self) -> dict[str, Any]:
        """Plain data of dicts, lists, text and numbers, with every feature of every class."""
        overview = {} if self.overview is None else {"overview": self.overview.as_dict()}
        return {
            "title": self.title,
            **overview,
            "parts": [part.as_dict() for part in self.parts],
        }


#: Columns of the table of classes: the heading, and the name in plain data.
COLUMNS = {
    "class": "label",
    "features": "n_selected",
    "score": "score",
    "std error": "standard_error",
    "baseline": "baseline",
    "threshold": "threshold",
}


@dataclass(frozen=True)
class Overview:
    """Several classes: what is common to them, and a row of numbers for each.

    Attributes
    ----------
    facts : tuple of Fact
        About all classes.
    rows : tuple of dict
        For each class ``label``, ``n_selected``, ``score``, ``standard_error``, ``baseline`` and
        ``threshold``; None where that is not known.
    details : str
        How to see more of one class.
    """

    facts: tuple[Fact, ...]
    rows: tuple[dict[str, Any], ...]
    details: str = field(compare=False)

    @property
    def columns(self) -> dict[str, list[str]]:
        """The cells of the table by heading; columns of which nothing is known are left out."""
        return {
            heading: [_cell(row[name]) for row in self.rows]
            for heading, name in COLUMNS.items()
            if any(row[name] is not None for row in self.rows)
        }

    def text(self) -> str:
        """Facts, the table, and how to see more."""
        lines = [line for fact in self.facts for line in _wrapped(fact)]
        cells = [[heading, *column] for heading, column in self.columns.items()]
        widths = [max(map(len, column)) for column in cells]
        lines.append("")
        for label, *numbers in zip(*cells, strict=True):
            others = (f"{cell:>{n}}" for cell, n in zip(numbers, widths[1:], strict=True))
            lines.append("  ".join([f"{label:<{widths[0]}}", *others]))
        return "\n".join([*lines, "", *_wrapped(Fact("details", self.details))])

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        facts = {
            fact.name: {"sentence": fact.sentence}
            | {name: _known(value) for name, value in fact.values.items()}
            for fact in self.facts
        }
        return {**facts, "classes": list(self.rows)}


def overview_of(parts: tuple[Part, ...], details: str) -> Overview:
    """The overview of the parts of several classes.

    Parameters
    ----------
    details : str
        How to see more of one class.
    """
    rows = tuple(_row_of_class(part) for part in parts)
    noun, kind, about = *parts[0].nouns, parts[0].values("score")
    n_all = len({each.column for part in parts for each in part.weights})
    of = "" if parts[0].n_columns is None else f" of {parts[0].n_columns}"
    where = f"held-out {kind}" if about["rows"] == "held-out" else f"training {kind} (optimistic)"
    score, n = _mean(rows, "score")
    facts = [
        Fact(noun, f"{n_all}{of} for {len(parts)} classes", {"n_selected": n_all}),
        Fact(
            "score",
            f"{about['measure']} {score:.3f}, the mean over {n} classes, each against the rest, on "
            f"{where}",
            {"score": score, "measure": about["measure"], "rows": about["rows"]},
        ),
        *_baseline_of(parts, rows),
        Fact("threshold", parts[0].values("threshold")["rule"]),
    ]
    return Overview(tuple(facts), rows, details)


def _row_of_class(part: Part) -> dict[str, Any]:
    score, threshold = part.values("score"), part.values("threshold")
    shift = threshold.get("shift")
    return {
        "label": part.label,
        "n_selected": len(part.weights),
        "score": _known(score.get("score")),
        "standard_error": _known(score.get("standard_error")),
        "baseline": _known(part.values("baseline").get("score")),
        "threshold": threshold.get("probability", None if shift is None else 0.0 - shift),
    }


def _baseline_of(parts: tuple[Part, ...], rows: tuple[dict[str, Any], ...]) -> list[Fact]:
    """The mean score of constants, and the classes that are no better; empty if not known."""
    known = [part for part in parts if part.values("baseline")]
    if not known:
        return []
    score, n = _mean(rows, "baseline")
    hopeless = [p.label for p in known if not p.values("baseline")["is_beaten"]]
    sentence = f"{score:.3f}, the mean over {n} classes for the best constant prediction of each"
    if hopeless:
        names = ", ".join(map(repr, hopeless[:10]))
        more = f" and {len(hopeless) - 10} more" if len(hopeless) > 10 else ""
        sentence += f"; no better than a constant: class {names}{more}"
    return [Fact("baseline", sentence, {"score": score, "not_beaten_by": hopeless})]


def _mean(rows: tuple[dict[str, Any], ...], name: str) -> tuple[float, int]:
    """The mean of what is known, and of how many classes that is."""
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) / max(1, len(known)), len(known)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "-" if value is None else str(value)


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
    if summary.overview is not None:
        parts = _overview(summary.overview)
    else:
        parts = "".join(_part(part, summary.max_features) for part in summary.parts)
    return (
        f'<div class="scoresieve-summary"><style>{STYLE}</style>'
        f"<p><strong>{escape(summary.title)}</strong></p>{parts}</div>"
    )


def _overview(overview: Overview) -> str:
    """Facts, then a row for each class."""
    columns = overview.columns
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(f'<td class="weight">{escape(cell)}</td>' for cell in cells)
        + "</tr>"
        for label, *cells in zip(*columns.values(), strict=True)
    )
    return (
        f"<table>{_facts(list(overview.facts))}</table><table><caption>Each class</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p>{escape(overview.details)}</p>"
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
