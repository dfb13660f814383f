"""Every Python block of the README and of the pages runs as it is written.

The blocks of a page run in their order, in one namespace, in an empty folder. What a page needs but
need not show stands in a comment, ``<!-- invisible-code-block: python ... -->``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Document, Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).resolve().parents[2]
#: A fence of Python, however it is indented or spelled.
FENCE = re.compile(r"^[ \t]*(?:```|~~~|:::) *\{?(?:code-block\} +)?python", re.MULTILINE)
#: Pages whose blocks take more than about two seconds together.
SLOW = {
    *("README.md", "docs/adding_a_measure.md", "docs/choosing_k.md", "docs/coming_from.md"),
    *("docs/looking.md", "docs/mil.md", "docs/performance.md"),
}


def pages_with_code() -> Iterator[Path]:
    """The README and all pages that hold a Python block."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if FENCE.search(page.read_text(encoding="utf-8")):
            yield page


def marked(page: Path) -> object:
    """The page as a parameter, with the mark of the slow ones."""
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])


def parsed(page: Path) -> Document:
    return Sybil(parsers=[PythonCodeBlockParser()]).parse(page)


def run_blocks(page: Path) -> None:
    """Run the blocks of a page; a failure shows the file and the line of the page."""
    for example in parsed(page).examples():
        example.evaluate()


@pytest.mark.parametrize("page", [marked(page) for page in pages_with_code()])
def test_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    run_blocks(page)


@pytest.mark.parametrize("page", [marked(page) for page in pages_with_code()])
def test_no_block_is_overlooked(page):
    text = page.read_text(encoding="utf-8")
    n_blocks = len(FENCE.findall(text)) + text.count("invisible-code-block: python")
    assert len(list(parsed(page).examples())) == n_blocks


def test_blocks_share_names_and_errors_have_the_line_of_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\n```\n\ntext\n\n```python\nassert x == 2\n```\n")
    with pytest.raises(AssertionError) as failure:
        run_blocks(page)
    assert failure.traceback[-1].path == page
    assert failure.traceback[-1].lineno + 1 == 10
