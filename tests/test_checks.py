"""Every refusal names the argument and the value; all that is accepted comes out in one form."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from scoresieve._checks import (
    check_budget,
    check_columns,
    check_count,
    check_disjoint,
    check_groups,
    check_labels,
    check_positive,
    check_X,
    did_you_mean,
)
from scoresieve.design import as_design

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=100)


class TestX:
    @pytest.mark.parametrize("form", [np.array, np.asfortranarray, sp.csr_array, sp.csc_matrix])
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (np.nan, "X contains NaN; impute"),
            (np.inf, "X contains infinity; replace"),
            (-np.inf, "X contains infinity; replace"),
            (1e300, r"X is too large.*largest entry is 1e\+300.*scale the columns"),
            (-1e160, r"X is too large.*largest entry is 1e\+160"),
            (1e90, r"X is too large.*largest entry is 1e\+90"),
        ],
    )
    def test_refused_values(self, form, value, message):
        X = np.eye(4)
        X[2, 1] = value
        with pytest.raises(ValueError, match=message):
            check_X(as_design(form(X)))

    def test_nan_is_named_even_next_to_infinity(self):
        with pytest.raises(ValueError, match="X contains NaN"):
            check_X(as_design(np.array([[np.inf, np.nan], [1e300, -np.inf]])))

    def test_many_squares_that_overflow_only_together(self):
        single = 1e76
        check_X(as_design(np.full((2, 2), single)))
        with pytest.raises(ValueError, match="X is too large"):
            check_X(as_design(np.full((200, 200), single)))

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
    def test_accepted(self, dtype):
        for X in (np.ones((3, 2), dtype=dtype), sp.csr_array(np.ones((3, 2), dtype=dtype))):
            assert check_X(as_design(X)) is None
        assert check_X(as_design(sp.csr_array((3, 2), dtype=dtype))) is None

    def test_float32_squares_do_not_overflow_in_float32(self):
        check_X(as_design(np.full((2, 2), 1e30, dtype=np.float32)))

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
    def test_empty(self, shape):
        for X in (np.ones(shape), sp.csr_array(shape)):
            with pytest.raises(ValueError, match=rf"X has shape \({shape[0]}, {shape[1]}\)"):
                check_X(as_design(X))

    def test_the_intercept_is_no_column_of_X(self):
        with pytest.raises(ValueError, match=r"X has shape \(3, 0\)"):
            check_X(as_design(np.ones((3, 0))), constant=1.0)


class TestLabels:
    @pytest.mark.parametrize(
        "y",
        [
            [-1, 1, 1, -1],
            [0, 1, 1, 0],
            [False, True, True, False],
            np.array([-1, 1, 1, -1], dtype=np.int8),
            np.array([0, 1, 1, 0], dtype=np.uint8),
            np.array([-1, 1, 1, -1], dtype=np.float32),
            np.array([0, 1, 1, 0], dtype=object),
            np.array([False, True, True, False], dtype=object),
        ],
    )
    def test_accepted(self, y):
        labels = check_labels(y, 4)
        assert labels.dtype == np.float64
        assert_array_equal(labels, [-1.0, 1.0, 1.0, -1.0])

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            ([1, 1, 1], r"y has one class only \(1\)"),
            ([0, 0, 0], r"y has one class only \(0\)"),
            ([1, 2, 2], r"y must hold -1/\+1 or 0/1; got 2 classes \(1, 2\).*np\.where"),
            ([-1, 0, 0], r"got 2 classes \(-1, 0\)"),
            ([-2, 1, 1], r"got 2 classes \(-2, 1\)"),
            ([0.5, 1, 1], r"got 2 classes \(0\.5, 1\)"),
            ([0, 1, 2], r"got 3 classes \(0, 1, 2\)"),
            ([-1, 0, 1], r"got 3 classes"),
            (["a", "b", "b"], r"y must hold -1/\+1 or 0/1; got dtype <U1, first label .*a"),
            (np.array([1, "b", None], dtype=object), "y must hold.*got dtype object"),
            ([1.0, np.nan, 0.0], "y contains NaN or infinity"),
            ([1.0, np.inf, 0.0], "y contains NaN or infinity"),
            ([0, 1], "y has 2 labels and X has 3 rows"),
            ([[0], [1], [1]], r"y must be 1-D; got shape \(3, 1\)"),
            ([1j, 0, 1], "y must hold.*complex"),
        ],
    )
    def test_refused(self, y, message):
        with pytest.raises(ValueError, match=message):
            check_labels(y, 3)

    def test_long_lists_of_classes_are_cut(self):
        with pytest.raises(ValueError, match=r"got 50 classes \(0, 1, 2, 3, 4, \.\.\.\)"):
            check_labels(np.arange(50), 50)

    @CHECKED
    @given(st.lists(st.booleans(), min_size=2, max_size=20).filter(lambda y: len(set(y)) == 2))
    def test_every_coding_gives_the_same(self, y):
        y = np.array(y)
        expected = [1.0 if label else -1.0 for label in y]
        for coded in (y, y.astype(int), 2 * y.astype(int) - 1, (2 * y - 1).astype(float)):
            assert_array_equal(check_labels(coded, y.size), expected)

    def test_labels_are_copied(self):
        y = np.array([-1.0, 1.0])
        check_labels(y, 2)[0] = 7.0
        assert_array_equal(y, [-1.0, 1.0])


class TestNumbers:
    @pytest.mark.parametrize("value", [1, 7, np.int32(7), np.uint8(7)])
    def test_counts(self, value):
        count = check_count(value, "max_iter")
        assert type(count) is int
        assert count == value

    @pytest.mark.parametrize("value", [0, -3, 2.0, np.float64(2), True, np.True_, "2", None, [2]])
    def test_what_is_no_count(self, value):
        with pytest.raises(ValueError, match="max_iter must be an integer of at least 1; got"):
            check_count(value, "max_iter")
        with pytest.raises(ValueError, match="budget must be an integer of at least 1; got"):
            check_budget(value, 10)

    @pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(3), 1e-300])
    def test_positive(self, value):
        number = check_positive(value, "C")
        assert type(number) is float
        assert number == value

    @pytest.mark.parametrize("value", [0, 0.0, -1, np.nan, np.inf, True, "1", None, [1.0], 1j])
    def test_what_is_not_positive(self, value):
        with pytest.raises(ValueError, match="C must be a positive finite number; got"):
            check_positive(value, "C")

    def test_zero_where_it_is_allowed(self):
        assert check_positive(0, "intercept", or_zero=True) == 0.0
        with pytest.raises(ValueError, match="intercept must be 0 or a positive finite number"):
            check_positive(-1e-9, "intercept", or_zero=True)

    def test_a_large_budget_is_lowered_with_a_warning(self):
        assert check_budget(np.int64(5), 5) == 5
        with pytest.warns(UserWarning, match="budget=6 is more than the 5 columns or groups"):
            assert check_budget(6, 5) == 5


class TestColumns:
    @pytest.mark.parametrize(
        ("columns", "expected"),
        [
            (None, []),
            ([], []),
            ([3, 0], [0, 3]),
            ((2, 2), [2]),
            (np.array([1], dtype=np.uint8), [1]),
            (range(2), [0, 1]),
            ([True, False, False, True], [0, 3]),
            (np.zeros(4, dtype=bool), []),
        ],
    )
    def test_accepted(self, columns, expected):
        found = check_columns(columns, 4, "always")
        assert found.dtype == np.int64
        assert_array_equal(found, expected)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ([4], "always holds 4, but the columns of X are numbered 0 to 3"),
            ([0, -1], "always holds -1, but the columns"),
            ([True, False], "boolean mask of length 4; got an array of shape .2,. and dtype bool"),
            ([0.0, 1.0], "always must be a list of column numbers.*float64"),
            (["age"], "always must be a list of column numbers.*<U3"),
            (2, r"always must be a list of column numbers.*shape \(\)"),
            ([[0, 1]], r"always must be a list of column numbers.*shape \(1, 2\)"),
        ],
    )
    def test_refused(self, columns, message):
        with pytest.raises(ValueError, match=message):
            check_columns(columns, 4, "always")

    def test_overlap(self):
        check_disjoint(np.array([0]), np.array([1, 2]), 4)
        with pytest.raises(
            ValueError, match="column 2 is in always_features and in excluded_features"
        ):
            check_disjoint(np.array([0, 2]), np.array([1, 2]), 4)

    def test_nothing_left(self):
        with pytest.raises(ValueError, match="excluded_features holds all 4 columns of X"):
            check_disjoint(np.array([], dtype=int), np.arange(4), 4)


class TestGroups:
    @pytest.mark.parametrize("groups", [[5, 5, -1, 0], (5, 5, -1, 0), np.array([5, 5, -1, 0])])
    def test_numbers(self, groups):
        found = check_groups(groups, 4)
        assert found.dtype == np.int64
        assert_array_equal(found, [5, 5, -1, 0])

    @pytest.mark.parametrize(
        "lists",
        [
            [[1, 3], [0]],
            [(3, 1), (0,)],
            [np.array([1, 3]), {0}],
            [{3, 1}],
            [range(1, 4, 2)],
            [[3, 1], []],
        ],
    )
    def test_lists(self, lists):
        groups = check_groups(lists, 4)
        same = groups[:, None] == groups[None, :]
        expected = np.eye(4, dtype=bool)
        expected[1, 3] = expected[3, 1] = True
        assert_array_equal(same, expected)

    def test_a_table_is_a_list_of_lists(self):
        assert_array_equal(check_groups(np.array([[0, 2], [1, 3]]), 4), [0, 1, 0, 1])

    def test_none(self):
        assert check_groups(None, 4) is None

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([0, 1], r"feature_groups must be 4 integers.*shape \(2,\)"),
            ([0.5, 1, 2, 3], "feature_groups must be 4 integers.*float64"),
            ([True, False, True, False], "feature_groups must be 4 integers.*bool"),
            ([[0, 1], [1, 2]], r"feature_groups\[1\] holds column 1, which is also in .*\[0\]"),
            ([[0, 9]], r"feature_groups\[0\] holds 9, but the columns of X are numbered 0 to 3"),
            ([[True, False, True, True]], r"feature_groups\[0\] must be a list.*got booleans"),
            ([[0, 1], 2], r"feature_groups\[1\] must be a list of column numbers"),
            (["ab"], r"feature_groups\[0\] must be a list of column numbers"),
            (3, "feature_groups must be a list or an array; got 3"),
            ("ab", "feature_groups must be a list or an array; got 'ab'"),
        ],
    )
    def test_refused(self, groups, message):
        with pytest.raises(ValueError, match=message):
            check_groups(groups, 4)


@pytest.mark.parametrize(
    ("value", "known", "hint"),
    [
        ("chi", ["bound", "chi2"], " (did you mean 'chi2'?)"),
        ("Diagnosis", ["id", "diagnosis"], " (did you mean 'diagnosis'?)"),
        ("1", [0, 1], " (did you mean 1?)"),
        (1, ["0", "1"], " (did you mean '1'?)"),
        (-1, [0, 1], ""),
        ("squared", ["chi2", "bound"], ""),
    ],
)
def test_did_you_mean(value, known, hint):
    assert did_you_mean(value, known) == hint
