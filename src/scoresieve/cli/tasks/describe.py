"""What a fitted model is, in words and as plain data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve.cli.data.encoding import Encoding, Named
from scoresieve.cli.data.labels import text_of
from scoresieve.cli.output import table
from scoresieve.cli.tasks.model_file import SavedModel
from scoresieve.estimators.targets import Targets


class Weight(NamedTuple):
    """A feature, or an instance of a bag, and what it adds to the decision for a class."""

    label: str
    feature: str
    weight: float


def weights_of(saved: SavedModel) -> list[Weight]:
    """Class by class, the largest weights first; instances are named by bag and place."""
    model, names = saved.model, saved.encoding.rows.feature_names()
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
    found = []
    for label, w in zip(classes_of(saved.targets), saved.targets.sign * coef, strict=True):
        for place in np.argsort(-np.abs(w), kind="stable")[: np.count_nonzero(w)]:
            if hasattr(model, "embedding_"):
                bag, position = model._origins[place].tolist()
                name = f"bag {bag}, instance {position}"
            else:
                name = str(names[place])
            found.append(Weight(label, name, float(w[place])))
    return found


def classes_of(targets: Targets) -> list[str]:
    """The positive class of each problem."""
    labels = targets.classes[[targets.positive]] if targets.kind == "binary" else targets.classes
    return [text_of(label) for label in labels]


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


def as_plain(saved: SavedModel) -> dict[str, Any]:
    """All of it, for JSON."""
    model, targets = saved.model, saved.targets
    measure = getattr(model, "measure_", None)
    return {
        "estimator": type(model).__name__,
        "measure": None if measure is None else measure.name,
        "classes": [text_of(label) for label in model.classes_],
        "positive": classes_of(targets),
        "settings": settings_of(model),
        **facts_of(model),
        "intercept": targets.sign * model.intercept_,
        "features": [weight._asdict() for weight in weights_of(saved)],
    }


def in_words(saved: SavedModel) -> str:
    """The model's own summary where it has one, or else a table of weights."""
    model = saved.model
    if hasattr(model, "embedding_") and hasattr(model, "summary"):
        return f"{model.summary()}\n"
    if hasattr(model, "summary"):
        return f"{model.summary(feature_names=saved.encoding.rows.feature_names())}\n"
    return f"{type(model).__name__}\n{_proofs(saved)}{weights_table(saved)}"


def _proofs(saved: SavedModel) -> str:
    """A line for each class about the objective, if the model has one with a bound."""
    if not hasattr(saved.model, "dual_"):
        return ""
    values = zip(classes_of(saved.targets), saved.model.primal_, saved.model.dual_, strict=True)
    return "".join(
        f"class {label}: objective {primal:.4g}, and no model of this problem is below {dual:.4g}\n"
        for label, primal, dual in values
    )


def weights_table(saved: SavedModel) -> str:
    """One line for each weight."""
    what = "instance" if hasattr(saved.model, "embedding_") else "feature"
    rows = [(each.label, each.weight, each.feature) for each in weights_of(saved)]
    return table(("class", "weight", what), rows) if rows else "no weight is other than 0\n"


def columns_in_words(encoding: Encoding) -> str:
    """What a file needs to have."""
    rows = encoding.rows
    if isinstance(rows, Named):
        return "columns " + ", ".join(f"{column.name} ({column.kind})" for column in rows.columns)
    scaled = ", rows divided by their length" if rows.unit_rows else ""
    first = 0 if rows.zero_based else 1
    return f"columns {first} to {rows.n_features + first - 1}{scaled}"
