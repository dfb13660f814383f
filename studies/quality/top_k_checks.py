"""Are the bounds of the k highest scores convex, and bounds? Random scores of up to 8 examples.

    convex    R((s + t) / 2) <= (R(s) + R(t)) / 2
    a bound   R(s) >= misses among the k highest scores of s, less the (k - P)_+ unavoidable ones
    a cut     R(t) >= loss - <delta, t>, with equality at t = s, and the conjugate knows its loss

The surrogates are compared with their definitions, over all labellings with k alarms.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from scoresieve.measures import get_measure
from studies.common.internals import Risk
from studies.quality.top_k_risks import Surrogate

ROUNDING = 1e-9
#: Largest number of examples.
MOST = 8
#: The spreads of random scores: at small ones every example is near the margins.
SPREADS = (0.3, 1.0, 3.0)

#: ``make(measure, y)``.
MakeRisk = Callable[[object, np.ndarray], Risk]


def misses(y: np.ndarray, scores: np.ndarray, k: int) -> int:
    """Negatives among the k highest scores, without the (k - P)_+ that nobody can avoid."""
    top = np.argsort(-scores, kind="stable")[:k]
    return int(np.count_nonzero(y[top] < 0)) - max(k - int(np.count_nonzero(y > 0)), 0)


def random_problem(rng: np.random.Generator, k_above: bool) -> tuple[np.ndarray, int]:
    """Labels with both classes, and k up to P, or up to n - 1."""
    n = int(rng.integers(3, MOST + 1))
    n_positive = int(rng.integers(1, n))
    y = np.where(np.arange(n) < n_positive, 1.0, -1.0)
    return y, int(rng.integers(1, (n if k_above else n_positive + 1)))


def random_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    """Normal scores of some spread around some threshold."""
    return rng.choice(SPREADS) * rng.normal(size=n) + rng.normal()


def check_risk(make: MakeRisk, n_problems: int, *, k_above: bool, at_p: bool = False) -> dict:
    """How often a risk is not convex, below the misses, or has a wrong cut.

    Parameters
    ----------
    make : callable
    n_problems : int
    k_above : bool
        Whether k may be above P.
    at_p : bool
        Whether k is P.
    """
    rng, counts = np.random.default_rng(0), {"not_convex": 0, "below": 0, "wrong_cut": 0}
    for _ in range(n_problems):
        y, k = random_problem(rng, k_above)
        k = int(np.count_nonzero(y > 0)) if at_p else k
        risk = make(get_measure("prbep" if at_p else f"prec@{k}"), y)
        s, t = random_scores(rng, y.size), random_scores(rng, y.size)
        at_s, at_t = risk.value(s), risk.value(t)
        cut = risk.cut(s)
        # The package counts in units of P, whatever k is.
        n_positive = risk.measure.loss_scale(y)
        unit = n_positive / min(k, n_positive) if is_paper(risk) else 1.0
        counts["not_convex"] += risk.value(0.5 * (s + t)) > 0.5 * (at_s + at_t) + ROUNDING
        counts["below"] += at_s < unit * misses(y, s, k) - ROUNDING
        counts["wrong_cut"] += cut.value(t) > at_t + ROUNDING or abs(cut.value(s) - at_s) > ROUNDING
        known = risk.cut_loss(cut.delta)
        counts["wrong_cut"] += (
            known < cut.loss - 1e-5 * (1.0 + abs(cut.loss))
            or known - cut.delta @ t > at_t + ROUNDING
        )
    return {name: float(count) / n_problems for name, count in counts.items()}


def is_paper(risk: Risk) -> bool:
    """Whether the risk is the paper's bound, not one of the misses among the k highest."""
    return not hasattr(risk, "k") and not getattr(risk, "is_tight", False)


def enumerated(y: np.ndarray, scores: np.ndarray, k: int, form: str) -> float:
    """A surrogate by its definition: the maximum over all y' with k ones (and over all z)."""
    positive, best = np.flatnonzero(y > 0), 0.0
    for chosen in combinations(range(y.size), k):
        right = [i for i in chosen if y[i] > 0]
        wrong = [i for i in chosen if y[i] < 0]
        out, need = np.setdiff1d(positive, right), k - len(right)
        gain = need + scores[wrong].sum()
        if form == "structural":
            best = max(best, gain - scores[out].sum())
        elif form == "avg":
            best = max(best, gain - (need / out.size * scores[out].sum() if need else 0.0))
        else:
            parts = combinations(out, need)
            best = max(best, gain - min(scores[list(part)].sum() for part in parts))
    return best


def check_surrogates(n_problems: int) -> dict[str, float]:
    """The largest difference of each surrogate from its definition, and at k = P from PRBEP's."""
    rng, worst = np.random.default_rng(1), dict.fromkeys(("structural", "avg", "max", "k = P"), 0.0)
    for _ in range(n_problems):
        y, k = random_problem(rng, k_above=False)
        s = random_scores(rng, y.size)
        for form in ("structural", "avg", "max"):
            found = Surrogate(get_measure(f"prec@{k}"), y, form).value(s)
            worst[form] = max(worst[form], abs(found - enumerated(y, s, k, form)))
            prbep = Surrogate(get_measure("prbep"), y, form)
            paper = max(0.0, prbep.measure.most_violated(y, s).value(s))
            worst["k = P"] = max(worst["k = P"], abs(prbep.value(s) - paper))
    return {name: float(value) for name, value in worst.items()}
