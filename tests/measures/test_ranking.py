"""The most violated ranking against permutations, a dynamic program and the pairs themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoresieve.measures import ROCAUC, AveragePrecision
from tests.measures.definitions import MORE, labels_and_scores

MEASURES = [ROCAUC(), AveragePrecision()]
both = pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
#: Ties, and classes that are far apart.
SCORES = {"ranges": ((-3, 3, 0.5), (0, 2, 1.0), (-30, 30, 0.1)), "shifts": (0.0, 0.0, 2.0)}


def best_by_enumeration(brute, measure, y, scores):
    """Largest value over all rankings of the examples that have a loss."""
    deltas, losses = brute.every_cut(measure, y)
    return np.max(losses - deltas @ scores)


def best_by_dynamic_program(y, scores):
    """Largest value of average precision over all interleavings, placing positives one by one."""
    positives = np.sort(scores[y > 0])[::-1]
    negatives = np.sort(scores[y < 0])[::-1]
    above = np.arange(negatives.size + 1)
    sums = np.concatenate(([0.0], np.cumsum(negatives)))
    best = np.zeros(negatives.size + 1)
    for k, positive in enumerate(positives, start=1):
        gain = above / (k + above) - (above * positive - sums) / negatives.size
        best = np.maximum.accumulate(best) + gain
    return best.max()


@both
@MORE
@given(problem=labels_and_scores(max_samples=6, **SCORES))
def test_equals_enumeration(brute, measure, problem):
    y, scores = problem
    best = best_by_enumeration(brute, measure, y, scores)
    assert measure.most_violated(y, scores).value(scores) == pytest.approx(best, abs=1e-9)
    assert measure.risk(y, scores) == pytest.approx(max(0.0, best), abs=1e-9)


@both
@MORE
@given(problem=labels_and_scores(max_samples=12, **SCORES), data=st.data())
def test_cut_is_a_subgradient_and_bounds_the_loss(measure, problem, data):
    y, scores = problem
    cut = measure.most_violated(y, scores)
    assert cut.loss > 0
    assert measure.cut_loss(y, cut.delta) == pytest.approx(cut.loss, abs=1e-12)
    steps = data.draw(st.lists(st.integers(-6, 6), min_size=y.size, max_size=y.size))
    other = scores + 0.5 * np.array(steps)
    slope = -cut.delta if cut.value(scores) > 0 else np.zeros(y.size)
    assert measure.risk(y, other) >= measure.risk(y, scores) + slope @ (other - scores) - 1e-9
    assert measure.risk(y, scores) >= measure.loss_scale(y) * measure.loss(y, scores) - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_auc_risk_is_the_mean_of_pair_hinges(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1.0, -1.0], [40, 70]))
    scores = np.round(rng.normal(size=110) + seed * 0.2 * y, 1 if seed % 2 else 9)
    hinges = np.maximum(0.0, 1 - scores[y > 0][:, None] + scores[y < 0])
    assert ROCAUC().risk(y, scores) == pytest.approx(hinges.sum() / 70, rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sizes", [(25, 35), (1, 59), (59, 1), (150, 90)])
def test_average_precision_equals_dynamic_program(seed, sizes):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1.0, -1.0], sizes))
    scores = [0.01, 0.3, 1.0, 4.0][seed % 4] * rng.normal(size=y.size) + 0.1 * seed * y
    if seed >= 4:
        scores = np.round(scores, 1)
    value = AveragePrecision().most_violated(y, scores).value(scores)
    assert max(value, 0.0) == pytest.approx(best_by_dynamic_program(y, scores), rel=1e-11, abs=1e-9)


@both
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e300, -1e300])
@pytest.mark.parametrize("sizes", [(1, 1), (1, 5), (5, 1), (2, 3)])
def test_degenerate_scores_and_sizes(brute, measure, scale, sizes):
    y = np.repeat([1.0, -1.0], sizes)
    for scores in (np.full(y.size, scale), scale * y):
        cut = measure.most_violated(y, scores)
        best = best_by_enumeration(brute, measure, y, scores)
        assert cut.value(scores) == pytest.approx(best, abs=1e-9 + 1e-12 * abs(scale))
        assert measure.cut_loss(y, cut.delta) == pytest.approx(cut.loss)


@both
def test_ties_are_ranked_by_index(measure):
    y = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    scores = np.array([0.5, 0.2, 0.5, 0.2, 0.0, 0.9, 0.5, 0.9])
    cut = measure.most_violated(y, scores)
    for label in (1.0, -1.0):
        members = np.flatnonzero(y == label)
        order = members[np.argsort(-scores[members], kind="stable")]
        # b grows down the ranking, and r = -N delta shrinks: delta never decreases along it.
        assert np.all(np.diff(cut.delta[order]) >= 0)
    np.testing.assert_array_equal(cut.delta, measure.most_violated(y.copy(), scores.copy()).delta)


@both
def test_cut_loss_refuses_what_no_ranking_gives(measure):
    y = np.array([1.0, 1.0, -1.0, -1.0])
    assert measure.cut_loss(y, np.zeros(4)) == 0.0
    # Either negative above exactly one positive: the two would have to be nested.
    for delta in (
        [0.5, 0.5, -0.5, -0.5],
        [0.25, 0.0, -0.25, 0.0],
        [0.5, 0.0, 0.0, 0.0],
        [-0.5, 0.0, 0.5, 0.0],
        [1.5, 0.0, -0.5, -1.0],
        [np.nan, 0.0, 0.0, 0.0],
        [0.5, 0.0],
    ):
        with pytest.raises(ValueError, match="delta"):
            measure.cut_loss(y, np.array(delta))


@both
def test_cut_loss_of_every_ranking(brute, measure):
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0])
    for delta, loss in zip(*brute.every_cut(measure, y), strict=True):
        assert measure.cut_loss(y, delta) == pytest.approx(loss, abs=1e-12)


def test_rankings_do_not_flip_examples():
    assert not ROCAUC().flips_examples
    assert not AveragePrecision().flips_examples
