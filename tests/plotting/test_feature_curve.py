"""``FeatureCurveDisplay``: the best setting of each size, and the one-standard-error choice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from scoresieve.plotting import FeatureCurveDisplay
from tests.helpers import sieve_of_bags


def table(scores, errors, sizes=(1, 5, 40)):
    return {
        "param_n_features_to_select": list(sizes),
        "mean_test_score": scores,
        "std_test_score": errors,
    }


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_points_are_those_of_the_table(drawn):
    display = FeatureCurveDisplay.from_estimator(drawn.sieve)
    curve, results = display.curve, drawn.sieve.cv_results_
    assert curve.sizes.tolist() == [1, 2, 6]
    assert np.array_equal(curve.scores, results["mean_test_score"][curve.rows])
    assert np.array_equal(curve.sizes, results["param_n_features_to_select"][curve.rows])
    assert curve.sizes[curve.chosen] == drawn.sieve.best_params_["n_features_to_select"]
    assert curve.scores[curve.chosen] == drawn.sieve.best_score_
    line = display.line_.lines[0]
    assert np.array_equal(line.get_xydata(), np.column_stack([curve.sizes, curve.scores]))
    assert display.ax_.get_ylabel() == "f1 on held-out rows"


def test_the_table_alone_gives_the_same_curve(drawn):
    of_table = FeatureCurveDisplay.from_cv_results(drawn.sieve.cv_results_).curve
    of_model = FeatureCurveDisplay.from_estimator(drawn.sieve).curve
    for one, other in zip(of_table, of_model, strict=True):
        assert np.array_equal(one, other)


def test_the_choice_is_the_smallest_within_one_standard_error():
    display = FeatureCurveDisplay.from_cv_results(table([0.5, 0.70, 0.71], [0.0, 0.0, 0.02]))
    assert display.curve.sizes[display.curve.chosen] == 5
    assert "chosen: 5 features" in labels(display)
    assert display.curve.floor == pytest.approx(0.69)
    display = FeatureCurveDisplay.from_cv_results(table([0.5, 0.6, 0.71], [0.0, 0.0, 0.02]))
    assert display.curve.sizes[display.curve.chosen] == 40
    assert display.ax_.get_xscale() == "log"


def test_rivals_have_lines_of_their_own():
    rivals = {"chi2": ([1, 10], [0.3, 0.4]), "l1": ([2], [0.5])}
    display = FeatureCurveDisplay.from_cv_results(table([0.5, 0.6, 0.7], 3 * [0.01]), rivals=rivals)
    assert {"chi2", "l1"} <= set(labels(display))
    styles = {
        line.get_linestyle() for line in display.ax_.get_lines() if line.get_label() in rivals
    }
    assert len(styles) == 2
    with pytest.raises(ValueError, match=r"rivals\['x'\] .* give two lists of one length"):
        FeatureCurveDisplay(display.curve, rivals={"x": ([1, 2], [0.5])})


def test_a_grid_search(drawn):
    pipeline = make_pipeline(SelectKBest(), LogisticRegression())
    search = GridSearchCV(pipeline, {"selectkbest__k": [1, 3]}, cv=3).fit(drawn.X, drawn.y)
    results = dict(search.cv_results_)
    results["param_n_features_to_select"] = results.pop("param_selectkbest__k")
    curve = FeatureCurveDisplay.from_cv_results(results).curve
    assert np.allclose(curve.errors, results["std_test_score"] / np.sqrt(3))
    with pytest.raises(ValueError, match="one column that begins with 'param_n_'"):
        FeatureCurveDisplay.from_cv_results(search.cv_results_)


def test_several_classes_need_a_label(drawn):
    with pytest.raises(ValueError, match=r"choose one of \['a', 'b', 'c'\]"):
        FeatureCurveDisplay.from_estimator(drawn.several)
    display = FeatureCurveDisplay.from_estimator(drawn.several, label="b")
    assert display.curve.scores[0] == drawn.several.best_score_[1]
    with pytest.raises(TypeError, match=r"choose one: cv_results_\[0\]"):
        FeatureCurveDisplay.from_cv_results(drawn.several.cv_results_)
    with pytest.raises(TypeError, match="MeasureSVC has no cv_results_"):
        FeatureCurveDisplay.from_estimator(drawn.svc)


def test_bags_have_instances():
    model, _, _ = sieve_of_bags(0.5, 1.0)
    display = FeatureCurveDisplay.from_estimator(model)
    assert display.ax_.get_xlabel() == "number of instances"
    assert display.ax_.get_ylabel() == "f1 on held-out bags"
    assert display.curve.sizes.tolist() == [1, 2]
    sigmas = {model.cv_results_["params"][row]["sigma"] for row in display.curve.rows}
    assert sigmas == {model.best_params_["sigma"]}
