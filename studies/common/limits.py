"""How fits ended: as they should, or at a limit of rounds, groups or seconds.

Conventions
-----------
The limit of a fit is None, or one of a few words for the reader: "rounds", "groups", "seconds",
"precision" if no smaller gap can be had in double precision. Every table, figure and note of the
studies takes it from here, for every method.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

#: Behind a number that stands for several fits, of which some ended at a limit.
MARK = "†"
MARK_MEANS = f"{MARK} some of the fits behind the number ended at a limit"
#: The ends of FGM that were asked for; its others name the parameter.
REGULAR_ENDS = ("change", "gap")
WORDS = {"max_iter": "rounds", "max_time": "seconds", "stalled": "precision"}


def fit_noting_limit(model: Any, X: Any, y: Any) -> str | None:
    """Fit a model, and return the limit that ended the fit.

    liblinear's methods tell of a limit by a warning only. It is passed on.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    for warning in caught:
        warnings.warn(warning.message, warning.category, stacklevel=2)
    told = [str(each.message) for each in caught if issubclass(each.category, ConvergenceWarning)]
    if hasattr(model, "status_") or hasattr(model, "stopped_by_"):
        return limit_of(model)
    if not told:
        return None
    return WORDS["max_time" if any("max_time=" in text for text in told) else "max_iter"]


def limit_of(fitted: Any) -> str | None:
    """The limit of a solver's result, or of a fitted model of one problem that says how it ended.

    Parameters
    ----------
    fitted : object
        With ``status``, ``status_`` or FGM's ``stopped_by_``.
    """
    if hasattr(fitted, "stopped_by_"):
        (end,) = fitted.stopped_by_
        return None if end in REGULAR_ENDS else word_for(end)
    status = fitted.status_[0] if hasattr(fitted, "status_") else fitted.status
    if status.reached_tolerance:
        return None
    word = word_for(status.name)
    if word == "rounds" and hasattr(fitted, "max_groups") and fitted.n_iter_[0] < fitted.max_iter:
        return "groups"  # the status of the two-layer algorithm has one name for both
    return word


def word_for(end: str) -> str:
    """``MAX_TIME`` or ``max_time`` as "seconds"."""
    name = str(end).lower()
    return WORDS.get(name, name.removeprefix("max_"))


def tally(limits: Iterable[str | None]) -> str:
    """How many fits ended at a limit, such as "3 of 20 (rounds 2, seconds 1)"."""
    limits = list(limits)
    counts = Counter(limit for limit in limits if limit is not None)
    kinds = ", ".join(f"{word} {number}" for word, number in sorted(counts.items()))
    return f"{counts.total()} of {len(limits)}" + (f" ({kinds})" if kinds else "")


def limit_note(fits: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A sentence about all fits of an experiment: how many ended at a limit, and the largest gaps.

    Parameters
    ----------
    fits : mapping of str to rows
        By method. A row has ``limit``, and ``gap`` where the method certifies one.
    """
    texts = []
    for method, rows in fits.items():
        gaps = [row["gap"] for row in rows if row.get("gap") is not None]
        largest = f", largest certified gap {max(gaps):.2f}" if gaps else ""
        texts.append(f"{method} {tally(row['limit'] for row in rows)}{largest}")
    return f"Fits that ended at a limit: {'; '.join(texts)}."


def marked(text: str, limits: Iterable[str | None]) -> str:
    """A number with the mark behind it if one of its fits ended at a limit."""
    return text + MARK if any(limit is not None for limit in limits) else text
