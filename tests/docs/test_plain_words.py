"""The README, the guide and all that the code tells keep to the list of banned phrases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.sentences import BANNED, breaches, prose, read_by_users, sentences

ROOT = Path(__file__).resolve().parents[2]
#: A text that breaks each rule, in the order of the rules.
BROKEN = [
    "The number is high, too.",
    "Weak columns are held back.",
    "raises it by one column after the other, then one after\n    the other",
    "no bound is to be had",
    "optimistic for others",
    "so many rows",
    "to k by way of half of k",
    "each the best, or as good and simpler",
    "beyond chance in all comparisons",
    "the columns that say most",
    "the steady best of them",
    "and so too high",
    "the table says it",
    "what selected the columns",
    "F1 of 50.9 / 51.8 / 52.8",
    "one thing; another thing; and a third thing; and a last",
]


@pytest.mark.parametrize("path", read_by_users(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_banned_phrase(path):
    assert list(breaches(prose(path), path.name)) == []


def test_each_rule_finds_what_breaks_it():
    assert len(BROKEN) == len(BANNED)
    for text, better in zip(BROKEN, BANNED.values(), strict=True):
        assert better in [breach.better for breach in breaches(text, "")]


@pytest.mark.parametrize(
    "text", ["too many rows", "as good as the best", "it is said", "what to do", "n / 2 of 3"]
)
def test_plain_words_are_allowed(text):
    assert list(breaches(text, "")) == []


def test_phrases_are_found_where_lines_break(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""Fine."""\n\nx = 1\n# Columns are held\n# back here.\nheld_back = 1\n')
    (found,) = breaches(prose(path), "module.py")
    assert (found.place, found.found) == ("module.py:4", "held back")


def test_every_sentence_of_a_kind_is_collected(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        'class Shown:\n    """A public docstring."""\n    def _hidden(self):\n        """Not."""\n'
        'def f(x):\n    """Formula."""\n    if x:\n        raise ValueError(f"x is {x}; give 1.")\n'
        '    warn_user("no such thing here")\n    return "key", "three whole words"\n'
        'parser.add_argument("--x", help="what it is for")\n'
    )
    found = [(kind, text) for _, _, kind, text in sentences(tmp_path)]
    assert found == [
        ("docstring", "A public docstring."),
        ("docstring", "Formula."),
        ("error", "x is {x}; give 1."),
        ("warning", "no such thing here"),
        ("output", "three whole words"),
        ("help", "what it is for"),
    ]


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    assert max(map(len, lines)) <= 200


def test_numbers_of_the_readme_have_their_command():
    """Each paragraph with a measured number names the command that prints it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    prose_of = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for paragraph in prose_of.split("\n\n"):
        is_measured = re.search(r"\d (points|tasks|claims)|\d\.\d+\b(?! or newer)", paragraph)
        if is_measured and "|" not in paragraph:
            assert re.search(r"`(make|python -m) ", paragraph), paragraph
