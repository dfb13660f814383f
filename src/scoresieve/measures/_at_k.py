"""The number k of Prec@k and Rec@k, and what the k highest scores hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from scoresieve._arrays import FloatArray
from scoresieve.measures.contingency import class_sizes

#: k inside a name.
K_PATTERN = r"([\d.]+|[\d.]*p(?:/\d+)?)"
_MULTIPLE = re.compile(r"(?P<factor>\d+(?:\.\d+)?)?p(?:/(?P<divisor>\d+))?")


def read_k(text: str) -> int | str:
    """K as it stands in a name: a number, or a multiple of P."""
    return int(text) if text.isdecimal() else text


def parse_k(k: int | str) -> int | Fraction:
    """``k`` itself, or the multiple of P that "2p", "p/2" or "0.5p" stands for, as a fraction."""
    if isinstance(k, Integral) and not isinstance(k, bool) and k >= 1:
        return int(k)
    match = _MULTIPLE.fullmatch(k.replace(" ", "").lower()) if isinstance(k, str) else None
    if match and int(match["divisor"] or 1) > 0:
        multiple = Fraction(match["factor"] or 1) / int(match["divisor"] or 1)
        if multiple > 0:
            return multiple
    raise ValueError(
        f"k must be a positive integer, or a multiple of the number of positives such as '2p', "
        f"'p/2' or '0.5p'; got {k!r}."
    )


def expected_true_positives(y: FloatArray, scores: FloatArray, k: int) -> float:
    """Mean number of positives among the k highest scores, over all orders of the tied scores."""
    positive, scores = np.asarray(y) > 0, np.asarray(scores)
    threshold = np.partition(scores, scores.size - k)[scores.size - k]
    above, tied = scores > threshold, scores == threshold
    share = (k - np.count_nonzero(above)) / np.count_nonzero(tied)
    return float(np.count_nonzero(positive & above) + share * np.count_nonzero(positive & tied))


@dataclass(frozen=True)
class AtK:
    """Holds k, in its shortest spelling, and turns it into a number of examples."""

    k: int | str

    def __post_init__(self) -> None:
        k = parse_k(self.k)
        shortest: int | Fraction | str = k
        if isinstance(k, Fraction):
            factor = "" if k.numerator == 1 else k.numerator
            shortest = f"{factor}p" if k.denominator == 1 else f"{factor}p/{k.denominator}"
        object.__setattr__(self, "k", shortest)

    def n_selected(self, y: FloatArray) -> int:
        """``k`` as a number of examples: ``floor(multiple * P)``, at least 1, at most n_samples.

        ValueError if there are fewer than k examples.
        """
        n_positive, n_negative = class_sizes(y)
        k = parse_k(self.k)
        if isinstance(k, Fraction):
            k = max(1, k.numerator * n_positive // k.denominator)
        if k > n_positive + n_negative:
            raise ValueError(
                f"k={self.k!r} asks for the {k} highest scores, but there are only "
                f"{n_positive + n_negative} examples ({n_positive} positives); choose a smaller k."
            )
        return k

    def of_share(self, share: float) -> Any:
        """A number k of examples times the share, at least 1; a multiple of P as it is."""
        if not isinstance(self.k, int):
            return self
        return replace(self, k=max(1, round(share * self.k)))

    def n_alarms(self, y: FloatArray) -> int:
        """``k`` examples."""
        return self.n_selected(y)

    def check(self, y: FloatArray) -> None:
        """Raise ValueError if k exceeds the number of examples."""
        self.n_selected(y)
