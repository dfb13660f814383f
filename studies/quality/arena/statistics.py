"""Comparisons over tasks: ranks and their critical difference, paired tests, stability.

Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 2006; Kuncheva, "A
stability index for feature selection", 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata, studentized_range, wilcoxon

ALPHA = 0.05


def mean_ranks(scores: np.ndarray, groups: Sequence[object]) -> tuple[np.ndarray, int]:
    """The mean over groups of the mean ranks of their rows, 1 being best, and how many groups.

    Ties share their ranks. The rows of one task (its values of k) are not independent, so that they
    count as one.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_methods)
        Larger is better.
    groups : sequence of length n_rows
        Which task each row belongs to.
    """
    ranks = rankdata(-scores, axis=1)
    by_group: dict[object, list[np.ndarray]] = {}
    for group, row in zip(groups, ranks, strict=True):
        by_group.setdefault(group, []).append(row)
    means = np.array([np.mean(rows, axis=0) for rows in by_group.values()])
    return means.mean(axis=0), len(means)


def friedman(ranks: np.ndarray, n_tasks: int) -> float:
    """The p-value of Iman and Davenport's F: that all methods have the same expected rank.

    ``F = (N - 1) chi2 / (N (k - 1) - chi2)``,
    ``chi2 = 12 N / (k (k + 1)) (sum_j r_j^2 - k (k + 1)^2 / 4)``.
    """
    k, N = ranks.size, n_tasks
    chi2 = 12.0 * N / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4.0)
    left = N * (k - 1) - chi2
    if left <= 0.0:
        return 0.0
    return float(f_distribution.sf((N - 1) * chi2 / left, k - 1, (k - 1) * (N - 1)))


def critical_difference(n_methods: int, n_tasks: int, alpha: float = ALPHA) -> float:
    """``q_alpha sqrt(k (k + 1) / (6 N))``, q the studentized range by sqrt(2): Nemenyi's test."""
    q = studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_tasks)))


class Pair(NamedTuple):
    """One method beside another over tasks."""

    wins: int
    losses: int
    difference: float
    p: float


def paired(ours: np.ndarray, theirs: np.ndarray) -> Pair:
    """Wins, losses, the mean difference, and Wilcoxon's signed-rank test (both sides)."""
    gains = ours - theirs
    p = 1.0 if not np.any(gains) else float(wilcoxon(gains, zero_method="zsplit").pvalue)
    return Pair(int(np.sum(gains > 0)), int(np.sum(gains < 0)), float(np.mean(gains)), p)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction for several tests."""
    order = np.argsort(ps, kind="stable")
    raised = np.maximum.accumulate([(len(ps) - i) * ps[j] for i, j in enumerate(order)])
    corrected = np.empty(len(ps))
    corrected[order] = np.minimum(1.0, raised)
    return corrected.tolist()


def jaccard(first: set[int], second: set[int]) -> float:
    """``|A and B| / |A or B|``."""
    either = first | second
    return len(first & second) / len(either) if either else 1.0


def kuncheva(first: set[int], second: set[int], n_features: int) -> float:
    """``(|A and B| - e) / (k - e)`` with ``e = |A| |B| / m``, k the smaller size: 0 by chance."""
    expected = len(first) * len(second) / n_features
    smaller = min(len(first), len(second))
    if smaller <= expected:
        return 0.0
    return (len(first & second) - expected) / (smaller - expected)


def agreement(supports: Sequence[set[int]], n_features: int) -> tuple[float, float]:
    """Means of both indices over all pairs of selections."""
    pairs = list(combinations(supports, 2))
    return (
        float(np.mean([jaccard(*pair) for pair in pairs])),
        float(np.mean([kuncheva(*pair, n_features) for pair in pairs])),
    )
