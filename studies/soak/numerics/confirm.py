"""Primal and dual again, by formulas written out here and by all labellings.

    dual <= min J <= primal

holds for every w and every feasible dual point, so that two numbers that are confirmed here prove
how far a model is from the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.common.brute_force import (
    RANKINGS,
    dual_norm_squared,
    every_cut,
    norm_squared,
    optimum,
)
from studies.soak.numerics.problems import Small

#: How far two computations of one number may be apart, as a share of the largest of their terms.
ROUNDING = 1e-8
#: Of a sum of few numbers, as a share of the sum of their sizes.
EPSILON = 1e-14
#: The accuracy of the conic solver on problems whose numbers are of one size.
CONIC = 1e-5
#: Ratios of numbers up to which the conic solver is asked.
ONE_SIZE = 1e4


class Unconfirmed(AssertionError):
    """A number of the library is not what the formulas say."""


def loss_value(loss: Any, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """``l(y_i, s_i)``."""
    short, far = np.maximum(0.0, 1.0 - y * s), np.abs(y - s)
    match loss.name:
        case "hinge":
            return short
        case "squared_hinge":
            return short**2
        case "logistic":
            return np.logaddexp(0.0, -y * s)
        case "huber_hinge":
            return np.where(
                y * s > 1 - loss.delta, short**2, 2 * loss.delta * short - loss.delta**2
            )
        case "squared":
            return 0.5 * far**2
        case "epsilon_insensitive":
            return np.maximum(0.0, far - loss.epsilon)
        case "huber":
            e = loss.epsilon
            return np.where(far <= e, 0.5 * far**2, e * far - 0.5 * e**2)
    raise ValueError(loss.name)


def conjugate(loss: Any, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """``l*(y_i, u_i) = max_s u_i s - l(y_i, s)``; infinite where u is no slope."""
    p, slack = -y * u, 1e-9
    if loss.task == "classification":
        most = {"hinge": 1.0, "logistic": 1.0, "huber_hinge": 2.0 * getattr(loss, "delta", 1.0)}
        bad = (p < -slack) | (p > most.get(loss.name, np.inf) + slack)
        p = np.clip(p, 0.0, most.get(loss.name, np.inf))
        if loss.name == "logistic":
            # Of tiny p, 1 - p is 1 and its logarithm 0, but -p counts beside p log(p).
            rest = np.where(p < 1.0, p, 0.0)
            value = _times_log(p) + (1.0 - p) * np.log1p(-rest)
        else:
            value = -p + (0.0 if loss.name == "hinge" else p**2 / 4)
    elif loss.name == "epsilon_insensitive":
        value, bad = loss.epsilon * np.abs(u) + u * y, np.abs(u) > 1.0 + slack
    else:
        most_slope = np.inf if loss.name == "squared" else loss.epsilon
        value, bad = 0.5 * u**2 + u * y, np.abs(u) > most_slope * (1 + slack)
    return np.where(bad, np.inf, value)


def _times_log(p: np.ndarray) -> np.ndarray:
    return np.where(p > 0.0, p * np.log(np.where(p > 0.0, p, 1.0)), 0.0)


def confirm(small: Small, result: Any) -> None:
    """Compare a result's two bounds with those of the formulas."""
    settings, w = small.arguments, small.narrow(result.w)
    scale, C, budget = settings["intercept_scaling"], settings["C"], settings["budget"]
    X, groups = small.X, settings.get("feature_groups", np.arange(small.X.shape[1]))
    sets: dict[str, Any] = {"always_features": [], "feature_groups": groups}
    n_used = np.unique(groups[w != 0.0]).size
    if scale:
        X = np.column_stack([X, np.full(len(X), scale)])
        w = np.append(w, result.intercept / scale)
        sets = {
            "always_features": [X.shape[1] - 1],
            "feature_groups": np.append(groups, -1),
        }
    if small.n_selected is not None and n_used > budget:
        raise Unconfirmed("more features than were asked for")
    s = X @ w
    # Scores are known but for the rounding of their terms, and what that does to the losses.
    off = EPSILON * np.abs(X) @ np.abs(w)
    if "loss" in settings:
        losses, u = loss_value(settings["loss"], small.y, s), result.dual_point.slopes
        risk, gain, v = losses.sum(), -C * conjugate(settings["loss"], small.y, u).sum(), -C * u
        moved = [loss_value(settings["loss"], small.y, s + side * off) for side in (-1.0, 1.0)]
        spread = sum(float(np.abs(other - losses).sum()) for other in moved)
        terms, loose = np.abs(losses).sum(), C * spread
    else:
        deltas, values = _all_cuts(small, result.price)
        risk = max(0.0, float(np.max(values - deltas @ s)))
        gain, v = _of_cuts(small, result.dual_point, deltas, values)
        terms = values.max() + np.abs(deltas @ s).max()
        loose = C * float(np.max(np.abs(deltas) @ off))
        _confirm_by_cone(small, result, deltas @ X, values, sets)
    primal = 0.5 * norm_squared(w, budget, **sets) + C * risk
    dual = gain - 0.5 * dual_norm_squared(X.T @ v, budget, **sets)
    _compare("primal", result.primal, primal, C * terms, loose)
    # Sums over rows have lost what is below the rounding of their terms.
    lost = EPSILON * np.abs(X).T @ np.abs(v)
    with np.errstate(over="ignore"):
        unknown = float(np.sum(lost * (lost + np.abs(X.T @ v))))
    _compare("dual", result.dual, dual, abs(gain), unknown, at_most=True)


def _compare(
    name: str, found: float, expected: float, terms: float, loose: float, *, at_most: bool = False
) -> None:
    """Equal but for rounding and what is ``loose``; a lower bound may be below what is proved."""
    allowed = ROUNDING * (abs(expected) + 1e-4 * terms) + loose
    fine = found - expected <= allowed and (at_most or expected - found <= allowed)
    if not (np.isfinite(found) and fine):
        raise Unconfirmed(f"{name} {found!r}, by the formulas {expected!r}")


def _all_cuts(small: Small, price: float) -> tuple[np.ndarray, np.ndarray]:
    settings = small.arguments
    is_tight = settings["bound"] == "tight"
    return every_cut(
        settings["measure"],
        small.y,
        price if is_tight else None,
        has_threshold=settings["intercept_scaling"] > 0,
    )


def _of_cuts(
    small: Small, point: Any, deltas: np.ndarray, values: np.ndarray
) -> tuple[float, np.ndarray]:
    """Gain and v of weights on cuts, each of which must be one of all."""
    C, alpha = small.arguments["C"], point.alpha
    if np.any(alpha < 0) or alpha.sum() > C * (1 + 1e-9):
        raise Unconfirmed(f"weights of cuts from {alpha.min()} with the sum {alpha.sum()}, C={C}")
    if alpha.size == 0:
        return 0.0, np.zeros(small.y.size)
    if small.arguments["measure"] in RANKINGS:
        far = np.abs(point.cuts[:, None] - deltas[None]).max(axis=2)
        chosen = far.argmin(axis=1)
        if far.min(axis=1).max() > 1e-9:
            raise Unconfirmed("a cut is no ranking")
    else:
        by_bits = {bits.tobytes(): k for k, bits in enumerate(np.packbits(deltas != 0, axis=1))}
        numbers = [by_bits.get(np.asarray(bits).tobytes(), -1) for bits in point.cuts]
        if min(numbers) < 0:
            raise Unconfirmed("a cut is no labelling that competes")
        chosen = np.array(numbers)
    return float(values[chosen] @ alpha), deltas[chosen].T @ alpha


def _confirm_by_cone(
    small: Small, result: Any, cuts: np.ndarray, values: np.ndarray, sets: dict[str, Any]
) -> None:
    """The optimum of the conic solver lies between the bounds, where numbers are of one size."""
    sizes = np.abs(cuts[cuts != 0])
    C, budget = small.arguments["C"], small.arguments["budget"]
    if not sizes.size or sizes.max() > ONE_SIZE * min(1.0, sizes.min()) or not 1e-3 < C < 1e3:
        return
    if small.n_selected is not None:
        budget = small.n_selected
    try:
        best, _ = optimum(cuts, values, C, budget, **sets)
    except AssertionError:  # the conic solver gave up
        return
    slack = CONIC * (abs(best) + 1e-3 * C)
    if result.dual > best + slack or result.primal < best - slack:
        raise Unconfirmed(f"the cone's optimum {best!r} is not in [{result.dual}, {result.primal}]")
