"""``BagScoreSieve``: the few instances, and the model of them, best for the score you report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_X_y
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import FloatArray
from scoresieve._checks import check_count
from scoresieve.estimators import ScoreSieve
from scoresieve.estimators.persistence.kinds import estimator
from scoresieve.estimators.progress import CallbackMixin, FitTasks, with_callbacks
from scoresieve.estimators.sieve.arguments import read_sizes
from scoresieve.estimators.sieve.calibration import probabilities
from scoresieve.estimators.sieve.plans import make_plan, start_clock
from scoresieve.estimators.sieve.sieving import Sieved, Sieving
from scoresieve.estimators.sieve.splits import LabelledData, Parts, make_parts
from scoresieve.estimators.targets import read_targets
from scoresieve.estimators.whole_fit import whole_fit
from scoresieve.measures import Measure, get_measure
from scoresieve.mil.bag_checks import check_length
from scoresieve.mil.bag_model import OF_EMBEDDING, BagModelMixin, counted_bags
from scoresieve.mil.bags import as_bags
from scoresieve.mil.embedded_view import EmbeddedView, check_sigmas
from scoresieve.mil.embedding import MILESEmbedding

#: What the table of a sieve calls numbers of columns, and what they are here.
COLUMNS, INSTANCES = "n_features_to_select", "n_instances_to_select"
#: C of the losses if none are given.
DEFAULT_CS = (0.3, 1.0, 3.0, 10.0)


@dataclass(eq=False, repr=False)
class BagScoreSieve(BagModelMixin, CallbackMixin, ClassifierMixin, BaseEstimator):
    """``f(B) = sum_k w_k s(x^k, B) + b``, with the k instances whose cross-fitted score is highest.

    Each bag is embedded by its similarity s to the training instances (MILES), and
    :class:`~scoresieve.ScoreSieve` chooses instances, their number and the model of them by the
    measure that you report, on bags that no model has seen.

    **Conventions**

    * Bags are a list of 2-D arrays (dense or CSR), or :class:`~scoresieve.mil.Bags`.
    * Without one part of the bags the embedding is made anew from the others: no instance of a
      held-out bag is a prototype, and the median distance is theirs.
    * One sigma serves all classes: that with the highest scores on average over them. All else is
      chosen for each class as in ``ScoreSieve``.
    * ``predict`` and ``decision_function`` touch the selected instances only. Identical inputs give
      identical bits, for every ``n_jobs``.

    Parameters
    ----------
    measure : str or Measure, default="f1"
        What to optimise and to choose by.
    n_instances_to_select : int or list of int, optional
        How many instances for each class, or numbers to choose from: the smallest whose score is
        within one standard error of the best. By default 2, 5, 10, 20, 50, 100 and 200.
    sigmas : list of float or str, default=("0.25*median", "0.5*median", "median")
        Widths to choose from, see :class:`~scoresieve.mil.MILESEmbedding`; without effect for
        ``metric="cosine"``.
    candidates, pos_label, max_time, n_jobs, verbose
        As in :class:`~scoresieve.ScoreSieve`.
    Cs : list of float, optional
        Weights of the losses; by default 0.3, 1, 3 and 10.
    cv : int, splitter or iterable of (train, test), optional
        Of bags, as in :class:`~scoresieve.ScoreSieve`, but 5 parts once by default.
    metric, n_prototypes, prototypes, max_memory, random_state
        As in :class:`~scoresieve.mil.MILESEmbedding`.

    Attributes
    ----------
    embedding_ : MILESEmbedding
        Of all bags, with the chosen sigma.
    model_ : ScoreSieve
        On this embedding.
    key_instances_ : list of KeyInstance
        Class by class, the largest weights first.
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
    candidates: Iterable[str] = ("squared_hinge", "measure")
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

    _fields: ClassVar = BagModelMixin._fields | {"model_": estimator("ScoreSieve")}

    @with_callbacks
    @whole_fit
    def fit(
        self, bags: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: Any = None
    ) -> BagScoreSieve:
        """Choose sigma, instances and model by cross-fitted scores, then fit them on all bags.

        Parameters
        ----------
        bags : Bags or list of arrays
        y : array-like of shape (n_bags,), or indicator matrix of shape (n_bags, n_classes)
        sample_weight : array-like of shape (n_bags,), optional
            How often each bag counts. Its instances are candidates once, however often it counts,
            and none with a weight of 0.
        groups : array-like of shape (n_bags,), optional
            Bags that a splitter such as ``GroupKFold`` keeps together.
        """
        limits = start_clock(self.max_time)
        data = self._read_data(bags, y, sample_weight)
        parts, measure = make_parts(self.cv, data, groups), get_measure(self.measure)
        views = self._views(parts)
        n_instances = min(views[0].n_columns(split) for split in parts.splits)
        sizes = read_sizes(self.n_instances_to_select, INSTANCES, n_instances)
        plan = make_plan(self, sizes, limits, Cs=DEFAULT_CS)
        sieving = Sieving(plan, measure, parts, views)
        tasks = FitTasks(self, sieving.titles, data.X, y, {"sample_weight": sample_weight})
        sieved = sieving.run(tasks.reporters, self.n_jobs)
        embedding = views[sieved.view].fitted()
        model = ScoreSieve(**{name: getattr(self, name) for name in self._shared_names()})
        model.n_features_in_ = embedding.prototypes_.shape[0]
        model._store(data, measure, with_instances(sieved))
        model.smaller_models_ = None
        numbers, _ = counted_bags(data.X, data.weights)
        self._take_over(embedding, model, parts.data.X, numbers)
        tasks.end()
        return self

    def _shared_names(self) -> list[str]:
        """Parameters that ``ScoreSieve`` has, too."""
        return [name for name in ScoreSieve().get_params() if name in self.get_params()]

    def _read_data(self, bags: Any, y: Any, sample_weight: Any) -> LabelledData:
        """What ``fit`` was given, in checked form."""
        bags = as_bags(bags)
        check_length(len(bags), y)
        _, y = check_X_y(np.zeros((len(bags), 1)), y, multi_output=True)
        targets, y = read_targets(y, self.pos_label)
        return LabelledData(bags, y, counted_bags(bags, sample_weight)[1], targets)

    def _views(self, parts: Parts) -> list[EmbeddedView]:
        """The bags by each of the widths; the cosine has none."""
        if self.n_prototypes is not None:
            check_count(self.n_prototypes, "n_prototypes")
        others = {name: getattr(self, name) for name in OF_EMBEDDING if name != "sigma"}
        if self.metric == "cosine":
            return [EmbeddedView(parts.data.X, MILESEmbedding(**others), {})]
        return [
            EmbeddedView(parts.data.X, MILESEmbedding(sigma, **others), {"sigma": sigma})
            for sigma in check_sigmas(self.sigmas)
        ]

    def _above_thresholds(self, decision: FloatArray) -> FloatArray:
        return self.model_._above_thresholds(decision)

    def predict_proba(self, bags: Any) -> FloatArray:
        """The probability of each class; see :meth:`scoresieve.ScoreSieve.predict_proba`."""
        check_is_fitted(self, "coef_")
        return probabilities(self._targets, self.decision_function(bags), self.model_._odds)


def with_instances(sieved: Sieved) -> Sieved:
    """The same with tables that call the columns of an embedding instances."""
    tables = []
    for table in sieved.tables:
        renamed = {name.replace(COLUMNS, INSTANCES): column for name, column in table.items()}
        renamed["params"] = [
            {name.replace(COLUMNS, INSTANCES): value for name, value in point.items()}
            for point in table["params"]
        ]
        tables.append(renamed)
    return sieved._replace(tables=tables)
