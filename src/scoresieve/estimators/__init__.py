"""scikit-learn's contract around the solvers."""

from scoresieve.estimators.measure_svc import MeasureSVC
from scoresieve.estimators.path import BudgetPath, budget_path
from scoresieve.estimators.stability import selection_frequency

__all__ = ["BudgetPath", "MeasureSVC", "budget_path", "selection_frequency"]
