"""Multiple-instance learning: bags in, bag labels and key instances out."""

from scoresieve.mil.bag_measure_svc import BagMeasureSVC
from scoresieve.mil.bag_measure_svc_cv import BagMeasureSVCCV
from scoresieve.mil.bag_model import KeyInstance
from scoresieve.mil.bags import Bags
from scoresieve.mil.embedding import MILESEmbedding

__all__ = ["BagMeasureSVC", "BagMeasureSVCCV", "Bags", "KeyInstance", "MILESEmbedding"]
