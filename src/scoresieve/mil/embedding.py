"""``MILESEmbedding``: bags as points, one column for each prototype instance."""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve._checks import check_choice, check_count, check_positive
from scoresieve.estimators.data import whole_fit
from scoresieve.estimators.persistence.fields import columns, count, matrix, nullable, number
from scoresieve.estimators.persistence.registry import PersistenceMixin
from scoresieve.estimators.selector import OutputMixin
from scoresieve.mil._similarity import greatest_cosine, median_distance, nearest_squared
from scoresieve.mil.bags import Bags, as_bags

METRICS = ("cosine", "rbf")
PROTOTYPES = ("kmeans", "sample")
#: Below that blocks would be too small for anything.
LEAST_MEMORY = 1e6


@dataclass(eq=False, repr=False)
class MILESEmbedding(PersistenceMixin, OutputMixin, TransformerMixin, BaseEstimator):
    """``s(x^k, B_i) = max_j exp(-||x_ij - x^k||^2 / (2 sigma^2))`` for every prototype x^k.

    Chen, Bi and Wang, *MILES: Multiple-Instance Learning via Embedded Instance Selection* (TPAMI
    2006); the paper's (26) and (27). ``fit`` keeps the training instances as prototypes, so
    selecting columns of the embedding selects instances.

    Parameters
    ----------
    sigma : float or str, default="median"
        Width of the similarity: a number, ``"median"`` for the median distance between training
        instances, or a multiple of it such as ``"0.5*median"``.
    metric : {"rbf", "cosine"}, default="rbf"
        ``"cosine"``, for text, is ``max_j <x_ij, x^k> / (||x_ij|| ||x^k||)`` and ignores sigma.
    n_prototypes : int, optional
        Number of prototypes; all training instances by default.
    prototypes : {"sample", "kmeans"}, default="sample"
        How to choose ``n_prototypes``: at random, or the instances nearest to the centres of a
        k-means clustering.
    max_memory : float, default=256e6
        Bytes that ``transform`` may use besides its result; at least a million.
    random_state : int, RandomState or None, default=0
        Seed for choosing ``n_prototypes``.

    Attributes
    ----------
    prototypes_ : array or CSR array of shape (n_prototypes, n_columns)
    prototype_indices_ : ndarray of int of shape (n_prototypes,)
        Their indices among the training instances, in the order of the bags.
    sigma_ : float or None
        None for the cosine.
    n_columns_in_ : int
        Columns of an instance.

    Examples
    --------
    >>> import numpy as np
    >>> bags = [np.array([[0.0], [3.0]]), np.array([[1.0]])]
    >>> MILESEmbedding(sigma=1.0).fit_transform(bags).round(3)
    array([[1.   , 1.   , 0.607],
           [0.607, 0.135, 1.   ]])
    """

    sigma: str | float = "median"
    _: KW_ONLY
    metric: str = "rbf"
    n_prototypes: int | None = None
    prototypes: str = "sample"
    max_memory: float = 256e6
    random_state: Any = 0

    # Prototypes are the features of a model on the embedding.
    _saved = {  # noqa: RUF012 (never changed)
        "n_columns_in_": count("columns"),
        "prototypes_": matrix("f", "features", "columns"),
        "prototype_indices_": columns("features", below=None),
        "sigma_": nullable(number(float, 0.0)),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        return tags

    @whole_fit
    def fit(self, bags: Any, y: ArrayLike | None = None) -> MILESEmbedding:
        """Keep the training instances, or some, as prototypes; y is ignored."""
        bags = as_bags(bags)
        self._check()
        self.prototype_indices_ = self._choose(bags)
        self.prototypes_ = bags.instances[self.prototype_indices_]
        if sp.issparse(self.prototypes_):
            # In the order of entries of a saved model, so that sums are bitwise equal.
            self.prototypes_.sum_duplicates()
        self.n_columns_in_ = bags.shape[1]
        self.sigma_ = None
        if self.metric != "cosine":
            self.sigma_ = check_sigma(self.sigma)
            if isinstance(self.sigma, str):
                self.sigma_ *= median_distance(bags.instances)
        return self

    def _check(self) -> None:
        """Refuse wrong parameters, but for sigma."""
        if check_positive(self.max_memory, "max_memory") < LEAST_MEMORY:
            raise ValueError(
                f"max_memory must be at least {LEAST_MEMORY:g} bytes; got {self.max_memory!r}."
            )
        check_choice(self.metric, "metric", METRICS)
        check_choice(self.prototypes, "prototypes", PROTOTYPES)
        if self.n_prototypes is not None:
            check_count(self.n_prototypes, "n_prototypes")

    def _choose(self, bags: Bags) -> IntArray:
        """Sorted numbers of the instances that are prototypes."""
        if self.n_prototypes is None or self.n_prototypes >= bags.n_instances:
            return np.arange(bags.n_instances)
        random = check_random_state(self.random_state)
        if self.prototypes == "sample":
            return np.sort(random.choice(bags.n_instances, self.n_prototypes, replace=False))
        clusters = MiniBatchKMeans(
            self.n_prototypes, random_state=random.randint(2**31 - 1), n_init=1, batch_size=1024
        ).fit(bags.instances)
        centres = clusters.cluster_centers_.astype(bags.instances.dtype, copy=False)
        return np.unique(pairwise_distances_argmin(centres, bags.instances))

    def transform(self, bags: Any) -> FloatArray:
        """The similarity of each bag to each prototype, of shape (n_bags, n_prototypes)."""
        check_is_fitted(self, "prototypes_")
        return self.similarities(bags, self.prototypes_)

    def similarities(self, bags: Any, prototypes: Any) -> FloatArray:
        """The similarity of each bag to other prototypes, for example a subset."""
        check_is_fitted(self, "prototypes_")
        bags = as_bags(bags)
        if bags.shape[1] != self.n_columns_in_:
            raise ValueError(
                f"the bags have {bags.shape[1]} columns, but the embedding was fitted on "
                f"{self.n_columns_in_}."
            )
        prototypes = prototypes if sp.issparse(prototypes) else np.asarray(prototypes)
        self._check()
        max_bytes = int(self.max_memory)
        if self.metric == "cosine":
            return greatest_cosine(bags, prototypes, max_bytes)
        squared = nearest_squared(bags, prototypes, max_bytes)
        assert self.sigma_ is not None
        squared *= -0.5 / self.sigma_**2
        return np.exp(squared, out=squared)

    def with_prototypes(self, kept: IntArray) -> MILESEmbedding:
        """The fitted embedding, restricted to some prototypes."""
        few = copy(self)
        few.prototypes_ = self.prototypes_[kept]
        few.prototype_indices_ = self.prototype_indices_[kept]
        return few

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """``instance0``, ``instance1``, ...: indices of the prototypes among training instances."""
        check_is_fitted(self, "prototypes_")
        return np.array([f"instance{k}" for k in self.prototype_indices_], dtype=object)


def check_sigma(sigma: Any, name: str = "sigma") -> float:
    """The width, or its multiple of the median."""
    if not isinstance(sigma, str):
        return check_positive(sigma, name)
    factor, star, median = sigma.rpartition("*")
    if median.strip() == "median":
        try:
            return check_positive(float(factor) if star else 1.0, name)
        except ValueError:
            pass
    raise ValueError(
        f"{name} must be a positive number, 'median', or a multiple of it such as '0.5*median'; "
        f"got {sigma!r}."
    )
