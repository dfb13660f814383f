"""``BudgetClassifier``, ``BudgetRegressor`` and ``budget_path``."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from scoresieve import BudgetClassifier, BudgetRegressor, Status, budget_path
from scoresieve.losses import Huber, HuberHinge, get_loss

CLASSIFIERS = ["squared_hinge", "hinge", "logistic", "huber_hinge"]
REGRESSORS = ["squared", "epsilon_insensitive", "huber"]


@pytest.fixture(scope="module")
def real():
    """X of 80 x 20 of which columns 2 and 5 decide, and targets around 100."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 20))
    return X, 100.0 + 3.0 * X[:, 2] - 2.0 * X[:, 5] + 0.1 * rng.normal(size=80)


def objective(w, bias, X, y, loss, C):
    """``1/2 (||w||^2 + b^2) + C sum_i l_i`` with an intercept column of 1."""
    scores = X @ w + bias
    return 0.5 * (w @ w + bias**2) + C * get_loss(loss).value(y, scores).sum()


@pytest.mark.parametrize(
    ("loss", "rival"),
    [
        ("squared_hinge", LinearSVC(loss="squared_hinge", C=0.7, tol=1e-8, max_iter=100000)),
        ("hinge", LinearSVC(loss="hinge", C=0.7, tol=1e-8, max_iter=1000000)),
    ],
)
def test_all_features_is_linear_svc(binary, loss, rival):
    X, y = binary
    model = BudgetClassifier(loss, budget=20, C=0.7, tol=1e-6).fit(X, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    rival.fit(X, y)
    theirs = objective(rival.coef_[0], rival.intercept_[0], X, signs, loss, 0.7)
    assert model.primal_[0] == pytest.approx(theirs, rel=1e-4)
    assert_allclose(model.coef_, rival.coef_, atol=1e-2)
    assert model.score(X, y) == rival.score(X, y)


def test_all_features_is_logistic_regression(binary):
    X, y = binary
    model = BudgetClassifier("logistic", budget=20, C=0.7, fit_intercept=False, tol=1e-7)
    rival = LogisticRegression(C=0.7, fit_intercept=False, tol=1e-10, solver="newton-cholesky")
    rival.fit(X, y)
    assert_allclose(model.fit(X, y).coef_, rival.coef_, rtol=1e-3, atol=1e-4)


def test_all_features_is_ridge_and_linear_svr(real):
    X, y = real
    model = BudgetRegressor(budget=20, C=2.0, fit_intercept=False, tol=1e-8).fit(X, y)
    assert_allclose(model.coef_, Ridge(alpha=0.5, fit_intercept=False).fit(X, y).coef_, rtol=1e-3)
    y = y - 100.0
    rival = LinearSVR(C=0.7, epsilon=0.1, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(X, y)
    model = BudgetRegressor(
        "epsilon_insensitive", budget=20, C=0.7, fit_intercept=False, tol=1e-6
    ).fit(X, y)
    theirs = objective(rival.coef_, 0.0, X, y, "epsilon_insensitive", 0.7)
    assert model.primal_ == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize("loss", CLASSIFIERS)
@pytest.mark.parametrize("hard", [False, True])
def test_certificates_of_classifiers(binary, three_classes, indicators, loss, hard):
    size = {"n_features_to_select": 3} if hard else {"budget": 3}
    # Each of several problems is one of two classes, and a search for features takes its time.
    for X, y in (binary,) if hard else (binary, three_classes, indicators):
        weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
        model = BudgetClassifier(loss, **size).fit(X, y, sample_weight=weights)
        checks = model.certify(X, y, sample_weight=weights)
        checks = checks if isinstance(checks, list) else [checks]
        assert_allclose([check.gap for check in checks], model.gap_, atol=1e-9)
        assert_allclose([check.primal for check in checks], model.primal_, rtol=1e-9)
        if hard:
            assert max(support.size for support in model.supports_) <= 3
            assert_array_equal(model.l0_gap_, model.gap_)
        else:
            assert np.all(model.gap_ <= 0.01)
            assert_array_equal(model.l0_gap_, np.full_like(model.gap_, np.nan))


@pytest.mark.parametrize("loss", REGRESSORS)
@pytest.mark.parametrize("hard", [False, True])
def test_certificates_of_regressors(real, loss, hard):
    X, y = real
    size = {"n_features_to_select": 2} if hard else {"budget": 2}
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    model = BudgetRegressor(loss, **size).fit(X, y, sample_weight=weights)
    check = model.certify(X, y, sample_weight=weights)
    assert check.gap == pytest.approx(model.gap_, abs=1e-9)
    assert {2, 5} <= set(model.support_)
    assert model.score(X, y) > 0.99
    if hard:
        assert_array_equal(model.support_, [2, 5])
        assert model.l0_gap_ == model.gap_


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge", "squared", "huber"])
def test_the_hard_budget_is_near_the_best_of_all_supports(loss):
    """All pairs of six columns: the bound holds, and the model is the best one or close to it."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 6))
    X[:, 1] += 0.7 * X[:, 0]
    values = X[:, 0] - X[:, 1] + 0.5 * X[:, 4] + 0.3 * rng.normal(size=40)
    is_regression = get_loss(loss).task == "regression"
    kind = BudgetRegressor if is_regression else BudgetClassifier
    y = values if is_regression else values > 0
    settings = {"C": 2.0, "fit_intercept": False}
    model = kind(loss, n_features_to_select=2, tol=1e-4, **settings).fit(X, y)
    best = min(
        float(np.min(kind(loss, budget=2, tol=1e-5, **settings).fit(X[:, pair], y).primal_))
        for pair in map(list, itertools.combinations(range(6), 2))
    )
    primal, dual = float(np.min(model.primal_)), float(np.min(model.dual_))
    assert dual <= best * (1 + 1e-6)
    assert best * (1 - 1e-4) <= primal <= 1.05 * best


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive"])
def test_the_opposite_targets_have_the_opposite_model(real, loss):
    X, y = real
    X, y = X[:40], y[:40]  # an even number: two medians
    one, other = (BudgetRegressor(loss, budget=3).fit(X, sign * y) for sign in (1.0, -1.0))
    assert_allclose(other.coef_, -one.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(other.intercept_, -one.intercept_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", REGRESSORS)
def test_a_shift_of_y_shifts_the_predictions(real, loss):
    X, y = real
    model = BudgetRegressor(loss, budget=3).fit(X, y)
    shifted = BudgetRegressor(loss, budget=3).fit(X, y + 1e4)
    assert_allclose(shifted.predict(X), model.predict(X) + 1e4, atol=1e-4)


@pytest.mark.parametrize("loss", [*CLASSIFIERS, *REGRESSORS])
def test_whole_weights_are_repeated_rows(binary, real, loss):
    is_regression = get_loss(loss).task == "regression"
    X, y = real if is_regression else binary
    kind = BudgetRegressor if is_regression else BudgetClassifier
    weights = np.random.default_rng(1).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    model = kind(loss, budget=3, tol=1e-6).fit(X, y, sample_weight=weights)
    repeated = kind(loss, budget=3, tol=1e-6).fit(X[rows], y[rows])
    assert_allclose(model.primal_, repeated.primal_, rtol=1e-5)
    assert_allclose(model.coef_, repeated.coef_, atol=5e-3)


@pytest.mark.parametrize("loss", [*CLASSIFIERS, *REGRESSORS])
def test_the_path_is_as_good_as_single_fits(binary, real, loss):
    is_regression = get_loss(loss).task == "regression"
    X, y = real if is_regression else binary
    kind = BudgetRegressor if is_regression else BudgetClassifier
    path = budget_path(X, y, [2, 8, 4, 20], loss=loss, tol=1e-3)
    assert np.all(path.gap <= 1e-3)
    for budget, primal, dual in zip([2, 8, 4, 20], path.primal, path.dual, strict=True):
        alone = kind(loss, budget=budget, tol=1e-3).fit(X, y)
        assert primal >= np.min(alone.dual_) * (1 - 1e-9)
        assert dual <= np.min(alone.primal_) * (1 + 1e-9)
    at = path.decision_function(X)
    assert at.shape == (80, 4)
    if is_regression:
        assert path.pos_label is None
        assert np.corrcoef(at[:, 1], y)[0, 1] > 0.99
        assert abs(at[:, 1].mean() - y.mean()) < 1.0
    else:
        assert path.pos_label == "yes"
        assert np.mean((at[:, 1] > 0) == (y == "yes")) > 0.8


def test_always_excluded_and_groups(real):
    X, y = real
    groups = np.repeat(np.arange(10), 2)
    model = BudgetRegressor(
        n_features_to_select=2,
        always_features=[0, 1],
        excluded_features=[4, 5],
        feature_groups=groups,
    ).fit(X, y)
    assert 0 in model.support_
    assert 5 not in model.support_
    assert np.unique(groups[np.setdiff1d(model.support_, [0, 1])]).size <= 2
    assert model.certify(X, y).gap == pytest.approx(model.gap_, abs=1e-9)


def test_losses_with_settings(binary, real):
    small = BudgetClassifier(HuberHinge(delta=0.1), budget=3).fit(*binary)
    assert small.loss_ == HuberHinge(delta=0.1)
    assert small.primal_ != BudgetClassifier("huber_hinge", budget=3).fit(*binary).primal_
    assert BudgetRegressor(Huber(epsilon=0.5), budget=3).fit(*real).gap_ <= 0.01


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
def test_warm_starts(binary, loss):
    X, y = binary
    model = BudgetClassifier(loss, budget=3, warm_start=True, tol=1e-4).fit(X, y)
    cold = model.n_iter_[0]
    again = model.fit(X, y)
    assert np.all(again.gap_ <= 1e-4)
    assert again.n_iter_[0] <= cold
    model.set_params(excluded_features=[0]).fit(X, y)
    assert model.coef_[0, 0] == 0.0


def test_a_regressor_starts_warm_with_another_offset(real):
    X, y = real
    model = BudgetRegressor(budget=3, warm_start=True, tol=1e-6).fit(X, y)
    coef, n_iter = model.coef_.copy(), model.n_iter_
    model.fit(X, y + 50.0)
    assert_allclose(model.coef_, coef, atol=1e-3)
    assert model.n_iter_ < n_iter


def test_forms_of_X(binary, real):
    X, y = binary
    model = BudgetClassifier(budget=3).fit(X, y)
    for form in (sp.csr_matrix, sp.csc_array):
        assert_allclose(BudgetClassifier(budget=3).fit(form(X), y).coef_, model.coef_, atol=0.02)
    X, y = real
    regressor = BudgetRegressor(budget=3).fit(sp.csr_array(X), y)
    assert_allclose(regressor.predict(sp.csr_array(X)), regressor.predict(X))


def test_in_pipelines_searches_and_copies(binary, real):
    X, y = binary
    scores = cross_val_score(make_pipeline(StandardScaler(), BudgetClassifier(budget=3)), X, y)
    assert scores.mean() > 0.8
    X, y = real
    search = GridSearchCV(BudgetRegressor(budget=3), {"C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"C": 1.0}
    model = BudgetRegressor(budget=3).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()


def test_selection_and_export(binary):
    X, y = binary
    model = BudgetClassifier(n_features_to_select=4).fit(X, y)
    assert model.transform(X).shape == (80, 4)
    exported = model.to_linear_svc()
    assert_array_equal(exported.predict(X), model.predict(X))


def test_two_jobs_give_the_same_bits(three_classes):
    X, y = three_classes
    one, two = (BudgetClassifier(budget=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert_array_equal(one.coef_, two.coef_)


def test_progress_and_early_stops(binary, real, capsys):
    X, y = binary
    with pytest.warns(ConvergenceWarning, match="class 'yes': the certified gap is"):
        model = BudgetClassifier(budget=3, tol=1e-12, max_iter=1, verbose=1).fit(X, y)
    assert model.status_ == [Status.MAX_ITER]
    assert "[BudgetClassifier] class 'yes': iteration 1, gap" in capsys.readouterr().err
    with pytest.warns(ConvergenceWarning, match="regression: the certified gap is"):
        BudgetRegressor(budget=3, tol=1e-12, max_iter=1).fit(*real)


def test_an_empty_model_says_which_C(binary, real):
    with pytest.warns(UserWarning, match="class 'yes': the model has no features: at C=1e-06"):
        model = BudgetClassifier(C=1e-6).fit(*binary)
    assert model.n_features_selected_ == 0
    with pytest.warns(UserWarning, match=r"regression: the model has no features.*Raise C to at l"):
        BudgetRegressor(C=1e-9).fit(*real)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BudgetClassifier("squared"), "loss='squared' is for regression; for classification use"),
        (BudgetClassifier("quadratic"), "unknown loss 'quadratic'"),
        (BudgetClassifier(budget=0), "budget must be an integer"),
        (BudgetClassifier(multi_class_support="all"), "multi_class_support must be one of"),
        (BudgetClassifier(C=-1.0), "C must be"),
        (BudgetClassifier(tol=0.0), "tol must be"),
    ],
)
def test_errors_of_the_classifier(binary, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*binary)


def test_errors_of_the_regressor(real):
    X, y = real
    with pytest.raises(ValueError, match="loss='hinge' is for classification; for regression use"):
        BudgetRegressor("hinge").fit(X, y)
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        BudgetRegressor().fit(X, y, sample_weight=np.zeros(80))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BudgetRegressor().fit(X, y[:10])
    with pytest.raises(ValueError, match="y has 3 classes; a path is for two"):
        budget_path(X, np.arange(80) % 3, [2])
