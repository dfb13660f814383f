"""Performance measures: their score, their loss and their most violated cut.

A measure sees labels ``y`` in {-1, +1} and real scores, never the data matrix. Take one by name
with :func:`get_measure`, or build it: ``FBeta(beta=2)``, ``PrecisionAtK(k=100)``. A measure of your
own is a function of the contingency table, :class:`Contingency`, or a subclass of :class:`Measure`.
"""

from scoresieve.measures.contingency import ContingencyMeasure
from scoresieve.measures.decomposable import Accuracy, BalancedAccuracy
from scoresieve.measures.floors import (
    FloorMeasure,
    PrecisionUnderRecallFloor,
    RecallUnderPrecisionFloor,
)
from scoresieve.measures.fractional import FBeta, Jaccard
from scoresieve.measures.measure import Cut, Measure, WeightedMeasure, get_measure, known_names
from scoresieve.measures.monotone import GeometricMean, Matthews
from scoresieve.measures.ranking import ROCAUC, AveragePrecision, RankingMeasure
from scoresieve.measures.scales import C_from_paper, C_from_svmperf
from scoresieve.measures.top_k import PRBEP, HighestScores, PrecisionAtK, RecallAtK, TopHits
from scoresieve.measures.user_function import Contingency

__all__ = [
    "PRBEP",
    "ROCAUC",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "C_from_paper",
    "C_from_svmperf",
    "Contingency",
    "ContingencyMeasure",
    "Cut",
    "FBeta",
    "FloorMeasure",
    "GeometricMean",
    "HighestScores",
    "Jaccard",
    "Matthews",
    "Measure",
    "PrecisionAtK",
    "PrecisionUnderRecallFloor",
    "RankingMeasure",
    "RecallAtK",
    "RecallUnderPrecisionFloor",
    "TopHits",
    "WeightedMeasure",
    "get_measure",
    "known_names",
]
