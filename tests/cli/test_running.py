"""What scripts rely on: exit codes, help at once, one line for what goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scoresieve.cli.app import program
from scoresieve.cli.options import MEASURES, METHODS
from scoresieve.losses import known_losses
from scoresieve.measures import get_measure

COMMANDS = sorted(program.commands)
SLOW = ("numpy", "scipy", "sklearn", "pandas")


def python(code, **environment):
    """A new interpreter, which loads nothing slow unless the code does."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_every_command_is_there():
    asked = {"demo", "fit", "path", "predict", "score", "inspect", "certify", "convert", "mil"}
    assert asked | {"report"} == {*COMMANDS}


@pytest.mark.parametrize("name", [*COMMANDS, "mil fit", "mil predict"])
def test_help_has_examples(cli, name):
    done = cli(f"{name} --help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: scoresieve {name} ")
    if name != "mil":
        assert f"\n    scoresieve {name}" in done.out
        assert "Examples:" in done.out


def test_help_tells_the_exit_codes(cli):
    out = cli("--help").out
    assert cli("").out == out
    for code in (0, 1, 2, 130, 141, 143):
        assert f"{code} " in out
    for name in COMMANDS:
        assert f"\n  {name} " in out
    assert cli("mil").out == cli("mil --help").out


def test_help_of_every_command_loads_nothing_slow():
    code = (
        "import sys\n"
        "from scoresieve.cli.app import run\n"
        f"for name in {COMMANDS}:\n"
        "    assert run([name, '--help']) == 0\n"
        f"assert run(['--help']) == 0\n"
        f"print('slow:', [m for m in {SLOW} if m in sys.modules])\n"
    )
    done = python(code)
    assert done.stdout.endswith("slow: []\n"), done.stderr


def test_version(cli):
    from scoresieve import __version__

    assert cli("--version").out == f"scoresieve, version {__version__}\n"


def test_without_click_one_line_says_what_to_install():
    done = python("import sys\nsys.modules['click'] = None\nimport scoresieve.cli as c\nc.main()")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert 'pip install "scoresieve[cli]"' in done.stderr


def test_without_pandas_one_line_says_what_to_install(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    done = cli("fit messages.csv -k 1")
    assert done.code == 1
    assert done.err == (
        'scoresieve: error: the package pandas is missing; pip install "scoresieve[cli]"\n'
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("scoresieve f", "fit"),
        ("scoresieve fit --meth", "--method"),
        ("scoresieve mil p", "predict"),
    ],
)
def test_shell_completion(words, expected):
    done = python(
        "from scoresieve.cli.app import main\nmain()",
        _SCORESIEVE_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert f"plain,{expected}" in done.stdout.splitlines(), done.stderr


def test_completed_names_exist():
    for name in MEASURES:
        assert get_measure(name).name
    losses = {name.replace("_", "-") for name in known_losses("classification")}
    assert {*METHODS} == losses | {"sieve", "measure"}


def test_debug_shows_where(cli):
    assert "Traceback" not in cli("fit nothing.csv").err
    done = cli("fit nothing.csv --debug")
    assert done.code == 1
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1].startswith("scoresieve: error: nothing.csv")


def test_an_interruption_has_its_code(cli, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("scoresieve.cli.tasks.fitting.read_training", interrupted)
    done = cli("fit messages.csv -k 1 -o model")
    assert done.code == 130
    assert done.err.splitlines()[-1] == "scoresieve: interrupted"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("two\nlines"), ["unexpected error", "RuntimeError: two lines", "--debug"]),
        (MemoryError(), ["not enough memory"]),
        (
            OSError(28, "No space left on device", "model.0123456789abcdef.tmp"),
            ["error: model: No space left on device"],
        ),
        (ValueError("n_features_to_select=0"), ["-k 0"]),
    ],
)
def test_what_nobody_foresaw_is_still_one_line(cli, monkeypatch, error, words):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("scoresieve.cli.tasks.fitting.read_training", fail)
    done = cli("fit messages.csv -k 1")
    assert done.code == 1
    (line,) = done.err.splitlines()
    for word in words:
        assert word in line


def test_a_closed_pipe_is_no_error(models, folder):
    command = [sys.executable, "-m", "scoresieve.cli", "predict", models / "lean", "messages.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141
