"""``F1 against the number of words`` on docstrings: run ``python -m scoresieve.demo``.

Which few words tell a docstring of ``scipy.stats`` from all others? The demonstration sieves for
each number of words, prints what it costs, what it expects and what it scores on held-out
documents, next to the sceptic's baseline (an l1-SVM, as trained and with its threshold tuned for
F1), and draws them; and it shows how far from the best possible one model with 20 words is at most.
It needs no download: the documents are the docstrings of the installed numpy, scipy and
scikit-learn.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from scoresieve import MeasureSVC, ScoreSieve
from scoresieve._arrays import Array, FloatArray
from scoresieve._files import replaced
from scoresieve.datasets import load_docstrings

SIZES = (1, 2, 5, 10, 20, 50)
BASELINE_C = (0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SHOWN_SIZE, SHOWN_WORDS = 20, 12
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
FIGURE = "f1_against_features.png"

SIEVE_HEADING = f"{'words':>6} {'expected F1':>11} {'held-out F1':>11} {'seconds':>7}  chosen by\n"
BASELINE_HEADING = (
    f"{'C':>6} {'features':>8} {'train F1':>8} {'held-out F1':>11} {'tuned':>7} {'seconds':>7}\n"
)


class Documents(NamedTuple):
    """60 % of the documents to train on, 40 % held out, the same share of positives in both."""

    X: Any
    X_held_out: Any
    y: Array
    y_held_out: Array


class Fit(NamedTuple):
    """A fitted model and what it scores; ``tuned_f1`` with the best threshold of training."""

    setting: float
    model: Any
    n_features: int
    train_f1: float
    test_f1: float
    tuned_f1: float
    seconds: float


def fit(documents: Documents, setting: float, model: Any) -> Fit:
    """Train, and score both parts."""
    start = time.perf_counter()
    model.fit(documents.X, documents.y)
    seconds = time.perf_counter() - start
    train, test = (model.decision_function(X) for X in (documents.X, documents.X_held_out))
    threshold = best_threshold(documents.y, train)
    return Fit(
        setting,
        model,
        int(np.count_nonzero(model.coef_)),
        f1_score(documents.y, train > 0, zero_division=0.0),
        f1_score(documents.y_held_out, test > 0, zero_division=0.0),
        f1_score(documents.y_held_out, test > threshold, zero_division=0.0),
        seconds,
    )


def best_threshold(y: Array, scores: FloatArray) -> float:
    """The threshold that maximises F1, halfway to the next lower score."""
    precision, recall, thresholds = precision_recall_curve(y, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    best = thresholds[np.argmax(f1[:-1])]
    return 0.5 * (best + np.max(scores[scores < best], initial=best - 1.0))


def sieve_row(row: Fit) -> str:
    """One line under ``SIEVE_HEADING``."""
    chosen = row.model.best_params_
    return (
        f"{row.n_features:>6} {row.model.best_score_:>11.3f} {row.test_f1:>11.3f} "
        f"{row.seconds:>7.2f}  {chosen['selection']}; model: {chosen['final_model']}\n"
    )


def certificate_in_words(model: MeasureSVC) -> str:
    """How far from the best possible model of as many words it is at most."""
    return (
        f"\nMeasureSVC with {model.n_features_selected_} words, certified: no model with as many "
        f"lowers the training objective by more than {100 * model.l0_gap_[0]:.0f} %.\n"
    )


def baseline_row(row: Fit) -> str:
    """One line under ``BASELINE_HEADING``."""
    return (
        f"{row.setting:>6.3g} {row.n_features:>8} {row.train_f1:>8.3f} {row.test_f1:>11.3f} "
        f"{row.tuned_f1:>7.3f} {row.seconds:>7.2f}\n"
    )


def describe_words(row: Fit, words: Array) -> str:
    """The words with the largest positive and the largest negative weights."""
    weights = row.model.coef_[0]
    order = np.argsort(-np.abs(weights), kind="stable")
    lines = [f"Words of the model with {row.n_features} of them:\n"]
    for label, sign in (("for", 1.0), ("against", -1.0)):
        chosen = [f"{words[j]} {weights[j]:+.2f}" for j in order if sign * weights[j] > 0]
        lines.append(f"  {label:<8} {', '.join(chosen[:SHOWN_WORDS]) or '(none)'}\n")
    return "".join(lines)


def draw(fits: Sequence[Fit], baseline: Sequence[Fit], target: str, path: Path) -> None:
    """Held-out F1 against the number of features, all methods on one pair of axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.5), dpi=150, layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    for curve, score, style, label in (
        (fits, "test_f1", "o-", "ScoreSieve, exactly so many words"),
        (baseline, "tuned_f1", "^--", "l1-SVM, threshold tuned for F1"),
        (baseline, "test_f1", "s:", "l1-SVM as trained (LinearSVC)"),
    ):
        seen = sorted((row.n_features, getattr(row, score)) for row in curve if row.n_features)
        axes.plot(*np.array(seen).reshape(-1, 2).T, style, label=label)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [str(tick) for tick in TICKS])
    axes.minorticks_off()
    axes.set_ylim(0.3, 1.0)
    axes.set_xlabel("features in the model (words)")
    axes.set_ylabel("F1 on held-out documents")
    axes.set_title(f"Is this docstring from {target}?")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as file:
        canvas.print_png(file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; the exit code is 0 when it came to its end."""
    parser = argparse.ArgumentParser(prog="python -m scoresieve.demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo_output"), help="folder")
    options = parser.parse_args(arguments)
    docs = load_docstrings()
    is_target = docs.y > 0
    parts = train_test_split(docs.X, is_target, test_size=0.4, random_state=0, stratify=docs.y)
    documents = Documents(*parts)
    _write(
        f"Documents: {is_target.size} docstrings, {len(docs.feature_names)} words; "
        f"{is_target.sum()} ({is_target.mean():.1%}) are from {docs.target}.\n"
        f"Trained on {documents.y.size}, scored on {documents.y_held_out.size} held-out documents."
        "\n\nScoreSieve, F1; expected: of training documents that the models had not seen\n"
        f"{SIEVE_HEADING}"
    )
    fits = []
    for size in SIZES:
        fits.append(fit(documents, size, ScoreSieve("f1", n_features_to_select=size)))
        _write(sieve_row(fits[-1]))
    _write(f"\nl1-SVM, the sceptic's baseline; tuned: threshold set for F1\n{BASELINE_HEADING}")
    baseline = []
    for C in BASELINE_C:
        l1_svm = LinearSVC(penalty="l1", dual=False, C=C, max_iter=20_000, random_state=0)
        baseline.append(fit(documents, C, l1_svm))
        _write(baseline_row(baseline[-1]))
    shown = next(row for row in fits if row.setting == SHOWN_SIZE)
    _write("\n" + describe_words(shown, docs.feature_names))
    certified = MeasureSVC("f1", n_features_to_select=SHOWN_SIZE).fit(documents.X, documents.y)
    _write(certificate_in_words(certified))
    if find_spec("matplotlib") is None:
        _write("\nNo figure: matplotlib is not installed (pip install 'scoresieve[plot]').\n")
    else:
        draw(fits, baseline, docs.target, options.output / FIGURE)
        _write(f"\nFigure: {options.output / FIGURE}\n")
    return 0


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
