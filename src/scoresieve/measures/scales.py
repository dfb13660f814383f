"""C in the scales of published programs, converted to ours.

The paper's problem, with percent losses and differences (y - y') in {0, +-2}, is

    1/2 ||w||_B^2 + c max_{y'} [ 100 Delta(y, y') - 2 sum_{i: y'_i != y_i} y_i <w, x_i> ] ,

where ``C_paper = c n``. With ``w = (50 / P) w'`` it is ours in w' with ``C = c P / 25``. Its loss
for accuracy is the number of errors, no percentage; then ``w = w' / 2`` and ``C = 4 c``.
"""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike

from scoresieve.measures.decomposable import Accuracy
from scoresieve.measures.measure import Measure, get_measure


def C_from_paper(c: float, y: ArrayLike, measure: str | Measure) -> float:
    """``C = c P / 25``, or ``C = 4 c`` for accuracy, where the paper writes ``C = c n``.

    Parameters
    ----------
    c : float
        The paper's C divided by the number of examples: 0.1 for its News20 experiments.
    y : array-like of shape (n_samples,)
        Labels; positive numbers are the positive class.

    Examples
    --------
    >>> C_from_paper(0.1, [1, 1, 1, 1, 1, -1, -1], "f1")
    0.02
    >>> C_from_paper(0.1, [1, -1], "accuracy")
    0.4
    """
    _check_scale("c", c)
    if isinstance(get_measure(measure), Accuracy):
        return 4.0 * c
    return c * _n_positives(y) / 25.0


def C_from_svmperf(c_perf: float, y: ArrayLike, measure: str | Measure) -> float:
    """``C = 100 P c_perf / n^2``: the C that matches SVM^perf's ``-c`` (with ``--b 0``).

    Parameters
    ----------
    c_perf : float
        The argument of ``-c``.
    y : array-like of shape (n_samples,)
        Labels; positive numbers are the positive class.
    measure : str or Measure
        Any measure with a percent loss; accuracy has another scale there and is refused.

    Examples
    --------
    >>> round(C_from_svmperf(10.0, [1] * 20 + [-1] * 80, "f1"), 6)
    2.0
    """
    _check_scale("c_perf", c_perf)
    if isinstance(get_measure(measure), Accuracy):
        raise ValueError(
            "measure='accuracy' has no percent loss in SVM^perf; pass the C of LinearSVC as it is."
        )
    return 100.0 * _n_positives(y) * c_perf / np.size(y) ** 2


def _check_scale(name: str, value: float) -> None:
    if not isinstance(value, numbers.Real) or not value > 0:
        raise ValueError(f"{name} must be a positive number; got {value!r}.")


def _n_positives(y: ArrayLike) -> int:
    n_positives = int(np.count_nonzero(np.asarray(y) > 0))
    if n_positives == 0:
        raise ValueError("y holds no positive label; label the positives with 1.")
    return n_positives
