"""``BagScoreSieve``: no held-out instance is a prototype, the choice, and what the model says."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score

from scoresieve import load
from scoresieve.design import as_design
from scoresieve.estimators.progress import Reporter
from scoresieve.estimators.sieve import run
from scoresieve.estimators.sieve.cross_fitting import RawColumns, held_out_scores
from scoresieve.estimators.sieve.plan import make_plan, start_clock
from scoresieve.estimators.sieve.splits import Split
from scoresieve.mil import Bags, BagScoreSieve, MILESEmbedding
from scoresieve.mil.bags import as_bags

#: What a number of parts stands for.
SHUFFLED = StratifiedKFold(3, shuffle=True, random_state=0)

ONE = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 3}
QUICK = ONE | {"n_instances_to_select": 2, "sigmas": [1.5]}


@pytest.fixture(scope="module")
def fitted(bags, binary):
    sizes = {"n_instances_to_select": [1, 3], "sigmas": [0.05, "0.5*median"]}
    return BagScoreSieve(pos_label="yes", **ONE | sizes).fit(bags, binary)


def test_it_is_a_sieve_on_the_embedding_of_all_bags(bags, labels):
    model = BagScoreSieve(**QUICK).fit(bags, labels)
    X = MILESEmbedding(1.5).fit_transform(bags)
    assert model.embedding_.prototypes_.shape[0] == X.shape[1]
    assert model.n_instances_selected_ == model.coef_.shape[1] == model.support_.size
    assert max(map(len, model.supports_)) <= 2
    of_classes = [X[:, one.columns] @ one.weights + one.intercept for one in model.models_]
    thresholds = [one.threshold for one in model.models_]
    decision = np.array(of_classes).T
    if model.classes_.size < 3:  # the most probable class is taken, whatever its threshold
        decision = model.targets_.sign * (decision - thresholds)
    found = model.decision_function(bags)
    assert_allclose(decision.reshape(found.shape), found, atol=1e-9)
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(AttributeError, match=r"fit BagMeasureSVC\('f1', n_instances_to_select=10"):
        model.certify(bags, labels)


def test_scores_are_of_bags_whose_instances_no_model_knows(bags, binary):
    """By hand, part by part, with the threshold that is best for all parts together."""
    model = BagScoreSieve(pos_label="yes", **QUICK).fit(bags, binary)
    plan = make_plan(model, [2], start_clock(None))
    signs, unseen = np.where(binary == "yes", 1.0, -1.0), np.zeros(48)
    for train, test in SHUFFLED.split(bags, binary):
        embedding = MILESEmbedding(1.5).fit([bags[place] for place in train])
        columns = RawColumns(as_design(embedding.transform(bags)))
        found = held_out_scores(Reporter(), plan, columns, signs, None, Split(train, test))
        unseen[test] = found.scores[0, 0, 0]
    best = max(f1_score(signs, np.where(unseen > t, 1, -1)) for t in [-np.inf, *unseen])
    own = [point["final_model"] for point in model.cv_results_["params"]].index("own")
    assert model.cv_results_["mean_test_score"][own] == pytest.approx(best)


def test_no_held_out_instance_is_seen_before_the_score(bags, binary, monkeypatch):
    seen = []
    fit = MILESEmbedding.fit

    def spy(self, part, y=None):
        seen.append((self.sigma, as_bags(part).names.tolist()))
        return fit(self, part, y)

    monkeypatch.setattr(MILESEmbedding, "fit", spy)
    model = BagScoreSieve(**QUICK | {"sigmas": [2.0, "median"]}).fit(bags, binary)
    parts = [train.tolist() for train, _ in SHUFFLED.split(bags, binary)]
    folds = [(sigma, part) for sigma in (2.0, "median") for part in parts]
    assert seen[:6] == folds
    everything = (model.best_params_["sigma"], list(range(48)))
    assert seen[6:] == [everything] * len(seen[6:])


def test_the_width_and_the_number_are_chosen(bags, binary, fitted):
    """At a width of 0.05 no instance is like another."""
    table = fitted.cv_results_
    assert fitted.best_params_["sigma"] == "0.5*median"
    assert fitted.best_params_["n_instances_to_select"] == 1
    assert table["param_sigma"].tolist() == [0.05] * 18 + ["0.5*median"] * 18
    assert_array_equal(table["param_n_instances_to_select"], np.tile(np.repeat([1, 3], 9), 2))
    assert [point["sigma"] for point in table["params"]] == table["param_sigma"].tolist()
    assert sorted(table["rank_test_score"]) == list(range(1, 37))
    assert fitted.best_score_ == table["mean_test_score"].max()
    assert fitted.best_params_ in table["params"]
    assert fitted.embedding_.sigma == "0.5*median"
    assert fitted.n_instances_selected_ == 1


def test_one_width_for_all_classes(bags, three_classes):
    model = BagScoreSieve(**QUICK | {"sigmas": [0.05, 1.5]}).fit(bags, three_classes)
    assert len(model.cv_results_) == len(model.best_params_) == 3
    assert {point["sigma"] for point in model.best_params_} == {1.5}
    assert np.mean(model.predict(bags) == three_classes) > 0.8
    assert_allclose(model.predict_proba(bags).sum(axis=1), 1.0)


def test_it_finds_the_telling_instance(bags, binary, fitted):
    (key,) = fitted.key_instances_
    assert key.label == "yes"
    assert key.weight > 0
    assert_array_equal(bags[key.bag][key.position], key.vector)
    assert_allclose(key.vector, [4.0, 4.0, 0.0], atol=0.5)
    assert fitted.score(bags, binary) == 1.0
    proba = fitted.predict_proba(bags)
    is_yes = binary == "yes"
    assert proba[is_yes, 1].min() > proba[~is_yes, 1].max()
    for bag, decision in zip(bags, fitted.decision_function(bags), strict=True):
        assert fitted.instance_scores(bag).sum() + fitted.intercept_[0] == pytest.approx(decision)


def test_the_summary_names_instances_and_score(fitted):
    key = fitted.key_instances_[0]
    text = str(fitted.summary())
    assert "class 'yes': 1 instance\n" in text
    assert f"f1 {fitted.best_score_:.3f} " in text
    assert "sigma = 0.5*median" in " ".join(text.split())
    assert f"bag {key.bag}, instance {key.position}\n" in text


@pytest.mark.parametrize("names", [[f"m{20 + i}" for i in range(48)], np.arange(100, 148)])
def test_key_instances_have_the_names_of_their_bags(bags, binary, names, tmp_path):
    named = Bags.from_list(bags, names)
    some = np.arange(2, 48)
    model = BagScoreSieve(**QUICK).fit(named[some], binary[some])
    model.save(tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        for key in each.key_instances_:
            assert key.name == names[key.bag + 2]
            assert key.title == f"bag {key.name}, instance {key.position}"
            assert f"{key.title}\n" in str(each.summary())


def test_without_time_a_single_width_and_split_are_left(bags, binary):
    arguments = {"max_time": 1e-3, "sigmas": [1.5, 0.05]}
    model = BagScoreSieve(n_instances_to_select=2, **arguments).fit(bags, binary)
    table = model.cv_results_
    assert set(table["param_sigma"]) == {1.5}
    assert np.sum(~np.isnan(table["mean_test_score"])) == 1
    assert model.score(bags, binary) > 0.8


def test_with_time_the_choice_of_bags_is_that_without_a_limit(bags, binary, fitted):
    sizes = {"n_instances_to_select": [1, 3], "sigmas": [0.05, "0.5*median"]}
    timed = BagScoreSieve(max_time=60.0, **ONE | sizes).fit(bags, binary)
    assert timed.best_params_ == fitted.best_params_
    assert_array_equal(timed.coef_, fitted.coef_)


def test_names_that_are_neither_text_nor_numbers_are_kept_as_text(bags, binary, tmp_path):
    named = Bags(*vars(Bags.from_list(bags)).values())
    named.names = np.array([None, *range(47)], dtype=object)
    model = BagScoreSieve(**QUICK).fit(named, binary)
    model.save(tmp_path / "model")
    assert all(type(key.name) is str for key in load(tmp_path / "model").key_instances_)


def test_a_model_that_comes_back(bags, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(again.predict_proba(bags), fitted.predict_proba(bags))
        assert again.best_params_ == fitted.best_params_
        assert again.summary() == fitted.summary()


def test_text_by_the_cosine_has_no_width(bags, binary):
    listed = [sp.csr_array(np.abs(bag)) for bag in bags]
    model = BagScoreSieve(metric="cosine", **QUICK).fit(listed, binary)
    assert "param_sigma" not in model.cv_results_
    assert "sigma" not in model.best_params_
    assert "sigma" not in str(model.summary())
    assert model.embedding_.sigma_ is None


def test_bags_without_weight_give_no_instances(bags, binary):
    weights = np.ones(48)
    weights[::4] = np.tile([0.0, 1.0], 6)
    model = BagScoreSieve(**QUICK).fit(bags, binary, weights)
    kept = np.flatnonzero(weights)
    splits = [
        (np.flatnonzero(np.isin(kept, train)), np.flatnonzero(np.isin(kept, test)))
        for train, test in SHUFFLED.split(bags, binary)
    ]
    without = BagScoreSieve(**QUICK | {"cv": splits})
    without.fit([bags[place] for place in kept], binary[kept])
    assert_allclose(model.decision_function(bags), without.decision_function(bags), atol=1e-6)
    for key in model.key_instances_:
        assert weights[key.bag] > 0
        assert_array_equal(bags[key.bag][key.position], key.vector)


def test_groups_of_bags_stay_together(bags, binary):
    groups = np.arange(48) // 4
    model = BagScoreSieve(**QUICK | {"cv": GroupKFold(3)}).fit(bags, binary, groups=groups)
    splits = list(GroupKFold(3).split(bags, binary, groups))
    assert_array_equal(model.coef_, BagScoreSieve(**QUICK | {"cv": splits}).fit(bags, binary).coef_)


def test_fewer_prototypes_and_the_tools_of_scikit_learn(bags, binary):
    model = BagScoreSieve(n_prototypes=30, prototypes="kmeans", pos_label="yes", **QUICK)
    assert np.all(cross_val_score(model, bags, binary, cv=2) > 0.7)
    model.set_params(n_instances_to_select=[2, 500]).fit(as_bags(bags), binary)
    assert set(model.cv_results_["param_n_instances_to_select"]) == {2, 30}
    assert model.embedding_.prototypes_.shape[0] <= 30


def test_progress_goes_to_stderr(bags, binary, capsys):
    BagScoreSieve(verbose=1, pos_label="yes", **QUICK | {"cv": 2}).fit(bags, binary)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "[BagScoreSieve] sigma=1.5, class 'yes', split 0",
        "[BagScoreSieve] sigma=1.5, class 'yes', split 1",
        "[BagScoreSieve] choice",
    ]


def test_an_interrupted_fit_leaves_the_model_before_it(bags, binary, fitted, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    model = pickle.loads(pickle.dumps(fitted))
    before = dict(vars(model))
    monkeypatch.setattr(run, "held_out_scores", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(bags, binary)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_instances_to_select": 0}, "n_instances_to_select must be an integer of at least 1"),
        ({"n_instances_to_select": [2, 2.5]}, r"n_instances_to_select\[1\] must be an integer"),
        ({"sigmas": "median"}, "sigmas must be a list .* got 'median'. Put a single value in a l"),
        ({"sigmas": []}, "sigmas is empty"),
        ({"sigmas": [1.0, -1.0]}, r"sigmas\[1\] must be a positive finite number"),
        ({"sigmas": ["mean"]}, r"sigmas\[0\] must be a positive number, 'median', or a multiple"),
        ({"metric": "l1"}, "metric must be one of"),
        ({"n_prototypes": "all"}, "n_prototypes must be an integer of at least 1; got 'all'"),
        ({"n_prototypes": 0}, "n_prototypes must be an integer of at least 1"),
        ({"candidates": ["squared"]}, "squared"),
        ({"max_time": -1}, "max_time must be a positive"),
        ({"measure": "prec@49"}, "only 48 examples"),
        ({"cv": [(np.arange(40), np.arange(40, 48))]}, "row 0 is held out in no split"),
    ],
)
def test_wrong_parameters_are_refused_by_name(bags, binary, parameters, message):
    with pytest.raises(ValueError, match=message):
        BagScoreSieve(**QUICK | {"pos_label": "yes"} | parameters).fit(bags, binary)
