"""What is known of each kind of fitted model, fact by fact, in the order in which it is told.

Each function reads the parameters that the user gave, the fitted values, and how the estimator
calls what it selects and what it counts: features and rows, or instances and bags.
"""

from __future__ import annotations

from math import isnan
from typing import Any

from scoresieve.estimators.linear_model import measure_of
from scoresieve.estimators.model import ClassModel
from scoresieve.estimators.summary.parts import Fact
from scoresieve.estimators.summary.words import (
    OF_LOG_ODDS,
    OF_SCORE,
    OWN_SCOPE,
    C_fact,
    alarms_fact,
    baseline_facts,
    chosen_fact,
    hard_budget_fact,
    held_out_score_fact,
    no_certificate,
    own_objective_fact,
    price_fact,
    probability_fact,
    relaxed_fact,
    rows_fact,
    scope_fact,
    selection_price_fact,
    threshold_fact,
    training_score_fact,
    units_in_words,
)


def budget_facts(estimator: Any, model: ClassModel, nouns: tuple[str, str]) -> list[Fact]:
    """Of one class of a classifier with a feature budget."""
    facts = [
        *training_facts(estimator, model, nouns),
        C_fact(estimator.problem_["C"], estimator),
        limit_fact(estimator.problem_, model, nouns[0]),
    ]
    if not isnan(model.price):
        facts.append(price_fact(estimator.price, model.price, estimator.problem_["bound"]))
    return facts + certificate_facts(estimator.problem_, model, nouns[0])


def training_facts(estimator: Any, model: ClassModel, nouns: tuple[str, str]) -> list[Fact]:
    """The rows of a classifier's fit, the score of these rows, and where its alarms begin."""
    kind, of = measure_of(estimator), estimator.targets_.kind
    name = "accuracy" if kind is None else kind.name
    return [
        training_score_fact(
            model.training_score, name, is_one_of_many=of != "binary", rows=nouns[1]
        ),
        *baseline_facts(model, name, nouns[1]),
        OF_SCORE,
        threshold_fact(kind, model, of),
        *alarms_fact(model, of, nouns[1]),
        rows_fact(estimator.n_samples_fit_, model.n_positives, nouns[1]),
    ]


def regressor_facts(estimator: Any, model: ClassModel, nouns: tuple[str, str]) -> list[Fact]:
    """Of a regression with a feature budget."""
    noun, rows = nouns
    return [
        training_score_fact(model.training_score, "R^2", is_one_of_many=False, rows=rows),
        Fact("weights", "change of the prediction for each unit of the feature"),
        rows_fact(estimator.n_samples_fit_, None, rows),
        C_fact(estimator.problem_["C"], estimator),
        limit_fact(estimator.problem_, model, noun),
        *certificate_facts(estimator.problem_, model, noun),
    ]


def sieve_facts(estimator: Any, model: ClassModel, nouns: tuple[str, str]) -> list[Fact]:
    """Of the choice of a sieve for one class."""
    (noun, rows), choice = nouns, model.choice
    assert choice is not None
    prover = "MeasureSVC" if rows == "rows" else "BagMeasureSVC"
    return [
        held_out_score_fact(estimator.measure_, model, rows),
        *baseline_facts(model, estimator.measure_.name, rows),
        OF_LOG_ODDS,
        probability_fact(model, estimator.targets_.kind, rows),
        *alarms_fact(model, estimator.targets_.kind, rows),
        rows_fact(estimator.n_samples_fit_, model.n_positives, rows),
        chosen_fact(choice, noun),
        *([] if isnan(model.price) else [selection_price_fact(model.price)]),
        no_certificate("chosen by cross-validation", f"{prover} certifies its training objective."),
    ]


def rival_facts(estimator: Any, model: ClassModel, nouns: tuple[str, str]) -> list[Fact]:
    """What is known of a rival: its rows and score, C, and the gap of its own objective."""
    facts = training_facts(estimator, model, nouns)
    given = estimator.get_params(deep=False)
    if model.C is not None:
        is_found = given.get("C") is None and given.get(f"n_{nouns[0]}_to_select") is not None
        found = " (searched for the number of features)" if is_found else ""
        facts.append(Fact("C", f"C = {model.C:.3g}{found}", {"C": model.C}))
    if model.certificate is None:
        return [*facts, no_certificate("the method has no lower bound of its objective")]
    return [*facts, own_objective_fact(model.proof.gap, model.proof.status), OWN_SCOPE]


def limit_fact(problem: Any, model: ClassModel, noun: str) -> Fact:
    """How the number of features was limited."""
    units, k = units_in_words(problem, noun), problem["budget"]
    if has_hard_budget(model):
        return Fact("limit", f"at most {k} {units}", {"k": k})
    sentence = f"budget of {k} {units} at full weight; others enter at reduced weight"
    return Fact("limit", sentence, {"budget": k})


def certificate_facts(problem: Any, model: ClassModel, noun: str) -> list[Fact]:
    """The certificate of a model of the feature budget, and its scope."""
    units, proof = units_in_words(problem, noun), model.proof
    if has_hard_budget(model):
        fact = hard_budget_fact(problem["budget"], units, noun, proof)
    else:
        fact = relaxed_fact(problem["budget"], units, proof.gap, proof.status)
    kind = problem["loss"] if problem["measure"] is None else problem["measure"]
    return [fact, scope_fact(kind)]


def has_hard_budget(model: ClassModel) -> bool:
    """Whether at most k features were allowed: then the refit has a gap of its own."""
    return model.certificate is not None and not isnan(model.certificate.refit_gap)
