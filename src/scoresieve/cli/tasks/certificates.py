"""Objective, lower bound and gap of a kept model, recomputed from its training rows."""

from __future__ import annotations

from typing import Any

from scoresieve.cli.errors import BadData, one_line
from scoresieve.cli.tasks.describe import classes_of
from scoresieve.cli.tasks.labelled import read_labelled
from scoresieve.cli.tasks.model_file import SavedModel
from scoresieve.design import DamagedBlocksError


def certificates_of(path: str, saved: SavedModel, file: str, **columns: Any) -> list[dict]:
    """One row for each class, with what the fit itself had said.

    Parameters
    ----------
    path : str
        Of the model, for messages.
    **columns
        ``label``, ``bag`` and ``watch`` as for :func:`read_labelled`.
    """
    model = saved.model
    points = _dual_points(model)
    if points is None:
        raise BadData(
            f"{path}: a {type(model).__name__} is chosen by the scores of unseen rows and has no "
            "certificate; fit with --method measure, or a loss, and --certificate."
        )
    if any(point is None for point in points):
        raise BadData(
            f"{path}: the file holds no dual point, which the proof needs; fit again with "
            "--certificate."
        )
    data = read_labelled(file, saved, **columns)
    try:
        found = model.certify(data.X, data.y)
    except DamagedBlocksError as error:
        raise BadData(f"{data.file}: {one_line(error)}") from error
    except ValueError as error:
        raise BadData(
            f"{data.file}: it does not fit the certificate of {path}, so it is not the training "
            f"file ({one_line(error)}); give that file."
        ) from error
    found = found if isinstance(found, list) else [found]
    return [
        {
            "class": label,
            "objective": each.primal,
            "lower bound": each.dual,
            "gap": each.gap,
            "gap of the fit": float(gap),
        }
        for label, each, gap in zip(classes_of(saved.targets), found, model.gap_, strict=True)
    ]


def _dual_points(model: Any) -> list[Any] | None:
    inner = getattr(model, "model_", model)
    return getattr(inner, "_dual_points", None)
