"""What an estimator tells its user about a fit: an open gap, no features, columns out of scale."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from scoresieve._arrays import FloatArray
from scoresieve._user_warnings import warn_user
from scoresieve.design import RowBlocks
from scoresieve.risks import MeasureRisk
from scoresieve.solvers.limits import Status
from scoresieve.solvers.problem import PriceIs, Problem
from scoresieve.solvers.result import SolveResult

#: Columns whose sizes differ by more than this are reported.
LARGEST_RATIO = 1000.0
#: Columns with fewer entries say little about their size.
FEWEST_ENTRIES = 5
#: How many columns of each end are named.
N_NAMED = 3


def warn_about(problem: Problem, result: SolveResult, title: str, tol: float) -> None:
    """Tell the user of a fit that stopped early and of a model without features.

    Parameters
    ----------
    problem : Problem
        As it was before the fit.
    title : str
        What was fitted: "class 'rare'".
    """
    if not result.status.reached_tolerance:
        warn_user(
            f"{title}: the certified gap is {result.gap:.3g} and tol={tol:g}. "
            f"{result.status.value} Columns of similar size and a smaller C also help.",
            ConvergenceWarning,
        )
    elif result.support.size == 0:
        warn_user(f"{title}: {_why_empty(problem, result)} {_remedy(problem, result)}")


def _why_empty(problem: Problem, result: SolveResult) -> str:
    """What is known of a model without features, and no more than that."""
    if result.status is Status.EMPTY_CHOICE:
        return "the model has no features: nothing better was found with so few."
    empty = f"the model has no features: at C={problem.C:g}"
    if not isinstance(problem.risk, MeasureRisk):
        return f"{empty} none lowers the objective by more than the tolerance."
    name = problem.risk.kind.name
    return (
        f"{empty} and price={result.price:.3g} the bound of {name!r} is least without any. That "
        "says that the bound is empty here, not that the columns are."
    )


def _remedy(problem: Problem, result: SolveResult) -> str:
    """What to change for a model with features."""
    if result.status is Status.EMPTY_CHOICE:
        return "Allow more of them."
    smallest_C, other = result.smallest_C, _other_way(problem)
    if smallest_C is not None and np.isinf(smallest_C):
        return f"No larger C changes that: {other or 'no column tells high y from low y'}."
    enough = "" if smallest_C is None else f" to at least {_rounded_up(smallest_C):g}"
    return f"Raise C{enough}, or {other}." if other else f"Raise C{enough}."


def _other_way(problem: Problem) -> str:
    """What else a user of a measure can do."""
    risk = problem.risk
    if not isinstance(risk, MeasureRisk):
        return ""
    if not risk.is_tight and risk.flip_values is not None:
        return "use bound='tight' with an intercept, which follows the measure"
    if problem.price_is is PriceIs.GIVEN and risk.price != risk.kind.fixed_rate(risk.y):
        return "lower price, or leave it at 'auto'"
    return "select features with BudgetClassifier"


def _rounded_up(value: float) -> float:
    """The value with three digits, not below it, so that it can be taken as it is printed."""
    unit = 10.0 ** (floor(log10(value)) - 2)
    return ceil(value / unit) * unit


def warn_of_scales(X: Any, names: Any = None, excluded: Any = None) -> None:
    """Tell the user of columns whose entries differ in size by more than a thousand times.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    names : array-like of str, optional
        Of the columns.
    excluded : array-like of int or boolean mask, optional
        Columns that are never selected.
    """
    if has_like_entries(X):
        return
    sizes = column_sizes(X)
    if excluded is not None:
        sizes[np.asarray(excluded)] = 0.0
    used = np.flatnonzero(sizes)
    if not used.size or sizes.max() <= LARGEST_RATIO * sizes[used].min():
        return
    order = used[np.argsort(sizes[used], kind="stable")]
    # Those at either end that are far from some other column.
    small = order[LARGEST_RATIO * sizes[order] < sizes.max()]
    large = order[sizes[order] > LARGEST_RATIO * sizes[order[0]]][::-1]
    warn_user(
        f"columns of X differ in size by {sizes.max() / sizes[order[0]]:.3g} times, so that the "
        f"large ones are selected for their size: {_named(small, sizes, names)} against "
        f"{_named(large, sizes, names)} (root mean squares). Scale the columns, with "
        "StandardScaler or, if X is sparse, MaxAbsScaler."
    )


def has_like_entries(X: Any) -> bool:
    """Whether no two entries are so far apart that columns could be, as in most text.

    A root mean square lies between the smallest and the largest entry. To see these two costs a
    tenth of the sizes of all columns. Where entries are negative the answer is no.
    """
    if not sp.issparse(X) or not X.data.size:
        return False
    smallest = X.data.min()
    return bool(smallest > 0 and X.data.max() <= LARGEST_RATIO * smallest)


def column_sizes(X: Any) -> FloatArray:
    """The root mean square of each column's entries that are not 0; 0 if there are few."""
    totals: Any
    counts: Any
    if isinstance(X, RowBlocks):
        totals, counts = np.square(X.statistics.norms), X.statistics.counts
    elif sp.issparse(X):
        X = X if X.format == "csr" else X.tocsc()
        columns = X.indices
        if X.format == "csc":
            columns = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        squares = np.square(X.data, dtype=np.float64)
        totals = np.bincount(columns, squares, minlength=X.shape[1])
        is_entry = X.data != 0
        stored = columns if is_entry.all() else columns[is_entry]
        counts = np.bincount(stored, minlength=X.shape[1])
    else:
        totals = np.einsum("ij,ij->j", X, X, dtype=np.float64)
        counts = np.count_nonzero(X, axis=0)
    is_told = counts >= min(FEWEST_ENTRIES, X.shape[0])
    return np.sqrt(np.divide(totals, counts, out=np.zeros(X.shape[1]), where=is_told))


def _named(columns: Any, sizes: FloatArray, names: Any) -> str:
    """The first few columns with their sizes."""
    shown = [
        f"{int(column) if names is None else repr(str(names[column]))} ({sizes[column]:.3g})"
        for column in columns[:N_NAMED]
    ]
    more = f" and {columns.size - N_NAMED} more" if columns.size > N_NAMED else ""
    return ", ".join(shown) + more
