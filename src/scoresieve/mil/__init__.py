"""Multiple-instance learning: bags in, bag labels and key instances out."""

from scoresieve.mil.bag_measure_svc import BagMeasureSVC
from scoresieve.mil.bag_model import KeyInstance
from scoresieve.mil.bag_score_sieve import BagScoreSieve
from scoresieve.mil.bags import Bags
from scoresieve.mil.embedding import MILESEmbedding

__all__ = ["BagMeasureSVC", "BagScoreSieve", "Bags", "KeyInstance", "MILESEmbedding"]
