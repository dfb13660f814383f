"""Reports each round to the callbacks of scikit-learn >= 1.9 and to stderr.

    fit                         one task
      class 'rare'              one task for each problem
        round 1, round 2, ...   one task each

Older versions of scikit-learn have no callbacks; they only support ``verbose``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

from scoresieve.solvers.limits import Limits, Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks came with scikit-learn 1.9."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


__all__ = ["CallbackMixin", "FitTasks", "Reporter", "with_callbacks"]


@dataclass(frozen=True, eq=False)
class Reporter:
    """Called after each round of one problem; returning True stops the rounds.

    Conventions
    -----------
    * A scikit-learn callback sees each round as a task without subtasks. The hook
      ``on_fit_task_end`` finds the :class:`~scoresieve.Progress` of the round in
      ``metadata["progress"]``; its return value decides whether to stop.
    * ``context`` is None without callbacks, so that nothing but the name and the switch travels
      to the processes of a parallel fit.

    Parameters
    ----------
    title : str
        The problem: "class 'rare'".
    verbose : bool
        Whether to write a line to stderr.
    estimator : estimator, optional
    context : CallbackContext, optional
        The task of this problem.
    """

    estimator_name: str = ""
    title: str = ""
    verbose: bool = False
    estimator: Any = None
    context: Any = None

    def __call__(self, row: Progress) -> bool:
        """Tell everyone of one round; whether to stop."""
        self.say(
            f"iteration {row.iteration}, gap {row.gap:.3g}, features {row.n_support}, "
            f"{row.time:.1f} s"
        )
        if self.context is None:
            return False
        task = self.context.subcontext(task_name=f"round {row.iteration}")
        about = {"estimator": self.estimator, "metadata": {"progress": row}}
        task.call_on_fit_task_begin(**about)
        return task.call_on_fit_task_end(**about)

    def say(self, text: str) -> None:
        """Write a line to stderr if ``verbose``."""
        if self.verbose:
            sys.stderr.write(f"[{self.estimator_name}] {self.title}: {text}\n")

    def told(self, limits: Limits) -> Limits:
        """The limits of a run that reports its rounds here."""
        return replace(limits, callback=self)

    def begin(self) -> None:
        """Open the task of the problem."""
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.estimator)

    def end(self) -> None:
        """Close it. A request to stop is ignored here: every class needs a model."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator)


class CallbackMixin(CallbackSupportMixin):
    """``set_callbacks``, where scikit-learn has it.

    Conventions
    -----------
    ``fit`` is decorated with :func:`with_callbacks` and makes its :class:`FitTasks` once the
    arguments are checked.
    """

    #: How many callbacks there are.
    _n_callbacks = 0

    if hasattr(CallbackSupportMixin, "set_callbacks"):

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Set the callbacks of ``fit``, see :mod:`sklearn.callback`; none removes them.

            Parameters
            ----------
            *callbacks : FitCallback
                ``sklearn.callback.ProgressBar()``, for example.
            """
            super().set_callbacks(*callbacks)
            self._n_callbacks = len(callbacks)
            return self

        def __sklearn_clone__(self) -> Any:
            copy = super().__sklearn_clone__()
            copy._n_callbacks = self._n_callbacks
            return copy


class FitTasks:
    """The task of a fit, and a reporter for each of its problems.

    Parameters
    ----------
    titles : list of str
        The problems: "class 'rare'".
    X, y, metadata
        The arguments of ``fit``.
    """

    def __init__(
        self, estimator: CallbackMixin, titles: list[str], X: Any, y: Any, metadata: dict[str, Any]
    ) -> None:
        verbose = bool(estimator.verbose)
        self.reporters = [Reporter(type(estimator).__name__, title, verbose) for title in titles]
        self._root = None
        if not estimator._n_callbacks:
            return
        self._about = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self._root = estimator._init_callback_context(max_subtasks=len(titles))
        self._root.call_on_fit_task_begin(**self._about)
        self.reporters = [
            replace(
                reporter,
                estimator=estimator,
                context=self._root.subcontext(reporter.title, max_subtasks=None),
            )
            for reporter in self.reporters
        ]

    def end(self) -> None:
        """Close the task of the fit, now that the estimator can predict."""
        if self._root is not None:
            self._root.call_on_fit_task_end(reconstruction_attributes={}, **self._about)
