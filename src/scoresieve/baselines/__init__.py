"""The systems that the paper compares with, as scikit-learn estimators with one interface.

Each is a classifier and feature selector: ``fit``, ``predict``, ``score``, ``coef_``, ``support_``.
The docstrings describe the original and where this version differs.
"""

from scoresieve.baselines.bag_rivals import MILES, MeanInstanceSVM
from scoresieve.baselines.fgm import FGM
from scoresieve.baselines.fixed_budgets import SquaredL1SVM, SVMPerf
from scoresieve.baselines.fs_multi import FSMulti
from scoresieve.baselines.l0_svm import L0SVM
from scoresieve.baselines.l1_bundle import L1BundleSVM
from scoresieve.baselines.l1_svm import L1SVM
from scoresieve.baselines.nmmkl import NMMKL
from scoresieve.baselines.svm_rfe import SVMRFE

__all__ = [
    "FGM",
    "L0SVM",
    "L1SVM",
    "MILES",
    "NMMKL",
    "SVMRFE",
    "FSMulti",
    "L1BundleSVM",
    "MeanInstanceSVM",
    "SVMPerf",
    "SquaredL1SVM",
]
