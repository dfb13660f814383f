"""What the benchmark scripts share: arguments, data, timing, tables and raw results.

Conventions
-----------
* Progress goes to stderr, the Markdown table to stdout, raw results to the file of ``--json``.
* BLAS and OpenMP run with one thread in every script: see :func:`start`.
* Rows of text data have unit length. Splits are those of the data folder's README.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import scoresieve

#: Where each file comes from, as the data folder's README has it.
ORIGINS = {
    "news20/news20.bz2": "LIBSVM's news20, from konstmish/opt_methods @ 8a3ae3ab",
    "news20/news20.t.bz2": (
        "rebuilt from gokriznastic/20-newsgroups_text-classification @ 06ac4005"
    ),
    "news20_binary/news20.binary.npz": (
        "LIBSVM's news20.binary, rebuilt from gokriznastic/20-newsgroups_text-classification "
        "@ 06ac4005"
    ),
    "news20_binary/news20.binary.labels.npy": "made together with news20.binary.npz",
    "text/reuters120.svm.gz": "Reuters-21578, from ragero/text-collections @ 08f63cb2",
    "small/dexter.train.svm.gz": "NIPS 2003, from wzkhan89/TOCDMB_Sourcecode @ 55db6560",
    "text/industry_sector12.svm.gz": "the 12 top classes, from ragero/text-collections @ 08f63cb2",
    "small/dexter.valid.svm.gz": "NIPS 2003, from wzkhan89/TOCDMB_Sourcecode @ 55db6560",
    "small/dorothea.train.svm.gz": "NIPS 2003, from wzkhan89/TOCDMB_Sourcecode @ 55db6560",
}


class Missing(Exception):
    """A data or reference file is not there; the text says which and where it comes from."""


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test part, ``y`` as in the file (class numbers, or -1 and +1)."""

    X: sparse.csr_matrix
    y: np.ndarray
    X_test: sparse.csr_matrix
    y_test: np.ndarray


def make_parser(description: str, *, data: bool = True) -> argparse.ArgumentParser:
    """A parser with the options that every script has."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    if data:
        parser.add_argument(
            "--data",
            metavar="FOLDER",
            type=Path,
            default=os.environ.get("SCORESIEVE_DATA"),
            help="data folder; by default the environment variable SCORESIEVE_DATA",
        )
        parser.add_argument(
            "--cache",
            metavar="FOLDER",
            type=Path,
            default=None,
            help="where parsed files are kept; by default a folder of the system's temporary ones",
        )
    parser.add_argument("--json", metavar="FILE", type=result_file, help="write raw results there")
    parser.add_argument("--quick", action="store_true", help="a small part, for a first look")
    return parser


def result_file(text: str) -> Path:
    """The path of a file to write, refused before the work begins if its folder is not there."""
    path = Path(text)
    if not path.resolve().parent.is_dir():
        raise argparse.ArgumentTypeError(f"the folder of {text} does not exist; make it first")
    return path


def start(main: Callable[[], None]) -> None:
    """Run a script with one thread for BLAS and OpenMP; exit status 2 if a file is missing."""
    with threadpool_limits(limits=1):
        try:
            main()
        except Missing as error:
            print(error, file=sys.stderr)
            sys.exit(2)


def log(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)


def data_file(folder: Path | str | None, name: str) -> Path:
    """The path of a file of the data folder; :class:`Missing` if it is not there."""
    origin = f"It is {ORIGINS[name]}; see README.md of the data folder."
    if folder is None:
        raise Missing(f"{name} is needed: pass --data FOLDER or set SCORESIEVE_DATA. {origin}")
    path = Path(folder) / name
    if not path.is_file():
        raise Missing(f"{path} is missing. {origin}")
    return path


def read_svmlight(
    args: argparse.Namespace, name: str, n_features: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Unit-length rows and labels of a 1-based svmlight file, kept as npz after the first parse."""
    path = data_file(args.data, name)
    stamp = path.stat()
    key = f"{name.replace('/', '-')}-{stamp.st_size}-{stamp.st_mtime_ns}.npz"
    cached = _cache_folder(args) / key
    if not cached.is_file():
        log(f"parsing {path.name}")
        X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=False)
        X = normalize(X).tocsr()
        _write_atomically(
            cached,
            lambda file: np.savez(
                file, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y
            ),
        )
    with np.load(cached) as stored:
        # liblinear takes 32-bit indices only.
        indices, indptr = stored["indices"].astype(np.int32), stored["indptr"].astype(np.int32)
        X = sparse.csr_matrix((stored["data"], indices, indptr), shape=tuple(stored["shape"]))
        return X, stored["y"].astype(np.int64)


def _cache_folder(args: argparse.Namespace) -> Path:
    default = Path(tempfile.gettempdir()) / f"scoresieve-benchmarks-{getpass.getuser()}"
    folder = args.cache or default
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def load_news20(args: argparse.Namespace) -> Split:
    """News20: 15,935 training and 3,993 test rows, 62,061 columns, classes 1 to 20."""
    X, y = read_svmlight(args, "news20/news20.bz2", 62061)
    X_test, y_test = read_svmlight(args, "news20/news20.t.bz2", 62061)
    return Split(X, y, X_test, y_test)


def load_news20_binary(args: argparse.Namespace) -> Split:
    """News20.binary: 11,997 training and 7,999 test rows, 1,355,191 columns."""
    matrix = data_file(args.data, "news20_binary/news20.binary.npz")
    labels = data_file(args.data, "news20_binary/news20.binary.labels.npy")
    X = sparse.load_npz(matrix).tocsr()
    return _shuffled(X, np.load(labels).astype(np.int64), 11997)


def load_reuters(args: argparse.Namespace) -> Split:
    """Reuters-120: 8,505 training and 5,670 test rows, 14,034 columns."""
    X, y = read_svmlight(args, "text/reuters120.svm.gz", 14034)
    return _shuffled(X, y, int(0.6 * y.size))


def load_sector(args: argparse.Namespace) -> Split:
    """Industry-sector-12: 5,290 training and 3,527 test rows, 21,489 columns."""
    X, y = read_svmlight(args, "text/industry_sector12.svm.gz", 21489)
    return _shuffled(X, y, int(0.6 * y.size))


def load_dexter(args: argparse.Namespace) -> Split:
    """Dexter: 300 training and 300 validation rows, 19,999 columns, labels -1 and +1."""
    X, y = read_svmlight(args, "small/dexter.train.svm.gz", 19999)
    X_test, y_test = read_svmlight(args, "small/dexter.valid.svm.gz", 19999)
    return Split(X, y, X_test, y_test)


def _shuffled(X: sparse.csr_matrix, y: np.ndarray, n_train: int) -> Split:
    """The first rows of the permutation of seed 0 train, the others test."""
    order = np.random.default_rng(0).permutation(y.size)
    train, test = order[:n_train], order[n_train:]
    return Split(X[train], y[train], X[test], y[test])


def one_vs_rest(y: np.ndarray, label: int) -> np.ndarray:
    """+1 for the class, -1 for the others."""
    return np.where(y == label, 1.0, -1.0)


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one call, and what it returned."""
    begin = time.perf_counter()
    answer = function()
    return time.perf_counter() - begin, answer


def median_time(function: Callable[[], Any], n_repeats: int) -> float:
    """Median seconds of a call, after one call as warm-up."""
    function()
    return float(np.median([timed(function)[0] for _ in range(n_repeats)]))


def geometric_mean(values: Sequence[float]) -> float:
    """``exp(mean(log(values)))``."""
    return float(np.exp(np.mean(np.log(values))))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], *, left: int = 1) -> None:
    """A Markdown table; the first ``left`` columns are text, the others are aligned right."""
    lines = [[str(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(3, *(len(line[j]) for line in lines)) for j in range(len(headers))]
    marks = ["-" * width if j < left else "-" * (width - 1) + ":" for j, width in enumerate(widths)]
    for line in (lines[0], marks, *lines[1:]):
        cells = [
            cell.ljust(width) if j < left else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("| " + " | ".join(cells) + " |")
    print(flush=True)


def print_note(text: str) -> None:
    """One line below a table."""
    print(f"* {text}", flush=True)


def verdict(passed: bool) -> str:
    """How a target stands."""
    return "PASS" if passed else "FAIL"


def versions() -> dict[str, str]:
    """What the numbers depend on besides the machine."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "scoresieve": scoresieve.__version__,
    }


def finish(args: argparse.Namespace, results: dict[str, Any]) -> None:
    """The closing note, and the raw results with versions and settings if ``--json`` is given."""
    listed = ", ".join(f"{name} {version}" for name, version in versions().items())
    print_note(f"One thread for BLAS and OpenMP; {listed}.")
    if args.json is None:
        return
    settings = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in vars(args).items()
        if name not in ("json", "data", "cache", "reference")
    }
    content = {
        "script": Path(sys.argv[0]).name,
        "versions": versions(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), "blas_threads": 1},
        "settings": settings,
        **results,
    }
    text = json.dumps(_plain(content), indent=1, allow_nan=False)
    _write_atomically(args.json, lambda file: file.write((text + "\n").encode()))
    log(f"wrote {args.json}")


def _plain(value: Any) -> Any:
    """Numbers, lists and dictionaries as JSON has them; infinity and NaN become text."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def _write_atomically(path: Path, write: Callable[[Any], Any]) -> None:
    """Write beside the file and rename, so that nobody ever sees half of it."""
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.resolve().parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
