"""The threshold that is best for F1."""

from __future__ import annotations

import numpy as np


def best_threshold(y: np.ndarray, scores: np.ndarray) -> float:
    """``argmax_t F1(y, scores > t)``, in the middle between two scores; of equal ones the highest.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        In {-1, +1}.
    scores : ndarray of shape (n_samples,)
    """
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(y[order] > 0)
    f1 = 2.0 * hits / (np.arange(1, y.size + 1) + hits[-1])
    # A threshold cannot part equal scores.
    possible = np.append(ranked[:-1] > ranked[1:], True)
    best = int(np.argmax(np.where(possible, f1, -1.0)))
    below = ranked[best + 1] if best + 1 < y.size else ranked[best] - 1.0
    return float(0.5 * (ranked[best] + below))
