"""X and y in another format.

``WRITERS`` has one function for each format of matrices, by the end of a file's name, and
``TABLE_WRITERS`` one for each format of tables. A new format is one more function there.
"""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from scoresieve._files import replaced
from scoresieve.cli.data.labels import Table
from scoresieve.cli.data.reading import TABLES, training_table
from scoresieve.cli.data.source import Choices, Kind, Source, Watch, find_source, reading
from scoresieve.cli.data.tables import column_names, read_frame
from scoresieve.cli.errors import BadData, WrongUse
from scoresieve.cli.output import check_output, progress_of_reading
from scoresieve.design import Conversion, RowBlocks, blocks_from_svmlight, write_blocks
from scoresieve.design.blocks.from_svmlight import CountedFromZeroError

#: Cells of a table that is written; more would be a file of zeros.
MOST_CELLS = 10**8


def write_svmlight(table: Table, stream: IO[bytes]) -> None:
    """``label index:value ...``, with columns from 1 on."""
    y = table.y if table.positive is None else np.where(table.y == table.positive, 1, -1)
    if y.dtype.kind not in "biuf":
        raise WrongUse(
            f"{table.file}: the labels are text, but svmlight needs numbers; give --positive LABEL "
            "to write this class as 1 and all others as -1."
        )
    X = table.X
    if sp.issparse(X):  # both kinds of indices must be of one type there
        wide = max(X.nnz, *X.shape) > np.iinfo(np.int32).max
        indices = (part.astype(np.int64 if wide else np.int32) for part in (X.indices, X.indptr))
        X = sp.csr_matrix((X.data, *indices), shape=X.shape)
    dump_svmlight_file(X, y, stream, zero_based=False)


def write_npz(table: Table, stream: IO[bytes]) -> None:
    """``y``, ``feature_names`` and X, sparse ones as ``scipy.sparse.load_npz`` reads them."""
    arrays: dict[str, Any] = {"y": table.y}
    names = table.encoding.rows.known_names()
    if names is not None:
        arrays["feature_names"] = np.array(names)
    if table.bags is not None:
        arrays["bag"] = table.bags
    if sp.issparse(table.X):
        parts = {name: getattr(table.X, name) for name in ("data", "indices", "indptr", "shape")}
        arrays |= {**parts, "format": np.array(b"csr")}
    else:
        arrays["X"] = table.X
    np.savez_compressed(stream, **arrays)


def write_csv(frame: Any, stream: IO[bytes]) -> None:
    """A header, and a line for each row."""
    frame.to_csv(stream, index=False, mode="wb", lineterminator="\n")


def write_parquet(frame: Any, stream: IO[bytes]) -> None:
    """The same columns as in a CSV."""
    frame.to_parquet(stream, engine="pyarrow", index=False)


#: Formats of X and y, and of tables, by the end of a name.
WRITERS: dict[str, Callable[[Table, IO[bytes]], None]] = {
    ".svm": write_svmlight,
    ".svmlight": write_svmlight,
    ".libsvm": write_svmlight,
    ".npz": write_npz,
}
TABLE_WRITERS: dict[str, Callable[[Any, IO[bytes]], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
}
#: A folder of row blocks.
BLOCKS = ".blocks"
_PACK: dict[str, Callable[[IO[bytes]], Any]] = {
    "": nullcontext,
    ".gz": lambda stream: gzip.GzipFile(fileobj=stream, mode="wb", mtime=0, filename=""),
    ".bz2": lambda stream: bz2.BZ2File(stream, "wb"),
}


def convert_file(path: str, output: str, *, quiet: bool, **choices: Any) -> tuple[int, int]:
    """Write the rows in the format of the output's suffix; the numbers of rows and columns."""
    end, packing = _format_of(output)
    if end == BLOCKS and os.path.lexists(output):
        raise BadData(
            f"{output}: it exists; give the name of a new folder, or remove this one first."
        )
    check_output(output.rstrip("/") if end == BLOCKS else output)
    with progress_of_reading(path, quiet) as watch:
        source, chosen = find_source(path), Choices(**choices)
        if end == BLOCKS:
            return _to_blocks(source, output, chosen, watch).shape
        if end in TABLE_WRITERS and source.kind in TABLES:
            # From table to table everything stays as it is.
            rows = read_frame(source, column_names(source), watch=watch)
            shape = rows.shape
        else:
            table = training_table(source, chosen, watch)
            shape, rows = table.X.shape, _as_frame(table) if end in TABLE_WRITERS else table
    with replaced(output) as stream, _PACK[packing](stream) as packed:
        (WRITERS | TABLE_WRITERS)[end](rows, packed)
    return shape


def _format_of(path: str) -> tuple[str, str]:
    """The suffix of the format, and that of the compression."""
    lower = path.lower()
    packing = next((end for end in _PACK if end and lower.endswith(end)), "")
    for end in (*WRITERS, *TABLE_WRITERS):
        if lower.endswith(end + packing) and not (packing and end in (".npz", ".parquet")):
            return end, packing
    if lower.rstrip("/").endswith(BLOCKS):
        return BLOCKS, ""
    ends = ", ".join([*WRITERS, *TABLE_WRITERS, BLOCKS])
    raise WrongUse(
        f"{path}: the suffix names no known format; use one of {ends} (svmlight and CSV also with "
        ".gz or .bz2)."
    )


def _as_frame(table: Table) -> Any:
    """The labels, the bags and the columns of X under their names."""
    import pandas as pd

    n_rows, n_columns = table.X.shape
    if n_rows * n_columns > MOST_CELLS:
        raise WrongUse(
            f"{table.file}: a table of {n_rows} x {n_columns} cells would be too large; convert to "
            ".npz or .svm, which store no zeros."
        )
    rows = table.encoding.rows
    # Names that are numbers would not be seen as a header.
    names = rows.known_names() or [f"x{number}" for number in rows.feature_names()]
    X = table.X.toarray() if sp.issparse(table.X) else table.X
    frame = pd.DataFrame(X, columns=names)
    if table.bags is not None:
        frame.insert(0, "bag", table.bags)
    frame.insert(0, "label", table.y)
    return frame


def _to_blocks(source: Source, folder: str, choices: Choices, watch: Watch | None) -> RowBlocks:
    """A new folder with the rows and their labels: svmlight as it is read, else from memory."""
    can_stream = source.kind is Kind.SVMLIGHT and source.content is None
    if can_stream and choices == Choices():
        return _streamed(source, folder, watch)
    table = training_table(source, choices, watch)
    names = table.encoding.rows.known_names()
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
