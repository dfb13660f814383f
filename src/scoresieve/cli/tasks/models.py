"""A fitted model and how rows of files become its X: what it is, its file, and rows for it.

The file is that of ``model.save`` with one more entry: ``scoresieve.load`` reads it, and commands
take what ``model.save`` wrote.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scoresieve._record import Record
from scoresieve.cli.data.columns import Number
from scoresieve.cli.data.encoding import Encoding, Named, Numbered, Table, match_labels, text_of
from scoresieve.cli.data.reading import examples_of, read_like
from scoresieve.cli.errors import BadData, listed
from scoresieve.cli.output import progress_of_reading
from scoresieve.estimators.persistence.registry import load_with_input, save_with_input
from scoresieve.estimators.targets import Targets


class SavedModel(NamedTuple):
    """A fitted model, and how rows of files become its X."""

    model: Any
    encoding: Encoding

    @property
    def is_of_bags(self) -> bool:
        """Whether it takes bags of rows."""
        return hasattr(self.model, "embedding_")

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


def summary_of(saved: SavedModel) -> str:
    """The summary of the model, with the names of its features."""
    return f"{saved.model.summary(feature_names=saved.feature_names)}\n"


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
    model, encoding = saved
    kept = encoding if saved.is_of_bags else encoding.keeping(model.support_)
    save_with_input(path, model, kept.plain(), with_certificate=with_certificate)


def load_model(path: str) -> SavedModel:
    """Read and check all of it; a model without an encoding takes columns as it knows them."""
    if os.path.isdir(path) or not os.path.exists(path):
        raise BadData(
            f"{path}: there is no such model file; write one with scoresieve fit ... -o {path}"
        )
    model, encoding = load_with_input(path, read_input=_encoding)
    kind = getattr(getattr(model, "targets_", None), "kind", None)
    if kind not in ("binary", "multiclass"):
        what = "not a classifier" if kind is None else "for rows with several labels"
        raise BadData(f"{path}: it holds a {type(model).__name__}, which is {what}; use Python.")
    if encoding is None:
        names = getattr(model, "feature_names_in_", None)
        columns = () if names is None else tuple(Number(str(name)) for name in names)
        encoding = Encoding(Named(columns) if columns else Numbered(_n_columns(model)))
    return SavedModel(model, encoding)


def _n_columns(model: Any) -> int:
    """How many columns X must have."""
    embedding = getattr(model, "embedding_", None)
    return int(model.n_features_in_ if embedding is None else embedding.n_columns_in_)


def _encoding(model: Any, record: Record) -> Encoding:
    encoding = Encoding.from_record(record)
    if encoding.rows.n_features != _n_columns(model):
        raise ValueError(
            f"input describes {encoding.rows.n_features} columns of X; the model has "
            f"{_n_columns(model)}."
        )
    if encoding.positive is not None and encoding.positive not in map(text_of, model.classes_):
        raise ValueError(
            f"input.positive is {encoding.positive!r}, not one of the classes "
            f"{listed(map(text_of, model.classes_))}."
        )
    return encoding


def read_labelled(path: str, saved: SavedModel, *, quiet: bool, **columns: Any) -> Table:
    """Rows or bags of a file, with labels in the classes of a model.

    Parameters
    ----------
    **columns
        ``label`` and ``bag``, if they are not those of training.
    """
    with progress_of_reading(path, quiet) as watch:
        table = read_like(path, saved.encoding, with_labels=True, watch=watch, **columns)
    if table.y is None:
        raise BadData(f"{table.file}: it has no labels to score against; name them with --label.")
    X, y = examples_of(table, saved.is_of_bags)
    y = match_labels(table.file, y, saved.model.classes_, saved.encoding.against_rest)
    return replace(table, X=X, y=y)
