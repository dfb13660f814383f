"""``summary()``: one mechanism for every estimator, and only true sentences."""

from __future__ import annotations

import html
import json
import re
import warnings
from dataclasses import is_dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.utils import estimator_html_repr

from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    MeasureSVC,
    ScoreSieve,
    baselines,
    budget_path,
    load,
    mil,
)
from scoresieve.estimators.model import FitCertificate
from scoresieve.estimators.persistence.registry import CLASSES
from scoresieve.estimators.summary.parts import MAX_FEATURES
from scoresieve.estimators.summary.words import hard_budget_fact, percent, relaxed_fact
from scoresieve.solvers.limits import Status

QUICK = {"candidates": ["squared_hinge"], "Cs": [1.0], "cv": 3, "pos_label": "rare"}
NAMES = ["price", "<b>bold</b>", *(f"x{j}" for j in range(2, 12))]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12))
    signal = X[:, 0] - X[:, 1] + 0.6 * rng.normal(size=150)
    return X, signal


@pytest.fixture(scope="module")
def labels(rows):
    return np.where(rows[1] > np.quantile(rows[1], 0.7), "rare", "common")


@pytest.fixture(scope="module")
def bags():
    rng = np.random.default_rng(1)
    bags, y = [rng.normal(size=(4, 2)) for _ in range(45)], np.arange(45) % 3 == 0
    for bag in np.flatnonzero(y):
        bags[bag][rng.integers(4)] = [4.0, 4.0]
    return bags, y


@pytest.fixture(scope="module")
def hard(rows, labels):
    frame = pd.DataFrame(rows[0], columns=NAMES)
    return MeasureSVC("f1", n_features_to_select=2, pos_label="rare").fit(frame, labels)


def sentences(part):
    return {fact.name: fact.sentence for fact in part.facts}


def test_features_by_name_and_weight_the_largest_first(hard):
    (part,) = hard.summary().parts
    w = hard.coef_[0]
    order = sorted(hard.support_, key=lambda j: -abs(w[j]))
    assert [each.name for each in part.weights] == [NAMES[j] for j in order]
    assert [each.weight for each in part.weights] == [w[j] for j in order]
    assert part.heading == "class 'rare': 2 of 12 features"
    assert str(hard.summary()).startswith("MeasureSVC for f1\n\nclass 'rare'")


def test_weights_speak_for_the_class_of_the_title(rows, labels):
    model = MeasureSVC("f1", n_features_to_select=2, pos_label="common").fit(rows[0], labels)
    (part,) = model.summary().parts
    weights = {each.name: each.weight for each in part.weights}
    assert weights["0"] < 0 < weights["1"]
    assert model.coef_[0, 0] > 0 > model.coef_[0, 1]


def test_the_score_is_that_of_the_training_rows(hard, rows, labels):
    frame = pd.DataFrame(rows[0], columns=NAMES)
    found = hard.summary().as_dict()["parts"][0]["score"]
    expected = f1_score(labels, hard.predict(frame), pos_label="rare")
    assert found["score"] == pytest.approx(expected)
    assert found["rows"] == "training"
    assert f"f1 {expected:.3f} on the training rows" in found["sentence"]


def test_scores_of_losses(rows, labels):
    X, target = rows
    model = BudgetClassifier(n_features_to_select=2).fit(X, labels)
    expected = accuracy_score(labels, model.predict(X))
    assert model.training_score_[0] == pytest.approx(expected)
    assert f"accuracy {expected:.3f}" in str(model.summary())
    model = BudgetRegressor(n_features_to_select=2).fit(X, target + 100.0)
    assert model.training_score_ == pytest.approx(r2_score(target + 100.0, model.predict(X)))
    assert f"R^2 {model.training_score_:.3f}" in str(model.summary())


def test_sample_weights_count_in_the_score(rows, labels):
    X, _ = rows
    weights = np.tile([1.0, 2.0, 0.5], 50)
    model = MeasureSVC("accuracy", n_features_to_select=2, pos_label="rare").fit(X, labels, weights)
    expected = accuracy_score(labels, model.predict(X), sample_weight=weights)
    assert model.training_score_[0] == pytest.approx(expected)


def test_the_bound_on_models_with_k_features_is_that_of_the_objective(hard, rows, labels):
    """``(1 - printed) J_k <= D``: recomputed from the data, not from what the fit stored."""
    frame = pd.DataFrame(rows[0], columns=NAMES)
    certificate = hard.certify(frame, labels)
    said = sentences(hard.summary().parts[0])["certificate"]
    bound, refit = (float(each) / 100 for each in re.findall(r"([\d.]+) %", said))
    assert (1 - bound) * certificate.primal <= certificate.dual
    assert bound <= 1.2 * certificate.gap
    assert said.startswith("the best model with at most 2 features has a training objective at")
    alone = MeasureSVC(
        "f1",
        n_features_to_select=2,
        pos_label="rare",
        excluded_features=[j for j in range(12) if j not in hard.support_],
        price=float(hard.price_[0]),
        tol=1e-6,
    ).fit(frame, labels)
    assert (1 - refit) * certificate.primal <= alone.primal_[0]


def test_without_a_certificate_nothing_is_claimed(rows, labels):
    model = MeasureSVC("f1", n_features_to_select=2, certificate=False, pos_label="rare")
    said = sentences(model.fit(rows[0], labels).summary().parts[0])["certificate"]
    assert said.startswith("none for the selection (certificate=False)")
    assert "the best model with" not in said
    assert model.summary().as_dict()["parts"][0]["certificate"]["l0_gap"] is None


def test_a_relaxed_model(rows, labels):
    model = MeasureSVC("f1", budget=2, pos_label="rare", C=2.0, price=0.5).fit(rows[0], labels)
    said = sentences(model.summary().parts[0])
    assert "the optimum of the training objective" in said["certificate"]
    assert percent(model.gap_[0]) in said["certificate"]
    assert said["C"] == "C = 2 (given)"
    assert said["price"] == "a false alarm costs 0.5 of a missed positive (given)"
    assert "not about f1 or new rows" in said["scope"]


def test_groups_and_roles_of_columns_are_told(rows, labels):
    model = MeasureSVC("f1", n_features_to_select=2, pos_label="rare", certificate=False)
    model.set_params(feature_groups=[[0, 2], [1, 3]], always_features=[5], excluded_features=[7])
    said = sentences(model.fit(rows[0], labels).summary().parts[0])
    assert said["limit"] == "at most 2 groups of features (besides 1 always in, with 1 left out)"


def test_a_model_without_features(rows, labels):
    with pytest.warns(UserWarning, match="the model has no features"):
        model = MeasureSVC("f1", C=1e-6, tol=0.5, pos_label="rare").fit(rows[0], labels)
    (part,) = model.summary().parts
    assert part.heading == "class 'rare': 0 of 12 features"
    assert Status.ZERO_MODEL.value in str(sentences(part)["certificate"])
    assert "<tbody></tbody>" in model.summary()._repr_html_()


def test_an_early_end_is_told():
    proof = FitCertificate(2.0, 1.0, 0.5, l0_gap=0.5, refit_gap=0.2, status=Status.MAX_TIME)
    fact = hard_budget_fact(5, "features", "features", proof)
    assert fact.sentence.endswith(Status.MAX_TIME.value)
    assert fact.values["status"] == "MAX_TIME"
    assert Status.ZERO_MODEL.value in relaxed_fact(5, "features", 0.01, Status.ZERO_MODEL).sentence
    assert relaxed_fact(5, "features", 0.01, None).sentence.endswith("at most 5 features.")


@pytest.mark.parametrize("share", [1.5, np.inf])
def test_no_objective_can_fall_by_more_than_all_of_it(share):
    assert percent(share) == "100 %"


@pytest.mark.parametrize("share", [0.08, 0.0797, 0.431, 1.0, 0.099999, 1e-12, 0.0, 0.0123456])
def test_percents_are_never_rounded_down(share):
    printed = float(percent(share).removesuffix(" %")) / 100
    assert share <= printed * (1 + 1e-9)
    assert printed <= 1.1 * share + 1e-4


def test_a_sieve(rows, labels, tmp_path):
    model = ScoreSieve("f1", n_features_to_select=[1, 2, 4], **QUICK).fit(rows[0], labels)
    (part,) = model.summary(NAMES).parts
    said = sentences(part)
    assert f"f1 {model.best_score_:.3f}" in said["score"]
    assert "on held-out rows" in said["score"]
    assert "of 1, 2, 4, within one standard error" in said["choice"]
    assert model.best_params_["selection"].split(",")[0] in said["choice"]
    assert f"{model.thresholds_[0]:.3f}" in said["threshold"]
    assert said["certificate"].startswith("none (chosen by cross-validation)")
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").summary(NAMES) == model.summary(NAMES)


def test_a_sieve_tells_the_price_of_the_bound_that_chose(rows, labels, tmp_path):
    of_bound = ScoreSieve("f1", n_features_to_select=2, **{**QUICK, "candidates": ["bound"]})
    of_bound.fit(rows[0], labels).save(tmp_path / "model")
    C = of_bound.best_params_["C"]
    twin = MeasureSVC("f1", n_features_to_select=2, C=C, pos_label="rare", certificate=False)
    said = sentences(load(tmp_path / "model").summary().parts[0])["price"]
    price = twin.fit(rows[0], labels).price_[0]
    assert said.startswith(f"a false alarm costs {price:.3g} of a missed positive in the bound")
    of_loss = ScoreSieve("f1", n_features_to_select=2, **QUICK).fit(rows[0], labels)
    assert "price" not in sentences(of_loss.summary().parts[0])


def test_models_of_fewer_features_are_kept(rows, labels):
    X, _ = rows
    model = ScoreSieve("mcc", n_features_to_select=[1, 2], **QUICK).fit(X, labels)
    ((first, last),) = model.smaller_models_
    for one, size in ((first, 1), (last, 2)):
        assert one.columns.size == one.choice.params["n_features_to_select"] == size
        assert one.choice.table is model.cv_results_
    scores = X @ last.scattered(12) + last.decision_intercept
    assert np.allclose(scores, model.decision_function(X))
    alone = ScoreSieve("mcc", n_features_to_select=1, **QUICK).fit(X, labels)
    assert alone.best_params_["final_model"] == model.best_params_["final_model"]
    assert np.allclose(first.scattered(12), alone.coef_)
    assert np.allclose(first.decision_intercept, alone.intercept_)
    assert np.allclose(first.threshold, alone.models_[0].threshold)


def test_several_classes_have_a_part_each(rows):
    X, signal = rows
    y = np.digitize(signal, [-1.0, 1.0])
    model = MeasureSVC("f1", n_features_to_select=2, certificate=False).fit(X, y)
    parts = model.summary().parts
    assert [part.label for part in parts] == [0, 1, 2]
    alone = f1_score(y == 0, model.decision_function(X)[:, 0] > 0)
    assert parts[0].facts[0].values["score"] == pytest.approx(alone)
    assert "of this class alone on the training rows" in sentences(parts[0])["score"]


@pytest.fixture(scope="module", params=["multiclass", "multilabel"])
def many(request, rows):
    """A sieve of twenty classes, of which the last is noise, and its X and y."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 20
    X = rng.normal(size=(400, 20)) + 3.0 * (y[:, np.newaxis] == np.arange(20))
    X[:, 19] = rng.normal(size=400)
    if request.param == "multilabel":
        y = (y[:, np.newaxis] == np.arange(20)).astype(int)
    quick = {"candidates": ["correlation"], "cv": 3, "n_features_to_select": 1}
    with pytest.warns(UserWarning, match=r"class 19 \(0\.") as caught:
        model = ScoreSieve("f1", **quick).fit(X, y)
    assert len(caught) == 1
    return model, X, y


def test_an_overview_of_twenty_classes_has_at_most_forty_lines(many):
    model, _, y = many
    summary = model.summary()
    lines = str(summary).splitlines()
    assert len(lines) <= 40
    assert lines[2].startswith(f"features     {model.n_features_selected_} of 20 for 20 classes")
    assert lines[3].startswith(
        f"score        f1 {np.mean(model.best_score_):.3f}, the mean over 20"
    )
    assert "on held-out rows" in lines[3]
    table = [line.split() for line in lines[-23:-2]]
    assert table[0] == ["class", "features", "score", "std", "error", "baseline", "threshold"]
    of_class = zip(range(20), model.models_, model.thresholds_, strict=True)
    for number, one, threshold in of_class:
        numbers = [one.choice.score, one.choice.error, one.constant_score, threshold]
        expected = [str(number), "1", *(f"{each:.3f}" for each in numbers)]
        assert table[number + 1] == expected
    rule = "most probable class" if y.ndim == 1 else "from the probability below on"
    assert rule in str(summary)
    assert "no better than a constant: class 19" in " ".join(str(summary).split())
    assert lines[-1] == "details      summary(label=0) shows the features of one class"


def test_the_details_of_one_class_and_all_of_them_in_plain_data(many):
    model, _, _ = many
    detail = model.summary(label=3)
    assert detail.parts == model.summary().parts[3:4]
    assert str(detail).startswith("ScoreSieve for f1\n\nclass 3: 1 of 20 features\nscore ")
    plain = json.loads(json.dumps(model.summary().as_dict(), allow_nan=False))
    assert len(plain["parts"]) == len(plain["overview"]["classes"]) == 20
    assert plain["parts"][3] == detail.as_dict()["parts"][0]
    assert plain["overview"]["score"]["score"] == pytest.approx(np.mean(model.best_score_))
    assert plain["overview"]["baseline"]["not_beaten_by"] == [19]
    with pytest.raises(ValueError, match=r"label='x' has no model; use one of 0, 1, .*, 19\."):
        model.summary(label="x")


def test_a_notebook_shows_a_row_for_each_class(many):
    shown = many[0].summary()._repr_html_()
    assert shown.count("<tr>") == 4 + 1 + 20
    assert "summary(label=0)" in shown


def test_the_overview_of_a_certified_model(rows):
    X, signal = rows
    y = np.array(["low", "mid", "high"])[np.digitize(signal, [-1.0, 1.0])]
    model = MeasureSVC("f1", n_features_to_select=2).fit(X, y)
    text = str(model.summary())
    assert "on training rows (optimistic)" in text
    assert "highest decision_function, from which each threshold is subtracted" in " ".join(
        text.split()
    )
    table = [line.split() for line in text.splitlines()[-6:-2]]
    assert table[0] == ["class", "features", "score", "baseline", "threshold"]
    assert [float(row[-1]) for row in table[1:]] == [round(m.threshold, 3) for m in model.models_]
    assert "summary(label='high')" in text


@pytest.mark.parametrize("measure", ["f1", "mcc", "accuracy", "roc_auc", "prec@10", "f2"])
def test_the_baseline_is_the_best_constant_prediction(rows, labels, measure):
    model = MeasureSVC(measure, n_features_to_select=2, pos_label="rare", certificate=False)
    said = model.fit(rows[0], labels).summary().as_dict()["parts"][0]["baseline"]
    y = np.where(labels == "rare", 1.0, -1.0)
    constants = [model.measure_.score(y, np.full(150, sign)) for sign in (1.0, -1.0)]
    expected = {"f1": 0.6 / 1.3, "mcc": 0, "accuracy": 0.7, "roc_auc": 0.5, "prec@10": 0.3}
    assert said["score"] == pytest.approx(expected.get(measure, max(constants)))
    assert said["score"] == pytest.approx(max(constants))
    assert said["is_beaten"]
    assert said["sentence"].endswith("for the best constant prediction on these rows")


def test_baselines_count_weights_and_are_those_of_losses_and_rivals(rows, labels):
    weights = np.where(labels == "rare", 7.0, 1.0)
    common = 105 / (105 + 7 * 45)
    for model in (
        MeasureSVC("accuracy", n_features_to_select=2, pos_label="rare", certificate=False),
        BudgetClassifier(n_features_to_select=2, certificate=False),
    ):
        (found,) = model.fit(rows[0], labels, weights).models_
        assert found.constant_score == pytest.approx(1.0 - common)
    weights = weights.astype(int)
    sieve = ScoreSieve("f1", n_features_to_select=1, **QUICK).fit(rows[0], labels, weights)
    assert sieve.models_[0].constant_score == pytest.approx(2 * 315 / (2 * 315 + 105))
    assert baselines.L1SVM().fit(rows[0], labels).models_[0].constant_score == pytest.approx(0.7)
    X, target = rows
    assert "baseline" not in str(BudgetRegressor(n_features_to_select=2).fit(X, target).summary())


def constant_columns():
    return np.ones((90, 4)), np.arange(90) % 3 == 0


def two_positives():
    return np.random.default_rng(1).normal(size=(90, 4)), np.arange(90) < 2


def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 4)), rng.random(90) < 0.4


@pytest.mark.parametrize("measure", ["f1", "roc_auc"])
@pytest.mark.parametrize("hopeless", [constant_columns, two_positives, noise])
def test_hopeless_fits_say_so(hopeless, measure):
    X, y = hopeless()
    quick = {"candidates": ["squared_hinge"], "Cs": [1.0], "n_features_to_select": 2}
    message = "class True .*: the model is no better than predicting a constant .*Give more rows"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "class True has 2 rows")
        with pytest.warns(UserWarning, match=message):
            model = ScoreSieve(measure, **quick).fit(X, y)
    text = " ".join(str(model.summary()).split())
    assert "not above it by one standard error: the model is no better than predicting a" in text
    assert not model.summary().as_dict()["parts"][0]["baseline"]["is_beaten"]


def test_bags_have_instances(bags):
    model = mil.BagMeasureSVC(n_instances_to_select=2, sigma=1.0).fit(*bags)
    (part,) = model.summary().parts
    first = model.key_instances_[0]
    assert part.weights[0][:2] == (f"bag {first.bag}, instance {first.position}", first.weight)
    assert "45 bags, 15 positive" in str(model.summary())
    assert "C = 10 (default)" in str(model.summary())
    with pytest.raises(ValueError, match="feature_names has 3 entries, but instances are"):
        model.summary(["a", "b", "c"])


@pytest.mark.parametrize("model", [baselines.L1SVM(n_features_to_select=2), baselines.SVMPerf()])
def test_rivals(model, rows, labels):
    if isinstance(model, baselines.SVMPerf):
        model.set_params(pos_label="rare")
    model.fit(rows[0], labels)
    text, found = str(model.summary()), sentences(model.summary().parts[0])
    assert text.startswith(type(model).__name__)
    assert found["fitted_on"].startswith("150 rows, 45 positive")
    name = "f1" if isinstance(model, baselines.SVMPerf) else "accuracy"
    assert found["score"].startswith(
        f"{name} {model.score(rows[0], labels):.3f} on the training rows"
    )
    assert (
        found["threshold"] == "predicts positive where decision_function > 0; intercept as trained"
    )
    assert {"C", "certificate"} <= {*found}
    assert ("scope" in found) == hasattr(model, "gap_")


def test_the_threshold_of_a_rival_for_the_k_highest_scores_is_told(rows, labels):
    model = baselines.SVMPerf("prec@20", pos_label="rare").fit(rows[0], labels)
    found = sentences(model.summary().parts[0])
    assert "as many training rows are above 0 as the measure counts" in found["threshold"]
    assert np.count_nonzero(model.decision_function(rows[0]) > 0) == 20
    score = model.measure_.score(
        np.where(labels == "rare", 1, -1), model.decision_function(rows[0])
    )
    assert found["score"].startswith(f"prec@20 {score:.3f} on the training rows")


def test_rivals_of_bags_speak_of_bags(bags):
    said = {
        baselines.MILES(n_instances_to_select=1): r"C = .* \(searched for the number of features\)",
        baselines.MeanInstanceSVM(C=2.0): "C = 2",
    }
    for model, C in said.items():
        found = sentences(model.fit(*bags).summary().parts[0])
        assert found["fitted_on"].startswith("45 bags, 15 positive")
        assert found["score"].startswith(f"accuracy {model.score(*bags):.3f} on the training bags")
        assert re.fullmatch(C, found["C"])


def test_a_path_has_a_part_for_each_budget(rows):
    X, signal = rows
    path = budget_path(X, signal > 0.5, [1, 3])
    summary = path.summary(NAMES)
    assert [part.title for part in summary.parts] == ["budget 1", "budget 3"]
    assert [len(part.weights) for part in summary.parts] == path.n_features_selected.tolist()
    assert percent(path.gap[1]) in str(summary)


def test_long_lists_are_cut_in_the_text_alone(rows, labels):
    model = baselines.FGM(budget=12).fit(rows[0], labels)
    summary = model.summary(max_features=3)
    (part,) = summary.parts
    assert f"and {len(part.weights) - 3} more, with weights of at most" in str(summary)
    assert part.weights[3].name not in str(summary).split("and ")[0].split()
    assert len(summary.as_dict()["parts"][0]["features"]) == len(part.weights) <= MAX_FEATURES
    with pytest.raises(ValueError, match="max_features must be an integer of at least 1"):
        model.summary(max_features=0)


def test_plain_data_are_json(hard):
    found = json.loads(json.dumps(hard.summary().as_dict(), allow_nan=False))
    assert found["title"] == "MeasureSVC for f1"
    assert found["parts"][0]["n_selected"] == 2
    assert {each["name"] for each in found["parts"][0]["features"]} == set(NAMES[:2])


def test_a_notebook_shows_a_table_in_which_names_are_text(hard):
    shown = hard.summary()._repr_html_()
    assert "<b>bold" not in shown
    assert html.escape("<b>bold</b>") in shown
    assert shown.count('<th scope="row">') == 2 + len(hard.summary().parts[0].facts)


def test_names_must_fit(hard):
    with pytest.raises(ValueError, match=r"feature_names has shape \(1,\), but .* on 12 columns"):
        hard.summary(["word"])


@pytest.mark.parametrize("cls", filter(is_dataclass, CLASSES.values()))
def test_the_box_of_scikit_learn_has_no_warning(cls):
    """Warnings are errors here; a section that numpydoc does not know was one."""
    assert cls.__name__ in estimator_html_repr(cls())


def test_the_box_of_a_fitted_model_has_no_warning(hard):
    assert "MeasureSVC" in estimator_html_repr(hard)


def test_a_veto_is_marked(tmp_path):
    """Words 0 and 1 make rows positive, unless word 2 is there; others are noise."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, 12)) < 0.2).astype(float)
    y = (X[:, 0] + X[:, 1] > 0) & (X[:, 2] == 0)
    arguments = {"candidates": ["coordinate_ascent"], "cv": 3}
    model = ScoreSieve("f1", n_features_to_select=3, **arguments).fit(X, y)
    assert model.best_params_["final_model"] == "own"
    model.save(tmp_path / "model")
    n_rows, n_without = int(X[:, 2].sum()), int(((X[:, 0] + X[:, 1] > 0) & (X[:, 2] == 1)).sum())
    told = (
        f"2 (a veto: 0 of {n_rows} rows with it are predicted positive, {n_without} would be "
        "without it)\n"
    )
    for each in (model, load(tmp_path / "model")):
        assert each.models_[0].vetoes.tolist() == [[2, n_rows, 0, n_without]]
        assert told in str(each.summary())
        assert "(a veto: 0 of" in each.summary()._repr_html_()
    regularised = ScoreSieve("f1", n_features_to_select=3, candidates=["squared_hinge"], cv=3)
    assert "veto" not in str(regularised.fit(X, y).summary())
