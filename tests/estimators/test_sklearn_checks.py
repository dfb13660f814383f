"""scikit-learn's own checks of estimators; the few expected failures come with their reason."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from scoresieve import MeasureSVC, MeasureSVCCV

ESTIMATORS = [
    MeasureSVC(),
    MeasureSVC(measure="accuracy"),
    MeasureSVC(measure="accuracy", n_features_to_select=3),
    MeasureSVC(measure="prbep", tol=0.2),
    MeasureSVC(measure="roc_auc", tol=0.2),
    MeasureSVCCV("balanced_accuracy", budgets=[1, 2], Cs=[10.0], cv=2),
    MeasureSVCCV("accuracy", n_features_to_select=[1, 2], Cs=[10.0], cv=2, refit="1se"),
]

#: Both fits are certified to be within the tolerance of one and the same optimum.
ROW_ORDER = (
    "The check shuffles the rows. Equal scores are ordered by row, so that with a tolerance of 0.2 "
    "another order of rows ends at another model. Weights themselves are repetitions, see "
    "tests/estimators/test_sample_weight.py."
)


def expected_failures(estimator):
    """Reasons by name of the check."""
    if estimator.measure != "prbep":
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": ROW_ORDER,
        "check_sample_weight_equivalence_on_sparse_data": ROW_ORDER,
    }


# Some checks fit random labels, where a warning of an empty model is right.
@pytest.mark.filterwarnings("ignore:class .*the model has no features:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)
