"""``InstanceContributionsDisplay``: bars are contributions, and they sum to the decision."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from scoresieve.mil import BagMeasureSVC
from scoresieve.plotting import ConvergenceDisplay, InstanceContributionsDisplay
from tests.helpers import run_python


@pytest.fixture(scope="module")
def bags():
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(6, 2)) for _ in range(45)]
    for place, bag in enumerate(bags):
        bag[place % 6] = [[4.0, 4.0], [-4.0, 4.0], [0.0, 0.0]][place % 3]
    return bags


def fit(bags, y):
    return BagMeasureSVC(budget=2, sigma=1.5, tol=0.1).fit(bags, y)


@pytest.fixture(scope="module")
def model(bags):
    return fit(bags, np.array(["no", "yes", "yes"])[np.arange(45) % 3])


def lengths(display):
    return np.array([bar.get_width() for bar in display.bars_])


def texts(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_bars_are_contributions_from_for_to_against(model, bags):
    display = InstanceContributionsDisplay.from_estimator(model, bags[0])
    scores = model.instance_scores(bags[0])
    order = [place for place in np.argsort(-scores, kind="stable") if scores[place] != 0]
    assert 0 < len(order) < 5
    assert_allclose(lengths(display), [*scores[order], 0.0, model.intercept_[0]])
    others = f"{6 - len(order)} other instances"
    assert texts(display) == [*(f"instance {place}" for place in order), others, "intercept"]
    decision = model.decision_function(bags[:1])[0]
    assert lengths(display).sum() == pytest.approx(decision)
    assert display.decision == pytest.approx(decision)
    assert display.ax_.get_title(loc="left") == f"decision {decision:+.2f} for class yes"
    assert display.figure_ is display.ax_.figure


def test_weak_instances_share_a_bar():
    contributions = np.array([0.1, -2.0, 3.0, 0.2, -0.05])
    display = InstanceContributionsDisplay(contributions, 0.5, names=list("pqrst")).plot(max_bars=2)
    assert texts(display) == ["r", "q", "3 other instances", "intercept"]
    assert_allclose(lengths(display), [3.0, -2.0, 0.25, 0.5])
    assert display.ax_.get_title(loc="left") == "decision +1.75"
    colours = [bar.get_facecolor() for bar in display.bars_]
    assert len(set(colours[:3])) == 3


@pytest.mark.parametrize(("contributions", "bars"), [([0.0, 1.0], 3), ([0.0], 2), ([2.0], 2)])
def test_instances_without_a_say_have_no_bar(contributions, bars):
    display = InstanceContributionsDisplay(np.array(contributions)).plot()
    assert len(display.bars_) == bars
    assert ("1 other instance" in texts(display)) == (0.0 in contributions)


def test_the_other_class_turns_the_signs(model, bags):
    of_b = InstanceContributionsDisplay.from_estimator(model, bags[0], label="yes")
    of_a = InstanceContributionsDisplay.from_estimator(model, bags[0], label="no")
    assert of_a.decision == -of_b.decision
    assert_allclose(of_a.contributions, -of_b.contributions)


@pytest.mark.parametrize("indicators", [False, True])
def test_several_classes(bags, indicators):
    kinds = np.arange(45) % 3
    model = fit(bags, np.eye(3, dtype=int)[kinds][:, :2] if indicators else kinds)
    decisions = model.decision_function(bags[:1])[0]
    chosen = InstanceContributionsDisplay.from_estimator(model, bags[0])
    assert chosen.label == model.classes_[np.argmax(decisions)]
    assert chosen.decision == pytest.approx(decisions.max())
    other = InstanceContributionsDisplay.from_estimator(model, bags[0], label=1)
    assert other.decision == pytest.approx(decisions[1])


def test_an_ax_of_the_user(model, bags):
    figure, (left, right) = plt.subplots(1, 2)
    display = InstanceContributionsDisplay.from_estimator(model, bags[1], ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.patches
    assert len(right.patches) == len(display.bars_) == len(display.bars(10))


def test_it_can_be_saved(model, bags, tmp_path):
    path = tmp_path / "bag.png"
    InstanceContributionsDisplay.from_estimator(model, bags[0]).figure_.savefig(path)
    assert path.stat().st_size > 5000


def test_wrong_arguments_are_refused(model, bags):
    with pytest.raises(ValueError, match="label='c' is not a class of the model; choose"):
        InstanceContributionsDisplay.from_estimator(model, bags[0], label="c")
    with pytest.raises(ValueError, match="names has 2 entries, but the bag has 6 instances"):
        InstanceContributionsDisplay.from_estimator(model, bags[0], names=["x", "y"])
    with pytest.raises(ValueError, match="max_bars must be an integer of at least 1"):
        InstanceContributionsDisplay.from_estimator(model, bags[0], max_bars=0)
    with pytest.raises(ValueError, match=r"contributions has shape \(1, 2\); give a 1-D array"):
        InstanceContributionsDisplay(np.ones((1, 2)))


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, numpy, scoresieve.plotting as plotting;"
        "plotting.InstanceContributionsDisplay(numpy.ones(2));"
        "sys.exit('matplotlib' in sys.modules)"
    )
    run_python("-c", code)


def test_rounds_with_a_hard_budget_are_those_of_the_relaxed_problem(model, bags):
    hard = BagMeasureSVC(n_instances_to_select=2, sigma=1.5).fit(bags, np.arange(45) % 3 == 0)
    for fitted, is_hard in ((model, False), (hard, True)):
        title = ConvergenceDisplay.from_estimator(fitted).ax_.get_title(loc="left")
        assert ("relaxed problem" in title) == is_hard
