"""The data sets of the studies: text files with a cache of what was parsed.

Conventions
-----------
* Rows of text have unit length. A set without a test file of its own takes
  ``default_rng(0).permutation(n)``, whose first 60 % train.
* A file that is not there makes :class:`Missing`, which says where to get it.
"""

from __future__ import annotations

import getpass
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from studies.common.progress import log
from studies.common.storing import write_atomically

TRAIN_SHARE = 0.6
REBUILT = "rebuilt from gokriznastic/20-newsgroups_text-classification @ 06ac4005 on GitHub"
NIPS = "NIPS 2003 (wzkhan89/TOCDMB_Sourcecode @ 55db6560)"
#: Where each file comes from.
ORIGINS = {
    "news20/news20.bz2": "LIBSVM's news20, training part (konstmish/opt_methods @ 8a3ae3ab)",
    "news20/news20.t.bz2": f"LIBSVM's news20, test part, {REBUILT}",
    "news20_binary/news20.binary.npz": f"LIBSVM's news20.binary, {REBUILT}",
    "news20_binary/news20.binary.labels.npy": "made together with news20.binary.npz",
    "url/url_subset.svm.gz": "rows of URL (Artwot/Data-exploration-url_svmlight @ 7027a683, "
    "kanni5353/Malicious-URL-Classification @ f34ddc67)",
    "text/reuters120.svm.gz": "Reuters-21578 (ragero/text-collections @ 08f63cb2)",
    "text/industry_sector12.svm.gz": "Sector's 12 top classes (ragero/text-collections @ 08f63cb2)",
    "small/dexter.train.svm.gz": NIPS,
    "small/dexter.valid.svm.gz": NIPS,
    "small/dorothea.train.svm.gz": NIPS,
    "small/dorothea.valid.svm.gz": NIPS,
    "small/colon_continuous.svm.gz": "Colon (brunaw/regularization-rf @ e8948639)",
    "image/miml_image.npz": "the paper's images (sandgh/mtp_stage1 @ 11a94301)",
    "mil/musk1.npz": "Musk1 (jmarrietar/MILpy @ 79fef5dd)",
    "mil/elephant.npz": "Elephant (jmarrietar/MILpy @ 79fef5dd)",
}
#: The files of each set: those of training rows, or of all rows, first.
FILES = {
    "news20": ["news20/news20.bz2", "news20/news20.t.bz2"],
    "news20_binary": ["news20_binary/news20.binary.npz", "news20_binary/news20.binary.labels.npy"],
    "url": ["url/url_subset.svm.gz"],
    "reuters120": ["text/reuters120.svm.gz"],
    "sector12": ["text/industry_sector12.svm.gz"],
    "dexter": ["small/dexter.train.svm.gz", "small/dexter.valid.svm.gz"],
    "dorothea": ["small/dorothea.train.svm.gz", "small/dorothea.valid.svm.gz"],
    "colon": ["small/colon_continuous.svm.gz"],
    "image": ["image/miml_image.npz"],
}
N_COLUMNS = {
    "news20": 62_061,
    "url": 3_231_961,
    "reuters120": 14_034,
    "sector12": 21_489,
    "dexter": 19_999,
    "dorothea": 100_000,
    "colon": 2_000,
}


class Missing(Exception):
    """A data or reference file is not there; the text says which and where it comes from."""


@dataclass(frozen=True)
class DataFolder:
    """Where the files are, and where what was parsed is kept.

    Attributes
    ----------
    path : Path or None
        None if the user named no folder: every file is missing then.
    cache : Path or None
        A folder of the system's temporary ones by default.
    """

    path: Path | None
    cache: Path | None = None

    def problem(self, file: str) -> str | None:
        """Why a file cannot be read, and where it comes from; None if it can."""
        origin = f"It is {ORIGINS[file]}."
        if self.path is None:
            return f"{file} is needed: pass --data FOLDER or set SCORESIEVE_DATA. {origin}"
        if not (Path(self.path) / file).is_file():
            return f"{Path(self.path) / file} is missing. {origin}"
        return None

    def file(self, file: str) -> Path:
        """The path of a file; :class:`Missing` if it is not there."""
        problem = self.problem(file)
        if problem is not None:
            raise Missing(problem)
        return Path(self.path) / file

    def cached(self, file: str) -> Path:
        """Where the parsed form of a file is kept; it changes with the file."""
        stamp = self.file(file).stat()
        folder = self.cache or default_cache()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / f"{file.replace('/', '-')}-{stamp.st_size}-{stamp.st_mtime_ns}.npz"


def default_cache() -> Path:
    """One folder a user, so that nobody meets another's files."""
    return Path(tempfile.gettempdir()) / f"scoresieve-studies-{getpass.getuser()}"


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test part; ``y`` has class numbers, -1 and +1, or one column for each class."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    def labels(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """+1 for the class and -1 for the others, training and test."""
        if self.y.ndim == 2:
            return self.y[:, label].astype(float), self.y_test[:, label].astype(float)
        return tuple(np.where(y == label, 1.0, -1.0) for y in (self.y, self.y_test))


def missing_files(folder: DataFolder, name: str) -> list[str]:
    """One sentence for each file of a set that is not there."""
    problems = (folder.problem(file) for file in FILES[name])
    return [problem for problem in problems if problem is not None]


def load(folder: DataFolder, name: str) -> Split:
    """A text set of ``FILES``; :class:`Missing` if a file is not there.

    ============= ===================== ========= ==============================
    name          training + test rows  columns   labels
    ============= ===================== ========= ==============================
    news20        15,935 + 3,993        62,061    classes 1 to 20
    news20_binary 11,997 + 7,999        1,355,191 -1 and +1
    url           3,998 + 2,666         3,231,961 -1 and +1
    reuters120    8,505 + 5,670         14,034    120 classes, most of them rare
    sector12      5,290 + 3,527         21,489    12 classes
    dexter        300 + 300             19,999    -1 and +1
    dorothea      800 + 350             100,000   -1 and +1
    colon         37 + 25               2,000     1 and 2
    ============= ===================== ========= ==============================
    """
    if name == "news20_binary":
        matrix, labels = (folder.file(file) for file in FILES[name])
        return shuffled(sparse.load_npz(matrix).tocsr(), np.load(labels).astype(np.int64))
    parts = [read_svmlight(folder, file, N_COLUMNS[name]) for file in FILES[name]]
    return shuffled(*parts[0]) if len(parts) == 1 else Split(*parts[0], *parts[1])


def permuted(n_samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of training and test rows."""
    order = np.random.default_rng(seed).permutation(n_samples)
    n_train = int(TRAIN_SHARE * n_samples)
    return order[:n_train], order[n_train:]


def shuffled(X: sparse.csr_matrix, y: np.ndarray) -> Split:
    """Both parts of a set that comes in one piece."""
    train, test = permuted(y.size)
    return Split(X[train], y[train], X[test], y[test])


def read_svmlight(
    folder: DataFolder, file: str, n_columns: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Unit-length rows and labels of a 1-based file, kept as npz after the first parse.

    Parameters
    ----------
    folder : DataFolder
    file : str
        A key of ``ORIGINS``.
    n_columns : int, optional
        As many as the largest number in the file by default.
    """
    cached = folder.cached(file)
    if not cached.is_file():
        log(f"parsing {file}")
        X, y = load_svmlight_file(str(folder.file(file)), n_features=n_columns, zero_based=False)
        X = normalize(X).tocsr()
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "y": y}
        write_atomically(cached, lambda file: np.savez(file, **parts))
    with np.load(cached) as stored:
        # liblinear takes 32-bit indices only.
        indices, indptr = stored["indices"].astype(np.int32), stored["indptr"].astype(np.int32)
        X = sparse.csr_matrix((stored["data"], indices, indptr), shape=tuple(stored["shape"]))
        return X, stored["y"].astype(np.int64)
