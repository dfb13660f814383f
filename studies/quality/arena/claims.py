"""What the arena is to show, with PASS or FAIL.

The rival of a claim is the best single outsider: the one method that is not ours with the highest
mean where the claim looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from studies.common.tables import pass_or_fail
from studies.quality.arena.board import Board, make_board
from studies.quality.arena.known_support import N_TRUE
from studies.quality.arena.methods import ALL_FEATURES, KS, MAIN_KS, METHODS, TARGETS
from studies.quality.arena.statistics import mean_ranks

#: Points of F1 ahead of the best outsider: the mean over sets, and on two of them.
AHEAD_OVERALL = {5: 1.5, 10: 1.5, 20: 1.5, 50: 0.7, 100: 0.7}
AHEAD_ON_SETS = {"news20": {10: 2.0, 50: 2.0}, "reuters120": {10: 1.5, 50: 0.5}}
MOST_BEHIND = 1.5
SETS_OF_RANKINGS = ("news20", "reuters120")
#: The rivals in recovery.
RECOVERERS = ("l1-SVM", "l1-SVM balanced", "SVM-RFE", "SVM-RFE balanced", "abess")


class Claim(NamedTuple):
    """What is claimed, what was found, and whether it holds; None if it was not played."""

    text: str
    found: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or that there is nothing to judge by."""
        return "not played" if self.holds is None else pass_or_fail(self.holds)


def is_outsider(name: str) -> bool:
    """Whether a method is not ours, and selects."""
    return not METHODS[name].is_ours and name != ALL_FEATURES


def best_of(names: Sequence[str], value: Callable[[str], float | None]) -> tuple[str, float] | None:
    """The name with the largest value; None if none has one."""
    found = {name: value(name) for name in names}
    found = {name: v for name, v in found.items() if v is not None}
    return max(found.items(), key=lambda item: item[1]) if found else None


def judge(text: str, ours: float | None, theirs: tuple[str, float] | None, wanted: float) -> Claim:
    """``ours - theirs >= wanted``."""
    if ours is None or theirs is None:
        return Claim(text, "", None)
    gain = ours - theirs[1]
    found = f"{ours:.2f}, {theirs[0]} {theirs[1]:.2f}: {gain:+.2f}"
    return Claim(text, found, gain >= wanted)


def all_claims(rows: list[dict[str, Any]], reference: str, rule: str) -> list[Claim]:
    """Every claim, for the method that stands for us."""
    board = make_board(rows, "f1", "f1", rule)
    return [
        rank_claim(board, reference),
        *overall_claims(board, reference),
        *set_claims(board, reference),
        *ahead_claims(board, reference),
        *ranking_claims(rows, reference, rule),
        recovery_claim(rows, reference),
    ]


def rank_claim(board: Board, reference: str) -> Claim:
    """The best mean rank."""
    text = "F1: the best mean rank over all cells"
    names = board.regular(KS)
    if reference not in names or len(names) < 2:
        return Claim(text, "", None)
    cells, values = board.common(names, KS)
    ranks, _ = mean_ranks(values, [cell.task for cell in cells])
    best = names[int(np.argmin(ranks))]
    found = f"{ranks[names.index(reference)]:.2f}, best {best} {ranks.min():.2f}"
    return Claim(text, found, best == reference)


def overall_claims(board: Board, reference: str) -> Iterator[Claim]:
    """The mean over sets, k by k."""
    outsiders = [name for name in board.methods() if is_outsider(name)]
    for k, wanted in AHEAD_OVERALL.items():
        theirs = best_of(outsiders, lambda name, k=k: board.mean_over_sets(name, k))
        text = f"F1, mean over sets, k = {k}: at least {wanted} ahead of the best outsider"
        yield judge(text, board.mean_over_sets(reference, k), theirs, wanted)


def set_claims(board: Board, reference: str) -> Iterator[Claim]:
    """The mean over k, set by set."""
    outsiders = [name for name in board.methods() if is_outsider(name)]
    for name in board.sets():
        theirs = best_of(outsiders, lambda method, name=name: board.mean(method, name))
        text = f"F1, {name}, mean over k: at most {MOST_BEHIND} behind the best outsider there"
        yield judge(text, board.mean(reference, name), theirs, -MOST_BEHIND)


def ahead_claims(board: Board, reference: str) -> Iterator[Claim]:
    """The two sets with many tasks."""
    outsiders = [name for name in board.methods() if is_outsider(name)]
    for name, by_k in AHEAD_ON_SETS.items():
        for k, wanted in by_k.items():
            theirs = best_of(outsiders, lambda m, name=name, k=k: board.mean(m, name, k))
            text = f"F1, {name}, k = {k}: at least {wanted} ahead of the best outsider"
            yield judge(text, board.mean(reference, name, k), theirs, wanted)


def ranking_claims(rows: list[dict[str, Any]], reference: str, rule: str) -> Iterator[Claim]:
    """First in the measures of rankings, each model made for the measure."""
    for target in TARGETS[1:]:
        board = make_board(rows, target, target, rule)
        others = [name for name in board.methods() if name != reference]
        for name in SETS_OF_RANKINGS:
            for k in MAIN_KS:
                theirs = best_of(others, lambda m, b=board, n=name, k=k: b.mean(m, n, k))
                text = f"{target}, {name}, k = {k}: first"
                yield judge(text, board.mean(reference, name, k), theirs, 0.0)


def recovery(rows: list[dict[str, Any]], method: str, k: int = N_TRUE) -> float | None:
    """The mean share of the true columns among k, in percent, of the better form."""
    by_form: dict[str, list[float]] = {}
    for row in rows:
        is_it = row.get("method") == method and row.get("k") == k and row.get("target") == "f1"
        if is_it and "recovered" in row:
            by_form.setdefault(row["form"], []).append(100.0 * row["recovered"] / N_TRUE)
    return max((float(np.mean(found)) for found in by_form.values()), default=None)


def recovery_claim(rows: list[dict[str, Any]], reference: str) -> Claim:
    """The true columns of the generated data."""
    text = f"generated, k = {N_TRUE}: as many true columns as the best of l1-SVM, SVM-RFE, abess"
    theirs = best_of(RECOVERERS, lambda name: recovery(rows, name))
    return judge(text, recovery(rows, reference), theirs, 0.0)
