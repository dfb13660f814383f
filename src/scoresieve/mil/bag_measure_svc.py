"""``BagMeasureSVC``: few instances decide about bags, trained for the measure you report."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from scoresieve._checks import check_count
from scoresieve.estimators import MeasureSVC
from scoresieve.estimators.data import whole_fit
from scoresieve.estimators.linear_model import CertifiedMixin, each_model, proven
from scoresieve.estimators.summary.facts import budget_facts
from scoresieve.measures import Measure
from scoresieve.mil.bag_model import OF_EMBEDDING, BagModelMixin, bag_classifier

#: Instances for each class when neither their number nor a budget is given.
DEFAULT_INSTANCES = 40


@dataclass(eq=False, repr=False)
class BagMeasureSVC(CertifiedMixin, BagModelMixin, ClassifierMixin, BaseEstimator):
    """``f(B) = sum_k w_k max_{x in B} exp(-||x - x^k||^2 / (2 sigma^2)) + b``, with few x^k.

    A classifier of bags that selects few training instances. Each bag is embedded by its similarity
    to the training instances (MILES); :class:`~scoresieve.MeasureSVC` selects among these for the
    measure that you report. This is the paper's Algorithm 3, with any measure, a hard budget and a
    certificate.

    **Conventions**

    * Bags are a list of 2-D arrays (dense or CSR), or :class:`~scoresieve.mil.Bags`.
    * ``predict`` and ``decision_function`` only need the selected instances.
    * Classes, indicator matrices, C, budgets and thresholds are as in ``MeasureSVC``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
    n_instances_to_select : int, optional
        Maximum number of instances per class; 40 by default, about as many as MILES keeps.
    budget : int, optional
        B of the budget norm, instead of ``n_instances_to_select``: the relaxed model, which has
        hundreds of instances.
    C : float, default=10.0
        Weight of the loss; 1 to 100 is the useful range.
    sigma : float or str, default="median"
        Width of the similarity: a number, ``"median"``, or a multiple such as ``"0.5*median"``.
    metric, n_prototypes, prototypes, max_memory, random_state
        As in :class:`~scoresieve.mil.MILESEmbedding`.
    bound, price, certificate, fit_intercept, intercept_scaling, pos_label, tol, max_iter, \
max_time, n_jobs, verbose
        As in :class:`~scoresieve.MeasureSVC`.

    Attributes
    ----------
    embedding_ : MILESEmbedding
    models_ : tuple of ClassModel
        The model of each class, on the columns of the embedding.
    key_instances_ : list of KeyInstance
        Class by class, largest weights first.
    n_instances_selected_ : int
    coef_ : ndarray of shape (1, n_selected) or (n_classes, n_selected)
        Weights of the selected instances, in the order of the training instances.
    classes_, intercept_, measure_, price_, budget_, primal_, dual_, gap_, l0_gap_, n_iter_, \
status_, history_
        As in :class:`~scoresieve.MeasureSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.mil import BagMeasureSVC
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(5, 2)) for _ in range(60)]
    >>> y = np.arange(60) % 3 == 0
    >>> for bag in np.flatnonzero(y):
    ...     bags[bag][rng.integers(5)] = [4.0, 4.0]  # one telling instance
    >>> model = BagMeasureSVC(n_instances_to_select=1, sigma=1.0).fit(bags, y)
    >>> model.key_instances_[0].vector
    array([4., 4.])
    >>> model.score(bags, y)
    1.0
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    bound: str = "tight"
    price: str | float = "auto"
    n_instances_to_select: int | None = None
    budget: int | None = None
    certificate: bool = True
    C: float = 10.0
    sigma: str | float = "median"
    metric: str = "rbf"
    n_prototypes: int | None = None
    prototypes: str = "sample"
    max_memory: float = 256e6
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    pos_label: Any = None
    tol: float = 0.05
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    _saved = bag_classifier("problem_", "measure_", "certificate")
    _facts = budget_facts
    history_ = proven("history", list)
    price_ = each_model(lambda model: model.price)

    def _all_columns(self, X: Any) -> Any:
        check_is_fitted(self, "models_")
        return self.embedding_.transform(X)

    @whole_fit
    def fit(self, bags: Any, y: Any, sample_weight: ArrayLike | None = None) -> BagMeasureSVC:
        """Embed the bags, select instances, and fit one model for each class.

        Parameters
        ----------
        bags : Bags or list of arrays
        y : array-like of shape (n_bags,), or indicator matrix of shape (n_bags, n_classes)
        sample_weight : array-like of shape (n_bags,), optional
            How often each bag counts; see :meth:`scoresieve.MeasureSVC.fit`. Its instances are
            candidates once, or never with weight 0.

        Returns
        -------
        self
        """
        self._fit_on_embedding(bags, y, self._model_on_embedding(), sample_weight)
        return self

    def _model_on_embedding(self) -> MeasureSVC:
        """The model that selects columns of the embedding, not fitted."""
        parameters = self.get_params(deep=False)
        k = parameters.pop("n_instances_to_select")
        if k is not None and self.budget not in (None, check_count(k, "n_instances_to_select")):
            raise ValueError(
                f"budget={self.budget!r} and n_instances_to_select={k} differ; give one of them: "
                "n_instances_to_select is an upper limit, budget allows more instances."
            )
        if k is None and self.budget is None:
            k = DEFAULT_INSTANCES
        parameters["n_features_to_select"] = k
        return MeasureSVC(
            **{name: value for name, value in parameters.items() if name not in OF_EMBEDDING}
        )
