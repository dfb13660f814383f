"""What ``cut_loss`` and ``loss`` refuse."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.measures import PrecisionUnderRecallFloor, get_measure

Y = np.array([1.0, 1.0, -1.0, -1.0, -1.0])


@pytest.mark.parametrize("name", ["accuracy", "f1", "prec@2", "rec@2", "prbep", "jaccard"])
@pytest.mark.parametrize(
    ("delta", "message"),
    [
        ([-1.0, 0.0, 0.0, 0.0, 0.0], r"delta\[0\] is -1"),
        ([0.0, 0.0, 0.0, 1.0, 0.0], r"delta\[3\] is 1"),
        ([0.0, 0.5, 0.0, 0.0, 0.0], r"delta\[1\] is 0.5"),
        ([0.0, np.nan, 0.0, 0.0, 0.0], r"delta\[1\] is nan"),
        ([1.0, 0.0, 0.0], "shape"),
    ],
)
def test_garbage_is_refused(name, delta, message):
    with pytest.raises(ValueError, match=message):
        get_measure(name).cut_loss(Y, np.array(delta))


@pytest.mark.parametrize(
    ("name", "delta", "loss"),
    [
        ("accuracy", [1.0, 0.0, -1.0, 0.0, 0.0], 2.0),
        ("balanced_accuracy", [1.0, 0.0, -1.0, 0.0, 0.0], 2 * (1 / 2 + 1 / 3) / 2),
        ("f1", [1.0, 0.0, -1.0, 0.0, 0.0], 1.0),
        ("jaccard", [1.0, 0.0, -1.0, 0.0, 0.0], 2 * (1 - 1 / 3)),
        ("prec@2", [1.0, 0.0, -1.0, 0.0, 0.0], 1.0),
        ("rec@2", [1.0, 1.0, 0.0, 0.0, 0.0], 2.0),
        ("prbep", [1.0, 0.0, 0.0, -1.0, 0.0], 1.0),
        ("precision@recall>=0.5", [1.0, 0.0, -1.0, 0.0, 0.0], 1.0),
        ("precision@recall>=0.6", [1.0, 0.0, -1.0, 0.0, 0.0], 2.0),
    ],
)
def test_known_losses(name, delta, loss):
    assert get_measure(name).cut_loss(Y, np.array(delta)) == pytest.approx(loss, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "delta"),
    [
        ("prec@2", [1.0, 0.0, 0.0, 0.0, 0.0]),
        ("rec@2", [0.0, 0.0, -1.0, 0.0, 0.0]),
        ("prbep", [1.0, 0.0, -1.0, -1.0, 0.0]),
    ],
)
def test_inadmissible_labellings_are_refused(name, delta):
    with pytest.raises(ValueError, match="not admissible"):
        get_measure(name).cut_loss(Y, np.array(delta))


@pytest.mark.parametrize("measure", [get_measure("prec@1"), PrecisionUnderRecallFloor(0.5)])
def test_labellings_without_loss_are_refused(measure):
    # One positive missed and no false alarm: as good as the truth, and so no bound of the risk.
    delta = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="loss is 0"):
        measure.cut_loss(Y, delta)
    scores = np.array([-9.0, 5.0, -9.0, -9.0, -9.0])
    assert measure.risk(Y, scores) < -delta @ scores


def test_loss_wants_labels():
    with pytest.raises(ValueError, match="labels -1 and"):
        get_measure("f1").loss(Y, np.array([1.0, 0.0, 1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="shape"):
        get_measure("f1").loss(Y, np.array([1.0, 1.0]))


@pytest.mark.parametrize("floor", [0.1, 0.3, 0.55, 0.6, 0.7, 0.8, 0.9, 1 / 3, 2 / 3, 1.0])
def test_recall_floor_is_reached_as_the_division_rounds(floor):
    measure = PrecisionUnderRecallFloor(floor)
    for n_positive in range(1, 200):
        reached = [a for a in range(n_positive + 1) if a / n_positive >= floor]
        assert measure.least_true_positive(n_positive) == min(reached)


@pytest.mark.parametrize("k", [1, 3, "p"])
def test_no_alarms_have_no_precision(k):
    """By the formula, admissible or not: the loss is 1."""
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
    measure = get_measure(f"prec@{k}")
    assert measure.loss(y, -np.ones(5)) == 1.0
    assert measure.loss(y, np.array([1.0, -1.0, 1.0, 1.0, -1.0])) == pytest.approx(2 / 3)
