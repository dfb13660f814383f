"""Our own models by one table of callables: ``(measure, k) -> estimator``.

A new class enters by one line. ``ScoreSieve`` is listed as soon as the package has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import scoresieve
from scoresieve import BudgetClassifier, MeasureSVC
from studies.common.limits import fit_noting_limit
from studies.paper.selectors import dense_weights
from studies.quality.arena.picks import Pick
from studies.quality.arena.refits import Linear

#: Seconds for a fit; far more than one needs, since others may use the machine, too.
MAX_TIME = 300.0
PAPER_C = 10.0

Maker = Callable[[str, int], Any]

#: Models that choose C, class weights, refit and threshold by themselves, inside ``fit``.
TUNED: dict[str, Maker] = {}
if hasattr(scoresieve, "ScoreSieve"):
    TUNED["ScoreSieve"] = lambda measure, k: scoresieve.ScoreSieve(measure, n_features_to_select=k)


def _budget_classifier(loss: str) -> Maker:
    return lambda measure, k: BudgetClassifier(loss, n_features_to_select=k, max_time=MAX_TIME)


#: Models at their default C (the paper's bound wants more), whose columns get the common refit.
PLAIN: dict[str, Maker] = {
    "MeasureSVC tight": lambda measure, k: MeasureSVC(
        measure, n_features_to_select=k, max_time=MAX_TIME
    ),
    "MeasureSVC paper": lambda measure, k: MeasureSVC(
        measure, bound="paper", C=PAPER_C, n_features_to_select=k, max_time=MAX_TIME
    ),
    **{
        f"BudgetClassifier {loss}": _budget_classifier(loss)
        for loss in ("squared_hinge", "logistic", "huber_hinge", "hinge")
    },
}


def by_model(
    make: Maker, X: Any, y: np.ndarray, ks: Sequence[int], setting: Any, target: str
) -> list[Pick]:
    """The columns and the weights of a model for each k."""
    picks = []
    for k in ks:
        model = make(target, k)
        limit = fit_noting_limit(model, X, y)
        columns = np.asarray(model.support_)
        own = Linear(dense_weights(model)[columns], float(np.ravel(model.intercept_)[0]))
        picks.append(Pick(columns, own, limit))
    return picks


#: Selectors of all of them.
TUNED_SELECTORS = {name: partial(by_model, make) for name, make in TUNED.items()}
PLAIN_SELECTORS = {name: partial(by_model, make) for name, make in PLAIN.items()}
