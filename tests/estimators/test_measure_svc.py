"""``MeasureSVC``: what it fits, predicts, scores and reports."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scoresieve import MeasureSVC, Status, certify, solve
from scoresieve.measures import Contingency

#: For tests in which the way to the price is of no importance.
PRICE = 0.5
bounds = pytest.mark.parametrize("bound", ["tight", "paper"])


def signs(y, label):
    return np.where(y == label, 1.0, -1.0)


@bounds
def test_it_is_the_model_of_solve(binary, bound):
    X, y = binary
    settings = {"bound": bound, "budget": 3, "C": 2.0, "intercept_scaling": 2.0, "tol": 0.01}
    model = MeasureSVC("f1", **settings).fit(X, y)
    result = solve(X, signs(y, "yes"), measure="f1", **settings)
    assert_array_equal(model.coef_, [result.w])
    assert model.models_[0].intercept == result.intercept
    assert_array_equal(model.price_, [result.price])
    if bound == "paper":
        assert_array_equal(model.intercept_, [result.intercept])
        assert result.price == 1.0
    assert_array_equal(model.support_, result.support)
    assert_array_equal(model.support_, model.supports_[0])
    assert model.n_features_selected_ == result.support.size
    assert (model.primal_, model.dual_, model.gap_) == (
        result.primal,
        result.dual,
        result.gap,
    )
    assert model.n_iter_ == [result.n_iter]
    assert model.status_ == [Status.CONVERGED]
    assert [row.primal for row in model.history_[0]] == [row.primal for row in result.history]
    assert_array_equal(model.l0_gap_, [np.nan])


def test_predictions_and_score_of_two_classes(binary):
    X, y = binary
    model = MeasureSVC(budget=5, C=2.0).fit(X, y)
    decision = X @ model.coef_[0] + model.intercept_[0]
    assert_allclose(model.decision_function(X), decision, atol=1e-12)
    assert_array_equal(model.classes_, ["no", "yes"])
    assert_array_equal(model.predict(X), np.where(decision > 0, "yes", "no"))
    assert model.score(X, y) == pytest.approx(f1_score(y, model.predict(X), pos_label="yes"))
    assert model.score(X, y) > 0.8
    assert_array_equal(model.predict(sp.csr_array(X)), model.predict(X))


@bounds
def test_the_other_class_can_be_the_positive_one(binary, bound):
    """The decision still speaks for classes_[1], the measure is that of pos_label."""
    X, y = binary
    settings = {"bound": bound, "budget": 5, "C": 2.0}
    model = MeasureSVC(pos_label="no", **settings).fit(X, y)
    result = solve(X, signs(y, "no"), measure="f1", intercept_scaling=1.0, **settings)
    assert_array_equal(model.classes_, ["no", "yes"])
    assert_array_equal(model.coef_, [-result.w])
    bias = -model.intercept_[0]
    if bound == "paper":
        assert bias == result.intercept
    predicted = model.predict(X)
    assert_array_equal(predicted, np.where(X @ result.w + bias > 0, "no", "yes"))
    assert model.score(X, y) == pytest.approx(f1_score(y, predicted, pos_label="no"))
    assert roc_auc_score(y == "yes", model.decision_function(X)) > 0.9
    assert model.certify(X, y).primal == pytest.approx(result.primal)


def test_a_score_of_zero_is_no_alarm_for_either_class(binary):
    X, y = binary
    for pos_label, other in (("yes", "no"), ("no", "yes")):
        model = MeasureSVC(pos_label=pos_label, fit_intercept=False, budget=2).fit(X, y)
        assert model.predict(np.zeros((1, 20))) == [other]


def test_several_classes_are_separate_binary_fits(three_classes):
    X, y = three_classes
    model = MeasureSVC("f1", budget=2, C=3.0).fit(X, y)
    singles = [MeasureSVC("f1", budget=2, C=3.0).fit(X, y == label) for label in (3, 5, 8)]
    assert_array_equal(model.classes_, [3, 5, 8])
    assert_array_equal(model.coef_, np.vstack([single.coef_ for single in singles]))
    assert_array_equal(model.intercept_, np.concatenate([s.intercept_ for s in singles]))
    for name in ("primal_", "dual_", "gap_", "n_iter_"):
        assert_array_equal(getattr(model, name), np.ravel([getattr(s, name) for s in singles]))
    for support, single in zip(model.supports_, singles, strict=True):
        assert_array_equal(support, single.support_)
    assert_array_equal(model.support_, np.unique(np.concatenate(model.supports_)))
    decision = model.decision_function(X)
    assert decision.shape == (90, 3)
    assert_array_equal(model.predict(X), np.array([3, 5, 8])[np.argmax(decision, axis=1)])
    assert accuracy_score(y, model.predict(X)) > 0.8
    assert model.score(X, y) == pytest.approx(f1_score(y, model.predict(X), average="macro"))


def test_the_intersection_of_supports(three_classes):
    X, y = three_classes
    settings = {"price": PRICE, "budget": 4, "C": 3.0}
    union = MeasureSVC(**settings).fit(X, y)
    both = MeasureSVC(**settings, multi_class_support="intersection").fit(X, y)
    common = set.intersection(*[set(support) for support in union.supports_])
    assert_array_equal(both.support_, sorted(common))
    assert both.n_features_selected_ == len(common) < union.n_features_selected_


def test_indicator_matrices(indicators):
    X, Y = indicators
    model = MeasureSVC(budget=2, C=3.0).fit(X, Y)
    decision = model.decision_function(X)
    assert model.coef_.shape == (4, 10)
    assert_array_equal(model.classes_, np.arange(4))
    predicted = model.predict(X)
    assert_array_equal(predicted, (decision > 0).astype(int))
    assert predicted.dtype == Y.dtype
    assert model.score(X, Y) == pytest.approx(f1_score(Y, predicted, average="macro"))
    sparse = MeasureSVC(budget=2, C=3.0).fit(X, sp.csr_matrix(Y))
    assert_array_equal(sparse.coef_, model.coef_)
    assert sparse.score(X, sp.csc_matrix(Y)) == model.score(X, Y)
    assert len(sparse.certify(X, sp.csr_array(Y))) == 4


def test_the_score_leaves_out_classes_that_y_does_not_hold(three_classes):
    X, y = three_classes
    model = MeasureSVC(price=PRICE, budget=2, C=3.0).fit(X, y)
    some = y != 8
    predicted = model.predict(X[some])
    expected = [f1_score(y[some] == label, predicted == label) for label in (3, 5)]
    assert model.score(X[some], y[some]) == pytest.approx(np.mean(expected))
    with pytest.raises(ValueError, match=r"one class only.*'f1'"):
        MeasureSVC(price=PRICE).fit(X[some], y[some]).score(X[y == 3], y[y == 3])
    accuracy = MeasureSVC("accuracy").fit(X[some], y[some])
    three = y == 3
    assert accuracy.score(X[three], y[three]) == np.mean(accuracy.predict(X[three]) == 3)


def test_two_jobs_give_the_same_bits(three_classes):
    X, y = three_classes
    one = MeasureSVC(budget=2, C=3.0, n_jobs=1).fit(X, y)
    two = MeasureSVC(budget=2, C=3.0, n_jobs=2).fit(X, y)
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.intercept_, two.intercept_)
    assert_array_equal(one.dual_, two.dual_)


@pytest.mark.parametrize(
    ("measure", "n_above"),
    [
        ("prec@7", 7),
        ("rec@11", 11),
        ("rec@2p", 54),
        ("prbep", 27),
        ("roc_auc", 27),
        ("average_precision", 27),
        ("prec@80", 80),
    ],
)
@pytest.mark.parametrize("pos_label", ["yes", "no"])
def test_the_threshold_of_measures_of_the_highest_scores(binary, measure, n_above, pos_label):
    X, y = binary
    if pos_label == "no":
        y = np.where(y == "yes", "no", "yes")
    model = MeasureSVC(measure, budget=3, C=2.0, tol=0.1, pos_label=pos_label).fit(X, y)
    assert np.sum(y == pos_label) == 27
    assert np.sum(model.predict(X) == pos_label) == n_above
    sign = 1.0 if pos_label == "yes" else -1.0
    scores = sign * X @ model.coef_[0]
    ordered = np.sort(scores)[::-1]
    if n_above < 80:
        middle = (ordered[n_above - 1] + ordered[n_above]) / 2
        assert_allclose(sign * model.intercept_[0], -middle, atol=1e-12)
    check = model.certify(X, y)
    assert_allclose([check.primal, check.dual], [model.primal_[0], model.dual_[0]], rtol=1e-9)


def test_tied_scores_are_not_above_the_threshold():
    X = np.array([[3.0], [1.0], [1.0], [1.0], [0.0], [0.0]])
    y = np.array([1, 1, 1, 0, 0, 0])
    model = MeasureSVC("prec@2", C=10.0).fit(X, y)
    assert_array_equal(model.predict(X), [1, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_at_most_k_features(binary, k):
    X, y = binary
    model = MeasureSVC(n_features_to_select=k, C=2.0, price="auto" if k == 2 else PRICE).fit(X, y)
    assert model.n_features_selected_ <= k
    assert model.budget_ == k
    assert model.transform(X).shape == (80, model.n_features_selected_)
    assert_array_equal(model.support_, np.flatnonzero(model.coef_[0]))
    half = 0.5 * (model.coef_[0] @ model.coef_[0] + model.models_[0].intercept ** 2)
    risk = (model.primal_[0] - half) / 2.0
    scores = X @ model.coef_[0] + model.models_[0].intercept
    priced = np.where(y == "yes", 1.0, model.price_[0]) * scores
    assert risk == pytest.approx(model.measure_.risk(signs(y, "yes"), priced))
    assert_allclose(model.l0_gap_, 1 - model.dual_ / model.primal_)
    assert model.certify(X, y).gap == pytest.approx(model.l0_gap_[0])
    model.set_params(n_features_to_select=None).fit(X, y)
    assert_array_equal(model.l0_gap_, [np.nan])


def test_at_most_k_features_for_each_class(three_classes):
    X, y = three_classes
    model = MeasureSVC(price=PRICE, n_features_to_select=1, C=3.0).fit(X, y)
    assert_array_equal(np.concatenate(model.supports_), [1, 4, 7])
    assert model.l0_gap_.shape == (3,)


def test_certificates_are_those_of_certify(three_classes):
    X, y = three_classes
    model = MeasureSVC("prbep", budget=2, C=3.0, always_features=[0], tol=0.02).fit(X, y)
    for c, certificate in enumerate(model.certify(X, y)):
        assert_allclose(certificate.primal, model.primal_[c], rtol=1e-9)
        assert_allclose(certificate.dual, model.dual_[c], rtol=1e-9)
        assert certificate.gap <= 0.02
    model.set_params(C=100.0, budget=7, measure="f1").sparsify()
    assert model.certify(X, y)[0].gap == pytest.approx(model.gap_[0])
    with pytest.raises(ValueError, match="dual_point"):
        model.certify(X[:50], y[:50])


def test_warm_start_needs_fewer_rounds(binary):
    X, y = binary
    settings = {"price": PRICE, "budget": 3, "tol": 1e-3}
    cold = MeasureSVC(C=2.0, **settings).fit(X, y)
    model = MeasureSVC(C=1.8, warm_start=True, **settings).fit(X, y)
    model.set_params(C=2.0).fit(X, y)
    assert model.n_iter_[0] < cold.n_iter_[0]
    assert model.gap_[0] <= 1e-3
    assert model.primal_[0] == pytest.approx(cold.primal_[0], rel=2e-3)
    model.set_params(excluded_features=[0], fit_intercept=False).fit(X, y)
    assert model.coef_[0, 0] == 0.0
    assert model.certify(X, y).gap <= 1e-3


@pytest.mark.parametrize("change", ["columns", "classes", "pos_label"])
def test_warm_start_begins_anew_on_other_problems(binary, starts, change):
    X, y = binary
    settings = {"price": PRICE, "budget": 3, "C": 2.0}
    model = MeasureSVC(warm_start=True, **settings).fit(X, y)
    if change == "columns":
        X = X[:, :15]
    elif change == "classes":
        y = np.where(y == "yes", "true", "false")
    else:
        settings["pos_label"] = "no"
        model.set_params(pos_label="no")
    assert_array_equal(model.fit(X, y).coef_, MeasureSVC(**settings).fit(X, y).coef_)
    assert starts == [None, None, None]


@pytest.mark.parametrize("change", ["labels", "measure", "bound", "rows"])
def test_warm_start_takes_weights_but_no_cuts_of_other_labels(binary, starts, change):
    """Weights are a start for any problem; a cut is one of the same labels and bound only."""
    X, y = binary
    settings = {"budget": 3, "C": 2.0, "tol": 0.01}
    model = MeasureSVC(warm_start=True, **settings).fit(X, y)
    before = np.append(model.coef_[0], model.models_[0].intercept)
    if change == "labels":
        y = np.roll(y, 1)
    elif change == "rows":
        X, y = X[:70], y[:70]
    else:
        settings |= {"measure": "jaccard"} if change == "measure" else {"bound": "paper"}
        model.set_params(**settings)
    model.fit(X, y)
    assert_array_equal(starts[1].columns, np.flatnonzero(before))
    assert_array_equal(starts[1].w, before[before != 0])
    assert starts[1].dual_point is None
    cold = MeasureSVC(**settings).fit(X, y)
    assert model.certify(X, y).gap <= 0.01
    assert max(model.dual_, cold.dual_) <= min(model.primal_, cold.primal_) * (1 + 1e-9)


def test_warm_start_takes_cuts_of_the_same_labels(binary, starts):
    X, y = binary
    model = MeasureSVC(budget=3, C=2.0, warm_start=True).fit(X, y)
    points = [each.proof.dual_point for each in model.models_]
    model.set_params(C=3.0, budget=5, tol=0.01).fit(X, y)
    assert starts[1].dual_point is points[0]
    assert model.certify(X, y).gap <= 0.01


def test_stopping_early_warns_with_the_gap(binary):
    X, y = binary
    with pytest.warns(
        ConvergenceWarning, match=r"'yes'.*gap is 0\.\d+, above tol=0.0001.*max_iter"
    ):
        model = MeasureSVC(budget=3, C=2.0, tol=1e-4, max_iter=2).fit(X, y)
    assert model.status_ == [Status.MAX_ITER]
    assert model.gap_[0] > 1e-4
    with pytest.warns(ConvergenceWarning, match="max_time"):
        MeasureSVC(C=2.0, tol=1e-4, max_time=1e-9).fit(X, y)


def test_an_empty_model_warns_with_the_smallest_useful_C(binary):
    X, y = binary
    with pytest.warns(UserWarning, match="class 'yes': the model has no features: at C=1e-06") as w:
        model = MeasureSVC(C=1e-6, pos_label="yes").fit(X, y)
    assert model.n_features_selected_ == 0
    assert w[0].filename == __file__
    # What is printed works as it stands.
    smallest = float(str(w[0].message).split("at least ")[1].split(",")[0])
    assert MeasureSVC(C=smallest, pos_label="yes").fit(X, y).n_features_selected_ > 0
    with pytest.warns(UserWarning, match="Raising C does not help: select features with Budget"):
        MeasureSVC(pos_label="yes").fit(np.zeros((80, 2)), y)


def overlapping():
    """Rare positives that overlap with the rest: the paper's bound is least at w = 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    return X, X[:, 0] + X[:, 1] + rng.normal(size=800) > 3.0


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"bound": "paper"}, "use bound='tight' with an intercept"),
        ({"price": 1.0}, "lower price or use price='auto'"),
    ],
    ids=str,
)
def test_an_empty_bound_is_said_to_be_one(settings, remedy):
    X, y = overlapping()
    with pytest.warns(UserWarning, match="the empty model minimises the bound of") as w:
        model = MeasureSVC("f1", **settings).fit(X, y)
    assert model.n_features_selected_ == 0
    assert f"Raising C does not help: {remedy}" in str(w[0].message)
    assert MeasureSVC("f1").fit(X, y).n_features_selected_ > 0


def test_columns_out_of_scale_are_named():
    X, y = overlapping()
    X[:, 2] *= 1e4
    with pytest.warns(
        UserWarning, match=r"scale by a factor of 1.*e\+04 .*1 \(.*0 \(.*against 2 \(.*Scale"
    ):
        MeasureSVC("f1").fit(X, y)
    # Nobody selects what is excluded.
    MeasureSVC("f1", excluded_features=[2]).fit(X, y)


def test_an_empty_hard_budget_warns_to_allow_more():
    """Two columns that are noise each and the label in their sum: one alone tells nothing."""
    y = np.arange(200) % 8 == 0
    noise = 20.0 * np.random.default_rng(0).normal(size=200)
    X = np.column_stack([y + noise, y - noise])
    settings = {"bound": "paper", "C": 1.0, "fit_intercept": False}
    with pytest.warns(UserWarning, match="no features: no selection of that size .*Allow more"):
        model = MeasureSVC(n_features_to_select=1, **settings).fit(X, y)
    assert model.status_ == [Status.EMPTY_CHOICE]
    assert model.n_features_selected_ == 0


def test_progress_goes_to_stderr(binary, capsys):
    X, y = binary
    model = MeasureSVC(budget=3, C=2.0, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == model.n_iter_[0]
    assert lines[0].startswith("[MeasureSVC] class 'yes': iteration 1, gap ")
    MeasureSVC(budget=3, C=2.0).fit(X, y)
    assert capsys.readouterr().err == ""


def test_in_pipelines_and_searches(binary):
    X, y = binary
    three = MeasureSVC(n_features_to_select=3, price=0.5, pos_label="yes")
    pipeline = make_pipeline(StandardScaler(), three)
    search = GridSearchCV(pipeline, {"measuresvc__C": [0.5, 5.0]}, cv=2, error_score="raise")
    search.fit(X, y)
    assert search.best_score_ > 0.7
    assert set(search.best_estimator_[-1].support_) == {0, 1, 2}
    scores = cross_val_score(MeasureSVC("roc_auc", C=2.0), sp.csr_matrix(X), y, cv=2)
    by_scorer = cross_val_score(MeasureSVC("roc_auc", C=2.0), X, y, cv=2, scoring="roc_auc")
    assert_allclose(scores, by_scorer, atol=1e-9)
    selected = make_pipeline(clone(three), MeasureSVC("accuracy"))
    assert selected.fit(X, y)[-1].n_features_in_ <= 3


def test_copies(binary):
    X, y = binary
    model = MeasureSVC("prec@p", budget=3, C=2.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.certify(X, y) == model.certify(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(X)
    assert_array_equal(copy.fit(X, y).coef_, model.coef_)


def test_sparsify_and_densify(three_classes):
    X, y = three_classes
    model = MeasureSVC(price=PRICE, budget=2, C=3.0).fit(X, y)
    decision, coef = model.decision_function(X), model.coef_.copy()
    assert model.sparsify() is model
    assert sp.issparse(model.coef_)
    assert model.coef_.nnz == np.count_nonzero(coef)
    for version in (X, sp.csr_matrix(X), sp.csc_array(X)):
        assert_allclose(model.decision_function(version), decision, atol=1e-12)
    assert_array_equal(model.densify().coef_, coef)
    assert_array_equal(model.densify().coef_, coef)


def test_sparse_and_small_types_and_long_indices(binary):
    X, y = binary
    settings = {"price": PRICE, "budget": 3, "C": 2.0, "tol": 1e-4}
    X = np.where(abs(X) > 0.5, X, 0.0)
    dense = MeasureSVC(**settings).fit(X, y)
    long = sp.csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for version in (long, sp.csc_array(X), sp.coo_array(X)):
        model = MeasureSVC(**settings).fit(version, y)
        assert_allclose(model.primal_, dense.primal_, rtol=2e-4)
        assert_allclose(model.decision_function(version), model.decision_function(X), atol=1e-12)
    small = MeasureSVC(**settings).fit(X.astype(np.float32), y)
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(small.primal_, dense.primal_, rtol=2e-4)


def test_a_measure_of_the_users(binary):
    X, y = binary

    def geometric_mean(tp, fp, fn, tn):
        return np.sqrt(tp / (tp + fn) * tn / (tn + fp))

    model = MeasureSVC(Contingency(geometric_mean), budget=3, C=2.0, tol=0.1).fit(X, y)
    positive, labelled = y == "yes", model.predict(X) == "yes"
    recall, other = labelled[positive].mean(), 1 - labelled[~positive].mean()
    assert model.score(X, y) == pytest.approx(np.sqrt(recall * other))


@bounds
def test_certify_from_the_attributes(binary, bound):
    """Whoever has the fitted numbers can call ``certify`` without the estimator."""
    X, y = binary
    model = MeasureSVC(bound=bound, budget=3, C=2.0).fit(X, y)
    arguments = {"bound": bound, "budget": 3, "C": 2.0, "intercept_scaling": 1.0}
    result = solve(X, signs(y, "yes"), measure="f1", **arguments)
    check = certify(
        X,
        signs(y, "yes"),
        model.coef_[0],
        result.dual_point,
        # With the tight bound the decision is shifted, and the certificate is of the model as it
        # was trained.
        intercept=model.intercept_[0] if bound == "paper" else result.intercept,
        measure=model.measure_,
        price=model.price_[0],
        **arguments,
    )
    assert check == model.certify(X, y)


@pytest.mark.parametrize("measure", ["f1", "jaccard", "mcc", "gmean", "accuracy"])
@pytest.mark.parametrize("pos_label", ["yes", "no"])
def test_the_threshold_is_almost_the_best_for_the_measure(binary, measure, pos_label):
    """It is the nearest to the trained one of those within a share 3 / U of the best score."""
    X, y = binary
    y = np.where(np.random.default_rng(1).random(80) < 0.2, np.roll(y, 7), y)
    model = MeasureSVC(measure, budget=2, C=2.0, tol=0.1, pos_label=pos_label).fit(X, y)
    decision = model.decision_function(X)
    assert len(np.unique(decision)) == 80
    labels, sign = signs(y, pos_label), 1.0 if pos_label == "yes" else -1.0
    scores = sign * (decision - model.intercept_[0])
    trained, taken = -model.models_[0].intercept, -sign * model.intercept_[0]

    def score(threshold):
        return 1.0 - model.measure_.loss(labels, np.where(scores > threshold, 1.0, -1.0))

    ordered = np.sort(scores)
    middles = 0.5 * (ordered[1:] + ordered[:-1])
    enough = max(map(score, middles)) * (1.0 - 3.0 / model.measure_.loss_scale(labels))
    good = [middle for middle in middles if score(middle) >= enough]
    nearest = min(good, key=lambda middle: abs(middle - trained))
    assert taken == pytest.approx(trained if score(trained) >= enough else nearest)


@pytest.mark.parametrize("settings", [{"bound": "paper"}, {"fit_intercept": False}], ids=str)
def test_the_threshold_stays_where_there_is_none_to_choose(binary, settings):
    X, y = binary
    for measure in ("f1", "accuracy"):
        model = MeasureSVC(measure, budget=3, C=2.0, **settings).fit(X, y)
        assert [each.threshold for each in model.models_] == [0.0] * len(model.models_)
