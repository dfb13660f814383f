"""A weight is a repetition: weighted measures against repeated rows, sums and linear programmes."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from scoresieve.measures import Contingency, WeightedMeasure, get_measure
from tests.measures.definitions import MORE, labels_and_scores

NAMES = ["accuracy", "balanced_accuracy", "roc_auc"]
each = pytest.mark.parametrize("name", NAMES)
hinges = pytest.mark.parametrize("name", NAMES[:2])


WHOLE = st.integers(0, 3)
REAL = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))


@st.composite
def problems(draw, weights=REAL):
    """Labels, tied scores, and weights that leave something of both classes."""
    ranges = ((-3, 3, 0.5), (0, 2, 1.0), (-30, 30, 0.1))
    y, scores = draw(labels_and_scores(9, ranges, shifts=(0.0, 0.0, 3.0)))
    c = np.array(draw(st.lists(weights, min_size=y.size, max_size=y.size)), dtype=float)
    assume(c[y > 0].sum() > 0 and c[y < 0].sum() > 0)
    return y, scores, c


def risk_by_sums(name, y, scores, c):
    """The formula of the weighted risk, by loops over examples or pairs."""
    P, N = c[y > 0].sum(), c[y < 0].sum()
    if name == "roc_auc":
        pairs = itertools.product(np.flatnonzero(y > 0), np.flatnonzero(y < 0))
        return sum(c[i] * c[j] * max(0.0, 1 - scores[i] + scores[j]) for i, j in pairs) / N
    costs = {1.0: 1.0, -1.0: 1.0} if name == "accuracy" else {1.0: 0.5, -1.0: 0.5 * P / N}
    return sum(w * max(0.0, costs[s] - s * v) for w, s, v in zip(c, y, scores, strict=True))


def unit_by_sums(name, y, c):
    return c.sum() if name == "accuracy" else c[y > 0].sum()


def sklearn_score(name, y, scores, c):
    if name == "roc_auc":
        return roc_auc_score(y, scores, sample_weight=c)
    metric = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score}[name]
    return metric(y, np.where(scores > 0, 1.0, -1.0), sample_weight=c)


@each
@MORE
@given(problem=problems(WHOLE))
def test_whole_weights_are_repeated_rows(name, problem):
    y, scores, c = problem
    rows = np.repeat(np.arange(y.size), c.astype(int))
    plain, weighted = get_measure(name), get_measure(name).weighted(c)
    risk = plain.risk(y[rows], scores[rows])
    assert weighted.risk(y, scores) == pytest.approx(risk, rel=1e-12, abs=1e-12)
    assert weighted.loss_scale(y) == plain.loss_scale(y[rows])
    assert weighted.score(y, scores) == pytest.approx(plain.score(y[rows], scores[rows]))
    repeated, cut = plain.most_violated(y[rows], scores[rows]), weighted.most_violated(y, scores)
    if repeated.value(scores[rows]) > 1e-9:
        summed = np.zeros(y.size)
        np.add.at(summed, rows, repeated.delta)
        assert_allclose(cut.delta, summed, atol=1e-12)
        assert cut.loss == pytest.approx(repeated.loss, rel=1e-12)


@each
@MORE
@given(problem=problems())
def test_real_weights_are_the_sum(name, problem):
    y, scores, c = problem
    weighted = get_measure(name).weighted(c)
    expected = risk_by_sums(name, y, scores, c)
    assert weighted.risk(y, scores) == pytest.approx(expected, rel=1e-10, abs=1e-10 * c.sum())
    assert weighted.loss_scale(y) == pytest.approx(unit_by_sums(name, y, c))
    assert weighted.score(y, scores) == pytest.approx(sklearn_score(name, y, scores, c))


@each
@MORE
@given(problem=problems(), data=st.data())
def test_cut_is_a_subgradient_and_bounds_the_loss(name, problem, data):
    y, scores, c = problem
    weighted, slack = get_measure(name).weighted(c), 1e-9 * c.sum()
    cut = weighted.most_violated(y, scores)
    steps = data.draw(st.lists(st.integers(-6, 6), min_size=y.size, max_size=y.size))
    other = scores + 0.5 * np.array(steps)
    assert cut.value(other) <= risk_by_sums(name, y, other, c) + slack
    assert cut.loss > 0
    assert (
        weighted.risk(y, scores) >= weighted.loss_scale(y) * (1 - weighted.score(y, scores)) - slack
    )


@each
@MORE
@given(problem=problems())
def test_cut_loss_takes_back_every_cut(name, problem):
    y, scores, c = problem
    weighted = get_measure(name).weighted(c)
    cut = weighted.most_violated(y, scores)
    assert weighted.cut_loss(y, cut.delta) == pytest.approx(cut.loss, rel=1e-12)
    assert weighted.cut_loss(y, np.zeros(y.size)) == 0.0
    if weighted.flips_examples:
        flipped = cut.delta != 0
        assert_array_equal(np.where(flipped, weighted.flip_values(y), 0.0), cut.delta)
    assert not np.any(cut.delta[c == 0])


@each
@MORE
@given(problem=problems())
def test_a_row_of_weight_zero_is_left_out(name, problem):
    y, scores, c = problem
    kept = c > 0
    whole, part = get_measure(name).weighted(c), get_measure(name).weighted(c[kept])
    cut, alone = whole.most_violated(y, scores), part.most_violated(y[kept], scores[kept])
    assert_allclose(cut.delta[kept], alone.delta, rtol=1e-12)
    assert cut.loss == pytest.approx(alone.loss, rel=1e-12)


@each
def test_extreme_ratios_of_weights(name):
    """Weights down to the least number: cuts are still taken back."""
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat([1.0, -1.0], 20))
    for c in (10.0 ** rng.uniform(-300, 20, size=40), 10.0 ** rng.uniform(-18, 2, size=40)):
        weighted = get_measure(name).weighted(c)
        for _ in range(20):
            scores = rng.normal(size=40)
            cut = weighted.most_violated(y, scores)
            assert weighted.cut_loss(y, cut.delta) == pytest.approx(cut.loss)
            expected = risk_by_sums(name, y, scores, c)
            assert weighted.risk(y, scores) == pytest.approx(expected, rel=1e-9)


@hinges
def test_fractions_of_a_flip_are_no_labelling(name):
    y, c = np.array([1.0, 1.0, -1.0, -1.0]), np.array([2.0, 0.5, 3.0, 0.0])
    weighted = get_measure(name).weighted(c)
    assert weighted.cut_loss(y, np.array([2.0, 0.0, -3.0, 0.0])) > 0
    for wrong, entry in [
        ([1.0, 0.0, 0.0, 0.0], 0),
        ([-2.0, 0.0, 0.0, 0.0], 0),
        ([0.0, 0.0, -1.0, 0.0], 2),
        ([0.0, 0.0, 0.0, -1.0], 3),
        ([0.0, np.nan, 0.0, 0.0], 1),
    ]:
        with pytest.raises(ValueError, match=rf"delta\[{entry}\] is .* 0 or sample_weight"):
            weighted.cut_loss(y, np.array(wrong))
    with pytest.raises(ValueError, match=r"delta has shape \(2,\)"):
        weighted.cut_loss(y, np.array([2.0, 0.0]))


@pytest.mark.parametrize(
    ("delta", "message"),
    [
        ([-0.5, 0.0, 0.5, 0.0], r"delta\[0\] is -0.5, but it must be between 0 and 2.0"),
        ([2.5, 0.0, -1.0, -1.5], r"delta\[0\] is 2.5"),
        ([0.0, 0.0, 0.0, -2.1], r"delta\[3\] is -2.1, but it must be between 0 and -2.0"),
        ([np.nan, 0.0, 0.0, 0.0], r"delta\[0\] is nan"),
        ([1.0, 0.0, 0.0, 0.0], "any ranking"),
        ([0.0, 0.0, -1.0, 0.0], "any ranking"),
        ([2.0, 0.0, -2.0, 0.0], "any ranking"),
        ([0.0, 0.5, 0.0], "delta has shape"),
    ],
)
def test_what_no_swaps_give(delta, message):
    """Weights 2, 2 and 3, 3: the pairs take at most 1 each."""
    y, c = np.array([1.0, 1.0, -1.0, -1.0]), np.array([2.0, 2.0, 3.0, 3.0])
    weighted = get_measure("roc_auc").weighted(c)
    assert weighted.cut_loss(y, np.array([2.0, 0.0, -1.0, -1.0])) == 2.0
    with pytest.raises(ValueError, match=message):
        weighted.cut_loss(y, np.array(delta))


def test_a_light_row_takes_no_more_than_its_pairs():
    """The light positive needs 0.5 of each negative, but one of them gives nothing."""
    y, c = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 9.0, 1.0, 1.0])
    weighted = get_measure("roc_auc").weighted(c)
    assert weighted.cut_loss(y, np.array([1.0, 2.0, -2.5, -0.5])) == 3.0
    with pytest.raises(ValueError, match="any ranking"):
        weighted.cut_loss(y, np.array([1.0, 2.0, -3.0, 0.0]))


def swaps_exist(y, c, delta):
    """Whether pairs with ``0 <= f_ij <= c_i c_j / N_w`` add up to delta, by a linear programme."""
    pairs = list(itertools.product(np.flatnonzero(y > 0), np.flatnonzero(y < 0)))
    sums = np.zeros((y.size, len(pairs)))
    for k, (i, j) in enumerate(pairs):
        sums[i, k], sums[j, k] = 1.0, -1.0
    bounds = [(0.0, c[i] * c[j] / c[y < 0].sum()) for i, j in pairs]
    answer = linprog(np.zeros(len(pairs)), A_eq=sums, b_eq=delta, bounds=bounds)
    assert answer.status in (0, 2)
    return answer.status == 0


@MORE
@given(seed=st.integers(0, 10**6), sizes=st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_auc_takes_exactly_what_swaps_add_up_to(seed, sizes):
    """Mixtures of swaps, and the same moved towards few rows until it may be too much."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1.0, -1.0], sizes))
    c = rng.choice([0.0, 0.5, 1.0, 2.7], size=y.size, p=[0.1, 0.3, 0.3, 0.3])
    c[[np.argmax(y), np.argmin(y)]] = 1.0
    weighted, N = get_measure("roc_auc").weighted(c), c[y < 0].sum()
    delta = np.zeros(y.size)
    for i, j in itertools.product(np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
        swapped = rng.choice([0.0, 1.0, rng.uniform()]) * c[i] * c[j] / N
        delta[i] += swapped
        delta[j] -= swapped
    loss = delta[y > 0].sum()
    assert weighted.cut_loss(y, delta) == pytest.approx(loss)
    for label in (1.0, -1.0):
        members = np.flatnonzero(y == label)
        to, source = rng.choice(members), rng.choice(members)
        moved = rng.uniform() * delta[source]
        delta[source] -= moved
        delta[to] += moved
    if swaps_exist(y, c, delta):
        assert weighted.cut_loss(y, delta) == pytest.approx(loss)
    else:
        with pytest.raises(ValueError, match="delta"):
            weighted.cut_loss(y, delta)


NOT_WEIGHTED = ["f1", "f2", "jaccard", "prec@2", "rec@p", "prbep", "precision@recall>=0.5"]


@pytest.mark.parametrize("name", [*NOT_WEIGHTED, "average_precision"])
def test_other_measures_refuse(name):
    with pytest.raises(ValueError, match=rf"^{name} takes no sample_weight.*[Rr]epeat.*roc_auc"):
        get_measure(name).weighted(np.ones(4))
    own = Contingency(lambda tp, fp, fn, tn: tp / (tp + fp + fn), name="mine")
    with pytest.raises(ValueError, match="mine takes no sample_weight"):
        own.weighted(np.ones(4))


@each
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -0.5, 1.0], r"sample_weight\[1\] is -0.5; weights must be finite and not negative"),
        ([1.0, 1.0, np.nan], r"sample_weight\[2\] is nan"),
        ([np.inf, 1.0, 1.0], r"sample_weight\[0\] is inf"),
        ([[1.0, 2.0, 3.0]], r"sample_weight must be a 1-D array.*list of shape \(1, 3\)"),
        (2.0, r"sample_weight must be a 1-D array.*float of shape \(\)"),
        ("balanced", "sample_weight must be a 1-D array of numbers.*got str"),
        (["1", "2", "3"], "sample_weight must be a 1-D array of numbers"),
        ([1.0, None, "x"], "sample_weight must be a 1-D array of numbers"),
        ([[1.0], [1.0, 2.0]], "sample_weight must be a 1-D array of numbers"),
        ([1 + 1j, 1, 1], "sample_weight must be a 1-D array of numbers"),
        ([1e50, 1e50, 1.0], r"sample_weight sums to 2e\+50.*multiply C"),
        ([1e308, 1e308, 1e308], "sample_weight sums to inf"),
    ],
)
def test_what_are_no_weights(name, weights, message):
    with pytest.raises(ValueError, match=message):
        get_measure(name).weighted(weights)


@each
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], "sample_weight has 2 weights, but y has 3 entries"),
        ([0.0, 1.0, 1.0], "sample_weight is zero for all positives"),
        ([1.0, 0.0, 0.0], "sample_weight is zero for all negatives"),
        ([0, 0, 0], "sample_weight is zero for all"),
    ],
)
def test_weights_that_do_not_fit_the_labels(name, weights, message):
    weighted = get_measure(name).weighted(weights)
    with pytest.raises(ValueError, match=message):
        weighted.check(np.array([1.0, -1.0, -1.0]))


@each
def test_weights_are_kept_as_they_were(name):
    c = np.array([1, 2, 0], dtype=np.int32)
    weighted = get_measure(name).weighted(c)
    c[0] = 7
    assert_array_equal(weighted.weights, [1.0, 2.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        weighted.weights[0] = 5.0
    assert isinstance(weighted, WeightedMeasure)
    assert weighted.name == name
    for same in (pickle.loads(pickle.dumps(weighted)), copy.deepcopy(weighted)):
        assert same == weighted
        assert hash(same) == hash(weighted)
    assert weighted != get_measure(name).weighted([1.0, 2.0, 1.0])
    assert weighted != get_measure(name)
    mask = get_measure(name).weighted(np.array([True, False, True]))
    assert_array_equal(mask.weights, [1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=f"{name} was given its weights already"):
        weighted.weighted([1.0, 1.0, 1.0])


def test_flip_values_without_weights_are_the_labels():
    y = np.array([1.0, -1.0, -1.0])
    assert_array_equal(get_measure("f1").flip_values(y), y)
    assert_array_equal(get_measure("roc_auc").flip_values(y), y)
