"""Documents are read from source files: exact on a small package, sane on the real ones."""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import warnings
from math import log

import numpy as np
import pytest
from sklearn.metrics import f1_score

from scoresieve.datasets import load_docstrings
from tests.helpers import run_python

FILES = {
    "__init__.py": '"""One small package about apples and pears."""\nraise ImportError("run")\n',
    "sub/__init__.py": "",
    "sub/_private_file.py": '''
def press(fruit):
    """Press apples into juice, then filter %(slot)s the juice."""
    def inner():
        """Nested functions are no documents at all."""

def _hidden():
    """Private functions are no documents at all."""

class Mill:
    """Mill that grinds apples into coarse pulp."""

    def grind(self):
        """Grind apples \\d until the pulp is coarse."""

    def __call__(self):
        """Special methods are no documents at all."""

try:
    def guarded():
        """Guarded apples are documents like other apples."""
except ImportError:
    pass
''',
    "sub/tests/test_press.py": '"""Tests of apples are no documents at all."""\n',
    "other.py": '''
def copied():
    """Mill that grinds apples into coarse pulp."""

def short():
    """Only four words here."""

add_newdoc("smallpkg.sub", "squeeze", """
    Squeeze apples and pears into juice.
    """)
add_newdoc("smallpkg.other", "Box", ("weight", """Weight of pears in the box."""))
add_newdoc("peel", """Peel pears and apples with care.""")
add_newdoc("smallpkg.other", "_secret", """Private pears are no documents at all.""")
add_newdoc("smallpkg.other", "computed", doc_of("pears"))
''',
    "conftest.py": '"""Fixtures about apples are no documents at all."""\n',
}
EXPECTED = {
    "smallpkg": "One small package about apples and pears.",
    "smallpkg.other.copied": "Mill that grinds apples into coarse pulp.",
    "smallpkg.sub.squeeze": "Squeeze apples and pears into juice.",
    "smallpkg.other.Box.weight": "Weight of pears in the box.",
    "smallpkg.peel": "Peel pears and apples with care.",
    "smallpkg.sub._private_file.press": "Press apples into juice, then filter   the juice.",
    "smallpkg.sub._private_file.Mill.grind": "Grind apples \\d until the pulp is coarse.",
    "smallpkg.sub._private_file.guarded": "Guarded apples are documents like other apples.",
}


@pytest.fixture
def small_package(tmp_path, monkeypatch):
    for name, source in FILES.items():
        path = tmp_path / "smallpkg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return tmp_path


@pytest.fixture(scope="module")
def real():
    return load_docstrings()


def test_documents_of_a_small_package_are_exactly_these(small_package):
    docs = load_docstrings(["smallpkg"], "smallpkg.sub", min_df=1)
    assert dict(zip(docs.names, docs.texts, strict=True)) == EXPECTED
    positive = [name for name, label in zip(docs.names, docs.y, strict=True) if label == 1.0]
    assert positive == [name for name in EXPECTED if name.startswith("smallpkg.sub.")]
    assert set(docs.y) == {-1.0, 1.0}
    assert docs.target == "smallpkg.sub"


def test_weights_are_tf_idf_of_words_of_two_letters(small_package):
    docs = load_docstrings(["smallpkg"], "smallpkg.sub", min_df=2)
    assert list(docs.feature_names) == sorted(docs.feature_names)
    words = [text.lower().replace(",", " ").replace(".", " ").split() for text in docs.texts]
    frequent = {w for text in words for w in text if sum(w in t for t in words) >= 2}
    assert set(docs.feature_names) == {w for w in frequent if w.isalpha()}
    for row, text in zip(docs.X.toarray(), words, strict=True):
        raw = [
            text.count(w) * (1 + log((1 + len(words)) / (1 + sum(w in t for t in words))))
            for w in docs.feature_names
        ]
        np.testing.assert_allclose(row, np.array(raw) / np.linalg.norm(raw), rtol=1e-12)


def test_the_package_is_not_imported_and_the_process_is_left_as_it_was(small_package):
    program = """
import json, os, sys, warnings, gc
from scoresieve.datasets import load_docstrings
def state():
    return [sorted(sys.modules), dict(os.environ), [str(f) for f in warnings.filters],
            list(sys.path), gc.isenabled()]
before = state()
docs = load_docstrings(["smallpkg", "numpy"], "numpy.polynomial")
after = state()
json.dump([before == after, "smallpkg" in docs.names, "smallpkg" in sys.modules], sys.stdout)
"""
    path = os.pathsep.join([str(small_package), *filter(None, sys.path)])
    printed = run_python("-W", "error", "-c", program, env=os.environ | {"PYTHONPATH": path})
    assert json.loads(printed) == [True, True, False]


def test_state_is_restored_after_an_error():
    filters, enabled = list(warnings.filters), gc.isenabled()
    with pytest.raises(ValueError, match="no_such_package"):
        load_docstrings(["numpy", "no_such_package"], "numpy.ma")
    assert warnings.filters == filters
    assert gc.isenabled() == enabled


def test_two_calls_are_equal():
    first, second = (load_docstrings(["numpy"], "numpy.ma") for _ in range(2))
    assert first.names == second.names
    assert first.texts == second.texts
    np.testing.assert_array_equal(first.y, second.y)
    np.testing.assert_array_equal(first.feature_names, second.feature_names)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(first.X, part), getattr(second.X, part))


def test_documents_that_lose_all_words_are_left_out(small_package):
    docs = load_docstrings(["smallpkg"], "smallpkg.sub", min_df=6)
    assert list(docs.feature_names) == ["apples"]
    assert "smallpkg.other.Box.weight" not in docs.names
    np.testing.assert_allclose(docs.X.toarray(), 1.0)


@pytest.mark.slow
def test_real_data_is_imbalanced_text_in_unit_rows(real):
    n_documents, n_words = real.X.shape
    assert n_documents > 3000
    assert n_words > 5000
    assert len(real.names) == len(real.texts) == len(real.y) == n_documents
    assert 0.02 < np.mean(real.y == 1) < 0.15
    assert real.X.format == "csr"
    assert real.X.dtype == np.float64
    np.testing.assert_allclose(real.X.multiply(real.X).sum(axis=1), 1.0, rtol=1e-12)
    assert len(set(real.texts)) == n_documents
    assert "scipy.stats._stats_py.pearsonr" in real.names
    assert "scipy.special.expn" in real.names
    assert not any("externals" in name or "array_api_compat" in name for name in real.names)


@pytest.mark.slow
def test_no_single_word_gives_the_label_away(real):
    present = real.X > 0
    scores = [
        f1_score(real.y, np.where(present[:, j].toarray().ravel(), 1, -1))
        for j in np.argsort(-np.asarray(present[real.y == 1].sum(axis=0)).ravel())[:300]
    ]
    assert 0.4 < max(scores) < 0.75


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("smallpkg.nowhere", r"'smallpkg\.nowhere' has no documents.*smallpkg\.sub"),
        ("smallpkg.s", r"'smallpkg\.s' has no documents"),  # a prefix ends at a dot
        ("smallpkg", "'smallpkg' holds every document"),
    ],
)
def test_bad_targets_are_refused(small_package, target, message):
    with pytest.raises(ValueError, match=message):
        load_docstrings(["smallpkg"], target)


@pytest.mark.parametrize(
    ("packages", "error", "message"),
    [
        (["no_such_package"], ValueError, "'no_such_package'.*not an installed package"),
        (["scipy.stats"], ValueError, "'scipy.stats'.*pass 'scipy'"),
        (["__main__"], ValueError, "'__main__'.*not an installed package"),
        (["this"], ValueError, "'this'.*not an installed package"),
        ([], ValueError, "packages is empty"),
        ([np], TypeError, "packages holds <module 'numpy'.*pass its name"),
        ("numpy", TypeError, r"one string; pass a list, \['numpy'\]"),
    ],
)
def test_bad_packages_are_named(packages, error, message):
    with pytest.raises(error, match=message):
        load_docstrings(packages)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "2"])
@pytest.mark.parametrize("argument", ["min_df", "min_words"])
def test_bad_counts_are_named(argument, value):
    with pytest.raises(ValueError, match=f"{argument} must be an integer .*{value!r}"):
        load_docstrings(["numpy"], "numpy.ma", **{argument: value})
