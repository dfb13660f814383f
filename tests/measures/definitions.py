"""Measures written down once more, from their definitions, and every labelling of a few rows.

Losses are functions of arrays of true and false positives ``tp``, ``fp`` and of the sizes of the
classes ``P``, ``N``. A new measure of the package is a line in ``MEASURES``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import assume, settings
from hypothesis import strategies as st

DETERMINISTIC = settings(derandomize=True, deadline=None, database=None, max_examples=25)
MORE = settings(DETERMINISTIC, max_examples=40)
#: Least and largest whole numbers, and their unit: ties, all scores positive, classes far apart.
RANGES = ((-3, 3, 0.5), (0, 4, 0.25), (1, 5, 1.0), (-9, 9, 0.1), (-40, 40, 0.5))


def anything(tp, fp, P, N):
    return np.full(np.shape(tp), True)


@dataclass(frozen=True)
class Definition:
    """The loss in [0, 1], which labellings compete, and U."""

    loss: Callable
    admissible: Callable = anything
    loss_scale: Callable = lambda P, N: P


def precision(tp, fp):
    return np.where(tp + fp > 0, tp / np.maximum(tp + fp, 1), 0.0)


def one_minus_precision(tp, fp, P, N):
    return 1 - precision(tp, fp)


def one_minus_recall(tp, fp, P, N):
    return 1 - tp / P


def f_beta(beta):
    # By precision and recall, not by the formula of the library.
    def loss(tp, fp, P, N):
        p, r = precision(tp, fp), tp / P
        score = (1 + beta**2) * p * r / np.maximum(beta**2 * p + r, 1e-9)
        return 1 - np.where(tp > 0, score, 0)

    return Definition(loss)


def under_floor(floor):
    return Definition(lambda tp, fp, P, N: 1 - np.where(tp / P >= floor, precision(tp, fp), 0.0))


def above_floor(floor):
    return Definition(lambda tp, fp, P, N: 1 - np.where(precision(tp, fp) >= floor, tp / P, 0.0))


def one_minus_correlation(tp, fp, P, N):
    # By the four cells of the table, halved to lie in [0, 1].
    fn, tn = P - tp, N - fp
    bottom = (tp + fp) * P * (tn + fn) * N
    return (1 - (tp * tn - fp * fn) / np.sqrt(np.maximum(bottom, 1)) * (bottom > 0)) / 2


def g_mean(tp, fp, fn, tn):
    """Of the four cells, as a user would write it; no structure for the search to lean on."""
    return np.sqrt((tp / (tp + fn)) * (tn / (tn + fp)))


def of_cells(function):
    """A loss of the table from a function of its four cells."""
    return Definition(lambda tp, fp, P, N: function(tp, fp, P - tp, N - fp))


def at_k(loss, relation, k):
    """Only labellings whose number of positives is in this relation to k(P, N), at least 1."""

    def admissible(tp, fp, P, N):
        return relation(tp + fp, max(1, int(np.floor(k(P, N)))))

    return Definition(loss, admissible)


def prec_at(k):
    return at_k(one_minus_precision, np.greater_equal, k)


def rec_at(k):
    return at_k(one_minus_recall, np.less_equal, k)


def hits_at(k):
    """What the k highest scores miss at most, less what every k labels miss; U is 1."""
    return Definition(
        lambda tp, fp, P, N: np.maximum(k - tp, fp) - max(k - P, 0), loss_scale=lambda P, N: 1
    )


MEASURES = {
    "accuracy": Definition(
        lambda tp, fp, P, N: (P - tp + fp) / (P + N), loss_scale=lambda P, N: P + N
    ),
    "balanced_accuracy": Definition(lambda tp, fp, P, N: 1 - (tp / P + (N - fp) / N) / 2),
    "f1": f_beta(1.0),
    "f2": f_beta(2.0),
    "f0.5": f_beta(0.5),
    "f0.1": f_beta(0.1),
    "jaccard": Definition(lambda tp, fp, P, N: 1 - tp / (P + fp)),
    "mcc": Definition(one_minus_correlation),
    "gmean": of_cells(lambda *cells: 1 - g_mean(*cells)),
    "prbep": at_k(one_minus_recall, np.equal, lambda P, N: P),
}
for _floor in ("0.001", "0.5", "0.6", "0.7", "1"):
    MEASURES[f"precision@recall>={_floor}"] = under_floor(float(_floor))
    MEASURES[f"recall@precision>={_floor}"] = above_floor(float(_floor))
for _name, _k in {
    "1": lambda P, N: 1,
    "2": lambda P, N: 2,
    "p": lambda P, N: P,
    "p/2": lambda P, N: P / 2,
    "2p": lambda P, N: 2 * P,
    "3p/2": lambda P, N: 3 * P / 2,
    "10%": lambda P, N: (P + N) / 10,
    "37.5%": lambda P, N: 3 * (P + N) / 8,
    "100%": lambda P, N: P + N,
}.items():
    MEASURES[f"prec@{_name}"], MEASURES[f"rec@{_name}"] = prec_at(_k), rec_at(_k)


@st.composite
def labels_and_scores(draw, max_samples=10, ranges=RANGES, shifts=(0.0,)):
    """Labels of both classes, and scores with many ties, some moved towards their labels."""
    size = draw(st.just(max_samples) | st.integers(2, max_samples))
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=size, max_size=size)))
    assume(np.ptp(y) > 0)
    low, high, scale = draw(st.sampled_from(ranges))
    scores = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
    return y, scale * np.array(scores, dtype=float) + draw(st.sampled_from(shifts)) * y


@functools.cache
def every_flip(n_samples):
    """Ones where a labelling differs from y; a row for each of the 2^n labellings."""
    bits = np.arange(2**n_samples)[:, None] >> np.arange(n_samples)
    return (bits & 1).astype(float)


def values_of_labellings(y, scores, definition, *, price=1.0, least_loss=1e-12):
    """``U Delta - sum of c_i y_i s_i over the flipped`` of every labelling that competes.

    A positive counts as 1 and a negative as the price; most measures ask for a loss above 0.
    """
    P, N = int(np.sum(y > 0)), int(np.sum(y < 0))
    flips = every_flip(y.size)
    tp, fp = P - flips @ (y > 0), flips @ (y < 0)
    losses = definition.loss_scale(P, N) * definition.loss(tp, fp, P, N)
    competes = definition.admissible(tp, fp, P, N) & (losses > least_loss)
    return (losses - flips @ (np.where(y > 0, 1.0, price) * y * scores))[competes]


def values_of_tables(y, scores, scaled_loss):
    """The same for each table, with its best examples; ``scaled_loss(tp, fp)`` is of arrays."""
    missed = np.append(0.0, np.cumsum(np.sort(scores[y > 0])))
    alarms = np.append(0.0, np.cumsum(np.sort(scores[y < 0])[::-1]))
    misses, b = np.meshgrid(np.arange(missed.size), np.arange(alarms.size), indexing="ij")
    losses = scaled_loss(missed.size - 1 - misses, b)
    return np.where(losses > 1e-9, losses - missed[misses] + alarms[b], -np.inf)
