"""Bad input gets an error that names the argument; odd but valid input gets a correct fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from scoresieve import Status, solve
from tests.helpers import both_solvers

#: A price for fits by the other solver: the search for one is by the bundle in any case.
FOUND_BY_BUNDLE = 0.5


@pytest.fixture
def case(data):
    X, y = data(0)
    return X, y


def run(X, y, solver=solve, **changes):
    arguments = {"measure": "f1", "budget": 3, "C": 1.0} | changes
    if solver is not solve and arguments["measure"] == "f1":
        arguments.setdefault("price", FOUND_BY_BUNDLE)
    return solver(X, y, **arguments)


def with_entry(X, value):
    X = X.copy()
    X[4, 7] = value
    return X


class TestRefused:
    @pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array])
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (np.nan, "X contains NaN"),
            (np.inf, "X contains infinity"),
            (-np.inf, "X contains infinity"),
            (1e300, "X is too large"),
        ],
    )
    def test_entries_of_X(self, case, form, value, message):
        X, y = case
        with pytest.raises(ValueError, match=message):
            run(form(with_entry(X, value)), y)

    def test_all_of_X_times_1e300(self, case):
        """LinearSVC hangs on this one."""
        X, y = case
        with pytest.raises(ValueError, match=r"X is too large.*scale the columns"):
            run(X * 1e300, y)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.ones(30), "X must be 2-D.*1-D"),
            (np.ones((2, 3, 4)), "X must be 2-D.*3-D"),
            (np.full((30, 2), "a"), "X must hold real numbers.*dtype <U1"),
            (np.ones((30, 2), dtype=complex), "X must hold real numbers.*complex"),
            (np.ones((30, 2), dtype=object), "X must hold real numbers.*object"),
            (np.empty((30, 0)), r"X has shape \(30, 0\)"),
            ([[1.0, 2.0], [3.0]], "X cannot be read"),
            (np.ones((29, 4)), "y has 30 labels and X has 29 rows"),
        ],
    )
    def test_shapes_and_types_of_X(self, case, X, message):
        with pytest.raises(ValueError, match=message):
            run(X, case[1])

    @pytest.mark.parametrize(
        ("label", "message"),
        [
            (lambda y: np.ones_like(y), "y has one class only"),
            (lambda y: -np.ones_like(y), "y has one class only"),
            (lambda y: np.arange(30.0), "y must hold -1/.1 or 0/1; got 30 classes"),
            (lambda y: y + 1, "y must hold -1/.1 or 0/1; got 2 classes"),
            (lambda y: np.where(y > 0, "yes", "no"), "y must hold.*dtype <U3"),
            (lambda y: np.where(y > 0, 1.0, np.nan), "y contains NaN or infinity"),
            (lambda y: y[:-1], "y has 29 labels and X has 30 rows"),
            (lambda y: y[:, None], "y must be 1-D"),
        ],
    )
    def test_labels(self, case, label, message):
        X, y = case
        with pytest.raises(ValueError, match=message):
            run(X, label(y))

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"budget": 0}, "budget must be an integer of at least 1; got 0"),
            ({"C": 0}, "C must be a positive finite number; got 0"),
            ({"tol": 0.0}, "tol must be a positive finite number; got 0.0"),
            ({"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
            ({"max_time": -1}, "max_time must be a positive finite number; got -1"),
            ({"intercept_scaling": -0.5}, "intercept_scaling must be 0 or a positive.*got -0.5"),
            ({"measure": "f"}, "unknown measure 'f'"),
            ({"measure": "prec@31"}, "k=31 asks for the 31 highest scores, but there are only 30"),
            ({"measure": "precision@recall>=1.5"}, "floor must be a recall"),
            ({"always_features": [10]}, "always_features holds 10"),
            ({"excluded_features": np.ones(10, dtype=bool)}, "excluded_features holds all 10"),
            ({"always_features": [2], "excluded_features": [2]}, "column 2 is in always_features"),
            ({"feature_groups": [0, 1]}, "feature_groups must be 10 integers"),
            ({"feature_groups": [[0, 1], [1]]}, r"feature_groups\[1\] holds column 1"),
            ({"feature_groups": [[0, 1]], "always_features": [0]}, "of column 0 is partly in"),
        ],
    )
    def test_arguments(self, case, changes, message):
        with pytest.raises(ValueError, match=message):
            run(*case, **changes)

    def test_a_callback_that_cannot_be_called(self, case):
        with pytest.raises(TypeError, match="callback must be a function or None; got 3"):
            run(*case, callback=3)

    def test_a_measure_that_is_none(self, case):
        with pytest.raises(TypeError, match="measure must be a name or a Measure, got int"):
            run(*case, measure=1)


class TestFitted:
    """Each fit reaches its tolerance by the independent certificate."""

    def check(self, certified, X, y, solver, **changes):
        problem = {"measure": "f1", "budget": 3, "C": 1.0} | changes
        if solver is not solve and problem["measure"] == "f1":
            problem = {"price": FOUND_BY_BUNDLE} | problem
        result = solver(X, y, tol=0.02, max_time=60, **problem)
        assert result.status.reached_tolerance
        check = certified(X, y, result, **problem)
        assert check.gap <= 0.02
        assert check.primal == pytest.approx(result.primal, rel=1e-9)
        return result

    def test_a_budget_above_the_columns_is_lowered(self, case):
        X, y = case
        with pytest.warns(UserWarning, match="budget=99 is more than the 10 columns"):
            result = run(X, y, budget=99, tol=1e-4)
        assert result.primal == pytest.approx(run(X, y, budget=10, tol=1e-4).primal, rel=1e-12)

    @both_solvers
    @pytest.mark.parametrize("measure", ["f1", "roc_auc", "accuracy"])
    def test_two_rows(self, case, certified, measure, solver):
        X, _ = case
        result = self.check(certified, X[:2], [1, -1], solver, measure=measure)
        assert (X[0] - X[1]) @ result.w > 0

    @both_solvers
    def test_one_column(self, case, certified, solver):
        X, y = case
        self.check(certified, X[:, :1], y, solver, budget=1, C=10.0)
        self.check(certified, X[:2, :1], [0, 1], solver, budget=1)

    @both_solvers
    def test_constant_columns(self, case, certified, solver):
        X, y = case
        X = np.column_stack([X, np.ones((30, 3))])
        self.check(certified, X, y, solver)
        self.check(certified, np.ones((30, 3)), y, solver, measure="accuracy")

    @both_solvers
    def test_duplicate_columns(self, case, certified, solver):
        """Five copies in one budget: the optimum is that of the single columns, or better."""
        X, y = case
        many = self.check(certified, np.hstack([X] * 5), y, solver)
        single = self.check(certified, X, y, solver)
        assert many.dual <= single.primal

    @both_solvers
    def test_columns_of_zeros_are_never_selected(self, case, certified, solver):
        X, y = case
        X = X.copy()
        X[:, ::2] = 0.0
        result = self.check(certified, X, y, solver)
        assert np.all(result.support % 2 == 1)

    @both_solvers
    def test_one_positive_or_one_negative(self, case, certified, solver):
        X, _ = case
        for label in (1.0, -1.0):
            y = np.full(30, -label)
            y[3] = label
            self.check(certified, X, y, solver)

    @both_solvers
    @pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-30, 1e-6, 1e3])
    def test_scales_of_X(self, case, certified, scale, solver):
        X, y = case
        result = self.check(certified, scale * X, y, solver, price=1.0)
        if scale < 1e-5:
            assert result.status is Status.ZERO_MODEL
            assert solver is not solve or result.smallest_C > 1.0

    @both_solvers
    def test_a_scale_and_C_that_cancel(self, case, certified, solver):
        """X * s with C / s^2 is the same problem: J is divided by s^2, w by s."""
        X, y = case
        expected = self.check(certified, X, y, solver)
        for scale in (2.0**-40, 2.0**20):
            result = self.check(certified, scale * X, y, solver, C=scale**-2)
            assert result.primal * scale**2 == pytest.approx(expected.primal, rel=0.03)
            assert result.dual * scale**2 <= expected.primal * (1 + 1e-9)

    @both_solvers
    @pytest.mark.parametrize("C", [1e-12, 1e-4, 1e4, 1e7])
    def test_values_of_C(self, case, certified, C, solver):
        self.check(certified, *case, solver, C=C)

    @both_solvers
    @pytest.mark.parametrize(
        "convert",
        [
            lambda X: X.astype(np.float16),
            lambda X: X.astype(np.float32),
            lambda X: np.rint(3 * X).astype(np.int64),
            lambda X: np.rint(3 * X).astype(np.int8),
            lambda X: X > 0,
            lambda X: sp.csr_matrix(X > 0),
            lambda X: sp.coo_array(np.rint(X)),
            lambda X: X[::-1][::-1].T.copy().T,
            lambda X: np.repeat(X, 2, axis=0)[::2],
            lambda X: X.tolist(),
        ],
        ids=["f16", "f32", "i64", "i8", "bool", "csr-bool", "coo", "F", "strided", "list"],
    )
    def test_types_and_layouts(self, case, certified, convert, solver):
        X, y = case
        self.check(certified, convert(X), y, solver)

    def test_int64_indices(self, case, certified):
        """``load_svmlight_file`` returns these, and LinearSVC refuses them."""
        X, y = case
        X = sp.csr_matrix(X)
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        self.check(certified, X, y, solve)

    def test_a_read_only_memory_map(self, case, certified, tmp_path):
        X, y = case
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        result = self.check(certified, mapped, y, solve)
        assert_allclose(result.w, self.check(certified, X, y, solve).w)

    @pytest.mark.parametrize("measure", ["prec@30", "prec@29", "rec@30", "rec@1", "prec@1"])
    def test_extreme_k(self, case, certified, measure):
        self.check(certified, *case, solve, measure=measure)

    def test_everything_always_in(self, case, certified):
        X, y = case
        result = self.check(certified, X, y, solve, always_features=range(10), price=0.5)
        plain = self.check(certified, X, y, solve, budget=10, price=0.5)
        assert max(result.dual, plain.dual) <= min(result.primal, plain.primal) * (1 + 1e-9)

    def test_one_column_that_dwarfs_the_others(self, case, certified):
        X, y = case
        X = np.column_stack([X, 1e4 * X[:, 0]])
        assert 10 in self.check(certified, X, y, solve).support


@pytest.mark.slow
@both_solvers
@pytest.mark.parametrize("power", [8, 20, 60])
def test_huge_scales_end_with_true_bounds(case, certified, power, solver):
    """A hard-margin problem in effect: whatever the status, both bounds must be true."""
    X, y = case
    X = X * 10.0**power
    result = run(X, y, solver=solver, max_time=30, max_iter=500)
    check = certified(X, y, result, measure="f1", budget=3, C=1.0)
    assert result.status.reached_tolerance == (check.gap <= 0.05)
    # The risk is a difference of numbers of the order of ten, so this is rounding.
    assert check.primal == pytest.approx(result.primal, rel=1e-9, abs=1e-13)
    assert 0 <= check.dual <= check.primal


@pytest.mark.slow
@both_solvers
@pytest.mark.parametrize("C", [1e15, 1e60, 1e100])
def test_huge_C_ends_with_true_bounds(case, certified, C, solver):
    X, y = case
    result = run(X, y, C=C, solver=solver, max_time=30, max_iter=500)
    check = certified(X, y, result, measure="f1", budget=3, C=C)
    assert result.status.reached_tolerance == (check.gap <= 0.05)
    assert 0 <= check.dual <= check.primal


def regression_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    return X, X[:, :3].sum(axis=1) + rng.normal(size=60) + 0.5


def classification_data():
    X, y = regression_data()
    return X, np.where(y > 0.8, 1.0, -1.0)


class TestRefusedForLosses:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"loss": "nope"}, "unknown loss 'nope'"),
            ({"sample_weight": np.ones(3)}, "sample_weight has 3 weights, but y has 60"),
            ({"sample_weight": -np.ones(60)}, r"sample_weight\[0\] is -1"),
            ({"sample_weight": np.zeros(60)}, "sample_weight is zero for all rows"),
            ({"y": np.full(60, np.nan)}, "y contains NaN or infinity"),
            ({"y": np.full(60, 1e100)}, "y is too large"),
            ({"y": np.ones((60, 2))}, "y must be 1-D"),
            ({"y": np.ones(59)}, "y has 59 targets and X has 60 rows"),
            ({"y": np.array(["a"] * 60)}, "y must hold real numbers"),
            ({"y": np.array(["a"] * 60, dtype=object)}, "y must hold real numbers"),
            ({"X": np.full((60, 30), np.inf)}, "X contains infinity"),
        ],
    )
    def test_regression(self, changes, message):
        X, y = regression_data()
        arguments = {"X": X, "y": y, "loss": "squared", "budget": 3} | changes
        with pytest.raises(ValueError, match=message):
            solve(arguments.pop("X"), arguments.pop("y"), **arguments)

    def test_classification(self):
        X, y = classification_data()
        with pytest.raises(ValueError, match="y must hold -1/\\+1 or 0/1"):
            solve(X, regression_data()[1], loss="logistic", budget=3)
        with pytest.raises(ValueError, match="y has one class only"):
            solve(X, np.ones(60), loss="logistic", budget=3)
        with pytest.raises(ValueError, match="sample_weight is zero for all positives"):
            solve(X, y, loss="logistic", budget=3, sample_weight=(y < 0).astype(float))

    def test_labels_of_zero_and_one(self):
        X, y = classification_data()
        first = solve(X, y, loss="logistic", budget=3)
        second = solve(X, y > 0, loss="logistic", budget=3)
        assert_array_equal(first.w, second.w)

    def test_a_budget_of_more_than_all_columns_warns(self):
        X, y = regression_data()
        with pytest.warns(UserWarning, match="budget=31 is more than the 30 columns"):
            solve(X, y, loss="squared", budget=31)
