"""``MeasureSVC`` and ``budget_path`` with sample weights: whole weights are repeated rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV

from scoresieve import MeasureSVC, budget_path

ANY_WEIGHTS = ["accuracy", "balanced_accuracy", "roc_auc"]
WHOLE_WEIGHTS = ["f1", "prec@20", "rec@2p", "prbep", "average_precision"]


def whole(n_samples, seed=0):
    """Weights from 0 to 3, and the rows repeated so often."""
    weights = np.random.default_rng(seed).integers(0, 4, size=n_samples)
    return weights, np.repeat(np.arange(n_samples), weights)


@pytest.mark.parametrize(
    ("measure", "hard"),
    [
        *((measure, False) for measure in ANY_WEIGHTS + WHOLE_WEIGHTS),
        # The search for k features sees weights through the risk alone.
        *((measure, True) for measure in ("accuracy", "roc_auc", "f1")),
    ],
)
def test_whole_weights_are_repeated_rows(binary, measure, hard):
    X, y = binary
    weights, rows = whole(len(y))
    size = {"n_features_to_select": 3} if hard else {"budget": 3}
    model = MeasureSVC(measure, C=5.0, tol=1e-5, **size).fit(X, y, sample_weight=weights)
    repeated = MeasureSVC(measure, C=5.0, tol=1e-5, **size).fit(X[rows], y[rows])
    assert_allclose(model.coef_, repeated.coef_, atol=0.02)
    assert_allclose(model.primal_, repeated.primal_, rtol=1e-4)
    # Training scores are tied to thresholds, so they show that these were weighted, too.
    score = model.score(X, y, sample_weight=weights)
    assert score == pytest.approx(model.score(X[rows], y[rows]), abs=1e-12)
    certificate = model.certify(X, y, sample_weight=weights)
    assert certificate.gap == pytest.approx(model.gap_[0], abs=1e-9)


@pytest.mark.parametrize("kind", ["three_classes", "indicators"])
@pytest.mark.parametrize("settings", [("f1", 0.5), ("roc_auc", "auto")], ids=str)
def test_several_classes_and_indicator_matrices(kind, settings, request):
    X, y = request.getfixturevalue(kind)
    weights, rows = whole(X.shape[0], seed=3)
    measure, price = settings
    plain = MeasureSVC(measure, price=price, budget=3, tol=5e-4)
    model = clone(plain).fit(X, y, sample_weight=weights)
    repeated = clone(plain).fit(X[rows], y[rows])
    assert_allclose(model.primal_, repeated.primal_, rtol=1e-3)
    score = model.score(X, y, sample_weight=weights)
    assert score == pytest.approx(model.score(X[rows], y[rows]), abs=1e-12)
    for one, gap in zip(model.certify(X, y, weights), model.gap_, strict=True):
        assert one.gap == pytest.approx(gap, abs=1e-9)


def test_sparse_indicator_matrices(indicators):
    X, y = indicators
    weights, _ = whole(X.shape[0], seed=3)
    dense, sparse = MeasureSVC(price=0.5, budget=3), MeasureSVC(price=0.5, budget=3)
    dense.fit(X, y, sample_weight=weights)
    sparse.fit(X, sp.csr_matrix(y), sample_weight=weights)
    assert_array_equal(sparse.coef_, dense.coef_)
    assert sparse.score(X, sp.csr_matrix(y), weights) == dense.score(X, y, weights)
    assert sparse.certify(X, sp.csr_matrix(y), weights) == dense.certify(X, y, weights)


def test_scores_with_any_weights_are_those_of_scikit_learn(binary):
    X, y = binary
    weights = np.random.default_rng(1).uniform(0.0, 2.0, size=len(y))
    weights[:5] = 0.0
    model = MeasureSVC("accuracy", budget=3).fit(X, y, sample_weight=weights)
    expected = accuracy_score(y, model.predict(X), sample_weight=weights)
    assert model.score(X, y, weights) == pytest.approx(expected)
    ranking = MeasureSVC("roc_auc", budget=3).fit(X, y, sample_weight=weights)
    expected = roc_auc_score(y == "yes", ranking.decision_function(X), sample_weight=weights)
    assert ranking.score(X, y, weights) == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["roc_auc", "accuracy", "f1"])
def test_a_warm_start_takes_cuts_of_the_same_weights_only(binary, starts, measure):
    X, y = binary
    weights, _ = whole(len(y))
    plain = {"measure": measure, "budget": 3, "tol": 1e-3}
    plain |= {"price": 0.5} if measure == "f1" else {}
    model = MeasureSVC(warm_start=True, **plain)
    rounds = model.fit(X, y, sample_weight=weights).n_iter_[0]
    assert model.fit(X, y, sample_weight=weights).n_iter_[0] < rounds
    assert starts[1].dual_point is not None
    for other in (weights + 1, None):
        warm = model.fit(X, y, sample_weight=other)
        assert starts[-1].dual_point is None
        assert starts[-1].columns.size > 0
        assert warm.certify(X, y, sample_weight=other).gap <= 1e-3
        cold = MeasureSVC(**plain).fit(X, y, sample_weight=other)
        assert_allclose(warm.primal_, cold.primal_, rtol=2e-3)


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_the_path_takes_weights(binary, measure):
    X, y = binary
    weights, rows = whole(len(y))
    path = budget_path(X, y, [2, 5], measure=measure, sample_weight=weights, tol=1e-3)
    repeated = budget_path(X[rows], y[rows], [2, 5], measure=measure, tol=1e-3)
    assert_allclose(path.primal, repeated.primal, rtol=2e-3)


def test_grid_search_passes_weights_on(binary):
    X, y = binary
    weights, _ = whole(len(y))
    search = GridSearchCV(MeasureSVC("accuracy", budget=3), {"C": [0.1, 1.0]}, cv=3)
    assert search.fit(X, y, sample_weight=weights).best_estimator_.n_features_selected_ > 0


def test_errors(binary):
    X, y = binary
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is 0.5, but f1 takes whole weights"):
        MeasureSVC("f1").fit(X, y, sample_weight=np.full(len(y), 0.5))
    with pytest.raises(ValueError, match="has 3 weights, but y has 80 entries"):
        MeasureSVC("accuracy").fit(X, y, sample_weight=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"one class only \(1\); it needs positives"):
        MeasureSVC("f1").fit(X, y, sample_weight=(y == "yes").astype(int))
    with pytest.raises(ValueError, match="sample_weight is zero for all negatives"):
        MeasureSVC("accuracy").fit(X, y, sample_weight=(y == "yes").astype(int))
    model = MeasureSVC("f1").fit(X, y)
    with pytest.raises(ValueError, match="takes whole weights only"):
        model.score(X, y, sample_weight=np.full(len(y), 0.5))
