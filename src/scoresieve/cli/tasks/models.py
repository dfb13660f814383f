"""A fitted model and how rows of files become its X: what it is, its file, and rows for it.

The file is that of ``scoresieve.save``, and names the columns with labels and bags as well:
``scoresieve.load`` reads it, and commands take what Python saved.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve.cli.data.labels import Table, match_labels
from scoresieve.cli.data.reading import examples_of, read_like
from scoresieve.cli.errors import BadData, WrongUse, listed
from scoresieve.cli.output import progress_of_reading
from scoresieve.estimators.persistence.registry import load_with_input, save_with_input
from scoresieve.estimators.targets import Targets
from scoresieve.tables.columns import Number
from scoresieve.tables.encoding import (
    Encoding,
    Named,
    Numbered,
    TableEncoder,
    input_of,
    is_of_bags,
    n_columns_of,
    read_input,
    text_of,
)


class SavedModel(NamedTuple):
    """A fitted model, and how rows of files become its X."""

    model: Any
    encoding: Encoding

    @property
    def is_of_bags(self) -> bool:
        """Whether it takes bags of rows."""
        return is_of_bags(self.model)

    @property
    def targets(self) -> Targets:
        """The classes, with the positive one that the user named: losses know of none."""
        targets, positive = self.model.targets_, self.encoding.positive
        if positive is None or targets.kind != "binary":
            return targets
        texts = [text_of(label) for label in targets.classes]
        return replace(targets, positive=texts.index(positive))

    @property
    def positives(self) -> list[str]:
        """The positive class of each problem."""
        targets = self.targets
        is_binary = targets.kind == "binary"
        labels = targets.classes[[targets.positive]] if is_binary else targets.classes
        return [text_of(label) for label in labels]

    @property
    def feature_names(self) -> Any:
        """Of the columns of X; instances have none."""
        return None if self.is_of_bags else self.encoding.rows.feature_names()

    @property
    def imputed(self) -> dict[str, int]:
        """Columns with missing numbers or dates, and in how many training rows."""
        rows = self.encoding.rows
        return rows.encoder.imputed_ if isinstance(rows, Named) else {}


def summary_of(saved: SavedModel, of_class: str | None = None) -> str:
    """The summary of the model, or of one of its classes, with names, and what was imputed."""
    about: dict[str, Any] = {"feature_names": saved.feature_names}
    if of_class is not None:
        if of_class not in saved.positives:
            raise WrongUse(
                f"--class {of_class}: it has no model; choose one of {listed(saved.positives)}."
            )
        number = saved.positives.index(of_class)
        about["label"] = saved.model.targets_.titles()[number][1]
    summary = saved.model.summary(**about)
    if summary.overview is not None:
        details = (
            f"scoresieve inspect MODEL --class {saved.positives[0]} shows the features of one class"
        )
        summary = replace(summary, overview=replace(summary.overview, details=details))
    text = f"{summary}\n"
    if saved.imputed:
        counts = [f"{name} ({count} rows)" for name, count in saved.imputed.items()]
        text += f"imputed      by the median: {listed(counts)}\n"
    return text


def as_plain(saved: SavedModel) -> dict[str, Any]:
    """All that is known of a model, for JSON."""
    model = saved.model
    measure = getattr(model, "measure_", None)
    return {
        "estimator": type(model).__name__,
        "measure": None if measure is None else measure.name,
        "classes": [text_of(label) for label in model.classes_],
        "positive": saved.positives,
        "settings": _settings_of(model),
        **_facts_of(model),
        "intercept": saved.targets.sign * model.intercept_,
        "features": _weights_of(saved),
        "imputed": saved.imputed,
    }


def _settings_of(model: Any) -> dict[str, Any]:
    """Parameters that are not the default ones."""
    default = type(model)().get_params(deep=False)
    return {
        name: getattr(value, "name", value)
        for name, value in model.get_params(deep=False).items()
        if type(value) is not type(default[name]) or not np.all(value == default[name])
    }


def _facts_of(model: Any) -> dict[str, Any]:
    """What the fit found out, as far as this kind of model has it."""
    if all(one.choice is not None for one in model.models_):
        return {"expected_score": model.best_score_, "chosen": model.best_params_}
    proofs = [one.certificate for one in model.models_ if one.certificate is not None]
    if not proofs:
        return {}
    facts = {
        name: np.array([getattr(proof, name) for proof in proofs])
        for name in ("primal", "dual", "gap", "l0_gap")
    }
    return facts | {"status": [proof.status.value for proof in proofs if proof.status is not None]}


def _weights_of(saved: SavedModel) -> list[dict[str, Any]]:
    """What each feature adds to the decision for a class, class by class, the largest first."""
    model, names = saved.model, saved.feature_names
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
    found = [
        (label, place, float(w[place]))
        for label, w in zip(saved.positives, saved.targets.sign * coef, strict=True)
        for place in np.argsort(-np.abs(w), kind="stable")[: np.count_nonzero(w)]
    ]
    if saved.is_of_bags:  # in the same order
        texts = [each.title for each in model.key_instances_]
    else:
        texts = [str(names[place]) for _, place, _ in found]
    return [
        {"label": label, "feature": text, "weight": weight}
        for (label, _, weight), text in zip(found, texts, strict=True)
    ]


def save_model(path: str, saved: SavedModel, *, with_certificate: bool = False) -> None:
    """Write both to one file, all of it or nothing."""
    save_with_input(path, saved.model, input_of(*saved), with_certificate=with_certificate)


def load_model(path: str) -> SavedModel:
    """Read and check all of it; a model without an encoding takes columns as it knows them."""
    if os.path.isdir(path) or not os.path.exists(path):
        raise BadData(
            f"{path}: there is no such model file; write one with scoresieve fit ... -o "
            f"{shlex.quote(path)}"
        )
    model, encoding = load_with_input(path, read_input=read_input)
    kind = getattr(getattr(model, "targets_", None), "kind", None)
    if kind not in ("binary", "multiclass"):
        what = "not a classifier" if kind is None else "for rows with several labels"
        raise BadData(f"{path}: it holds a {type(model).__name__}, which is {what}; use Python.")
    if encoding is None:
        names = getattr(model, "feature_names_in_", None)
        columns = () if names is None else tuple(Number(str(name)) for name in names)
        encoding = Encoding(
            Named(TableEncoder.of_columns(columns)) if columns else Numbered(n_columns_of(model))
        )
    return SavedModel(model, encoding)


def read_labelled(path: str, saved: SavedModel, *, quiet: bool, **columns: Any) -> Table:
    """Rows or bags of a file, with labels in the classes of a model.

    Parameters
    ----------
    **columns
        ``label`` and ``bag``, if they are not those of training, and ``drop``.
    """
    with progress_of_reading(path, quiet) as watch:
        table = read_like(path, saved.encoding, with_labels=True, watch=watch, **columns)
    if table.y is None:
        raise BadData(f"{table.file}: it has no labels to score against; name them with --label.")
    X, y = examples_of(table, saved.is_of_bags)
    y = match_labels(table.file, y, saved.model.classes_, saved.encoding.against_rest)
    return replace(table, X=X, y=y)
