"""X and y in another format.

``WRITERS`` has one function for each format of matrices, by the end of a file's name, and
``TABLE_WRITERS`` one for each format of tables. A new format is one more function there.
"""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from scoresieve.cli.data.encoding import Numbered
from scoresieve.cli.data.frames import column_names, read_frame
from scoresieve.cli.data.reading import TABLES, training_table
from scoresieve.cli.data.source import Watch, find_source
from scoresieve.cli.data.table import Choices, Table
from scoresieve.cli.errors import WrongUse
from scoresieve.cli.tasks.blocks import to_blocks
from scoresieve.cli.tasks.files import check_new_folder, check_output, replaced

#: Cells of a table that is written; more would be a file of zeros.
MOST_CELLS = 10**8


def write_svmlight(table: Table, stream: IO[bytes]) -> None:
    """``label index:value ...``, with columns from 1 on."""
    if table.y is None or table.y.dtype.kind not in "biuf":
        raise WrongUse(
            f"{table.file}: the labels are text, and svmlight has numbers; say which class is 1, "
            "all others being -1, with --positive LABEL."
        )
    X = table.X
    if sp.issparse(X):  # both kinds of indices must be of one type there
        wide = max(X.nnz, *X.shape) > np.iinfo(np.int32).max
        indices = (part.astype(np.int64 if wide else np.int32) for part in (X.indices, X.indptr))
        X = sp.csr_matrix((X.data, *indices), shape=X.shape)
    dump_svmlight_file(X, table.y, stream, zero_based=False)


def write_npz(table: Table, stream: IO[bytes]) -> None:
    """``y``, ``feature_names`` and X, sparse ones as ``scipy.sparse.load_npz`` reads them."""
    arrays: dict[str, Any] = {"y": table.y}
    rows = table.encoding.rows
    if not isinstance(rows, Numbered) or rows.names:
        arrays["feature_names"] = np.array([str(name) for name in rows.feature_names()])
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
    ".gz": lambda stream: gzip.GzipFile(fileobj=stream, mode="wb", mtime=0, filename=""),
    ".bz2": lambda stream: bz2.BZ2File(stream, "wb"),
}


def format_of(path: str) -> tuple[str, str]:
    """The end of a name that says the format, and the one that says the compression."""
    lower = path.lower()
    packing = next((end for end in _PACK if lower.endswith(end)), "")
    for end in (*WRITERS, *TABLE_WRITERS):
        if lower.endswith(end + packing) and not (packing and end in (".npz", ".parquet")):
            return end, packing
    if lower.rstrip("/").endswith(BLOCKS):
        return BLOCKS, ""
    ends = ", ".join([*WRITERS, *TABLE_WRITERS, BLOCKS])
    raise WrongUse(
        f"{path}: the end of the name must say the format; use {ends}, and .gz or .bz2 after "
        "svmlight or CSV."
    )


def check_target(output: str) -> None:
    """Refuse a name that could not be written, before the rows are read."""
    if format_of(output)[0] == BLOCKS:
        check_new_folder(output)
    else:
        check_output(output)


def convert_file(path: str, output: str, choices: Choices, watch: Watch | None = None) -> Shape:
    """Write the rows of a file in the format that the name of the output says."""
    end, packing = format_of(output)
    source = find_source(path)
    if end == BLOCKS:
        return Shape(*to_blocks(source, output, choices, watch).shape)
    if end in TABLE_WRITERS and source.kind in TABLES:
        # From table to table everything stays as it is.
        frame = read_frame(source, column_names(source), watch=watch)
        _write(output, packing, lambda stream: TABLE_WRITERS[end](frame, stream))
        return Shape(*frame.shape)
    table = training_table(source, choices, watch)
    if end in TABLE_WRITERS:
        frame = as_frame(table)
        _write(output, packing, lambda stream: TABLE_WRITERS[end](frame, stream))
    else:
        signed = _with_signs(table) if end != ".npz" and choices.positive is not None else table
        _write(output, packing, lambda stream: WRITERS[end](signed, stream))
    return Shape(*table.X.shape)


class Shape(NamedTuple):
    """Rows and columns that were written."""

    n_rows: int
    n_columns: int


def as_frame(table: Table) -> Any:
    """The labels, the bags and the columns of X under their names."""
    import pandas as pd

    n_rows, n_columns = table.X.shape
    if n_rows * n_columns > MOST_CELLS:
        raise WrongUse(
            f"{table.file}: a table of {n_rows} x {n_columns} cells would be too large; convert to "
            ".npz or .svm, which leave out zeros."
        )
    rows = table.encoding.rows
    # Names that are numbers would not be seen as a header.
    prefix = "x" if isinstance(rows, Numbered) and not rows.names else ""
    names = [f"{prefix}{name}" for name in rows.feature_names()]
    X = table.X.toarray() if sp.issparse(table.X) else table.X
    frame = pd.DataFrame(X, columns=names)
    if table.bags is not None:
        frame.insert(0, "bag", table.bags)
    frame.insert(0, "label", table.y)
    return frame


def _with_signs(table: Table) -> Table:
    return replace(table, y=np.where(table.y == table.positive, 1, -1))


def _write(output: str, packing: str, write: Callable[[IO[bytes]], None]) -> None:
    with replaced(output) as stream:
        if packing:
            with _PACK[packing](stream) as packed:
                write(packed)
        else:
            write(stream)
