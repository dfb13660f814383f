"""Fitted models of every class and shape, and what it means to be the same."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    MeasureSVC,
    ScoreSieve,
    baselines,
    mil,
)
from scoresieve.losses import HuberHinge
from scoresieve.measures import PrecisionUnderRecallFloor

#: What belongs to a session and not to a model.
NOT_SAVED = {"_n_callbacks", "_skl_callbacks"}
NAMES = np.array(["no", "yes"])
KINDS = ("two classes", "three classes", "indicators")

X = np.random.default_rng(5).normal(size=(60, 12))
IS_YES = (X[:, 0] + X[:, 1] > 0.4).astype(int)
INDICATORS = (X[:, :3] > 0.2).astype(np.int8)
THREE = np.array([3, 5, 8])[np.argmax(X[:, [1, 4, 7]], axis=1)]
TARGETS = {"two classes": NAMES[IS_YES], "three classes": THREE, "indicators": INDICATORS}
ROLES = {
    "always_features": np.array([3]),
    "excluded_features": [5],
    "feature_groups": [[0, 2], (1, 4), {6, 7}],
    "fit_intercept": False,
    "multi_class_support": "intersection",
}


def make_bags():
    """Bags of one to three instances, the first of which tells the class."""
    rng = np.random.default_rng(3)
    bags = [rng.normal(size=(1 + i % 3, 3)) for i in range(30)]
    for i, bag in enumerate(bags):
        bag[0, i % 3] += 4.0
    return bags


BAGS, TELLING = make_bags(), np.arange(30) % 3
BAG_TARGETS = {
    "two classes": np.minimum(TELLING, 1),
    "three classes": TELLING,
    "indicators": np.column_stack([TELLING == 0, TELLING < 2]).astype(int),
}

ON_ROWS = [
    MeasureSVC("prec@p", n_features_to_select=2),
    ScoreSieve(n_features_to_select=[1, 2], candidates=["squared_hinge"], Cs=[1.0], cv=2),
    BudgetClassifier(HuberHinge(delta=0.5), budget=3),
    BudgetRegressor("huber", n_features_to_select=3),
    baselines.FGM(budget=3),
    baselines.FSMulti(budget=3),
    baselines.L0SVM(n_features_to_select=3),
    baselines.L1BundleSVM(),
    baselines.L1SVM(n_features_to_select=3, class_weight="balanced"),
    baselines.NMMKL(budget=3),
    baselines.SquaredL1SVM("roc_auc"),
    baselines.SVMPerf("f2", C_scale="svmperf"),
    baselines.SVMRFE(n_features_to_select=3, step=1),
]
ON_BAGS = [
    mil.BagMeasureSVC(budget=2),
    mil.BagScoreSieve(
        n_instances_to_select=2, candidates=["bound"], sigmas=[1.0, "median"], Cs=[1.0], cv=2
    ),
    mil.MILESEmbedding("0.5*median", n_prototypes=20),
    baselines.MILES(sigma=1.0),
    baselines.MeanInstanceSVM(),
]


def name_of(estimator):
    return type(estimator).__name__


def case_name(estimator, kind="two classes"):
    return f"{name_of(estimator)}, {kind}"


def y_of(estimator, kind):
    """What the estimator learns."""
    return X[:, 0] - 2.0 * X[:, 1] if isinstance(estimator, BudgetRegressor) else TARGETS[kind]


#: Models with prices that were found, that were given, and that are the paper's.
PRICED = {
    "found": MeasureSVC("f1", budget=3, C=3.0),
    "hard": MeasureSVC("jaccard", n_features_to_select=2, C=3.0),
    "tried": MeasureSVC("recall@precision>=0.5", budget=3, C=3.0),
    "given": MeasureSVC("mcc", price=0.4, budget=3, C=3.0),
    "top": MeasureSVC("prbep", budget=3, C=3.0),
    "paper": MeasureSVC("f1", bound="paper", budget=3, C=3.0),
}
#: Of one class in all shapes, and of every class on each kind of labels.
CASES = {
    "plain": (MeasureSVC(budget=3), X, NAMES[IS_YES]),
    "objects": (MeasureSVC(budget=3), X, NAMES.astype(object)[IS_YES]),
    "bools": (MeasureSVC("roc_auc", budget=2, pos_label=True), X, IS_YES == 1),
    "floats": (MeasureSVC("prec@9", budget=3), X, 2.0 * IS_YES.astype("f4")),
    "big-endian": (MeasureSVC(budget=3), X, IS_YES.astype(">i2")),
    "dates": (MeasureSVC(budget=3), X, IS_YES.astype("M8[D]")),
    "first class": (MeasureSVC("prbep", budget=3, pos_label="no"), X, NAMES[IS_YES]),
    "sparse labels": (MeasureSVC(budget=2, warm_start=True), X, sp.csr_array(INDICATORS)),
    "matrix of labels": (MeasureSVC(budget=2, warm_start=True), X, sp.csr_matrix(INDICATORS)),
    "warm": (MeasureSVC("average_precision", budget=3, warm_start=True), X, NAMES[IS_YES]),
    "warm objects": (MeasureSVC(budget=3, warm_start=True), X, NAMES.astype(object)[IS_YES]),
    "columns": (MeasureSVC("accuracy", budget=2, **ROLES), X, THREE.astype(np.uint8)),
    "no features": (MeasureSVC(C=1e-6, tol=0.5), X, NAMES[IS_YES]),
    "early": (MeasureSVC(budget=3, max_iter=1, tol=1e-6), X, NAMES[IS_YES]),
    "measure": (MeasureSVC(PrecisionUnderRecallFloor(0.7), budget=3), X, NAMES[IS_YES]),
    **{f"price {name}": (one, X, THREE) for name, one in PRICED.items()},
    **{case_name(one, kind): (one, X, y_of(one, kind)) for one in ON_ROWS for kind in KINDS},
    **{case_name(one, kind): (one, BAGS, BAG_TARGETS[kind]) for one in ON_BAGS for kind in KINDS},
}


@cache
def _fitted_once(name):
    estimator, data, y = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(data, y)


def fitted(name):
    """The fitted model of a case, X and y."""
    # Parts of a model are never modified in place, so that this is a copy without any codec.
    fresh = clone(CASES[name][0])
    fresh.__dict__.update(_fitted_once(name).__dict__)
    return fresh, *CASES[name][1:]


def attributes(model):
    return {name: value for name, value in vars(model).items() if name not in NOT_SAVED}


def without_proofs(model):
    """What a file without certificate holds of a model on rows."""
    kept = attributes(model) | {k: None for k in ("_warm_y", "_warm_weights") if hasattr(model, k)}
    kept["models_"] = tuple(
        dataclasses.replace(
            one,
            certificate=one.certificate
            and dataclasses.replace(one.certificate, history=None, dual_point=None),
        )
        for one in model.models_
    )
    return kept


def parts_of(value):
    """What a value is made of, by name; None for what is compared by its bits."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return {"shape": value.shape, "items": value.ravel().tolist()}
    if sp.issparse(value):
        places = {name: getattr(value, name).tolist() for name in ("indices", "indptr")}
        return {"data": value.data, "shape": value.shape, **places}
    if isinstance(value, BaseEstimator):
        return attributes(value)
    if dataclasses.is_dataclass(value):
        return vars(value)
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else None


def assert_same(found, expected, name="model"):
    """Equal types, dtypes, memory layouts and bits, all the way down."""
    assert type(found) is type(expected), name
    if isinstance(expected, float | np.generic):
        found, expected = (np.asarray(each) for each in (found, expected))
    parts = parts_of(expected)
    if parts is not None:
        assert parts_of(found).keys() == parts.keys(), name
        for key, part in parts.items():
            assert_same(parts_of(found)[key], part, f"{name}.{key}")
    elif isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), name
        # JSON has one NaN only.
        is_nan = expected.ndim == 0 and expected != expected
        assert found.tobytes("A") == expected.tobytes("A") or (is_nan and found != found), name
        assert expected.ndim < 2 or found.flags.c_contiguous == expected.flags.c_contiguous, name
    else:
        assert found == expected, name


METHODS = ("decision_function", "predict", "predict_proba", "transform")


def assert_same_answers(found, model, data, y, *, certified=True):
    """Decisions, labels, scores and selected columns of dense and of sparse X; the certificate."""
    is_on_bags = isinstance(data, list)
    for rows in (data,) if is_on_bags else (data, sp.csr_array(data)):
        for method in METHODS:
            # Columns of the mean instance are no columns of bags.
            is_mean = (method, name_of(model)) == ("transform", "MeanInstanceSVM")
            if not hasattr(model, method) or is_mean:
                continue
            if method == "transform" and getattr(model, "support_", X).size == 0:
                continue
            assert_same(getattr(found, method)(rows), getattr(model, method)(rows), method)
        if hasattr(model, "score"):
            assert found.score(rows, y) == model.score(rows, y)
    if hasattr(model, "instance_scores"):
        assert_same(found.instance_scores(data[0]), model.instance_scores(data[0]))
        assert_same(found.key_instances_, model.key_instances_)
    if hasattr(model, "summary"):
        assert found.summary() == model.summary()
        assert len(model.summary().parts) == len(model.models_)
    assert hasattr(found, "certify") == hasattr(model, "certify")
    if certified and hasattr(model, "certify"):
        check = found.certify(data, y)
        assert check == model.certify(data, y)
        gaps = [each.gap for each in (check if isinstance(check, list) else [check])]
        np.testing.assert_allclose(gaps, np.ravel(model.gap_), rtol=1e-9, atol=1e-12)
