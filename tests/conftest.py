"""Problems for the tests; ``studies.common.brute_force`` solves the tiny ones independently."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from scoresieve import certify
from scoresieve.measures import Contingency
from studies.common.brute_force import (
    RANKINGS,
    TABLE_LOSSES,
    clarabel_solve,
    dual_norm_squared,
    enumerated,
    every_cut,
    name_of,
    norm_squared,
    objective,
    optimum,
    takes_price,
)
from tests.helpers import ALL_ROLES


def geometric_mean(tp, fp, fn, tn):
    return np.sqrt(tp / (tp + fn) * tn / (tn + fp))


MEASURES = [
    Contingency(geometric_mean) if name == "geometric_mean" else name
    for name in (*TABLE_LOSSES, *RANKINGS)
]


def make_data(seed, n_samples=30, n_features=10, n_informative=3, noise=0.7):
    """Normal columns, of which a few decide the labels; about a third positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    values = X[:, :n_informative].sum(axis=1) + noise * rng.normal(size=n_samples)
    y = np.full(n_samples, -1.0)
    y[np.argsort(values)[-max(1, n_samples // 3) :]] = 1.0
    return X, y


def recheck(X, y, result, **arguments):
    """The certificate of a result of ``solve`` with the same arguments, at the price it found."""
    if arguments.get("measure") is not None:
        arguments = {"price": result.price, **arguments}
    return certify(X, y, result.w, result.dual_point, intercept=result.intercept, **arguments)


@pytest.fixture(scope="session")
def data():
    """``data(seed, n_samples, n_features, ...)`` gives X and y."""
    return make_data


@pytest.fixture(scope="session")
def brute():
    """The independent computations above."""
    return SimpleNamespace(
        dual_norm_squared=dual_norm_squared,
        enumerated=enumerated,
        every_cut=every_cut,
        norm_squared=norm_squared,
        objective=objective,
        optimum=optimum,
        takes_price=takes_price,
        clarabel_solve=clarabel_solve,
    )


@pytest.fixture(scope="session")
def certified():
    """``certified(X, y, result, measure=..., budget=..., C=..., ...)`` gives the certificate."""
    return recheck


@pytest.fixture(scope="session", params=MEASURES, ids=name_of)
def measure(request):
    """Each measure in turn, those of rankings and a user's function included."""
    return request.param


@pytest.fixture(
    params=[
        {},
        {"intercept_scaling": 2.0},
        {"always_features": [1, 4]},
        {"excluded_features": [0, 3]},
        {"feature_groups": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]},
        ALL_ROLES,
    ],
    ids=["plain", "intercept", "always", "excluded", "groups", "all"],
)
def columns(request):
    """What ``solve`` may be told about the ten columns of ``data``."""
    return request.param


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes on this machine, for all tests that need a cluster."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",  # any free port: two test processes have a cluster each
        memory_limit=0,
        silence_logs="CRITICAL",
    ) as cluster:
        yield cluster


@pytest.fixture
def other_client(cluster):
    """A client of the cluster, which is not the one of this process."""
    from distributed import Client

    with Client(cluster, set_as_default=False, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def client(cluster):
    """A client of the cluster, which is the one of this process while a test runs."""
    from distributed import Client

    with Client(cluster, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
