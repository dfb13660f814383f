"""``python -m studies.mutation.page``: the tables of docs/testing.md, from the stored results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from studies.common.storing import write_text
from studies.common.tables import markdown

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
#: Why no test notices a mutant, by its label: mostly because it does the same as the code.
REASONS = Path(__file__).parent / "reasons.json"
BEGIN, END = "<!-- begin of the tables -->\n", "<!-- end of the tables -->\n"
HEAD = ["group", "mutants", "tried", "killed", "by time", "survived", "killed %"]


def row_of(line: dict[str, Any]) -> list[Any]:
    """A group's numbers."""
    outcomes = line["outcomes"]
    return [
        line["group"],
        *(line["mutants"], line["tried"], outcomes.get("killed", 0), outcomes.get("timeout", 0)),
        *(len(line["survivors"]), line["percent"]),
    ]


def tables_of(results: Path, reasons: dict[str, str]) -> str:
    """The counts, and every survivor with why it survives, where that is known."""
    lines = [json.loads(path.read_text()) for path in sorted(results.glob("*.json"))]
    total = {
        "group": "all",
        **{name: sum(line[name] for line in lines) for name in ("mutants", "tried")},
        "outcomes": {
            name: sum(line["outcomes"].get(name, 0) for line in lines)
            for name in ("killed", "timeout")
        },
        "survivors": [each for line in lines for each in line["survivors"]],
    }
    total["percent"] = round(100 * (1 - len(total["survivors"]) / max(1, total["tried"])), 1)
    text = markdown(HEAD, [row_of(line) for line in (*lines, total)])
    rows = [
        [f"`{each['label']}`".replace("|", "\\|"), reasons.get(each["label"], "")]
        for each in total["survivors"]
    ]
    return f"{text}\n{markdown(['survivor', 'why no test notices it'], rows, n_left=2)}"


def renewed(page: str, tables: str) -> str:
    """The page with other tables between its two marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{tables}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    reasons = json.loads(REASONS.read_text())
    write_text(PAGE, renewed(PAGE.read_text(), tables_of(RESULTS, reasons)))
