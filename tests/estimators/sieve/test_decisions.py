"""``at``: a fitted sieve with another threshold, by scores of rows that its fits had not seen."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import confusion_matrix, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold

from scoresieve import MeasureSVC, ScoreSieve, load
from scoresieve.estimators.sieve.scoring import ALARM_STEP, kept_places
from scoresieve.estimators.sieve.searches import LossSearch
from scoresieve.losses import get_loss
from tests.helpers import selected_by, sieve_of_bags

#: What a number of parts stands for.
SHUFFLED = StratifiedKFold(3, shuffle=True, random_state=0)
QUICK = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 3}
GOALS = [
    {"recall": 0.9},
    {"precision": 0.8},
    {"alarm_rate": 0.05},
    {"cost_of_miss": 20, "cost_of_alarm": 1},
]


def noisy(seed=0, n_samples=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 8))
    signal = X[:, 3] - X[:, 6] + 0.8 * rng.normal(size=n_samples)
    return X, np.where(signal > np.quantile(signal, 0.8), "fraud", "good")


@pytest.fixture(scope="module")
def fitted():
    X, y = noisy()
    return X, y, ScoreSieve("f1", n_features_to_select=2, pos_label="fraud", **QUICK).fit(X, y)


def fact(model, name, number=0):
    return model.summary().as_dict()["parts"][number][name]


def test_the_table_counts_rows_that_the_fits_had_not_seen():
    """By hand: the same selection part by part, all held-out scores together, each threshold."""
    X, y = noisy()
    settings = QUICK | {"n_features_to_select": 2, "pos_label": "fraud", "cv": SHUFFLED}
    model = ScoreSieve("roc_auc", **settings).fit(X, y)
    assert model.best_params_["final_model"] == "own"
    is_fraud, unseen = y == "fraud", np.zeros(y.size)
    search = LossSearch(get_loss("squared_hinge"), 1.0)
    for train, test in SHUFFLED.split(X, y):
        labels = np.where(is_fraud, 1.0, -1.0)[train]
        [[found]] = selected_by([search], X[train], labels, [2])
        unseen[test] = X[test][:, found.columns] @ found.weights + found.intercept
    table = model.models_[0].choice.thresholds
    ranked = np.argsort(-unseen)
    for a, b in zip(table.n_hits.astype(int), table.n_false_alarms.astype(int), strict=True):
        assert a == np.count_nonzero(is_fraud[ranked[: a + b]])
    assert table.n_alarms[-1] == y.size
    # Up to a hundred alarms every threshold is there.
    assert np.isin(np.arange(90), table.n_alarms).all()


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: next(iter(goal)))
def test_the_threshold_moves_and_nothing_else(goal, fitted):
    X, _, model = fitted
    moved, old = model.at(**goal), model.models_[0]
    (new,) = moved.models_
    assert moved is not model
    assert type(moved) is ScoreSieve
    assert model.models_[0] is old
    table = old.choice.thresholds
    place = table.place_for(goal)
    assert new.threshold == table.thresholds[place] != old.threshold
    assert moved.thresholds_ == expit(new.threshold)
    np.testing.assert_array_equal(moved.coef_, model.coef_)
    np.testing.assert_allclose(moved.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    alarms = moved.predict_proba(X)[:, 0] > moved.thresholds_[0]
    np.testing.assert_array_equal(moved.predict(X) == "fraud", alarms)
    assert moved.smaller_models_[0][-1].threshold == new.threshold
    # From the new model as from the old one.
    assert moved.at(recall=0.5).models_[0].threshold == model.at(recall=0.5).models_[0].threshold


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: next(iter(goal)))
def test_files_and_pickles_keep_the_threshold_and_its_goal(goal, fitted, tmp_path):
    X, _, model = fitted
    moved = model.at(**goal)
    moved.save(tmp_path / "model")
    for copied in (load(tmp_path / "model"), pickle.loads(pickle.dumps(moved))):
        assert copied.models_[0].goal == goal
        assert str(copied.summary()) == str(moved.summary())
        np.testing.assert_array_equal(copied.predict(X), moved.predict(X))
        assert copied.at(**goal).models_[0].threshold == moved.models_[0].threshold


def test_what_was_asked_for_holds_on_held_out_rows_and_about_on_new_ones(fitted):
    _, _, model = fitted
    found = fact(model.at(recall=0.9), "alarms")
    assert 0.9 <= found["recall"] < 0.92
    assert fact(model.at(precision=0.8), "alarms")["precision"] >= 0.8
    assert 0.04 < fact(model.at(alarm_rate=0.05), "alarms")["alarm_rate"] <= 0.05
    X, y = noisy(seed=1, n_samples=4000)
    assert recall_score(y, model.at(recall=0.9).predict(X), pos_label="fraud") > 0.8
    precise = model.at(precision=0.8).predict(X)
    assert precision_score(y, precise, pos_label="fraud") > 0.7
    assert 0.02 < np.mean(model.at(alarm_rate=0.05).predict(X) == "fraud") < 0.1


def test_costs_are_lowest_on_new_rows_at_their_own_threshold(fitted):
    _, _, model = fitted
    X, y = noisy(seed=1, n_samples=4000)

    def cost(one, miss, alarm):
        table = confusion_matrix(y, one.predict(X), labels=["good", "fraud"])
        return miss * table[1, 0] + alarm * table[0, 1]

    dear, cheap = (model.at(cost_of_miss=c, cost_of_alarm=1) for c in (20, 0.2))
    assert cost(dear, 20, 1) < min(cost(cheap, 20, 1), cost(model, 20, 1))
    assert cost(cheap, 0.2, 1) < min(cost(dear, 0.2, 1), cost(model, 0.2, 1))
    # Only their ratio counts.
    assert model.at(cost_of_miss=40, cost_of_alarm=2).thresholds_ == dear.thresholds_


def test_the_summary_tells_what_was_asked_for_and_what_it_costs(fitted):
    _, _, model = fitted
    before, after = str(model.summary()), " ".join(str(model.at(recall=0.9).summary()).split())
    assert "tuned on held-out rows" in before
    assert "chosen for recall >= 0.9 on held-out rows" in after
    assert (
        f"f1 {model.best_score_:.3f} on held-out rows at its best threshold, not at this" in after
    )
    table = model.models_[0].choice.thresholds
    at = table.place_for({"recall": 0.9})
    assert (
        f"about {1000 * table.alarm_rates[at]:.3g} in 1000 rows like the training rows; precision "
        f"{table.precisions[at]:.3f}, recall {table.recalls[at]:.3f} on held-out rows"
    ) in after
    costs = str(model.at(cost_of_miss=20, cost_of_alarm=1).summary())
    assert "for a miss that costs 20 and an alarm 1" in " ".join(costs.split())


def test_scores_without_a_threshold_are_those_of_any_threshold(fitted):
    X, y, _ = fitted
    for measure in ("prec@10%", "roc_auc"):
        model = ScoreSieve(measure, n_features_to_select=1, pos_label="fraud", **QUICK).fit(X, y)
        assert fact(model.at(recall=0.5), "score") == fact(model, "score")


def test_a_sieve_expects_the_share_of_held_out_rows_above_its_threshold(fitted):
    """F1 of the counts at its threshold is close to the best, which is the score of the choice."""
    _, y, model = fitted
    found = fact(model, "alarms")
    f1 = 2 / (1 / found["precision"] + 1 / found["recall"])
    assert 0.94 * model.best_score_ <= f1 <= model.best_score_ + 1e-12
    assert found["alarm_rate"] == pytest.approx(
        found["recall"] / found["precision"] * np.mean(y == "fraud")
    )
    assert model.smaller_models_[0][-1].alarm_rate == found["alarm_rate"]


def test_other_models_expect_the_share_of_training_rows(fitted):
    X, y, _ = fitted
    model = MeasureSVC("prec@30", n_features_to_select=2, pos_label="fraud").fit(X, y)
    assert fact(model, "alarms")["alarm_rate"] == 0.1
    assert fact(model, "alarms")["sentence"] == "about 100 in 1000 rows like the training rows"


def test_one_column_of_an_indicator_matrix():
    X, _ = noisy()
    Y = (X[:, [3, 6]] > 0.5).astype(int)
    Y[::7] = 1 - Y[::7]
    model = ScoreSieve(n_features_to_select=1, **QUICK).fit(X, Y)
    moved = model.at(recall=0.9, label=1)
    assert moved.thresholds_[0] == model.thresholds_[0]
    assert moved.thresholds_[1] != model.thresholds_[1]
    np.testing.assert_array_equal(moved.predict(X)[:, 0], model.predict(X)[:, 0])
    with pytest.raises(ValueError, match=r"label=None is not a class .* give one of \[0, 1\]"):
        model.at(recall=0.9)


def test_bags():
    model, bags, _ = sieve_of_bags(1.0)
    moved = model.at(recall=1.0)
    assert moved.models_[0].goal == {"recall": 1.0}
    assert moved.predict(bags).sum() >= model.predict(bags).sum()


def test_weights_count_rows():
    X, y = noisy()
    weights = np.random.default_rng(0).integers(0, 3, size=y.size).astype(float)
    model = ScoreSieve(n_features_to_select=2, pos_label="fraud", **QUICK).fit(X, y, weights)
    table = model.models_[0].choice.thresholds
    assert table.n_hits[-1] == weights[y == "fraud"].sum()
    assert table.n_false_alarms[-1] == weights[y == "good"].sum()


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({}, "at got nothing; give one of recall, precision and alarm_rate, or cost_of_miss and"),
        ({"recall": 0.9, "precision": 0.5}, "at got recall, precision; give one of recall"),
        ({"cost_of_miss": 3}, "at got cost_of_miss; .* cost_of_miss and cost_of_alarm together"),
        ({"recall": 90}, "recall must be above 0 and at most 1, such as 0.9; got 90"),
        ({"precision": "high"}, "precision must be above 0 and at most 1, such as 0.9; got 'high'"),
        ({"alarm_rate": 0.0}, "alarm_rate must be above 0 and at most 1, such as 0.9; got 0.0"),
        ({"recall": True}, "recall must be .*; got True"),
        ({"cost_of_miss": 1, "cost_of_alarm": -1}, "cost_of_alarm must be a positive number; got"),
        ({"cost_of_miss": np.inf, "cost_of_alarm": 1}, "cost_of_miss must be a positive number"),
        ({"recall": 0.9, "label": "good"}, r"label='good' is not a class .* \['fraud'\]"),
    ],
)
def test_wrong_goals(goal, message, fitted):
    with pytest.raises(ValueError, match=message):
        fitted[2].at(**goal)


@pytest.mark.filterwarnings("ignore:.*no better than predicting a constant")
def test_of_several_classes_the_most_probable_one_is_predicted_whatever_the_threshold():
    X, _ = noisy()
    model = ScoreSieve(n_features_to_select=1, **QUICK).fit(X, np.digitize(X[:, 3], [-0.5, 0.5]))
    with pytest.raises(ValueError, match="label=2 can have none; fit this class against the rest"):
        model.at(recall=0.9, label=2)
    assert "alarms" not in model.summary().as_dict()["parts"][0]


@pytest.mark.parametrize("n", [2, 3, 50, 1000, 300_000])
def test_thresholds_that_are_kept_are_few_and_close(n):
    """Alarms grow by a percent and hits by half a percent at most, or by one."""
    rng = np.random.default_rng(n)
    n_hits = np.append(0.0, np.cumsum(rng.random(n - 1) < 0.02))
    n_hits[-1] += 1.0
    places = kept_places(n_hits)
    assert places[0] == 0
    assert places[-1] == n - 1
    assert places.size <= 1300
    # From a place on, the next that is kept is at most a percent further; whole numbers round.
    assert np.all(np.diff(places) <= 1 + (ALARM_STEP - 1) * (places[1:] + 1))
    hits = n_hits[places]
    assert np.all(np.diff(hits[:-1]) <= 1 + 0.005 * hits[-1])
