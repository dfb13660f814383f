"""Pick the few features that maximise the score you report.

scoresieve trains sparse linear models by optimising F1, Prec@k, Rec@k, PRBEP, ROC area and other
measures directly, under a feature budget, and proves how close to optimal the result is.

A risk (of a measure or a loss), a regulariser and a design matrix; a solver joins them; an
estimator wraps the solver; a certificate checks the result.

"The paper" is Mao and Tsang, "A Feature Selection Method for Multivariate Performance Measures"
(IEEE TPAMI 2013); its equations are numbered as in the preprint.
"""

import logging
from importlib.metadata import PackageNotFoundError, version

from scoresieve.certificate import Certificate, certify
from scoresieve.estimators import (
    BudgetClassifier,
    BudgetPath,
    BudgetRegressor,
    MeasureSVC,
    ScoreSieve,
    budget_path,
    load,
    selection_frequency,
)
from scoresieve.losses import Loss, get_loss
from scoresieve.measures import Contingency, Measure, get_measure
from scoresieve.risks import DualPoint
from scoresieve.solvers import Progress, SolveResult, Status, solve

# What is logged is shown where the user asks for it, and nowhere else.
logging.getLogger(__name__).addHandler(logging.NullHandler())

try:
    __version__ = version("scoresieve")
except PackageNotFoundError:  # the source tree on the path, not installed
    __version__ = "0+unknown"

__all__ = [
    "BudgetClassifier",
    "BudgetPath",
    "BudgetRegressor",
    "Certificate",
    "Contingency",
    "DualPoint",
    "Loss",
    "Measure",
    "MeasureSVC",
    "Progress",
    "ScoreSieve",
    "SolveResult",
    "Status",
    "budget_path",
    "certify",
    "get_loss",
    "get_measure",
    "load",
    "selection_frequency",
    "solve",
]
