"""Models with names that would break a careless page, and rows to look at them with."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from scoresieve import MeasureSVC, ScoreSieve

HOSTILE = "</script><script>document.title='broken'</script>"
NAMES = np.array(
    [HOSTILE, "<b>bold</b> & {{title}}", "{{contents}}", *(f"word {j}" for j in range(3, 12))],
    dtype=object,
)


@pytest.fixture(scope="session")
def looked_at():
    """A sieve of two classes, one of three, a certified model, and rows that were held out."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(320, 12))
    signal = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=320)
    y = signal > np.quantile(signal, 0.75)
    classes = np.array(["a", "b", "c"])[np.argmax(X[:, [0, 1, 4]], axis=1)]
    train, test = slice(0, None, 2), slice(1, None, 2)
    quick = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 3}
    # Three columns decide, so that the largest number is not the chosen one.
    sieve = ScoreSieve("f1", n_features_to_select=[1, 3, 12], **quick).fit(X[train], y[train])
    several = ScoreSieve("f1", n_features_to_select=[1, 2], **quick)
    return SimpleNamespace(
        X=X[test],
        y=y[test],
        classes=classes[test],
        X_train=X[train],
        y_train=y[train],
        names=NAMES,
        sieve=sieve,
        several=several.fit(X[train], classes[train]),
        svc=MeasureSVC("f1", n_features_to_select=3).fit(X[train], y[train]),
    )
