"""Look at a model: its summary, every plot, and the page.

``python examples/look_at_a_model.py --output FOLDER`` fits models to docstrings (is one from
``scipy.stats``?), prints their summaries, and writes the plots and the reports. Nothing is
downloaded; the plots need matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from scoresieve import MeasureSVC, ScoreSieve, budget_path
from scoresieve.datasets import load_docstrings
from scoresieve.plotting import (
    ConvergenceDisplay,
    FeatureCurveDisplay,
    FeaturePathDisplay,
    OperatingPointDisplay,
    SupportsDisplay,
    WeightsDisplay,
)

SIZES = [2, 5, 10, 20, 50]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("look_output"), help="folder")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    docs = load_docstrings()
    words, train, test = docs.feature_names, slice(0, None, 2), slice(1, None, 2)
    X, y, unseen = docs.X[train], docs.y[train], (docs.X[test], docs.y[test])

    sieve = ScoreSieve("f1", n_features_to_select=SIZES, Cs=[1.0, 3.0], cv=3).fit(X, y)
    print(sieve.summary(words), end="\n\n")
    certified = MeasureSVC("f1", n_features_to_select=30).fit(X, y)
    print(certified.summary(words))

    sieve.report(folder / "report.html", *unseen, feature_names=words, title="Is it scipy.stats?")
    certified.report(folder / "certified.html", *unseen, feature_names=words)

    rivals = {"chi2, then the best of three C and all thresholds": (SIZES, chi2_scores(X, y))}
    displays = {
        "curve": FeatureCurveDisplay.from_estimator(sieve, rivals=rivals),
        "rounds": ConvergenceDisplay.from_estimator(certified),
        "weights": WeightsDisplay.from_estimator(sieve, feature_names=words),
        "features": FeaturePathDisplay.from_estimator(sieve, feature_names=words),
        "budgets": FeaturePathDisplay.from_path(budget_path(X, y, SIZES), feature_names=words),
        "operating_point": OperatingPointDisplay.from_estimator(certified, *unseen),
        "classes": supports_of_lengths(docs, train),
    }
    for name, display in displays.items():
        display.figure_.savefig(folder / f"{name}.png", dpi=100)


def chi2_scores(X: Any, y: np.ndarray) -> list[float]:
    """Cross-validated F1 of the best of three logistic regressions on words chosen by chi2."""

    def best_f1(k: int, C: float) -> float:
        model = LogisticRegression(C=C, max_iter=1000)
        pipeline = make_pipeline(SelectKBest(chi2, k=k), model)
        unseen = cross_val_predict(pipeline, X, y, cv=parts, method="decision_function")
        precision, recall, _ = precision_recall_curve(y, unseen)
        return float(np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12)))

    parts = StratifiedKFold(3, shuffle=True, random_state=0)
    return [max(best_f1(k, C) for C in (10.0, 100.0, 1000.0)) for k in SIZES]


def supports_of_lengths(docs: Any, rows: slice) -> SupportsDisplay:
    """The words of three groups of docstrings by their length, as an example of several classes."""
    lengths = np.asarray(docs.X[rows].getnnz(axis=1)).ravel()
    groups = np.array(["short", "middle", "long"])[np.digitize(lengths, [15, 60])]
    model = MeasureSVC("f1", n_features_to_select=6, certificate=False).fit(docs.X[rows], groups)
    return SupportsDisplay.from_estimator(model, feature_names=docs.feature_names)


if __name__ == "__main__":
    main()
