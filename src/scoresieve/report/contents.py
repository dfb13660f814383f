"""What a report says, as plain data: every number on the page is made here."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from scoresieve.estimators.decision import linear_scores
from scoresieve.estimators.operating_point import (
    OperatingPoint,
    operating_points,
    point_of_class,
)
from scoresieve.estimators.sieve.curve import FeatureCurve, feature_curve
from scoresieve.estimators.sieve.fold_selections import FoldSelections
from scoresieve.estimators.summary.mixin import named_weights
from scoresieve.estimators.summary.parts import Part

#: Points of a precision-recall curve that a page holds; more would not be seen.
MOST_POINTS = 300


def page_contents(
    model: Any, X_test: Any = None, y_test: Any = None, feature_names: Any = None
) -> dict[str, Any]:
    """All that the page shows of a fitted model.

    Parameters
    ----------
    model : estimator
        Any of this package.
    X_test, y_test : optional
        Rows to look at the model with.
    feature_names : array-like of shape (n_features,), optional
    """
    summary = model.summary(feature_names)
    names = model._column_names(feature_names)
    has_rows = X_test is not None
    points: list[OperatingPoint | None] = [None] * len(summary.parts)
    if has_rows and hasattr(model, "_targets"):
        points = operating_points(model, X_test, y_test)
    parts = [
        part_contents(model, number, part, names, point, X_test, y_test)
        for number, (part, point) in enumerate(zip(summary.parts, points, strict=True))
    ]
    return {
        "model": summary.title,
        "rows": model._nouns[1],
        "test": rows_contents(model, X_test, y_test) if has_rows else None,
        "parts": parts,
    }


def rows_contents(model: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
    """How many rows there are, and the score of all of them."""
    kind = getattr(model, "measure_", None)
    is_regression = not hasattr(model, "_targets")
    name = "R^2" if is_regression else "accuracy" if kind is None else kind.name
    return {
        "n_samples": int(np.shape(y_test)[0]),
        "score": float(model.score(X_test, y_test)),
        "measure": name,
    }


def part_contents(
    model: Any,
    number: int,
    part: Part,
    names: Any,
    point: OperatingPoint | None,
    X_test: Any,
    y_test: Any,
) -> dict[str, Any]:
    """One class: facts, and an entry for each number of features."""
    own = {
        "setting": None,
        "score": None,
        "threshold": None,
        "features": [list(each) for each in part.weights],
        "columns": by_size_of_weight(*model._weights_of(number)),
        "point": point_contents(point),
    }
    sieve = getattr(model, "model_", model)
    curve = None
    sizes = [{"size": len(part.weights), "best": None, "model": own, "folds": None}]
    chosen = 0
    if hasattr(sieve, "_tables"):
        table, row = sieve._tables[number], int(sieve._rows[number])
        curve = feature_curve(table, row)
        models = smaller_contents(model, number, names, X_test, y_test)
        models[row] = own | setting_contents(table, row, float(sieve._odds[number]))
        sizes, chosen = sizes_of_curve(table, curve, models), curve.chosen
        if getattr(model, "fold_selections_", None) is not None:
            add_folds(sizes, model.fold_selections_[number], names)
    return {
        "title": part.title,
        "heading": part.heading,
        "noun": part.noun,
        "n_columns": part.n_columns,
        "facts": [[fact.name.replace("_", " "), fact.sentence] for fact in part.facts],
        "measure": model.measure_.name if hasattr(model, "measure_") else None,
        "floor": None if curve is None else curve.floor,
        "chosen": chosen,
        "sizes": sizes,
    }


def setting_contents(table: Any, row: int, odds: float | None = None) -> dict[str, Any]:
    """A row of the table: its score on unseen rows, and what it is."""
    point = table["params"][row]
    found = {
        "score": float(table["mean_test_score"][row]),
        "error": float(table["std_test_score"][row]),
        "setting": f"{point['selection']}; model: {point['final_model']}",
    }
    return found if odds is None else found | {"threshold": float(expit(odds))}


def sizes_of_curve(
    table: Any, curve: FeatureCurve, models: dict[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    """The best setting of each number of features, and the model of that number if it is kept.

    Parameters
    ----------
    models : dict of int to dict
        By rows of the table.
    """
    names = [name for name in table if name.startswith("param_n_")]
    by_size = {int(table[names[0]][row]): model for row, model in models.items()}
    return [
        {
            "size": int(size),
            "best": setting_contents(table, int(row)),
            "model": by_size.get(int(size)),
            "folds": None,
        }
        for size, row in zip(curve.sizes, curve.rows, strict=True)
    ]


def by_size_of_weight(columns: Any, weights: Any) -> list[int]:
    """Columns in the order in which :func:`named_weights` has their names."""
    return np.asarray(columns)[np.argsort(-np.abs(weights), kind="stable")].tolist()


def add_folds(sizes: list[dict[str, Any]], selections: FoldSelections, names: Any) -> None:
    """Say of each number of features in how many fits of the cross-validation each was selected.

    Parameters
    ----------
    sizes : list of dict
        By ascending numbers, as the selections are; features in no model have no weight.
    """
    for place, size in enumerate(sizes):
        counts = selections.counts[[place]]
        order = np.argsort(-counts.data, kind="stable")
        columns = counts.indices[order].tolist()
        size["folds"] = {
            "n_fits": selections.n_folds,
            "columns": columns,
            "names": [str(names[column]) for column in columns],
            "counts": counts.data[order].tolist(),
        }


def smaller_contents(
    model: Any, number: int, names: Any, X_test: Any, y_test: Any
) -> dict[int, dict[str, Any]]:
    """The models with fewer features that a sieve keeps, by their rows of the table."""
    if getattr(model, "smaller_models_", None) is None:
        return {}
    smaller, table = model.smaller_models_[number], model._tables[number]
    points: list[OperatingPoint | None] = [None] * smaller.rows.size
    if X_test is not None:
        X = model._validated(X_test)
        y = model._validated_targets(X, y_test)
        is_positive = list(model._targets.labels(y))[number] > 0
        scores = linear_scores(X, smaller.coefs) + smaller.intercepts
        points = [point_of_class(model, number, is_positive, each) for each in scores.T]
    found = {}
    for place, (row, point) in enumerate(zip(smaller.rows.tolist(), points, strict=True)):
        weights = smaller.coefs[[place]]
        features = named_weights(names[weights.indices], weights.data)
        found[row] = setting_contents(table, row, float(smaller.odds[place])) | {
            "features": [list(each) for each in features],
            "columns": by_size_of_weight(weights.indices, weights.data),
            "point": point_contents(point),
        }
    return found


def point_contents(point: OperatingPoint | None) -> dict[str, Any] | None:
    """Confusion matrix, precision and recall, and their curve with fewer points."""
    if point is None:
        return None
    recalls, precisions = point.price_line(41)
    kept = np.unique(np.linspace(0, point.recalls.size - 1, MOST_POINTS).round().astype(int))
    return {
        "confusion": point.confusion,
        "precision": point.precision,
        "recall": point.recall,
        "share": point.n_positives / point.n_samples,
        "curve": np.column_stack([point.recalls[kept], point.precisions[kept]]).round(5).tolist(),
        "price": point.price,
        "price_line": np.column_stack([recalls, precisions]).round(5).tolist(),
    }
