"""What each rival refuses, how it says that it stopped early, and where it is a linear SVM."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from scoresieve import Status
from scoresieve.baselines import (
    FGM,
    L0SVM,
    L1SVM,
    NMMKL,
    SVMRFE,
    L1BundleSVM,
    SVMPerf,
)

#: Wrong values of parameters that several rivals have, and what each of these says.
WRONG = {
    "C": ([0, -1.0], "C must be a positive"),
    "tol": ([0.0, -1.0], "tol must be a positive"),
    "inner_tol": ([0.0], "inner_tol must be a positive"),
    "intercept_scaling": ([0, -1.0], "intercept_scaling must be a positive"),
    "max_time": ([0, -1.0, "soon"], "max_time must be a positive"),
    "max_iter": ([0, 1.5], "max_iter must be an integer of at least 1"),
    "max_groups": ([0], "max_groups must be an integer of at least 1"),
    "max_rounds": ([0], "max_rounds must be an integer of at least 1"),
    "budget": ([0], "budget must be an integer of at least 1"),
    "n_features_to_select": ([0, 2.5], "n_features_to_select must be an integer of at least 1"),
    "measure": (["f-one"], "f-one"),
    "C_scale": (["mine"], r"C_scale must be one of \['linear_svc', 'paper', 'svmperf'\]"),
}


def test_wrong_values_are_refused(rival, data):
    X, y = data(6)
    for name in WRONG.keys() & rival.get_params():
        values, message = WRONG[name]
        for value in values:
            with pytest.raises(ValueError, match=message):
                type(rival)(**{name: value}).fit(X, y)


OF_L2 = r"loss with the l2 norm must be one of \['hinge', 'squared_hinge'\]"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FGM(stop="soon"), "stop must be one of"),
        (L0SVM(loss="log"), OF_L2),
        (SVMRFE(loss="logistic"), OF_L2),
        (L1SVM(loss="hinge"), r"loss with the l1 norm must be one of \['squared_hinge'\]"),
        (L1SVM(C=1.0, n_features_to_select=3), "are both given, .* leave C=None"),
        (L1SVM(n_features_to_select=3, k_tol=-0.1), "k_tol must be 0 or a positive"),
        (SVMPerf(C_scale="svmperf", measure="accuracy"), "has no percent loss in SVM\\^perf"),
        (SVMPerf(measure="f0"), "beta"),
        *((SVMRFE(step=step), "step must be 'halving', a fraction")
          for step in (0, -1, 0.0, 1.0, 1.5, "half", None, True)),
    ],
)  # fmt: skip
def test_wrong_values_of_one_rival_are_refused(data, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*data(6))


L1_BUNDLE = {"measure": "f1", "C": 5.0, "tol": 0.01}
#: Fits that end too early, how they say so, and what is fitted all the same.
EARLY = [
    (FGM(budget=3, stop="gap", tol=1e-6, max_time=1e-6), "stopped by max_time", {}),
    (NMMKL(budget=3, max_time=1e-9), "Stopped at max_time", {"status_": [Status.MAX_TIME]}),
    (
        L1BundleSVM(**L1_BUNDLE, max_iter=5),
        r"certified gap is .* Stopped at max_iter",
        {"status_": [Status.MAX_ITER]},
    ),
    (
        L1BundleSVM(**L1_BUNDLE, max_time=1e-9),
        "Stopped at max_time",
        {"status_": [Status.MAX_TIME]},
    ),
    (
        L0SVM(n_features_to_select=3, C=100.0, max_time=1e-9),
        "class 1.0: stopped at max_time=1e-09; raise it",
        {"n_features_selected_": 3, "n_iter_": [1]},
    ),
    (
        SVMRFE(n_features_to_select=3, max_time=1e-9),
        "class 1.0: max_time=1e-09 ended the elimination",
        {"n_features_selected_": 3, "n_iter_": [2]},
    ),
    (
        L1SVM(n_features_to_select=50, max_time=1e-9),
        "none of the 1 C that were tried gives 50",
        {},
    ),
    (L1SVM(max_iter=1), "liblinear stopped at max_iter=1", {}),
    (
        SVMRFE(n_features_to_select=5, loss="hinge", C=1000.0, max_iter=2),
        "at max_iter=2 in 5 of 5 rounds",
        {},
    ),
]


@pytest.mark.parametrize(("model", "message", "fitted"), EARLY)
def test_an_early_stop_is_told_and_bounded(data, model, message, fitted):
    X, y = data(3, n_samples=100, n_features=64)
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(X, y)
    assert {name: getattr(model, name) for name in fitted} == fitted
    if hasattr(model, "gap_"):
        assert 0 <= model.dual_[0] <= model.primal_[0]
        assert model.gap_[0] > model.tol


def svm_objective(svm, X, y, scaling):
    """``1/2 |w|^2 + C sum of the losses``, with the weight of the constant column in w."""
    slack = np.maximum(0.0, 1.0 - y * svm.decision_function(X))
    bias = svm.intercept_[0] / scaling if scaling else 0.0
    losses = slack.sum() if svm.loss == "hinge" else np.sum(slack**2)
    return 0.5 * (np.sum(svm.coef_**2) + bias**2) + svm.C * losses


@pytest.mark.parametrize(("scaling", "C"), [(0.0, 0.1), (0.0, 2.0), (1.0, 0.5), (3.0, 2.0)])
@pytest.mark.parametrize(
    ("model", "loss", "accuracy"),
    [
        (FGM(budget=15, stop="gap", tol=1e-6), "squared_hinge", 2e-3),
        (NMMKL(budget=15), "hinge", 2e-3),
        (SVMPerf("accuracy", tol=1e-5), "hinge", 2e-2),
    ],
)
def test_all_features_are_linear_svc(data, model, loss, accuracy, scaling, C):
    X, y = data(0, n_samples=60, n_features=15, noise=1.5)
    settings = {"C": C, "fit_intercept": scaling > 0, "intercept_scaling": scaling or 1.0}
    svm = LinearSVC(loss=loss, tol=1e-8, max_iter=1_000_000, random_state=0, **settings).fit(X, y)
    model = model.set_params(**settings).fit(X, y)
    assert model.primal_[0] == pytest.approx(svm_objective(svm, X, y, scaling), rel=5e-5)
    assert_allclose(model.coef_, svm.coef_, atol=accuracy)
    assert_allclose(model.intercept_, svm.intercept_, atol=accuracy)
