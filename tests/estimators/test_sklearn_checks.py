"""scikit-learn's own checks of estimators; the few expected failures come with their reason."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from scoresieve import BudgetClassifier, BudgetRegressor, MeasureSVC, MeasureSVCCV

ESTIMATORS = [
    MeasureSVC(),
    MeasureSVC(measure="accuracy"),
    MeasureSVC(measure="accuracy", n_features_to_select=3),
    MeasureSVC(measure="prbep", tol=0.2),
    MeasureSVC(measure="roc_auc", tol=0.2),
    MeasureSVCCV("balanced_accuracy", budgets=[1, 2], Cs=[10.0], cv=2),
    MeasureSVCCV("accuracy", n_features_to_select=[1, 2], Cs=[10.0], cv=2, refit="1se"),
    BudgetClassifier(),
    BudgetClassifier("logistic", n_features_to_select=3),
    BudgetClassifier("hinge"),
    BudgetRegressor(),
    BudgetRegressor("epsilon_insensitive", n_features_to_select=3),
    BudgetRegressor("huber"),
]

#: In each of them both fits are certified to be within the tolerance of one and the same optimum.
#: That weights are repetitions is shown at fine tolerances in test_sample_weight.py and
#: test_budget_models.py beside this file.
TOLERANCE = (
    "The check shuffles the rows and compares two fits to 1e-7, but a fit ends at the certified "
    "gap that was asked for, and rounding and the order of rows decide where between there and the "
    "optimum. Whether they agree depends on the machine's arithmetic."
)
WEIGHTS = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]


def expected_failures(estimator):
    """Reasons by name of the check."""
    return dict.fromkeys(WEIGHTS, TOLERANCE)


# Some checks fit random labels, where a warning of an empty model is right.
@pytest.mark.filterwarnings("ignore:.*the model has no features:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)
