"""Warnings name the line of whoever called, however many libraries stand in between."""

from __future__ import annotations

import inspect
import os
import warnings

import joblib
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scoresieve
from scoresieve import BudgetClassifier, MeasureSVC, budget_path, certify, solve
from scoresieve._user_warnings import warn_user

MESSAGE = "budget=99 is more than the 10 columns"


def here():
    """The number of the line that calls this."""
    return inspect.currentframe().f_back.f_lineno


@pytest.fixture
def noted():
    """``noted()`` gives the places (file, line) of the warnings since the start."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        def places():
            assert caught
            assert all(MESSAGE in str(each.message) for each in caught)
            return [(each.filename, each.lineno) for each in caught]

        yield places


def test_solve_and_certify(data, noted):
    X, y = data(0)
    result, line = solve(X, y, measure="f1", budget=99), here()
    assert noted() == [(__file__, line)]
    problem = {"measure": "f1", "price": result.price, "budget": 99, "C": 1.0}
    certify(X, y, result.w, result.dual_point, **problem)
    assert noted()[1:] == [(__file__, here() - 1)]
    solve(X, y, loss="logistic", budget=99)
    assert noted()[2:] == [(__file__, here() - 1)]


def test_a_fit(data, noted):
    X, y = data(0)
    MeasureSVC(measure="f1", budget=99).fit(X, y)
    assert noted() == [(__file__, here() - 1)]
    BudgetClassifier(budget=99).fit(X, y)
    assert noted()[1:] == [(__file__, here() - 1)]


def test_a_pipeline(data, noted):
    X, y = data(0)
    pipeline = make_pipeline(StandardScaler(), MeasureSVC(measure="f1", budget=99))
    pipeline.fit(X, y)
    assert noted() == [(__file__, here() - 1)]
    GridSearchCV(pipeline, {"measuresvc__C": [1.0]}, cv=2, refit=False).fit(X, y)
    assert set(noted()[1:]) == {(__file__, here() - 1)}


def test_paths(data, noted):
    X, y = data(0)
    budget_path(X, y, measure="f1", budgets=[2, 99])
    assert noted() == [(__file__, here() - 1)]
    budget_path(X, y, loss="logistic", budgets=[2, 99])
    assert noted()[1:] == [(__file__, here() - 1)]
    solve(X, y, measure="f1", budget=99, C=1.0)
    assert noted()[2:] == [(__file__, here() - 1)]


def test_a_function_of_the_user_in_between(data, noted):
    """The innermost line that is no library's: where the call into the libraries is written."""
    X, y = data(0)

    def fit_twice(model):
        return model.fit(X, y)

    expected = fit_twice.__code__.co_firstlineno + 1
    fit_twice(MeasureSVC(measure="f1", budget=99))
    assert noted() == [(__file__, expected)]


def test_each_place_warns_once_by_default(data):
    """Python's default filter knows the user's line, so that a loop does not flood the screen."""
    X, y = data(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            solve(X, y, measure="f1", budget=99)
        solve(X, y, measure="f1", budget=99)
    assert [each.lineno for each in caught] == [here() - 2, here() - 1]


def test_a_filter_by_module_is_a_filter_by_the_users_module(data):
    X, y = data(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
        solve(X, y, measure="f1", budget=99)


@pytest.mark.parametrize("package", [scoresieve, sklearn, joblib])
def test_files_beside_a_library_are_the_users(package):
    """A module of the user whose name begins like that of a library is no part of it."""
    folder = os.path.dirname(package.__file__)
    for path, is_users in (
        (os.path.join(folder, "inside", "deep.py"), False),
        (folder + "_of_mine.py", True),
        (os.path.join(folder + "_tools", "fit.py"), True),
    ):
        code = compile("\nwarn_user('look')", path, "exec")
        with pytest.warns(UserWarning, match="look") as caught:
            exec(code, {"warn_user": warn_user})
        expected = (path, 2) if is_users else (__file__, here() - 1)
        assert (caught[0].filename, caught[0].lineno) == expected


def test_the_category():
    with pytest.warns(DeprecationWarning, match="^old$"):
        warn_user("old", DeprecationWarning)
    with pytest.warns(UserWarning, match="^usual$") as caught:
        warn_user("usual")
    assert caught[0].filename == __file__
    assert caught[0].lineno == here() - 2
