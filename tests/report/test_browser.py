"""The page in a real browser: Chromium, without a window.

``SCORESIEVE_BROWSER`` names its program if it is none of the usual ones. Without a browser these
tests are skipped, unless ``SCORESIEVE_BROWSER_REQUIRED`` is set. ``SCORESIEVE_SCREENSHOTS`` names
a folder for pictures to look at.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: The ratio of the lighter to the darker colour, as WCAG counts it, of the darkest text behind.
CONTRAST = """
(selector) => {
  const light = (rgb) => rgb.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" ? behind(node.parentElement) : colour;
  };
  const nodes = [...document.querySelectorAll(selector)].filter((node) => node.textContent.trim());
  return nodes.map((node) => {
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}
"""


def missing(what):
    """Skip, or fail where the browser must be there."""
    if os.environ.get("SCORESIEVE_BROWSER_REQUIRED"):
        pytest.fail(f"{what}; SCORESIEVE_BROWSER_REQUIRED is set.")
    pytest.skip(f"{what}: no test of the report in a browser.")


@pytest.fixture(scope="module")
def browser():
    program = os.environ.get("SCORESIEVE_BROWSER") or next(
        filter(None, map(shutil.which, PROGRAMS)), None
    )
    if program is None:
        missing("Chromium is not installed (tools/install_browser.sh does on Debian)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    with sync_playwright() as playwright:
        # Root has no sandbox; the page is ours and fetches nothing.
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(looked_at, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    test, names = (looked_at.X, looked_at.y), {"feature_names": looked_at.names}
    looked_at.sieve.report(folder / "sieve.html", *test, **names, title="A sieve")
    looked_at.several.report(folder / "several.html", looked_at.X, looked_at.classes)
    looked_at.svc.report(folder / "svc.html")
    return folder


@pytest.fixture
def opened(browser, pages):
    """``opened(name, ...)`` shows a page; in the end nothing was fetched, and no error told."""
    troubles, contexts = [], []

    def show(name, *, width=1100, theme="light"):
        contexts.append(
            browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
        )
        page = contexts[-1].new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file:", "data:")) else troubles.append(request.url)
            ),
        )
        page.goto((pages / f"{name}.html").as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert troubles == []


def keep(page, name):
    """A picture, where they are wanted."""
    folder = os.environ.get("SCORESIEVE_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def names_of(page):
    return page.locator("#features tbody th").all_text_contents()


def test_the_slider_moves_by_keyboard(opened, looked_at):
    page = opened("sieve")
    sizes = [1, 3, 12]
    chosen = sizes.index(looked_at.sieve.best_params_["n_features_to_select"])
    assert page.locator("#size").input_value() == str(chosen)
    place = page.locator("#now").get_attribute("x1")
    page.focus("#size")
    page.keyboard.press("Home")
    assert page.locator("#size-now").text_content() == "1 feature"
    assert "1 feature: cross-validated f1 0." in page.locator("#size-words").text_content()
    assert page.locator("#size").get_attribute("aria-valuetext").startswith("1 feature, f1 0.")
    assert len(names_of(page)) == 1
    assert float(page.locator("#now").get_attribute("x1")) < float(place)
    smaller = looked_at.sieve.smaller_models_[0][0]
    scores = looked_at.X[:, smaller.columns] @ smaller.weights + smaller.decision_intercept
    expected = confusion_matrix(looked_at.y, scores > 0)
    assert cells(page)[:2] == [[*row, sum(row)] for row in expected.tolist()]


def test_above_the_chosen_size_the_fits_of_the_cross_validation_are_shown(opened, looked_at):
    page = opened("sieve")
    (selections,) = looked_at.sieve.fold_selections_
    own = fits_of(page)
    chosen = selections.counts[[1]].toarray()[0]
    assert own == {str(looked_at.names[j]): f"{chosen[j]} of 3" for j in looked_at.sieve.support_}
    assert "fits of the cross-validation also selected" in page.text_content("#features-caption")
    page.focus("#size")
    page.keyboard.press("End")
    assert "selected in the 3 fits of the cross-validation" in page.text_content("#size-words")
    assert "Models of all rows have at most 3 features" in page.text_content("#features-words")
    largest = selections.counts[[2]].toarray()[0]
    assert fits_of(page) == {
        str(looked_at.names[j]): f"{largest[j]} of 3" for j in np.flatnonzero(largest)
    }
    assert page.locator("th[data-key=weight]").is_hidden()
    assert page.locator("th[data-key=fits]").get_attribute("aria-sort") == "descending"
    assert page.locator("#test").is_hidden()
    keep(page, "above-the-chosen-size")


def test_without_a_cross_validation_there_is_no_column_of_fits(opened):
    assert opened("svc").locator("th[data-key=fits]").is_hidden()


def fits_of(page):
    """Names, and the last column."""
    texts = page.locator("#features tbody td.fits").all_text_contents()
    return dict(zip(names_of(page), texts, strict=True))


def cells(page):
    rows = page.locator("#confusion tbody tr")
    return [[int(text) for text in row.locator("td").all_text_contents()] for row in rows.all()]


def test_the_confusion_matrix_is_that_of_predict(opened, looked_at):
    page = opened("sieve")
    (tn, fp), (fn, tp) = confusion_matrix(looked_at.y, looked_at.sieve.predict(looked_at.X))
    assert cells(page) == [[tn, fp, tn + fp], [fn, tp, fn + tp], [tn + fn, fp + tp, 160]]
    words = page.locator("#recall-words").text_content()
    assert f"precision {tp / (tp + fp):.3f}, recall {tp / (tp + fn):.3f}" in words


def test_calibration_is_drawn_for_the_chosen_size_alone(opened, looked_at):
    page = opened("sieve")
    assert page.locator("#calibration circle").count() == 10
    keep(page, "calibration")
    page.focus("#size")
    page.keyboard.press("Home")
    assert page.locator("#calibration-figure").is_hidden()
    assert opened("svc").locator("#calibration-figure").is_hidden()


def test_several_classes_begin_with_an_overview(opened, looked_at):
    page = opened("several")
    predicted = looked_at.several.predict(looked_at.X)
    expected = f1_score(looked_at.classes, predicted, average="macro")
    words = f"All classes: f1 {expected:.3f} on 160 test rows."
    assert page.locator("#overview-words").text_content() == words
    rows = [
        row.locator("td").all_text_contents() for row in page.locator("#classes tbody tr").all()
    ]
    counts = confusion_matrix(looked_at.classes, predicted)
    assert rows == [[str(count) for count in row] for row in counts]
    own = [f"{score:.3f}" for score in f1_score(looked_at.classes, predicted, average=None)]
    assert [
        row.locator("td").last.text_content() for row in page.locator("#overview tbody tr").all()
    ] == own
    for number, score in enumerate(own):
        page.select_option("#part", str(number))
        assert f"class '{'abc'[number]}' against the rest: f1 {score} on 160" in page.text_content(
            "#test-words"
        )
    assert opened("sieve").locator("#s-overview").is_hidden()
    keep(page, "several-classes")


def test_the_table_filters_and_sorts(opened, looked_at):
    page = opened("sieve")
    everything = names_of(page)
    assert set(everything) == {str(looked_at.names[j]) for j in looked_at.sieve.support_}
    page.fill("#search", "BOLD")
    assert names_of(page) == ["<b>bold</b> & {{title}}"]
    assert page.locator("#count").text_content() == f"1 of {len(everything)} features shown"
    page.fill("#search", "")
    page.get_by_role("button", name="Weight").click()
    header = page.locator("th[data-key=weight]")
    assert header.get_attribute("aria-sort") == "descending"
    descending = rows_of(page)
    assert descending == sorted(descending, key=lambda row: -row[1])
    assert {name for name, _ in descending} == set(everything)
    page.get_by_role("button", name="Weight").press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert rows_of(page) == descending[::-1]
    page.get_by_role("button", name="Name").click()
    assert header.get_attribute("aria-sort") == "none"
    words = [name for name in names_of(page) if name.startswith("word")]
    assert words == sorted(words, key=lambda name: int(name.split()[1]))


def rows_of(page):
    """Names and weights; a minus sign is no hyphen."""
    texts = page.locator("#features tbody .number").all_text_contents()
    weights = [float(text.replace("\u2212", "-")) for text in texts]
    return list(zip(names_of(page), weights, strict=True))


def test_names_are_text(opened, looked_at):
    page = opened("sieve")
    assert page.title() == "A sieve"
    assert looked_at.names[0] in names_of(page)
    assert page.locator("#features b").count() == 0


def test_another_class(opened, looked_at):
    page = opened("several")
    assert page.locator("#heading").text_content().startswith("class 'a'")
    page.select_option("#part", "2")
    assert page.locator("#heading").text_content().startswith("class 'c'")
    assert sorted(map(int, names_of(page))) == looked_at.several.supports_[2].tolist()
    assert cells(page)[1][2] == np.sum(looked_at.classes == "c")


def test_a_model_of_one_size_has_no_slider_and_a_certificate(opened):
    page = opened("svc")
    assert page.locator("#s-sizes").is_hidden()
    assert "the best model with at most 3 features" in page.locator("#facts").text_content()
    assert "No test rows were given" in page.locator("#test-words").text_content()
    assert len(names_of(page)) == 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_have_contrast(opened, theme):
    page = opened("sieve", theme=theme)
    ratios = page.evaluate(CONTRAST, "h1, h2, p, th, td, dt, dd, caption, figcaption, button, code")
    assert len(ratios) > 30
    assert min(ratios) >= 4.5
    keep(page, f"desktop-{theme}")
    toggle = page.get_by_role("button", name="Dark colours")
    assert toggle.get_attribute("aria-pressed") == str(theme == "dark").lower()
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    toggle.press("Enter")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert toggle.get_attribute("aria-pressed") == str(theme != "dark").lower()
    assert min(page.evaluate(CONTRAST, "h1, p, th, td, dd, caption, button")) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_all_without_scrolling_sideways(opened, theme):
    page = opened("sieve", width=360, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    boxes = [text.bounding_box() for text in page.locator("svg text").all()]
    assert min(min(box["height"], box["width"] or 99) for box in boxes) > 5
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
    keep(page, f"phone-{theme}")


def test_print_is_white_without_controls(opened):
    page = opened("sieve", theme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for control in ("#theme", "#search", "#size"):
        assert page.locator(control).is_hidden()
    assert page.locator("#features tbody tr").count() > 0
    pdf = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4
    keep(page, "print")


def test_everything_is_reached_by_the_tab_key(opened):
    page = opened("sieve")
    reached = {}
    for _ in range(13):  # more than there are: it begins again
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "[document.activeElement.id || document.activeElement.textContent.trim(), "
            "getComputedStyle(document.activeElement).outlineStyle]"
        )
        reached.setdefault(name, outline)
    wanted = ["Skip to the content", "theme", "size", "Table of these scores", "search"]
    wanted += ["Name", "Weight", "Size", "Fits"]
    assert [name for name in reached if name in wanted] == wanted
    assert all(reached[name] != "none" for name in wanted)


def test_a_long_table_scrolls_in_its_place_and_prints_whole(opened):
    page = opened("sieve")
    page.evaluate(
        "const body = document.querySelector('#features tbody');"
        "const twice = () => body.append(...[...body.rows].map((row) => row.cloneNode(true)));"
        "for (let i = 0; i < 7; i++) twice();"
    )
    box = page.locator(".tall:has(#features)")
    seen = box.bounding_box()["height"]
    assert seen <= 640 < box.evaluate("(node) => node.scrollHeight")
    box.focus()
    page.keyboard.press("End")
    # The page forbids what wait_for_function does, and scrolling may take some frames.
    for _ in range(100):
        if box.evaluate("(node) => node.scrollTop") > 0:
            break
        page.wait_for_timeout(50)
    assert box.evaluate("(node) => node.scrollTop") > 0
    page.emulate_media(media="print")
    assert box.bounding_box()["height"] > 2 * seen


def test_a_screen_reader_finds_names_for_all(opened):
    page = opened("several")
    tree = page.locator("body").aria_snapshot()
    for text in (
        'slider "Number of features"',
        'searchbox "Search names"',
        'combobox "Class"',
        'button "Dark colours"',
        'region "Selected features"',
        'table "Confusion matrix at the model\'s threshold"',
        'img "f1 against the number of features',
        'heading "About this model"',
    ):
        assert text in tree
