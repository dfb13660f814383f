"""Convergence, weights, features of several models, and operating points: numbers as they are."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_curve

from scoresieve import BudgetRegressor, MeasureSVC, budget_path, load, plotting
from scoresieve.estimators.operating_point import operating_points
from scoresieve.mil import BagMeasureSVC
from scoresieve.plotting import (
    ConvergenceDisplay,
    FeaturePathDisplay,
    OperatingPointDisplay,
    SupportsDisplay,
    WeightsDisplay,
)
from scoresieve.plotting.canvas import fitted_name


def y_texts(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_convergence_is_the_history(drawn, tmp_path):
    display = ConvergenceDisplay.from_estimator(drawn.relaxed)
    (history,) = drawn.relaxed.history_
    primal, dual = display.ax_.get_lines()
    assert primal.get_ydata().tolist() == [row.primal for row in history]
    assert dual.get_ydata().tolist() == [row.dual for row in history]
    assert display.gap_ax_.get_lines()[0].get_ydata()[-1] == pytest.approx(
        100 * drawn.relaxed.gap_[0], rel=1e-6
    )
    drawn.relaxed.save(tmp_path / "model")
    with pytest.raises(ValueError, match="save with_certificate=True"):
        ConvergenceDisplay.from_estimator(load(tmp_path / "model"))
    with pytest.raises(TypeError, match="ScoreSieve has no history_"):
        ConvergenceDisplay.from_estimator(drawn.sieve)


def test_convergence_of_a_regression_on_given_axes(drawn):
    model = BudgetRegressor(budget=2).fit(drawn.X, drawn.X[:, 0] + drawn.X[:, 1])
    _, ax = plt.subplots()
    display = ConvergenceDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.gap_ax_ is None
    assert "regression" in ax.get_title(loc="left")


def test_convergence_of_bags_tells_a_limit_from_a_budget(drawn):
    bags, y = list(drawn.X[:, np.newaxis, :3]), drawn.X[:, 0] > 0.5
    for limit, is_relaxed in (("n_instances_to_select", True), ("budget", False)):
        model = BagMeasureSVC(**{limit: 2}, sigma=1.0, n_prototypes=20).fit(bags, y)
        display = ConvergenceDisplay.from_estimator(model)
        assert display.title.endswith("relaxed problem") == is_relaxed


def test_bars_are_weights_with_names(drawn):
    display = WeightsDisplay.from_estimator(drawn.svc, feature_names=drawn.names)
    w = drawn.svc.coef_[0]
    order = sorted(drawn.svc.support_, key=lambda j: -abs(w[j]))
    assert [bar.get_width() for bar in display.bars_] == [w[j] for j in order]
    assert y_texts(display) == [f"column {j}" for j in order]
    hatches = [bar.get_hatch() or "" for bar in display.bars_]
    assert [bool(hatch) for hatch in hatches] == [w[j] < 0 for j in order]


def test_two_hundred_weights_and_one():
    weights = np.linspace(-1.0, 2.0, 200)
    display = WeightsDisplay([f"x{j}" for j in range(200)], weights).plot()
    assert len(display.bars_) == 30
    assert "the largest 30 of 200" in display.ax_.get_title(loc="left")
    assert y_texts(display)[0] == "x199"
    assert len(WeightsDisplay(["x"], [0.5]).plot().bars_) == 1
    with pytest.raises(ValueError, match="give one name for each weight"):
        WeightsDisplay(["x"], [0.5, 1.0])


def test_names_are_wrapped_and_no_formulas():
    assert fitted_name("short") == "short"
    assert fitted_name("costs in $ and in $") == r"costs in \$ and in \$"
    assert max(map(len, fitted_name(20 * "word ").split("\n"))) <= 36
    assert fitted_name(200 * "x").count("\n") == 1


def test_features_that_stay(drawn):
    display = FeaturePathDisplay.from_estimator(drawn.sieve, feature_names=drawn.names)
    (smaller,) = drawn.sieve.smaller_models_
    assert display.models == [str(n) for n in [1, 2, 6][: len(smaller)]]
    assert np.count_nonzero(display.weights, axis=1).tolist() == [1, 2, 6][: len(smaller)]
    n_dots = sum(len(dots.get_offsets()) for dots in display.dots_)
    assert n_dots == np.count_nonzero(display.weights)
    with pytest.raises(TypeError, match="MeasureSVC keeps no models with fewer features"):
        FeaturePathDisplay.from_estimator(drawn.svc)


def test_features_of_a_path_are_in_the_order_of_entry(drawn):
    path = budget_path(drawn.X, drawn.y, [3, 1])
    display = FeaturePathDisplay.from_path(path, feature_names=drawn.names, max_features=4)
    assert display.models == ["1", "3"]
    first = path.coefs[[1]].toarray()[0]
    assert y_texts(display)[0] == drawn.names[int(np.argmax(np.abs(first)))]
    assert len(y_texts(display)) == 4
    assert f"4 of {len(display.names)} features" in display.ax_.get_title()


def test_supports_of_classes(drawn):
    display = SupportsDisplay.from_estimator(drawn.several, feature_names=drawn.names)
    assert display.models == ["a", "b", "c"]
    for row, support in zip(display.weights, drawn.several.supports_, strict=True):
        names = [display.names[place] for place in np.flatnonzero(row)]
        assert names == [drawn.names[j] for j in support]


@pytest.mark.parametrize("name", ["svc", "sieve"])
def test_the_operating_point_is_that_of_predict(drawn, name):
    model = getattr(drawn, name)
    display = OperatingPointDisplay.from_estimator(model, drawn.X, drawn.y)
    point, predicted = display.point, model.predict(drawn.X)
    assert point.confusion == confusion_matrix(drawn.y, predicted).tolist()
    expected = precision_recall_curve(drawn.y, model.decision_function(drawn.X))
    assert np.allclose(point.precisions, expected[0])
    assert np.allclose(point.recalls, expected[1])
    assert any(
        np.allclose([point.recall, point.precision], pair)
        for pair in zip(point.recalls, point.precisions, strict=True)
    )


def test_the_price_line_of_f1_is_that_of_equal_f1(drawn):
    (point,) = operating_points(drawn.sieve, drawn.X, drawn.y)
    f1 = f1_score(drawn.y, drawn.sieve.predict(drawn.X))
    assert point.price == pytest.approx(f1 / (2 - f1))
    recalls, precisions = point.price_line()
    assert recalls.size > 10
    assert np.allclose(2 * precisions * recalls / (precisions + recalls), f1)


def test_a_price_is_what_an_alarm_is_worth(drawn):
    (point,) = operating_points(drawn.svc, drawn.X, drawn.y)
    assert point.price == drawn.svc.price_[0]
    recalls, precisions = point.price_line()
    hits = recalls * point.n_positives
    false_alarms = hits / precisions - hits
    worth = hits - point.price * false_alarms
    here = point.n_hits - point.price * (point.n_alarms - point.n_hits)
    assert np.allclose(worth, here)


def test_the_first_of_two_classes_may_be_positive(drawn):
    model = MeasureSVC("f1", n_features_to_select=2, certificate=False, pos_label=False)
    model.fit(drawn.X, drawn.y)
    (point,) = operating_points(model, drawn.X, drawn.y)
    expected = confusion_matrix(~drawn.y, ~model.predict(drawn.X)).tolist()
    assert point.confusion == expected


def test_operating_points_of_classes(drawn):
    points = operating_points(drawn.several, drawn.X, drawn.classes)
    assert [point.n_positives for point in points] == [
        np.count_nonzero(drawn.classes == label) for label in "abc"
    ]
    rows = drawn.classes == "a"
    with pytest.raises(ValueError, match="y has no row of class 'b', or no other row"):
        OperatingPointDisplay.from_estimator(
            drawn.several, drawn.X[rows], drawn.classes[rows], label="b"
        )


def test_given_axes_are_used(drawn):
    _, axes = plt.subplots(1, 3)
    for ax, display in zip(
        axes, (WeightsDisplay, FeaturePathDisplay, SupportsDisplay), strict=True
    ):
        assert display.from_estimator(drawn.sieve, ax=ax).ax_ is ax


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'scoresieve\[plot\]'"):
        WeightsDisplay(["x"], [1.0]).plot()


def test_every_display_is_public():
    assert all(name.endswith("Display") for name in plotting.__all__)
    assert all(hasattr(getattr(plotting, name), "from_estimator") for name in plotting.__all__)


@pytest.mark.parametrize("label", [0, 1])
def test_rows_of_one_class_have_no_operating_point(drawn, label):
    rows = np.flatnonzero(np.asarray(drawn.y) == label)
    assert rows.size
    assert operating_points(drawn.sieve, drawn.X[rows], drawn.y[rows]) == [None]
