"""Each rival in turn, labelled data, and the stored optima of other programs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from scoresieve.baselines import (
    FGM,
    L0SVM,
    L1SVM,
    NMMKL,
    SVMRFE,
    FSMulti,
    L1BundleSVM,
    SquaredL1SVM,
    SVMPerf,
)
from tests.helpers import load_reference, stored_optima

#: Settings with which each rival converges on the data below.
RIVALS = [
    FGM(budget=3),
    FSMulti("f1", budget=3, C=0.5, fit_intercept=True, tol=0.3, inner_tol=0.1),
    L0SVM(n_features_to_select=3),
    L1BundleSVM("f1", C=3.0),
    L1SVM(n_features_to_select=3),
    NMMKL(budget=3),
    SquaredL1SVM("f1", C=3.0),
    SVMPerf("f1", C=3.0),
    SVMRFE(n_features_to_select=3),
]


@pytest.fixture(params=RIVALS, ids=lambda rival: type(rival).__name__)
def rival(request):
    """An unfitted rival."""
    return clone(request.param)


@pytest.fixture(scope="session")
def three_classes():
    """X of 90 x 12, sparse enough for CSR, and labels 3, 5, 8: the largest of three columns."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 12))
    X[rng.uniform(size=X.shape) < 0.3] = 0.0
    return X, np.array([3, 5, 8])[np.argmax(X[:, [1, 4, 7]] + 0.2 * rng.normal(size=(90, 3)), 1)]


@pytest.fixture(scope="session")
def reference():
    """``reference.entries(name, data)`` are stored optima, ``reference.load(data)`` is X and y."""
    return SimpleNamespace(entries=stored_optima, load=load_reference)
