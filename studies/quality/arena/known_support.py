"""Generated data whose true columns are known: 20 of 20,000, with 5 % positives.

``s = X w / std(X w) + noise * N(0, 1)``; the 5 % of the rows with the largest s are positive. All
classes have the same 4,000 rows of normal columns, half of them for training, and true columns of
their own; class c has the noise c mod 3, so that each level is drawn three times.
"""

from __future__ import annotations

import numpy as np

from studies.common.data import Split

N_SAMPLES, N_FEATURES, N_TRUE = 2_000, 20_000, 20
SHARE = 0.05
#: Standard deviations of the noise by that of the signal, and how often each is drawn.
NOISES, N_DRAWS = (0.1, 0.5, 1.0), 3


def true_columns(number: int) -> np.ndarray:
    """The columns that make the labels of a class, sorted."""
    drawn = np.random.default_rng(21).permutation(N_FEATURES)
    return np.sort(drawn[number * N_TRUE : (number + 1) * N_TRUE])


def make_split() -> Split:
    """Rows, and labels in {-1, +1} with one column for each class."""
    rng = np.random.default_rng(22)
    X = rng.normal(size=(2 * N_SAMPLES, N_FEATURES))
    Y = np.full((2 * N_SAMPLES, N_DRAWS * len(NOISES)), -1)
    for number, noise in enumerate(N_DRAWS * NOISES):
        weights = rng.choice([-1.0, 1.0], N_TRUE) * rng.uniform(0.5, 1.5, N_TRUE)
        signal = X[:, true_columns(number)] @ weights
        signal = signal / signal.std() + noise * rng.normal(size=signal.size)
        Y[signal > np.quantile(signal, 1.0 - SHARE), number] = 1
    return Split(X[:N_SAMPLES], Y[:N_SAMPLES], X[N_SAMPLES:], Y[N_SAMPLES:])
