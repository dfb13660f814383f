"""Small fitted models to draw, and no figure that stays open."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from scoresieve import MeasureSVC, ScoreSieve

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

NAMES = [f"column {j}" for j in range(12)]


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture(scope="session")
def drawn():
    """Rows with labels of two and of three classes, and models of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 12))
    signal = X[:, 0] - X[:, 1] + 0.6 * rng.normal(size=160)
    y = signal > np.quantile(signal, 0.75)
    classes = np.array(["a", "b", "c"])[np.argmax(X[:, [0, 1, 4]], axis=1)]
    quick = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 3}
    return SimpleNamespace(
        X=X,
        y=y,
        classes=classes,
        names=NAMES,
        svc=MeasureSVC("f1", n_features_to_select=2).fit(X, y),
        relaxed=MeasureSVC("f1", budget=3).fit(X, y),
        sieve=ScoreSieve("f1", n_features_to_select=[1, 2, 6], **quick).fit(X, y),
        several=ScoreSieve("f1", n_features_to_select=[2], **quick).fit(X, classes),
    )
