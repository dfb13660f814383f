"""Sentences about fitted models: rows, scores, thresholds, prices, C, and what a bound says.

hard budget      J_k and D:  every model with at most k features has an objective of at least D
without          J_k and the bound among models of the chosen features
budget norm      J and D:    every w has an objective of at least D
"""

from __future__ import annotations

from math import ceil, floor, isnan, log10
from typing import Any

import numpy as np
from scipy.special import expit

from scoresieve.estimators.model import ChoiceTable, ClassModel, FitCertificate
from scoresieve.estimators.summary.parts import Fact
from scoresieve.losses import Loss
from scoresieve.measures import HighestScores, Measure
from scoresieve.solvers.limits import Status

NO_WORD_ON_SCORES = (
    "The certificate is about the training objective, {risk} plus the size of the weights, at this "
    "C{and_price}. It says nothing of {score} itself, nor of other rows."
)

#: Of bounds below this nobody wants to read.
SMALLEST_PERCENT = 0.01


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


def unseen_score_fact(measure: Measure, choice: ChoiceTable, rows: str) -> Fact:
    """The score of a choice, and where it is from.

    Parameters
    ----------
    rows : str
        What the rows are called: "rows" or "bags".
    """
    score, error = choice.score, float(choice.table["std_test_score"][choice.row])
    sentence = (
        f"{measure.name} {score:.3f} (standard error {error:.3f}) on {rows} that the models had "
        f"not seen, the best of {len(choice.table['params'])} settings and so a little too high"
    )
    values = {"score": score, "standard_error": error, "measure": measure.name, "rows": "unseen"}
    return Fact("score", sentence, values)


def chosen_fact(choice: ChoiceTable, columns: str, rows: str) -> Fact:
    """By what columns and model were chosen, their number and C included."""
    point = choice.params
    sizes = sorted({size_of(each) for each in choice.table["params"]})
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


def probability_fact(log_odds: float, rows: str) -> Fact:
    """The threshold of calibrated scores, and the rows or bags that it is from."""
    probability = float(expit(log_odds))
    sentence = (
        f"alarms from a probability of {probability:.3f} on, the steady best of unseen {rows}"
    )
    return Fact("threshold", sentence, {"probability": probability})


def threshold_fact(kind: Measure | None, model: ClassModel, target: str) -> Fact:
    """Where alarms begin, and whether the intercept was moved for that.

    Parameters
    ----------
    kind : Measure or None
        What the model was trained for; None for losses, whose intercept is never moved.
    target : {"binary", "multiclass", "multilabel"}
    """
    used, shift = model.decision_intercept, -model.threshold
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


def percent(share: float) -> str:
    """A share in percent with two digits, never rounded down: "8 %" for a bound of 0.0797.

    Examples
    --------
    >>> percent(0.0797), percent(0.00213), percent(1e-9), percent(0.431)
    ('8 %', '0.22 %', '0.01 %', '44 %')
    """
    value = max(100.0 * share, SMALLEST_PERCENT)
    unit = 10.0 ** (floor(log10(value)) - 1)
    # What is printed must still be a bound, but 8 stays 8 in spite of the last bit.
    return f"{ceil(value / unit - 1e-9) * unit:.10g} %"


def hard_budget_fact(k: int, units: str, noun: str, proof: FitCertificate) -> Fact:
    """``J_k (1 - l0_gap) <= J`` of every model with at most k units, if that was proved.

    Parameters
    ----------
    k : int
    units : str
        What k counts: "features".
    noun : str
        What is selected: "features", unless k counts groups.
    proof : FitCertificate
        Its ``l0_gap`` is NaN if the fit was told to do without.
    """
    l0_gap, refit_gap = proof.l0_gap, proof.refit_gap
    values = {"l0_gap": l0_gap, "refit_gap": refit_gap, "k": k, "status": _name(proof.status)}
    among = f"other weights of the selected {noun} can lower it"
    if isnan(l0_gap):
        sentence = (
            f"none for the choice of {units}, since certificate=False: others may be better by any "
            f"amount. Of the training objective only this is known: {among} by at most "
            f"{percent(refit_gap)}"
        )
    else:
        sentence = (
            f"no model with at most {k} {units} can lower the training objective by more than "
            f"{percent(l0_gap)}; {among} by at most {percent(refit_gap)}"
        )
    return Fact("certificate", f"{sentence}.{_ended(proof.status)}", values)


def relaxed_fact(budget: int, units: str, gap: float, status: Status | None) -> Fact:
    """``J (1 - gap) <= J`` of every w, with the budget norm."""
    sentence = (
        f"no weights whatsoever can lower the training objective, in which the budget is {budget} "
        f"{units}, by more than {percent(gap)}; nor can any model with at most {budget} {units}."
        f"{_ended(status)}"
    )
    return Fact("certificate", sentence, {"gap": gap, "budget": budget, "status": _name(status)})


def own_objective_fact(gap: float, status: Status | None) -> Fact:
    """``J (1 - gap) <= J`` of every w, for the objective of a rival."""
    objective = "the method's own training objective"
    sentence = f"no weights can lower {objective} by more than {percent(gap)}.{_ended(status)}"
    return Fact("certificate", sentence, {"gap": gap})


#: What nobody should read into it.
OWN_OBJECTIVE_ALONE = Fact(
    "not_said",
    "The certificate is about the method's own training objective, at this C. It says nothing of "
    "the score, nor of other rows.",
)


def no_certificate(why: str) -> Fact:
    """There is none."""
    return Fact("certificate", f"none: {why}")


def what_is_not_said(kind: Measure | Loss) -> Fact:
    """What nobody should read into a certificate of a model for this measure or loss."""
    if isinstance(kind, Measure):
        risk, score, and_price = "a convex bound of the loss", kind.name, " and price"
    else:
        risk, and_price = "the sum of the losses", ""
        score = "accuracy" if kind.task == "classification" else "R^2"
    sentence = NO_WORD_ON_SCORES.format(risk=risk, score=score, and_price=and_price)
    return Fact("not_said", sentence)


def units_in_words(arguments: Any, noun: str) -> str:
    """What a budget counts: features, or groups of them, besides those that are always in."""
    is_one = arguments["budget"] == 1
    units = noun[:-1] if is_one else noun
    if arguments["feature_groups"] is not None:
        units = f"{'group' if is_one else 'groups'} of {noun}"
    roles = {
        "besides {} always in": np.size(arguments["always_features"]),
        "with {} left out": np.size(arguments["excluded_features"]),
    }
    notes = [note.format(count) for note, count in roles.items() if count]
    return f"{units} ({', '.join(notes)})" if notes else units


def _name(status: Status | None) -> str | None:
    return None if status is None else status.name


def _ended(status: Status | None) -> str:
    """How the fit ended, if its method says that."""
    if status is None:
        return ""
    return " The fit reached its tolerance." if status is Status.CONVERGED else f" {status.value}"
