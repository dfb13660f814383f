"""What every part of a run knows: where things are, and how much is to be done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies.common.data import DataFolder

#: Raised when rows get other fields: what was stored in an earlier form is done again.
FORM_OF_ROWS = 2


@dataclass(frozen=True)
class Context:
    """Where data and results are, and how much is to be done.

    Attributes
    ----------
    data : Path or None
        The data folder.
    out : Path
        The folder of tables, figures, raw results and the page.
    cache : Path or None
        Where parsed data files are kept.
    quick : bool
        A few classes and budgets only.
    generated : bool
        Small generated sets of the same kind instead of the files.
    jobs : int
        Processes at a time.
    """

    data: Path | None
    out: Path
    cache: Path | None
    quick: bool = False
    generated: bool = False
    jobs: int = 1

    @property
    def folder(self) -> DataFolder:
        """The data folder with its cache."""
        return DataFolder(self.data, self.cache)


@dataclass(frozen=True)
class Unit:
    """A piece of work that is done once: a task of an experiment with its settings.

    Attributes
    ----------
    task : str
        A name in the experiment's ``TASKS``.
    settings : mapping of str to JSON values
        Arguments of the task: everything that its result depends on, besides the versions.
    cost : float
        Seconds that it may take on one core, for the estimate of the time left.
    """

    task: str
    settings: Mapping[str, Any] = field(hash=False)
    cost: float = 1.0

    def key(self, context: Context) -> str:
        """One line of JSON that names the unit and where its data come from."""
        source = "generated" if context.generated else "files"
        content = {"task": self.task, "source": source, "form": FORM_OF_ROWS, **self.settings}
        return json.dumps(content, sort_keys=True)
