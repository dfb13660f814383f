"""Tables beside the scores: claims, stability, recovery, times, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.common.limits import tally
from studies.common.tables import print_note, print_table
from studies.quality.arena.claims import Claim, is_outsider, recovery
from studies.quality.arena.layout import heading, show_grid
from studies.quality.arena.methods import METHODS


def show_stability(rows: list[dict[str, Any]]) -> None:
    """Means over the tasks."""
    found = [row for row in rows if row["kind"] == "stability"]
    if not found:
        return
    ks = sorted({row["k"] for row in found})
    n_tasks = len({(row["set"], row["class"]) for row in found})
    heading(f"Stability over five half-samples, mean over {n_tasks} tasks (Jaccard / Kuncheva)")
    lines = []
    for method in dict.fromkeys(row["method"] for row in found):
        line: list[Any] = [method]
        for k in ks:
            mine = [row for row in found if row["method"] == method and row["k"] == k]
            means = [np.mean([row[name] for row in mine]) for name in ("jaccard", "kuncheva")]
            line.append(f"{means[0]:.2f} / {means[1]:.2f}" if mine else None)
        lines.append(line)
    print_table(["method", *(f"k = {k}" for k in ks)], lines)


def show_times(rows: list[dict[str, Any]]) -> None:
    """Medians over the tasks of each set: one selection, and all that a cell needed."""
    cells = [row for row in rows if row["kind"] == "cell" and row["target"] == "f1"]
    sets = list(dict.fromkeys(row["set"] for row in cells))
    heading("Seconds of one core, medians: one selection / all for one k (parts, refits)")
    lines = []
    for method in dict.fromkeys(row["method"] for row in cells):
        line: list[Any] = [method]
        for name in sets:
            mine = [row for row in cells if (row["method"], row["set"]) == (method, name)]
            one = [row["select_s"] for row in mine]
            whole = [row["parts_s"] / row["ks_at_once"] + row["refit_s"] for row in mine]
            line.append(f"{np.median(one):.2f} / {np.median(whole):.1f}" if mine else None)
        lines.append(line)
    print_table(["method", *sets], lines)
    at_once = [name for name in dict.fromkeys(r["method"] for r in cells) if METHODS[name].one_run]
    print_note(f"One run gives all k for {', '.join(at_once)}.")


def show_recovery(rows: list[dict[str, Any]]) -> None:
    """True columns found on the generated data."""
    found = [row for row in rows if "recovered" in row]
    if not found:
        return
    ks = sorted({row["k"] for row in found})
    methods = list(dict.fromkeys(row["method"] for row in found))
    show_grid(
        "Generated data: share of the true columns, in percent, mean over the levels of noise",
        methods,
        [f"k = {k}" for k in ks],
        lambda method, i: recovery(found, method, ks[i]),
    )


def show_claims(claims: Sequence[Claim], reference: str) -> None:
    """Claims and verdicts."""
    heading(f"Claims, for {reference}")
    lines = [[claim.text, claim.found, claim.verdict] for claim in claims]
    print_table(["claim", "found", "verdict"], lines, n_left=3)


def show_troubles(rows: list[dict[str, Any]]) -> None:
    """Fits that ended at a limit, and failures."""
    fits: dict[str, list[str | None]] = {}
    for row in rows:
        if row["kind"] == "cell":
            fits.setdefault(row["method"], []).append(row["limit"])
    ended = {name: limits for name, limits in fits.items() if any(limits)}
    told = "; ".join(f"{name} {tally(limits)}" for name, limits in ended.items())
    print_note(f"Cells whose selection ended at a limit: {told or 'none'}.")
    for row in rows:
        if row["kind"] == "failure":
            last = row["text"].strip().splitlines()[-1]
            print_note(f"Failed: {row['method']} on {row['set']} {row['class']}: {last}")


def show_side_tables(rows: list[dict[str, Any]]) -> None:
    """All of them but the claims."""
    show_stability(rows)
    show_recovery(rows)
    show_times(rows)
    show_troubles(rows)
    names = [name for name in METHODS if is_outsider(name)]
    print_note(f"Outsiders: {', '.join(names)}.")
