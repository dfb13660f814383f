"""``MeasureSVC``: classifier and feature selector for the measure that is reported."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from scoresieve.estimators.budget_model import BudgetClassifierMixin
from scoresieve.estimators.linear_model import each_model
from scoresieve.estimators.persistence.fields import named
from scoresieve.estimators.persistence.registry import PersistenceMixin
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.measures import Measure


@dataclass(eq=False, repr=False)
class MeasureSVC(
    BudgetClassifierMixin,
    PersistenceMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """``min_w 1/2 ||w||_B^2 + C R(X w)``: a sparse linear model for the measure you report.

    R is a convex bound of the measure's loss, and ``||.||_B`` the budget norm, which lets about B
    features in. Every fit is certified: it reports how far, at most, it is from the optimum.

    **Conventions**

    * C has the scale of ``LinearSVC``: with ``measure="accuracy"`` and a budget of all features the
      problem is that of ``LinearSVC(loss="hinge")`` with the same C.
    * With more than two classes, or an indicator matrix, each class against the rest is one
      problem. C, budgets and limits hold for each.
    * ``predict`` is ``decision_function > 0`` for two classes and for indicator matrices, else the
      class with the largest decision. For measures of the k highest scores the intercept is moved
      so that k training rows are above 0; for rankings, as many as are positive. For other measures
      it is moved only if another threshold would raise the training score by more than a share
      3 / P. With ``bound="paper"`` or without an intercept it is never moved.
    * Identical inputs give identical bits, for every ``n_jobs``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
        The score to optimise: ``"f1"``, ``"prec@100"``, ``"rec@2p"``, ``"prbep"``, ``"roc_auc"``.
    bound : {"tight", "paper"}, default="tight"
        ``"tight"`` weighs false alarms by a price, and takes the intercept as the threshold of the
        k highest scores. ``"paper"`` is the bound of Mao and Tsang, whose price is 1.
    price : float or "auto", default="auto"
        The cost of a false alarm in the bound; a missed positive costs 1. ``"auto"`` is the
        measure's exchange rate at the operating point, estimated by cross-fitting.
    budget : int, optional
        B. The model has usually two to five times as many non-zero weights. By default
        ``n_features_to_select``, else 50 or the number of features.
    n_features_to_select : int, optional
        k: a model with at most k features (or groups) for each class, besides ``always_features``.
        ``l0_gap_`` bounds the distance to the best model of that size.
    certificate : bool, default=True
        With ``n_features_to_select``: whether to solve the relaxed problem as well, which bounds
        all models with k features. Without it the fit is faster, ``l0_gap_`` is NaN, and ``dual_``
        and ``gap_`` hold for models of the selected features only.
    C : float, optional
        Weight of the risk. By default 3, and 10 for measures of the k highest scores. Try 1 to 30
        on text, less for rare positives and for accuracy (whose risk sums over all rows), and 10 to
        100 with the paper's bound.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant column whose weight is the intercept; the larger, the less the
        intercept is regularised.
    always_features, excluded_features : array-like of int or str, or boolean mask, optional
        Columns that are always in, outside the budget, and columns that are never in; by number,
        or by name when fitted on a DataFrame.
    feature_groups : array-like of int of shape (n_features,) or list of lists, optional
        Columns that enter together, by equal numbers or as lists of numbers or names. The budget
        counts groups.
    pos_label : object, optional
        The positive one of two classes. By default the larger number, or "yes" of "no" and "yes"
        (also true/false, positive/negative, 1/0); other strings need it.
    multi_class_support : {"union", "intersection"}, default="union"
        How the features of several classes become ``support_``.
    tol : float, default=0.05
        Certified relative gap to stop at.
    max_iter : int, default=1000
        Most rounds for each class.
    max_time : float, optional
        Seconds for each class; a fit ends within one more round.
    n_jobs : int, optional
        How many classes are fitted at a time.
    warm_start : bool, default=False
        Start from the columns and weights of the previous fit if classes and number of features are
        the same, and from its cuts if labels, sample weights and measure are the same as well.
    verbose : int, default=0
        Above 0, each round is reported on stderr: iteration, gap, features. With scikit-learn 1.9
        or newer, ``set_callbacks`` takes progress bars and callbacks that stop the fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, or the column numbers of an indicator matrix.
    coef_ : ndarray or CSR matrix of shape (1, n_features) or (n_classes, n_features)
        A positive decision is for ``classes_[1]``, also with ``pos_label=classes_[0]``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of int
        Selected features: those with a weight, and ``always_features``.
    supports_ : list of ndarray of int
        The same for each class.
    n_features_selected_ : int
    budget_ : int
        The budget that was used.
    primal_, dual_, gap_ : ndarray of shape (n_problems,)
        Objective, certified lower bound, and ``(primal - dual) / primal``.
    l0_gap_ : ndarray of shape (n_problems,)
        With ``n_features_to_select``: the gap to the best model with k features; else NaN.
    refit_gap_ : ndarray of shape (n_problems,)
        With ``n_features_to_select``: the gap to the best weights for the selected features; else
        NaN.
    training_score_ : ndarray of shape (n_problems,)
        The measure of each class against the rest on the training rows (optimistic).
    n_samples_fit_ : int
        Training rows.
    n_positives_ : ndarray of int of shape (n_problems,)
        Those of each class among them.
    n_iter_ : ndarray of int of shape (n_problems,)
    price_ : ndarray of shape (n_problems,)
        The price of a false alarm that was used.
    status_ : list of Status
        Why each fit stopped; the value is a sentence.
    history_ : list of list of Progress
        One row for each round.
    measure_ : Measure
    models_ : tuple of ClassModel
        The model of each class as a value; all attributes above are read off it.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import MeasureSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = np.where(X[:, 3] + X[:, 7] > 1.5, "rare", "common")
    >>> model = MeasureSVC("f1", n_features_to_select=2, C=10.0, pos_label="rare").fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    bound: str = "tight"
    price: str | float = "auto"
    budget: int | None = None
    n_features_to_select: int | None = None
    certificate: bool = True
    C: float | None = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    always_features: ArrayLike | None = None
    excluded_features: ArrayLike | None = None
    feature_groups: Any = None
    pos_label: Any = None
    multi_class_support: str = "union"
    tol: float = 0.05
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    _saved = BudgetClassifierMixin._saved | {"measure_": named("measure")}
    price_ = each_model(lambda model: model.price)
