"""Every command of ``docs/command_line.md``, run as written, prints what stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.console_blocks import commands_of, filled, in_a_shell, same_output

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "command_line.md"
COMMANDS = commands_of(DOCUMENT.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_commands_print_what_stands_there(cli):
    assert len(COMMANDS) > 15
    for command in COMMANDS:
        program, _, arguments = command.line.partition(" ")
        if program == "scoresieve" and not {*"|<>"} & {*arguments}:
            done = cli(arguments)  # without a new interpreter
            found = done.out + done.err
        else:
            found = in_a_shell(command.line)
        assert same_output(command.output, found), f"{command.line}\n{found}"


def test_the_comparison_can_fail():
    assert same_output("f1 0.881 in 3 rows\n", "f1   0.882 in 3 rows")
    assert not same_output("f1 0.881 in 3 rows", "f1 0.781 in 3 rows")
    assert not same_output("f1 0.881 in 3 rows", "f1 0.881 in 4 rows")
    assert not same_output("f1 0.881", "f1 0.881 more")
    text = "text\n```console\n$ a b\nout\n$ c\n```\n"
    assert commands_of(text) == [("a b", "out\n"), ("c", "")]
    assert filled(text, "{}\n".format) == "text\n```console\n$ a b\na b\n$ c\nc\n```\n"
