"""Which features FSMulti for accuracy selects as B grows, and how far the sets are nested.

``nested = |S_B & S_B'| / |S_B|`` for each budget B and the next one B': 1 everywhere is monotonic
selection. Every budget is fitted from nothing and to a small gap, as a fit that starts from
another's features would share them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap

from studies.common.figures import COLOURS, Panels
from studies.common.limits import MARK, limit_note, marked
from studies.common.tables import Table, number
from studies.paper.accuracy_features import BUDGETS, C_PAPER, QUICK_BUDGETS, TITLES
from studies.paper.claims import Claim, count, judged
from studies.paper.context import Context, Unit
from studies.paper.data import load
from studies.paper.methods import fs_multi
from studies.paper.report import Section
from studies.paper.runner import Results, found_sets

DATASETS = ("news20_binary", "url")
TOL, MAX_ITER = 0.02, 300


def fit(context: Context, *, data: str, budget: int, **settings: Any) -> dict[str, Any]:
    """The features at one budget."""
    split = load(context, data)
    (row,) = fs_multi(
        split, 1, measure="accuracy", budgets=[budget], scored=[], supports=True, **settings
    )
    return row


TASKS = {"fit": fit}


def plan(context: Context, available: list[str]) -> list[Unit]:
    """One unit for each data set and budget."""
    return [
        Unit(
            "fit",
            {"data": data, "budget": budget, "c": C_PAPER[data], "tol": TOL, "max_iter": MAX_ITER},
            cost=4.0,
        )
        for data in available
        for budget in (QUICK_BUDGETS if context.quick else BUDGETS[data])
    ]


def present(context: Context, results: Results, available: list[str]) -> Section:
    """The paper's picture, the shares, and the claims."""
    section = Section("Which features are selected as B grows (News20.binary, URL subset)")
    sets = found_sets(available, lambda data: results.values("fit", data=data))
    if not sets:
        return section
    shares = {data: nested_shares(rows) for data, rows in sets.items()}
    section.tables = [share_table(sets, shares)]
    section.figures = [
        (
            "sparsity",
            "Features that are selected at each B, in the order of appearance; "
            f"{MARK} marks a B whose fit ended at a limit",
            draw(sets),
        )
    ]
    section.claims = [
        growth_claim(sets),
        nested_claim(shares),
        lost_claim(shares),
        monotonic_claim(shares),
    ]
    fits = {TITLES[data]: rows for data, rows in sets.items()}
    section.notes.append(f"{limit_note(fits)} A gap of {TOL:g} was asked for.")
    return section


def nested_shares(rows: list[dict[str, Any]]) -> list[float]:
    """For each budget and the next the share of features that stay; 1 for an empty set."""
    sets = [set(row["support"]) for row in rows]
    return [len(small & large) / len(small) if small else 1.0 for small, large in pairwise(sets)]


def share_table(sets: dict[str, list[dict[str, Any]]], shares: dict[str, list[float]]) -> Table:
    """Features, those that stay at the next budget, and those of the largest budget."""
    rows = []
    for data, fits in sets.items():
        last = set(fits[-1]["support"])
        for row, share in zip(fits, [*shares[data], None], strict=True):
            support = set(row["support"])
            in_last = len(support & last) / len(support) if support else None
            cells = [TITLES[data], row["budget"], row["n_features"], number(share)]
            rows.append([*cells, number(in_last), row["limit"]])
    head = ("data", "B", "features", "share that stays at the next B", "share also at the last B")
    caption = "Nested selections of FSMulti for accuracy"
    return Table("sparsity", caption, (*head, "ended at"), rows)


def draw(sets: dict[str, list[dict[str, Any]]]) -> Panels:
    """A row for each budget, a column for each feature, coloured where it is selected."""
    panels = Panels(len(sets))
    for axes, (data, rows) in zip(panels.axes, sets.items(), strict=True):
        order = {j: None for row in rows for j in row["support"]}
        position = {j: i for i, j in enumerate(order)}
        picture = np.zeros((len(rows), max(1, len(order))))
        for i, row in enumerate(rows):
            picture[i, [position[j] for j in row["support"]]] = 1 + i % len(COLOURS)
        colours = ListedColormap(["white", *COLOURS])
        axes.imshow(
            picture, cmap=colours, vmin=0, vmax=len(COLOURS), aspect="auto", interpolation="nearest"
        )
        budgets = [marked(f"{row['budget']}", [row["limit"]]) for row in rows]
        axes.set_yticks(range(len(rows)), budgets)
        axes.grid(visible=False)
        axes.set(title=TITLES[data], xlabel="feature, in the order of appearance", ylabel="B")
    return panels


def growth_claim(sets: dict[str, list[dict[str, Any]]]) -> Claim:
    """Does the number of features grow with B?"""
    steps = [
        after["n_features"] > before["n_features"]
        for rows in sets.values()
        for before, after in pairwise(rows)
    ]
    ours = "; ".join(
        f"{TITLES[data]} {rows[0]['n_features']} at B = {rows[0]['budget']} to "
        f"{rows[-1]['n_features']} at B = {rows[-1]['budget']}"
        for data, rows in sets.items()
    )
    return judged(
        "a small B selects fewer features than a large B",
        "no number in the text",
        ours,
        steps,
        f"more features in {count(steps, 'steps of B')}; table sparsity",
    )


def nested_claim(shares: dict[str, list[float]]) -> Claim:
    """Do most features of a budget stay at the next one?"""
    conditions = [share > 0.5 for each in shares.values() for share in each]
    return judged(
        "most features of a small B also appear at a large B",
        "no number in the text",
        _shares_text(shares),
        conditions,
        f"more than half stay in {count(conditions, 'steps of B')}; table sparsity",
    )


def lost_claim(shares: dict[str, list[float]]) -> Claim:
    """Is some feature lost on the way on every data set?"""
    conditions = [min(each) < 1.0 for each in shares.values()]
    return judged(
        "not all of them do: the selection is non-monotonic",
        "no number in the text",
        _shares_text(shares),
        conditions,
        f"some feature is lost on {count(conditions, 'sets')}; table sparsity",
    )


def monotonic_claim(shares: dict[str, list[float]]) -> Claim:
    """Is News20.binary nearer to monotonic than URL?"""
    both = len(shares) == len(DATASETS)
    means = {data: float(np.mean(each)) for data, each in shares.items()}
    return judged(
        "News20.binary seems monotonic, URL more likely non-monotonic",
        "no number in the text",
        "mean share that stays: "
        + "; ".join(f"{TITLES[data]} {mean:.3f}" for data, mean in means.items()),
        [means["news20_binary"] > means["url"]] if both else [],
        "holds if more stay on News20.binary; table sparsity",
    )


def _shares_text(shares: dict[str, list[float]]) -> str:
    return "; ".join(
        f"{TITLES[data]}: {100 * min(each):.0f} to {100 * max(each):.0f} % stay at the next B"
        for data, each in shares.items()
    )
