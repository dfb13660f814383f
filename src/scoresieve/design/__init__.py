"""Designs: X as an object with two products and column blocks. They never see y."""

from scoresieve.design._base import Columns, Design
from scoresieve.design.convert import ConstantDesign, as_design
from scoresieve.design.dense import DenseColumns, DenseDesign
from scoresieve.design.sparse import SparseColumns, SparseDesign

__all__ = [
    "Columns",
    "ConstantDesign",
    "DenseColumns",
    "DenseDesign",
    "Design",
    "SparseColumns",
    "SparseDesign",
    "as_design",
]
