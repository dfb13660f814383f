"""``selection_frequency``: exact counts, resamples as promised, and the same whatever n_jobs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.svm import LinearSVC

from scoresieve.estimators.measure_svc import MeasureSVC
from scoresieve.estimators.stability import selection_frequency


class Recorder(BaseEstimator):
    """Selects column j if row j was drawn, and notes every drawn row and label in ``log``."""

    log: list = []  # noqa: RUF012 (clones share it)

    def fit(self, X, y):
        self.rows_ = np.asarray(X)[:, 0].astype(int)
        Recorder.log.append((self.rows_, np.asarray(y)))
        self.n_features_ = X.shape[1]
        return self

    def get_support(self):
        return np.isin(np.arange(self.n_features_), self.rows_)


@pytest.fixture
def record():
    """``record(...)`` draws from 40 numbered rows, of which every fourth is positive."""
    X = np.zeros((40, 40))
    X[:, 0] = np.arange(40)
    y = (np.arange(40) % 4 == 0).astype(int)

    def run(**arguments):
        Recorder.log.clear()
        frequency = selection_frequency(Recorder(), X, y, **{"n_resamples": 20, **arguments})
        return frequency, list(Recorder.log)

    return run


def test_frequencies_are_the_share_of_resamples(record):
    frequency, draws = record()
    expected = np.mean([np.isin(np.arange(40), rows) for rows, _ in draws], axis=0)
    assert_array_equal(frequency, expected)
    assert len(draws) == 20
    assert 0.5 < frequency.mean() < 0.75  # 1 - 1/e of the rows are in a bootstrap


def test_a_bootstrap_repeats_rows_and_keeps_class_sizes(record):
    _, draws = record()
    for rows, y in draws:
        assert rows.size == 40
        assert np.unique(rows).size < 40
        assert y.sum() == 10
        assert_array_equal(y, rows % 4 == 0)


def test_subsamples_have_no_repeats_and_keep_class_sizes(record):
    _, draws = record(sample_fraction=0.5)
    for rows, y in draws:
        assert np.unique(rows).size == rows.size == 20
        assert y.sum() == 5


def test_without_stratification_class_sizes_vary(record):
    _, draws = record(stratify=False, sample_fraction=0.5)
    assert {rows.size for rows, _ in draws} == {20}
    assert len({int(y.sum()) for _, y in draws}) > 1


def test_replacement_can_be_chosen(record):
    _, draws = record(sample_fraction=0.5, replace=True)
    assert any(np.unique(rows).size < rows.size for rows, _ in draws)
    frequency, _ = record(replace=False)
    assert_array_equal(frequency, 1.0)
    _, draws = record(sample_fraction=1.5)
    assert {rows.size for rows, _ in draws} == {60}


def test_every_resample_has_the_rare_class(record):
    _, draws = record(sample_fraction=0.01)
    for rows, y in draws:
        assert rows.size == 2
        assert_array_equal(np.sort(y), [0, 1])


def test_the_seed_decides(record):
    first, second, other = (record(random_state=seed)[0] for seed in (3, 3, 4))
    assert_array_equal(first, second)
    assert np.any(first != other)
    assert_array_equal(first, record(random_state=np.random.RandomState(3))[0])


@pytest.mark.parametrize(
    "estimator",
    [
        SelectKBest(k=3),
        SelectFromModel(LinearSVC(C=0.05, penalty="l1", dual=False, random_state=0)),
        MeasureSVC(budget=2, C=0.1),
    ],
    ids=["SelectKBest", "SelectFromModel", "MeasureSVC"],
)
def test_selectors_find_the_columns_that_decide_whatever_n_jobs(binary, estimator):
    X, y = binary
    arguments = {"n_resamples": 6, "sample_fraction": 0.5}
    frequency = selection_frequency(estimator, X, y, **arguments)
    assert frequency.shape == (20,)
    assert np.all((frequency >= 0) & (frequency <= 1))
    assert frequency[:3].min() > frequency[3:].mean()
    assert_array_equal(frequency, selection_frequency(estimator, X, y, n_jobs=2, **arguments))
    assert not hasattr(estimator, "n_features_in_")


def test_sparse_lists_and_frames(binary):
    pandas = pytest.importorskip("pandas")
    X, y = binary
    expected = selection_frequency(SelectKBest(k=3), X, y, n_resamples=5)
    for rows, labels in (
        (sp.csr_array(X), y),
        (X.tolist(), y.tolist()),
        (pandas.DataFrame(X, index=range(100, 180)), pandas.Series(y, index=range(80))),
    ):
        frequency = selection_frequency(SelectKBest(k=3), rows, labels, n_resamples=5)
        assert_array_equal(frequency, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be an integer of at least 1; got 0"),
        ({"sample_fraction": 0.0}, "sample_fraction must be a positive finite number; got 0.0"),
        (
            {"sample_fraction": 1.5, "replace": False},
            "sample_fraction=1.5 needs more rows than X has",
        ),
    ],
)
def test_bad_arguments(binary, arguments, message):
    with pytest.raises(ValueError, match=message):
        selection_frequency(SelectKBest(k=3), *binary, **arguments)


def test_bad_data_and_estimators(binary, indicators):
    X, y = binary
    with pytest.raises(TypeError, match="estimator must have get_support"):
        selection_frequency(LinearSVC(), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        selection_frequency(SelectKBest(k=3), X, y[1:])
    with pytest.raises(ValueError, match=r"stratify=True needs one label per row; y has shape"):
        selection_frequency(SelectKBest(k=3), *indicators)
    frequency = selection_frequency(
        MeasureSVC(budget=2, C=0.1), *indicators, n_resamples=2, stratify=False
    )
    assert frequency.shape == (10,)
