"""scikit-learn's contract around the solvers."""

from scoresieve.estimators.budget_classifier import BudgetClassifier
from scoresieve.estimators.budget_regressor import BudgetRegressor
from scoresieve.estimators.measure_svc import MeasureSVC
from scoresieve.estimators.model import ClassModel
from scoresieve.estimators.path import BudgetPath, budget_path
from scoresieve.estimators.persistence.registry import load, save
from scoresieve.estimators.score_sieve import ScoreSieve
from scoresieve.estimators.stability import selection_frequency

__all__ = [
    "BudgetClassifier",
    "BudgetPath",
    "BudgetRegressor",
    "ClassModel",
    "MeasureSVC",
    "ScoreSieve",
    "budget_path",
    "load",
    "save",
    "selection_frequency",
]
