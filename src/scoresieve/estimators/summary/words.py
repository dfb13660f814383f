"""Sentences about fitted models: rows, scores, thresholds, prices, and where C is from."""

from __future__ import annotations

from typing import Any

from scipy.special import expit

from scoresieve.estimators.summary.parts import Fact
from scoresieve.measures import HighestScores, Measure


def rows_fact(n_samples: int, n_positives: int | None, rows: str = "rows") -> Fact:
    """How many rows the model was fitted on."""
    share = ""
    if n_positives is not None:
        share = f", {n_positives} of them ({n_positives / n_samples:.2%}) of the class"
    values = {"n_samples": n_samples}
    values |= {} if n_positives is None else {"n_positives": n_positives}
    return Fact("fitted_on", f"{n_samples} {rows}{share}", values)


def training_score_fact(score: float, name: str, *, is_one_of_many: bool, rows: str) -> Fact:
    """The score of the rows that the model was fitted on."""
    about = " of this class against the rest" if is_one_of_many else ""
    sentence = (
        f"{name} {score:.3f}{about} on the {rows} that the model was fitted on, and so too high "
        "for others"
    )
    return Fact("score", sentence, {"score": score, "measure": name, "rows": "training"})


def unseen_score_fact(measure: Measure, table: dict[str, Any], row: int, rows: str) -> Fact:
    """The score of a choice, and where it is from.

    Parameters
    ----------
    table : dict
        ``cv_results_`` of one class.
    row : int
        What was chosen there.
    rows : str
        What the rows are called: "rows" or "bags".
    """
    score, error = float(table["mean_test_score"][row]), float(table["std_test_score"][row])
    sentence = (
        f"{measure.name} {score:.3f} (standard error {error:.3f}) on {rows} that the models had "
        f"not seen, the best of {len(table['params'])} settings and so a little too high"
    )
    values = {"score": score, "standard_error": error, "measure": measure.name, "rows": "unseen"}
    return Fact("score", sentence, values)


def chosen_fact(table: dict[str, Any], row: int, columns: str, rows: str) -> Fact:
    """By what columns and model were chosen, their number and C included."""
    point = table["params"][row]
    sizes = sorted({size_of(each) for each in table["params"]})
    size, number = size_of(point), ""
    if len(sizes) > 1:
        number = (
            f"{size} {columns[:-1] if size == 1 else columns}, of {', '.join(map(str, sizes))} the "
            "fewest within one standard error of the best; "
        )
    width = f"; width of the similarity: sigma={point['sigma']}" if "sigma" in point else ""
    sentence = (
        f"{number}{columns} chosen by {point['selection']}; model on them: {point['final_model']}"
        f"{width}; each the best on unseen {rows}, or as good and simpler"
    )
    return Fact("choice", sentence, {**point})


def size_of(point: dict[str, Any]) -> int:
    """The number of columns of a point of the grid, whatever they are called."""
    return int(next(point[name] for name in point if name.startswith("n_")))


def probability_fact(odds: float, rows: str) -> Fact:
    """The threshold of calibrated scores, and the rows or bags that it is from."""
    probability = float(expit(odds))
    sentence = (
        f"alarms from a probability of {probability:.3f} on, the steady best of unseen {rows}"
    )
    return Fact("threshold", sentence, {"probability": probability})


def threshold_fact(kind: Measure | None, trained: float, used: float, target: str) -> Fact:
    """Where alarms begin, and whether the intercept was moved for that.

    Parameters
    ----------
    kind : Measure or None
        What the model was trained for; None for losses, whose intercept is never moved.
    trained, used : float
        Intercepts, for the positive class.
    target : {"binary", "multiclass", "multilabel"}
    """
    shift = used - trained
    moved = "the intercept is as trained"
    if shift != 0.0:
        # Measures of the k highest scores, and rankings, look at a number of rows.
        has_k = isinstance(kind, HighestScores) or not getattr(kind, "flips_examples", True)
        why = "have as many training rows above 0 as the measure looks at"
        why = why if has_k else "score near the best that any threshold does on training rows"
        moved = f"the intercept was moved by {shift:+.3g} after training, to {why}"
    where = "scores above 0 are alarms"
    if target == "multiclass":
        where = "predict takes the class with the highest score"
    return Fact("threshold", f"{where}; {moved}", {"intercept": used, "shift": shift})


#: Where the price of a measure's own bound is from.
BY_AUTO = (
    "by price='auto': the measure's own rate of exchange, or less where that gives an empty model"
)


def selection_price_fact(price: float, noun: str) -> Fact:
    """What a false alarm costs in the bound by which a sieve has chosen its columns."""
    sentence = f"in the bound that chose the {noun} a false alarm costs {price:.3g} of a missed "
    return Fact("price", f"{sentence}positive, {BY_AUTO}", {"price": price, "parameter": "auto"})


def price_fact(parameter: Any, price: float, bound: str) -> Fact:
    """What a false alarm costs in the bound, and who said so.

    Parameters
    ----------
    parameter : float or "auto"
    bound : {"tight", "paper"}
        That was used.
    """
    why = "as given"
    if bound == "paper":
        why = "as always in the paper's bound"
    elif parameter == "auto":
        why = BY_AUTO
    sentence = f"a false alarm costs {price:.3g} of a missed positive, {why}"
    return Fact("price", sentence, {"price": price, "parameter": parameter})


def C_fact(C: float, model: Any) -> Fact:
    """C, and whether the user gave it.

    Parameters
    ----------
    model : estimator
        With the parameter C.
    """
    is_default = model.C is None or model.C == type(model).C
    by = "the default" if is_default else "as given"
    return Fact("C", f"C = {C:g}, {by}", {"C": C, "is_default": is_default})
