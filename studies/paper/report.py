"""The page of results: for each experiment its claims with their verdicts, figures and tables.

Each experiment returns a :class:`Section`. Its claims, tables and figures are kept as JSON, and the
page is put together from those of all experiments that have been run into the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies.common.figures import Panels
from studies.common.storing import versions, write_text
from studies.common.tables import Table
from studies.paper.claims import FAILS, HOLDS, OPEN, PARTLY, Claim, verdict
from studies.paper.context import Context

#: Lines of a table that the page shows unfolded.
LONGEST = 20
HEAD = """# The paper's experiments, rerun

Made by `python -m studies.paper all`; do not edit. Every row sets a claim of Mao and Tsang ("A
feature selection method for multivariate performance measures", IEEE TPAMI 2013) beside ours.
The verdict is computed from the table named in the row and says no more than that table: a claim
holds where all of the settings that it speaks of agree, and partly where at least half of them do.
"""
QUICK = """
**Quick form**: a few classes and budgets{data}. It shows that the programs run; its verdicts mean
nothing.
"""
STANDS_IN = """
How we ran it: FSMulti is the paper's problem at the paper's C without an intercept, solved by this
package's bundle method to a certified relative gap of 10 %, the paper's tolerance. The two-layer
algorithm itself, which has the same optimum, is run on the images, for the training times, and
where scores stand against the number of features. The paper's Sector could not be had: Reuters-120
(50 classes with at least 15 training examples) and the 12 top classes of Sector stand in. The URL
set is a subset with 6,664 rows. Numbers of the paper are those of its text and its one table; its
figures are not available as numbers.
"""


@dataclass
class Section:
    """What an experiment has to show.

    Attributes
    ----------
    title : str
    claims : list of Claim
    tables : list of Table
    figures : list of (name, caption, Panels)
    notes : list of str
    """

    title: str
    claims: list[Claim] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[tuple[str, str, Panels]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def write_section(context: Context, name: str, section: Section, seconds: float) -> None:
    """Write the tables and figures of a section, and what the page needs of it.

    Parameters
    ----------
    context : Context
    name : str
        Of the experiment.
    section : Section
    seconds : float
        Seconds of all its units together.
    """
    for table in section.tables:
        table.write(context.out / "tables")
    for figure, _, panels in section.figures:
        panels.write(context.out / "figures", figure)
    content = {
        "title": section.title,
        "claims": [claim.stored() for claim in section.claims],
        "tables": [[table.name, table.caption, table.markdown()] for table in section.tables],
        "figures": [[figure, caption] for figure, caption, _ in section.figures],
        "notes": section.notes,
        "minutes": round(seconds / 60.0, 1),
        "versions": versions(),
    }
    write_text(context.out / "raw" / f"{name}.section.json", json.dumps(content, indent=1) + "\n")


def write_page(context: Context, names: Sequence[str]) -> Path:
    """``README.md`` of the results, from the sections that there are.

    Parameters
    ----------
    context : Context
    names : sequence of str
        Experiments in the order of the page.
    """
    text = [HEAD, STANDS_IN]
    if context.quick or context.generated:
        text.append(QUICK.format(data=", generated data" if context.generated else ""))
    found = {}
    for name in names:
        path = context.out / "raw" / f"{name}.section.json"
        if path.is_file():
            found[name] = json.loads(path.read_text(encoding="utf-8"))
    text.append(_summary(found))
    text += [_section_text(name, content) for name, content in found.items()]
    missing = [name for name in names if name not in found]
    if missing:
        text.append(f"Not run yet: {', '.join(missing)}.\n")
    page = context.out / "README.md"
    write_text(page, "\n".join(text))
    return page


def verdict_of(stored: dict[str, Any]) -> str:
    """By the rule of today, also for sections that an earlier version has stored."""
    return verdict(stored["n_agree"], stored["n_settings"])


def _summary(found: dict[str, Any]) -> str:
    """How often each verdict was given."""
    verdicts = [verdict_of(claim) for content in found.values() for claim in content["claims"]]
    counts = [f"{verdicts.count(each)} {each}" for each in (HOLDS, PARTLY, FAILS, OPEN)]
    return f"{len(verdicts)} claims: {', '.join(counts)}.\n"


def _section_text(name: str, content: dict[str, Any]) -> str:
    """One experiment: claims, figures, tables, notes."""
    head = ("the paper says", "its number", "here", "verdict", "why")
    rows = [
        (claim["text"], claim["paper"], claim["ours"], f"**{verdict_of(claim)}**", claim["reason"])
        for claim in content["claims"]
    ]
    parts = [f"## {content['title']}\n", f"`python -m studies.paper {name}`\n"]
    if rows:
        parts.append(Table("claims", "", head, rows, n_left=5).markdown())
    for figure, caption in content["figures"]:
        parts.append(f"![{caption}](figures/{figure}.png)\n\n{caption}\n")
    for table, caption, markdown in content["tables"]:
        text = f"{caption} ([CSV](tables/{table}.csv))"
        long = markdown.count("\n") > LONGEST
        folded = f"<details><summary>{caption}</summary>\n\n{text}\n\n{markdown}\n</details>\n"
        parts.append(folded if long else f"{text}\n\n{markdown}")
    listed = ", ".join(f"{key} {value}" for key, value in content["versions"].items())
    notes = [*content["notes"], f"Computing time {content['minutes']} min on one core; {listed}."]
    parts.append("\n".join(f"* {note}" for note in notes) + "\n")
    return "\n".join(parts)
