"""Names of measures, their settings, and how settings are refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from scoresieve.measures import (
    PRBEP,
    ROCAUC,
    Accuracy,
    AveragePrecision,
    BalancedAccuracy,
    FBeta,
    GeometricMean,
    Jaccard,
    Matthews,
    PrecisionAtK,
    PrecisionUnderRecallFloor,
    RecallAtK,
    RecallUnderPrecisionFloor,
    get_measure,
    known_names,
)

NAMED = {
    "accuracy": Accuracy(),
    "balanced_accuracy": BalancedAccuracy(),
    "f1": FBeta(),
    "f2": FBeta(beta=2),
    "f0.5": FBeta(beta=0.5),
    "jaccard": Jaccard(),
    "prbep": PRBEP(),
    "roc_auc": ROCAUC(),
    "average_precision": AveragePrecision(),
    "prec@100": PrecisionAtK(k=100),
    "prec@p/2": PrecisionAtK(k="p/2"),
    "prec@3p/2": PrecisionAtK(k="1.5p"),
    "rec@2p": RecallAtK(k="2p"),
    "rec@p": RecallAtK(k="p"),
    "rec@7": RecallAtK(k=np.int64(7)),
    "prec@1%": PrecisionAtK(k="1%"),
    "rec@0.05%": RecallAtK(k="0.05 %"),
    "precision@recall>=0.8": PrecisionUnderRecallFloor(floor=0.8),
    "precision@recall>=1": PrecisionUnderRecallFloor(floor=1),
    "recall@precision>=0.9": RecallUnderPrecisionFloor(floor=0.9),
    "recall@precision>=1": RecallUnderPrecisionFloor(floor=1),
    "mcc": Matthews(),
    "gmean": GeometricMean(),
}


@pytest.mark.parametrize(("name", "measure"), NAMED.items(), ids=NAMED)
def test_names_and_measures_correspond(name, measure):
    assert measure.name == name
    assert get_measure(name) == measure
    assert hash(get_measure(name)) == hash(measure)
    assert get_measure(measure) is measure
    for copied in (pickle.loads(pickle.dumps(measure)), copy.deepcopy(measure)):
        assert copied == measure
    assert clone(measure, safe=False) == measure


def test_measures_of_different_settings_differ():
    assert len(set(NAMED.values())) == len(NAMED)
    assert PrecisionAtK(k=5) != RecallAtK(k=5)


@pytest.mark.parametrize("beta", [1e-6, 1 / 3, 0.1 + 0.2, 1e-5, 12345.678, 1e6])
def test_names_keep_every_digit(beta):
    assert get_measure(FBeta(beta).name) == FBeta(beta)
    if beta <= 1:
        for kind in (PrecisionUnderRecallFloor, RecallUnderPrecisionFloor):
            measure = kind(beta)
            assert get_measure(measure.name) == measure


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("hamming", "accuracy"),
        (" F1 ", "f1"),
        ("F1.0", "f1"),
        ("prec@0.5p", "prec@p/2"),
        ("Prec@2P", "prec@2p"),
        ("rec@2p/4", "rec@p/2"),
        ("prec@2.50%", "prec@2.5%"),
        ("Rec@ 100.0 %", "rec@100%"),
        ("precision@recall >= 0.80", "precision@recall>=0.8"),
        ("Recall@Precision >= 0.90", "recall@precision>=0.9"),
        ("MCC", "mcc"),
    ],
)
def test_other_spellings(spelling, name):
    assert get_measure(spelling).name == name


@pytest.mark.parametrize("name", ["", "f", "g1", "f-1", "prec@", "prec@q", "precision", "rec@p2p"])
def test_unknown_names_list_the_known_ones(name):
    with pytest.raises(ValueError, match="unknown measure") as caught:
        get_measure(name)
    for known in known_names():
        assert known in str(caught.value)


@pytest.mark.parametrize("value", [None, 1, FBeta])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError, match="name or a Measure"):
        get_measure(value)


@pytest.mark.parametrize("beta", [0.0, -1.0, np.inf, np.nan])
def test_beta_is_checked(beta):
    with pytest.raises(ValueError, match="beta must be"):
        FBeta(beta=beta)


@pytest.mark.parametrize("floor", [0.0, -0.5, 1.01, np.nan])
def test_floor_is_checked(floor):
    with pytest.raises(ValueError, match=r"floor must be a recall in \(0, 1\], got"):
        PrecisionUnderRecallFloor(floor=floor)
    with pytest.raises(ValueError, match=r"floor must be a precision in \(0, 1\], got"):
        RecallUnderPrecisionFloor(floor=floor)


@pytest.mark.parametrize(
    "k", [0, -3, True, 2.0, "", "0p", "p/0", "2", "pp", "-p", None, "p/2/2", "0%", "101%", "%"]
)
@pytest.mark.parametrize("kind", [PrecisionAtK, RecallAtK])
def test_k_is_checked(kind, k):
    with pytest.raises(ValueError, match="k must be"):
        kind(k=k)


@pytest.mark.parametrize("name", ["prec@0", "rec@0p", "prec@1.5", "rec@0%", "prec@200%"])
def test_names_with_a_bad_k_say_so(name):
    with pytest.raises(ValueError, match="k must be"):
        get_measure(name)


@pytest.mark.parametrize("kind", [PrecisionAtK, RecallAtK])
def test_k_is_a_number_of_examples(kind):
    y = np.repeat([1.0, -1.0], [7, 13])
    wanted = {"p": 7, "2p": 14, "p/2": 3, "0.5p": 3, "p/100": 1, "3p/2": 10, 5: 5, 20: 20}
    assert {k: kind(k=k).n_alarms(y) for k in wanted} == wanted
    assert kind(k="0.1p").n_alarms(np.repeat([1.0, -1.0], [30, 1])) == 3


@pytest.mark.parametrize("kind", [PrecisionAtK, RecallAtK])
def test_a_share_is_of_the_rows_at_hand(kind):
    """At least one, and never more than the share."""
    y = np.repeat([1.0, -1.0], [7, 13])
    wanted = {"1%": 1, "5%": 1, "9.9%": 1, "10%": 2, "14.99%": 2, "15%": 3, "100%": 20}
    assert {k: kind(k=k).n_alarms(y) for k in wanted} == wanted
    measure = kind(k="10%")
    assert measure.n_alarms(np.tile(y, 50)) == 100
    assert measure.of_share(0.8) is measure
    assert kind(k="100%").n_alarms(np.array([1.0, -1.0])) == 2


@pytest.mark.parametrize("kind", [PrecisionAtK, RecallAtK])
@pytest.mark.parametrize("k", [21, "3p"])
def test_k_above_the_number_of_examples_is_refused(kind, k):
    y = np.repeat([1.0, -1.0], [7, 13])
    for call in (
        kind(k=k).check,
        lambda y: kind(k=k).score(y, y),
        lambda y: kind(k=k).most_violated(y, y),
    ):
        with pytest.raises(ValueError, match="only 20 examples"):
            call(y)


@pytest.mark.parametrize("measure", NAMED.values(), ids=NAMED)
def test_measures_cannot_be_modified(measure):
    with pytest.raises(AttributeError):
        measure.k = 3


@pytest.mark.parametrize("kind", [PrecisionUnderRecallFloor, RecallUnderPrecisionFloor])
def test_a_floor_is_kept_as_a_float(kind):
    """A number of numpy or a whole one is the same setting, in files too."""
    assert type(kind(floor=1).floor) is float
    assert type(kind(floor=np.float32(0.5)).floor) is float
