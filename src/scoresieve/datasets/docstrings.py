"""``X[i, j] = tf-idf of word j in docstring i``: a text data set that every user already has.

Each document is a docstring of an installed package. Source files are parsed, not imported: loading
has no side effects, and the result depends only on the installed versions.
"""

from __future__ import annotations

import ast
import gc
import importlib.util
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from scoresieve._checks import check_count

#: Folders that hold tests, code copied from other projects, or build scripts.
_SKIPPED_FOLDERS = frozenset({"tests", "_lib", "externals", "distutils", "_examples"})
_SKIPPED_FILES = frozenset({"conftest.py", "setup.py"})
_WORD = r"[^\W\d_]{2,}"
#: ``%(example)s`` in a docstring is filled in at import; the name of the slot is not text.
_SLOT = re.compile(r"%\(\w+\)s")


@dataclass(frozen=True, eq=False)
class Docstrings:
    """``y_i = +1`` if document i was written in the target module, else ``-1``.

    Parameters
    ----------
    X : csr_matrix of shape (n_documents, n_words)
        TF-IDF weights, float64, rows of Euclidean length 1.
    y : ndarray of shape (n_documents,)
        Labels in {-1.0, +1.0}.
    feature_names : ndarray of shape (n_words,)
        The word of each column, in alphabetical order.
    names : tuple of str
        The dotted name of each documented object, by the file that defines it.
    texts : tuple of str
        The docstrings.
    target : str
        The module whose documents are positive.
    """

    X: sparse.csr_matrix
    y: NDArray[np.float64]
    feature_names: NDArray[np.str_]
    names: tuple[str, ...]
    texts: tuple[str, ...]
    target: str


class _Document(NamedTuple):
    module: str
    name: str
    text: str


def load_docstrings(
    packages: Sequence[str] = ("numpy", "scipy", "sklearn"),
    target: str = "scipy.stats",
    *,
    min_df: int = 2,
    min_words: int = 5,
) -> Docstrings:
    """``y_i = +1`` if docstring i is from ``target``; ``X`` its TF-IDF weights in unit rows.

    Conventions
    -----------
    * Documents are the docstrings of modules, classes, functions and methods with public names,
      also in private files: most of ``scipy.stats`` is in files such as ``_stats_py.py``.
    * So are docstrings attached to compiled functions by ``add_newdoc``.
    * Words are runs of at least two letters, in lower case.
    * Of equal texts only the first counts, in the order of packages and files.

    Parameters
    ----------
    packages : sequence of str
        Names of installed top-level packages.
    target : str
        Dotted name of a package or module below one of ``packages``.
    min_df : int
        Words in fewer documents than this are left out.
    min_words : int
        Docstrings with fewer words than this are left out.

    Raises
    ------
    ValueError
        If a package is not installed, or ``target`` has no documents or all of them.

    Examples
    --------
    >>> docs = load_docstrings(packages=["numpy"], target="numpy.polynomial")
    >>> docs.X.shape == (len(docs.y), len(docs.feature_names))
    True
    >>> [name for name in docs.names if name.endswith("polyroots")]
    ['numpy.polynomial.polynomial.polyroots']
    """
    check_count(min_df, "min_df")
    check_count(min_words, "min_words")
    with _cycle_search_paused():
        documents = _distinct(_collect(packages), min_words)
    positive = _is_in(target, documents)
    vectorizer = TfidfVectorizer(token_pattern=_WORD, min_df=min_df, dtype=np.float64)
    X = sparse.csr_matrix(vectorizer.fit_transform(document.text for document in documents))
    X.sort_indices()
    kept = np.flatnonzero(np.diff(X.indptr))  # a document of rare words only has no direction
    return Docstrings(
        X=X[kept],
        y=np.where(positive, 1.0, -1.0)[kept],
        feature_names=np.asarray(vectorizer.get_feature_names_out(), dtype=np.str_),
        names=tuple(documents[i].name for i in kept),
        texts=tuple(documents[i].text for i in kept),
        target=target,
    )


@contextmanager
def _cycle_search_paused() -> Iterator[None]:
    """Pause the search for reference cycles: syntax trees have none, and it slows parsing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _collect(packages: Sequence[str]) -> Iterator[_Document]:
    if isinstance(packages, str):
        raise TypeError(f"packages={packages!r} is one string; pass a list, [{packages!r}].")
    if not packages:
        raise ValueError("packages is empty; name at least one installed package.")
    for package in packages:
        yield from _package_documents(package)


def _package_documents(package: str) -> Iterator[_Document]:
    root = _source_folder(package)
    for path in _source_files(root):
        with warnings.catch_warnings():
            # The parser warns about odd escapes in files that are not the user's.
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes(), filename=str(path))
        module = _module_name(path, root)
        folder = ".".join([package, *path.parent.relative_to(root).parts])
        if text := ast.get_docstring(tree):
            yield _Document(module, module, text)
        yield from _definitions(tree.body, module, module)
        yield from _attached(tree.body, folder)


def _source_folder(package: str) -> Path:
    """Find the folder of a top-level package without importing it."""
    if not isinstance(package, str):
        raise TypeError(f"packages holds {package!r}, which is not a string; pass its name.")
    if "." in package:
        raise ValueError(
            f"packages holds {package!r}, which is not a top-level package; "
            f"pass {package.split('.')[0]!r} and name the part you want in target."
        )
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # a module such as __main__ that was not found by an importer
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(
            f"packages holds {package!r}, which is not an installed package; "
            "install it or leave it out."
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _source_files(root: Path) -> list[Path]:
    files = [
        path
        for path in root.rglob("*.py")
        if path.name not in _SKIPPED_FILES
        and _SKIPPED_FOLDERS.isdisjoint(path.relative_to(root).parts)
    ]
    return sorted(files, key=lambda path: path.relative_to(root).as_posix())


def _module_name(path: Path, root: Path) -> str:
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _definitions(body: Iterable[ast.stmt], module: str, prefix: str) -> Iterator[_Document]:
    """Public classes, their methods, and functions, with the docstrings they have."""
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _definitions(node.body, module, prefix)
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_"):
            continue
        name = f"{prefix}.{node.name}"
        if text := ast.get_docstring(node):
            yield _Document(module, name, text)
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, module, name)


def _attached(body: Iterable[ast.stmt], folder: str) -> Iterator[_Document]:
    """``add_newdoc(module, name, doc)``: docstrings of functions that are written in C.

    Two more forms are in use: ``add_newdoc(name, doc)`` for a function of this folder, and
    ``(attribute, doc)`` instead of ``doc``. Computed texts are skipped.
    """
    for node in body:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            continue
        call = node.value
        if getattr(call.func, "id", None) != "add_newdoc":
            continue
        try:
            *place, doc = (ast.literal_eval(argument) for argument in call.args)
        except ValueError:
            continue
        if isinstance(doc, tuple):
            place, doc = [*place, doc[0]], doc[-1]
        if len(place) == 1:
            place = [folder, *place]
        module, *path = place
        if isinstance(doc, str) and not any(part.startswith("_") for part in path):
            yield _Document(module, ".".join(place), inspect.cleandoc(doc))


def _distinct(documents: Iterable[_Document], min_words: int) -> list[_Document]:
    word = re.compile(_WORD)
    first: dict[str, _Document] = {}
    for document in documents:
        text = _SLOT.sub(" ", document.text)
        if sum(1 for _ in islice(word.finditer(text), min_words)) == min_words:
            first.setdefault(text, document._replace(text=text))
    return list(first.values())


def _is_in(target: str, documents: Sequence[_Document]) -> list[bool]:
    positive = [f"{document.module}.".startswith(f"{target}.") for document in documents]
    if any(positive) and not all(positive):
        return positive
    sizes = Counter(".".join(document.module.split(".")[:2]) for document in documents)
    some = [module for module, _ in sizes.most_common() if "._" not in module and "." in module]
    fault = "holds every document" if any(positive) else "has no documents"
    raise ValueError(
        f"target={target!r} {fault}; choose another module, such as {', '.join(some[:8])}."
    )
