"""The methods on the Image data: models, fits, and how each does on one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scoresieve import MeasureSVC, get_measure
from scoresieve.baselines import L1SVM, SVMRFE, FSMulti, L1BundleSVM
from scoresieve.measures import C_from_paper
from studies.common.limits import fit_noting_limit
from studies.common.thresholds import best_threshold
from studies.common.timing import timed
from studies.quality.quiet import quiet_thread

#: The paper's C divided by the number of bags.
PAPER_C = 10.0
RFE_C = 5.0
#: liblinear's own default is 0.1; at scikit-learn's 1e-4 the first rounds take minutes.
RFE_TOL = 0.01
HARD, RFE = "ours, hard budget", "SVM-RFE"
FS_F1, FS_ACCURACY = "FSMulti-F1", "FSMulti-accuracy"
L1, L1_BUNDLE = "l1-SVM (MILES)", "l1-bundle-F1"
METHODS = (FS_F1, FS_ACCURACY, HARD, L1, RFE, L1_BUNDLE)
#: What each method is run for: budgets, numbers of instances, or C.
SETTINGS = {
    FS_F1: [1, 2, 3, 4, 6, 8, 10],
    FS_ACCURACY: [1, 2, 3, 4, 6, 8, 10],
    HARD: [5, 10, 20, 40, 80],
    L1: np.geomspace(0.01, 1.0, 15).round(5).tolist(),
    RFE: [5, 10, 20, 40, 60, 80],
    L1_BUNDLE: [0.3, 0.5, 1.0, 2.0, 4.0, 8.0],
}
#: Features from which on SVM-RFE goes on alone for each number.
RFE_STOP = 128


@dataclass(frozen=True, eq=False)
class Task:
    """One class: embedded bags and their labels."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def row(self, model: Any, columns: Any = slice(None)) -> dict[str, Any]:
        """How a fitted model does, with its own threshold and with one tuned on training scores."""
        f1 = get_measure("f1")
        train = model.decision_function(self.X[:, columns])
        test = model.decision_function(self.X_test[:, columns])
        tuned = best_threshold(self.y, train)
        gap = getattr(model, "gap_", None)
        return {
            "n_instances": int(model.n_features_selected_),
            "train_f1": 100.0 * f1.score(self.y, train),
            "test_f1": 100.0 * f1.score(self.y_test, test),
            "test_f1_tuned": 100.0 * f1.score(self.y_test, test - tuned),
            "gap": None if gap is None else float(gap[0]),
        }


def make_model(method: str, setting: float, y: np.ndarray, intercept: bool, max_time: float) -> Any:
    """An unfitted model of one of the methods; SVM-RFE is made elsewhere."""
    shared = {"fit_intercept": intercept, "max_time": max_time}
    paper = {"C": PAPER_C, "C_scale": "paper", "budget": int(setting)}
    if method == FS_F1:
        return FSMulti("f1", **paper, **shared)
    if method == FS_ACCURACY:
        return FSMulti("accuracy", **paper, **shared)
    if method == HARD:
        C = C_from_paper(PAPER_C, y, "f1")
        return MeasureSVC("f1", n_features_to_select=int(setting), C=C, tol=0.1, **shared)
    if method == L1:
        return L1SVM(C=float(setting), **shared)
    return L1BundleSVM("f1", C=float(setting), **shared)


def fit_one(task: Task, method: str, setting: float, intercept: bool, max_time: float) -> list:
    """One fit."""
    model = make_model(method, setting, task.y, intercept, max_time)
    with quiet_thread():
        seconds, limit = timed(lambda: fit_noting_limit(model, task.X, task.y))
        return [{"setting": setting, "seconds": seconds, "limit": limit, **task.row(model)}]


def fit_rfe(task: Task, intercept: bool) -> list:
    """All numbers of instances; they share the rounds down to 128."""
    rows = []
    settings = {"C": RFE_C, "tol": RFE_TOL, "fit_intercept": intercept}
    with quiet_thread():
        first = SVMRFE(n_features_to_select=RFE_STOP, **settings)
        shared, limit = timed(lambda: fit_noting_limit(first, task.X, task.y))
        columns = first.support_
        for k in SETTINGS[RFE]:
            model, X = SVMRFE(n_features_to_select=k, **settings), task.X[:, columns]
            seconds, own = timed(lambda model=model, X=X: fit_noting_limit(model, X, task.y))
            row = {"setting": k, "seconds": shared + seconds, "limit": limit or own}
            rows.append(row | task.row(model, columns))
    return rows
