"""Designs: X as an object with two products and column blocks. They never see y."""

from scoresieve.design._base import Columns, Design, Entries
from scoresieve.design.blocks.dask_blocks import dask_blocks
from scoresieve.design.blocks.folder import open_blocks, write_blocks
from scoresieve.design.blocks.from_npz import blocks_from_npz
from scoresieve.design.blocks.from_parquet import blocks_from_parquet
from scoresieve.design.blocks.from_svmlight import blocks_from_svmlight
from scoresieve.design.blocks.manifest import DamagedBlocksError
from scoresieve.design.blocks.row_blocks import RowBlocks
from scoresieve.design.blocks.writer import Conversion
from scoresieve.design.convert import ConstantDesign, as_design, as_row_blocks
from scoresieve.design.dense import DenseColumns, DenseDesign
from scoresieve.design.sparse import SparseColumns, SparseDesign

__all__ = [
    "Columns",
    "ConstantDesign",
    "Conversion",
    "DamagedBlocksError",
    "DenseColumns",
    "DenseDesign",
    "Design",
    "Entries",
    "RowBlocks",
    "SparseColumns",
    "SparseDesign",
    "as_design",
    "as_row_blocks",
    "blocks_from_npz",
    "blocks_from_parquet",
    "blocks_from_svmlight",
    "dask_blocks",
    "open_blocks",
    "write_blocks",
]
