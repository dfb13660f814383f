"""A summary as an HTML fragment for notebooks, in the colours of the page around it."""

from __future__ import annotations

from html import escape
from typing import Any

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


def summary_table(summary: Any) -> str:
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


def _part(part: Any, max_features: int) -> str:
    """Facts, then features with their weights as bars."""
    facts = "".join(
        f'<tr><th scope="row">{escape(fact.name.replace("_", " "))}</th>'
        f"<td>{escape(fact.sentence)}</td></tr>"
        for fact in part.facts
    )
    largest = max((abs(each.weight) for each in part.weights), default=0.0) or 1.0
    rows = "".join(_row(each, largest) for each in part.weights[:max_features])
    rest = escape(part.rest(max_features))
    return (
        f"<table><caption>{escape(part.heading)}</caption><tbody>{facts}</tbody></table>"
        f"<table><caption>Weights for {escape(part.title)}</caption><thead><tr>"
        f'<th scope="col">{escape(part.noun[:-1])}</th>'
        f'<th scope="col">weight</th><th scope="col" aria-hidden="true"></th></tr></thead>'
        f"<tbody>{rows}</tbody></table>" + (f"<p>{rest}</p>" if rest else "")
    )


def _row(each: Any, largest: float) -> str:
    side = "for" if each.weight >= 0 else "against"
    width = 100.0 * abs(each.weight) / largest
    return (
        f'<tr><th scope="row">{escape(each.name)}</th><td class="weight">{each.weight:+.4g}</td>'
        f'<td class="bar" aria-hidden="true"><span class="{side}" style="width:{width:.1f}%">'
        "</span></td></tr>"
    )
