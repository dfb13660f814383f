"""Columns by number, mask and name, groups, budgets, and what is refused with which words."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from scoresieve import BudgetClassifier, BudgetRegressor, MeasureSVC, _checks, budget_path, load
from scoresieve._checks import check_budget
from scoresieve.estimators.budget_model import (
    DEFAULT_BUDGET,
    column_numbers,
    group_numbers,
    problem_arguments,
)
from scoresieve.measures import get_measure
from scoresieve.regularizers import BudgetNorm
from scoresieve.solvers.problem import budget_arguments

NAMES = np.array(["age", "height", "weight", "pulse"], dtype=object)
MODELS = [MeasureSVC(price=0.5, C=3.0), BudgetClassifier(), BudgetRegressor()]


def norm_with(names=None, **roles):
    """The norm of four columns that a fit makes of them, each role resolved and then checked."""
    groups = group_numbers(roles.pop("feature_groups", None), names)
    numbers = {role: column_numbers(columns, names, role) for role, columns in roles.items()}
    return BudgetNorm(1, 4, feature_groups=groups, **numbers)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (None, []),
        ([], []),
        ([3, 1], [1, 3]),
        (np.array([2]), [2]),
        ([True, False, False, True], [0, 3]),
        (["pulse", "age"], [0, 3]),
        (NAMES[1:3], [1, 2]),
        ({"weight"}, [2]),
        (range(2), [0, 1]),
    ],
)
def test_columns_by_number_mask_and_name(columns, expected):
    assert_array_equal(norm_with(NAMES, always_features=columns).always, expected)
    assert_array_equal(norm_with(NAMES, excluded_features=columns).excluded, expected)


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (["age", "shoe size"], NAMES, "always_features holds 'shoe size'"),
        (["age", 2], NAMES, "always_features holds 2"),
        (["age"], None, "always_features holds names, but X has none"),
        ("age", NAMES, "always_features must be a list.*'age'"),
        (3, NAMES, "always_features must be a list.*got 3"),
        ([4], NAMES, "always_features holds 4.*0 to 3"),
        ([-1], NAMES, "always_features holds -1"),
        ([0.5], NAMES, "always_features must be a list"),
        ([True, False], NAMES, "always_features must be a list"),
    ],
)
def test_columns_that_are_refused(columns, names, message):
    with pytest.raises(ValueError, match=message):
        norm_with(names, always_features=columns)


def test_groups():
    assert not norm_with(NAMES, feature_groups=None).has_groups
    assert_array_equal(norm_with(feature_groups=[0, 0, 5, 5]).unit_of, [0, 0, 1, 1])
    assert_array_equal(norm_with(feature_groups=np.array([0, 0, 5, 5])).unit_of, [0, 0, 1, 1])
    by_name = norm_with(NAMES, feature_groups=[["age", "pulse"], ["height"]])
    assert_array_equal(by_name.unit_of, norm_with(feature_groups=[[0, 3], [1]]).unit_of)
    assert_array_equal(by_name.unit_of, [0, 1, 2, 0])
    with pytest.raises(ValueError, match=r"feature_groups\[1\] holds 'nose'"):
        norm_with(NAMES, feature_groups=[["age"], ["nose"]])
    with pytest.raises(ValueError, match=r"feature_groups must be 4 integers"):
        norm_with(NAMES, feature_groups=[0, 1])


@pytest.mark.parametrize(
    ("budget", "k", "n_units", "expected"),
    [
        (None, None, 200, 50),
        (None, None, 7, 7),
        (None, 3, 7, 3),
        (None, 9, 7, 7),
        (4, None, 7, 4),
        (3, 3, 7, 3),
        (None, None, 0, 50),  # with nothing to select a budget has no effect
        (5, None, 0, 5),
    ],
)
def test_budgets(budget, k, n_units, expected):
    arguments = budget_arguments(budget, k, DEFAULT_BUDGET)
    assert check_budget(arguments.pop("budget"), n_units, **arguments) == expected


def test_a_budget_above_the_columns_warns_at_the_users_line(binary):
    X, y = binary
    with pytest.warns(UserWarning, match="budget=30 is more than the 20") as caught:
        model = MeasureSVC(budget=30).fit(X, y)
    assert caught[0].filename == __file__
    assert model.budget_ == 20


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: BudgetClassifier(budget=30).fit(X, y),
        lambda X, y: BudgetRegressor(budget=30).fit(X, X[:, 0]),
        lambda X, y: MeasureSVC(budget=30).fit_transform(X, y == "yes"),
        lambda X, y: Parallel(n_jobs=1)([delayed(MeasureSVC(budget=30).fit)(X, y == "yes")]),
    ],
)
def test_every_way_to_fit_warns_at_the_users_line(binary, fit):
    with pytest.warns(UserWarning, match="budget=30 is more than the 20") as caught:
        fit(*binary)
    assert [(each.filename, each.lineno) for each in caught] == [
        (__file__, fit.__code__.co_firstlineno)
    ]


def test_names_on_a_fit(binary):
    """Feature names reach the model by any frame that scikit-learn reads names from."""
    pandas = pytest.importorskip("pandas")
    X, y = binary
    frame = pandas.DataFrame(X, columns=[f"f{j}" for j in range(20)])
    by_name = MeasureSVC(
        budget=2,
        always_features=["f5"],
        excluded_features=["f0", "f1"],
        feature_groups=[["f2", "f3"]],
    ).fit(frame, y)
    by_number = MeasureSVC(
        budget=2, always_features=[5], excluded_features=[0, 1], feature_groups=[[2, 3]]
    ).fit(X, y)
    assert_allclose(by_name.coef_, by_number.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="excluded_features holds 'f99'"):
        MeasureSVC(excluded_features=["f99"]).fit(frame, y)


def test_always_excluded_and_groups(binary):
    X, y = binary
    X = X.copy()
    X[:, 19] = 0.0
    model = MeasureSVC(
        n_features_to_select=1,
        C=2.0,
        always_features=[10, 19],
        excluded_features=np.arange(20) == 0,
        feature_groups=[[1, 2], [3, 4]],
    ).fit(X, y)
    assert_array_equal(model.support_, [1, 2, 10, 19])
    assert model.coef_[0, 19] == 0.0
    assert model.coef_[0, 0] == 0.0
    with pytest.raises(ValueError, match="column 3 is in always_features and in excluded_features"):
        MeasureSVC(always_features=[3], excluded_features=[3]).fit(X, y)
    with pytest.raises(ValueError, match="excluded_features holds all 20"):
        MeasureSVC(excluded_features=range(20)).fit(X, y)
    everything = MeasureSVC(n_features_to_select=2, always_features=range(20)).fit(X, y)
    assert everything.n_features_selected_ == 20


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "f-one"}, "unknown measure 'f-one'"),
        ({"measure": "prec@200"}, "k=200 asks for"),
        ({"budget": 0}, "budget must be an integer"),
        ({"budget": 2.5}, "budget must be an integer"),
        ({"n_features_to_select": 0}, "n_features_to_select must be an integer"),
        ({"n_features_to_select": 0.5}, "n_features_to_select must be an integer"),
        ({"budget": 3, "n_features_to_select": 4}, "budget=3 and n_features_to_select=4"),
        ({"C": 0.0}, "C must be a positive"),
        ({"C": "1"}, "C must be a positive"),
        ({"intercept_scaling": -1.0}, "intercept_scaling must be a positive"),
        ({"pos_label": "maybe"}, "pos_label='maybe' is not a label"),
        ({"multi_class_support": "per_class"}, "multi_class_support must be one of.*supports_"),
        ({"tol": 0.0}, "tol must be a positive"),
        ({"max_iter": 0}, "max_iter must be an integer"),
        ({"max_time": -1.0}, "max_time must be a positive"),
    ],
)
def test_parameters_that_are_refused(binary, parameters, message):
    X, y = binary
    with pytest.raises(ValueError, match=message):
        MeasureSVC(**parameters).fit(X, y)


def test_a_measure_of_the_wrong_type(binary):
    with pytest.raises(TypeError, match="measure must be a name"):
        MeasureSVC(measure=3).fit(*binary)


def fit_args(model, three_classes):
    """Three classes, or real targets."""
    X, y = three_classes
    return (X, X[:, 1] - X[:, 4]) if isinstance(model, BudgetRegressor) else (X, y)


def fewer(X, y):
    """Enough rows and columns for a search for the best ones."""
    return X[:60, :9], y[:60]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_gap_to_the_best_k_features_is_nan_without_a_hard_budget(model, three_classes):
    """Whatever was fitted before: the attribute is there, and says what the last fit was."""
    X, y = fewer(*fit_args(model, three_classes))
    hard, soft = {"n_features_to_select": 2, "budget": None}, {"n_features_to_select": None}
    for order in ([soft, hard, soft], [hard]):
        model = clone(model)
        for size in order:
            model.set_params(**size).fit(X, y)
            assert np.shape(model.l0_gap_) == np.shape(model.gap_)
            if size is soft:
                assert np.all(np.isnan(model.l0_gap_))
            else:
                assert_array_equal(model.l0_gap_, model.gap_)
                assert np.all((model.l0_gap_ >= -1e-12) & (model.l0_gap_ < 1))


@pytest.fixture
def checks(monkeypatch):
    """How often each function of ``_checks`` is called, from whatever module."""
    counts = Counter()

    def counted(name, check):
        def call(*args, **kwargs):
            counts[name] += 1
            return check(*args, **kwargs)

        return call

    for name, check in list(vars(_checks).items()):
        if not name.startswith("check_") or check in (_checks.check_count, _checks.check_positive):
            continue  # these two are parts of others
        wrapper = counted(name, check)
        for module in [each for path, each in sys.modules.items() if path.startswith("scoresieve")]:
            for alias in [key for key, value in vars(module).items() if value is check]:
                monkeypatch.setattr(module, alias, wrapper)
    return counts


_COLUMN_CHECKS = ("check_columns", "check_disjoint", "check_groups")


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_each_argument_is_checked_once(model, three_classes, checks, hard):
    """By ``make_problems``; the labels once for each class."""
    X, y = fit_args(model, three_classes)
    columns = {"always_features": [0], "excluded_features": [11], "feature_groups": [[2, 3]]}
    model = clone(model).set_params(n_features_to_select=2 if hard else None, **columns)
    if isinstance(model, MeasureSVC):
        model.set_params(price=0.5)
    model.fit(X, y, sample_weight=np.ones(90))
    is_regressor = isinstance(model, BudgetRegressor)
    n_problems = 1 if is_regressor else 3
    of_labels = "check_real_targets" if is_regressor else "check_labels"
    expected = dict.fromkeys(["check_C", "check_budget", "check_weights"], 1)
    expected["check_X"] = 2  # with and without the intercept; see test_checked_once
    expected[of_labels] = n_problems
    if not isinstance(model, MeasureSVC):  # f1 takes weights as repeated rows
        expected["check_row_weights"] = n_problems
    expected["check_frame"] = 1
    checks.pop("check_tol")  # limits are made for each search
    of_columns = {name: checks.pop(name) for name in _COLUMN_CHECKS}
    assert checks == expected
    # Refits, for a hard budget or a price, have norms of columns that no user gave.
    if not hard:
        assert of_columns == {"check_columns": 3, "check_disjoint": 1, "check_groups": 1}


every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def with_and_without(request, three_classes):
    """Two fits of three features, with a certificate and without one."""
    X, y = fewer(*fit_args(request.param, three_classes))
    proven = clone(request.param).set_params(n_features_to_select=3).fit(X, y)
    return X, y, proven, clone(proven).set_params(certificate=False).fit(X, y)


def test_without_a_certificate_there_is_no_gap_to_all_models_of_that_size(
    with_and_without, tmp_path
):
    X, y, proven, quick = with_and_without
    assert proven.certificate
    l0_gaps, gaps = np.ravel(quick.l0_gap_), np.ravel(quick.gap_)
    assert np.all(np.isfinite(proven.l0_gap_))
    assert np.all(np.isnan(l0_gaps))
    # What is left is the gap among models of the chosen features.
    assert np.all((gaps >= 0.0) & (gaps <= quick.tol))
    assert_allclose(quick.primal_, proven.primal_, rtol=0.1)
    assert np.all(np.ravel(quick.n_iter_) >= 1)
    assert quick.score(X, y) == pytest.approx(proven.score(X, y), abs=0.1)
    quick.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.certificate is False
    assert_array_equal(again.l0_gap_, quick.l0_gap_)
    assert_array_equal(again.predict(X), quick.predict(X))


def test_what_is_recomputed_without_a_certificate_bounds_all_models(with_and_without):
    """The dual side of the chosen features proves something of all others, too, if little."""
    X, y, proven, quick = with_and_without
    found = quick.certify(X, y)
    for place, check in enumerate(found if isinstance(found, list) else [found]):
        assert check.primal == pytest.approx(np.ravel(quick.primal_)[place], rel=1e-9)
        assert check.dual <= np.ravel(proven.primal_)[place] * (1 + 1e-9)


@every_model
def test_without_a_number_of_features_the_certificate_is_always_there(model, three_classes):
    X, y = fit_args(model, three_classes)
    settings = {"budget": 3}
    one = clone(model).set_params(**settings).fit(X, y)
    two = clone(model).set_params(certificate=False, **settings).fit(X, y)
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.gap_, two.gap_)


@pytest.mark.parametrize(
    ("measure", "C"),
    [
        *((name, 3.0) for name in ("f1", "accuracy", "roc_auc", "mcc", "recall@precision>=0.5")),
        *((name, 10.0) for name in ("prec@10", "rec@2p", "prbep", "PRBEP ")),
    ],
)
def test_the_default_c_is_larger_for_measures_of_the_highest_scores(measure, C):
    assert MeasureSVC().C is None
    for given in (measure, get_measure(measure)):
        assert problem_arguments(MeasureSVC(given))["C"] == C
        assert problem_arguments(MeasureSVC(given, C=0.5))["C"] == 0.5


@pytest.mark.parametrize(("measure", "C"), [("f1", 3.0), ("prbep", 10.0)])
def test_fits_and_paths_have_the_default_c(binary, measure, C):
    X, y = binary
    one, two = (MeasureSVC(measure, budget=2, C=each).fit(X, y) for each in (None, C))
    assert_array_equal(one.coef_, two.coef_)
    assert one.C is None
    one, two = (budget_path(X, y, budgets=[2], measure=measure, C=each) for each in (None, C))
    assert_array_equal(one.coefs.toarray(), two.coefs.toarray())


def test_a_loss_has_a_number_as_its_default_c(binary):
    X, y = binary[0], (binary[1] == "yes").astype(int)
    assert BudgetClassifier().C == BudgetRegressor().C == 1.0
    for model in (BudgetClassifier(C=None), BudgetRegressor(C=None)):
        with pytest.raises((TypeError, ValueError), match="C must be"):
            model.fit(X, y)
