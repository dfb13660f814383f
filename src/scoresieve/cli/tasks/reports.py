"""The page about a kept model."""

from __future__ import annotations

from typing import Any

from scoresieve.cli.errors import naming
from scoresieve.cli.tasks.labelled import read_labelled
from scoresieve.cli.tasks.model_file import SavedModel
from scoresieve.report import write_report


def report_model(
    saved: SavedModel, output: str, file: str | None, title: str | None, **columns: Any
) -> None:
    """Write the page, with curves of the labelled rows of a file if there is one.

    Parameters
    ----------
    **columns
        ``label``, ``bag`` and ``watch`` as for :func:`read_labelled`.
    """
    is_of_bags = hasattr(saved.model, "embedding_")
    about: dict[str, Any] = {
        "feature_names": None if is_of_bags else saved.encoding.rows.feature_names(),
        "title": title,
    }
    if file is None:
        write_report(saved.model, output, **about)
        return
    data = read_labelled(file, saved, **columns)
    with naming(data.file):
        write_report(saved.model, output, data.X, data.y, **about)
