"""scikit-learn's contract around the solvers."""

from scoresieve.estimators._persistence import load
from scoresieve.estimators.measure_svc import MeasureSVC
from scoresieve.estimators.measure_svc_cv import MeasureSVCCV
from scoresieve.estimators.path import BudgetPath, budget_path
from scoresieve.estimators.stability import selection_frequency

__all__ = ["BudgetPath", "MeasureSVC", "MeasureSVCCV", "budget_path", "load", "selection_frequency"]
