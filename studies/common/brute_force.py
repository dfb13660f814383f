"""An independent way to solve tiny problems: labellings are enumerated, losses written out again.

Nothing here calls the oracles, the norms or the solvers of the library, and the optimum comes from
a conic programme in the weights. Tests and soak runs compare with it.
"""

from __future__ import annotations

import itertools

import clarabel
import numpy as np
import scipy.sparse as sp


def correlation(a, b, P, N):
    """Of the two labellings as vectors of zeros and ones; 0 if one of them is constant."""
    true = np.repeat([1.0, 0.0], [P, N])
    predicted = np.repeat([1.0, 0.0, 1.0, 0.0], [a, P - a, b, N - b])
    return np.corrcoef(true, predicted)[0, 1] if np.ptp(predicted) else 0.0


#: Loss of a labelling with a true and b false positives, for P positives and N negatives.
TABLE_LOSSES = {
    "f1": lambda a, b, P, N: 1 - 2 * a / (a + b + P),
    "f2": lambda a, b, P, N: 1 - 5 * a / (a + b + 4 * P),
    "accuracy": lambda a, b, P, N: (P - a + b) / (P + N),
    "balanced_accuracy": lambda a, b, P, N: ((P - a) / P + b / N) / 2,
    "jaccard": lambda a, b, P, N: 1 - a / (P + b),
    "prec@2": lambda a, b, P, N: 1 - a / (a + b) if a + b >= 2 else None,
    "rec@3": lambda a, b, P, N: 1 - a / P if a + b <= 3 else None,
    "rec@2p": lambda a, b, P, N: 1 - a / P if a + b <= 2 * P else None,
    "prbep": lambda a, b, P, N: 1 - a / P if a + b == P else None,
    "precision@recall>=0.6": lambda a, b, P, N: b / (a + b) if a >= 0.6 * P else 1.0,
    "recall@precision>=0.6": lambda a, b, P, N: 1 - a / P if a >= 0.6 * (a + b) > 0 else 1.0,
    "mcc": lambda a, b, P, N: (1 - correlation(a, b, P, N)) / 2,
    "geometric_mean": lambda a, b, P, N: 1 - np.sqrt(a / P * (N - b) / N),
}
#: How many scores are the highest ones, where a measure is about these.
HIGHEST = {
    "prec@2": lambda P: 2,
    "rec@3": lambda P: 3,
    "rec@2p": lambda P: 2 * P,
    "prbep": lambda P: P,
}
RANKINGS = ("roc_auc", "average_precision")


def name_of(measure):
    return measure if isinstance(measure, str) else measure.name


def norm_squared(w, budget, feature_groups=None, always_features=(), excluded_features=()):
    """``min_d sum w^2/d`` by bisection on t in ``d = min(1, z/t)``, ``sum d = B``."""
    w = np.asarray(w, dtype=float)
    if np.any(w[list(excluded_features)]):
        return np.inf
    units = units_of(w.size, feature_groups, always_features, excluded_features)
    z = np.array([np.linalg.norm(w[unit]) for unit in units])
    outside = float(np.sum(w[list(always_features)] ** 2))
    if np.count_nonzero(z) <= budget:
        return outside + float(z @ z)
    low, high = 0.0, z.sum()
    for _ in range(200):
        t = 0.5 * (low + high)
        low, high = (t, high) if np.minimum(1, z / t).sum() > budget else (low, t)
    used = z > 0
    return outside + float(np.sum(z[used] ** 2 / np.minimum(1, z[used] / high)))


def dual_norm_squared(c, budget, feature_groups=None, always_features=(), excluded_features=()):
    """The sum of the B largest unit sums of squares, and of the columns that are always in."""
    units = units_of(c.size, feature_groups, always_features, excluded_features)
    sums = [np.sum(c[unit] ** 2) for unit in units]
    return sum(sorted(sums)[-budget:]) + float(np.sum(c[list(always_features)] ** 2))


def units_of(n_features, feature_groups=None, always_features=(), excluded_features=()):
    """The column numbers of each unit that the budget counts."""
    groups = np.arange(n_features) if feature_groups is None else np.asarray(feature_groups)
    free = np.setdiff1d(np.arange(n_features), [*always_features, *excluded_features])
    return [free[groups[free] == g] for g in np.unique(groups[free])]


def every_cut(measure, y, price=None, has_threshold=True):
    """All (delta, U * Delta) that compete, as arrays of shapes (K, n) and (K,).

    Without a price those of the paper's bound, with one those of the tight bound at this price.
    """
    name = name_of(measure)
    if name in RANKINGS:
        found = list(_every_ranking(name, y))
    elif price is not None and (name not in HIGHEST or has_threshold):
        found = [
            (np.where(y > 0, 1.0, price) * delta, loss)
            for delta, loss in _every_tight_labelling(name, y, price)
        ]
    else:
        found = list(_every_labelling(name, y))
    return np.array([delta for delta, _ in found]), np.array([loss for _, loss in found])


def takes_price(measure, has_threshold):
    """Whether a tight bound may have any price: not of rankings, nor of highest ones above 0."""
    name = name_of(measure)
    return name not in RANKINGS and (name not in HIGHEST or has_threshold)


def _labellings(y):
    """Every delta, with its true and its false positives."""
    for flips in itertools.product([0.0, 1.0], repeat=y.size):
        delta = np.array(flips) * y
        yield delta, np.sum(y > 0) - np.sum(delta > 0), np.sum(delta < 0)


def _every_labelling(name, y):
    P, N = np.sum(y > 0), np.sum(y < 0)
    unit = y.size if name == "accuracy" else P
    for delta, a, b in _labellings(y):
        loss = TABLE_LOSSES[name](a, b, P, N)
        if loss is not None and loss > 1e-12:
            yield delta, unit * loss


def _every_tight_labelling(name, y, price):
    """Misses among the k highest, missed positives and priced alarms for a floor, or as before."""
    P = np.sum(y > 0)
    if name in HIGHEST:
        k = HIGHEST[name](P)
        for delta, a, b in _labellings(y):
            yield delta, max(k - a, b) - max(k - P, 0)
    elif ">=" in name:
        for delta, a, b in _labellings(y):
            yield delta, P - a + price * b
    else:
        yield from _every_labelling(name, y)


def _every_ranking(name, y):
    P, N = np.sum(y > 0), np.sum(y < 0)
    seen = set()
    for ranking in itertools.permutations(range(y.size)):
        counts, precisions, above = np.zeros(y.size), [], []
        for i in ranking:
            if y[i] < 0:
                above.append(i)
            else:
                counts[i] += len(above)
                counts[above] -= 1
                precisions.append((len(precisions) + 1) / (len(precisions) + 1 + len(above)))
        swapped = counts[counts > 0].sum()
        loss = swapped / (P * N) if name == "roc_auc" else 1 - np.mean(precisions)
        if swapped and counts.tobytes() not in seen:
            seen.add(counts.tobytes())
            yield counts / N, P * loss


def clarabel_solve(P, q, blocks, tol=1e-10):
    """``min 1/2 x'Px + q'x`` with ``b - A x`` in the cone, for blocks of (A, b, cone)."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    A = sp.csc_matrix(np.vstack([block[0] for block in blocks]))
    b = np.concatenate([block[1] for block in blocks])
    cones = [block[2] for block in blocks]
    P = sp.csc_matrix(np.triu(P))
    answer = clarabel.DefaultSolver(P, np.asarray(q, float), A, b, cones, settings).solve()
    assert str(answer.status) in ("Solved", "AlmostSolved")
    return np.array(answer.x), answer.obj_val


def optimum(cuts, losses, C, budget, feature_groups=None, always_features=(), excluded_features=()):
    """``min_w 1/2 ||w||_B^2 + C max(0, max_k q_k - <a_k, w>)``, in (w, s, d, xi); value and w."""
    n_cuts, m = cuts.shape
    units = units_of(m, feature_groups, always_features, excluded_features)
    n_units = len(units)
    n = m + 2 * n_units + 1
    at_s, at_d = m + np.arange(n_units), m + n_units + np.arange(n_units)
    P, q = np.zeros((n, n)), np.zeros(n)
    P[list(always_features), list(always_features)] = 1.0
    q[at_s], q[-1] = 0.5, C
    bounds = np.zeros((n_cuts + 2 * n_units + 2, n))
    sides = np.zeros(bounds.shape[0])
    bounds[:n_cuts, :m], bounds[:n_cuts, -1], sides[:n_cuts] = -cuts, -1.0, -losses
    rows = n_cuts + np.arange(n_units)
    bounds[rows, at_d], bounds[rows + n_units, at_d], sides[rows] = 1.0, -1.0, 1.0
    bounds[-2, at_d], sides[-2], bounds[-1, -1] = 1.0, budget, -1.0
    blocks = [(bounds, sides, clarabel.NonnegativeConeT(sides.size))]
    if len(excluded_features):
        out = np.eye(n)[list(excluded_features)]
        blocks.append((out, np.zeros(out.shape[0]), clarabel.ZeroConeT(out.shape[0])))
    for u, unit in enumerate(units):
        rows = np.zeros((unit.size + 2, n))
        rows[0, [at_s[u], at_d[u]]], rows[1, [at_s[u], at_d[u]]] = -1.0, (-1.0, 1.0)
        rows[2 + np.arange(unit.size), unit] = -2.0
        blocks.append((rows, np.zeros(unit.size + 2), clarabel.SecondOrderConeT(unit.size + 2)))
    x, value = clarabel_solve(P, q, blocks)
    return value, x[:m]


def objective(cuts, losses, w, C, budget, **sets):
    """``J(w)`` by the maximum over all cuts."""
    risk = max(0.0, float(np.max(losses - cuts @ w)))
    return 0.5 * norm_squared(w, budget, **sets) + C * risk


def enumerated(
    X,
    y,
    measure,
    intercept_scaling=0.0,
    always_features=(),
    excluded_features=(),
    feature_groups=None,
    price=None,
):
    """All cuts on all columns, their losses, and the column sets with the constant column in.

    Without a price it is the paper's bound, with one the tight bound at this price.
    """
    deltas, losses = every_cut(measure, y, price, has_threshold=intercept_scaling > 0)
    sets = {
        "always_features": list(always_features),
        "excluded_features": list(excluded_features),
        "feature_groups": feature_groups,
    }
    if intercept_scaling:
        sets["always_features"].append(X.shape[1])
        X = np.column_stack([X, np.full(y.size, intercept_scaling)])
        if feature_groups is not None:
            sets["feature_groups"] = [*feature_groups, max(feature_groups) + 1]
    return deltas @ X, losses, sets
