"""What estimators share that choose a model by cross-validation and then are that model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer
from sklearn.utils.parallel import Parallel, delayed

from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.estimators.progress import CallbackMixin, FitTasks, reported
from scoresieve.estimators.selection.choice import choose
from scoresieve.estimators.selection.splits import LabelledData


class ChosenModelMixin(LinearModelMixin, CallbackMixin):
    """``argmax`` over a table of held-out scores, then the state of the model fitted on all rows.

    Conventions
    -----------
    * The estimator has the parameters ``scoring`` and ``refit``; its ``fit`` ends with ``_search``,
      whose function calls ``_choose``.
    * ``_private_state`` names the private attributes of a fitted model that its methods need.
    """

    _fields: ClassVar = fields_of("n_splits_", "cv_results_", "best_index_", "estimator_")
    scoring: Any
    refit: str
    n_jobs: int | None
    get_params: Any
    estimator_: Any
    _private_state: tuple[str, ...] = ("_targets", "_arguments", "_biases", "_dual_points")

    def _shared(self, kind: Any, **others: Any) -> dict[str, Any]:
        """The parameters that the models of a class share with this estimator, and others."""
        known = kind().get_params(deep=False)
        return {
            name: v for name, v in self.get_params(deep=False).items() if name in known
        } | others

    def _search(
        self,
        data: LabelledData,
        jobs: list[Any],
        titles: list[str],
        choose: Callable[[list[Any]], Any],
        X: Any,
        sample_weight: Any,
    ) -> Any:
        """Run the jobs, and fit the model that their results choose on all rows.

        Parameters
        ----------
        jobs : list
            Each with a method ``run(data)``.
        titles : list of str
            Of the jobs.
        choose : callable
            The model of what the jobs returned, not fitted.
        X, sample_weight
            As ``fit`` was given them.
        """
        tasks = FitTasks(self, [*titles, "refit"], data.X, data.y, {"sample_weight": data.weights})
        *of_jobs, of_refit = tasks.reporters
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(reported)(reporter, job.run, data)
            for reporter, job in zip(of_jobs, jobs, strict=True)
        )
        self._take_over(reported(of_refit, choose(found).fit, X, data.y, sample_weight))
        tasks.end()
        return self

    def _choose(self, results: dict[str, Any], kind: str, n_splits: int) -> None:
        """Keep the table and the point that the rule ``refit`` chooses.

        Parameters
        ----------
        results : dict
            See :func:`scoresieve.estimators.selection.choice.tabulate`.
        kind : str
            The parameter that counts features.
        """
        self.n_splits_ = n_splits
        self.cv_results_ = results
        self.best_index_ = choose(results, kind, self.refit)
        self.__dict__.update(self._choice())

    def _choice(self) -> dict[str, Any]:
        """What the table says of the chosen point."""
        point = self.cv_results_["params"][self.best_index_]
        score = float(self.cv_results_["mean_test_score"][self.best_index_])
        return {"best_params_": point, "best_score_": score, "C_": point["C"]}

    def _take_over(self, estimator: Any) -> None:
        """Make the fitted state of the final model the state of this one."""
        if hasattr(self, "estimator_"):
            for name in self._state_of(self.estimator_):
                self.__dict__.pop(name, None)
        self.estimator_ = estimator
        self.__dict__.update(self._derived())

    def _derived(self) -> dict[str, Any]:
        return self._choice() | self._state_of(self.estimator_)

    def _state_of(self, model: Any) -> dict[str, Any]:
        """The public fitted attributes, and the private ones that the methods of mixins need."""
        return {
            name: value
            for name, value in vars(model).items()
            if name.endswith("_") or name in self._private_state
        }

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """What the model was chosen by: ``scoring``, or else the measure, see ``MeasureSVC.score``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or bags
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        """
        if self.scoring is None:
            return super().score(X, y, sample_weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return get_scorer(self.scoring)(self, X, y, **weights)

    def sparsify(self) -> Any:
        """Convert ``coef_`` to a CSR matrix, as scikit-learn's linear models do."""
        super().sparsify()
        self.estimator_.coef_ = self.coef_
        return self

    def densify(self) -> Any:
        """Convert ``coef_`` to an array."""
        super().densify()
        self.estimator_.coef_ = self.coef_
        return self
