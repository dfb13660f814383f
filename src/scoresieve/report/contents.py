"""The content of a report as plain data: every number on the page is made here."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix

from scoresieve.estimators.linear_model import measure_of
from scoresieve.estimators.model import ChoiceTable, ClassModel, FoldSelections
from scoresieve.estimators.operating_point import (
    OperatingPoint,
    operating_points,
    smaller_points,
)
from scoresieve.estimators.sieve.results import FeatureCurve, feature_curve
from scoresieve.estimators.summary.mixin import column_names, named_weights
from scoresieve.estimators.summary.parts import Overview, Part, Weight
from scoresieve.estimators.summary.words import setting_in_words

#: Points of a precision-recall curve on a page; more would not be visible.
MOST_POINTS = 300
#: Groups of rows of a calibration curve.
N_GROUPS = 10


def page_contents(
    model: Any, X_test: Any = None, y_test: Any = None, feature_names: Any = None
) -> dict[str, Any]:
    """All that the page shows of a fitted model, and of its test rows."""
    summary = model.summary(feature_names)
    has_rows = X_test is not None
    points: list[Any] = [None] * len(summary.parts)
    curves: list[Any] = [None] * len(summary.parts)
    if has_rows and is_classifier(model):
        points = operating_points(model, X_test, y_test)
    if has_rows and hasattr(model, "predict_proba"):
        curves = calibration_curves(model, X_test, y_test)
    return {
        "model": summary.title,
        "overview": None if summary.overview is None else overview_contents(summary.overview),
        "rows": summary.parts[0].nouns[1],
        "test": rows_contents(model, X_test, y_test) if has_rows else None,
        "parts": [
            part_contents(model, number, part, point, X_test, y_test, feature_names)
            | {"calibration": curve}
            for number, (part, point, curve) in enumerate(
                zip(summary.parts, points, curves, strict=True)
            )
        ],
    }


def calibration_curves(model: Any, X_test: Any, y_test: Any) -> list[list[list[float]] | None]:
    """For each class the mean probability and the share of positives, in groups of equal size.

    None where the test rows lack positives or negatives.
    """
    targets, chances = model.targets_, model.predict_proba(X_test)
    if targets.kind == "binary":
        chances = chances[:, [targets.positive]]
    found: list[list[list[float]] | None] = []
    labels = targets.labels(targets.checked(y_test, chances))
    for y, chance in zip(labels, chances.T, strict=True):
        if np.all(y == y[0]):
            found.append(None)
            continue
        shares, means = calibration_curve(y, chance, n_bins=N_GROUPS, strategy="quantile")
        found.append(np.column_stack([means, shares]).round(5).tolist())
    return found


def overview_contents(overview: Overview) -> dict[str, Any]:
    """Facts about all classes, and the cells of the table of classes by heading."""
    facts = [[fact.title, fact.sentence] for fact in overview.facts]
    return {"facts": facts, "columns": list(overview.columns.items())}


def rows_contents(model: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
    """How many rows there are, and the score of all of them, of several classes with the table."""
    kind, confusion = measure_of(model), None
    name = kind.name if kind else "accuracy" if is_classifier(model) else "R^2"
    if is_classifier(model) and model.targets_.kind == "multiclass":
        classes = model.targets_.classes
        counts = confusion_matrix(y_test, model.predict(X_test), labels=classes).tolist()
        confusion = {"labels": [str(label) for label in classes], "counts": counts}
    return {
        "n_samples": int(np.shape(y_test)[0]),
        "score": float(model.score(X_test, y_test)),
        "measure": name,
        "confusion": confusion,
    }


def part_contents(
    model: Any,
    number: int,
    part: Part,
    point: OperatingPoint | None,
    X_test: Any,
    y_test: Any,
    feature_names: Any,
) -> dict[str, Any]:
    """One class: facts, and an entry for each number of features."""
    one: ClassModel = model.models_[number]
    choice, curve, chosen = one.choice, None, 0
    own = weights_contents(part.weights, point) | dict.fromkeys(("setting", "score", "threshold"))
    sizes = [{"size": len(part.weights), "best": None, "model": own, "folds": None}]
    if choice is not None:
        curve = feature_curve(choice.table, choice.row)
        chosen = curve.chosen
        models = {}
        # Sieves of bags keep neither, and have no columns with names.
        names = column_names(model, feature_names) if choice.smaller or choice.folds else None
        if choice.smaller:
            models = smaller_contents(model, number, names, X_test, y_test)
        models[choice.row] = own | setting_contents(choice.table, choice.row, one.threshold)
        sizes = sizes_of_curve(choice, curve, models, names)
    return {
        "title": part.title,
        "heading": part.heading,
        "noun": part.nouns[0],
        "n_columns": part.n_columns,
        "facts": [[fact.title, fact.sentence] for fact in part.facts],
        "measure": kind.name if (kind := measure_of(model)) else None,
        "floor": None if curve is None else curve.floor,
        "chosen": chosen,
        "sizes": sizes,
    }


def weights_contents(weights: tuple[Weight, ...], point: OperatingPoint | None) -> dict[str, Any]:
    """Features with their weights, largest first, and the operating point on the test rows."""
    return {
        "features": [[each.name, each.weight] for each in weights],
        "columns": [each.column for each in weights],
        "point": point_contents(point),
    }


def setting_contents(table: Any, row: int, log_odds: float | None = None) -> dict[str, Any]:
    """A row of the table: its cross-validated score, and its setting in words."""
    point = table["params"][row]
    found = {
        "score": float(table["mean_test_score"][row]),
        "error": float(table["std_test_score"][row]),
        "setting": setting_in_words(point),
    }
    return found if log_odds is None else found | {"threshold": float(expit(log_odds))}


def sizes_of_curve(
    choice: ChoiceTable, curve: FeatureCurve, models: dict[int, dict[str, Any]], names: Any
) -> list[dict[str, Any]]:
    """The best setting of each number of features, and what is kept of that number.

    ``models`` are by rows of the table; the fits of the cross-validation are by ascending numbers.
    """
    column = next(name for name in choice.table if name.startswith("param_n_"))
    by_size = {int(choice.table[column][row]): model for row, model in models.items()}
    return [
        {
            "size": int(size),
            "best": setting_contents(choice.table, int(row)),
            "model": by_size.get(int(size)),
            "folds": folds_contents(choice.folds, place, names) if choice.folds else None,
        }
        for place, (size, row) in enumerate(zip(curve.sizes, curve.rows, strict=True))
    ]


def folds_contents(selections: FoldSelections, place: int, names: Any) -> dict[str, Any]:
    """In how many cross-validation fits each feature was selected, most frequent first."""
    counts = selections.counts[[place]]
    order = np.argsort(-counts.data, kind="stable")
    columns = counts.indices[order].tolist()
    return {
        "n_fits": selections.n_folds,
        "columns": columns,
        "names": [str(names[column]) for column in columns],
        "counts": counts.data[order].tolist(),
    }


def smaller_contents(
    model: Any, number: int, names: Any, X_test: Any, y_test: Any
) -> dict[int, dict[str, Any]]:
    """The models with fewer features that a sieve keeps, by their rows of the table."""
    smaller: tuple[ClassModel, ...] = model.models_[number].choice.smaller
    points: list[OperatingPoint | None] = [None] * len(smaller)
    if X_test is not None:
        points = smaller_points(model, number, smaller, X_test, y_test)
    found = {}
    for one, point in zip(smaller, points, strict=True):
        assert one.choice is not None
        features = named_weights(names, one.columns, one.weights)
        found[one.choice.row] = weights_contents(features, point) | setting_contents(
            one.choice.table, one.choice.row, one.threshold
        )
    return found


def point_contents(point: OperatingPoint | None) -> dict[str, Any] | None:
    """Confusion matrix, precision and recall, and their curve with fewer points."""
    if point is None:
        return None
    recalls, precisions = point.price_line(41)
    kept = np.unique(np.linspace(0, point.recalls.size - 1, MOST_POINTS).round().astype(int))
    return {
        "confusion": point.confusion,
        "score": point.score,
        "precision": point.precision,
        "recall": point.recall,
        "share": point.n_positives / point.n_samples,
        "curve": np.column_stack([point.recalls[kept], point.precisions[kept]]).round(5).tolist(),
        "price": point.price,
        "price_line": np.column_stack([recalls, precisions]).round(5).tolist(),
    }
