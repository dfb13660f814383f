"""Every public estimator through a file and back: the same bits, the same bytes, a fit again."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import scoresieve
from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    MeasureSVC,
    ScoreSieve,
    baselines,
    mil,
)
from scoresieve.estimators.persistence.classes import DEFINED_IN, known_classes
from scoresieve.losses import HuberHinge

#: Models on rows, one for each kind of labels at least.
ON_ROWS = [
    MeasureSVC("prec@p", n_features_to_select=2),
    ScoreSieve(n_features_to_select=[1, 2], candidates=["squared_hinge"], Cs=[1.0], cv=2),
    BudgetClassifier(HuberHinge(delta=0.5), budget=3),
    BudgetRegressor("huber", n_features_to_select=3),
    baselines.FGM(budget=3),
    baselines.FSMulti(budget=3),
    baselines.L0SVM(n_features_to_select=3),
    baselines.L1BundleSVM(),
    baselines.L1SVM(n_features_to_select=3, class_weight="balanced"),
    baselines.NMMKL(budget=3),
    baselines.SquaredL1SVM("roc_auc"),
    baselines.SVMPerf("f2", C_scale="svmperf"),
    baselines.SVMRFE(n_features_to_select=3, step=1),
]
ON_BAGS = [
    mil.BagMeasureSVC(budget=2),
    mil.BagScoreSieve(
        n_instances_to_select=2, candidates=["measure"], sigmas=[1.0, "median"], Cs=[1.0], cv=2
    ),
    mil.MILESEmbedding("0.5*median", n_prototypes=20),
    baselines.MILES(sigma=1.0),
    baselines.MeanInstanceSVM(),
]
METHODS = ("decision_function", "predict", "transform", "instance_scores")
#: What a file without the certificate has not, or only for the selected instances.
LEAN = {"_dual_point", "_dual_points", "_warm_y", "_warm_weights", "history_"}
LEAN |= {"embedding_", "model_", "_n_callbacks"}


def make_rows(kind):
    X = np.random.default_rng(5).normal(size=(50, 10))
    if kind == "indicators":
        return X, (X[:, :2] > 0.2).astype(int)
    n_classes = 2 if kind == "two classes" else 3
    return X, np.array(["a", "b", "c"])[np.argmax(X[:, :n_classes], axis=1)]


def make_bags(kind):
    rng = np.random.default_rng(3)
    bags = [rng.normal(size=(1 + i % 3, 3)) for i in range(30)]
    telling = np.arange(30) % 3
    for bag, number in zip(bags, telling, strict=True):
        bag[0, number] += 4.0
    if kind == "indicators":
        return bags, np.column_stack([telling == 0, telling < 2]).astype(int)
    return bags, np.minimum(telling, 1 if kind == "two classes" else 2)


def name_of(estimator):
    return type(estimator).__name__


def calls_of(model, X):
    """Each method that the model has, and what to call it with."""
    for name in METHODS:
        # Columns of the mean instance are no columns of bags.
        if hasattr(model, name) and (name, name_of(model)) != ("transform", "MeanInstanceSVM"):
            yield name, X[0] if name == "instance_scores" else X


@pytest.fixture(scope="module")
def trained():
    """``trained(estimator, kind)`` gives the fitted model, X and y; fitted once."""
    known = {}

    def get(estimator, kind):
        key = name_of(estimator), kind
        X, y = (make_bags if estimator in ON_BAGS else make_rows)(kind)
        if isinstance(estimator, BudgetRegressor):
            y = X[:, 0] - 2.0 * X[:, 1]
        if key not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[key] = clone(estimator).fit(X, y)
        return known[key], X, y

    return get


@pytest.fixture(params=[*ON_ROWS, *ON_BAGS], ids=name_of)
def estimator(request):
    """Each estimator in turn, not fitted."""
    return request.param


@pytest.fixture(params=["two classes", "three classes", "indicators"])
def labels(request):
    """Each kind of labels in turn."""
    return request.param


def public_estimators():
    found = {}
    for package in (scoresieve, mil, baselines):
        names = {name: getattr(package, name) for name in package.__all__}
        found |= {
            name: package.__name__
            for name, value in names.items()
            if isinstance(value, type) and hasattr(value, "fit")
        }
    return found


def test_no_estimator_is_forgotten():
    public = public_estimators()
    assert sorted(map(name_of, ON_ROWS + ON_BAGS)) == sorted(public)
    assert known_classes() == set(public)
    above = {name: package for package, names in DEFINED_IN.items() for name in names}
    assert above == {k: package for k, package in public.items() if package != "scoresieve"}


def test_every_attribute_is_listed(trained, estimator, labels):
    model, _, _ = trained(estimator, labels)
    fields, derived = set(model._fields), set(model._derived())
    assert set(vars(model)) - {*model.get_params(), *fields, *derived, "_n_callbacks"} == set()
    assert fields.isdisjoint(derived)
    required = {name for name in fields if not model._fields[name].optional}
    assert required | derived <= set(vars(model))


def test_the_same_bits_and_bytes(trained, estimator, labels, path, same, reloaded):
    model, X, y = trained(estimator, labels)
    found = reloaded(model, path, with_certificate=False)
    names = vars(model).keys() - LEAN
    assert vars(found).keys() - LEAN == names
    for name in names:
        same(getattr(found, name), getattr(model, name), name)
    for method, data in calls_of(model, X):
        same(getattr(found, method)(data), getattr(model, method)(data), method)
    if hasattr(model, "score"):
        assert found.score(X, y) == model.score(X, y)
    first = path.read_bytes()
    copy = pickle.loads(pickle.dumps(found, 5))
    found.save(path)
    assert path.read_bytes() == first
    same(found, copy)  # saving has changed nothing
    same(type(model).load(path), found)


def test_the_same_words_and_the_same_page(trained, estimator, labels, path, reloaded, tmp_path):
    model, X, y = trained(estimator, labels)
    if not hasattr(model, "coef_"):
        assert not hasattr(model, "summary")  # an embedding selects nothing
        return
    found = reloaded(model, path, with_certificate=False)
    assert found.summary() == model.summary()
    assert len(model.summary().parts) == np.size(model.intercept_)
    for number, each in enumerate((model, found)):
        each.report(tmp_path / f"{number}.html", X, y)
    assert (tmp_path / "0.html").read_bytes() == (tmp_path / "1.html").read_bytes()


def test_the_same_model_with_its_certificate(trained, estimator, labels, path, same, reloaded):
    model, X, y = trained(estimator, labels)
    found = reloaded(model, path)
    same(found, model)
    first = path.read_bytes()
    found.save(path, with_certificate=True)
    assert path.read_bytes() == first
    assert hasattr(found, "certify") == hasattr(model, "certify")
    if hasattr(model, "certify"):
        assert found.certify(X, y) == model.certify(X, y)


def test_without_the_certificate_there_is_none(trained, estimator, path, reloaded):
    model, X, y = trained(estimator, "two classes")
    found = reloaded(model, path, with_certificate=False)
    if hasattr(model, "certify"):
        with pytest.raises(ValueError, match=r"saved without its certificate; use\s*save\(path, w"):
            found.certify(X, y)


@pytest.mark.filterwarnings("ignore")
def test_a_loaded_model_can_be_fitted_again(trained, estimator, path, same, reloaded):
    model, X, y = trained(estimator, "two classes")
    found = reloaded(model, path, with_certificate=False).fit(X, y)
    for method, data in calls_of(model, X):
        same(getattr(found, method)(data), getattr(model, method)(data), method)
    assert hasattr(found, "certify") == hasattr(model, "certify")


def test_pickles_hold_everything(trained, estimator, labels, same):
    model, _, _ = trained(estimator, labels)
    same(pickle.loads(pickle.dumps(model, 5)), model)
    same(pickle.loads(pickle.dumps(clone(model))), clone(model))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_skops_trusts_the_estimators_alone(trained, estimator, same):
    sio = pytest.importorskip("skops.io")
    model, X, _ = trained(estimator, "two classes")
    data = sio.dumps(model)
    types = sio.get_untrusted_types(data=data)
    parts = [model]
    for part in parts:
        inside = part._fields.keys() & {"embedding_", "model_"}
        parts.extend(getattr(part, name) for name in inside)
    classes = {type(part) for part in parts} | {type(m.loss) for m in parts if own_loss(m)}
    assert types == sorted(f"{cls.__module__}.{cls.__qualname__}" for cls in classes)
    found = sio.loads(data, trusted=types)
    for method, data in calls_of(model, X):
        same(getattr(found, method)(data), getattr(model, method)(data), method)


def own_loss(model):
    return not isinstance(getattr(model, "loss", ""), str)


SPARSE_BAGS = [mil.BagMeasureSVC(budget=2, metric="cosine"), baselines.MILES(sigma=1.0)]


@pytest.mark.parametrize("estimator", SPARSE_BAGS, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore")
def test_bags_of_sparse_instances(estimator, dtype, path, same, reloaded):
    bags, y = make_bags("three classes")
    bags = [sp.csr_array(np.where(bag > 0.0, bag, 0.0).astype(dtype)) for bag in bags]
    for bag in bags:
        bag.indices, bag.data = bag.indices[::-1].copy(), bag.data[::-1].copy()
        bag.indptr = bag.indptr[-1] - bag.indptr[::-1]
        bag.has_sorted_indices = False
    model = estimator.fit(bags, y)
    for with_certificate in (False, True):
        found = reloaded(model, path, with_certificate=with_certificate)
        same(found.decision_function(bags), model.decision_function(bags))
        same(found.key_instances_, model.key_instances_)
        same(found.instance_scores(bags[1]), model.instance_scores(bags[1]))


@pytest.mark.filterwarnings("ignore")
def test_bags_of_which_none_is_selected(path, same, reloaded):
    bags, y = make_bags("two classes")
    model = mil.BagMeasureSVC(C=1e-9, tol=0.5).fit(bags, y)
    assert model.n_instances_selected_ == 0
    found = reloaded(model, path, with_certificate=False)
    same(found.decision_function(bags), model.decision_function(bags))
    assert found.key_instances_ == []


def test_a_file_of_bags_grows_with_the_selected_instances(path):
    sizes = []
    for copies in (1, 20):
        bags, y = make_bags("two classes")
        rng = np.random.default_rng(0)
        bags = [np.vstack([bag, rng.normal(size=(5 * copies, 3))]) for bag in bags]
        model = mil.BagMeasureSVC(n_instances_to_select=1, sigma=1.0).fit(bags, y)
        model.save(path)
        sizes.append(path.stat().st_size)
        assert path.stat().st_size < 20_000
    assert abs(sizes[1] - sizes[0]) < 2_000


def test_sparse_weights_of_bags_and_of_chosen_models(path, same, reloaded, trained):
    for estimator in (ON_BAGS[0], ON_BAGS[1], ON_ROWS[1]):
        model, X, _ = trained(estimator, "three classes")
        model = pickle.loads(pickle.dumps(model)).sparsify()
        found = reloaded(model, path)
        same(found.coef_, model.coef_)
        same(found.predict(X), model.predict(X))
        same(found.densify().coef_, model.densify().coef_)


def test_a_file_may_name_classes_that_nobody_imported(trained, path):
    model, _, _ = trained(baselines.FGM(budget=3), "two classes")
    model.save(path)
    code = (
        "import sys, scoresieve; assert 'scoresieve.baselines' not in sys.modules; "
        f"print(type(scoresieve.load({str(path)!r})).__module__)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "scoresieve.baselines.fgm"


@pytest.mark.parametrize(
    ("estimator", "place", "value", "message"),
    [
        (ON_ROWS[1], "fitted._tables.0.params.0", {"budget": 1}, "each with C, selection, final_"),
        (ON_ROWS[1], "fitted._tables.0.params.0", 3, "each with C, selection, final_model"),
        (ON_ROWS[1], "fitted._tables.0.params.0.C", [1.0], "neither a number nor text"),
        (ON_ROWS[1], "fitted._tables.0.params", [{"C": 1.0}], "about 1 points; there must be 18"),
        (ON_ROWS[1], "fitted._tables.0.extra", 1, "extra must be ndarray"),
        (ON_ROWS[1], "fitted._tables.0.params.0.n_features_to_select", "2", "one number of col"),
        (ON_ROWS[1], "fitted._tables.0.params.0.n_features_to_select", ..., "one number of col"),
        (ON_ROWS[1], "fitted.smaller_models_.0.coefs.shape", [1, 11], "coefs.shape must be"),
        (ON_ROWS[1], "fitted.fold_selections_.0.n_folds", 0, "n_folds must be a number from 1"),
        (ON_ROWS[1], "fitted.fold_selections_.0.n_folds", 1, "of numbers from 1 to 1"),
        (ON_ROWS[0], "fitted.n_samples_fit_", 0, "n_samples_fit_ must be a number from 1"),
        (ON_ROWS[2], "fitted._arguments.loss.delta", "1", "loss.delta must be float"),
        (ON_ROWS[2], "fitted._arguments.loss.loss", "hinge", "surplus entries: delta"),
        (ON_ROWS[3], "parameters.loss", {"loss": "os.system"}, "unknown loss"),
        (ON_ROWS[3], "parameters.loss", {"loss": "huber"}, "loss.epsilon is missing"),
        (ON_ROWS[3], "parameters.loss", {"loss": "huber", "epsilon": "1"}, "epsilon must be float"),
        (ON_ROWS[3], "parameters.loss", {"loss": "huber", "epsilon": -1.0}, "a positive number"),
        (ON_ROWS[3], "parameters.loss", {"loss": "squared", "name_or_loss": 1.0}, "surplus entr"),
        (ON_ROWS[3], "fitted.intercept_", {"$": "float", "value": "inf"}, "intercept_ must be a n"),
        (ON_ROWS[3], "fitted.intercept_", 1, "intercept_ must be float"),
        (ON_ROWS[3], "fitted.n_iter_", -1, "n_iter_ must be a number"),
        (ON_ROWS[3], "fitted.coef_.flavour", "dense", "flavour must be one of"),
        (ON_ROWS[8], "fitted._dual_points.0", {"alpha": 1}, "such a model has no certificate"),
        (ON_ROWS[4], "fitted._dual_points.0", {"alpha": 1}, "slopes is missing"),
        (ON_ROWS[4], "output", "excel", "output must be one of"),
        (ON_BAGS[0], "output", "pandas", r"output must be NoneType"),
        (ON_BAGS[0], "fitted.embedding_.class", "MeasureSVC", "class must be one of"),
        (ON_BAGS[0], "fitted.embedding_.fitted.n_columns_in_", 4, "prototypes_ has the shape"),
        (ON_BAGS[0], "fitted.model_.fitted.n_features_in_", 999, "there must be"),
        (ON_BAGS[1], "fitted.model_.class", "MeasureSVC", r"must be one of \['ScoreSieve'\]"),
        (ON_BAGS[3], "fitted.model_.class", "MeasureSVC", r"class must be one of \['L1SVM'\]"),
    ],
)
def test_wrong_descriptions(trained, path, files, estimator, place, value, message):
    model, _, _ = trained(estimator, "two classes")
    model.save(path)
    files.write(path, files.put(files.members_of(path), place, value))
    files.refused(path, message)


@pytest.mark.parametrize(
    ("estimator", "name", "value", "message"),
    [
        (ON_ROWS[1], "_tables.0.mean_test_score", np.zeros(3), "std_test_score has the shape"),
        (ON_ROWS[1], "_tables.0.rank_test_score", np.zeros(3), "rank_test_score has the shape"),
        (ON_ROWS[1], "_tables.0.rank_test_score", np.array(["a"] * 18), "score has the dtype"),
        (ON_ROWS[1], "_rows", np.array([18]), "_rows holds a number that is no row"),
        (ON_ROWS[1], "_rows", np.array([-1]), "_rows holds a number that is no row"),
        (ON_ROWS[1], "_odds", np.array([np.nan]), "_odds holds NaN"),
        (ON_ROWS[1], "smaller_models_.0.rows", np.array([99]), "rows holds a number that is no"),
        (ON_ROWS[1], "smaller_models_.0.odds", np.zeros(9), "odds has the shape"),
        (ON_ROWS[1], "fold_selections_.0.rows", np.array([0, -1]), "rows holds a number that is"),
        (ON_ROWS[3], "coef_.data", np.zeros(2), "data has the shape"),
        (ON_ROWS[3], "_dual_point.slopes", np.full(50, np.nan), "slopes holds NaN"),
        (ON_ROWS[4], "stopped_by_", np.zeros(1), "stopped_by_ has the dtype"),
        (ON_ROWS[4], "history_.0", np.zeros((2, 7)), "history_.0 has the shape"),
        (ON_ROWS[6], "scales_.columns", np.array([10]), "scales_.data has the shape"),
        (ON_ROWS[8], "path_.0", np.zeros((2, 3)), "path_.0 has the shape"),
        (ON_ROWS[12], "rankings_.0", np.zeros(9, dtype=int), "rankings_.0 has the shape"),
        (ON_BAGS[0], "_origins", np.zeros((1, 2), dtype=int), "_origins has the shape"),
        (ON_BAGS[0], "model_.fitted.support_", np.array([99]), "support_ must be distinct"),
        (ON_BAGS[0], "embedding_.fitted.prototypes_", np.full((60, 3), np.inf), "NaN or infinity"),
        (ON_BAGS[2], "prototype_indices_", np.arange(20)[::-1], "must be distinct sorted"),
        (ON_BAGS[2], "prototype_indices_", np.arange(19), "prototype_indices_ has the shape"),
    ],
)
def test_wrong_arrays(trained, path, files, estimator, name, value, message):
    model, _, _ = trained(estimator, "two classes")
    model.save(path, with_certificate=True)
    members = files.members_of(path)
    assert f"fitted.{name}.npy" in members
    files.write(path, members | {f"fitted.{name}.npy": files.npy(value)})
    files.refused(path, message)


def test_a_table_of_scores_must_have_scores(trained, path, files):
    model, _, _ = trained(ON_ROWS[1], "two classes")
    model.save(path)
    members = files.members_of(path)
    del members["fitted._tables.0.mean_test_score.npy"]
    files.write(path, files.put(members, "fitted._tables.0.mean_test_score", ...))
    files.refused(path, "mean_test_score is missing")


@pytest.mark.parametrize(
    "weights",
    [{"a": 1.0, "b": 5.0}, {"measure": 2.0}, {1: 2.0, "1": np.arange(3)}, {"a b": {}}, {}],
)
def test_dicts_as_parameters(path, weights, reloaded, same):
    X, y = make_rows("two classes")
    model = baselines.L1SVM().fit(X, y).set_params(class_weight=weights)
    same(reloaded(model, path).class_weight, weights)


def test_names_of_columns_and_output(path, reloaded, same):
    pd = pytest.importorskip("pandas")
    X, y = make_rows("two classes")
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    for estimator in (ON_ROWS[1], ON_ROWS[8], ON_ROWS[12]):
        model = clone(estimator).fit(X, y).set_output(transform="pandas")
        found = reloaded(model, path, with_certificate=False)
        same(found.feature_names_in_, model.feature_names_in_)
        pd.testing.assert_frame_equal(found.transform(X), model.transform(X))
    bags, _ = make_bags("two classes")
    model = mil.MILESEmbedding().fit(bags).set_output(transform="pandas")
    pd.testing.assert_frame_equal(reloaded(model, path).transform(bags), model.transform(bags))


#: Models with prices that were found, that were given, and that are the paper's.
PRICED = {
    "found": MeasureSVC("f1", budget=3, C=3.0),
    "hard": MeasureSVC("jaccard", n_features_to_select=2, C=3.0),
    "tried": MeasureSVC("recall@precision>=0.5", budget=3, C=3.0),
    "given": MeasureSVC("mcc", price=0.4, budget=3, C=3.0),
    "top": MeasureSVC("prbep", budget=3, C=3.0),
    "paper": MeasureSVC("f1", bound="paper", budget=3, C=3.0),
    "bags": mil.BagMeasureSVC("jaccard", budget=2),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PRICED)
def test_prices_come_back_and_with_them_the_gaps(name, labels, path, same, reloaded):
    """A certificate is of one price for each problem: that of the file is that of the fit."""
    X, y = (make_bags if "bags" in name else make_rows)(labels)
    model = clone(PRICED[name]).fit(X, y)
    n_problems = {"two classes": 1, "three classes": 3, "indicators": 2}[labels]
    assert model.price_.shape == (n_problems,)
    assert np.all(model.price_ > 0)
    if name in ("given", "paper", "top"):
        assert np.all(model.price_ == (0.4 if name == "given" else 1.0))
    for with_certificate in (False, True):
        found = reloaded(model, path, with_certificate=with_certificate)
        same(found.price_, model.price_, "price_")
        same(found.bound, model.bound, "bound")
    for each in (model, found):
        check = each.certify(X, y)
        gaps = [one.gap for one in (check if n_problems > 1 else [check])]
        np.testing.assert_allclose(gaps, model.gap_, rtol=1e-9, atol=1e-12)
