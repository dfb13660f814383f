"""What a measure is: a loss of labellings, a score of scores, and a most violated labelling.

Notation, used by every module of this package
----------------------------------------------
``y``
    True labels in {-1, +1}, shape (n_samples,). ``P`` positives, ``N`` negatives.
``scores``
    Real scores ``s_i = <w, x_i>``, shape (n_samples,). A measure never sees X.
``Delta``
    The loss of a labelling (or a ranking), in [0, 1]; 0 for the true one.
``U``
    The scale of the loss: ``U * Delta`` is on the scale of a count of errors. ``n_samples`` for
    the Hamming loss, ``P`` for every other measure.
cut
    One labelling y' as the solver sees it: ``delta_i = y_i`` where y' flips i and 0 elsewhere,
    and ``loss = U * Delta(y, y')``. Its value at the scores s is ``loss - <delta, s>``.
``c``
    Sample weights, of measures bound to them by :meth:`Measure.weighted`. There a weight is a
    repetition, ``P``, ``N`` and ``U`` are total weights, and ``delta_i = c_i y_i`` where flipped.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_row_weights, check_weights, did_you_mean
from scoresieve.measures.thresholds import top_threshold


@dataclass(frozen=True, eq=False)
class Cut:
    """``R(s') >= loss - <delta, s'>`` for every s': one linear lower bound of the risk.

    Parameters
    ----------
    delta : ndarray of shape (n_samples,)
        How far, and in which direction, each example is flipped. In {-1, 0, +1} for a labelling
        without weights, real for a ranking.
    loss : float
        ``U * Delta`` of the labelling or ranking.
    """

    delta: FloatArray
    loss: float

    def value(self, scores: FloatArray) -> float:
        """``loss - <delta, scores>``: the bound on the risk at other scores."""
        return float(self.loss - self.delta @ scores)


class Measure(ABC):
    """``R(s) = max(0, max_{y'} U * Delta(y, y') - sum_{i: y'_i != y_i} y_i s_i)``.

    Conventions
    -----------
    * y is in {-1, +1} and holds both classes; the caller has checked it. Scores are float64.
    * Only labellings that are admissible and have ``Delta > 0`` compete for the maximum.
    * Ties in scores are broken by index (stable sorts), so that a fit is deterministic.
    * An instance holds settings only, compares and hashes by them, and is never modified.
    """

    #: Whether the score is one of the labels that scores above 0 predict, whatever their order.
    scores_labels: bool = False
    #: Whether ``delta`` of every cut is 0 or ``flip_values``, so that it can be stored as bits.
    flips_examples: bool = True
    #: Whether :meth:`weighted` takes weights of any size.
    takes_weights: bool = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that ``get_measure`` turns into an equal measure."""

    @abstractmethod
    def loss_scale(self, y: FloatArray) -> float:
        """``U``, the factor of the loss in the risk."""

    @abstractmethod
    def score(self, y: FloatArray, scores: FloatArray) -> float:
        """The measure as it is reported, in [0, 1], larger is better."""

    @abstractmethod
    def most_violated(self, y: FloatArray, scores: FloatArray) -> Cut:
        """The cut with the largest value at ``scores`` among those with ``Delta > 0``: (14), (18).

        Its value may be negative; then the risk is 0 (see :meth:`risk`).
        """

    def flip_values(self, y: FloatArray) -> FloatArray:
        """``delta_i`` of an example that a labelling flips: ``y_i``, or ``c_i y_i`` if weighted."""
        return y

    def weighted(self, sample_weight: ArrayLike) -> Measure:
        """``R(s; c)``: the measure of the data in which example i counts ``c_i`` times.

        Whole weights repeat rows. Only measures that are sums over examples or over pairs extend to
        other weights in a natural way; the others raise a ValueError. The measure is for labels and
        scores of these examples only.
        """
        raise ValueError(
            f"{self.name} takes no sample_weight, because it is not a sum over examples or pairs. "
            "Repeat rows instead, or use accuracy, balanced_accuracy or roc_auc."
        )

    @abstractmethod
    def cut_loss(self, y: FloatArray, delta: FloatArray) -> float:
        """``U * Delta`` recomputed from ``delta`` alone; ValueError if no labelling gives it."""

    def tight(self, y: FloatArray, price: float) -> Measure:
        """The measure in the risk where the threshold is free: by default the measure itself.

        At the right threshold its loss tells how good a model is for the measure.
        """
        return self

    def fixed_rate(self, y: FloatArray) -> float | None:
        """The exchange rate, if it does not depend on the scores; 1 where it has no meaning."""
        return 1.0

    def exchange_rate(self, y: FloatArray, scores: FloatArray) -> float | None:
        """``rho``: what a false alarm costs in missed positives at the best threshold.

        None where that has no meaning.
        """
        return None

    def constant_score(self, y: FloatArray) -> float:
        """The best score of one prediction for all rows: all positive, or none."""
        every = np.ones(np.size(y))
        return max(self.score(y, every), self.score(y, -every))

    def of_share(self, share: float) -> Measure:
        """The measure for a share of the rows; it differs where the number of alarms is fixed."""
        return self

    def threshold(self, y: FloatArray, scores: FloatArray, trained: float | None = None) -> float:
        """The threshold at which the scores are best for the measure, or with its k above it.

        ``trained`` is a threshold to stay near.
        """
        k = self.n_alarms(y)
        return (trained or 0.0) if k is None else top_threshold(scores, k, self.row_weights)

    def steady_threshold(self, y: FloatArray, scores: FloatArray) -> float:
        """A threshold for new rows, by scores of held-out rows."""
        return self.threshold(y, scores)

    @property
    def row_weights(self) -> FloatArray | None:
        """The weights that the measure is bound to; see :meth:`weighted`."""
        return None

    def n_alarms(self, y: FloatArray) -> float | None:
        """How many examples the measure takes as positive: k, P for a ranking, None if scores > 0.

        With sample weights it is a total weight.
        """
        return None

    def check(self, y: FloatArray) -> None:  # noqa: B027 (most measures accept every y)
        """Raise ValueError if the measure is not defined for these labels (for example k > n)."""

    def risk(self, y: FloatArray, scores: FloatArray) -> float:
        """``R(scores)``, by the most violated cut."""
        return max(0.0, self.most_violated(y, scores).value(scores))


@dataclass(frozen=True, eq=False)
class WeightedMeasure(Measure):
    """``R(s; c)``: the risk of a measure on examples that count ``c_i`` times each, or once.

    Whole weights give the measure of the data with example i repeated ``c_i`` times, other weights
    extend it linearly, and a weight of 0 leaves the example out.

    Conventions
    -----------
    * With weights it belongs to their data: y and scores must have the same length.
    * Its name is that of the measure without weights.
    * ``delta`` of a flipped example is ``c_i y_i``: all its repetitions flip at once.

    Parameters
    ----------
    weights : array-like of shape (n_samples,), optional
        Finite and not negative, with a positive total for each class.
    """

    weights: Any = field(default=None, kw_only=True, repr=False)
    takes_weights = True

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", check_weights(self.weights))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        assert isinstance(other, WeightedMeasure)
        if _settings(self) != _settings(other):
            return False
        if self.weights is None or other.weights is None:
            return self.weights is other.weights
        return np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        weights = None if self.weights is None else self.weights.tobytes()
        return hash((type(self), _settings(self), weights))

    @property
    def row_weights(self) -> FloatArray | None:
        """The weights."""
        return self.weights

    def weighted(self, sample_weight: ArrayLike) -> Measure:
        """The measure with these weights; ValueError if it has some already."""
        if self.weights is None:
            return replace(self, weights=sample_weight)
        raise ValueError(
            f"{self.name} was given its weights already; leave sample_weight out, or multiply the "
            "two and give the product."
        )

    def flip_values(self, y: FloatArray) -> FloatArray:
        """``c_i y_i``."""
        return y if self.weights is None else self.weights * y

    def check(self, y: FloatArray) -> None:
        """Raise ValueError if the weights have another length, or leave a class out."""
        if self.weights is not None:
            check_row_weights(self.weights, np.asarray(y), by_class=True)

    def totals(self, y: FloatArray) -> tuple[float, float]:
        """``(P_w, N_w)``, the total weights of the positives and of the negatives."""
        positive = np.asarray(y) > 0
        if self.weights is None:
            n_positive = int(np.count_nonzero(positive))
            return float(n_positive), float(positive.size - n_positive)
        return float(self.weights[positive].sum()), float(self.weights[~positive].sum())

    def loss_scale(self, y: FloatArray) -> float:
        """``U = P_w``, the total weight of the positives."""
        return self.totals(y)[0]


def _settings(measure: WeightedMeasure) -> tuple[Any, ...]:
    return tuple(getattr(measure, each.name) for each in fields(measure) if each.name != "weights")


def same_shape(delta: Any, y: FloatArray) -> FloatArray:
    """``delta`` as float64; ValueError if its shape is not that of y."""
    delta = np.asarray(delta, dtype=np.float64)
    if delta.shape != np.shape(y):
        raise ValueError(f"delta has shape {delta.shape}, but y has shape {np.shape(y)}.")
    return delta


def check_flips(delta: Any, flip_values: FloatArray, spelled: str = "y[{i}]") -> FloatArray:
    """``delta`` of a labelling: 0 or the flip value for each example; ValueError if it is not.

    ``spelled`` describes the flip values in messages.
    """
    delta = same_shape(delta, flip_values)
    wrong = np.flatnonzero((delta != 0) & (delta != flip_values))
    if wrong.size:
        i = wrong[0]
        raise ValueError(
            f"delta[{i}] is {delta[i]}, but it must be 0 or {spelled.format(i=i)} = "
            f"{flip_values[i]}."
        )
    return delta


M = TypeVar("M", bound=type[Measure])

#: Names by what they look like: a form to show, and what makes a measure of the matched text.
_FORMS: dict[str, tuple[re.Pattern[str], Callable[[str], Measure]]] = {}
#: A number inside a name.
NUMBER = r"\d+(?:\.\d*)?(?:e[+-]?\d+)?"


def named(
    *forms: str, pattern: str | None = None, read: Callable[[str], Any] | None = None
) -> Callable[[M], M]:
    """Register the measures of a class for :func:`get_measure`.

    A form may have ``<...>`` where a setting goes. Then ``pattern`` is a regular expression with
    one group for it, and ``read`` makes the setting of what the group matched.
    """

    def add(kind: Any) -> Any:
        make = (lambda text: kind(read(text))) if read else (lambda _: kind())
        for form in forms:
            _FORMS[form] = re.compile(pattern or f"({form})"), make
        return kind

    return add


def known_names() -> list[str]:
    """Names that :func:`get_measure` knows, with ``<...>`` where a number goes."""
    return list(_FORMS)


def get_measure(name_or_measure: str | Measure) -> Measure:
    """``get_measure(measure.name) == measure``: the measure of a name, or the measure itself.

    Conventions
    -----------
    ========================== ======================================================
    name                       measure
    ========================== ======================================================
    accuracy, hamming          :class:`Accuracy`
    balanced_accuracy          :class:`BalancedAccuracy`
    f1, f2, f0.5, ...          :class:`FBeta`, the number is beta
    jaccard                    :class:`Jaccard`
    prec@100, prec@p/2         :class:`PrecisionAtK`; p is the number of positives
    prec@1%                    :class:`PrecisionAtK` of 1 % of the rows at hand
    rec@100, rec@2p, rec@5%    :class:`RecallAtK`
    prbep                      :class:`PRBEP`
    precision@recall>=0.8      :class:`PrecisionUnderRecallFloor`
    recall@precision>=0.9      :class:`RecallUnderPrecisionFloor`
    mcc                        :class:`Matthews`, the correlation of two labellings
    gmean                      :class:`GeometricMean` of the recalls of both classes
    roc_auc                    :class:`ROCAUC`
    average_precision          :class:`AveragePrecision`
    ========================== ======================================================

    Parameters
    ----------
    name_or_measure : str or Measure
        A name from the table (upper case and spaces do not matter), or a measure.

    Examples
    --------
    >>> get_measure("f1")
    FBeta(beta=1.0)
    >>> get_measure("prec@0.5p").name
    'prec@p/2'
    """
    if isinstance(name_or_measure, Measure):
        return name_or_measure
    if not isinstance(name_or_measure, str):
        raise TypeError(
            f"measure must be a name or a Measure, got {type(name_or_measure).__name__}."
        )
    name = "".join(name_or_measure.split()).lower()
    for pattern, make in _FORMS.values():
        match = pattern.fullmatch(name)
        if match:
            return make(match[1])
    raise ValueError(
        f"unknown measure {name_or_measure!r}{did_you_mean(name_or_measure, known_names())}; known "
        f"are {', '.join(known_names())}, such as 'f1', 'prec@100', 'prec@1%', 'rec@2p' or "
        "'precision@recall>=0.8'. For a function of the 2 x 2 table use Contingency."
    )
