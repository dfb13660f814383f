"""What a fitted model is, in words and as plain data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scoresieve.cli.data.encoding import Encoding, Named
from scoresieve.cli.data.labels import text_of
from scoresieve.cli.output import table


class Weight(NamedTuple):
    """A feature, or an instance of a bag, and what it adds to the decision for a class."""

    label: str
    feature: str
    weight: float


def weights_of(model: Any, names: Any) -> list[Weight]:
    """Class by class, the largest weights first.

    Parameters
    ----------
    names : array-like of shape (n_features,)
        Not used for bags, whose instances are named by bag and place.
    """
    found = []
    coef = model._coefficients()
    for problem, w in enumerate(coef):
        for place in np.argsort(-np.abs(w), kind="stable")[: np.count_nonzero(w)]:
            if hasattr(model, "embedding_"):
                bag, position = model._origins[place].tolist()
                name = f"bag {bag}, instance {position}"
            else:
                name = str(names[place])
            found.append(Weight(_label(model, problem), name, float(w[place])))
    return found


def classes_of(model: Any) -> list[str]:
    """The positive class of each problem."""
    return [_label(model, problem) for problem in range(model._targets.n_problems)]


def _label(model: Any, problem: int) -> str:
    targets = model._targets
    return text_of(targets.classes[targets.positive if targets.kind == "binary" else problem])


def settings_of(model: Any) -> dict[str, Any]:
    """Parameters that are not the default ones."""
    default = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    return {
        name: getattr(value, "name", value)
        for name, value in given.items()
        if not _same(value, default[name])
    }


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def facts_of(model: Any) -> dict[str, Any]:
    """What the fit found out, as far as this kind of model has it."""
    facts: dict[str, Any] = {}
    if hasattr(model, "best_score_"):
        facts["expected_score"] = model.best_score_
        facts["chosen"] = model.best_params_
    for name in ("primal_", "dual_", "gap_", "l0_gap_"):
        if hasattr(model, name):
            facts[name.rstrip("_")] = getattr(model, name)
    if hasattr(model, "status_"):
        facts["status"] = [getattr(status, "value", status) for status in model.status_]
    return facts


def as_plain(model: Any, names: Any) -> dict[str, Any]:
    """All of it, for JSON."""
    measure = getattr(model, "measure_", None)
    return {
        "estimator": type(model).__name__,
        "measure": None if measure is None else measure.name,
        "classes": [text_of(label) for label in model.classes_],
        "positive": classes_of(model),
        "settings": settings_of(model),
        **facts_of(model),
        "intercept": model._targets.sign * model.intercept_,
        "features": [weight._asdict() for weight in weights_of(model, names)],
    }


def in_words(model: Any, names: Any) -> str:
    """The model's own summary where it has one, or else a table of weights."""
    if hasattr(model, "embedding_") and hasattr(model, "summary"):
        return model.summary() + "\n"
    if hasattr(model, "summary"):
        return model.summary(feature_names=names) + "\n"
    return f"{type(model).__name__}\n{_proofs(model)}{weights_table(model, names)}"


def _proofs(model: Any) -> str:
    """A line for each class about the objective, if the model has one with a bound."""
    if not hasattr(model, "dual_"):
        return ""
    values = zip(classes_of(model), model.primal_, model.dual_, strict=True)
    return "".join(
        f"class {label}: objective {primal:.4g}, and no model of this problem is below {dual:.4g}\n"
        for label, primal, dual in values
    )


def weights_table(model: Any, names: Any) -> str:
    """One line for each weight."""
    what = "instance" if hasattr(model, "embedding_") else "feature"
    rows = [(each.label, each.weight, each.feature) for each in weights_of(model, names)]
    return table(("class", "weight", what), rows) if rows else "no weight is other than 0\n"


def columns_in_words(encoding: Encoding) -> str:
    """What a file needs to have."""
    rows = encoding.rows
    if isinstance(rows, Named):
        return "columns " + ", ".join(f"{column.name} ({column.kind})" for column in rows.columns)
    scaled = ", rows divided by their length" if rows.unit_rows else ""
    first = 0 if rows.zero_based else 1
    return f"columns {first} to {rows.n_features + first - 1}{scaled}"
