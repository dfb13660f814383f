"""What is known of each kind of fitted model, fact by fact, in the order in which it is told."""

from __future__ import annotations

from math import isnan
from typing import Any

from scoresieve.estimators.summary.certificates import (
    OWN_OBJECTIVE_ALONE,
    hard_budget_fact,
    no_certificate,
    own_objective_fact,
    relaxed_fact,
    units_in_words,
    what_is_not_said,
)
from scoresieve.estimators.summary.parts import Fact
from scoresieve.estimators.summary.words import (
    C_fact,
    chosen_fact,
    price_fact,
    probability_fact,
    rows_fact,
    selection_price_fact,
    threshold_fact,
    training_score_fact,
    unseen_score_fact,
)

#: Why a choice by scores has no certificate.
NO_PROOF = (
    "the {noun} were chosen by scores of unseen {rows}, of which nothing can be proved; {prover} "
    "proves how much lower its training objective can be at most"
)


def classifier_facts(model: Any, problem: int, owner: Any) -> list[Fact]:
    """Of a classifier with a feature budget, for one of its classes.

    Parameters
    ----------
    owner : estimator
        With the parameters that the user gave and the words for columns and rows: the model itself,
        or that of bags around it.
    """
    noun, _ = owner._nouns
    facts = [
        *training_facts(model, problem, owner),
        C_fact(model._arguments["C"], owner),
        budget_fact(model, noun),
    ]
    if hasattr(model, "price_"):
        price = float(model.price_[problem])
        facts.append(price_fact(model.price, price, model._arguments["bound"]))
    return facts + certificate_facts(model, problem, noun)


def training_facts(model: Any, problem: int, owner: Any) -> list[Fact]:
    """The rows of a classifier's fit, the score of these rows, and where its alarms begin."""
    targets, (_, rows) = model._targets, owner._nouns
    used = targets.sign * float(model.intercept_[problem])
    score, trained = float(model.training_score_[problem]), float(model._biases[problem])
    kind = getattr(model, "measure_", None)
    name = "accuracy" if kind is None else kind.name
    return [
        rows_fact(model.n_samples_fit_, int(model.n_positives_[problem]), rows),
        training_score_fact(score, name, is_one_of_many=targets.kind != "binary", rows=rows),
        threshold_fact(kind, trained, used, targets.kind),
    ]


def regressor_facts(model: Any) -> list[Fact]:
    """Of a regression with a feature budget."""
    noun, rows = model._nouns
    return [
        rows_fact(model.n_samples_fit_, None, rows),
        training_score_fact(model.training_score_, "R^2", is_one_of_many=False, rows=rows),
        C_fact(model._arguments["C"], model),
        budget_fact(model, noun),
        *certificate_facts(model, None, noun),
    ]


def sieve_facts(model: Any, problem: int, owner: Any) -> list[Fact]:
    """Of the choice of a sieve for one class; ``owner`` as for :func:`classifier_facts`."""
    noun, rows = owner._nouns
    prover = "MeasureSVC" if owner is model else "BagMeasureSVC"
    table, row = model._tables[problem], int(model._rows[problem])
    price = float(model._prices[problem])
    return [
        rows_fact(model.n_samples_fit_, int(model.n_positives_[problem]), rows),
        unseen_score_fact(model.measure_, table, row, rows),
        chosen_fact(table, row, noun, rows),
        probability_fact(float(model._odds[problem]), rows),
        *([] if isnan(price) else [selection_price_fact(price, noun)]),
        no_certificate(NO_PROOF.format(noun=noun, rows=rows, prover=prover)),
    ]


def budget_fact(model: Any, noun: str) -> Fact:
    """How the number of features was limited."""
    units, k = units_in_words(model._arguments, noun), model.budget_
    if model.n_features_to_select is not None:
        return Fact("limit", f"at most {k} {units}", {"k": k})
    sentence = f"a budget of {k} {units} at full weight, which lets more in at less weight"
    return Fact("limit", sentence, {"budget": k})


def certificate_facts(model: Any, problem: int | None, noun: str) -> list[Fact]:
    """What is proved of a model of the feature budget, and what is not.

    Parameters
    ----------
    model : estimator
        MeasureSVC, BudgetClassifier or BudgetRegressor, fitted.
    problem : int or None
        Which class; None if there is but one problem without an axis for it.
    """

    def of_problem(values: Any) -> Any:
        return values if problem is None else values[problem]

    units, k = units_in_words(model._arguments, noun), model.budget_
    status = of_problem(model.status_)
    if model.n_features_to_select is None:
        fact = relaxed_fact(k, units, float(of_problem(model.gap_)), status)
    else:
        l0_gap, refit_gap = (float(of_problem(g)) for g in (model.l0_gap_, model.refit_gap_))
        fact = hard_budget_fact(k, units, noun, l0_gap, refit_gap, status)
    arguments = model._arguments
    kind = arguments["loss"] if arguments["measure"] is None else arguments["measure"]
    return [fact, what_is_not_said(kind)]


def rival_facts(model: Any, problem: int, owner: Any) -> list[Fact]:
    """What is known of a rival: its rows and score, C, and the gap of its own objective."""
    facts = training_facts(model, problem, owner)
    if hasattr(model, "C_"):
        C, k = float(model.C_[problem]), getattr(model, "n_features_to_select", None)
        found = ", found for the number of features" if k is not None and model.C is None else ""
        facts.append(Fact("C", f"C = {C:.3g}{found}", {"C": C}))
    elif getattr(owner, "C", None) is not None:
        facts.append(C_fact(owner.C, owner))
    if not hasattr(model, "gap_"):
        return [*facts, no_certificate("the method has no bound of what others could reach")]
    status = model.status_[problem] if hasattr(model, "status_") else None
    gap = float(model.gap_[problem])
    return [*facts, own_objective_fact(gap, status), OWN_OBJECTIVE_ALONE]
