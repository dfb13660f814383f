"""The two-hinge-sum bound on a few columns, solved directly instead of by cuts.

    min_w 1/2 ||w||^2 + C max{ sum_l c_l (1[l counts for A] - y_l <w, x_l>)_+ + a , ... B ... + b }

Rows without any of the columns have the same scores, so that each class has one of them, with its
number as the weight c. Two ways:

* :func:`by_interior_point`: a primal-dual method whose steps cost ``M^T D M`` over these rows;
* :func:`by_clarabel`: the same quadratic programme, with a slack for every hinge, by Clarabel.

Newton steps on a rounded problem were tried first: they find w as fast, but their line searches
stop at the kinks of the rows that many examples share, and their dual points prove nothing.

Both give a dual point, ``0 <= alpha_l <= C c_l theta``, and so a gap that is certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from studies.common.internals import ConicProgramme, run_clarabel

Array = np.ndarray
#: Rows with at least this share of entries are held dense.
DENSE_SHARE = 0.2
#: Most steps, and how much of the way to the next bound a step goes.
MAX_STEPS, INSIDE = 100, 0.995


@dataclass(frozen=True, eq=False)
class FewColumns:
    """The rows of a problem on a few columns, those without any entry taken together.

    Attributes
    ----------
    M : ndarray or csr_matrix of shape (n_rows, n_columns)
        ``y_l x_l``, dense if a good part of its entries are not 0.
    positive : ndarray of bool
    counts : ndarray
        c.
    row_of : ndarray of int of shape (n_samples,)
        Where each example stands among the rows.
    constants : tuple of float
        a and b.
    C : float
    """

    M: Any
    positive: Array
    counts: Array
    row_of: Array
    constants: tuple[float, float]
    C: float


class Direct(NamedTuple):
    """A point, its dual vector of the rows (``C delta_l``, c included), both values, the steps."""

    w: Array
    v: Array
    primal: float
    dual: float
    n_steps: int

    @property
    def gap(self) -> float:
        """``(primal - dual) / primal``."""
        return (self.primal - self.dual) / self.primal


def few_columns(
    block: sparse.csc_matrix, y: Array, constant: float, constants: tuple[float, float], C: float
) -> FewColumns:
    """The rows of ``block``, with the constant column first.

    Parameters
    ----------
    block : csc_matrix of shape (n_samples, n_features)
    constant : float
        Value of the constant column.
    """
    full = np.unique(block.indices)
    row_of = np.full(y.size, -1)
    row_of[full] = np.arange(full.size)
    signs, counts = [y[full]], [np.ones(full.size)]
    for sign in (1.0, -1.0):
        empty = np.flatnonzero((row_of < 0) & (y == sign))
        if empty.size:
            row_of[empty] = full.size + len(signs) - 1
            signs.append(np.array([sign]))
            counts.append(np.array([float(empty.size)]))
    sign = np.concatenate(signs)
    below = sparse.csr_matrix((sign.size - full.size, block.shape[1]))
    rows = sparse.hstack(
        [np.full((sign.size, 1), constant), sparse.vstack([block.tocsr()[full], below])]
    )
    M = sparse.diags_array(sign) @ rows.tocsr()
    M = M.toarray() if M.nnz >= DENSE_SHARE * np.prod(M.shape) else M
    return FewColumns(M, sign > 0, np.concatenate(counts), row_of, constants, C)


class _State(NamedTuple):
    """A point inside all bounds; arrays of A and B are stacked, (2, n_rows) or (2,)."""

    w: Array
    t: float
    xi: Array
    r: Array  # xi - bars + M w, the room of the margins
    p: Array  # t - sum_l c_l xi_l - constants, the room of the sums
    alpha: Array
    beta: Array
    theta: Array

    def moved(self, step: _State, length: float) -> _State:
        """The point after a step."""
        return _State(*(x + length * dx for x, dx in zip(self, step, strict=True)))

    def products(self) -> float:
        """The sum of all complementarity products."""
        pairs = ((self.xi, self.beta), (self.r, self.alpha), (self.p, self.theta))
        return float(sum(np.vdot(x, z) for x, z in pairs))


def by_interior_point(
    problem: FewColumns, start: Array, *, tol: float, give_up_at: float = np.inf
) -> Direct:
    """Mehrotra's predictor-corrector method; each step solves one system of n_columns + 3.

    Parameters
    ----------
    start : ndarray of shape (n_columns,)
    tol : float
        Certified relative gap to stop at.
    give_up_at : float
        A lower bound at which nobody is interested any more.
    """
    bars = np.stack([problem.positive, ~problem.positive]).astype(float)
    n_products = 4 * problem.counts.size + 2
    primal = min((_primal(problem, bars, w), tuple(w)) for w in (start, 0.0 * start))
    best, dual, v = (primal[0], np.array(primal[1])), 0.0, np.zeros(problem.counts.size)
    state = _first_state(problem, bars, best[1])
    n_steps = 0
    while n_steps < MAX_STEPS:
        n_steps += 1
        bound, vector = _dual(problem, bars, state)
        if bound > dual:
            dual, v = bound, vector
        for w in (state.w, problem.M.T @ vector):
            value = _primal(problem, bars, w)
            best = (value, w) if value < best[0] else best
        if best[0] - dual <= tol * best[0] or dual >= give_up_at:
            break
        system = _System(problem, bars, state)
        mu = state.products() / n_products
        ahead = system.step(0.0, None)
        left = state.moved(ahead, _length(state, ahead)).products() / n_products
        step = system.step(mu * (left / mu) ** 3, ahead)
        state = state.moved(step, INSIDE * _length(state, step))
    return Direct(best[1], v, best[0], dual, n_steps)


def _primal(problem: FewColumns, bars: Array, w: Array) -> float:
    sums = np.maximum(bars - problem.M @ w, 0.0) @ problem.counts + problem.constants
    return 0.5 * float(w @ w) + problem.C * float(sums.max())


def _dual(problem: FewColumns, bars: Array, state: _State) -> tuple[float, Array]:
    """``sum alpha bar + <theta, constants> - 1/2 ||M^T sum alpha||^2``, of a feasible alpha."""
    theta = state.theta * (problem.C / state.theta.sum())
    alpha = np.minimum(state.alpha, theta[:, None] * problem.counts)
    v = alpha.sum(axis=0)
    pull = problem.M.T @ v
    gain = float(np.vdot(alpha, bars) + theta @ problem.constants)
    return gain - 0.5 * float(pull @ pull), v


def _first_state(problem: FewColumns, bars: Array, w: Array) -> _State:
    """Slacks of their hinges and 1; half of each bound for the multipliers."""
    margins = problem.M @ w
    xi = np.maximum(bars - margins, 0.0) + 1.0
    sums = xi @ problem.counts + problem.constants
    t = 1.1 * float(sums.max()) + 1.0
    theta = np.full(2, 0.5 * problem.C)
    half = 0.5 * theta[:, None] * problem.counts
    return _State(w, t, xi, xi - bars + margins, t - sums, half, half.copy(), theta)


def _length(state: _State, step: _State) -> float:
    """How far all variables can go: one length, because w couples primal and dual ones."""
    most = max(float(np.max(-dx / x)) for x, dx in zip(state[2:], step[2:], strict=True))
    return 1.0 / max(1.0, most)


def weighted_gram(M: Any, weights: Array) -> Array:
    """``M^T diag(weights) M``."""
    if not sparse.issparse(M):
        return (M.T * weights) @ M
    return (M.T @ (sparse.diags_array(weights) @ M)).toarray()


class _System:
    """The Newton system of a state, reduced to (w, theta, t) and factored once.

    With ``D = alpha / r``, ``E = beta / xi`` and ``S = D + E`` a row's xi goes by ``1 / S`` and its
    alpha by ``D E / S``, so that ``H = I + M^T (D E / S) M`` is all that the rows cost.
    """

    def __init__(self, problem: FewColumns, bars: Array, state: _State) -> None:
        self._problem, self._state = problem, state
        M, counts, d = problem.M, problem.counts, problem.M.shape[1]
        self._D, self._E = state.alpha / state.r, state.beta / state.xi
        self._S = self._D + self._E
        bends = (self._D * self._E / self._S).sum(axis=0)
        u = (M.T @ (counts * self._D / self._S).T).T
        matrix = np.zeros((d + 3, d + 3))
        matrix[:d, :d] = weighted_gram(M, bends) + np.eye(d)
        matrix[:d, d : d + 2], matrix[d : d + 2, :d] = -u.T, u
        room = (counts * counts / self._S).sum(axis=1) + state.p / state.theta
        matrix[[d, d + 1], [d, d + 1]] = room
        matrix[d : d + 2, d + 2] = matrix[d + 2, d : d + 2] = 1.0
        self._factor = linalg.lu_factor(matrix)
        self._of_rows = state.xi - bars + M @ state.w - state.r
        self._of_sums = state.t - state.xi @ counts - problem.constants - state.p
        self._of_dual = state.theta[:, None] * counts - state.alpha - state.beta
        self._of_w = M.T @ state.alpha.sum(axis=0) - state.w

    def step(self, mu: float, ahead: _State | None) -> _State:
        """The step towards products of mu, less the second-order terms of the step ``ahead``."""
        state, M, counts = self._state, self._problem.M, self._problem.counts
        D, S, d = self._D, self._S, self._problem.M.shape[1]
        second = (0.0, 0.0, 0.0)
        if ahead is not None:
            second = (ahead.alpha * ahead.r, ahead.beta * ahead.xi, ahead.theta * ahead.p)
        a = (mu - second[0]) / state.r - state.alpha
        b = (mu - second[1]) / state.xi - state.beta
        both = a + b - self._of_dual
        fixed = a - D / S * both - D * self._E / S * self._of_rows
        side = np.empty(d + 3)
        side[:d] = self._of_w + M.T @ fixed.sum(axis=0)
        side[d : d + 2] = (mu - second[2]) / state.theta - state.p - self._of_sums
        side[d : d + 2] += ((both - D * self._of_rows) / S) @ counts
        side[d + 2] = self._problem.C - state.theta.sum()
        solution = linalg.lu_solve(self._factor, side)
        dw, dtheta, dt = solution[:d], solution[d : d + 2], float(solution[d + 2])
        d_margins = M @ dw + self._of_rows
        dxi = (both - D * d_margins - dtheta[:, None] * counts) / S
        dr = dxi + d_margins
        dp = dt - dxi @ counts + self._of_sums
        return _State(dw, dt, dxi, dr, dp, a - D * dr, b - self._E * dxi, dtheta)


def by_clarabel(problem: FewColumns, *, tol: float) -> Direct:
    """``min 1/2 ||w||^2 + C t``, ``t >= <c, xi> + constant``, ``xi >= bar - M w``, ``xi >= 0``.

    Parameters
    ----------
    tol : float
        Clarabel's own.
    """
    (n_rows, n_columns), C = problem.M.shape, problem.C
    n = n_columns + 2 * n_rows + 1
    quadratic = sparse.diags_array(np.append(np.ones(n_columns), np.zeros(n - n_columns)))
    linear = np.append(np.zeros(n - 1), C)
    eye, M = sparse.eye_array(n_rows), sparse.csc_array(-sparse.csc_matrix(problem.M))
    counts = sparse.csc_array(problem.counts[None])
    one = sparse.csc_array([[-1.0]])
    rows = sparse.block_array(
        [
            [sparse.csc_array((1, n_columns)), counts, None, one],
            [None, None, counts, one],
            [M, -eye, None, None],
            [M, None, -eye, None],
            [None, -eye, None, None],
            [None, None, -eye, None],
        ],
        format="csc",
    )
    bars = np.concatenate([problem.positive, ~problem.positive]).astype(float)
    sides = np.concatenate([-np.array(problem.constants, float), -bars, np.zeros(2 * n_rows)])
    programme = ConicProgramme(
        sparse.csc_matrix(quadratic), linear, sparse.csc_matrix(rows), sides, []
    )
    x, duals, n_steps = run_clarabel(programme, tol)
    w, margins = x[:n_columns], problem.M @ x[:n_columns]
    exact = np.maximum(bars.reshape(2, -1) - margins, 0.0) @ problem.counts + problem.constants
    theta = np.maximum(duals[:2], 0.0)
    theta *= C / theta.sum()
    alpha = np.clip(duals[2 : 2 + 2 * n_rows].reshape(2, -1), 0.0, theta[:, None] * problem.counts)
    v = alpha.sum(axis=0)
    pull = problem.M.T @ v
    gain = float(np.sum(alpha * bars.reshape(2, -1)) + theta @ problem.constants)
    primal = 0.5 * float(w @ w) + C * float(exact.max())
    return Direct(w, v, primal, gain - 0.5 * float(pull @ pull), n_steps)
