"""F1 against the number of words, on docstrings: run ``python -m scoresieve.demo``.

Which few words tell a docstring of ``scipy.stats`` from all others? For each number of words, a
``ScoreSieve`` competes with an l1-SVM, SVM-RFE and chi2; each of these gets a logistic regression
and a threshold tuned for F1 by cross-validation. The demonstration prints the F1 of all four on
held-out documents, draws it, summarises one model with its certified gap, and writes a report to
open in a browser. Nothing is downloaded: the documents are the docstrings of the installed numpy,
scipy and scikit-learn.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline

from scoresieve import MeasureSVC, ScoreSieve
from scoresieve._arrays import Array
from scoresieve._files import replaced
from scoresieve.baselines import L1SVM, SVMRFE
from scoresieve.datasets import load_docstrings

SIZES = (1, 2, 5, 10, 20, 50, 100)
SHOWN_SIZE = 20
FIGURE, REPORT = "f1_against_features.png", "report.html"
OURS = "ScoreSieve"
#: Rivals that choose exactly k words.
RIVALS: dict[str, Callable[[int], Any]] = {
    "l1-SVM": lambda k: L1SVM(n_features_to_select=k, k_tol=0.0),
    "SVM-RFE": lambda k: SVMRFE(n_features_to_select=k),
    "chi2": lambda k: SelectKBest(chi2, k=k),
}
#: Of the rivals' logistic regressions.
RIVALS_C = 10.0
STYLES = ("o-", "^--", "s:", "d-.")


class Documents(NamedTuple):
    """60 % training documents and 40 % held-out ones, stratified."""

    X: Any
    X_held_out: Any
    y: Array
    y_held_out: Array


class Fit(NamedTuple):
    """A fitted model, and its F1 on held-out documents."""

    model: Any
    f1: float
    seconds: float


def fit(documents: Documents, model: Any) -> Fit:
    """Train, and score the held-out documents."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        # An l1-SVM may have no C that gives exactly k words; the nearest number is taken then.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(documents.X, documents.y)
    seconds = time.perf_counter() - start
    found = model.predict(documents.X_held_out)
    return Fit(model, f1_score(documents.y_held_out, found, zero_division=0.0), seconds)


def with_tuned_threshold(selector: Any) -> Any:
    """A selector as a careful user of scikit-learn would use it."""
    model = make_pipeline(selector, LogisticRegression(C=RIVALS_C, max_iter=1000))
    return TunedThresholdClassifierCV(model, scoring="f1", cv=5)


def heading() -> str:
    """First line of the table of scores."""
    names = "".join(f" {name:>10}" for name in (OURS, *RIVALS))
    return f"{'words':>6} {'expected':>9}{names} {'seconds':>8}\n"


def table_row(size: int, fits: dict[str, Fit]) -> str:
    """One line under the heading."""
    scores = "".join(f" {each.f1:>10.3f}" for each in fits.values())
    ours = fits[OURS]
    return f"{size:>6} {ours.model.best_score_:>9.3f}{scores} {ours.seconds:>8.2f}\n"


def draw(table: dict[int, dict[str, Fit]], target: str, path: Path) -> None:
    """Held-out F1 against the number of words, all methods on one pair of axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.5), dpi=150, layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.add_subplot()
    for name, style in zip((OURS, *RIVALS), STYLES, strict=True):
        scores = [fits[name].f1 for fits in table.values()]
        label = name if name == OURS else f"{name}, refit and threshold tuned for F1"
        axes.plot(list(table), scores, style, label=label)
    axes.set_xscale("log")
    axes.set_xticks(SIZES, [str(size) for size in SIZES])
    axes.minorticks_off()
    axes.set_xlabel("words in the model")
    axes.set_ylabel("F1 on held-out documents")
    axes.set_title(f"Is this docstring from {target}?")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    with replaced(path) as file:
        canvas.print_png(file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; the exit code is 0."""
    parser = argparse.ArgumentParser(prog="python -m scoresieve.demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo_output"), help="folder to write")
    options = parser.parse_args(arguments)
    docs = load_docstrings()
    is_target = docs.y > 0
    parts = train_test_split(docs.X, is_target, test_size=0.4, random_state=0, stratify=docs.y)
    documents = Documents(*parts)
    _write(
        f"Documents: {is_target.size} docstrings, {len(docs.feature_names)} words; "
        f"{is_target.sum()} ({is_target.mean():.1%}) are from {docs.target}.\n"
        f"Trained on {documents.y.size}, scored on {documents.y_held_out.size} held-out documents."
        f"\n\nF1 on held-out documents. expected: cross-validated F1 of {OURS}. Rivals: logistic\n"
        f"regressions on their words, thresholds tuned for F1. seconds: of {OURS}.\n{heading()}"
    )
    table: dict[int, dict[str, Fit]] = {}
    for size in SIZES:
        table[size] = {OURS: fit(documents, ScoreSieve("f1", n_features_to_select=size))}
        for name, selector in RIVALS.items():
            table[size][name] = fit(documents, with_tuned_threshold(selector(size)))
        _write(table_row(size, table[size]))
    shown = table[SHOWN_SIZE][OURS].model
    _write(f"\n{shown.summary(docs.feature_names)}\n")
    certified = MeasureSVC("f1", n_features_to_select=SHOWN_SIZE).fit(documents.X, documents.y)
    _write(
        f"\nMeasureSVC with {certified.n_features_selected_} words, certified: the best model with "
        f"as many has a training objective at most {100 * certified.l0_gap_[0]:.0f} % lower.\n"
    )
    options.output.mkdir(parents=True, exist_ok=True)
    shown.report(
        options.output / REPORT,
        documents.X_held_out,
        documents.y_held_out,
        feature_names=docs.feature_names,
    )
    _write(f"\nReport, to open in a browser: {options.output / REPORT}\n")
    if find_spec("matplotlib") is None:
        _write("No figure: matplotlib is not installed (pip install 'scoresieve[plot]').\n")
    else:
        draw(table, docs.target, options.output / FIGURE)
        _write(f"Figure: {options.output / FIGURE}\n")
    return 0


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
