"""The methods of the arena: who selects, with which settings to choose from, where it can run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

from scipy import sparse

from studies.paper.selectors import C_FGM
from studies.quality.arena.filters import FILTERS
from studies.quality.arena.ours import PLAIN_SELECTORS, TUNED_SELECTORS
from studies.quality.arena.outsiders import (
    ALL_SETTINGS,
    by_abess,
    by_fgm,
    by_forest,
    by_fs_multi,
    by_l1,
    by_nothing,
    by_rfe,
    l1_logistic,
    l1_svm,
)
from studies.quality.arena.picks import Selector

#: The numbers of features; the first two are played first, and are those of most claims.
MAIN_KS = (10, 50)
KS = (*MAIN_KS, 5, 20, 100)
#: What models are made for; on the sets and numbers of the claims all of them, else F1 alone.
TARGETS = ("f1", "prbep", "rec@2p", "average_precision")
TARGET_SETS = ("reuters120", "news20")
ALL_FEATURES = "all features"


@dataclass(frozen=True)
class Method:
    """A way to select, and what the arena must know of it.

    Attributes
    ----------
    select : Selector
    settings : tuple
        Of which cross-validation chooses one; the first is used where nothing is chosen.
    is_ours : bool
        The others are outsiders.
    one_run : bool
        One run gives all k.
    targets : tuple of str
        The measures it can be trained for; empty if it takes none, and serves all.
    tunes_itself : bool
        ``fit`` chooses everything, the threshold too, so that there is nothing left to do.
    main_ks_only : bool
        Too slow for every k.
    has_refit : bool
        Whether the common refit is tried on its columns.
    can_run : callable
        Whether it can on this X.
    seconds : float
        A selection on a News20 class at its settings, roughly.
    """

    select: Selector
    settings: tuple[Any, ...] = (None,)
    is_ours: bool = False
    one_run: bool = False
    targets: tuple[str, ...] = ()
    tunes_itself: bool = False
    main_ks_only: bool = False
    has_refit: bool = True
    can_run: Callable[[Any], bool] = lambda X: True
    seconds: float = 1.0


def _is_dense(X: Any) -> bool:
    return not sparse.issparse(X)


def _outsiders() -> dict[str, Method]:
    found = {name: Method(select, one_run=True, seconds=0.1) for name, select in FILTERS.items()}
    for words, weight, Cs in (("", None, (1.0, 10.0)), (" balanced", "balanced", (0.1, 1.0))):
        for name, make in (("l1-SVM", l1_svm), ("l1 logistic", l1_logistic)):
            found[name + words] = Method(partial(by_l1, make, weight), one_run=True, seconds=2.0)
        found["SVM-RFE" + words] = Method(partial(by_rfe, weight), Cs, one_run=True, seconds=2.0)
    # At a larger C it takes minutes for a class of News20.
    found["FGM"] = Method(by_fgm, (C_FGM,), seconds=3.0)
    found["FSMulti"] = Method(
        by_fs_multi, (10.0, 100.0), one_run=True, targets=TARGETS[:3], seconds=10.0
    )
    if find_spec("abess") is not None:
        found["abess"] = Method(by_abess, seconds=2.0)
    found["random forest"] = Method(
        by_forest, (None, "balanced"), one_run=True, can_run=_is_dense, seconds=10.0
    )
    return found


def _ours() -> dict[str, Method]:
    tuned = {
        name: Method(select, is_ours=True, targets=TARGETS, tunes_itself=True, seconds=5.0)
        for name, select in TUNED_SELECTORS.items()
    }
    plain = {
        name: Method(
            select,
            is_ours=True,
            targets=TARGETS[:2] if name == "MeasureSVC tight" else TARGETS[:1],
            main_ks_only=True,
            seconds=2.0,
        )
        for name, select in PLAIN_SELECTORS.items()
    }
    return tuned | plain


#: All methods by name, ours first. abess is here where it is installed.
METHODS: dict[str, Method] = {
    **_ours(),
    **_outsiders(),
    ALL_FEATURES: Method(by_nothing, ALL_SETTINGS, one_run=True, has_refit=False, seconds=6.0),
}
