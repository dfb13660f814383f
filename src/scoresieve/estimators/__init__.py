"""scikit-learn's contract around the solvers."""

from scoresieve.estimators.measure_svc import MeasureSVC

__all__ = ["MeasureSVC"]
