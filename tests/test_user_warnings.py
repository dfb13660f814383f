"""Warnings name the user's line, from however deep and through whatever they come."""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

import scoresieve
from scoresieve import BudgetClassifier, BudgetRegressor, MeasureSVC, budget_path, solve
from scoresieve._user_warnings import warn_user
from scoresieve.baselines import SVMPerf

X = np.random.default_rng(0).normal(size=(40, 5))
Y = np.tile([0, 1], 20)


def line_here():
    """The line of the caller."""
    return sys._getframe(1).f_lineno


@pytest.mark.parametrize(
    "call",
    [
        lambda: (line_here(), MeasureSVC(budget=9).fit(X, Y)),
        lambda: (line_here(), MeasureSVC(C=1e-9).fit(X, Y)),
        lambda: (line_here(), BudgetClassifier(budget=9).fit(X, Y)),
        lambda: (line_here(), BudgetRegressor(budget=9).fit(X, X[:, 0])),
        lambda: (line_here(), SVMPerf(C=1e-9).fit(X, Y)),
        lambda: (line_here(), budget_path(X, Y, [9])),
        lambda: (line_here(), solve(X, Y, measure="f1", budget=9)),
        lambda: (line_here(), make_pipeline(StandardScaler(), MeasureSVC(budget=9)).fit(X, Y)),
        lambda: (line_here(), MeasureSVC(budget=9).fit_transform(X, Y)),
        lambda: (line_here(), Parallel()([delayed(MeasureSVC(budget=9).fit)(X, Y)])),
    ],
)
def test_the_line_of_the_call(call):
    with pytest.warns(UserWarning, match="budget=9|no features") as caught:
        line, _ = call()
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]


def test_a_search_warns_at_the_call_of_its_fit():
    with pytest.warns(UserWarning, match="no features") as caught:
        line, _ = line_here(), GridSearchCV(MeasureSVC(), {"C": [1e-9]}, cv=2).fit(X, Y)
    assert {(each.filename, each.lineno) for each in caught} == {(__file__, line)}


def test_code_beside_the_package_is_the_users():
    """A folder whose name begins with that of the package is not part of it."""
    filename = os.path.dirname(scoresieve.__file__) + "_app" + os.sep + "train.py"
    scope = {"warn_user": warn_user, "__name__": "train"}
    with pytest.warns(UserWarning, match="look") as caught:
        exec(compile("\nwarn_user('look')", filename, "exec"), scope)
    assert [(each.filename, each.lineno) for each in caught] == [(filename, 2)]


def test_it_is_shown_once_for_each_line():
    """As Python's own filter has it, by the registry of the user's module."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_user("of one line")
        warn_user("of one line")
    assert len(caught) == 2
    assert caught[1].lineno == caught[0].lineno + 1
