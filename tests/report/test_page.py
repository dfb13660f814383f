"""The file: one page, complete or not there, in which names are text."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import Normalizer

from scoresieve import MeasureSVC, TableEncoder
from scoresieve.report import write_report
from scoresieve.report.contents import page_contents
from scoresieve.report.page import how_to_load, json_in_html


@pytest.fixture(scope="module")
def page(looked_at, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    looked_at.sieve.report(
        path, looked_at.X, looked_at.y, feature_names=looked_at.names, title="<i>Title</i>"
    )
    return path.read_text(encoding="utf-8")


class Elements(HTMLParser):
    """Tags, and the text of scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def test_the_contents_are_in_the_page(page, looked_at):
    parser = Elements()
    parser.feed(page)
    assert len(parser.scripts) == 2  # the contents and the script, and no other
    expected = page_contents(looked_at.sieve, looked_at.X, looked_at.y, looked_at.names)
    assert json.loads(parser.scripts[0]) == json.loads(json.dumps(expected))


def test_names_and_titles_are_text(page, looked_at):
    tags = [tag for tag, _ in _elements(page)]
    assert not {"b", "i"} & set(tags)
    assert "<h1>&lt;i&gt;Title&lt;/i&gt;</h1>" in page
    assert html.escape(looked_at.names[0]) in page  # for readers without JavaScript
    assert "{{" not in page.replace(html.escape(str(looked_at.names[1])), "").replace(
        str(looked_at.names[2]), ""
    ).replace(json_in_html(str(looked_at.names[1])).strip('"'), "")


def _elements(page):
    parser = Elements()
    parser.feed(page)
    return parser.tags


def test_nothing_is_fetched(page):
    for tag, attributes in _elements(page):
        assert tag not in ("img", "iframe", "object")
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp", page)


def test_tables_and_inputs_are_named(page):
    tags = _elements(page)
    labels = {attributes.get("for") for tag, attributes in tags if tag == "label"}
    inputs = [attributes["id"] for tag, attributes in tags if tag in ("input", "select")]
    assert set(inputs) <= labels
    n_tables = sum(tag == "table" for tag, _ in tags)
    assert sum(tag == "caption" for tag, _ in tags) == n_tables
    assert all("scope" in attributes for tag, attributes in tags if tag == "th")


def test_equal_models_give_equal_pages(looked_at, tmp_path):
    for name in "ab":
        write_report(looked_at.svc, tmp_path / name, looked_at.X, looked_at.y)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]


def test_an_old_page_stays_if_the_new_one_fails(looked_at, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ValueError, match="feature_names has shape"):
        looked_at.svc.report(path, feature_names=["x"])
    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_wrong_arguments_are_refused(looked_at, tmp_path):
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match="y_test is missing; give X_test and y_test together"):
        looked_at.svc.report(path, looked_at.X)
    with pytest.raises(FileNotFoundError, match="is in a folder that does not exist"):
        looked_at.svc.report(tmp_path / "nowhere" / "report.html")
    with pytest.raises(TypeError, match="pass a fitted estimator of scoresieve"):
        write_report(LogisticRegression(), path)
    with pytest.raises(ValueError, match="not fitted"):
        MeasureSVC().report(path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("of_bags", "encoder", "end"),
    [
        (False, None, "# M\nprint(model.summary())\nmodel.predict(X)  # the columns"),
        (True, None, "# M\nprint(model.summary())\nmodel.predict(bags)"),
        (
            *(False, Normalizer()),
            "Normalizer and M\nprint(model[-1].summary())\nmodel.predict(X)  # the columns",
        ),
        (
            *(True, TableEncoder().fit(pd.DataFrame({"a": [1, 2]}))),
            "bags = scoresieve.mil.Bags.from_groups(X, bag_of_each_row)\nmodel[-1].predict(bags)",
        ),
    ],
    ids=["rows", "bags", "rows of length one", "bags of a table"],
)
def test_the_page_tells_how_to_load_and_predict(of_bags, encoder, end):
    assert end in how_to_load("M", of_bags, encoder)
