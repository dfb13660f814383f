"""scikit-learn's own checks of estimators, for every rival."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from scoresieve.baselines import (
    FGM,
    L0SVM,
    L1SVM,
    NMMKL,
    SVMRFE,
    FSMulti,
    L1BundleSVM,
    SquaredL1SVM,
    SVMPerf,
)

ESTIMATORS = [
    FGM(),
    FGM(budget=1, stop="gap", tol=0.1),
    FSMulti(),
    FSMulti("accuracy", fit_intercept=True),
    L0SVM(),
    L0SVM(n_features_to_select=2),
    L1BundleSVM(),
    L1BundleSVM("accuracy"),
    L1SVM(),
    L1SVM(n_features_to_select=2),
    NMMKL(),
    SquaredL1SVM(),
    SquaredL1SVM("f1"),
    SVMPerf(),
    SVMPerf("accuracy"),
    SVMPerf("roc_auc"),
    SVMRFE(),
    SVMRFE(n_features_to_select=1, step=0.3, loss="hinge", max_iter=10000),
]

#: At that C scikit-learn's own LinearSVC(penalty="l1") fails the check in the same way.
SEARCHED_C = (
    "The check wants extreme class weights to decide every prediction. With n_features_to_select "
    "the C is the one at which the second feature enters; the l1 norm keeps the intercept, by "
    "which weights of classes act, at 0 there. See test_base.py for weights as repeated rows."
)


def expected_failures(estimator):
    """Reasons by name of the check."""
    if isinstance(estimator, L1SVM) and estimator.n_features_to_select is not None:
        return {"check_class_weight_classifiers": SEARCHED_C}
    return {}


# Some checks fit random labels or one feature, where these warnings are right.
@pytest.mark.filterwarnings("ignore:class .*the model has no features:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)
