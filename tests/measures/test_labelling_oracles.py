"""The most violated labelling against an enumeration of all labellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings

from scoresieve.measures import (
    Contingency,
    FBeta,
    PrecisionUnderRecallFloor,
    RecallUnderPrecisionFloor,
    get_measure,
)
from scoresieve.measures.contingency import SearchedMeasure
from tests.measures.definitions import (
    DETERMINISTIC,
    MEASURES,
    above_floor,
    f_beta,
    g_mean,
    labels_and_scores,
    of_cells,
    under_floor,
    values_of_labellings,
    values_of_tables,
)

FEWER = settings(DETERMINISTIC, max_examples=15)


def wavy_loss(tp, fp, fn, tn):
    """A loss with many local maxima, and zero also for tables other than the true one."""
    return np.where((fn == 0) & (fp == 0), 0.0, 0.5 + 0.5 * np.sin(3.0 * tp + 5.0 * fp)) * (fp != 1)


WAVY = Contingency(wavy_loss, greater_is_better=False)
CASES = [(get_measure(name), definition) for name, definition in MEASURES.items()]
CASES += [(Contingency(g_mean), MEASURES["gmean"]), (WAVY, of_cells(wavy_loss))]
every_measure = pytest.mark.parametrize(
    ("measure", "definition"), CASES, ids=[measure.name for measure, _ in CASES]
)


def is_defined(measure, y):
    try:
        measure.check(y)
    except ValueError:
        return False
    return True


@every_measure
@DETERMINISTIC
@given(problem=labels_and_scores())
def test_equals_enumeration(measure, definition, problem):
    y, scores = problem
    assume(is_defined(measure, y))
    values = values_of_labellings(y, scores, definition)
    assume(values.size > 0)
    cut = measure.most_violated(y, scores)
    assert cut.value(scores) == pytest.approx(values.max(), abs=1e-9)
    assert measure.risk(y, scores) == pytest.approx(max(0.0, values.max()), abs=1e-9)
    check_that_it_describes_a_competing_labelling(cut, measure, definition, y)


def check_that_it_describes_a_competing_labelling(cut, measure, definition, y):
    assert np.all((cut.delta == 0) | (cut.delta == y))
    assert measure.cut_loss(y, cut.delta) == pytest.approx(cut.loss, abs=1e-12)
    y_flipped = np.where(cut.delta != 0, -y, y)
    assert measure.loss_scale(y) * measure.loss(y, y_flipped) == pytest.approx(cut.loss, abs=1e-12)
    P, N = int(np.sum(y > 0)), int(np.sum(y < 0))
    tp, fp = (np.array([np.sum((y_flipped > 0) & (y == label))]) for label in (1, -1))
    assert definition.admissible(tp, fp, P, N)[0]
    assert measure.admissible(tp, fp, y)[0]
    assert definition.loss_scale(P, N) * definition.loss(tp, fp, P, N)[0] == pytest.approx(cut.loss)
    assert cut.loss > 0


# The wavy loss is left out: for some labels it has no labelling with a loss at all.
SEARCHED = [m for m, _ in CASES if isinstance(m, SearchedMeasure) and m != WAVY]


@pytest.mark.parametrize("measure", SEARCHED, ids=lambda m: m.name)
@FEWER
@given(problem=labels_and_scores())
def test_ties_are_broken_by_index(measure, problem):
    y, scores = problem
    assume(is_defined(measure, y))
    delta = measure.most_violated(y, scores).delta
    for label, keys in ((1.0, scores), (-1.0, -scores)):
        members = np.flatnonzero(y == label)
        order = members[np.argsort(keys[members], kind="stable")]
        n_flipped = np.count_nonzero(delta[members])
        np.testing.assert_array_equal(np.flatnonzero(delta * label > 0), np.sort(order[:n_flipped]))


@every_measure
def test_true_labelling_has_no_loss(measure, definition):
    y = np.array([1.0, -1.0, -1.0, 1.0, 1.0, -1.0])
    assert measure.loss(y, y) == 0.0
    assert measure.cut_loss(y, np.zeros(y.size)) == 0.0


@every_measure
@pytest.mark.parametrize("sizes", [(1, 1), (1, 7), (7, 1), (3, 5)])
def test_degenerate_scores_and_sizes(measure, definition, sizes):
    y = np.repeat([1.0, -1.0], sizes)
    if not is_defined(measure, y) or not values_of_labellings(y, 0.0 * y, definition).size:
        pytest.skip("the measure is not defined for so few examples")
    scales = [0.0, 1.0, -1.0, 1e300, -1e300, 1e-300]
    for scale, direction in itertools.product(scales, (np.ones(y.size), y, -y)):
        scores = scale * direction
        cut = measure.most_violated(y, scores)
        values = values_of_labellings(y, scores, definition)
        assert np.all(np.isfinite(cut.delta))
        assert cut.value(scores) == pytest.approx(
            values.max(), rel=1e-12, abs=1e-9 + 1e-12 * abs(scale)
        )
        assert measure.cut_loss(y, cut.delta) == pytest.approx(cut.loss)


@every_measure
def test_inputs_stay_as_they_are_and_calls_repeat(measure, definition):
    rng = np.random.default_rng(3)
    y = np.where(rng.random(40) < 0.4, 1.0, -1.0)
    scores = rng.integers(-3, 4, size=40) / 4.0
    y.setflags(write=False)
    scores.setflags(write=False)
    first, second = (measure.most_violated(y, scores) for _ in range(2))
    np.testing.assert_array_equal(first.delta, second.delta)
    assert first.loss == second.loss


LARGE = [(FBeta(beta), f_beta(beta)) for beta in (0.05, 0.3, 0.9, 1.0, 1.7, 6.0)]
LARGE += [(PrecisionUnderRecallFloor(f), under_floor(f)) for f in (0.05, 0.5, 0.93)]
LARGE += [(RecallUnderPrecisionFloor(f), above_floor(f)) for f in (0.05, 0.5, 0.93)]
LARGE += [(get_measure(name), MEASURES[name]) for name in ("jaccard", "gmean", "mcc")]


@pytest.mark.parametrize(("measure", "definition"), LARGE, ids=[m.name for m, _ in LARGE])
@pytest.mark.parametrize("seed", range(6))
def test_closed_form_equals_scan_of_all_tables(measure, definition, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1.0, -1.0], [200, 300]))
    scores = [0.02, 0.3, 1.0, 5.0, 1.0, 0.2][seed] * rng.normal(size=500) + 0.1 * seed * y
    if seed >= 4:
        scores = np.round(scores, 1)
    values = values_of_tables(y, scores, lambda tp, fp: 200 * definition.loss(tp, fp, 200, 300))
    expected = pytest.approx(values.max(), rel=1e-11, abs=1e-9)
    assert measure.most_violated(y, scores).value(scores) == expected
    as_function = Contingency(
        lambda tp, fp, fn, tn: 1 - definition.loss(tp, fp, tp + fn, tn + fp), name="of a user"
    )
    assert as_function.most_violated(y, scores).value(scores) == expected


def test_f1_sorts_the_values_of_each_class_once(monkeypatch):
    """Sorts are most of its cost, and sorts of indices, or stable ones, cost several times that."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1.0, -1.0], [300, 700]))
    scores = rng.normal(size=y.size)
    sizes, sort = [], np.sort

    def counted(values):
        sizes.append(values.size)
        return sort(values)

    def refused(*arguments, **options):
        raise AssertionError("indices were sorted")

    monkeypatch.setattr(np, "sort", counted)
    monkeypatch.setattr(np, "argsort", refused)
    FBeta().most_violated(y, scores)
    # With beta = 1 no alarm below -1/2 pays for itself, and after many others not even that one.
    n_sorted, n_paying = min(sizes), np.count_nonzero(scores[y < 0] > -0.5)
    assert len(sizes) == 2
    assert 300 in sizes
    assert n_sorted < max(sizes) < n_paying
