"""The bounds over the score of one example and over one direction, for ``docs/bounds.md``.

Run ``python -m studies.quality.bounds_figure --figure docs/images/bounds.png``. Left and middle:
200 examples with 20 positives and overlapping scores; the score of one of them moves, all others
stay. Shown are the loss of F1, ``U Delta`` at the threshold 0, the paper's bound, and the tight one
with the exchange rate as price. Right: 2,000 rows of which 77 are positive, and the bounds of F1
along the direction of a logistic regression, each at its best intercept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression

from scoresieve import get_measure
from scoresieve.measures import FBeta
from studies.common.internals import MeasureRisk
from studies.common.options import finish, make_parser, start

N_POSITIVE, N_NEGATIVE = 20, 180
MOVES = np.linspace(-4.0, 4.0, 321)
LENGTHS = np.linspace(0.0, 1.0, 41)
STYLES = {"the paper's bound": "C0--", "tight bound": "C1-"}


def example() -> tuple[np.ndarray, np.ndarray]:
    """Labels, and scores of which the positives' are higher on average."""
    rng = np.random.default_rng(3)
    y = np.repeat([1.0, -1.0], [N_POSITIVE, N_NEGATIVE])
    return y, rng.normal(size=y.size) + np.where(y > 0, 0.3, -1.6)


def risks_of(measure: FBeta, y: np.ndarray, scores: np.ndarray) -> dict[str, MeasureRisk]:
    """The paper's, and that with the exchange rate at the scores."""
    rate = measure.exchange_rate(y, scores)
    tight = MeasureRisk(measure, y, price=rate, is_tight=True)
    return dict(zip(STYLES, (MeasureRisk(measure, y), tight), strict=True))


def curve(of_scores: Callable[[np.ndarray], float], scores: np.ndarray, place: int) -> np.ndarray:
    """The value for every score of the example at the place."""
    values = []
    for move in MOVES:
        moved = scores.copy()
        moved[place] = move
        values.append(of_scores(moved))
    return np.array(values)


def draw_one_example(axis: Any, title: str, place: int) -> None:
    """The loss and both bounds while one score moves."""
    measure, (y, scores) = get_measure("f1"), example()
    unit = measure.loss_scale(y)
    loss = curve(lambda s: unit * (1.0 - measure.score(y, s)), scores, place)
    axis.plot(MOVES, loss, "k", lw=1.5, label="the loss")
    for label, risk in risks_of(measure, y, scores).items():
        name = f"{label}, price {risk.price:.2g}"
        axis.plot(MOVES, curve(risk.value, scores, place), STYLES[label], lw=2.0, label=name)
    axis.set(title=title, xlabel="its score", ylabel="in missed positives")


def draw_one_direction(axis: Any) -> None:
    """Both bounds along a direction that tells the classes apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=2000) > 3.0, 1.0, -1.0)
    scores = LogisticRegression().fit(X, y).decision_function(X)
    measure, direction = get_measure("f1"), scores / scores.std()
    for label, risk in risks_of(measure, y, scores).items():
        values = [_least_over_intercepts(risk, t * direction) for t in LENGTHS]
        share = np.array(values) / measure.loss_scale(y)
        axis.plot(LENGTHS, share, STYLES[label], lw=2.0, label=f"{label}, price {risk.price:.2g}")
    axis.set(title="F1: along a good direction", xlabel="length of w", ylabel="share of positives")


def _least_over_intercepts(risk: MeasureRisk, scores: np.ndarray) -> float:
    """``min_b R(s + b)``."""
    found = minimize_scalar(lambda b: risk.value(scores + b), bounds=(-6.0, 3.0), method="bounded")
    return float(found.fun)


def draw(path: Path) -> None:
    """The three panels."""
    figure, axes = plt.subplots(1, 3, figsize=(13.0, 3.9), constrained_layout=True)
    draw_one_example(axes[0], "F1: the score of one negative moves", N_POSITIVE + 40)
    draw_one_example(axes[1], "F1: the score of one positive moves", 3)
    draw_one_direction(axes[2])
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.legend(loc="best", frameon=False)
    for axis in axes[:2]:
        axis.set_ylim(0.0)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.bounds_figure", __doc__, data=False)
    parser.add_argument("--figure", type=Path, required=True, help="the file to write")
    args = parser.parse_args(arguments)
    draw(args.figure)
    finish(args, {})


if __name__ == "__main__":
    start(main)
