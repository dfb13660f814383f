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
from scoresieve.estimators.linear_model import LinearModelMixin


class LinearExportMixin(LinearModelMixin):
    """``to_linear_svc().decision_function(X) = X coef_^T + intercept_``.

    It is for linear models of scikit-learn's classes.
    """

    def to_linear_svc(self) -> LinearSVC | OneVsRestClassifier:
        """An equivalent fitted model that is scikit-learn's own, for tools that know only those.

        Conventions
        -----------
        * For classes it is a ``LinearSVC``, for an indicator matrix a ``OneVsRestClassifier`` of
          them. Its weights are a dense copy, since converters ask for that.
        * The thresholds of measures of the highest scores are in ``intercept_``.
        * ``LinearSVC`` gives decisions of exactly 0 to ``classes_[0]``. So does this model, except
          with ``pos_label=classes_[0]``: a score of 0 is no alarm for the positive class.
        * Its parameters are those of this model where the names are the same. Fitting it again
          trains an ordinary ``LinearSVC``, with all features.

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
        check_is_fitted(self, "models_")
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_.copy()
        if self.targets_.kind != "multilabel":
            return self._linear_svc(coef, self.intercept_, self.classes_)
        exported = OneVsRestClassifier(self._unfitted_linear_svc())
        exported.estimators_ = [
            self._linear_svc(coef[[label]], self.intercept_[[label]], np.array([0, 1]))
            for label in self.classes_
        ]
        # It learns from any indicator matrix of that many columns what there is to know.
        exported.label_binarizer_ = LabelBinarizer().fit(np.eye(self.classes_.size, dtype=np.int64))
        exported.classes_ = self.classes_.copy()
        return self._with_features(exported)

    def _unfitted_linear_svc(self) -> LinearSVC:
        given: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        same = ("C", "fit_intercept", "intercept_scaling")
        return LinearSVC(**{name: given[name] for name in same if given.get(name) is not None})

    def _linear_svc(self, coef: Array, intercept: Array, classes: Array) -> LinearSVC:
        exported = self._unfitted_linear_svc()
        exported.coef_, exported.intercept_ = coef, intercept.copy()
        exported.classes_ = classes.copy()
        exported.n_iter_ = max(1, *(model.n_iter for model in self.models_))
        return self._with_features(exported)

    def _with_features(self, exported: Any) -> Any:
        """The number of features and their names, as far as there are any."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(exported, name, getattr(self, name))
        return exported
