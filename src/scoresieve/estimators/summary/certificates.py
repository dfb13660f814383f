"""Certificates in words: what a bound says of a model, and what it does not say.

hard budget      J_k and D:  every model with at most k features has an objective of at least D
without          J_k and the bound among models of the chosen features
budget norm      J and D:    every w has an objective of at least D
"""

from __future__ import annotations

from math import ceil, floor, isnan, log10
from typing import Any

import numpy as np

from scoresieve.estimators.summary.parts import Fact
from scoresieve.losses import Loss
from scoresieve.measures import Measure
from scoresieve.solvers.limits import Status

NO_WORD_ON_SCORES = (
    "The certificate is about the training objective, {risk} plus the size of the weights, at this "
    "C{and_price}. It says nothing of {score} itself, nor of other rows."
)

#: Of bounds below this nobody wants to read.
SMALLEST_PERCENT = 0.01


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


def hard_budget_fact(
    k: int, units: str, noun: str, l0_gap: float, refit_gap: float, status: Status
) -> Fact:
    """``J_k (1 - l0_gap) <= J`` of every model with at most k units, if that was proved.

    Parameters
    ----------
    k : int
    units : str
        What k counts: "features".
    noun : str
        What is selected: "features", too, unless k counts groups.
    l0_gap : float
        NaN if the fit was told to do without.
    refit_gap : float
        Of the weights, among models of the same features.
    """
    values = {"l0_gap": l0_gap, "refit_gap": refit_gap, "k": k, "status": status.name}
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
    return Fact("certificate", f"{sentence}. {_ended(status)}", values)


def relaxed_fact(budget: int, units: str, gap: float, status: Status) -> Fact:
    """``J (1 - gap) <= J`` of every w, with the budget norm."""
    sentence = (
        f"no weights whatsoever can lower the training objective, in which the budget is {budget} "
        f"{units}, by more than {percent(gap)}; nor can any model with at most {budget} {units}. "
        f"{_ended(status)}"
    )
    return Fact("certificate", sentence, {"gap": gap, "budget": budget, "status": status.name})


def own_objective_fact(gap: float, status: Status | None) -> Fact:
    """``J (1 - gap) <= J`` of every w, for the objective of a rival."""
    ended = "" if status is None else f" {_ended(status)}"
    sentence = (
        f"no weights can lower the method's own training objective by more than {percent(gap)}."
    )
    return Fact("certificate", f"{sentence}{ended}", {"gap": gap})


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


def _ended(status: Status) -> str:
    if status is Status.CONVERGED:
        return "The fit reached its tolerance."
    return str(status.value)
