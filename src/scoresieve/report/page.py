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
) -> None:
    """Write one self-contained HTML page to look at a fitted model.

    The page has a slider over the numbers of features with the curve of scores, the table of
    features, the confusion matrix and the precision-recall curve on rows that you give, the
    certificate in words, and how to load the model. It asks nothing of the network, and holds
    names, weights and counts, but no row of the data.

    **Conventions**

    * Features are shown for the numbers that the model keeps: of a ``ScoreSieve`` those up to the
      chosen one, of all other models their own. Scores and settings are shown for all numbers.
    * Equal models and rows give equal pages, byte by byte. The page replaces an older one only when
      it is complete.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of this package.
    path : path
        Of the page.
    X_test, y_test : optional
        Rows that the model has not seen, for the confusion matrix and the precision-recall curve;
        bags for a model of bags.
    feature_names : array-like of shape (n_features,), optional
        Names of the columns; by default those of the data frame that the model was fitted on, or
        their numbers.
    title : str, optional
        Heading of the page; what the model is by default.

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
            f"model must be an estimator of scoresieve that selects; got {type(model).__name__}."
        )
    check_is_fitted(model, "coef_")
    if (X_test is None) != (y_test is None):
        missing = "y_test" if y_test is None else "X_test"
        raise ValueError(f"{missing} is missing; give X_test and y_test together, or neither.")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"path={os.fspath(path)!r} lies in a folder that does not exist; make {folder!r} first."
        )
    page = page_text(model, page_contents(model, X_test, y_test, feature_names), title)
    with replaced(path) as stream:
        stream.write(page.encode("utf-8"))


def page_text(model: Any, contents: dict[str, Any], title: str | None = None) -> str:
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
        estimator=escape(type(model).__name__),
        test_rows="bags" if contents["rows"] == "bags" else "X",
    )


def resource(name: str) -> str:
    """The text of a file beside this one."""
    return files("scoresieve.report").joinpath(name).read_text(encoding="utf-8")


def filled(template: str, **values: str) -> str:
    """The template with each ``{{name}}`` replaced, once: what is put in is not read again."""
    return _SLOT.sub(lambda match: values[match[1]], template)


def json_in_html(contents: Any) -> str:
    """JSON that cannot end the element it stands in, whatever names of features hold."""
    text = json.dumps(contents, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def plain_text(contents: dict[str, Any]) -> str:
    """What a reader without JavaScript sees."""
    lines = [contents["model"]]
    for part in contents["parts"]:
        lines += ["", part["heading"], *(f"{name}: {text}" for name, text in part["facts"])]
        model = part["sizes"][part["chosen"]]["model"]
        lines += [f"{weight:+.4g}  {name}" for name, weight in model["features"]]
    return "\n".join(lines)
