"""``to_linear_svc``: the same decisions from a plain linear model of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array


def to_linear_svc(model: Any) -> LinearSVC | OneVsRestClassifier:
    """``to_linear_svc().decision_function(X) = X coef_^T + intercept_``.

    An equivalent fitted scikit-learn model, for tools that support nothing else.

    Conventions
    -----------
    * The result is a ``LinearSVC``; for an indicator matrix, a ``OneVsRestClassifier`` of them. Its
      weights are a dense copy, which converters require.
    * ``intercept_`` includes the thresholds of measures of the k highest scores.
    * ``LinearSVC`` predicts ``classes_[0]`` for a decision of exactly 0. So does this model, except
      with ``pos_label=classes_[0]``: a score of 0 is never predicted positive.
    * Parameters with the same name are copied. Fitting the result again trains an ordinary
      ``LinearSVC`` on all features.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import MeasureSVC
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = MeasureSVC("prec@20", budget=2).fit(X, X[:, 0] > 0.5)
    >>> exported = model.to_linear_svc()
    >>> type(exported).__name__
    'LinearSVC'
    >>> bool(np.all(exported.predict(X) == model.predict(X)))
    True
    """
    check_is_fitted(model, "models_")
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_.copy()
    if model.targets_.kind != "multilabel":
        return _linear_svc(model, coef, model.intercept_, model.classes_)
    exported = OneVsRestClassifier(_unfitted_linear_svc(model))
    exported.estimators_ = [
        _linear_svc(model, coef[[label]], model.intercept_[[label]], np.array([0, 1]))
        for label in model.classes_
    ]
    # It learns from any indicator matrix of that many columns what there is to know.
    exported.label_binarizer_ = LabelBinarizer().fit(np.eye(model.classes_.size, dtype=np.int64))
    exported.classes_ = model.classes_.copy()
    return _with_features(model, exported)


def _unfitted_linear_svc(model: Any) -> LinearSVC:
    given: dict[str, Any] = model.get_params(deep=False)
    same = ("C", "fit_intercept", "intercept_scaling")
    return LinearSVC(**{name: given[name] for name in same if given.get(name) is not None})


def _linear_svc(model: Any, coef: Array, intercept: Array, classes: Array) -> LinearSVC:
    exported = _unfitted_linear_svc(model)
    exported.coef_, exported.intercept_ = coef, intercept.copy()
    exported.classes_ = classes.copy()
    exported.n_iter_ = max(1, *(each.n_iter for each in model.models_))
    return _with_features(model, exported)


def _with_features(model: Any, exported: Any) -> Any:
    """The number of features and their names, as far as there are any."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(exported, name, getattr(model, name))
    return exported
