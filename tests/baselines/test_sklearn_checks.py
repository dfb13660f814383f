"""scikit-learn's own checks of estimators, for every rival."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from scoresieve import baselines
from scoresieve.baselines import (
    FGM,
    L0SVM,
    L1SVM,
    SVMRFE,
    FSMulti,
    L1BundleSVM,
    SquaredL1SVM,
    SVMPerf,
)
from scoresieve.estimators import targets
from tests.helpers import worth_checking

OF_BAGS = {"MILES", "MeanInstanceSVM"}
ESTIMATORS = [
    *(getattr(baselines, name)() for name in sorted({*baselines.__all__} - OF_BAGS)),
    FGM(budget=1, stop="gap", tol=0.1),
    FSMulti("accuracy", fit_intercept=True),
    L0SVM(n_features_to_select=2),
    L1BundleSVM("accuracy"),
    L1SVM(n_features_to_select=2),
    SquaredL1SVM("f1"),
    SVMPerf("accuracy"),
    SVMPerf("roc_auc"),
    SVMRFE(n_features_to_select=1, step=0.3, loss="hinge", max_iter=10000),
]


def setting_for(estimator, check):
    """The estimator, with an intercept that can act where the check is about what it does.

    ``check_class_weight_classifiers`` wants extreme class weights to decide every prediction. With
    ``n_features_to_select`` the C is the one at which the second feature enters, and there the l1
    norm keeps an intercept of a column of 1 at 0; it does so in scikit-learn's own
    ``LinearSVC(penalty="l1")`` at that C, too. A larger column lets the intercept in first.
    """
    is_searched = isinstance(estimator, L1SVM) and estimator.n_features_to_select is not None
    if is_searched and check.func.__name__ == "check_class_weight_classifiers":
        return clone(estimator).set_params(intercept_scaling=10.0)
    return estimator


def checks_of(estimators):
    """The checks of scikit-learn, each of an estimator that can show what it asks for."""
    mark = parametrize_with_checks(estimators)
    kept = worth_checking(mark.args[1])
    cases = [(setting_for(estimator, check), check) for estimator, check in kept]
    return pytest.mark.parametrize(mark.args[0], cases, **mark.kwargs)


# Some checks fit random labels or one feature, where these warnings are right.
@pytest.mark.filterwarnings("ignore:class .*the model has no features:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@checks_of(ESTIMATORS)
def test_scikit_learn(estimator, check, monkeypatch):
    # A check fits the names "one" and "two", of which we want to be told the positive one.
    monkeypatch.setattr(targets, "TELLING_NAMES", (("one", "two"),))
    check(estimator)
