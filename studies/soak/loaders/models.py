"""``scoresieve.load`` and the command line's models: files of every estimator, changed."""

from __future__ import annotations

import io
import random
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from scoresieve import (
    BudgetClassifier,
    BudgetRegressor,
    MeasureSVC,
    ScoreSieve,
    baselines,
    load,
    mil,
)
from scoresieve.losses import HuberHinge
from studies.common.internals import load_command_line_model, run_command
from studies.soak.archives import hostile_archive
from studies.soak.tally import Tally

#: Larger weights than these no case has reason to have.
MAX_BYTES = 2**26
#: Columns up to which a loaded model is asked for decisions.
MOST_COLUMNS = 10**6
OF_BAGS = (mil.BagMeasureSVC, mil.BagScoreSieve, baselines.MILES, baselines.MeanInstanceSVM)


def fitted_on_rows() -> list[Any]:
    """One small model of each class that takes rows, for several kinds of labels."""
    X = np.random.default_rng(5).normal(size=(40, 8))
    two = np.array(["no", "yes"])[(X[:, 0] > 0.3).astype(int)]
    three = np.argmax(X[:, :3], axis=1)
    models = [
        MeasureSVC("prec@p", n_features_to_select=2, warm_start=True).fit(X, two),
        MeasureSVC("roc_auc", budget=2, feature_groups=[[0, 1], (2, 3)]).fit(X, three),
        MeasureSVC("f2", budget=2).fit(X, (X[:, :3] > 0.2).astype(int)),
        ScoreSieve(n_features_to_select=[1, 2], candidates=["squared_hinge"], Cs=[1.0], cv=2).fit(
            X, two
        ),
        BudgetClassifier(HuberHinge(delta=0.5), budget=3).fit(X, two),
        BudgetRegressor("huber", n_features_to_select=3).fit(X, X[:, 0]),
    ]
    rivals = [
        baselines.FGM(budget=3),
        baselines.FSMulti(budget=3),
        baselines.L0SVM(n_features_to_select=3),
        baselines.L1BundleSVM(),
        baselines.L1SVM(n_features_to_select=3),
        baselines.NMMKL(budget=3),
        baselines.SquaredL1SVM("roc_auc"),
        baselines.SVMPerf("f2", C_scale="svmperf"),
        baselines.SVMRFE(n_features_to_select=3, step=1),
    ]
    return models + [rival.fit(X, two) for rival in rivals]


def fitted_on_bags() -> list[Any]:
    """One small model of each class that takes bags."""
    rng = np.random.default_rng(3)
    bags = [rng.normal(size=(1 + i % 3, 3)) for i in range(30)]
    y = np.arange(30) % 2
    for bag, label in zip(bags, y, strict=True):
        bag[0, label] += 4.0
    models = [
        mil.BagMeasureSVC(budget=2),
        mil.BagScoreSieve(
            n_instances_to_select=2, candidates=["bound"], sigmas=[1.0], Cs=[1.0], cv=2
        ),
        mil.MILESEmbedding("0.5*median", n_prototypes=20),
        baselines.MILES(sigma=1.0),
        baselines.MeanInstanceSVM(),
    ]
    return [model.fit(bags, y) for model in models]


class ModelFiles:
    """Files of ``model.save``: a ValueError that names the file, or a model that answers."""

    name = "models"

    def prepare(self, folder: Path) -> None:
        """One file of each estimator, with and without its certificate."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = fitted_on_rows() + fitted_on_bags()
        self._path = folder / "model"
        self._files = []
        for model in models:
            for with_certificate in (False, True):
                model.save(self._path, with_certificate=with_certificate)
                self._files.append(self._path.read_bytes())

    def _load(self) -> Any:
        return load(self._path, max_bytes=MAX_BYTES)

    def try_one(self, source: random.Random, number: int, tally: Tally) -> None:
        """Load a changed file, and ask the model for decisions if there is one."""
        kind, content = hostile_archive(source.choice(self._files), source)
        self._path.write_bytes(content)
        try:
            model = self._load()
        except ValueError as error:
            if str(self._path) in str(error):
                tally.count(f"{kind}: refused")
            else:
                tally.fail(number, f"{kind}: the message does not name the file: {error}")
            return
        tally.count(f"{kind}: loaded")
        _answers(model)


def _answers(model: Any) -> None:
    """Decisions of rows of zeros, and what the model says of itself."""
    repr(model)
    n_columns = getattr(model, "n_columns_in_", getattr(model, "n_features_in_", 0))
    if not 0 < n_columns < MOST_COLUMNS:
        return
    X: Any = np.zeros((2, n_columns))
    X = [X] if isinstance(model, OF_BAGS) else X
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if hasattr(model, "predict"):
            model.predict(X)
            str(model.summary())


class CommandLineFiles(ModelFiles):
    """The same with the entry that says how rows of files become X."""

    name = "command line models"

    def prepare(self, folder: Path) -> None:
        """Models of a table and of numbered columns, as the commands write them."""
        rng = np.random.default_rng(0)
        rows = [f"{i},{rng.normal():.3f},{'ab'[i % 2]},word{i % 5} more,{i % 2}" for i in range(40)]
        (folder / "data.csv").write_text("\n".join(["n,x,category,text,label", *rows]) + "\n")
        lines = [f"{i % 2} 1:{i % 3 + 1} {2 + i % 4}:{i % 2 + 0.5}" for i in range(40)]
        (folder / "data.svm").write_text("\n".join(lines) + "\n")
        self._path, self._files = folder / "model", []
        for options in (
            "data.csv --label label --text text -k 2 --cv 2 -C 1",
            "data.csv --label label --text text --method measure -k 2 --certificate",
            "data.svm --method logistic -k 2",
        ):
            file, *others = options.split()
            arguments = ["fit", str(folder / file), *others, "--quiet", "--positive", "1"]
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
                if run_command([*arguments, "-o", str(self._path)]) != 0:
                    raise RuntimeError(f"{options}: {said.getvalue()}")
            self._files.append(self._path.read_bytes())

    def _load(self) -> Any:
        return load_command_line_model(str(self._path)).model
