"""Files to folders of row blocks: svmlight as it is read, everything else from memory."""

from __future__ import annotations

import numpy as np

from scoresieve.cli.data.encoding import Numbered
from scoresieve.cli.data.reading import training_table
from scoresieve.cli.data.source import Kind, Source, Watch, reading
from scoresieve.cli.data.table import Choices
from scoresieve.design import Conversion, RowBlocks, blocks_from_svmlight, write_blocks
from scoresieve.design.blocks.from_svmlight import CountedFromZeroError


def to_blocks(source: Source, folder: str, choices: Choices, watch: Watch | None) -> RowBlocks:
    """Write the rows, and their labels, to a new folder."""
    can_stream = source.kind is Kind.SVMLIGHT and source.content is None
    if can_stream and choices == Choices():
        return _streamed(source, folder, watch)
    table = training_table(source, choices, watch)
    rows = table.encoding.rows
    has_names = not isinstance(rows, Numbered) or rows.names
    names = [str(name) for name in rows.feature_names()] if has_names else None
    return write_blocks(table.X, folder, y=np.asarray(table.y), feature_names=names)


def _streamed(source: Source, folder: str, watch: Watch | None) -> RowBlocks:
    """A svmlight file of any size, whose columns count from 1 unless there is a column 0."""

    def progress(done: Conversion) -> None:
        if watch is not None and done.share is not None:
            watch(done.share)

    with reading(source.name):
        try:
            return blocks_from_svmlight(source.name, folder, progress=progress)
        except CountedFromZeroError:
            return blocks_from_svmlight(source.name, folder, zero_based=True, progress=progress)
