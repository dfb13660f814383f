"""What a loss is: a convex function of one score, with its slope, curvature and conjugate.

Notation, used by every module of this package
----------------------------------------------
``y``
    Labels in {-1, +1} for classification, real targets for regression, shape (n_samples,).
``scores``
    Real scores ``s_i = <w, x_i>``, shape (n_samples,). A loss never sees X.
slope
    A number ``u``, taken for the derivative ``l'(y, s)``. The conjugate is a function of slopes:
    ``l*(y, u) = sup_s u s - l(y, s)``, infinite where no score has the slope u.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from scoresieve._arrays import FloatArray

#: Settings beyond these bounds, or squares of them, would leave the range of float64.
SMALLEST, LARGEST = 1e-100, 1e100


class Loss(ABC):
    """``l(y, s)``: convex in s, never negative, 0 somewhere.

    ``l(y, s) + l*(y, u) >= u s`` for all s and u (Fenchel and Young), with equality at
    ``u = derivative(y, s)``. So the derivative is the dual-feasible point at given scores.

    Conventions
    -----------
    * Every method works on arrays, one number an example, and sums nothing.
    * At a kink the derivative is one of the subgradients and the curvature one of its limits.
    * Arguments are float64 and checked by the caller. Scores of any finite size are fine.
    * An instance holds settings only, compares and hashes by them, and is never modified.

    Attributes
    ----------
    name : str
        The name that ``get_loss`` turns into this loss with its default settings.
    task : {"classification", "regression"}
    is_smooth : bool
        Whether the derivative is continuous. Otherwise ``curvature_bound`` is infinite.
    has_one_slope : bool
        Whether the derivative of an example is 0 or always the same number, ``-y_i``.
    has_free_intercept : bool
        Whether the intercept costs nothing where scikit-learn has the same loss, as in
        ``LogisticRegression``, ``Ridge`` and ``HuberRegressor``, but not in ``LinearSVC``.
    """

    name: ClassVar[str]
    task: ClassVar[str]
    is_smooth: ClassVar[bool] = True
    has_one_slope: ClassVar[bool] = False
    has_free_intercept: ClassVar[bool] = False

    @property
    @abstractmethod
    def curvature_bound(self) -> float:
        """``sup l''``: the Lipschitz constant of the derivative."""

    @abstractmethod
    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``l(y_i, s_i)``."""

    @abstractmethod
    def derivative(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``l'(y_i, s_i)``, a slope in the domain of the conjugate."""

    @abstractmethod
    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``l''(y_i, s_i)``, between 0 and the bound; 0 almost everywhere if not smooth."""

    @abstractmethod
    def conjugate(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``l*(y_i, u_i)``, infinite outside :meth:`slope_range`."""

    @abstractmethod
    def conjugate_derivative(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``dl*/du (y_i, u_i)``: a score with the slope ``u_i``, for slopes in the range."""

    @abstractmethod
    def conjugate_curvature(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``d2l*/du2 (y_i, u_i)``, for slopes in the range."""

    @abstractmethod
    def slope_range(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest slope of each example: the domain of the conjugate, around 0."""

    def largest_multiple(self, y: FloatArray, slopes: FloatArray) -> float:
        """``max { theta : theta u_i is a slope for every i }``; inf if there is no bound."""
        low, high = self.slope_range(y)
        limits = np.where(slopes > 0.0, high, low)
        bounded = (slopes != 0.0) & np.isfinite(limits)
        share = float(np.max(slopes[bounded] / limits[bounded], initial=0.0))
        return 1.0 / share if share > 0.0 else np.inf


class MarginLoss(Loss):
    """``l(y, s) = phi(y s)``: a function of the margin, for y in {-1, +1}.

    Then ``l' = y phi'``, ``l'' = phi''`` and ``l*(y, u) = phi*(y u)``.
    """

    task = "classification"
    #: Smallest and largest derivative of phi.
    _range: ClassVar[tuple[float, float]] = (-1.0, 0.0)

    @abstractmethod
    def _phi(self, margins: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _phi_slope(self, margins: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _phi_curvature(self, margins: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _phi_conjugate(self, slopes: FloatArray) -> FloatArray:
        """``phi*`` inside its domain."""

    @abstractmethod
    def _phi_conjugate_slope(self, slopes: FloatArray, /) -> FloatArray: ...

    @abstractmethod
    def _phi_conjugate_curvature(self, slopes: FloatArray, /) -> FloatArray: ...

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``phi(y_i s_i)``."""
        return self._phi(y * scores)

    def derivative(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``y_i phi'(y_i s_i)``."""
        return y * self._phi_slope(y * scores)

    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``phi''(y_i s_i)``."""
        return self._phi_curvature(y * scores)

    def conjugate(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``phi*(y_i u_i)``."""
        low, high = self._range
        along = y * slopes
        inside = self._phi_conjugate(np.clip(along, low, high))
        return np.where((along >= low) & (along <= high), inside, np.inf)

    def conjugate_derivative(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``y_i phi*'(y_i u_i)``."""
        return y * self._phi_conjugate_slope(y * slopes)

    def conjugate_curvature(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``phi*''(y_i u_i)``."""
        return self._phi_conjugate_curvature(y * slopes)

    def slope_range(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The range of ``phi'``, mirrored for negatives."""
        low, high = self._range
        positive = np.asarray(y) > 0
        return np.where(positive, low, -high), np.where(positive, high, -low)


class ResidualLoss(Loss):
    """``l(y, s) = psi(s - y)``: an even function of the residual, for real y.

    Then ``l' = psi'``, ``l'' = psi''`` and ``l*(y, u) = psi*(u) + u y``.
    """

    task = "regression"

    @property
    @abstractmethod
    def _largest_slope(self) -> float:
        """The supremum of ``|psi'|``."""

    @abstractmethod
    def _psi(self, residuals: FloatArray, /) -> FloatArray: ...

    @abstractmethod
    def _psi_slope(self, residuals: FloatArray, /) -> FloatArray: ...

    @abstractmethod
    def _psi_curvature(self, residuals: FloatArray, /) -> FloatArray: ...

    @abstractmethod
    def _psi_conjugate(self, slopes: FloatArray, /) -> FloatArray:
        """``psi*`` inside its domain."""

    @abstractmethod
    def _psi_conjugate_slope(self, slopes: FloatArray, /) -> FloatArray: ...

    @abstractmethod
    def _psi_conjugate_curvature(self, slopes: FloatArray, /) -> FloatArray: ...

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``psi(s_i - y_i)``."""
        return self._psi(scores - y)

    def derivative(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``psi'(s_i - y_i)``."""
        return self._psi_slope(scores - y)

    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """``psi''(s_i - y_i)``."""
        return self._psi_curvature(scores - y)

    def conjugate(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``psi*(u_i) + u_i y_i``."""
        inside = self._psi_conjugate(slopes) + slopes * y
        return np.where(np.abs(slopes) <= self._largest_slope, inside, np.inf)

    def conjugate_derivative(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``psi*'(u_i) + y_i``."""
        return self._psi_conjugate_slope(slopes) + y

    def conjugate_curvature(self, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """``psi*''(u_i)``."""
        return self._psi_conjugate_curvature(slopes)

    def slope_range(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The range of ``psi'``, the same for every example."""
        high = np.full(np.shape(y), self._largest_slope)
        return -high, high


def positive_setting(value: Any, name: str, *, or_zero: bool = False) -> float:
    """``1e-100 <= value <= 1e100``, or 0 with ``or_zero``; ValueError otherwise."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if real and np.isfinite(value) and (SMALLEST <= value <= LARGEST or (or_zero and value == 0)):
        return float(value)
    wanted = "0 or a positive" if or_zero else "a positive"
    raise ValueError(
        f"{name} must be {wanted} number between {SMALLEST:g} and {LARGEST:g}; got {value!r}."
    )
