"""No network, no shared state: the same bits alone, in threads and in processes at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info

from scoresieve import BudgetClassifier, MeasureSVC, solve
from tests.helpers import run_python

#: In an interpreter of its own: any socket ends it, at import, at fit, saving and loading.
WITHOUT_SOCKETS = """
import sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(f"{event} of {arguments}")

sys.addaudithook(refuse)
import numpy as np
import scoresieve, scoresieve.baselines, scoresieve.mil, scoresieve.cli, scoresieve.design
X = np.random.default_rng(0).normal(size=(60, 8))
y = X[:, 0] > 0.5
for model in (
    scoresieve.MeasureSVC("f1", n_features_to_select=2),
    scoresieve.BudgetClassifier("logistic", budget=2),
    scoresieve.ScoreSieve(n_features_to_select=2, cv=2, Cs=[1.0]),
):
    model.fit(X, y).save(sys.argv[1])
    scoresieve.load(sys.argv[1]).predict(X)
try:
    __import__("socket").socket()
except RuntimeError as error:
    assert "socket.__new__" in str(error)
    print("no sockets")
"""


@pytest.mark.slow
def test_import_and_fits_need_no_network(tmp_path):
    printed = run_python("-W", "ignore", "-c", WITHOUT_SOCKETS, tmp_path / "model")
    assert printed == "no sockets\n"


def weights(seed):
    """All numbers of two fits."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 15))
    y = X[:, 0] + X[:, 1] + rng.normal(size=80) > 1.0
    models = (MeasureSVC("f1", budget=3), BudgetClassifier("logistic", n_features_to_select=3))
    found = [np.append(model.fit(X, y).coef_, model.gap_) for model in models]
    return np.concatenate(found)


@pytest.mark.slow
def test_fits_at_once_give_the_bits_of_fits_alone():
    """Threads fit while processes do, and leave the numbers of BLAS threads as they were."""
    before = [pool["num_threads"] for pool in threadpool_info()]
    alone = [weights(seed) for seed in range(2)]
    with ThreadPoolExecutor(4) as threads:
        in_threads = [threads.submit(weights, seed) for seed in (0, 1, 0, 1)]
        in_processes = Parallel(n_jobs=2)(delayed(weights)(seed) for seed in range(2))
        for seed, future in enumerate(in_threads):
            assert_array_equal(future.result(), alone[seed % 2])
    for seed, found in enumerate(in_processes):
        assert_array_equal(found, alone[seed])
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.parametrize("exponent", [-40, -3, 1, 25])
@pytest.mark.parametrize(
    "kind",
    [
        *({"measure": name} for name in ("f1", "prbep", "prec@5", "accuracy", "roc_auc")),
        {"loss": "logistic"},
    ],
    ids=str,
)
def test_a_power_of_two_changes_no_bit(data, kind, exponent):
    """``2^e X`` with ``4^-e C`` and the constant column times ``2^e`` is the same problem."""
    for seed in range(2):
        X, y = data(seed, n_samples=20, n_features=6)
        factor = 2.0**exponent
        plain = solve(X, y, **kind, budget=2, C=0.7, intercept_scaling=1.0)
        scaled = solve(X * factor, y, **kind, budget=2, C=0.7 / factor**2, intercept_scaling=factor)
        assert_array_equal(scaled.w * factor, plain.w)
        assert scaled.intercept == plain.intercept
        assert scaled.gap == plain.gap
