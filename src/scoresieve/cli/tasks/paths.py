"""Score, or objective, against the number of features: one row for each number."""

from __future__ import annotations

from typing import Any

import numpy as np

from scoresieve import budget_path
from scoresieve.cli.data.labels import text_of
from scoresieve.cli.data.table import Table
from scoresieve.cli.errors import WrongUse, naming
from scoresieve.cli.progress import progress_of_fit
from scoresieve.cli.tasks.models import MEASURE, Settings, make_model

Row = dict[str, Any]


def sieve_table(data: Table, settings: Settings, quiet: bool) -> list[Row]:
    """The best cross-fitted score of each number of features, and the number that is chosen."""
    model = make_model(settings, data.positive)
    with progress_of_fit(model, "fitting", quiet), naming(data.file):
        model.fit(data.X, data.y)
    rows = []
    for problem, results in enumerate(model._tables):
        sizes = np.array([point["n_features_to_select"] for point in results["params"]])
        chosen = sizes[model._rows[problem]]
        label = _label(model, problem)
        for size in np.unique(sizes):
            of_size = np.flatnonzero(sizes == size)
            best = of_size[np.argmax(results["mean_test_score"][of_size])]
            point = results["params"][best]
            rows.append(
                {
                    **({} if label is None else {"class": label}),
                    "k": int(size),
                    model.measure_.name: float(results["mean_test_score"][best]),
                    "standard error": float(results["std_test_score"][best]),
                    "columns by": point["selection"],
                    "model": point["final_model"],
                    "chosen": "*" if size == chosen else "",
                }
            )
    return rows


def _label(model: Any, problem: int) -> str | None:
    targets = model._targets
    return None if targets.kind == "binary" else text_of(targets.classes[problem])


def budgets_table(data: Table, settings: Settings, quiet: bool) -> list[Row]:
    """Objective, bound and gap of each budget."""
    if settings.cv is not None:
        raise WrongUse(f"--cv {settings.cv} is for the sieve; leave it out.")
    if not settings.k:
        raise WrongUse("-k auto is for the sieve; give a list of budgets such as -k 5,10,20.")
    if settings.C is not None and len(settings.C) > 1:
        raise WrongUse(f"-C has {len(settings.C)} values; a path takes one of them.")
    is_measure = settings.method == MEASURE
    with progress_of_fit(None, "fitting", quiet), naming(data.file):
        found = budget_path(
            data.X,
            data.y,
            settings.k,
            measure=settings.measure if is_measure else None,
            loss=None if is_measure else settings.loss,
            C=None if settings.C is None else settings.C[0],
            pos_label=data.positive,
            max_time=settings.max_time,
        )
    columns = {
        "budget": found.budgets,
        "features": found.n_features_selected,
        "objective": found.primal,
        "lower bound": found.dual,
        "gap": found.gap,
        "rounds": found.n_iter,
    }
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]
