"""``write_report``: the page from its template, style and script, with the contents as JSON."""

from __future__ import annotations

import json
import os
import re
from html import escape
from importlib.resources import files
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from scoresieve._files import replaced
from scoresieve.estimators.persistence.file import installed_version
from scoresieve.report.contents import page_contents

_SLOT = re.compile(r"\{\{(\w+)\}\}")


def write_report(
    model: Any,
    path: str | os.PathLike,
    X_test: Any = None,
    y_test: Any = None,
    *,
    feature_names: ArrayLike | None = None,
    title: str | None = None,
    encoder: Any = None,
) -> None:
    """Write one self-contained HTML page about a fitted model.

    The page shows the cross-validated score for each number of features (with a slider), the
    features and their weights, the confusion matrix and the precision-recall curve on your test
    rows, the summary, and how to load the model. Several classes begin with an overview. The page
    needs no network, and contains names, weights and counts, but no row of the data.

    **Conventions**

    * A ``ScoreSieve`` shows scores for all numbers of features, and weights up to the chosen one.
      All other models show their own number.
    * Equal models and rows give identical pages. An older page is replaced only when the new one is
      complete.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of this package.
    path : path
        File to write.
    X_test, y_test : optional
        Held-out rows for the confusion matrix and the precision-recall curve; bags for a model of
        bags.
    feature_names : array-like of shape (n_features,), optional
        Names of the columns; by default those of the training data frame, or their numbers.
    title : str, optional
        Heading of the page; by default that of the summary.
    encoder : TableEncoder or Normalizer, optional
        What makes X of the rows, if the model is the last step of a pipeline: the page tells how to
        load and use both.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from scoresieve import MeasureSVC
    >>> from scoresieve.report import write_report
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = MeasureSVC("f1", n_features_to_select=2).fit(X, X[:, 0] > 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, os.path.join(folder, "report.html"))
    ...     os.listdir(folder)
    ['report.html']
    """
    if not hasattr(model, "summary"):
        raise TypeError(
            f"model is a {type(model).__name__}; pass a fitted estimator of scoresieve."
        )
    check_is_fitted(model, "coef_")
    if (X_test is None) != (y_test is None):
        missing = "y_test" if y_test is None else "X_test"
        raise ValueError(f"{missing} is missing; give X_test and y_test together, or neither.")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"path={os.fspath(path)!r} is in a folder that does not exist; make {folder!r} first."
        )
    contents = page_contents(model, X_test, y_test, feature_names)
    page = page_text(model, contents, title, encoder)
    with replaced(path) as stream:
        stream.write(page.encode("utf-8"))


def page_text(
    model: Any, contents: dict[str, Any], title: str | None = None, encoder: Any = None
) -> str:
    """The whole page."""
    summary = contents["model"]
    return filled(
        resource("page.html"),
        title=escape(title or summary),
        lead="" if title is None else f'<p id="lead">{escape(summary)}</p>',
        style=resource("page.css"),
        script=resource("page.js"),
        contents=json_in_html(contents),
        words=escape(plain_text(contents)),
        version=escape(installed_version("scoresieve")),
        loading=escape(how_to_load(type(model).__name__, contents["rows"] == "bags", encoder)),
    )


def how_to_load(name: str, of_bags: bool, encoder: Any = None) -> str:
    """Lines of Python that load the model and predict.

    Parameters
    ----------
    name : str
        The class of the model.
    of_bags : bool
        Whether it takes bags of rows.
    encoder : TableEncoder or Normalizer, optional
        The step before the model.
    """
    if encoder is None:
        saving, model = 'model.save("model.scoresieve")', "model"
        rows, about = "X", "the columns of the training data, in the same order"
    else:
        saving, model = 'scoresieve.save(model, "model.scoresieve")', "model[-1]"
        is_table = hasattr(encoder, "needed_")
        rows = "table" if is_table else "X"
        about = "a DataFrame with the columns of the training data, in any order"
        about = about if is_table else "the columns of the training data, in the same order"
        name = f"Pipeline of {type(encoder).__name__} and {name}"
    lines = [
        "import scoresieve",
        "",
        f"# after fitting: {saving}",
        f'model = scoresieve.load("model.scoresieve")  # {name}',
        f"print({model}.summary())",
    ]
    if not of_bags:
        return "\n".join([*lines, f"model.predict({rows})  # {about}"])
    if encoder is not None:
        lines.append(f"X = model[0].transform({rows})  # {about}")
        lines.append("bags = scoresieve.mil.Bags.from_groups(X, bag_of_each_row)")
    return "\n".join([*lines, f"{model}.predict(bags)"])


def resource(name: str) -> str:
    """The text of a file beside this one."""
    return files("scoresieve.report").joinpath(name).read_text(encoding="utf-8")


def filled(template: str, **values: str) -> str:
    """The template with each ``{{name}}`` replaced, once: what is put in is not read again."""
    return _SLOT.sub(lambda match: values[match[1]], template)


def json_in_html(contents: Any) -> str:
    """JSON that cannot end its HTML element, whatever the names of features contain."""
    text = json.dumps(contents, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def plain_text(contents: dict[str, Any]) -> str:
    """The page as text, for readers without JavaScript."""
    lines = [contents["model"]]
    if contents["overview"] is not None:
        columns = [[heading, *cells] for heading, cells in contents["overview"]["columns"]]
        lines += ["", *(f"{name}: {text}" for name, text in contents["overview"]["facts"])]
        lines += ["", *("  ".join(row) for row in zip(*columns, strict=True))]
    for part in contents["parts"]:
        lines += ["", part["heading"], *(f"{name}: {text}" for name, text in part["facts"])]
        model = part["sizes"][part["chosen"]]["model"]
        lines += [f"{weight:+.4g}  {name}" for name, weight in model["features"]]
    return "\n".join(lines)
