"""Every method says how its fit ended."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from scoresieve import MeasureSVC, Status, solve
from scoresieve.baselines import FGM, L1SVM, SVMRFE, FSMulti, L1BundleSVM, SVMPerf
from studies.common.limits import (
    MARK,
    fit_noting_limit,
    limit_note,
    limit_of,
    marked,
    tally,
    word_for,
)

LIBLINEAR = {"tol": 1e-12, "max_iter": 1}
AT_A_LIMIT = {
    "FGM, groups": (FGM(budget=1, max_groups=2, tol=1e-9), "groups"),
    "FGM, seconds": (FGM(budget=1, max_time=1e-9, tol=1e-9), "seconds"),
    "two layers, groups": (FSMulti(budget=1, C=10.0, max_groups=1, tol=1e-9), "groups"),
    "two layers, rounds": (FSMulti(budget=1, C=10.0, max_iter=1, tol=1e-9), "rounds"),
    "two layers, seconds": (FSMulti(budget=1, C=10.0, max_time=1e-9, tol=1e-9), "seconds"),
    "bundle, rounds": (MeasureSVC(budget=1, max_iter=1, tol=1e-9), "rounds"),
    "bundle, seconds": (MeasureSVC(budget=1, max_time=1e-9, tol=1e-9), "seconds"),
    "SVM^perf": (SVMPerf(max_iter=1, tol=1e-9), "rounds"),
    "l1-bmrm": (L1BundleSVM(C=10.0, max_iter=1, tol=1e-9), "rounds"),
    "l1-SVM": (L1SVM(**LIBLINEAR), "rounds"),
    "SVM-RFE, rounds": (SVMRFE(n_features_to_select=2, **LIBLINEAR), "rounds"),
    "SVM-RFE, seconds": (SVMRFE(n_features_to_select=2, max_time=1e-9), "seconds"),
    "LinearSVC": (LinearSVC(dual=True, random_state=0, **LIBLINEAR), "rounds"),
}
CONVERGED = {
    "FGM": FGM(budget=2),
    "two layers": FSMulti(budget=20, C=0.1, tol=0.5),
    "bundle": MeasureSVC(budget=2, tol=0.5),
    "SVM^perf": SVMPerf(tol=0.5),
    "l1-bmrm": L1BundleSVM(tol=0.5),
    "l1-SVM": L1SVM(),
    "SVM-RFE": SVMRFE(n_features_to_select=2),
    "LinearSVC": LinearSVC(random_state=0),
}


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    return X, np.where(X[:, 3] - X[:, 7] + 0.5 * rng.normal(size=60) > 0.5, 1.0, -1.0)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("model", "limit"), AT_A_LIMIT.values(), ids=AT_A_LIMIT)
def test_a_fit_at_its_limit_says_which(sample, model, limit):
    assert fit_noting_limit(model, *sample) == limit


@pytest.mark.parametrize("model", CONVERGED.values(), ids=CONVERGED)
def test_a_fit_that_ended_as_it_should_has_no_limit(sample, model):
    assert fit_noting_limit(model, *sample) is None


def test_warnings_are_passed_on(sample):
    with pytest.warns(UserWarning, match="max_groups"):
        fit_noting_limit(FGM(budget=1, max_groups=1, tol=1e-9), *sample)


def test_results_of_the_solver_have_limits_too(sample):
    assert limit_of(solve(*sample, measure="f1", budget=2, C=1.0, tol=0.5)) is None
    assert (
        limit_of(solve(*sample, measure="f1", budget=2, C=100.0, tol=1e-12, max_iter=2)) == "rounds"
    )


def test_every_status_has_a_word():
    words = {status: limit_of(SimpleNamespace(status=status)) for status in Status}
    assert {status for status, word in words.items() if word is None} == {
        status for status in Status if status.reached_tolerance
    }
    assert {word for word in words.values() if word} == {
        *("rounds", "seconds", "precision", "callback")
    }


def test_words_of_parameters():
    ends = ("max_groups", "MAX_TIME", "STALLED", "precision")
    assert [word_for(end) for end in ends] == ["groups", "seconds", "precision", "precision"]


def test_counts_and_marks():
    assert tally([None, "rounds", "seconds", "rounds"]) == "3 of 4 (rounds 2, seconds 1)"
    assert tally([None, None]) == "0 of 2"
    assert marked("81.20", [None, "rounds"]) == f"81.20{MARK}"
    assert marked("81.20", np.array([None, None])) == "81.20"
    fits = {
        "FGM": [{"limit": "groups", "gap": 0.25}, {"limit": None, "gap": 0.1}],
        "l1-SVM": [{"limit": None}],
    }
    assert limit_note(fits) == (
        "Fits that ended at a limit: FGM 1 of 2 (groups 1), largest certified gap 0.25; "
        "l1-SVM 0 of 1."
    )
