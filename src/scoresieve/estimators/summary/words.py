"""Sentences about fitted models: rows, scores, thresholds, prices, C, and certificates.

hard budget      J_k and D:  every model with at most k features has an objective of at least D
without          J_k and the bound among models of the chosen features
budget norm      J and D:    every w has an objective of at least D
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil, floor, isnan, log10
from typing import Any

import numpy as np
from scipy.special import expit

from scoresieve.estimators.model import ChoiceTable, ClassModel, FitCertificate
from scoresieve.estimators.sieve.scoring import beats_constant
from scoresieve.estimators.summary.parts import Fact
from scoresieve.losses import Loss
from scoresieve.measures import HighestScores, Measure
from scoresieve.solvers.limits import Status

#: Scope of a certificate.
SCOPE = (
    "The certificate is about the training objective ({risk} plus the size of the weights, at this "
    "C{and_price}), not about {score} or new rows."
)
OWN_SCOPE = Fact(
    "scope",
    "The certificate is about the method's own training objective at this C, not about the score "
    "or new rows.",
)
#: How the weights are to be read.
OF_LOG_ODDS = Fact("weights", "change of the log-odds for each unit of the feature")
OF_SCORE = Fact("weights", "change of decision_function for each unit of the feature")

#: Smaller bounds are not worth reading.
SMALLEST_PERCENT = 0.01


def rows_fact(n_samples: int, n_positives: int | None, rows: str = "rows") -> Fact:
    """How many rows the model was fitted on."""
    share = ""
    if n_positives is not None:
        share = f", {n_positives} positive ({n_positives / n_samples:.2%})"
    values = {"n_samples": n_samples}
    values |= {} if n_positives is None else {"n_positives": n_positives}
    return Fact("fitted_on", f"{n_samples} {rows}{share}", values)


def training_score_fact(score: float, name: str, *, is_one_of_many: bool, rows: str) -> Fact:
    """The score of the rows that the model was fitted on."""
    about = " of this class alone" if is_one_of_many else ""
    sentence = f"{name} {score:.3f}{about} on the training {rows} (optimistic)"
    return Fact("score", sentence, {"score": score, "measure": name, "rows": "training"})


def held_out_score_fact(measure: Measure, model: ClassModel, rows: str) -> Fact:
    """The cross-validated score of the choice of a model.

    Parameters
    ----------
    rows : str
        What the rows are called: "rows" or "bags".
    """
    choice = model.choice
    assert choice is not None
    score, error = choice.score, choice.error
    n_settings = np.count_nonzero(~np.isnan(choice.table["mean_test_score"]))
    best = f"; best of {n_settings} settings, so slightly optimistic" if n_settings > 1 else ""
    where = f"held-out {rows}"
    is_at_threshold = measure.flips_examples and not isinstance(measure, HighestScores)
    if model.goal is not None and is_at_threshold:
        where += " at its best threshold, not at this one"
    sentence = f"{measure.name} {score:.3f} on {where} (standard error {error:.3f}{best})"
    values = {"score": score, "standard_error": error, "measure": measure.name, "rows": "held-out"}
    return Fact("score", sentence, values)


def baseline_facts(model: ClassModel, name: str, rows: str) -> list[Fact]:
    """The score of a constant prediction, and whether the model is better; none if not known.

    Parameters
    ----------
    name : str
        Of the measure.
    """
    if isnan(model.constant_score):
        return []
    sentence = f"{name} {model.constant_score:.3f} for the best constant prediction on these {rows}"
    score, error, above = model.training_score, 0.0, "above it"
    if model.choice is not None:
        score, error = model.choice.score, model.choice.error
        above = "above it by one standard error"
    is_beaten = beats_constant(score, error, model.constant_score)
    if not is_beaten:
        sentence = (
            f"{sentence}; the score is not {above}: the model is no better than predicting a "
            "constant"
        )
    values = {"score": model.constant_score, "is_beaten": is_beaten}
    return [Fact("baseline", sentence, values)]


def chosen_fact(choice: ChoiceTable, columns: str) -> Fact:
    """Which candidate selected the columns, which model has the weights, and why this number."""
    point, number = choice.params, ""
    sizes = sorted({size_of(each) for each in choice.table["params"]})
    if len(sizes) > 1:
        number = (
            f". {size_of(point)} is the smallest number of {columns}, of "
            f"{', '.join(map(str, sizes))}, within one standard error of the best"
        )
    sentence = (
        f"{columns}: {setting_in_words(point)} (best cross-validated setting; ties go to the "
        f"simpler one){number}"
    )
    return Fact("choice", sentence, {**point})


def setting_in_words(point: dict[str, Any]) -> str:
    """For a row of ``cv_results_``: "bound, C = 3; weights: from the same fit"."""
    final, late = point["final_model"], ""
    if final.startswith("graded "):
        final, late = final.removeprefix("graded "), ", late features regularised more"
    final = "from the same fit" if final == "own" else final
    width = f"; sigma = {point['sigma']}" if "sigma" in point else ""
    names = f"{point['selection']}; weights: {final}{late}{width}"
    return re.sub(r"C=(\d+(?:\.\d+)?(?:e[+-]?\d+)?)", lambda C: f"C = {float(C[1]):.3g}", names)


def size_of(point: dict[str, Any]) -> int:
    """The number of columns of a point of the grid, whatever they are called."""
    return int(next(point[name] for name in point if name.startswith("n_")))


def probability_fact(model: ClassModel, target: str, rows: str) -> Fact:
    """The threshold of calibrated scores, and what it was chosen for.

    Parameters
    ----------
    target : {"binary", "multiclass", "multilabel"}
    """
    probability, goal = float(expit(model.threshold)), model.goal
    tuned = "tuned" if goal is None else f"chosen for {goal_in_words(goal)}"
    sentence = f"predicts positive at probability >= {probability:.3g}, {tuned} on held-out {rows}"
    rule = "each class is predicted from the probability below on"
    if target == "multiclass":
        sentence = (
            "predict takes the most probable class; alone, this class is positive at probability "
            f">= {probability:.3f}, tuned on held-out {rows}"
        )
        rule = "predict takes the most probable class; below, the threshold of each class alone"
    values = {"probability": probability, **(goal or {})}
    return Fact("threshold", sentence, values if target == "binary" else values | {"rule": rule})


def goal_in_words(goal: Mapping[str, float]) -> str:
    """What a threshold was chosen for: "recall >= 0.9", "an alarm rate <= 0.01"."""
    if "cost_of_miss" in goal:
        return f"a miss that costs {goal['cost_of_miss']:g} and an alarm {goal['cost_of_alarm']:g}"
    ((name, value),) = goal.items()
    sign = "<=" if name == "alarm_rate" else ">="
    return f"{name.replace('_', ' ')} {sign} {value:g}"


def alarms_fact(model: ClassModel, target: str, rows: str) -> list[Fact]:
    """How many alarms to expect, and how many are right; nothing where ``predict`` compares.

    Parameters
    ----------
    target : {"binary", "multiclass", "multilabel"}
    """
    if isnan(model.alarm_rate) or target == "multiclass":
        return []
    values = {"alarm_rate": model.alarm_rate}
    sentence = f"about {1000 * model.alarm_rate:.3g} in 1000 {rows} like the training {rows}"
    table = None if model.choice is None else model.choice.thresholds
    if table is not None:
        at = table.place(model.threshold)
        precision, recall = float(table.precisions[at]), float(table.recalls[at])
        values |= {"precision": precision, "recall": recall}
        sentence += f"; precision {precision:.3f}, recall {recall:.3f} on held-out {rows}"
    return [Fact("alarms", sentence, values)]


def threshold_fact(kind: Measure | None, model: ClassModel, target: str) -> Fact:
    """Where alarms begin, and whether the intercept was moved for that.

    Parameters
    ----------
    kind : Measure or None
        What the model was trained for; None for losses, whose intercept is never moved.
    target : {"binary", "multiclass", "multilabel"}
    """
    used, shift = model.decision_intercept, -model.threshold
    moved = "intercept as trained"
    if shift != 0.0:
        # Measures of the k highest scores, and rankings, look at a number of rows.
        has_k = isinstance(kind, HighestScores) or not getattr(kind, "flips_examples", True)
        why = "that as many training rows are above 0 as the measure counts"
        why = why if has_k else "that the training score is close to that of the best threshold"
        moved = f"the intercept was moved by {shift:+.3g} after training, so {why}"
    where = "predicts positive where decision_function > 0"
    if target == "multiclass":
        where = "predict takes the class with the highest decision_function"
    values: dict[str, Any] = {"intercept": used, "shift": shift}
    if target != "binary":
        values["rule"] = f"{where}, from which each threshold is subtracted"
    return Fact("threshold", f"{where}; {moved}", values)


#: Where the price of a measure's own bound is from.
BY_AUTO = (
    "price='auto': exchange rate at the operating point, estimated by cross-fitting; lower if that "
    "would give an empty model"
)


def selection_price_fact(price: float) -> Fact:
    """The price of a false alarm in the bound that selected the columns of a sieve."""
    sentence = f"a false alarm costs {price:.3g} of a missed positive in the bound ({BY_AUTO})"
    return Fact("price", sentence, {"price": price, "parameter": "auto"})


def price_fact(parameter: Any, price: float, bound: str) -> Fact:
    """The price of a false alarm in the bound, and where it is from.

    Parameters
    ----------
    parameter : float or "auto"
    bound : {"tight", "paper"}
        That was used.
    """
    why = "given"
    if bound == "paper":
        why = "as always in the paper's bound"
    elif parameter == "auto":
        why = BY_AUTO
    sentence = f"a false alarm costs {price:.3g} of a missed positive ({why})"
    return Fact("price", sentence, {"price": price, "parameter": parameter})


def C_fact(C: float, model: Any) -> Fact:
    """C, and whether the user gave it.

    Parameters
    ----------
    model : estimator
        With the parameter C.
    """
    is_default = model.C is None or model.C == type(model).C
    by = "default" if is_default else "given"
    return Fact("C", f"C = {C:g} ({by})", {"C": C, "is_default": is_default})


def percent(share: float) -> str:
    """A share in percent with two digits, never rounded down: "8 %" for a bound of 0.0797.

    Examples
    --------
    >>> percent(0.0797), percent(0.00213), percent(1e-9), percent(0.431)
    ('8 %', '0.22 %', '0.01 %', '44 %')
    """
    # An objective is never negative, so that it cannot be lowered by more than all of it.
    value = max(100.0 * min(share, 1.0), SMALLEST_PERCENT)
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
    refitted = f"at most {percent(refit_gap)} lower"
    if isnan(l0_gap):
        sentence = (
            f"none for the selection (certificate=False). The best weights for the selected {noun} "
            f"have a training objective {refitted}"
        )
    else:
        sentence = (
            f"the best model with at most {k} {units} has a training objective at most "
            f"{percent(l0_gap)} lower; the best weights for the selected {noun}, {refitted}"
        )
    return Fact("certificate", f"{sentence}.{_ended(proof.status)}", values)


def relaxed_fact(budget: int, units: str, gap: float, status: Status | None) -> Fact:
    """``J (1 - gap) <= J`` of every w, with the budget norm."""
    sentence = (
        f"the optimum of the training objective with a budget of {budget} {units} is at most "
        f"{percent(gap)} lower; so is every model with at most {budget} {units}.{_ended(status)}"
    )
    return Fact("certificate", sentence, {"gap": gap, "budget": budget, "status": _name(status)})


def own_objective_fact(gap: float, status: Status | None) -> Fact:
    """``J (1 - gap) <= J`` of every w, for the objective of a rival."""
    sentence = f"the optimum of the method's own objective is at most {percent(gap)} lower."
    return Fact("certificate", f"{sentence}{_ended(status)}", {"gap": gap})


def no_certificate(why: str, instead: str = "") -> Fact:
    """There is none."""
    return Fact("certificate", f"none ({why}). {instead}".rstrip())


def scope_fact(kind: Measure | Loss) -> Fact:
    """What a certificate of a model for this measure or loss does not cover."""
    if isinstance(kind, Measure):
        risk, score, and_price = "a convex bound of the loss", kind.name, " and price"
    else:
        risk, and_price = "the sum of the losses", ""
        score = "accuracy" if kind.task == "classification" else "R^2"
    return Fact("scope", SCOPE.format(risk=risk, score=score, and_price=and_price))


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
    """How the fit ended, if its method tells."""
    if status is None:
        return ""
    return " The fit converged." if status is Status.CONVERGED else f" {status.value}"
