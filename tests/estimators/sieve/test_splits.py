"""Every row that counts is held out once a round, by models that have trained on every class."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)

from scoresieve.estimators.sieve.splits import LabelledData, make_parts, n_default_rounds
from scoresieve.estimators.targets import read_targets

#: What a number of parts stands for.
SHUFFLED = StratifiedKFold(3, shuffle=True, random_state=0)

Y = np.tile([0, 1, 1], 10)


def data_of(y, weights=None):
    targets, y = read_targets(np.asarray(y), None)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    return LabelledData(np.arange(30.0)[: len(y), np.newaxis], y, weights, targets)


def test_a_splitter_is_taken_as_it_is():
    parts = make_parts(StratifiedKFold(3), data_of(Y))
    for split, (_, test) in zip(parts.splits, StratifiedKFold(3).split(Y, Y), strict=True):
        assert_array_equal(split.test, test)


def test_the_parts_are_those_of_the_splitter():
    parts = make_parts(3, data_of(Y))
    for split, (train, test) in zip(parts.splits, SHUFFLED.split(Y, Y), strict=True):
        assert_array_equal(split.train, train)
        assert_array_equal(split.test, test)
    for number, split in enumerate(parts.splits):
        assert_array_equal(np.flatnonzero(parts.part_of[0] == number), split.test)


def test_groups_stay_together_and_masks_are_row_numbers():
    groups = np.repeat(np.arange(6), 5)
    parts = make_parts(GroupKFold(3), data_of(Y), groups)
    [part_of] = parts.part_of
    assert all(len(set(part_of[groups == group])) == 1 for group in range(6))
    masks = [(part_of != number, part_of == number) for number in range(3)]
    assert_array_equal(make_parts(masks, data_of(Y)).part_of, parts.part_of)


def test_every_round_holds_each_row_out_once():
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
    parts = make_parts(splitter, data_of(Y))
    assert_array_equal(parts.round_of, [0, 0, 0, 1, 1, 1])
    for number, (split, of) in enumerate(zip(parts.splits, parts.round_of, strict=True)):
        assert_array_equal(np.flatnonzero(parts.part_of[of] == number), split.test)


def test_rounds_are_those_of_a_default_alone():
    parts = make_parts(None, data_of(Y), n_rounds=2)
    for seed, part_of in enumerate(parts.part_of):
        splitter = StratifiedKFold(5, shuffle=True, random_state=seed)
        for number, (_, test) in enumerate(splitter.split(Y, Y)):
            assert_array_equal(np.flatnonzero(part_of == 5 * seed + number), test)
    assert len(make_parts(5, data_of(Y), n_rounds=2).part_of) == 1


def test_few_rows_are_split_more_than_once():
    sizes = [1, 60, 300, 500, 750, 751, 10**6]
    assert [n_default_rounds(each) for each in sizes] == [5, 5, 5, 3, 2, 1, 1]


def test_rows_without_weight_are_in_no_part():
    weights = np.tile([1.0, 0.0, 2.0, 1.0, 1.0], 6)
    parts, whole = make_parts(3, data_of(Y, weights)), make_parts(3, data_of(Y))
    kept = np.flatnonzero(weights)
    assert_array_equal(parts.data.X[:, 0], kept)
    assert_array_equal(parts.data.weights, weights[kept])
    assert_array_equal(parts.part_of, whole.part_of[:, kept])
    for split in parts.splits:
        assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(24))


ROWS = np.arange(30)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(ROWS[:20], ROWS[20:])], "row 0 is held out in no split; cv must hold out every row"),
        ([*KFold(3).split(ROWS), (ROWS[:20], ROWS[20:])], "row 0 is held out less often than"),
        ([(ROWS[:20], ROWS[20:]), (ROWS[:9], ROWS[9:])], "row 20 is held out in splits 0 and 1"),
        ([(ROWS[:3], ROWS[2:])], "row 2 is both a training row and a test row of split 0"),
        ([(ROWS, [])], "split 0 of cv has no test rows"),
        ([([], ROWS)], "split 0 of cv has no training rows"),
        (iter(()), "yields no split; give at least one"),
        ([(np.flatnonzero(Y), np.flatnonzero(Y == 0))], r"training rows of split 0 hold no exam"),
    ],
)
def test_wrong_splits_are_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        make_parts(cv, data_of(Y))


def test_a_message_counts_all_rows():
    """Also those without a weight, which are in no part."""
    weights = np.ones(30)
    weights[:5] = 0.0
    with pytest.raises(ValueError, match="row 7 is held out in no split"):
        make_parts([(ROWS[10:20], ROWS[20:]), (ROWS[8:], ROWS[:7])], data_of(Y, weights))
