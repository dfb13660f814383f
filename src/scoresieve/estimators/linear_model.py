"""Methods of fitted linear models: decide, predict, score, certify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score, matthews_corrcoef, recall_score
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve._checks import check_count
from scoresieve.certificate import Certificate, certify
from scoresieve.design import RowBlocks
from scoresieve.estimators.data import read_X
from scoresieve.estimators.model import ClassModel
from scoresieve.estimators.summary.mixin import SummaryMixin
from scoresieve.estimators.targets import Targets
from scoresieve.measures import Accuracy, BalancedAccuracy, Matthews, Measure
from scoresieve.solvers.problem import ProblemArguments
from scoresieve.solvers.row_weights import apply_weights

#: How the supports of several classes become one selection.
COMBINE: dict[str, Any] = {"union": np.union1d, "intersection": np.intersect1d}


def each_model(get: Callable[[ClassModel], Any], collect: Callable = np.array) -> Any:
    """A fitted attribute with one entry for each class."""
    return property(lambda self: collect([get(model) for model in self.models_]))


class LinearModelMixin(SummaryMixin):
    """``decision_function(X) = X coef_^T + intercept_``.

    Conventions
    -----------
    ``fit`` ends with :meth:`_keep`, which sets ``targets_``, ``models_`` (a ClassModel for each
    class) and ``n_samples_fit_``. scikit-learn's attributes are derived from these.
    """

    targets_: Targets
    models_: tuple[ClassModel, ...]
    n_samples_fit_: int
    n_features_in_: int
    #: How several supports become one, for estimators without a parameter of that name.
    multi_class_support: str = "union"
    _is_sparse = False
    _coef: Any
    _computed: tuple[str, ...] = ("_coef",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _keep(self, targets: Targets, models: Sequence[ClassModel], n_samples: int) -> None:
        """Set the fitted state."""
        self.targets_, self.models_, self.n_samples_fit_ = targets, tuple(models), n_samples
        self._is_sparse = False
        self._refresh()

    def _refresh(self) -> None:
        """Put the weights of all classes into the matrix that decisions are made with."""
        places = [self._numbered(model) for model in self.models_]
        weights = self.targets_.sign * np.concatenate([model.weights for model in self.models_])
        starts = np.cumsum([0, *(each.size for each in places)])
        shape = len(self.models_), self._n_weights()
        coef = sp.csr_matrix((weights, np.concatenate(places), starts), shape=shape)
        coef.eliminate_zeros()
        self._coef = coef if self._is_sparse else coef.toarray()

    def _numbered(self, model: ClassModel) -> IntArray:
        """The places of the model's columns among all that have a weight."""
        return model.columns

    def _n_weights(self) -> int:
        """How many columns the weights of each class have."""
        return self.n_features_in_

    @property
    def coef_(self) -> Any:
        """Weights of shape (n_problems, n_features); positive decisions mean ``classes_[1]``."""
        return self._coef

    @property
    def intercept_(self) -> FloatArray:
        """Added to ``X coef_^T``."""
        return self.targets_.sign * decision_intercepts(self.targets_, self.models_)

    @property
    def classes_(self) -> Array:
        """Labels, or the column numbers of an indicator matrix."""
        return self.targets_.classes

    @property
    def supports_(self) -> list[IntArray]:
        """The selected features of each class."""
        return [model.columns for model in self.models_]

    @property
    def support_(self) -> IntArray:
        """The selected features of all classes."""
        return reduce(COMBINE[self.multi_class_support], self.supports_)

    @property
    def n_features_selected_(self) -> int:
        """Number of selected features."""
        return int(self.support_.size)

    n_positives_ = each_model(lambda model: model.n_positives)

    def _validated(self, X: Any) -> Any:
        """X for a fitted model."""
        check_is_fitted(self, "models_")
        return read_X(self, X)

    def decision_function(self, X: Any) -> FloatArray:
        """``X coef_^T + intercept_``: the score of each class.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one column, positive for ``classes_[1]``.
        """
        X = self._validated(X)
        decision = linear_scores(X, self.coef_) + self.intercept_
        return decision.ravel() if self.targets_.kind == "binary" else decision

    def predict(self, X: Any) -> Array:
        """The class of each row of X, or an indicator matrix of shape (n_samples, n_classes)."""
        decision = self.decision_function(X)
        return self.targets_.predict(decision)

    def predict_top(self, X: Any, k: int, *, label: Any = None) -> IntArray:
        """The row numbers of the k highest scores of a class, highest first; ties by row number.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        k : int
            At most n_samples. The threshold of the model plays no part.
        label : object, optional
            The class, needed with more than two classes or an indicator matrix, whose columns have
            numbers. Of two classes it is the positive one.
        """
        k, problem = check_count(k, "k"), self._problem_of(label)
        decision = self.decision_function(X)
        if k > len(decision):
            raise ValueError(f"k={k} is more than the {len(decision)} rows of X; lower k.")
        scores = self.targets_.sign * decision.reshape(len(decision), -1)[:, problem]
        return np.argsort(-scores, kind="stable")[:k]

    def _problem_of(self, label: Any) -> int:
        """The problem of a class of the fitted model."""
        check_is_fitted(self, "models_")
        return self.targets_.problem_of(label)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The measure that the model was trained for, in [0, 1]; for a loss, the accuracy.

        With several classes it is the score of :meth:`predict`, averaged over the classes that
        occur in y: that of ``predict(X) == c`` for each class c. Accuracy, balanced accuracy and
        ``"mcc"`` are scikit-learn's for several classes. Measures of scores (rankings, the k
        highest, floors) are averaged over the one-vs-rest problems. For an indicator matrix, each
        column is scored at its own threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, as in ``fit``.
        """
        check_is_fitted(self, "models_")
        measure = measure_of(self)
        if measure is None:
            return ClassifierMixin.score(self, X, self.targets_.checked(y, y), sample_weight)
        decision = self.decision_function(X)
        y = self.targets_.checked(y, decision)
        return measure_score(measure, self.targets_, self.models_, y, decision, sample_weight)

    @property
    def certify(self) -> Any:
        """Only models with a certificate have it: no attribute, and which has, here."""
        name, selected = "MeasureSVC", "features"
        if self._nouns[1] == "bags":
            name, selected = "BagMeasureSVC", "instances"
        measure = measure_of(self)
        score = "f1" if measure is None else measure.name
        raise AttributeError(
            f"{type(self).__name__} has no certificate; {name} has one: fit {name}({score!r}, "
            f"n_{selected}_to_select=10) on the same data, then call its certify."
        )

    def sparsify(self) -> Any:
        """Convert ``coef_`` to a CSR matrix, as scikit-learn's linear models do."""
        check_is_fitted(self, "models_")
        self._is_sparse = True
        self._refresh()
        return self

    def densify(self) -> Any:
        """Convert ``coef_`` to an array."""
        check_is_fitted(self, "models_")
        self._is_sparse = False
        self._refresh()
        return self


def proven(name: str, collect: Callable = np.array) -> Any:
    """An attribute of the certificate of each class."""
    return each_model(lambda model: getattr(model.proof, name), collect)


class CertifiedMixin:
    """Bounds of a fit, and certificates that anybody can recompute.

    Conventions
    -----------
    ``fit`` sets ``problem_``: the problem without its data. Unknown values are NaN or None.
    """

    problem_: ProblemArguments
    targets_: Targets
    models_: tuple[ClassModel, ...]
    _validated: Callable[[Any], Any]

    primal_, dual_, gap_ = proven("primal"), proven("dual"), proven("gap")
    l0_gap_, refit_gap_ = proven("l0_gap"), proven("refit_gap")
    status_ = proven("status", list)
    training_score_ = each_model(lambda model: model.training_score)
    n_iter_ = each_model(lambda model: model.n_iter)

    @property
    def budget_(self) -> int:
        """The budget that was used."""
        return self.problem_["budget"]

    def _all_columns(self, X: Any) -> Any:
        """What the model was selected from."""
        return self._validated(X)

    def certify(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> Certificate | list[Certificate]:
        """Recompute primal, dual and gap from the training data alone.

        Parameters
        ----------
        X, y, sample_weight
            The training data.

        Returns
        -------
        Certificate, or list of Certificate
            A list for more than two classes or an indicator matrix.
        """
        X = self._all_columns(X)
        labels = self.targets_.labels(self.targets_.checked(y, X))
        found = [
            certify_model(model, self.problem_, X, each, sample_weight)
            for model, each in zip(self.models_, labels, strict=True)
        ]
        return found[0] if self.targets_.kind == "binary" else found


def certify_model(
    model: ClassModel, problem: ProblemArguments, X: Any, y: Any, sample_weight: Any
) -> Certificate:
    """The bounds of the model of one class, recomputed.

    Parameters
    ----------
    problem : dict
        The problem without its data, and what differs between classes.
    """
    arguments: ProblemArguments = {**problem, "sample_weight": sample_weight}
    if not np.isnan(model.price):
        arguments["price"] = model.price
    if model.C is not None:
        arguments["C"] = model.C
    point = None if model.certificate is None else model.proof.dual_point
    w = model.scattered(X.shape[1])
    return certify(X, y, w, point, intercept=model.intercept, **arguments)


def linear_scores(X: Any, coef: Any) -> FloatArray:
    """``X coef^T`` of shape (n_samples, n_problems), for X and coef dense or sparse."""
    if isinstance(X, RowBlocks):
        return _block_scores(X, coef)
    return np.asarray(safe_sparse_dot(X, coef.T, dense_output=True), dtype=np.float64)


def _block_scores(X: RowBlocks, coef: Any) -> FloatArray:
    """The same for row blocks, by the columns with a weight."""
    coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef, dtype=np.float64)
    used = np.flatnonzero(np.any(coef != 0.0, axis=0))
    scores = X.scores(coef[:, used], used)
    if not np.all(np.isfinite(scores)):
        raise ValueError("X contains NaN or infinity; impute the values or drop those rows.")
    return scores


def measure_of(model: Any) -> Measure | None:
    """What a fitted model was trained for; None for losses."""
    return getattr(model, "measure_", None)


def decision_intercepts(targets: Targets, models: Sequence[ClassModel]) -> FloatArray:
    """Added to ``<w, x>`` of each class, so that decisions above 0 are predicted positive.

    Of several classes whose scores are log-odds, the most probable one is predicted, so their
    decisions ignore the thresholds.
    """
    if _are_compared(targets, models):
        return np.array([model.intercept for model in models])
    return np.array([model.decision_intercept for model in models])


def _are_compared(targets: Targets, models: Sequence[ClassModel]) -> bool:
    return targets.kind == "multiclass" and models[0].choice is not None


def margins(decision: FloatArray) -> FloatArray:
    """``s_c - max_{c' != c} s_c'``: above 0 for the predicted class of each row, and for no other.

    Parameters
    ----------
    decision : ndarray of shape (n_samples, n_classes)
    """
    rows, predicted = np.arange(len(decision)), np.argmax(decision, axis=1)
    best = decision[rows, predicted]
    others = decision.copy()
    others[rows, predicted] = -np.inf
    found = decision - best[:, np.newaxis]
    # The first of equal classes is predicted.
    found[rows, predicted] = np.maximum(best - others.max(axis=1), np.finfo(np.float64).tiny)
    return found


def class_columns(
    measure: Measure | None, targets: Targets, models: Sequence[ClassModel], decision: FloatArray
) -> FloatArray:
    """Scores of each class, of shape (n_samples, n_problems), that are above 0 where it is counted.

    Parameters
    ----------
    measure : Measure or None
        Of several classes, one of predicted labels counts what is predicted; another looks at each
        class alone, at its threshold.
    """
    if targets.kind == "multiclass" and (measure is None or measure.scores_labels):
        return margins(decision)
    if _are_compared(targets, models):
        return decision - np.array([model.threshold for model in models])
    return targets.sign * decision.reshape(len(decision), -1)


def mean_recall(y: Array, predicted: Array, sample_weight: FloatArray | None) -> float:
    """The balanced accuracy of scikit-learn, which warns of predicted classes that y lacks."""
    of_y = np.unique(y)
    return recall_score(y, predicted, labels=of_y, average="macro", sample_weight=sample_weight)


#: Measures that scikit-learn has for the labels of several classes at once.
OF_ALL_CLASSES: dict[type[Measure], Callable[..., float]] = {
    Accuracy: accuracy_score,
    BalancedAccuracy: mean_recall,
    Matthews: matthews_corrcoef,
}


def class_scores(
    measure: Measure, targets: Targets, models: Sequence[ClassModel], y: Any, decision: FloatArray
) -> FloatArray:
    """The measure of each class against the rest; see :func:`measure_score`.

    It is NaN for classes without positives or without negatives in y: only the accuracy is defined
    there.
    """
    columns = class_columns(measure, targets, models, decision).T
    return np.array(
        [
            measure.score(labels, scores)
            if isinstance(measure, Accuracy) or np.any(labels != labels[0])
            else np.nan
            for labels, scores in zip(targets.labels(y), columns, strict=True)
        ]
    )


def measure_score(
    measure: Measure,
    targets: Targets,
    models: Sequence[ClassModel],
    y: Any,
    decision: FloatArray,
    sample_weight: Any = None,
) -> float:
    """The measure of all classes, as ``score`` has it: that of predictions where it is of labels.

    Parameters
    ----------
    targets : Targets
        Of the training data.
    y : ndarray or sparse matrix
        True labels, or an indicator matrix.
    decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts.
    """
    decision, y, weights = apply_weights(measure, decision, y, sample_weight)
    if weights is not None:
        present = np.flatnonzero(weights)
        decision, y, weights = decision[present], y[present], weights[present]
    weighted = measure if weights is None else measure.weighted(weights)
    found = class_scores(weighted, targets, models, y, decision)
    if np.all(np.isnan(found)):
        raise ValueError(
            f"y has one class only, for which {measure.name!r} is not defined; score on rows that "
            "hold both positives and negatives."
        )
    if targets.kind == "multiclass" and type(measure) in OF_ALL_CLASSES:
        of_all = OF_ALL_CLASSES[type(measure)]
        return float(of_all(y, targets.predict(decision), sample_weight=weighted.row_weights))
    return float(np.nanmean(found))
