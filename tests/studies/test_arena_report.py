"""The arena's statistics, the table of cells, and the claims."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f, friedmanchisquare

from studies.quality.arena.board import make_board
from studies.quality.arena.claims import all_claims
from studies.quality.arena.figure import groups_of
from studies.quality.arena.report import rank_table
from studies.quality.arena.statistics import (
    agreement,
    critical_difference,
    friedman,
    holm,
    jaccard,
    kuncheva,
    mean_ranks,
    paired,
)


@pytest.mark.parametrize(
    ("n_methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_critical_difference_has_the_values_of_demsars_table(n_methods, q):
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 14))
    assert critical_difference(n_methods, 14) == pytest.approx(expected, rel=1e-3)


def test_critical_difference_of_demsars_example():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


def test_ranks_and_friedman():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 5)) + np.arange(5)
    ranks, n_tasks = mean_ranks(scores, range(12))
    assert n_tasks == 12
    assert ranks.sum() == pytest.approx(15)
    chi2 = friedmanchisquare(*scores.T).statistic
    expected = f.sf(11 * chi2 / (12 * 4 - chi2), 4, 44)
    assert friedman(ranks, 12) == pytest.approx(expected)


def test_cells_of_one_task_count_once():
    ranks, n_tasks = mean_ranks(np.array([[2.0, 1.0], [2.0, 1.0], [1.0, 2.0]]), "aab")
    assert n_tasks == 2
    np.testing.assert_array_equal(ranks, [1.5, 1.5])


def test_pairs():
    pair = paired(np.arange(10.0) + 1.0, np.arange(10.0))
    assert (pair.wins, pair.losses, pair.difference) == (10, 0, 1.0)
    assert pair.p < 0.01
    assert paired(np.ones(3), np.ones(3)).p == 1.0
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_stability():
    assert jaccard({1, 2, 3}, {2, 3, 4}) == 0.5
    assert kuncheva({1, 2, 3}, {2, 3, 4}, 10) == pytest.approx((2 - 0.9) / (3 - 0.9))
    assert kuncheva({1, 2}, {1, 2}, 100) == 1.0
    assert agreement([{1}, {1}, {2}], 100)[0] == pytest.approx(1 / 3)


def test_bars_join_what_does_not_differ():
    ranks = np.array([1.0, 1.5, 2.2, 4.0, 4.1])
    assert groups_of(ranks, 1.0) == [(0, 1), (1, 2), (3, 4)]
    assert groups_of(ranks, 1.2) == [(0, 2), (3, 4)]
    assert groups_of(ranks, 0.05) == []


def cell(name, label, k, method, form, score, target="f1", **more):
    about = {"set": name, "class": label, "k": k, "method": method, "form": form, "cv": 50.0}
    measures = dict.fromkeys(("f1", "prbep", "rec@2p", "average_precision"), score)
    return {"kind": "cell", "target": target, **about, **measures, **more}


@pytest.fixture
def rows():
    """Two classes of News20; the l1-SVM's own model is better on one of them only."""
    found = []
    for label in (1, 2):
        for k in (10, 50):
            found += [
                cell("news20", label, k, "MeasureSVC tight", "own", 70.0 + k / 10),
                cell("news20", label, k, "l1-SVM", "own", 60.0 + 5 * label),
                cell("news20", label, k, "l1-SVM", "refit", 68.0, cv=40.0),
                cell("news20", label, k, "chi2", "refit", 60.0),
            ]
    return found


def test_a_method_stands_with_its_better_form(rows):
    board = make_board(rows, "f1", "f1")
    assert board.mean("l1-SVM", "news20", 10) == 68.0
    assert make_board(rows, "f1", "f1", "cv").mean("l1-SVM", "news20", 10) == 67.5
    assert board.mean_over_sets("l1-SVM", 50) == 68.0
    assert board.mean("l1-SVM", "dexter", 10) is None


def test_cells_that_a_method_lacks_are_left_out(rows):
    board = make_board(rows[:-1], "f1", "f1")
    assert board.n_dropped == 1
    assert board.mean("chi2", "news20", 50) == 60.0
    others = [cell("dexter", 1, 10, "MeasureSVC tight", "own", 80.0)]
    board = make_board(rows + others, "f1", "f1")
    assert board.mean_over_sets("MeasureSVC tight", 10) == 75.5
    assert board.mean_over_sets("l1-SVM", 10) is None
    table = rank_table(board, [50])
    assert table["names"] == ["MeasureSVC tight", "chi2", "l1-SVM"]
    assert table["ranks"] == [1.0, 3.0, 2.0]


def test_claims(rows):
    rows = [row | {"recovered": 12} if row["method"] == "l1-SVM" else row for row in rows]
    claims = {claim.text: claim for claim in all_claims(rows, "MeasureSVC tight", "set")}
    verdict = {text: claim.verdict for text, claim in claims.items()}
    assert verdict["F1: the best mean rank over all cells"] == "PASS"
    assert verdict["F1, news20, k = 10: at least 2.0 ahead of the best outsider"] == "PASS"
    text = "F1, mean over sets, k = 5: at least 1.5 ahead of the best outsider"
    assert verdict[text] == "not played"
    other = {claim.text: claim for claim in all_claims(rows, "chi2", "set")}
    claim = other["F1, news20, mean over k: at most 1.5 behind the best outsider there"]
    assert claim.found == "60.00, l1-SVM 68.00: -8.00"
    assert claim.verdict == "FAIL"
