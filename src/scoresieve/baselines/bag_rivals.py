"""Baselines for ``BagMeasureSVC``: MILES, and a linear SVM on the mean instance of each bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_count
from scoresieve.baselines._baseline import BinaryFit
from scoresieve.baselines._liblinear import LiblinearBaseline, for_liblinear
from scoresieve.baselines.l1_svm import L1SVM, TRIED
from scoresieve.estimators.data import whole_fit
from scoresieve.estimators.linear_model import each_model
from scoresieve.estimators.summary.facts import rival_facts
from scoresieve.mil.bag_model import BagModelMixin, bag_classifier
from scoresieve.mil.bags import Bags, as_bags, check_length

#: Parameters of ``MILES`` that its l1-SVM has by the same name.
OF_L1_SVM = [name for name in L1SVM().get_params() if name not in ("n_features_to_select", "loss")]


@dataclass(eq=False, repr=False, kw_only=True)
class MILES(BagModelMixin, ClassifierMixin, BaseEstimator):
    """``min_w ||w||_1 + C sum_i c_i max(0, 1 - y_i f(B_i))^2``, ``f(B) = sum_k w_k s(x^k, B) + b``.

    Chen, Bi and Wang, "MILES: Multiple-Instance Learning via Embedded Instance Selection" (IEEE
    TPAMI 2006): every training instance x^k is a candidate, and an SVM with the l1 norm selects.

    **Conventions**

    The same as in the original: the embedding s, the l1 norm, and class weights
    (``class_weight={0: 1 - mu, 1: mu}`` is their mu). Differences:

    * the loss is liblinear's squared hinge, as in Mao and Tsang's comparison, not the hinge of a
      linear program;
    * the intercept is regularised, as always in liblinear;
    * with ``n_instances_to_select``, C is found by search, see :class:`L1SVM`.

    Parameters
    ----------
    n_instances_to_select : int, optional
        Approximate number of instances per class. None for the model at ``C``.
    C : float, optional
        Weight of the loss, 1 by default; not with ``n_instances_to_select``.
    sigma, metric, n_prototypes, prototypes, max_memory
        As in :class:`scoresieve.mil.MILESEmbedding`.
    k_tol, class_weight, fit_intercept, intercept_scaling, tol, max_iter, max_time, n_jobs, \
random_state
        As in :class:`L1SVM`.

    Attributes
    ----------
    key_instances_ : list of KeyInstance
        Class by class, largest weights first.
    coef_ : ndarray of shape (1, n_selected) or (n_classes, n_selected)
    classes_, intercept_, C_, path_, n_iter_
        As in :class:`L1SVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import MILES
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(5, 2)) for _ in range(60)]
    >>> y = np.arange(60) % 3 == 0
    >>> for bag in np.flatnonzero(y):
    ...     bags[bag][rng.integers(5)] = [4.0, 4.0]  # one telling instance
    >>> MILES(sigma=1.0).fit(bags, y).key_instances_[0].vector
    array([4., 4.])
    """

    n_instances_to_select: int | None = None
    C: float | None = None
    sigma: str | float = "median"
    metric: str = "rbf"
    n_prototypes: int | None = None
    prototypes: str = "sample"
    max_memory: float = 256e6
    k_tol: float = 0.05
    class_weight: Any = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0

    _saved = bag_classifier() | {"path_": TRIED}
    _facts = rival_facts
    C_ = each_model(lambda model: model.C)
    n_iter_ = each_model(lambda model: model.n_iter)
    training_score_ = each_model(lambda model: model.training_score)

    @whole_fit
    def fit(self, bags: Any, y: Any) -> MILES:
        """Embed the bags, select instances, and fit one model for each class."""
        if self.n_instances_to_select is not None:
            check_count(self.n_instances_to_select, "n_instances_to_select")
        shared = {name: getattr(self, name) for name in OF_L1_SVM}
        model = L1SVM(n_features_to_select=self.n_instances_to_select, **shared)
        self._fit_on_embedding(bags, y, model)
        self.path_ = model.path_
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class MeanInstanceSVM(LiblinearBaseline):
    """``min_w 1/2 ||w||^2 + C sum_i c_i max(0, 1 - y_i (<w, mean_j x_ij> + b))^2``.

    The simplest baseline: each bag is its mean instance, and all columns are used. It selects no
    instances; ``support_`` holds columns of the instances.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, as for ``LinearSVC``.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    class_weight, fit_intercept, intercept_scaling, tol, max_iter, n_jobs, random_state
        As in :class:`L1SVM`.
    max_time : None
        Must be None: liblinear has no time limit.

    Attributes
    ----------
    classes_, coef_, intercept_, support_, n_iter_
        As for every baseline.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.baselines import MeanInstanceSVM
    >>> bags = [np.full((size, 1), float(size % 2)) for size in range(1, 21)]
    >>> MeanInstanceSVM(C=10.0).fit(bags, np.arange(1, 21) % 2).predict(bags[:4])
    array([1, 0, 1, 0])
    """

    C: float = 1.0
    loss: str = "squared_hinge"
    class_weight: Any = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    tol: float = 1e-4
    max_iter: int = 1000
    max_time: None = None
    n_jobs: int | None = None
    random_state: Any = 0

    _nouns = ("features", "bags")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    @whole_fit
    def fit(self, bags: Any, y: Any) -> MeanInstanceSVM:
        """Fit one linear model for each class on the mean instances."""
        bags = as_bags(bags)
        check_length(len(bags), y)
        return super().fit(mean_instances(bags), y)

    def _fit_binary(self, X: Any, y: FloatArray, class_weight: Any = None) -> BinaryFit:
        return self._train(for_liblinear(X), y, penalty="l2", C=self.C, class_weight=class_weight)

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self, "models_")
        return super()._validated(mean_instances(as_bags(X)))


def mean_instances(bags: Bags) -> Any:
    """``(1/n_i) sum_j x_ij`` of shape (n_bags, n_columns), CSR for sparse instances."""
    shares = np.repeat(1.0 / bags.sizes, bags.sizes)
    averages = sp.csr_array(
        (shares, np.arange(bags.n_instances), bags.offsets), shape=(len(bags), bags.n_instances)
    )
    return averages @ bags.instances
