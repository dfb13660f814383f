"""What a false alarm costs in missed positives: closed forms and differences."""

from __future__ import annotations

import numpy as np
import pytest

from scoresieve.measures import (
    BalancedAccuracy,
    Contingency,
    ContingencyMeasure,
    FBeta,
    Jaccard,
    TopHits,
    get_measure,
)

#: True and false positives, and the sizes of the classes.
TABLES = [(30, 10, 40, 300), (5, 80, 40, 300), (40, 0, 40, 300), (1, 1, 2, 50), (70, 9, 90, 900)]


def by_differences(measure, table):
    """The rate of the base class, whatever closed form the measure has."""
    return ContingencyMeasure.rate_at(measure, *table)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_rates_of_f1_and_jaccard_are_those_of_their_score(table):
    a, b, P, _ = table
    F = 2 * a / (a + b + P)
    assert FBeta().rate_at(*table) == pytest.approx(F / (2 - F))
    J = a / (P + b)
    assert Jaccard().rate_at(*table) == pytest.approx(J)


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("table", TABLES[:2] + TABLES[4:], ids=str)
def test_closed_forms_agree_with_differences(beta, table):
    """Away from the ends of the table, where a difference is a derivative to second order."""
    for measure in (FBeta(beta), Jaccard()):
        assert by_differences(measure, table) == pytest.approx(measure.rate_at(*table), rel=0.02)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("table", TABLES[:2] + TABLES[4:], ids=str)
def test_closed_forms_are_the_ratio_of_derivatives(beta, table):
    """Of the loss of real counts, by central differences."""
    a, b, P, N = table
    for measure in (FBeta(beta), Jaccard()):
        h = 1e-4
        alarm = measure.table_loss(a, b + h, P, N) - measure.table_loss(a, b - h, P, N)
        miss = measure.table_loss(a - h, b, P, N) - measure.table_loss(a + h, b, P, N)
        assert measure.rate_at(*table) == pytest.approx(alarm / miss, rel=1e-6)


@pytest.mark.parametrize("table", TABLES[:4], ids=str)
def test_rates_of_sums_are_everywhere_the_same(table):
    _, _, P, N = table
    assert by_differences(BalancedAccuracy(), table) == pytest.approx(P / N)
    assert by_differences(get_measure("accuracy"), table) == pytest.approx(1.0)


def test_rates_that_do_not_depend_on_the_scores():
    y = np.repeat([1.0, -1.0], [5, 20])
    fixed = {
        name: get_measure(name).fixed_rate(y)
        for name in (
            *("accuracy", "prec@3", "rec@2p", "prbep", "roc_auc", "average_precision"),
            *("balanced_accuracy", "f1", "f2", "jaccard", "mcc", "gmean"),
            *("precision@recall>=0.8", "recall@precision>=0.8"),
        )
    }
    assert fixed.pop("balanced_accuracy") == 0.25
    # A miss is one of 5 positives, an alarm one of 10 places.
    assert fixed.pop("rec@2p") == 0.5
    ones = {name for name, rate in fixed.items() if rate == 1.0}
    assert ones == {"accuracy", "prec@3", "prbep", "roc_auc", "average_precision"}
    assert all(fixed[name] is None for name in set(fixed) - ones)
    assert Contingency(lambda tp, fp, fn, tn: tp / (tp + fp + fn)).fixed_rate(y) is None
    weights = np.repeat([2.0, 0.5], [5, 20])
    assert get_measure("balanced_accuracy").weighted(weights).fixed_rate(y) == pytest.approx(1.0)
    assert get_measure("accuracy").weighted(weights).fixed_rate(y) == 1.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["f1", "f2", "f0.5", "jaccard"])
def test_the_rate_of_scores_is_that_of_their_best_threshold(name, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(40) < 0.3, 1.0, -1.0)
    scores = (y + 1.5 * rng.normal(size=40)).round(1)
    measure = get_measure(name)
    best = max(measure.score(y, scores - t) for t in (scores.min() - 1, *scores))
    labels = scores > measure.threshold(y, scores)
    a, b, P = np.sum(labels & (y > 0)), np.sum(labels & (y < 0)), np.sum(y > 0)
    expected = a / (b + P) if name == "jaccard" else a / (b + measure.beta**2 * P)
    assert measure.exchange_rate(y, scores) == pytest.approx(expected)
    if name == "f1":
        assert measure.exchange_rate(y, scores) == pytest.approx(best / (2 - best))
    elif name == "jaccard":
        assert measure.exchange_rate(y, scores) == pytest.approx(best)


def test_a_users_function_has_the_rate_of_its_differences():
    """F1 written as a function of the table: the rate of FBeta, but for the rounding of counts."""
    rng = np.random.default_rng(1)
    y = np.where(rng.random(3000) < 0.2, 1.0, -1.0)
    scores = y + rng.normal(size=3000)
    own = Contingency(lambda tp, fp, fn, tn: 2 * tp / np.maximum(2 * tp + fp + fn, 1))
    expected = FBeta().exchange_rate(y, scores)
    assert own.exchange_rate(y, scores) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("name", ["mcc", "gmean"])
def test_rates_of_other_tables_are_finite_and_positive(name):
    """At perfect scores and at others."""
    measure, rng = get_measure(name), np.random.default_rng(2)
    y = np.where(rng.random(200) < 0.2, 1.0, -1.0)
    for scores in (y, y + rng.normal(size=200), rng.normal(size=200)):
        rate = measure.exchange_rate(y, scores)
        assert 0.0 < rate < np.inf
    a, b, P, N = 150, 90, 200, 900
    # sqrt(r q) of two recalls, by its derivatives: (a / P) / (N - b) against (1 - b / N) / a.
    if name == "gmean":
        assert measure.rate_at(a, b, P, N) == pytest.approx(a / (N - b), rel=1e-3)


def test_where_a_miss_costs_nothing_the_rate_is_infinite():
    alarms_only = Contingency(lambda tp, fp, fn, tn: tn / (tn + fp))
    assert alarms_only.rate_at(3, 2, 5, 9) == np.inf


#: Labels in the order of falling scores, a measure, and the hits and the alarms between the ends of
#: the window: where there is one hit fewer than at the best threshold, and where there is one more.
FLOORS_BY_HAND = [
    # The best threshold is below ++-+, the ends are below ++ and ++-+--+.
    ("++-+--+-", "precision@recall>=0.75", 2, 3),
    # The best one is below the last hit, where the window ends.
    ("++-+--+-", "precision@recall>=1", 1, 2),
    # Below ++; the ends are below + and ++-+.
    ("++-+--+-", "recall@precision>=0.9", 2, 1),
    # Below ++-+, whose precision is 0.75.
    ("++-+--+-", "recall@precision>=0.7", 2, 3),
    # No alarm about the threshold counts as one.
    ("++++----", "precision@recall>=0.5", 2, 1),
    # Twenty positives: the window is three of them, 15 %, to either side.
    ("+" * 10 + "-" + "+-" * 10 + "-" * 9, "precision@recall>=0.75", 6, 6),
]


@pytest.mark.parametrize(("signs", "name", "hits", "alarms"), FLOORS_BY_HAND)
def test_rates_of_floors_by_hand(signs, name, hits, alarms):
    y = np.array([1.0 if sign == "+" else -1.0 for sign in signs])
    scores = np.arange(y.size, 0.0, -1.0)
    assert get_measure(name).exchange_rate(y, scores) == pytest.approx(hits / alarms)


FLOORS = ["precision@recall>=0.3", "precision@recall>=0.9", "recall@precision>=0.6"]


def slope_by_search(name, y, scores):
    """Every threshold in turn, from none above it to all; what the best one trades."""
    kind, floor = name.split("@")[0], float(name.partition(">=")[2])
    P, tables = np.sum(y > 0), []
    for threshold in (np.inf, *np.unique(scores)[::-1]):
        above = scores >= threshold
        tables.append((np.sum(above & (y > 0)), np.sum(above & (y < 0))))
    precisions = [a / (a + b) if a + b else 0.0 for a, b in tables]
    recalls = [a / P for a, _ in tables]
    judged, floored = (precisions, recalls) if kind == "precision" else (recalls, precisions)
    values = [rate if other >= floor else 0.0 for rate, other in zip(judged, floored, strict=True)]
    values = values if max(values) > 0.0 else precisions
    hits, _ = tables[values.index(max(values))]
    reach = max(1.0, 0.15 * P)
    end = next(table for table in tables if table[0] >= min(hits + reach, P))
    begin = next(table for table in tables if table[0] >= max(hits - reach, 0.0))
    if begin == end:
        begin = [table for table in tables if table[0] < end[0]][-1]
    return (end[0] - begin[0]) / max(1, end[1] - begin[1])


@pytest.mark.parametrize("decimals", [0, 1, 6])
@pytest.mark.parametrize("name", [*FLOORS, "recall@precision>=0.99"])
def test_rates_of_floors_by_search(name, decimals):
    """Among few distinct scores, and where no threshold reaches the floor, too."""
    rng = np.random.default_rng(decimals)
    for share in (0.1, 0.4):
        for _ in range(6):
            y = np.where(rng.random(60) < share, 1.0, -1.0)
            y[:2] = 1.0, -1.0
            scores = (0.7 * y + rng.normal(size=60)).round(decimals)
            expected = slope_by_search(name, y, scores)
            assert get_measure(name).exchange_rate(y, scores) == pytest.approx(expected)
            assert expected > 0.0


@pytest.mark.parametrize("name", ["precision@recall>=0.6", FLOORS[0], FLOORS[2]])
def test_rates_of_floors_are_ratios_of_densities(name):
    """Of two normal classes, whose ratio at a score s is ``P / N exp(2 s)``."""
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], [4000, 40000])
    scores = y + rng.normal(size=y.size)
    measure = get_measure(name)
    threshold = measure.threshold(y, scores)
    expected = 0.1 * np.exp(2.0 * threshold)
    assert measure.exchange_rate(y, scores) == pytest.approx(expected, rel=0.25)


def test_rankings_have_no_rate():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    for name in ("roc_auc", "average_precision"):
        assert get_measure(name).exchange_rate(y, y) is None


def test_at_k_labelled_examples_a_miss_more_is_an_alarm_more():
    """Differences of max(k - a, b) on both sides of a + b = k: half a step each."""
    assert by_differences(TopHits(10), (7, 3, 20, 50)) == pytest.approx(1.0)
