"""What a release says of itself: the version in all places, and the files that are in it."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]
#: A heading of the changelog: version, and day unless it was not published.
ENTRY = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<day>\d{4}-\d\d-\d\d))?", re.MULTILINE)
#: Files that a Markdown page names in a link.
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
#: Pages at the root, and that the documentation shows.
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "RELEASING.md", "SECURITY.md"]
PAGES += ["studies/README.md", "studies/RESULTS.md", "studies/paper/results/README.md"]


def citation(key: str) -> str | None:
    found = re.search(rf"^{key}: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    return found and found[1]


def is_in_sdist(path: str) -> bool:
    """By the lists of pyproject.toml."""
    rules = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]

    def is_under(rule: str) -> bool:
        return fnmatch(f"/{path}", rule) or f"/{path}".startswith(f"{rule}/")

    return any(map(is_under, rules["include"])) and not any(map(is_under, rules["exclude"]))


def test_the_version_is_the_same_everywhere():
    assert citation("version") == VERSION
    newest = next(ENTRY.finditer((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    if VERSION.endswith(".dev0"):
        assert newest["version"] == "Unreleased"
        assert citation("date-released") is None
    else:
        assert newest["version"] == VERSION
        assert newest["day"] == citation("date-released") is not None


@pytest.mark.parametrize("page", PAGES)
def test_files_that_pages_name_are_in_the_sdist(page):
    folder = (ROOT / page).parent
    for link in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        target = (folder / link).resolve()
        assert target.exists(), link
        assert is_in_sdist(target.relative_to(ROOT).as_posix()), link


def test_an_index_sees_no_link_to_a_file_of_the_repository():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert LINK.search(text)
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for rule in hook["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert not LINK.search(text)
    assert "of the source: Test F1 against the number of words" in text
