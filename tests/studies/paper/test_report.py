"""Verdicts, and the page that they stand on."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="the studies draw figures")

from studies.common.tables import Table
from studies.paper.claims import FAILS, HOLDS, OPEN, PARTLY, Claim, count, judged, verdict
from studies.paper.cli import NAMES, RESULTS
from studies.paper.report import Section, write_page, write_section


@pytest.mark.parametrize(
    ("n_agree", "n_settings", "expected"),
    [
        (0, 0, OPEN),
        (1, 1, HOLDS),
        (0, 1, FAILS),
        (8, 8, HOLDS),
        (7, 8, PARTLY),
        (4, 8, PARTLY),
        (3, 8, FAILS),
        (1, 8, FAILS),
        (0, 8, FAILS),
        (2, 3, PARTLY),
        (1, 3, FAILS),
        (1, 2, PARTLY),
    ],
)
def test_partly_needs_half_of_the_settings(n_agree, n_settings, expected):
    assert verdict(n_agree, n_settings) == expected
    conditions = [True] * n_agree + [False] * (n_settings - n_agree)
    claim = judged("text", "paper", "ours", conditions, "reason")
    assert (claim.n_agree, claim.n_settings, claim.verdict) == (n_agree, n_settings, expected)
    assert count(conditions, "settings") == f"{n_agree} of {n_settings} settings"


def test_page_shows_claims_and_what_was_not_run(context):
    claim = Claim("a claim", "12.3", "45.6", 1, 2, "because")
    section = Section("A title", [claim], [Table("t", "Cap", ("a",), [["b"]])], [], ["note"])
    write_section(context, "sparsity", section, 60.0)
    text = write_page(context, NAMES).read_text()
    for part in ("1 claims: 0 holds, 1 holds partly", "a claim", "12.3", "45.6", "because", "note"):
        assert part in text
    assert "Not run yet: sensitivity" in text
    assert "Quick form" in text
    assert (context.out / "tables" / "t.csv").is_file()


def test_page_judges_by_the_stored_counts(context):
    claim = Claim("a claim", "", "", 1, 8, "")
    write_section(context, "sparsity", Section("A title", [claim]), 1.0)
    path = context.out / "raw" / "sparsity.section.json"
    stored = json.loads(path.read_text())
    assert stored["claims"][0]["verdict"] == FAILS
    stored["claims"][0]["verdict"] = PARTLY
    path.write_text(json.dumps(stored))
    assert f"**{FAILS}**" in write_page(context, NAMES).read_text()


@pytest.mark.skipif(not (RESULTS / "raw").is_dir(), reason="the results are in the repository only")
def test_page_of_the_repository_is_the_one_of_its_sections(context):
    shutil.copytree(RESULTS / "raw", context.out / "raw")
    page = write_page(replace(context, quick=False, generated=False), NAMES)
    assert page.read_text() == (RESULTS / "README.md").read_text()
