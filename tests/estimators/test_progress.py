"""``set_callbacks``: who is told of each round, and who can stop them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from scoresieve import MeasureSVC, Progress, ScoreSieve, Status
from scoresieve.solvers import engines
from scoresieve.solvers.bundle.rounds import run_bundle

callbacks = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")


class Recorder:
    """Writes every hook down as (hook, path of the task, metadata)."""

    def __init__(self, stop_after=None):
        self.calls, self.stop_after = [], stop_after

    def _path(self, context):
        names = []
        while context is not None:
            names.insert(0, context.task_name)
            context = context.parent
        return tuple(names)

    def setup(self, estimator, context):
        self.calls.append(("setup", self._path(context), None))

    def on_fit_task_begin(self, estimator, context, *, metadata=None):
        self.calls.append(("begin", self._path(context), metadata))

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.calls.append(("end", self._path(context), metadata))
        progress = (metadata or {}).get("progress")
        return progress is not None and progress.iteration == self.stop_after

    def teardown(self, estimator, context):
        self.calls.append(("teardown", self._path(context), None))

    def paths(self, hook):
        return [path for name, path, _ in self.calls if name == hook]


class Scorer(Recorder):
    """Scores the model that each task leaves, where there is one."""

    def __init__(self):
        super().__init__()
        self.scores = []

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))


def test_tasks_of_a_binary_fit(binary):
    X, y = binary
    record = Recorder()
    model = MeasureSVC(C=10.0, tol=1e-3).set_callbacks(record).fit(X, y)
    rounds = [("fit", "class 'yes'", f"round {i + 1}") for i in range(model.n_iter_[0])]
    assert len(rounds) > 2
    assert record.paths("begin") == [("fit",), ("fit", "class 'yes'"), *rounds]
    assert record.paths("end") == [*rounds, ("fit", "class 'yes'"), ("fit",)]
    assert record.paths("setup") == record.paths("teardown") == [("fit",)]
    ends = [data or {} for name, _, data in record.calls if name == "end"]
    rows = [data["progress"] for data in ends if "progress" in data]
    assert all(isinstance(row, Progress) for row in rows)
    assert rows == model.history_[0]


def test_callbacks_change_nothing(binary):
    X, y = binary
    with_callback = MeasureSVC(C=10.0).set_callbacks(Recorder()).fit(X, y)
    assert np.array_equal(with_callback.coef_, MeasureSVC(C=10.0).fit(X, y).coef_)


def test_stop_by_callback(binary):
    X, y = binary
    model = MeasureSVC(C=10.0, tol=1e-6).set_callbacks(Recorder(stop_after=2))
    with pytest.warns(ConvergenceWarning, match="Stopped by the callback"):
        model.fit(X, y)
    assert model.n_iter_[0] == 2
    assert model.status_ == [Status.CALLBACK]
    assert model.set_callbacks().fit(X, y).n_iter_[0] > 2


@pytest.mark.parametrize("limit", [{"budget": 5}, {"n_features_to_select": 5}], ids=str)
def test_no_other_run_follows_a_stop(monkeypatch, limit):
    """Of noise, where the price falls again and again for want of features."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 20)), rng.random(300) < 0.05
    record, n_runs = Recorder(stop_after=1), []

    def counted(problem, tracker, warm):
        n_runs.append(len(record.paths("end")))
        return run_bundle(problem, tracker, warm)

    monkeypatch.setattr(engines, "run_bundle", counted)
    model = MeasureSVC("prec@5", C=0.1, intercept_scaling=100.0, **limit).set_callbacks(record)
    with pytest.warns(ConvergenceWarning, match="Stopped by the callback"):
        model.fit(X, y)
    assert set(n_runs) == {0}
    assert model.status_ == [Status.CALLBACK]
    assert model.n_iter_ == [1]


def test_every_class_is_a_task(three_classes):
    X, y = three_classes
    record = Recorder()
    model = MeasureSVC(budget=3, price=0.5).set_callbacks(record).fit(X, y)
    for name, n_iter in zip(("class 3", "class 5", "class 8"), model.n_iter_, strict=True):
        rounds = [path for path in record.paths("end") if len(path) == 3 and path[1] == name]
        assert len(rounds) == n_iter


def test_the_end_of_the_fit_brings_a_model(binary):
    X, y = binary
    scorer = Scorer()
    model = MeasureSVC(C=10.0).set_callbacks(scorer).fit(X, y)
    assert scorer.scores == [model.score(X, y)]


def test_an_error_tears_down_and_leaves_no_trace(binary):
    X, y = binary

    class Failing(Recorder):
        def on_fit_task_begin(self, estimator, context):
            raise RuntimeError("no")

    record = Failing()
    model = MeasureSVC().set_callbacks(record)
    with pytest.raises(RuntimeError, match="no"):
        model.fit(X, y)
    assert record.paths("teardown") == [("fit",)]


def test_clones_and_pickles_keep_their_callbacks(binary):
    X, y = binary
    record = Recorder()
    plain = MeasureSVC(price=0.5)
    clone(clone(plain).set_callbacks(record)).fit(X, y)
    assert record.calls
    copy = pickle.loads(pickle.dumps(clone(plain).set_callbacks(Recorder())))
    copy.fit(X, y)
    n_calls = len(record.calls)
    clone(plain).fit(X, y)
    assert len(record.calls) == n_calls


def test_processes_report_to_the_bar(three_classes):
    pytest.importorskip("rich")
    X, y = three_classes
    plain = {"budget": 3, "price": 0.5}
    model = MeasureSVC(n_jobs=2, **plain).set_callbacks(callbacks.ProgressBar())
    assert np.array_equal(model.fit(X, y).coef_, MeasureSVC(**plain).fit(X, y).coef_)


def test_progress_bar(binary, capsys):
    pytest.importorskip("rich")
    X, y = binary
    MeasureSVC(C=10.0).set_callbacks(callbacks.ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert "MeasureSVC - fit" in shown
    assert "class 'yes'" in shown
    assert "100%" in shown


def test_a_search_hands_its_callbacks_down(binary):
    X, y = binary
    record = Recorder()
    record.max_propagation_depth = 1
    search = GridSearchCV(MeasureSVC(price=0.5), {"C": [1.0, 10.0]}, cv=2).set_callbacks(record)
    search.fit(X, y)
    fits = {path for path in record.paths("end") if path[-1].startswith("class ")}
    assert fits


def test_tasks_of_a_sieve(binary):
    X, y = binary
    record = Recorder()
    plain = ScoreSieve(n_features_to_select=2, candidates=["squared_hinge"], Cs=[1.0], cv=2)
    model = clone(plain).set_callbacks(record)
    assert np.array_equal(model.fit(X, y).coef_, plain.fit(X, y).coef_)
    titles = ["class 'yes', split 0", "class 'yes', split 1", "choice"]
    assert record.paths("end") == [("fit", title) for title in titles] + [("fit",)]
    assert record.paths("teardown") == [("fit",)]
