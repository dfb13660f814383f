"""Methods at equal numbers of features, and whether a difference is more than chance."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import ttest_rel

from studies.common.figures import Line


def points_ahead(ours: Sequence[Sequence[float]], rival: Sequence[Sequence[float]]) -> np.ndarray:
    """Our score less the rival's, at our numbers of features within the rival's range.

    Parameters
    ----------
    ours, rival : (n_features, scores)
        The rival's scores are interpolated over the logarithm of the number of features.
    """
    order = np.argsort(rival[0])
    x, y = np.asarray(rival[0], dtype=float)[order], np.asarray(rival[1], dtype=float)[order]
    x, y = x[x > 0], y[x > 0]
    at = np.asarray(ours[0], dtype=float)
    inside = (at >= x.min()) & (at <= x.max()) if x.size else np.zeros(at.size, dtype=bool)
    return np.asarray(ours[1])[inside] - np.interp(np.log(at[inside]), np.log(x), y)


def ahead(lines: Mapping[str, Line], ours: str, rival: str, most: float = np.inf) -> np.ndarray:
    """Points by which one method is ahead of another, at its own numbers of features below some.

    Parameters
    ----------
    lines : mapping of str to Line
        Scores over numbers of features.
    ours, rival : str
        Keys of ``lines``.
    most : float
        Larger numbers of features do not count.
    """
    kept = [(x, y) for x, y, _ in lines[ours].points() if x < most]
    if not kept or not lines[rival].x:
        return np.zeros(0)
    return points_ahead(list(zip(*kept, strict=True)), (lines[rival].x, lines[rival].y))


def p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Of the paired t-test; 1 if there is nothing to test.

    Parameters
    ----------
    first, second : ndarray of shape (n_classes,)
    """
    if first.size < 2 or np.ptp(first - second) == 0.0:
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # differences that are nearly equal
        return float(ttest_rel(first, second).pvalue)
