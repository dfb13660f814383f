"""What a risk is.

Notation, used by every solver
------------------------------
``scores``
    ``s = X w``, of shape (n_samples,).
cut
    ``R(s') >= loss - <delta, s'>`` for every s'. Equality holds where the cut was taken.
dual point
    What proves a lower bound of ``min_w 1/2 ||w||_B^2 + C R(X w)``, in a form that can be checked.
    It stands for a vector v with one entry a row and a gain, and proves

        D = gain - 1/2 ||X^T v||_(B)^2 ,

    the gain being at most ``-C R*(-v / C)``, with R* the conjugate of R.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from scoresieve._arrays import Array, FloatArray
from scoresieve.losses import Loss
from scoresieve.measures import Cut, Measure


class DualPoint:
    """What proves a lower bound: cuts with their weights, or slopes of a loss."""


class Risk(ABC):
    """``R(s)``: convex in the scores, never negative, bound to the labels or targets y.

    Conventions
    -----------
    * Sample weights are part of the risk; C is not.
    * Cuts are kept packed: one bit an example where every cut flips an example or leaves it, that
      is where ``flip_values`` are given, else as numbers; see
      :class:`~scoresieve.risks.measure.PackedCuts`.
    * An instance is never modified.

    Attributes
    ----------
    kind : Measure or Loss
        What it is the risk of, without sample weights.
    y : ndarray of shape (n_samples,)
        Labels in {-1, +1}, or real targets.
    weights : ndarray of shape (n_samples,) or None
        How often each row counts; None if each counts once.
    flip_values : ndarray of shape (n_samples,) or None
        ``delta_i`` of every cut that flips example i; None where deltas are any numbers.
    is_smooth : bool
        Whether R has slopes and curvatures, see :class:`~scoresieve.risks.LossRisk`.
    """

    kind: Measure | Loss
    y: FloatArray
    weights: FloatArray | None
    flip_values: FloatArray | None
    is_smooth: bool = False

    @abstractmethod
    def value(self, scores: FloatArray) -> float:
        """``R(scores)``."""

    @abstractmethod
    def cut(self, scores: FloatArray) -> Cut:
        """The cut at the scores: its value there is ``R(scores)``. The zero cut where R is 0."""

    @abstractmethod
    def cut_loss(self, delta: FloatArray) -> float:
        """The loss of the cut with this delta, recomputed; ValueError if there is no such cut."""

    @abstractmethod
    def contrast(self) -> FloatArray:
        """``v`` whose correlations with the columns say how well each tells high y from low y."""

    @abstractmethod
    def no_dual_point(self) -> DualPoint:
        """The dual point with v = 0, which proves that the optimum is not negative."""

    @abstractmethod
    def dual_point(self, alpha: FloatArray, packed: Array, C: float) -> DualPoint:
        """The point that weighs packed cuts by alpha, ``alpha >= 0`` and ``sum alpha <= C``."""

    @abstractmethod
    def gain_of_cuts(self, gain: float, v: FloatArray, C: float) -> float:
        """The gain of the dual point of weighted cuts, ``<q, alpha>`` being the cuts' own."""

    @abstractmethod
    def dual_vector(self, point: DualPoint, C: float) -> FloatArray:
        """``v`` of a dual point that is known to be right."""

    @abstractmethod
    def pack(self, delta: FloatArray) -> Array:
        """A cut as it is kept."""

    @abstractmethod
    def unpack(self, packed: Array) -> FloatArray:
        """The delta of a packed cut."""

    @abstractmethod
    def combine(self, alpha: FloatArray, packed: Array) -> FloatArray:
        """``sum_k alpha_k delta_k``."""

    @abstractmethod
    def checked_dual(self, point: DualPoint, C: float) -> tuple[float, FloatArray]:
        """``(gain, v)`` of any dual point, all of it recomputed; ValueError if it proves nothing.

        Parameters
        ----------
        point : DualPoint
            From anywhere.
        """
