"""scikit-learn's own checks of estimators; none is expected to fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from scoresieve import MeasureSVC

ESTIMATORS = [
    MeasureSVC(),
    MeasureSVC(measure="accuracy"),
    MeasureSVC(measure="accuracy", n_features_to_select=3),
    MeasureSVC(measure="prbep", tol=0.2),
    MeasureSVC(measure="roc_auc", tol=0.2),
]


# Some checks fit random labels, where a warning of an empty model is right.
@pytest.mark.filterwarnings("ignore:class .*the model has no features:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
