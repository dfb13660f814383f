"""Small problems with everything that is odd about data, drawn from a source of random numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from scoresieve.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Squared,
    SquaredHinge,
)

#: All measures whose labellings are enumerated, and the losses that are written out.
MEASURES = (
    *("f1", "f1", "f2", "accuracy", "balanced_accuracy", "jaccard", "prec@2", "rec@3", "rec@2p"),
    *("prbep", "precision@recall>=0.6", "recall@precision>=0.6", "mcc", "roc_auc"),
    "average_precision",
)
LOSSES = (
    *(Hinge(), SquaredHinge(), Logistic(), HuberHinge(0.5)),
    *(Squared(), EpsilonInsensitive(0.3), Huber(0.5)),
)
#: Columns of X, of which all but a few are zero, once in so many problems.
WIDE, ONE_IN = 10**7, 200
#: Share of the problems with at least two columns whose columns are in groups.
GROUPED = 0.25


@dataclass(frozen=True)
class Small:
    """A problem: X with few rows and columns, how it is handed over, and the arguments."""

    X: np.ndarray
    y: np.ndarray
    arguments: dict[str, Any]
    form: str = "dense"
    n_selected: int | None = None
    traits: list[str] = field(default_factory=list)

    def as_given(self) -> Any:
        """X in its form; the wide one has its few columns far apart."""
        if self.form == "dense":
            return self.X
        if self.form == "wide":
            found = sp.coo_array(self.X)
            step = WIDE // self.X.shape[1]
            places = (found.coords[0], found.coords[1] * step)
            return sp.csr_array((found.data, places), shape=(self.X.shape[0], WIDE))
        return sp.csr_array(self.X) if self.form == "csr" else sp.csc_array(self.X)

    def narrow(self, w: np.ndarray) -> np.ndarray:
        """The weights of the few columns."""
        return w[:: WIDE // self.X.shape[1]][: self.X.shape[1]] if self.form == "wide" else w

    def scaled(self, exponent: int) -> Small:
        """X times a power of two, and C and the constant column accordingly: the same scores."""
        factor = 2.0**exponent
        changed = {"C": self.arguments["C"] / factor**2}
        changed["intercept_scaling"] = self.arguments["intercept_scaling"] * factor
        return replace(self, X=self.X * factor, arguments=self.arguments | changed)


def draw(source: random.Random) -> Small:
    """One problem."""
    rng = np.random.default_rng(source.getrandbits(64))
    measure = source.choice(MEASURES)
    of_loss = source.random() < 0.3
    is_ranking = measure in ("roc_auc", "average_precision") and not of_loss
    n = source.randint(2, 5 if is_ranking else 8)
    m = source.choice((1, 1, 2, 3, 5, 8))
    X, traits = _matrix(source, rng, n, m)
    y = _labels(source, rng, X, traits)
    arguments: dict[str, Any] = {
        "budget": min(m, source.choice((1, 2, 4, m))),
        "C": 10.0 ** source.uniform(-3, 3) if source.random() < 0.8 else _extreme(source, 90),
        "intercept_scaling": source.choice((0.0, 0.0, 1.0, 1.0, 0.3, 1e3)),
    }
    if of_loss:
        loss = source.choice(LOSSES)
        arguments["loss"] = loss
        if loss.task == "regression":
            y = source.choice((1.0, 1e-9, 1e9)) * rng.normal(size=n).round(1)
    else:
        arguments |= {"measure": measure, "bound": source.choice(("tight", "tight", "paper"))}
    form = source.choice(("dense", "csr", "csc"))
    if source.randrange(ONE_IN) == 0:
        form = "wide"
    hard = source.randint(1, m) if source.random() < 0.3 and form != "wide" else None
    if m > 1 and form != "wide" and rng.random() < GROUPED:
        arguments["feature_groups"] = groups = rng.integers(0, rng.integers(1, m + 1), size=m)
        n_groups = np.unique(groups).size
        traits.append(f"{n_groups} groups")
        arguments["budget"] = min(arguments["budget"], n_groups)
        hard = None if hard is None else min(hard, n_groups)
    if hard is not None:
        arguments["budget"] = hard
    return Small(X, y, arguments, form, hard, traits)


def _extreme(source: random.Random, exponent: int) -> float:
    return 10.0 ** source.uniform(-exponent, exponent)


def _matrix(
    source: random.Random, rng: np.random.Generator, n: int, m: int
) -> tuple[np.ndarray, list[str]]:
    """Columns of many kinds, rows that are empty or there twice, and a scale for all of it."""
    kind = source.choice(("normal", "ties", "sparse"))
    X = rng.normal(size=(n, m))
    if kind == "ties":
        X = rng.integers(-1, 2, size=(n, m)).astype(float)
    elif kind == "sparse":
        X = np.where(rng.random((n, m)) < 0.4, X, 0.0)
    traits = [kind]
    for j in range(m):
        trait = source.choice(
            ("plain",) * 6 + ("duplicate", "constant", "zero", "huge", "tiny", "denormal", "odd")
        )
        if trait == "duplicate":
            X[:, j] = X[:, source.randrange(m)] * source.choice((1.0, 1.0, -1.0, 1 + 1e-12))
        elif trait == "constant":
            X[:, j] = source.choice((1.0, -3.0, 1e-8))
        elif trait == "zero":
            X[:, j] = 0.0
        elif trait in ("huge", "tiny"):
            X[:, j] *= 10.0 ** (source.uniform(3, 70) * (1 if trait == "huge" else -1))
        elif trait == "denormal":
            X[:, j] = 5e-324 * rng.integers(-3, 4, size=n)
        elif trait == "odd":
            X[source.randrange(n), j] *= 1e12
        traits.append(trait)
    if source.random() < 0.3:
        X[source.randrange(n)] = 0.0
    if source.random() < 0.3:
        X[source.randrange(n)] = X[source.randrange(n)]
    if source.random() < 0.3:
        traits.append("scaled")
        with np.errstate(all="ignore"):
            X = X * _extreme(source, 150)
        X[~np.isfinite(X)] = 1.0
    return X, traits


def _labels(
    source: random.Random, rng: np.random.Generator, X: np.ndarray, traits: list[str]
) -> np.ndarray:
    """Both classes, often with one row only; by the columns, against them, or at random."""
    n = X.shape[0]
    kind = source.choice(("random", "separable", "one positive", "one negative", "contradictory"))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if kind == "separable":
        y = np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    elif kind in ("one positive", "one negative"):
        y = np.full(n, -1.0 if kind == "one positive" else 1.0)
        y[source.randrange(n)] *= -1.0
    elif kind == "contradictory":
        X[n // 2 : 2 * (n // 2)] = X[: n // 2]
        y[n // 2 : 2 * (n // 2)] = -y[: n // 2]
    if np.all(y == y[0]):
        y[0] = -y[0]
    traits.append(kind)
    return y
