"""The paper's and SVM^perf's C against the objective written in their own scale."""

import numpy as np
import pytest

from scoresieve.measures import C_from_paper, C_from_svmperf, get_measure

Y = np.array([1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0])


def all_labellings(n):
    return [np.where([(code >> i) & 1 for i in range(n)], 1.0, -1.0) for code in range(2**n)]


def paper_risk(measure, scores, percent):
    """``max_{y'} 100 Delta - sum_i (y_i - y'_i) s_i``, or the number of errors for accuracy."""
    best = 0.0
    for labels in all_labellings(Y.size):
        tables = np.sum((Y > 0) & (labels > 0)), np.sum((Y < 0) & (labels > 0))
        if not measure.admissible(*tables, Y) or measure.loss(Y, labels) <= 0:
            continue
        loss = 100 * measure.loss(Y, labels) if percent else np.sum(labels != Y)
        best = max(best, loss - (Y - labels) @ scores)
    return best


@pytest.mark.parametrize("name", ["f1", "prbep", "rec@2p", "prec@2", "accuracy"])
def test_paper_scale_gives_a_multiple_of_the_papers_objective(name):
    """J of w times a constant is the paper's objective at a multiple of w, for every w."""
    measure, c = get_measure(name), 0.3
    percent = name != "accuracy"
    stretch = 50 / np.sum(Y > 0) if percent else 0.5
    rng = np.random.default_rng(0)
    X = rng.normal(size=(Y.size, 3))
    for w in rng.normal(size=(5, 3)):
        ours = 0.5 * w @ w + C_from_paper(c, Y, name) * measure.risk(Y, X @ w)
        theirs = 0.5 * stretch**2 * w @ w + c * paper_risk(measure, stretch * X @ w, percent)
        assert theirs == pytest.approx(stretch**2 * ours, rel=1e-12)


def test_svmperf_scale_agrees_with_the_papers():
    """``c_perf = c (n / 50)^2`` for percent losses."""
    c = 0.7
    c_perf = c * (Y.size / 50) ** 2
    assert C_from_svmperf(c_perf, Y, "f1") == pytest.approx(C_from_paper(c, Y, "f1"))


def test_errors():
    with pytest.raises(ValueError, match=r"c must be a positive number; got 0"):
        C_from_paper(0, Y, "f1")
    with pytest.raises(ValueError, match="y holds no positive label"):
        C_from_paper(1.0, -np.ones(3), "f1")
    with pytest.raises(ValueError, match="accuracy"):
        C_from_svmperf(1.0, Y, "accuracy")
