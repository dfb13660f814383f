"""Every argument of every estimator refuses a wrong type and a wrong value, by its name."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import scoresieve
from scoresieve import baselines, mil

CLASSES = {
    name: getattr(module, name)
    for module in (scoresieve, mil, baselines)
    for name in module.__all__
    if inspect.isclass(getattr(module, name)) and issubclass(getattr(module, name), BaseEstimator)
}

#: A wrong type, a wrong value, and more where there are traps.
WRONG = {
    "C": ["1", 0.0, -1.0, np.nan, np.inf, True, 1e101],
    "C_scale": ["half", 0],
    "Cs": [1.0, [], [1.0, -1.0], ["1"]],
    "always_features": ["no column", [1000], [-1], [0.5]],
    "bound": [1, "loose"],
    "budget": ["3", 0, 2.0, True],
    "candidates": ["measure", [], ["no loss"], 3],
    "certificate": ["no", 1, None],
    "class_weight": ["even", 3, {"no class": 2.0}],
    "cv": ["five", 1, 1.5],
    "excluded_features": ["no column", [1000], [-1], [0.5]],
    "feature_groups": ["no groups", [0, 1], 3],
    "fit_intercept": ["no", 1, None],
    "inner_tol": ["small", 0.0],
    "intercept_scaling": ["one", 0.0, -1.0, np.nan],
    "k_tol": ["none", -1, 1.5],
    "categorical": ["no list", ["no column"], 3],
    "drop": ["no list", ["no column"], 3],
    "loss": ["no loss", 3],
    "max_groups": ["ten", 0, 1.5],
    "max_iter": ["ten", 0, 1.5, True],
    "max_memory": ["1 GB", 0.0, -1.0],
    "max_rounds": ["ten", 0, 1.5],
    "max_time": ["1 s", 0.0, -1.0, np.nan],
    "measure": ["no measure", 3, None],
    "metric": ["no metric", 3],
    "multi_class_support": ["all", 3],
    "n_features_to_select": ["ten", 0, 1.5, True],
    "n_instances_to_select": ["ten", 0, 1.5, True],
    "n_jobs": ["all", 0, 1.5],
    "n_prototypes": ["ten", 0, 1.5],
    "pos_label": [[1], "no label", 7],
    "price": ["cheap", 0.0, -1.0, np.nan],
    "prototypes": ["best", 3],
    "random_state": ["seed", 1.5],
    "sigma": ["wide", 0.0, -1.0],
    "sigmas": ["wide", [], [0.0], 1.0],
    "step": ["half", 0, -1.0],
    "stop": ["early", 3],
    "text": ["no list", ["no column"], 3],
    "tol": ["fine", 0.0, -1.0, np.nan],
    "verbose": ["loud", -1, 0.5, None],
    "warm_start": ["no", 1, None],
}
LIBLINEAR = ("L0SVM", "L1SVM", "MILES", "MeanInstanceSVM", "SVMRFE")
#: Certified gaps; liblinear's tolerance is of another kind.
RELATIVE = {name for name in CLASSES if name not in LIBLINEAR}


def cases():
    for name, cls in CLASSES.items():
        for argument in inspect.signature(cls).parameters:
            wrong = WRONG[argument]
            if argument == "tol" and name in RELATIVE:
                wrong = [*wrong, 1.0, 2]
            for value in wrong:
                yield pytest.param(cls, argument, value, id=f"{name}-{argument}-{value!r}")


def data_for(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=40) > 0.5, 1, 0)
    if "Bag" in cls.__name__ or cls.__name__ in ("MILES", "MILESEmbedding", "MeanInstanceSVM"):
        return [X[i : i + 2] for i in range(0, 40, 2)], y[::2]
    if cls.__name__ == "TableEncoder":
        return pd.DataFrame(X, columns=list("abcdef")), y
    return X, y


@pytest.mark.parametrize(("cls", "argument", "value"), cases())
def test_wrong_arguments_are_refused_by_name(cls, argument, value):
    model = cls(**{argument: value})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as caught:
            model.fit(*data_for(cls))
    assert argument in str(caught.value)
    assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
