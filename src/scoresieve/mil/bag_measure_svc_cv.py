"""``BagMeasureSVCCV``: sigma, the number of instances and C chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.utils import check_X_y

from scoresieve.estimators.budget_model import problem_arguments
from scoresieve.estimators.persistence.kinds import estimator
from scoresieve.estimators.progress import with_callbacks
from scoresieve.estimators.selection.candidates import PathJob, PathScores, warn_of_open_paths
from scoresieve.estimators.selection.choice import check_Cs, check_refit, read_sizes
from scoresieve.estimators.selection.chosen_model import ChosenModelMixin
from scoresieve.estimators.selection.splits import (
    LabelledData,
    Split,
    check_measure,
    make_splits,
)
from scoresieve.estimators.targets import read_targets
from scoresieve.measures import Measure
from scoresieve.mil.bag_checks import check_length
from scoresieve.mil.bag_measure_svc import BagMeasureSVC
from scoresieve.mil.bag_model import OF_EMBEDDING, BagModelMixin, counted_bags
from scoresieve.mil.bag_selection import EmbeddedPaths, check_sigmas, tabulate_sigmas
from scoresieve.mil.bags import as_bags
from scoresieve.mil.embedding import MILESEmbedding
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.solve import check_solver


@dataclass(eq=False, repr=False)
class BagMeasureSVCCV(ChosenModelMixin, BagModelMixin, ClassifierMixin, BaseEstimator):
    """``argmax_{sigma, B, C} (1/F) sum_f s_f(sigma, B, C)``, then ``BagMeasureSVC`` on all bags.

    ``s_f(sigma, B, C)`` is the measure, on part f of the bags, of the model that was fitted on all
    other parts. The embedding is made anew for each f, from instances of the bags that train: no
    instance of a held-out bag is a prototype, and the median distance is theirs.

    Conventions
    -----------
    All else is as in :class:`~scoresieve.MeasureSVCCV`: warm-started paths over the budgets, one
    choice for all classes, ``refit``, equal bits for every ``n_jobs``.

    Parameters
    ----------
    sigmas : list of float or str, default=("0.25*median", "0.5*median", "median")
        Widths to choose from, see :class:`~scoresieve.mil.MILESEmbedding`; without effect for
        ``metric="cosine"``.
    n_instances_to_select : list of int, optional
        Instead of budgets, numbers k to choose from: models with at most k instances.
    scoring : str or callable, optional
        What to choose by, as in scikit-learn; the measure by default. A callable is given models on
        the embedding and embedded bags.
    metric, n_prototypes, prototypes, max_memory, random_state
        As in :class:`~scoresieve.mil.MILESEmbedding`.
    measure, bound, price, budgets, Cs, cv, refit, fit_intercept, intercept_scaling, pos_label, \
solver, tol, max_iter, max_time, verbose
        As in :class:`~scoresieve.MeasureSVCCV`.
    n_jobs : int, optional
        How many pairs of a part and a sigma are worked on at a time.

    Attributes
    ----------
    cv_results_ : dict of str to array
        One entry for each sigma, B (or k) and C, as ``GridSearchCV`` has it: ``param_sigma``,
        ``param_budget`` (or ``param_n_instances_to_select``), ``param_C``, ``params``,
        ``split0_test_score`` and so on, ``mean_test_score``, ``rank_test_score``,
        ``mean_n_instances``, ``mean_fit_time``.
    best_index_, best_params_, best_score_, C_, n_splits_
        As in :class:`~scoresieve.MeasureSVCCV`.
    estimator_ : BagMeasureSVC
        The model that was fitted on all bags.
    key_instances_, embedding_, coef_, classes_, ...
        All fitted attributes of ``estimator_``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve.mil import BagMeasureSVCCV
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(4, 2)) for _ in range(60)]
    >>> y = np.arange(60) % 3 == 0
    >>> for bag in np.flatnonzero(y):
    ...     bags[bag][rng.integers(4)] = [4.0, 4.0]  # one telling instance
    >>> model = BagMeasureSVCCV(n_instances_to_select=[1, 3], Cs=[10.0], cv=3).fit(bags, y)
    >>> model.best_params_["n_instances_to_select"], model.key_instances_[0].vector
    (1, array([4., 4.]))
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    bound: str = "tight"
    price: str | float = "auto"
    sigmas: Any = ("0.25*median", "0.5*median", "median")
    budgets: ArrayLike | None = None
    n_instances_to_select: ArrayLike | None = None
    Cs: int | ArrayLike = (1.0, 10.0, 100.0)
    cv: Any = None
    scoring: str | Callable[..., float] | None = None
    refit: str = "best"
    metric: str = "rbf"
    n_prototypes: int | None = None
    prototypes: str = "sample"
    max_memory: float = 256e6
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    pos_label: Any = None
    solver: str = "bundle"
    tol: float = 0.05
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    _fields = ChosenModelMixin._fields | {"estimator_": estimator("BagMeasureSVC")}
    _private_state = ("_targets", "_selected")

    @with_callbacks
    def fit(
        self, bags: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: Any = None
    ) -> BagMeasureSVCCV:
        """Choose sigma, the number of instances and C, then fit with them on all bags.

        ``sample_weight`` and ``groups`` are those of bags, as in ``MeasureSVCCV.fit`` of rows.
        """
        data = self._read_data(bags, y, sample_weight)
        kind, sizes, Cs, sigmas = self._read_grid(data)
        splits = self._make_splits(data, groups)
        jobs = [
            self._job(sigma, {kind: sizes}, Cs, split, number)
            for sigma in sigmas
            for number, split in enumerate(splits)
        ]
        parts = range(len(splits))
        titles = [f"sigma={sigma}, split {number}" for sigma in sigmas for number in parts]

        def choose(found: list[list[PathScores]]) -> BagMeasureSVC:
            warn_of_open_paths(list(chain(*found)), Cs * len(jobs), self.tol)
            by_sigma = [found[at : at + len(splits)] for at in range(0, len(found), len(splits))]
            self._choose(tabulate_sigmas(kind, sizes, Cs, sigmas, by_sigma), kind, len(splits))
            return self._model(**self.best_params_)

        return self._search(data, jobs, titles, choose, data.X, sample_weight)

    def _read_data(self, bags: Any, y: Any, sample_weight: Any) -> LabelledData:
        """What ``fit`` was given, in checked form."""
        bags = as_bags(bags)
        check_length(len(bags), y)
        _, y = check_X_y(np.zeros((len(bags), 1)), y, multi_output=True)
        targets, y = read_targets(y, self.pos_label)
        return LabelledData(bags, y, counted_bags(bags, sample_weight)[1], targets)

    def _read_grid(self, data: LabelledData) -> tuple[str, list[int], list[float], list[Any]]:
        """The parameter that the sizes are of, the sizes, the Cs and the sigmas, all checked."""
        check_solver(self.solver)
        Limits(self.tol, self.max_iter, self.max_time)
        sigmas = ["median"] if self.metric == "cosine" else check_sigmas(self.sigmas)
        n_units = min(data.X.n_instances, self.n_prototypes or data.X.n_instances)
        kind, sizes = read_sizes(self, "n_instances_to_select", n_units)
        return kind, sizes, check_Cs(self.Cs), sigmas

    def _make_splits(self, data: LabelledData, groups: Any) -> list[Split]:
        """Parts on which the measure is defined."""
        splits = make_splits(self.cv, data, groups)
        check_measure(self.measure, data, splits, is_scored=self.scoring is None)
        check_refit(self.refit, len(splits))
        return splits

    def _model(self, **params: Any) -> BagMeasureSVC:
        """An estimator for one point of the grid, not fitted."""
        return BagMeasureSVC(**self._shared(BagMeasureSVC, n_instances_to_select=None) | params)

    def _job(
        self,
        sigma: Any,
        grid: dict[str, list[int]],
        Cs: list[float],
        split: Split,
        number: int,
    ) -> EmbeddedPaths:
        """All sizes and Cs for one sigma, to be fitted on the training part of one split."""
        ((kind, sizes),) = grid.items()
        scorer = None if self.scoring is None else get_scorer(self.scoring)
        paths = []
        for C in Cs:
            models = [self._model(**{kind: size}, C=C)._model_on_embedding() for size in sizes]
            name = f"[BagMeasureSVCCV] sigma={sigma}, split {number}, C={C:g}"
            arguments = problem_arguments(models[0])
            paths.append(PathJob(models, arguments, split, scorer, name if self.verbose else None))
        of_embedding = {name: getattr(self, name) for name in OF_EMBEDDING if name != "sigma"}
        return EmbeddedPaths(MILESEmbedding(sigma, **of_embedding), paths)
