"""Pick the few features that maximise the score you report.

scoresieve trains sparse linear models by optimising F1, Prec@k, Rec@k, PRBEP, ROC area and other
measures directly, under a feature budget, and certifies how far the result is from the optimum.

A problem is a risk (of a measure or a loss), a regulariser and a design matrix. A solver minimises
it, an estimator wraps the solver, and a certificate checks the result.

"The paper" is Mao and Tsang, "A Feature Selection Method for Multivariate Performance Measures"
(IEEE TPAMI 2013); its equations are numbered as in the preprint.
"""

from __future__ import annotations

import importlib
import logging
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoresieve.certificate import Certificate, certify
    from scoresieve.estimators import (
        BudgetClassifier,
        BudgetPath,
        BudgetRegressor,
        ClassModel,
        MeasureSVC,
        ScoreSieve,
        budget_path,
        load,
        save,
        selection_frequency,
    )
    from scoresieve.losses import Loss, get_loss
    from scoresieve.measures import Contingency, Measure, get_measure
    from scoresieve.risks import DualPoint
    from scoresieve.solvers import Progress, SolveResult, Status, solve
    from scoresieve.tables import TableEncoder

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
    "ClassModel",
    "Contingency",
    "DualPoint",
    "Loss",
    "Measure",
    "MeasureSVC",
    "Progress",
    "ScoreSieve",
    "SolveResult",
    "Status",
    "TableEncoder",
    "budget_path",
    "certify",
    "get_loss",
    "get_measure",
    "load",
    "save",
    "selection_frequency",
    "solve",
]

#: Where each name is defined. Nothing is loaded before it is asked for, so that a program that
#: needs one part of the package, such as the command line for its help, does not wait for all.
_DEFINED_IN = {
    "certificate": ("Certificate", "certify"),
    "estimators": (
        *("BudgetClassifier", "BudgetPath", "BudgetRegressor", "ClassModel", "MeasureSVC"),
        "ScoreSieve",
        *("budget_path", "load", "save", "selection_frequency"),
    ),
    "losses": ("Loss", "get_loss"),
    "measures": ("Contingency", "Measure", "get_measure"),
    "risks": ("DualPoint",),
    "solvers": ("Progress", "SolveResult", "Status", "solve"),
    "tables": ("TableEncoder",),
}
_MODULE_OF = {name: module for module, names in _DEFINED_IN.items() for name in names}
#: Parts that ``scoresieve.mil`` and the like find without an import of their own.
_PARTS = {
    *_DEFINED_IN,
    *("baselines", "datasets", "design", "mil", "plotting", "regularizers", "report"),
}


def __getattr__(name: str) -> Any:
    """A public name, or a part of the package, when it is used for the first time."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PARTS})
