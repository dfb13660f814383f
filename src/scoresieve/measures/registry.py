"""Measures by name."""

from __future__ import annotations

import re
from collections.abc import Callable

from scoresieve.measures._base import Measure
from scoresieve.measures.average_precision import AveragePrecision
from scoresieve.measures.decomposable import Accuracy, BalancedAccuracy
from scoresieve.measures.fractional import FBeta, Jaccard, PrecisionUnderRecallFloor
from scoresieve.measures.ranking import ROCAUC
from scoresieve.measures.top_k import PRBEP, PrecisionAtK, RecallAtK

_PLAIN: dict[str, Callable[[], Measure]] = {
    "accuracy": Accuracy,
    "hamming": Accuracy,
    "balanced_accuracy": BalancedAccuracy,
    "jaccard": Jaccard,
    "prbep": PRBEP,
    "roc_auc": ROCAUC,
    "average_precision": AveragePrecision,
}

_NUMBER = r"\d+(?:\.\d*)?(?:e[+-]?\d+)?"


def _as_k(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


_PATTERNS: list[tuple[str, re.Pattern[str], Callable[[str], Measure]]] = [
    ("f<beta>", re.compile(rf"f({_NUMBER})"), lambda text: FBeta(float(text))),
    ("prec@<k>", re.compile(r"prec@([\d.]+|[\d.]*p(?:/\d+)?)"), lambda t: PrecisionAtK(_as_k(t))),
    ("rec@<k>", re.compile(r"rec@([\d.]+|[\d.]*p(?:/\d+)?)"), lambda t: RecallAtK(_as_k(t))),
    (
        "precision@recall>=<floor>",
        re.compile(rf"precision@recall>=({_NUMBER})"),
        lambda text: PrecisionUnderRecallFloor(float(text)),
    ),
]


def known_names() -> list[str]:
    """Names that :func:`get_measure` knows, with ``<...>`` where a number goes."""
    return [*_PLAIN, *(form for form, _, _ in _PATTERNS)]


def get_measure(name_or_measure: str | Measure) -> Measure:
    """``get_measure(measure.name) == measure``: the measure of a name, or the measure itself.

    Conventions
    -----------
    ========================== ======================================================
    name                       measure
    ========================== ======================================================
    accuracy, hamming          :class:`Accuracy`
    balanced_accuracy          :class:`BalancedAccuracy`
    f1, f2, f0.5, ...          :class:`FBeta`, the number is beta
    jaccard                    :class:`Jaccard`
    prec@100, prec@p/2         :class:`PrecisionAtK`; p is the number of positives
    rec@100, rec@2p            :class:`RecallAtK`
    prbep                      :class:`PRBEP`
    precision@recall>=0.8      :class:`PrecisionUnderRecallFloor`
    roc_auc                    :class:`ROCAUC`
    average_precision          :class:`AveragePrecision`
    ========================== ======================================================

    Parameters
    ----------
    name_or_measure : str or Measure
        A name from the table (upper case and spaces do not matter), or a measure.

    Returns
    -------
    measure : Measure

    Examples
    --------
    >>> get_measure("f1")
    FBeta(beta=1.0)
    >>> get_measure("prec@0.5p").name
    'prec@p/2'
    """
    if isinstance(name_or_measure, Measure):
        return name_or_measure
    if not isinstance(name_or_measure, str):
        raise TypeError(
            f"measure must be a name or a Measure, got {type(name_or_measure).__name__}."
        )
    name = "".join(name_or_measure.split()).lower()
    if name in _PLAIN:
        return _PLAIN[name]()
    for _, pattern, make in _PATTERNS:
        match = pattern.fullmatch(name)
        if match:
            return make(match[1])
    raise ValueError(
        f"unknown measure {name_or_measure!r}; known are {', '.join(known_names())}, such as "
        "'f1', 'prec@100', 'rec@2p' or 'precision@recall>=0.8'. For a function of the table use "
        "Contingency."
    )
