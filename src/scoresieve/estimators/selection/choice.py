"""The grid of a cross-validation, the table of its scores, and the point that is chosen."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_C, check_count, check_positive
from scoresieve._user_warnings import warn_user
from scoresieve.estimators.selection.candidates import PathScores

#: Budgets to choose from when none are given, lowered to the number of features.
DEFAULT_BUDGETS = (2, 5, 10, 20, 50, 100, 200)
#: The useful range of C for F1 on text, from which an integer ``Cs`` takes so many values.
LEAST_C, LARGEST_C = 1.0, 100.0
#: How the point of the grid is chosen.
RULES = ("best", "1se")


def default_budgets(n_units: int) -> list[int]:
    """2, 5, 10, ..., 200 up to the number of columns or groups, and that number if it is lower."""
    return [each for each in DEFAULT_BUDGETS if each < n_units] + (
        [n_units] if n_units <= DEFAULT_BUDGETS[-1] else []
    )


def check_grid(values: Any, name: str, check: Callable[[Any, str], Any]) -> list:
    """Sorted distinct values of a list, each in the form that ``check(value, name)`` gives it."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list; got {values!r}. Put a single value in a list.")
    checked = {check(each, f"{name}[{place}]") for place, each in enumerate(values)}
    if not checked:
        raise ValueError(f"{name} is empty; give at least one value.")
    return sorted(checked)


def check_sizes(values: Any, name: str) -> list[int]:
    """Sorted distinct integers of at least 1."""
    return check_grid(values, name, check_count)


def lower_sizes(sizes: list[int], n_units: int, kind: str) -> list[int]:
    """Sorted distinct sizes of at most ``n_units``; only budgets are lowered with a warning.

    At most k features stay at most k, however few there are.
    """
    if kind == "budget" and sizes[-1] > n_units:
        warn_user(
            f"budgets up to {sizes[-1]} are more than the {n_units} columns or groups that can be "
            f"selected; {n_units} is used for all that are."
        )
    return sorted({min(size, n_units) for size in sizes})


def read_sizes(estimator: Any, name: str, n_units: int) -> tuple[str, list[int]]:
    """The parameter that the sizes are of, ``"budget"`` or ``name``, and the sizes to choose from.

    Parameters
    ----------
    estimator : object
        With the parameters ``budgets`` and ``name``, of which at most one is given.
    name : {"n_features_to_select", "n_instances_to_select"}
    n_units : int
        How many columns, groups or instances can be selected.
    """
    budgets, numbers = estimator.budgets, getattr(estimator, name)
    if budgets is not None and numbers is not None:
        raise ValueError(
            f"budgets={budgets!r} and {name}={numbers!r} are both given; give one of them. {name} "
            f"is a guarantee, budgets let more {name.split('_')[1]} in at less weight."
        )
    if numbers is not None:
        kind, sizes = name, check_sizes(numbers, name)
    elif budgets is not None:
        kind, sizes = "budget", check_sizes(budgets, "budgets")
    else:
        kind, sizes = "budget", default_budgets(n_units)
    return kind, lower_sizes(sizes, n_units, kind)


def check_Cs(Cs: Any) -> list[float]:
    """Sorted distinct values of C, or so many from 1 to 100 in equal ratios."""
    if isinstance(Cs, numbers.Integral) and not isinstance(Cs, bool):
        return np.geomspace(LEAST_C, LARGEST_C, check_count(Cs, "Cs")).tolist()
    return check_grid(Cs, "Cs", lambda C, name: check_C(check_positive(C, name)))


def check_refit(refit: Any, n_splits: int) -> str:
    """The name of a rule that can be used with so many splits."""
    if not isinstance(refit, str) or refit not in RULES:
        raise ValueError(
            f"refit must be 'best' (the highest mean score) or '1se' (the smallest budget within "
            f"one standard error of it); got {refit!r}."
        )
    if refit == "1se" and n_splits < 2:
        raise ValueError("refit='1se' needs at least two splits for a standard error; change cv.")
    return refit


def tabulate(
    kind: str, sizes: list[int], Cs: list[float], paths: list[list[PathScores]]
) -> dict[str, Any]:
    """``cv_results_``: one row for each size and C, as ``GridSearchCV`` has it.

    Parameters
    ----------
    kind : {"budget", "n_features_to_select"}
        What the sizes are.
    Cs : list of float
        They change faster than the sizes.
    paths : list of list of PathScores
        For each split and each C.
    """

    def by_row(field: str) -> FloatArray:
        values = np.array([[getattr(path, field) for path in row] for row in paths])
        return values.transpose(2, 1, 0).reshape(len(sizes) * len(Cs), len(paths))

    scores, seconds = by_row("scores"), by_row("seconds")
    params = [{kind: size, "C": C} for size in sizes for C in Cs]
    # Exact sums, so that the same scores in other splits are a tie.
    means = np.array([math.fsum(row) for row in scores]) / len(paths)
    return {
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
        f"param_{kind}": np.array([point[kind] for point in params], dtype=np.int64),
        "param_C": np.array([point["C"] for point in params]),
        "params": params,
        **{f"split{split}_test_score": column for split, column in enumerate(scores.T)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rankdata(-means, method="min").astype(np.int32),
        "mean_n_features": by_row("n_features").mean(axis=1),
    }


def choose(results: dict[str, Any], kind: str, refit: str) -> int:
    """The row with the highest mean score, or with the smallest size within one standard error.

    Conventions
    -----------
    * Of rows with equal scores the one with fewer features wins, then the smaller size, then the
      smaller C.
    * The standard error is ``sd / sqrt(n_splits)`` of the scores of the best row, the sd with
      ``n_splits - 1``. Each size is represented by its best C.

    Parameters
    ----------
    results : dict
        See :func:`tabulate`.
    kind : {"budget", "n_features_to_select"}
    refit : {"best", "1se"}
    """
    means, sizes = results["mean_test_score"], results[f"param_{kind}"]
    order = np.lexsort((results["param_C"], sizes, results["mean_n_features"], -means))
    best = int(order[0])
    if refit == "best":
        return best
    scores = [column[best] for name, column in results.items() if name.startswith("split")]
    error = np.std(scores, ddof=1) / np.sqrt(len(scores))
    smallest = sizes[means >= means[best] - error].min()
    return int(order[sizes[order] == smallest][0])
