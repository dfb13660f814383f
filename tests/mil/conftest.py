"""Bags with one telling instance, for two classes, three classes and indicator matrices."""

from __future__ import annotations

import numpy as np
import pytest

TELLING = np.array([[4.0, 4.0, 0.0], [-4.0, 4.0, 0.0], [0.0, -4.0, 4.0]])


def make_bags(seed, n_bags=48, largest=5):
    """Bags of 1 to ``largest`` instances; bag i holds one near ``TELLING[i % 4]``, if there is."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n_bags) % 4
    bags = []
    for kind in kinds:
        bag = rng.normal(size=(rng.integers(1, largest + 1), 3))
        if kind < 3:
            bag[rng.integers(len(bag))] = TELLING[kind] + 0.1 * rng.normal(size=3)
        bags.append(bag)
    return bags, kinds


@pytest.fixture(scope="session")
def bags():
    """A list of arrays."""
    return make_bags(0)[0]


@pytest.fixture(scope="session")
def binary():
    """Labels "no" and "yes": whether a bag holds an instance near ``TELLING[0]``."""
    return np.where(make_bags(0)[1] == 0, "yes", "no")


@pytest.fixture(scope="session")
def three_classes():
    """Labels 3, 5 and 8."""
    return np.array([3, 5, 8, 8])[make_bags(0)[1]]


@pytest.fixture(scope="session")
def indicators():
    """A column for each of two kinds of telling instances."""
    kinds = make_bags(0)[1]
    return np.column_stack([kinds == 0, (kinds == 0) | (kinds == 1)]).astype(int)


@pytest.fixture(params=["binary", "three_classes", "indicators"])
def labels(request):
    """Each kind of labels in turn."""
    return request.getfixturevalue(request.param)
