"""``BagScoreSieve``: the few instances, and the model of them, best for the score you report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_X_y

from scoresieve._arrays import IntArray
from scoresieve._checks import check_count, check_X
from scoresieve.design import Design, as_design
from scoresieve.estimators.data import whole_fit
from scoresieve.estimators.progress import CallbackMixin, FitTasks, with_callbacks
from scoresieve.estimators.sieve.plan import make_plan, read_sizes, start_clock
from scoresieve.estimators.sieve.results import ChosenMixin
from scoresieve.estimators.sieve.run import SieveRun
from scoresieve.estimators.sieve.splits import LabelledData, Parts, Split, make_parts
from scoresieve.estimators.summary.facts import sieve_facts
from scoresieve.estimators.targets import read_targets
from scoresieve.measures import Measure, get_measure
from scoresieve.mil.bag_model import OF_EMBEDDING, BagModelMixin, bag_classifier, counted_bags
from scoresieve.mil.bags import Bags, as_bags, check_length
from scoresieve.mil.embedding import MILESEmbedding, check_sigma

#: C of the losses if none are given.
DEFAULT_CS = (0.3, 1.0, 3.0, 10.0)


@dataclass(eq=False, repr=False)
class BagScoreSieve(ChosenMixin, BagModelMixin, CallbackMixin, ClassifierMixin, BaseEstimator):
    """``f(B) = sum_k w_k s(x^k, B) + b``, with the k instances of the best cross-validated score.

    Each bag is embedded by its similarity s to the training instances (MILES).
    :class:`~scoresieve.ScoreSieve` then chooses the instances, their number and the model by the
    cross-validated score of the measure that you report.

    **Conventions**

    * Bags are a list of 2-D arrays (dense or CSR), or :class:`~scoresieve.mil.Bags`.
    * The embedding is refitted for each split: prototypes and the median distance come from the
      training bags only.
    * All classes share one sigma, that of the highest mean score. Everything else is chosen per
      class as in ``ScoreSieve``.
    * ``predict`` and ``decision_function`` only need the selected instances. Identical inputs give
      bitwise identical models, for every ``n_jobs``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
        The measure to optimise and to choose by.
    n_instances_to_select : int, list of int or "auto", optional
        Number of instances per class. From a list, the smallest whose score is within one standard
        error of the best is chosen. By default, and with "auto", from 2, 5, 10, 20, 50, 100 and
        200.
    sigmas : list of float or str, default=("0.25*median", "0.5*median", "median")
        Widths to choose from, see :class:`~scoresieve.mil.MILESEmbedding`; ignored with
        ``metric="cosine"``.
    candidates, pos_label, n_jobs, verbose
        As in :class:`~scoresieve.ScoreSieve`.
    max_time : float, optional
        As in :class:`~scoresieve.ScoreSieve`; the last of several sigmas are left out first.
    Cs : list of float, optional
        Weights of the losses; by default 0.3, 1, 3 and 10.
    cv : int, splitter or iterable of (train, test), optional
        As in :class:`~scoresieve.ScoreSieve`, on bags; 5 folds by default, not repeated.
    metric, n_prototypes, prototypes, max_memory, random_state
        As in :class:`~scoresieve.mil.MILESEmbedding`.

    Attributes
    ----------
    embedding_ : MILESEmbedding
        Fitted on all bags, with the chosen sigma.
    models_ : tuple of ClassModel
        The model of each class, on the columns of this embedding.
    key_instances_ : list of KeyInstance
        Class by class, largest weights first.
    n_instances_selected_ : int
    coef_ : ndarray of shape (1, n_selected) or (n_classes, n_selected)
        Weights of the selected instances, in the order of the training instances.
    cv_results_, best_params_, best_score_
        As in :class:`~scoresieve.ScoreSieve`, with ``sigma`` and ``n_instances_to_select``.
    classes_, intercept_, measure_, thresholds_
        As in :class:`~scoresieve.ScoreSieve`.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.mil import BagScoreSieve
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(4, 2)) for _ in range(60)]
    >>> y = np.arange(60) % 3 == 0
    >>> for bag in np.flatnonzero(y):
    ...     bags[bag][rng.integers(4)] = [4.0, 4.0]  # one telling instance
    >>> model = BagScoreSieve(n_instances_to_select=[1, 3], Cs=[1.0], cv=3).fit(bags, y)
    >>> model.best_params_["n_instances_to_select"], model.key_instances_[0].vector
    (1, array([4., 4.]))
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    n_instances_to_select: Any = None
    sigmas: Any = ("0.25*median", "0.5*median", "median")
    candidates: Iterable[str] = ("squared_hinge", "bound")
    Cs: Iterable[float] | None = None
    cv: Any = None
    metric: str = "rbf"
    n_prototypes: int | None = None
    prototypes: str = "sample"
    max_memory: float = 256e6
    pos_label: Any = None
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    _saved = bag_classifier("measure_", "choice")
    _facts = sieve_facts

    @with_callbacks
    @whole_fit
    def fit(
        self, bags: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: Any = None
    ) -> BagScoreSieve:
        """Choose sigma, instances and model by cross-validated scores; refit on all bags.

        Parameters
        ----------
        bags : Bags or list of arrays
        y : array-like of shape (n_bags,), or indicator matrix of shape (n_bags, n_classes)
        sample_weight : array-like of shape (n_bags,), optional
            How often each bag counts. Its instances are candidates once, or never with weight 0.
        groups : array-like of shape (n_bags,), optional
            Group labels for splitters such as ``GroupKFold``.
        """
        limits = start_clock(self.max_time)
        data = self._read_data(bags, y, sample_weight)
        parts, measure = make_parts(self.cv, data, groups), get_measure(self.measure)
        sources = self._sources(parts)
        n_instances = min(sources[0].n_columns(split) for split in parts.splits)
        sizes = read_sizes(self.n_instances_to_select, "n_instances_to_select", n_instances)
        plan = make_plan(self, sizes, limits, Cs=DEFAULT_CS)
        run = SieveRun(plan, measure, parts, sources)
        tasks = FitTasks(self, run.titles, data.X, y, {"sample_weight": sample_weight})
        best, models = run.run(tasks.reporters, self.n_jobs)
        embedding = sources[best].fitted()
        numbers, _ = counted_bags(data.X, data.weights)
        self.measure_ = measure
        self._keep_bags(embedding, parts.data.X, numbers, data.targets, models, len(data.X))
        tasks.end()
        return self

    def _read_data(self, bags: Any, y: Any, sample_weight: Any) -> LabelledData:
        """What ``fit`` was given, in checked form."""
        bags = as_bags(bags)
        check_length(len(bags), y)
        _, y = check_X_y(np.zeros((len(bags), 1)), y, multi_output=True)
        targets, y = read_targets(y, self.pos_label)
        return LabelledData(bags, y, counted_bags(bags, sample_weight)[1], targets)

    def _sources(self, parts: Parts) -> list[EmbeddedColumns]:
        """The bags by each of the widths; the cosine has none."""
        if self.n_prototypes is not None:
            check_count(self.n_prototypes, "n_prototypes")
        others = {name: getattr(self, name) for name in OF_EMBEDDING if name != "sigma"}
        if self.metric == "cosine":
            return [EmbeddedColumns(parts.data.X, MILESEmbedding(**others), {})]
        return [
            EmbeddedColumns(parts.data.X, MILESEmbedding(sigma, **others), {"sigma": sigma})
            for sigma in check_sigmas(self.sigmas)
        ]


@dataclass(frozen=True, eq=False)
class EmbeddedColumns:
    """``s(x^k, B_i)`` with x^k and the median distance from the training bags only.

    An instance of a held-out bag would be most similar to its own bag, which would leak. The
    embedding is not fitted.
    """

    bags: Bags
    embedding: MILESEmbedding
    settings: dict[str, Any]
    size_name = "n_instances_to_select"
    has_same_columns = False

    def of_split(self, split: Split) -> Design:
        """All bags embedded by the instances of the training bags."""
        return self._embedded(split.train)

    def of_all(self) -> Design:
        """All bags embedded by the instances of all bags."""
        return self._embedded(None)

    def _embedded(self, rows: IntArray | None) -> Design:
        """All bags, checked: numbers that are too large have no similarity."""
        design = as_design(self.fitted(rows).transform(self.bags))
        check_X(design)
        return design

    def fitted(self, rows: IntArray | None = None) -> MILESEmbedding:
        """The embedding with the instances of some bags, or of all."""
        return clone(self.embedding).fit(self.bags if rows is None else self.bags[rows])

    def n_columns(self, split: Split) -> int:
        """Maximum number of instances to choose from without the held-out bags."""
        n_instances = int(self.bags.sizes[split.train].sum())
        return min(n_instances, self.embedding.n_prototypes or n_instances)


def check_sigmas(sigmas: Any) -> list[Any]:
    """Distinct widths in the order given, each of them checked."""
    if isinstance(sigmas, str) or not isinstance(sigmas, Iterable):
        raise ValueError(
            f"sigmas must be a list of numbers or multiples of the median; got {sigmas!r}. Put a "
            "single value in a list."
        )
    # Numbers of NumPy would be arrays in the files of saved models.
    sigmas = [each.item() if isinstance(each, np.generic) else each for each in sigmas]
    if not sigmas:
        raise ValueError("sigmas is empty; give at least one value.")
    for place, sigma in enumerate(sigmas):
        check_sigma(sigma, f"sigmas[{place}]")
    return list(dict.fromkeys(sigmas))
