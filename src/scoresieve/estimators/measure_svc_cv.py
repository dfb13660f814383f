"""``MeasureSVCCV``: MeasureSVC with the number of features and C chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.utils.validation import validate_data

from scoresieve._checks import check_weights
from scoresieve.estimators.budget_model import (
    X_OPTIONS,
    check_multi_class_support,
    problem_arguments,
)
from scoresieve.estimators.measure_svc import MeasureSVC
from scoresieve.estimators.persistence.saving import PersistenceMixin
from scoresieve.estimators.progress import with_callbacks
from scoresieve.estimators.selection.candidates import PathJob, PathScores, warn_of_open_paths
from scoresieve.estimators.selection.choice import check_Cs, check_refit, read_sizes, tabulate
from scoresieve.estimators.selection.chosen_model import ChosenModelMixin
from scoresieve.estimators.selection.splits import (
    LabelledData,
    Split,
    check_measure,
    make_splits,
)
from scoresieve.estimators.selector import SparseSelectorMixin
from scoresieve.estimators.targets import read_targets
from scoresieve.measures import Measure
from scoresieve.regularizers.units import Units
from scoresieve.solvers.limits import Limits
from scoresieve.solvers.solve import check_solver


@dataclass(eq=False, repr=False)
class MeasureSVCCV(
    ChosenModelMixin,
    PersistenceMixin,
    ClassifierMixin,
    SparseSelectorMixin,
    BaseEstimator,
):
    """``argmax_{B, C} (1/F) sum_f s_f(B, C)``, then ``MeasureSVC`` with these B and C on all rows.

    ``s_f(B, C)`` is the measure, on part f of the rows, of the model that was fitted on all other
    parts: features are selected anew for each f, so that no score is of rows that a selection has
    seen.

    Conventions
    -----------
    * All budgets of one part and one C are one warm-started path, see
      :func:`scoresieve.budget_path`. Its models are certified to ``tol`` like single ones.
    * With several classes or an indicator matrix, one B and one C serve all classes. They are
      chosen by the mean score over the classes, as ``MeasureSVC.score`` has it.
    * A number of alarms, as in ``measure="prec@100"``, is about all rows given to ``fit``. A part
      gets its share: of 1000 rows, 800 that train ask for the 80 highest scores and 200 that are
      held out for the 20 highest. ``"prec@2p"`` and the like need no such care.
    * Models without features are points of the grid like others.
    * Identical inputs give identical bits, for every ``n_jobs``.

    Parameters
    ----------
    budgets : list of int, optional
        Values of B to choose from, at most the number of features. By default 2, 5, 10, 20, 50,
        100 and 200.
    n_features_to_select : list of int, optional
        Instead of budgets, numbers k of features to choose from: models with at most k features.
    Cs : int or list of float, default=(1.0, 10.0, 100.0)
        Values of C to choose from, or how many from 1 to 100 in equal ratios.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn: 5 parts by default, stratified unless y is an indicator matrix.
    scoring : str or callable, optional
        What to choose by, as in scikit-learn; the measure by default.
    refit : {"best", "1se"}, default="best"
        ``"best"`` takes the highest mean score, of equal ones that with the fewest features, then
        the smallest C. ``"1se"`` takes the smallest B (or k) whose mean score, with the C that is
        best for it, is within one standard error of the highest.
    measure, bound, price, fit_intercept, intercept_scaling, always_features, \
excluded_features, feature_groups, pos_label, multi_class_support, solver, tol, max_iter
        As for :class:`MeasureSVC`.
    max_time : float, optional
        Seconds for each class: for a path of all budgets, and for each fit that is not part of one.
    n_jobs : int, optional
        How many paths are fitted at a time.
    verbose : int, default=0
        Above 0, a line on stderr for each path, and for each round of the final fit.

    Attributes
    ----------
    cv_results_ : dict of str to array
        One entry for each B (or k) and C, as ``GridSearchCV`` has it: ``param_budget`` (or
        ``param_n_features_to_select``), ``param_C``, ``params``, ``split0_test_score`` and so on,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``mean_n_features``,
        ``mean_fit_time``, ``std_fit_time``. ``pandas.DataFrame(cv_results_)`` shows it.
    best_index_, best_params_, best_score_, C_
        The chosen row of ``cv_results_``, its point of the grid, its mean score, and its C.
    n_splits_ : int
    estimator_ : MeasureSVC
        The model that was fitted on all rows.
    coef_, intercept_, ...
        All fitted attributes of ``estimator_``.

    Examples
    --------
    >>> import numpy as np
    >>> from scoresieve import MeasureSVCCV
    >>> X = np.random.default_rng(0).normal(size=(80, 8))
    >>> y = np.where(X[:, 3] + X[:, 7] > 1.0, "rare", "common")
    >>> model = MeasureSVCCV(
    ...     "f1", n_features_to_select=[1, 2, 4], Cs=[10.0], cv=3, pos_label="rare"
    ... ).fit(X, y)
    >>> model.get_support(indices=True)
    array([3, 7])
    >>> model.best_params_["n_features_to_select"], bool(model.best_score_ > 0.8)
    (2, True)
    """

    measure: str | Measure = "f1"
    _: KW_ONLY
    bound: str = "tight"
    price: str | float = "auto"
    budgets: ArrayLike | None = None
    n_features_to_select: ArrayLike | None = None
    Cs: int | ArrayLike = (1.0, 10.0, 100.0)
    cv: Any = None
    scoring: str | Callable[..., float] | None = None
    refit: str = "best"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    always_features: ArrayLike | None = None
    excluded_features: ArrayLike | None = None
    feature_groups: Any = None
    pos_label: Any = None
    multi_class_support: str = "union"
    solver: str = "bundle"
    tol: float = 0.05
    max_iter: int = 1000
    max_time: float | None = None
    n_jobs: int | None = None
    verbose: int = 0

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: Any = None
    ) -> MeasureSVCCV:
        """Choose the number of features and C, then fit with them on all rows.

        Parameters
        ----------
        X, y
            As for :meth:`MeasureSVC.fit`.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts when models are fitted and when they are scored. All copies of
            a row are in the same part.
        groups : array-like of shape (n_samples,), optional
            Rows that a splitter such as ``GroupKFold`` keeps together.

        Returns
        -------
        self
        """
        data = self._read_data(X, y, sample_weight)
        arguments, kind, sizes, Cs = self._read_grid()
        splits = make_splits(self.cv, data, groups)
        scorer = None if self.scoring is None else get_scorer(self.scoring)
        check_measure(arguments["measure"], data, splits, is_scored=scorer is None)
        check_refit(self.refit, len(splits))
        jobs = [
            self._job(arguments, {kind: sizes}, C, split, number, scorer)
            for number, split in enumerate(splits)
            for C in Cs
        ]
        titles = [f"split {number}, C={C:g}" for number in range(len(splits)) for C in Cs]

        def choose(paths: list[PathScores]) -> MeasureSVC:
            warn_of_open_paths(paths, Cs * len(splits), self.tol)
            by_split = [paths[at : at + len(Cs)] for at in range(0, len(paths), len(Cs))]
            self._choose(tabulate(kind, sizes, Cs, by_split), kind, len(splits))
            return self._model(**self.best_params_)

        return self._search(data, jobs, titles, choose, X, sample_weight)

    def _read_data(self, X: Any, y: Any, sample_weight: Any) -> LabelledData:
        """What ``fit`` was given, in checked form."""
        X, y = validate_data(self, X, y, multi_output=True, accept_large_sparse=True, **X_OPTIONS)
        targets, y = read_targets(y, self.pos_label)
        weights = None if sample_weight is None else check_weights(sample_weight)
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is zero for all rows; give a positive weight to some.")
        return LabelledData(X, y, weights, targets)

    def _read_grid(self) -> tuple[dict[str, Any], str, list[int], list[float]]:
        """Arguments of the problems, the parameter that the sizes are of, the sizes, and the Cs."""
        check_solver(self.solver)
        Limits(self.tol, self.max_iter, self.max_time)
        check_multi_class_support(self.multi_class_support)
        Cs = check_Cs(self.Cs)
        names = getattr(self, "feature_names_in_", None)
        arguments = problem_arguments(self._model(budget=1, C=Cs[0]), names)
        roles = ("always_features", "excluded_features", "feature_groups")
        units = Units.from_columns(self.n_features_in_, **{role: arguments[role] for role in roles})
        kind, sizes = read_sizes(self, "n_features_to_select", units.n_units)
        return arguments, kind, sizes, Cs

    def _model(self, **params: Any) -> MeasureSVC:
        """An estimator for one point of the grid, not fitted."""
        return MeasureSVC(**self._shared(MeasureSVC, n_features_to_select=None) | params)

    def _job(
        self,
        arguments: dict[str, Any],
        grid: dict[str, list[int]],
        C: float,
        split: Split,
        number: int,
        scorer: Callable[..., float] | None,
    ) -> PathJob:
        """All sizes for one C, to be fitted on the training part of one split."""
        ((kind, sizes),) = grid.items()
        models = [self._model(**{kind: size}, C=C) for size in sizes]
        name = f"[MeasureSVCCV] split {number}, C={C:g}" if self.verbose else None
        return PathJob(models, arguments | {"C": C}, split, scorer, name)
