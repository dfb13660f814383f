"""Each case of :mod:`tests.estimators.persistence.models`, and a file with everything in it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from scoresieve import MeasureSVC, load
from tests.estimators.persistence.files import members_of, write
from tests.estimators.persistence.models import CASES, INDICATORS, X


@pytest.fixture(params=CASES)
def case(request):
    """The name of each case in turn."""
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.scoresieve"


@pytest.fixture(scope="session")
def good_members(tmp_path_factory):
    """The members of a file with everything in it."""
    path = tmp_path_factory.mktemp("good") / "model"
    model = MeasureSVC("accuracy", n_features_to_select=2, warm_start=True, pos_label=None)
    model.set_params(
        feature_groups=np.minimum(np.arange(12), 10), always_features=np.array([1])
    ).fit(X, sp.csr_array(INDICATORS), np.ones(60))
    model.feature_names_in_ = np.array([f"x{j}" for j in range(12)], dtype=object)
    model.save(path, with_certificate=True)
    return members_of(path)


@pytest.fixture
def good(good_members, path):
    """The path of such a file, and its members."""
    write(path, good_members)
    load(path)
    return path, dict(good_members)
