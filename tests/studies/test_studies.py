"""Every study of speed and quality reads its options, and names the files that it misses."""

from __future__ import annotations

import importlib
import json

import pytest

from studies.common.options import start

STUDIES = (
    "speed.bounds",
    "speed.hard_budget",
    "speed.jobs",
    "speed.losses",
    "speed.master",
    "speed.news20",
    "speed.news20_binary",
    "speed.oracles",
    "speed.path",
    "speed.reference",
    "speed.reuters",
    "speed.scale",
    "speed.scale_model",
    "speed.sieve",
    "quality.arena",
    "quality.candidates",
    "quality.defaults",
    "quality.exhaustive",
    "quality.mil_cv",
    "quality.mil_defaults",
    "quality.mil_image",
    "quality.paths",
    "quality.top_k_bounds",
)
WITHOUT_DATA = (
    *("speed.master", "speed.oracles", "speed.scale", "speed.scale_model"),
    "quality.exhaustive",
)


def main_of(study):
    return importlib.import_module(f"studies.{study}").main


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_shows_its_options(study, capsys):
    with pytest.raises(SystemExit) as ended:
        main_of(study)(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert f"python -m studies.{study}" in text
    assert "--quick" in text


@pytest.mark.parametrize("study", [study for study in STUDIES if study not in WITHOUT_DATA])
def test_a_study_names_the_files_that_it_misses(study, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("SCORESIEVE_REFERENCE", raising=False)
    options = ["--quick", "--data", str(tmp_path)]
    with pytest.raises(SystemExit) as ended:
        start(lambda: main_of(study)(options))
    assert ended.value.code == 2
    written = capsys.readouterr().err
    missed = "--reference FOLDER" if study == "speed.reference" else "is missing. It is"
    assert missed in written


def test_a_study_prints_a_table_and_writes_raw_results(tmp_path, capsys):
    path = tmp_path / "oracles.json"
    options = ["--quick", "--sizes", "20,30", "--measures", "f1", "--json", str(path)]
    main_of("speed.oracles")(options)
    assert "| f1 " in capsys.readouterr().out
    content = json.loads(path.read_text())
    assert content["study"] == "speed.oracles"
    assert content["settings"]["measures"] == ["f1"]
    assert content["results"][0]["n_positive"] == 20


def test_raw_results_need_a_folder(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main_of("speed.oracles")(["--json", str(tmp_path / "nowhere" / "a.json")])
    assert "make it first" in capsys.readouterr().err
