"""The tables of the arena, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from studies.common.limits import tally
from studies.common.tables import number, print_note, print_table
from studies.quality.arena.board import Board, make_board
from studies.quality.arena.claims import Claim, is_outsider, recovery
from studies.quality.arena.methods import ALL_FEATURES, MAIN_KS, METHODS, TARGETS
from studies.quality.arena.statistics import critical_difference, friedman, holm, mean_ranks, paired

NAMES = {
    "f1": "F1",
    "average_precision": "average precision",
    "prbep": "PRBEP",
    "rec@2p": "Rec@2p",
    "prec@p/2": "Prec@(P/2)",
}


def heading(text: str) -> None:
    """Above a table."""
    print(f"### {text}\n", flush=True)


def bold_best(columns: list[list[float | None]], digits: int = 1) -> list[list[str | None]]:
    """Numbers as text, the largest of each column in bold."""
    texts = []
    for column in columns:
        top = max((value for value in column if value is not None), default=None)
        texts.append(
            [
                f"**{number(value, digits)}**" if value is not None and value == top else text
                for value, text in ((value, number(value, digits)) for value in column)
            ]
        )
    return texts


def show_grid(
    title: str,
    methods: Sequence[str],
    heads: Sequence[str],
    value: Callable[[str, int], float | None],
) -> None:
    """One line for each method; ``value(method, i)`` is for the i-th head."""
    columns = [[value(method, i) for method in methods] for i in range(len(heads))]
    lines = [list(line) for line in zip(methods, *bold_best(columns), strict=True)]
    heading(title)
    print_table(["method", *heads], lines)


def show_means(board: Board, words: str) -> None:
    """Macro averages: mean over sets by k, then set by set for each k."""
    methods, ks = board.methods(), board.ks()
    show_grid(
        f"{words}, mean over {len(board.sets())} data sets",
        methods,
        [f"k = {k}" for k in ks],
        lambda method, i: board.mean_over_sets(method, ks[i]),
    )
    for k in ks:
        sets = [
            name for name in board.sets() if any(c.name == name and c.k == k for c in board.values)
        ]
        counts = [sum(c.name == name and c.k == k for c in board.values) for name in sets]
        show_grid(
            f"{words}, exactly {k} features, means over the tasks of each set",
            methods,
            [f"{name} ({n})" for name, n in zip(sets, counts, strict=True)],
            lambda method, i, k=k, sets=sets: board.mean(method, sets[i], k),
        )


def show_all_features(rows: list[dict[str, Any]]) -> None:
    """The models of all columns, for scale."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["kind"] == "cell" and row["method"] == ALL_FEATURES and row["target"] == "f1":
            found.setdefault(row["set"], []).append(row["f1"])
    if found:
        heading("F1 with all features, for scale")
        line = [f"{np.mean(values):.1f}" for values in found.values()]
        print_table(["", *found], [[ALL_FEATURES, *line]])


def show_forms(rows: list[dict[str, Any]], ks: Sequence[int]) -> None:
    """What the common refit brings: F1 of the refit less that of the own model."""
    lines = []
    pairs: dict[tuple, dict[str, float]] = {}
    for row in rows:
        if row["kind"] == "cell" and row["target"] == "f1":
            key = row["method"], row["k"], row["set"], row["class"]
            pairs.setdefault(key, {})[row["form"]] = row["f1"]
    for method in dict.fromkeys(key[0] for key in pairs):
        gains = [
            [
                f["refit"] - f["own"]
                for key, f in pairs.items()
                if key[:2] == (method, k) and len(f) > 1
            ]
            for k in ks
        ]
        if any(gains):
            lines.append([method, *(f"{np.mean(g):+.1f}" if g else None for g in gains)])
    if lines:
        heading("F1 of the common refit less F1 of the own model, mean over tasks")
        print_table(["method", *(f"k = {k}" for k in ks)], lines)


def show_pairs(board: Board, reference: str, words: str) -> None:
    """The reference beside every other method, over the tasks at each k."""
    ks = board.ks()
    others = [name for name in board.methods() if name != reference]
    lines: dict[str, list[str | None]] = {name: [] for name in others}
    for k in ks:
        found = {}
        for name in others:
            cells, values = board.common([reference, name], [k])
            if cells:
                found[name] = paired(values[:, 0], values[:, 1])
        corrected = dict(zip(found, holm([pair.p for pair in found.values()]), strict=True))
        for name in others:
            pair = found.get(name)
            text = (
                pair and f"{pair.wins}-{pair.losses}, {pair.difference:+.1f}, {corrected[name]:.1g}"
            )
            lines[name].append(text)
    heading(f"{words}: {reference} beside each method (wins-losses, mean difference, p)")
    print_table(["method", *(f"k = {k}" for k in ks)], [[n, *line] for n, line in lines.items()])
    print_note("p: Wilcoxon's signed-rank test over tasks, with Holm's correction in each column.")


def rank_table(board: Board, ks: Sequence[int]) -> dict[str, Any] | None:
    """Mean ranks of the methods that have all cells with these k, and what is needed to differ."""
    names = board.regular(ks)
    cells, values = board.common(names, ks)
    if len(names) < 2 or not cells:
        return None
    ranks, n_tasks = mean_ranks(values, [cell.task for cell in cells])
    return {
        "ks": list(ks),
        "names": names,
        "ranks": ranks.tolist(),
        "n_tasks": n_tasks,
        "n_cells": len(cells),
        "p": friedman(ranks, n_tasks) if n_tasks > 1 else None,
        "difference": critical_difference(len(names), n_tasks),
    }


def show_ranks(tables: Sequence[dict[str, Any]]) -> None:
    """One table for each choice of k."""
    for table in tables:
        ks = ", ".join(map(str, table["ks"]))
        heading(
            f"Mean ranks for F1, k = {ks}: {table['n_cells']} cells of {table['n_tasks']} tasks"
        )
        order = np.argsort(table["ranks"], kind="stable")
        lines = [[table["names"][i], f"{table['ranks'][i]:.2f}"] for i in order]
        print_table(["method", "mean rank"], lines)
        p = "" if table["p"] is None else f"; all alike: p = {table['p']:.1g} (Friedman)"
        print_note(f"Critical difference (Nemenyi, 0.05): {table['difference']:.2f}{p}.")


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
    heading("Seconds, medians: one selection / everything for one k (cross-fitting, refits)")
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


def show_other_metrics(rows: list[dict[str, Any]], rule: str) -> None:
    """The models made for F1 by other measures; then those made for each measure."""
    for metric in ("average_precision", "prbep", "prec@p/2"):
        board = make_board(rows, metric, "f1", rule)
        ks = board.ks()
        show_grid(
            f"{NAMES[metric]} of the models made for F1, mean over data sets",
            board.methods(),
            [f"k = {k}" for k in ks],
            lambda method, i, board=board, ks=ks: board.mean_over_sets(method, ks[i]),
        )
    for target in TARGETS[1:]:
        board = make_board(rows, target, target, rule)
        places = [(name, k) for name in board.sets() for k in board.ks() if k in MAIN_KS]
        if places:
            show_grid(
                f"{NAMES[target]} of the models made for it",
                board.methods(),
                [f"{name}, k = {k}" for name, k in places],
                lambda method, i, board=board, places=places: board.mean(method, *places[i]),
            )


def show_claims(claims: Sequence[Claim], reference: str) -> None:
    """Claims and verdicts."""
    heading(f"Claims, for {reference}")
    lines = [[claim.text, claim.found, claim.verdict] for claim in claims]
    print_table(["claim", "found", "verdict"], lines, n_left=3)


def show_troubles(rows: list[dict[str, Any]], n_dropped: int) -> None:
    """Fits that ended at a limit, failures, and cells left out."""
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
    if n_dropped:
        print_note(f"{n_dropped} cells are left out, because a method lacks them.")


def show_all(rows: list[dict[str, Any]], reference: str, rule: str) -> list[dict[str, Any]]:
    """Every table but the claims; the ranks for the figure."""
    board = make_board(rows, "f1", "f1", rule)
    show_means(board, "F1")
    show_all_features(rows)
    show_forms(rows, board.ks())
    if reference in board.methods():
        show_pairs(board, reference, "F1")
    choices = dict.fromkeys((tuple(board.ks()), tuple(k for k in MAIN_KS if k in board.ks())))
    ranks = [table for ks in choices if ks and (table := rank_table(board, ks)) is not None]
    show_ranks(ranks)
    show_other_metrics(rows, rule)
    show_stability(rows)
    show_recovery(rows)
    show_times(rows)
    show_troubles(rows, board.n_dropped)
    outsiders = [name for name in board.methods() if is_outsider(name)]
    print_note(f"Outsiders: {', '.join(outsiders)}.")
    return ranks
