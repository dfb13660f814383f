"""Tables as CSV and Markdown."""

from __future__ import annotations

from studies.common.tables import Table, print_table


def test_tables_agree_in_both_forms(tmp_path):
    table = Table("t", "Caption", ("name", "x"), [["a, b", 1.5], ["c", None]])
    table.write(tmp_path)
    assert (tmp_path / "t.csv").read_text() == 'name,x\n"a, b",1.5\nc,\n'
    text = (tmp_path / "t.md").read_text()
    assert text.startswith("Caption\n\n| name |")
    assert "| a, b | 1.5 |" in text


def test_text_is_left_and_numbers_are_right(capsys):
    print_table(["name", "long head", "x"], [["a", "b", 12], ["long text", "c", 3]], n_left=2)
    assert capsys.readouterr().out.splitlines() == [
        "| name      | long head |   x |",
        "| --------- | --------- | --: |",
        "| a         | b         |  12 |",
        "| long text | c         |   3 |",
        "",
    ]
