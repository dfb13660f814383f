"""The tables of scores: means, pairs, ranks, other measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.common.tables import print_note, print_table
from studies.quality.arena.board import Board, make_board
from studies.quality.arena.layout import heading, show_grid
from studies.quality.arena.methods import ALL_FEATURES, MAIN_KS, TARGETS
from studies.quality.arena.statistics import critical_difference, friedman, holm, mean_ranks, paired

NAMES = {
    "f1": "F1",
    "average_precision": "average precision",
    "prbep": "PRBEP",
    "rec@2p": "Rec@2p",
    "prec@p/2": "Prec@(P/2)",
}


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


def show_scores(rows: list[dict[str, Any]], reference: str, rule: str) -> list[dict[str, Any]]:
    """Every table of scores; the ranks for the figure."""
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
    if board.n_dropped:
        print_note(f"{board.n_dropped} cells are left out, because a method lacks them.")
    return ranks
