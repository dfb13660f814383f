"""Models with how to read the files that they are for, in one file of plain data.

It is the file of ``model.save`` with one more entry, so that ``scoresieve.load`` reads it, too, and
so that commands take what ``model.save`` wrote.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, NamedTuple

from scoresieve._record import Record
from scoresieve.cli.data.encoding import Encoding, n_columns
from scoresieve.cli.data.labels import text_of
from scoresieve.cli.errors import BadData, listed
from scoresieve.estimators.persistence.saving import load_with_input, save_with_input
from scoresieve.estimators.targets import Targets


class SavedModel(NamedTuple):
    """A fitted model, and how rows of files become its X."""

    model: Any
    encoding: Encoding

    @property
    def targets(self) -> Targets:
        """The classes, with the positive one that the user named: losses know of none."""
        targets, positive = self.model._targets, self.encoding.positive
        if positive is None or targets.kind != "binary":
            return targets
        texts = [text_of(label) for label in targets.classes]
        return replace(targets, positive=texts.index(positive))


def save_model(path: str, saved: SavedModel, *, with_certificate: bool = False) -> None:
    """Write both to one file, all of it or nothing."""
    model, encoding = saved
    kept = encoding if hasattr(model, "embedding_") else encoding.keeping(model.support_)
    save_with_input(path, model, kept.plain(), with_certificate=with_certificate)


def load_model(path: str) -> SavedModel:
    """Read and check all of it; a model without an encoding takes columns as it knows them."""
    if os.path.isdir(path) or not os.path.exists(path):
        raise BadData(
            f"{path}: there is no such model file; write one with scoresieve fit ... -o {path}"
        )
    model, encoding = load_with_input(path, read_input=_encoding)
    kind = getattr(getattr(model, "_targets", None), "kind", None)
    if kind not in ("binary", "multiclass"):
        what = "no classifier" if kind is None else "for rows with several labels"
        raise BadData(f"{path}: it holds a {type(model).__name__}, which is {what}; use Python.")
    return SavedModel(model, encoding or Encoding.of_model(model))


def _encoding(model: Any, record: Record) -> Encoding:
    encoding = Encoding.from_record(record)
    if encoding.rows.n_features != n_columns(model):
        raise ValueError(
            f"input is about {encoding.rows.n_features} columns of X; the model has "
            f"{n_columns(model)}."
        )
    if encoding.positive is not None and encoding.positive not in map(text_of, model.classes_):
        raise ValueError(
            f"input.positive is {encoding.positive!r}, which is none of the classes "
            f"{listed(map(text_of, model.classes_))}."
        )
    return encoding
