"""``F1 against the number of words`` on docstrings: run ``python -m scoresieve.demo``.

Which few words tell a docstring of ``scipy.stats`` from all others? The demonstration trains one
model for each budget, prints what it costs and what it scores on held-out documents, next to the
sceptic's baseline (an l1-SVM, as trained and with its threshold tuned for F1), and draws them. It
needs no download: the documents are the docstrings of the installed numpy, scipy and scikit-learn.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from scoresieve import solve
from scoresieve.datasets import Docstrings, load_docstrings

BUDGETS = (1, 2, 5, 10, 20, 50, 100)
BASELINE_C = (0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SHOWN_BUDGET = 20
SHOWN_WORDS = 12
FIGURE = "f1_against_features.png"


@dataclass(frozen=True, eq=False)
class Split:
    """60 % of the documents to train on, 40 % held out, the same share of positives in both."""

    docs: Docstrings
    train: NDArray[np.intp]
    held_out: NDArray[np.intp]

    def f1(self, rows: NDArray[np.intp], weights: NDArray[np.float64], bias: float) -> float:
        """``F1`` of ``sign(X @ weights + bias)`` on ``rows``: the threshold as trained."""
        predicted = np.where(self.docs.X[rows] @ weights + bias > 0, 1.0, -1.0)
        return float(f1_score(self.docs.y[rows], predicted, zero_division=0.0))

    def tuned_bias(self, weights: NDArray[np.float64]) -> float:
        """The bias that maximises F1 on the training scores."""
        scores = self.docs.X[self.train] @ weights
        precision, recall, thresholds = precision_recall_curve(self.docs.y[self.train], scores)
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
        best = int(np.argmax(f1[:-1]))
        below = scores[scores < thresholds[best]]
        return -0.5 * (thresholds[best] + (below.max() if below.size else thresholds[best] - 1.0))


@dataclass(frozen=True, eq=False)
class Fit:
    """One line of a table, and its weights.

    Parameters
    ----------
    setting : float
        The budget, or the C of the baseline.
    weights : ndarray of shape (n_words,)
    tuned_f1 : float
        Held-out F1 of the baseline with the threshold that is best on the training scores.
    primal, dual, gap, n_rounds : float
        The certificate and the number of rounds; not known for the baseline.
    status : str
        Why the solver stopped, as a sentence.
    """

    setting: float
    weights: NDArray[np.float64]
    n_features: int
    train_f1: float
    test_f1: float
    seconds: float
    tuned_f1: float = np.nan
    primal: float = np.nan
    dual: float = np.nan
    gap: float = np.nan
    n_rounds: int = 0
    status: str = ""


def make_split(docs: Docstrings) -> Split:
    """Split 60 to 40, stratified by label, the same on every machine."""
    rows = np.arange(len(docs.y))
    train, held_out = train_test_split(rows, test_size=0.4, random_state=0, stratify=docs.y)
    return Split(docs, np.sort(train), np.sort(held_out))


def fit_budget(split: Split, budget: int, C: float, tol: float) -> Fit:
    """``min 1/2 ||w||_B^2 + C R(w)`` for F1 with B = ``budget`` and an intercept."""
    X, y = split.docs.X[split.train], split.docs.y[split.train]
    start = time.perf_counter()
    result = solve(X, y, measure="f1", budget=budget, C=C, tol=tol, intercept_scaling=1.0)
    seconds = time.perf_counter() - start
    return Fit(
        setting=budget,
        weights=result.w,
        n_features=len(result.support),
        train_f1=split.f1(split.train, result.w, result.intercept),
        test_f1=split.f1(split.held_out, result.w, result.intercept),
        seconds=seconds,
        primal=result.primal,
        dual=result.dual,
        gap=result.gap,
        n_rounds=result.n_iter,
        status=str(result.status.value),
    )


def fit_baseline(split: Split, C: float) -> Fit:
    """``min ||w||_1 + C sum_i (1 - y_i (<w, x_i> + b))_+^2``: an l1-SVM."""
    X, y = split.docs.X[split.train], split.docs.y[split.train]
    model = LinearSVC(penalty="l1", dual=False, C=C, max_iter=20_000, random_state=0)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    weights, bias = model.coef_.ravel(), float(model.intercept_[0])
    return Fit(
        setting=C,
        weights=weights,
        n_features=int(np.count_nonzero(weights)),
        train_f1=split.f1(split.train, weights, bias),
        test_f1=split.f1(split.held_out, weights, bias),
        seconds=seconds,
        tuned_f1=split.f1(split.held_out, weights, split.tuned_bias(weights)),
    )


def describe_data(split: Split) -> str:
    """Sizes of the data in two lines."""
    docs = split.docs
    positives = int(np.sum(docs.y > 0))
    return (
        f"Documents: {len(docs.y)} docstrings, {len(docs.feature_names)} words; "
        f"{positives} ({positives / len(docs.y):.1%}) are from {docs.target}.\n"
        f"Trained on {len(split.train)}, scored on {len(split.held_out)} held-out documents.\n"
    )


BUDGET_HEADING = (
    f"{'budget':>6} {'features':>8} {'train F1':>8} {'held-out F1':>11} "
    f"{'primal':>10} {'dual':>10} {'gap %':>6} {'rounds':>6} {'seconds':>7}"
)
BASELINE_HEADING = (
    f"{'C':>6} {'features':>8} {'train F1':>8} {'held-out F1':>11} {'tuned':>7} {'seconds':>7}"
)


def budget_row(fit: Fit) -> str:
    """One line under ``BUDGET_HEADING``."""
    return (
        f"{fit.setting:>6.0f} {fit.n_features:>8} {fit.train_f1:>8.3f} {fit.test_f1:>11.3f} "
        f"{fit.primal:>10.4g} {fit.dual:>10.4g} {100 * fit.gap:>6.2f} {fit.n_rounds:>6} "
        f"{fit.seconds:>7.2f}"
    )


def baseline_row(fit: Fit) -> str:
    """One line under ``BASELINE_HEADING``."""
    return (
        f"{fit.setting:>6.3g} {fit.n_features:>8} {fit.train_f1:>8.3f} {fit.test_f1:>11.3f} "
        f"{fit.tuned_f1:>7.3f} {fit.seconds:>7.2f}"
    )


def describe_statuses(fits: Sequence[Fit]) -> str:
    """Why the solver stopped: one line for each reason, with the budgets it holds for."""
    budgets: dict[str, list[str]] = {}
    for fit in fits:
        budgets.setdefault(fit.status, []).append(f"{fit.setting:.0f}")
    return "".join(f"Budget {', '.join(which)}: {why}\n" for why, which in budgets.items())


def describe_words(fit: Fit, feature_names: NDArray[np.str_]) -> str:
    """The words with the largest positive and the largest negative weights."""
    order = np.argsort(-np.abs(fit.weights), kind="stable")
    order = order[: np.count_nonzero(fit.weights)]
    lines = [f"Words of the model with budget {fit.setting:.0f}, {fit.n_features} features:"]
    for label, sign in (("for", 1.0), ("against", -1.0)):
        chosen = [j for j in order if sign * fit.weights[j] > 0][:SHOWN_WORDS]
        words = ", ".join(f"{feature_names[j]} {fit.weights[j]:+.2f}" for j in chosen)
        lines.append(f"  {label:<8} {words or '(none)'}")
    return "\n".join(lines) + "\n"


def draw(fits: Sequence[Fit], baseline: Sequence[Fit], target: str, path: Path) -> None:
    """Held-out F1 against the number of features, all methods on one pair of axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.5), dpi=150, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for curve, score, style, label in (
        (fits, "test_f1", "o-", "scoresieve, F1 with a budget"),
        (baseline, "tuned_f1", "^--", "l1-SVM, threshold tuned for F1"),
        (baseline, "test_f1", "s:", "l1-SVM as trained (LinearSVC)"),
    ):
        seen = sorted((fit.n_features, getattr(fit, score)) for fit in curve if fit.n_features > 0)
        axes.plot(*np.array(seen).reshape(-1, 2).T, style, label=label)
    axes.set_xscale("log")
    axes.set_xticks(
        [2, 5, 10, 20, 50, 100, 200, 500], ["2", "5", "10", "20", "50", "100", "200", "500"]
    )
    axes.minorticks_off()
    axes.set_ylim(0.3, 1.0)
    axes.set_xlabel("features in the model (words)")
    axes.set_ylabel("F1 on held-out documents")
    axes.set_title(f"Is this docstring from {target}?")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    save_atomically(canvas, path)


def save_atomically(canvas: Any, path: Path) -> None:
    """Write the figure beside its place and move it there: no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            canvas.print_png(file)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; the exit code is 0 when it came to its end."""
    parser = argparse.ArgumentParser(prog="python -m scoresieve.demo", description=__doc__)
    parser.add_argument("--C", type=float, default=10.0, help="weight of the risk (%(default)s)")
    parser.add_argument("--tol", type=float, default=0.05, help="relative gap (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("demo_output"), help="folder")
    options = parser.parse_args(arguments)

    split = make_split(load_docstrings())
    _write(describe_data(split))
    _write(f"\nscoresieve: measure F1, C = {options.C:g}, with intercept\n{BUDGET_HEADING}\n")
    fits = []
    for budget in BUDGETS:
        fits.append(fit_budget(split, budget, options.C, options.tol))
        _write(budget_row(fits[-1]) + "\n")
    _write(describe_statuses(fits))
    _write(f"\nl1-SVM, the sceptic's baseline; tuned: threshold set for F1\n{BASELINE_HEADING}\n")
    baseline = []
    for C in BASELINE_C:
        baseline.append(fit_baseline(split, C))
        _write(baseline_row(baseline[-1]) + "\n")
    shown = next(fit for fit in fits if fit.setting == SHOWN_BUDGET)
    _write("\n" + describe_words(shown, split.docs.feature_names))
    if find_spec("matplotlib") is None:
        _write("\nNo figure: matplotlib is not installed (pip install 'scoresieve[plot]').\n")
    else:
        draw(fits, baseline, split.docs.target, options.output / FIGURE)
        _write(f"\nFigure: {options.output / FIGURE}\n")
    return 0


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
