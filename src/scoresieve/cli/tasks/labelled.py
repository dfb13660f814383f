"""Labelled rows, or bags, of a file as a kept model takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

from scoresieve._arrays import Array
from scoresieve.cli.data.labels import match_labels
from scoresieve.cli.data.reading import read_like
from scoresieve.cli.errors import BadData
from scoresieve.cli.tasks.bags import bags_of, labels_of
from scoresieve.cli.tasks.model_file import SavedModel


class Labelled(NamedTuple):
    """X, or bags, and y in the classes of the model; the name of the file is for messages."""

    file: str
    X: Any
    y: Array


def read_labelled(path: str, saved: SavedModel, **columns: Any) -> Labelled:
    """Read a file with labels.

    Parameters
    ----------
    **columns
        ``label`` and ``bag``, if they are not those of training, and ``watch``.
    """
    model, encoding = saved
    table = read_like(path, encoding, with_labels=True, **columns)
    if table.y is None:
        raise BadData(f"{table.file}: there are no labels to compare with; name them with --label.")
    X, y = table.X, table.y
    if hasattr(model, "embedding_"):
        X = bags_of(table)
        y = labels_of(table, X, y)
    return Labelled(
        table.file, X, match_labels(table.file, y, model.classes_, encoding.against_rest)
    )
