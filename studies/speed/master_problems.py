"""Master problems to time solvers on: random ones, and those that fits ask for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from scoresieve import solve
from scoresieve.regularizers import BudgetNorm
from studies.common.data import load
from studies.common.internals import MasterProblem, captured_masters
from studies.common.options import folder_of
from studies.common.progress import log

N_CUTS = (50, 100, 150, 250)
N_COLUMNS = (100, 500, 1000, 1500)
BUDGETS = (10, 50, 250)
#: Captured problems have this many cuts.
FEWEST_CUTS, MOST_CUTS = 50, 250

Named = tuple[str, MasterProblem]


def random_problems(args: argparse.Namespace) -> Iterator[Named]:
    """Cuts with a common direction, as those of a classifier have, and columns of varied scale."""
    sizes = [(k, s, b) for k in N_CUTS for s in N_COLUMNS for b in BUDGETS if b < s]
    if args.quick:
        sizes = [(50, 100, 10), (100, 500, 50), (150, 1000, 50), (250, 500, 250)]
    for seed, (n_cuts, n_columns, budget) in enumerate(sizes):
        rng = np.random.default_rng([args.seed, seed])
        column_scale = rng.lognormal(size=n_columns)
        common = rng.normal(size=n_columns)
        cuts = (rng.normal(size=(n_cuts, n_columns)) + common) * column_scale
        losses = rng.uniform(0.1, 1.0, size=n_cuts) * 100.0
        C = (0.1, 1.0, 10.0, 100.0)[seed % 4]
        yield "random", MasterProblem(cuts, losses, C, BudgetNorm(budget, n_columns))


def generated_text(seed: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows of word counts with Zipf's frequencies; 30 words are twice as likely in positives."""
    rng = np.random.default_rng(seed)
    n_samples, n_words = 1500, 3000
    y = np.where(rng.random(n_samples) < 0.08, 1.0, -1.0)
    frequencies = 1.0 / (10.0 + np.arange(n_words))
    raised = frequencies.copy()
    raised[rng.choice(n_words // 2, size=30, replace=False)] *= 2.0
    chances = {1.0: raised / raised.sum(), -1.0: frequencies / frequencies.sum()}
    counts = np.array([rng.multinomial(60, chances[label]) for label in y])
    return normalize(sparse.csr_matrix(counts, dtype=np.float64)), y


def fit_problems(args: argparse.Namespace) -> Iterator[Named]:
    """Master problems of fits at C = 100, some of each fit."""
    X, y = generated_text(args.seed)
    budgets = (50,) if args.quick else (10, 50, 250)
    fits = [("generated text", X, y, budget) for budget in budgets]
    if args.data is None:
        log("without real data: pass --data FOLDER or set SCORESIEVE_DATA for News20 and Reuters")
    else:
        news, reuters = (load(folder_of(args), name) for name in ("news20", "reuters120"))
        fits += [("News20", news.X, news.labels(12)[0], budget) for budget in budgets[-2:]]
        rare, _ = reuters.labels(rare_class(reuters.y))
        fits += [("Reuters", reuters.X, rare, budget) for budget in budgets[:2]]
    for name, X, y, budget in fits:
        problems: list[MasterProblem] = []
        log(f"capturing from {name}, B = {budget}")
        with captured_masters(problems):
            solve(
                X,
                y,
                measure="f1",
                bound="paper",
                budget=budget,
                C=100.0,
                tol=args.fit_tol,
                max_time=args.fit_time,
                callback=lambda progress: progress.n_cuts >= MOST_CUTS,
            )
        problems = [p for p in problems if FEWEST_CUTS <= p.losses.size <= MOST_CUTS]
        log(f"{len(problems)} problems with {FEWEST_CUTS} to {MOST_CUTS} cuts")
        count = min(1 if args.quick else args.per_fit, len(problems))
        for part in np.array_split(np.arange(len(problems)), max(count, 1)):
            if part.size:
                yield name, problems[part[part.size // 2]]


def rare_class(y: np.ndarray) -> int:
    """The class whose number of examples is nearest to 80."""
    labels, counts = np.unique(y, return_counts=True)
    return int(labels[np.argmin(np.abs(counts - 80))])
