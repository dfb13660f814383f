"""What every risk promises the solvers: cuts below it, dual points that prove, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

from scoresieve.losses import EpsilonInsensitive, Hinge, Squared, get_loss
from scoresieve.measures import Contingency, Cut, get_measure
from scoresieve.risks import CutWeights, DualPoint, LossRisk, MeasureRisk, Slopes
from scoresieve.solvers.bundle.rounds import run_bundle
from scoresieve.solvers.limits import Limits, Tracker
from scoresieve.solvers.problem import make_problem
from tests.helpers import LOSSES

CHECKED = settings(derandomize=True, deadline=None, database=None, max_examples=60)

N = 13  # no multiple of eight
RNG = np.random.default_rng(0)
LABELS = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)
TARGETS = RNG.normal(size=N).round(1)
WEIGHTS = RNG.uniform(0.2, 3.0, size=N)
WEIGHTS[[2, 6]] = 0.0

NAMES = ["f1", "f2", "accuracy", "balanced_accuracy", "jaccard", "mcc", "prec@4", "rec@4", "rec@2p"]
NAMES += ["prbep", "precision@recall>=0.6", "recall@precision>=0.6", "roc_auc", "average_precision"]
MEASURES = [get_measure(name) for name in NAMES]
MEASURES.append(Contingency(lambda a, b, c, d: np.sqrt(a / (a + c) * d / (d + b)), name="g_mean"))


def every_risk():
    """Each measure and each loss, with weights as well where it takes them."""
    for measure in MEASURES:
        yield measure.name, MeasureRisk(measure, LABELS)
        if measure.takes_weights:
            yield f"{measure.name}, weighted", MeasureRisk(measure, LABELS, WEIGHTS)
    for loss in LOSSES:
        y = TARGETS if loss.task == "regression" else LABELS
        yield repr(loss), LossRisk(loss, y)
        yield f"{loss!r}, weighted", LossRisk(loss, y, WEIGHTS)


RISKS = dict(every_risk())
every = pytest.mark.parametrize("risk", RISKS.values(), ids=RISKS)
measures = pytest.mark.parametrize(
    "risk", [pytest.param(r, id=n) for n, r in RISKS.items() if isinstance(r, MeasureRisk)]
)
losses = pytest.mark.parametrize(
    "risk", [pytest.param(r, id=n) for n, r in RISKS.items() if isinstance(r, LossRisk)]
)


def some_scores(n_random=15, seed=1):
    """Nothing, constants, ties, and numbers of several sizes."""
    rng = np.random.default_rng(seed)
    yield np.zeros(N)
    yield np.full(N, 1e-3)
    yield np.full(N, -2.0)
    yield 3.0 * LABELS
    yield rng.integers(-2, 3, size=N).astype(float)
    for size in rng.choice([0.1, 1.0, 10.0], size=n_random):
        yield size * rng.normal(size=N)


def some_cuts(risk, count=6, seed=2):
    """Different cuts, none of them zero, with their packed form."""
    rng = np.random.default_rng(seed)
    cuts = {}
    while len(cuts) < count:
        cut = risk.cut(rng.normal(size=N))
        if np.any(cut.delta):
            cuts[cut.delta.tobytes()] = cut
    cuts = list(cuts.values())
    return cuts, np.array([risk.pack(cut.delta) for cut in cuts])


def some_point(risk, C, share=1.0, seed=3):
    """A feasible dual point of weighted cuts, its v and the cuts' own gain."""
    cuts, packed = some_cuts(risk)
    alpha = share * C * np.random.default_rng(seed).dirichlet(np.ones(len(cuts)))
    v = sum(weight * cut.delta for weight, cut in zip(alpha, cuts, strict=True))
    gain = sum(weight * cut.loss for weight, cut in zip(alpha, cuts, strict=True))
    return risk.dual_point(alpha, packed, C), v, gain


@every
def test_a_cut_is_a_subgradient(risk):
    """R(s') >= q - <delta, s'>, with equality at s."""
    for here in some_scores():
        cut, value = risk.cut(here), risk.value(here)
        assert cut.value(here) == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert value >= 0.0
        for there in some_scores(8, seed=4):
            assert cut.value(there) <= risk.value(there) + 1e-9 * max(1.0, risk.value(there))


@losses
def test_the_risk_of_a_loss_is_its_weighted_sum(risk):
    weights = np.ones(N) if risk.weights is None else risk.weights
    for scores in some_scores():
        each = [risk.loss.value(risk.y[i : i + 1], scores[i : i + 1])[0] for i in range(N)]
        assert risk.value(scores) == pytest.approx(weights @ each)
        if risk.is_smooth:
            curvatures = risk.curvatures(scores)
            assert_allclose(curvatures, weights * risk.loss.curvature(risk.y, scores))
    assert risk.is_smooth == risk.loss.is_smooth


@every
def test_where_there_is_no_risk_there_is_no_cut(risk):
    """The zero cut, which no pool takes. Scores so large leave the logistic loss no digit, too."""
    scores = risk.y if risk.y is TARGETS else 1000.0 * LABELS
    cut = risk.cut(scores)
    assert risk.value(scores) == 0.0
    assert cut.loss == 0.0
    assert not np.any(cut.delta)


@every
def test_cuts_are_packed_without_loss(risk):
    cuts, packed = some_cuts(risk)
    for cut, kept in zip(cuts, packed, strict=True):
        assert_array_equal(risk.unpack(kept), cut.delta)
        assert risk.cut_loss(cut.delta) == pytest.approx(cut.loss, rel=1e-12, abs=1e-12)
    if risk.flip_values is None:
        assert packed.dtype == np.float64
        assert packed.shape == (6, N)
    else:
        assert packed.dtype == np.uint8
        assert packed.shape == (6, 2)
    alpha = np.array([0.3, 0.0, 1.5, 0.0, 0.1, 0.2])
    dense = sum(weight * cut.delta for weight, cut in zip(alpha, cuts, strict=True))
    assert_allclose(risk.combine(alpha, packed), dense, atol=1e-14)
    assert_array_equal(risk.combine(np.zeros(0), packed[:0]), np.zeros(N))


def test_cuts_of_labellings_and_of_the_hinge_take_a_bit_an_example():
    for name, risk in RISKS.items():
        as_bits = not name.startswith(("roc_auc", "average_precision"))
        if isinstance(risk, LossRisk):
            as_bits = name.startswith("Hinge")
        assert (risk.flip_values is not None) == as_bits, name


@CHECKED
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_bits_round_trip(entries):
    """Any length, multiple of eight or not."""
    y = np.array([1.0 if positive else -1.0 for positive, _ in entries])
    flipped = np.array([flip for _, flip in entries])
    risk = LossRisk(get_loss("hinge"), y)
    delta = np.where(flipped, y, 0.0)
    packed = risk.pack(delta)
    assert packed.dtype == np.uint8
    assert packed.size == -(-y.size // 8)
    assert_array_equal(risk.unpack(packed), delta)
    assert_allclose(risk.combine(np.array([2.5]), packed[None]), 2.5 * delta)
    numbers = LossRisk(get_loss("logistic"), y)
    assert_array_equal(numbers.unpack(numbers.pack(delta / 3)), delta / 3)


class TestDualPoints:
    """``gain - <v, s> <= C R(s)`` for every s: that is what makes the bound right."""

    @every
    @pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
    @pytest.mark.parametrize("share", [1.0, 0.4])
    def test_weighted_cuts_are_below_the_risk(self, risk, C, share):
        point, v, of_cuts = some_point(risk, C, share)
        gain, vector = risk.checked_dual(point, C)
        assert_allclose(vector, v, atol=1e-12 * C)
        assert_allclose(risk.dual_vector(point, C), v, atol=1e-12 * C)
        assert gain >= of_cuts - 1e-9 * C * max(1.0, abs(of_cuts))
        assert risk.gain_of_cuts(of_cuts, v, C) == pytest.approx(gain, rel=1e-9, abs=1e-9 * C)
        for scores in some_scores(30):
            assert gain - vector @ scores <= C * risk.value(scores) * (1 + 1e-9) + 1e-9 * C

    @every
    def test_all_of_the_weight_on_one_cut_is_tight_there(self, risk):
        for scores in some_scores():
            cut = risk.cut(scores)
            point = risk.dual_point(np.array([2.0]), risk.pack(cut.delta)[None], 2.0)
            gain, v = risk.checked_dual(point, 2.0)
            assert gain - v @ scores == pytest.approx(2.0 * risk.value(scores), rel=1e-9, abs=1e-8)

    @every
    def test_no_dual_point_proves_zero(self, risk):
        for C in (0.1, 10.0):
            gain, v = risk.checked_dual(risk.no_dual_point(), C)
            assert gain == 0.0
            assert_array_equal(v, np.zeros(N))
            assert_array_equal(risk.dual_vector(risk.no_dual_point(), C), np.zeros(N))

    @losses
    def test_any_slopes_in_their_range(self, risk):
        """Fenchel and Young, with the bound attained at scores that have these slopes."""
        low, high = risk.loss.slope_range(risk.y)
        rng = np.random.default_rng(7)
        for C in (0.1, 10.0):
            for _ in range(10):
                slopes = np.clip(3.0 * rng.normal(size=N), low, high)
                gain, v = risk.checked_dual(Slopes(slopes), C)
                assert_allclose(v, -C * risk.row_weights * slopes)
                for scores in some_scores(10):
                    assert gain - v @ scores <= C * risk.value(scores) + 1e-9 * C

    @losses
    @pytest.mark.parametrize("size", [0.3, 1.0])
    def test_best_multiple_against_a_search(self, risk, size):
        X = np.random.default_rng(8).normal(size=(N, 15))
        problem = make_problem(X, risk.y, loss=risk.loss, budget=3, C=0.7)
        rng = np.random.default_rng(1)
        slopes = risk.clipped(size * risk.slopes(rng.normal(size=N)))
        correlations = problem.design.correlate(risk.vector(slopes, 0.7))
        strength = problem.norm.dual_squared(correlations)

        def dual(theta):
            inside = risk.clipped(theta * slopes)
            return 0.7 * risk.gain(inside) - 0.5 * theta**2 * strength

        theta, value = risk.best_multiple(slopes, strength, 0.7)
        largest = min(risk.loss.largest_multiple(risk.y, slopes), 100.0)
        best = -minimize_scalar(lambda t: -dual(t), bounds=(0, largest), method="bounded").fun
        assert value == pytest.approx(dual(theta), rel=1e-12)
        assert value >= dual(1.0)
        assert value <= best * (1 + 1e-6) + 1e-9
        assert value >= best - (0.05 if risk.loss.name == "logistic" else 1e-5) * abs(best)

    @losses
    def test_no_multiple_of_what_is_flat_or_infinite(self, risk):
        assert risk.best_multiple(np.zeros(N), 0.0, 0.7) == (1.0, 0.0)
        slopes = risk.slopes(np.zeros(N))
        assert risk.best_multiple(slopes, np.inf, 0.7) == (1.0, -np.inf)


def assert_refused(risk, message, *points):
    for point in points:
        with pytest.raises(ValueError, match=message):
            risk.checked_dual(point, 1.0)


class TestRefusedCuts:
    @measures
    def test_of_the_wrong_kind_or_shape(self, risk):
        others = (Slopes(np.zeros(N)), DualPoint(), np.zeros(N), None)
        assert_refused(risk, "dual_point must hold cuts with weights", *others)
        alpha, cuts = (point := some_point(risk, 1.0)[0]).alpha, point.cuts
        assert_refused(
            risk,
            r"dual_point.alpha has shape .* they must be",
            CutWeights(alpha[:-1], cuts),
            CutWeights(alpha, cuts[:-1]),
            CutWeights(alpha, cuts[:, :-1]),
            CutWeights(alpha, cuts[0]),
            CutWeights(alpha[:, None], cuts),
            CutWeights(alpha, np.zeros((0, 0))),
        )

    @measures
    def test_with_weights_that_are_not_feasible(self, risk):
        point, _, _ = some_point(risk, 1.0)
        for position, value in ((0, -1e-6), (1, np.nan), (2, np.inf), (0, 1.1)):
            alpha = point.alpha.copy()
            alpha[position] = value
            wrong = CutWeights(alpha, point.cuts)
            assert_refused(risk, r"dual_point.alpha must be non-negative and sum", wrong)
        with pytest.raises(ValueError, match=r"sum to at most C=0\.5"):
            risk.checked_dual(point, 0.5)
        # Rounding of the sum is forgiven.
        risk.checked_dual(CutWeights(point.alpha * (1 + 1e-12), point.cuts), 1.0)

    @measures
    def test_that_are_no_cuts(self, risk):
        alpha, cuts = (point := some_point(risk, 1.0)[0]).alpha, point.cuts
        if risk.flip_values is not None:
            of_numbers = CutWeights(alpha, cuts.astype(float))
            assert_refused(risk, "labellings are bits, uint8", of_numbers)
            return
        wrong = [CutWeights(alpha, factor * cuts) for factor in (50.0, -1.0, np.nan)]
        parts = CutWeights(alpha, 0.37 * cuts)
        if risk.weights is None:
            wrong.append(parts)
        else:
            # With weights of any size a part of a swap is a mixture of rankings like any other.
            gain, v = risk.checked_dual(parts, 1.0)
            assert all(gain - v @ scores <= risk.value(scores) + 1e-9 for scores in some_scores())
        assert_refused(risk, "delta", *wrong)

    @pytest.mark.parametrize("name", ["prec@4", "rec@2p", "prbep"])
    def test_labellings_that_do_not_compete(self, name):
        """One false alarm for every negative and no missed positive: too many alarms."""
        flips = LABELS > 0 if name == "prec@4" else LABELS < 0
        alone = CutWeights(np.array([0.5]), np.packbits(flips)[None])
        assert_refused(RISKS[name], f"not admissible for {name}", alone)


class TestRefusedSlopes:
    @losses
    def test_of_the_wrong_kind_or_shape(self, risk):
        others = (CutWeights(np.zeros(0), np.zeros((0, 0))), DualPoint(), np.zeros(N), None)
        assert_refused(risk, "dual_point must hold slopes of the", *others)
        short = map(Slopes, (np.zeros(N - 1), np.zeros((N, 1)), np.zeros(0)))
        assert_refused(risk, rf"has shape .* there are {N} rows", *short)

    @losses
    def test_that_are_no_slopes(self, risk):
        low, high = risk.loss.slope_range(risk.y)
        wrong = [np.full(N, np.nan), np.full(N, np.inf), np.full(N, -np.inf)]
        for beyond in (high[3] + 0.01, low[3] - 0.01):
            if np.isfinite(beyond):
                wrong.append(np.where(np.arange(N) == 3, beyond, 0.0))
        message = r"dual_point.slopes\[[03]\] is .* lie between"
        assert_refused(risk, message, *map(Slopes, wrong))

    @losses
    def test_rounding_is_moved_inside(self, risk):
        low, high = risk.loss.slope_range(risk.y)
        ends = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low, 0.0))
        beyond = ends + 1e-12 * np.where(np.isfinite(high), 1.0, -1.0)
        exact, moved = (risk.checked_dual(Slopes(slopes), 1.0) for slopes in (ends, beyond))
        assert np.isfinite(moved[0])
        assert moved[0] == pytest.approx(exact[0], abs=1e-9)


class TestCutsOfLosses:
    def test_what_is_no_slope_is_refused(self):
        risk = LossRisk(EpsilonInsensitive(), np.zeros(3), np.array([1.0, 2.0, 0.0]))
        assert risk.cut_loss(np.array([1.0, -2.0, 0.0])) == pytest.approx(-0.3)
        with pytest.raises(ValueError, match="not made of slopes of the epsilon_insensitive"):
            risk.cut_loss(np.array([1.5, 0.0, 0.0]))
        with pytest.raises(ValueError, match="not made of slopes"):
            risk.cut_loss(np.array([1.0, 0.0, 0.1]))

    @losses
    def test_any_mixture_of_slopes_is_a_cut(self, risk):
        """Its loss is that of the conjugate, at least the mixture of the cuts' own."""
        cuts, _ = some_cuts(risk, 2)
        mixed = 0.5 * (cuts[0].delta + cuts[1].delta)
        loss = risk.cut_loss(mixed)
        assert loss >= 0.5 * (cuts[0].loss + cuts[1].loss) - 1e-12
        for scores in some_scores():
            assert Cut(mixed, loss).value(scores) <= risk.value(scores) + 1e-9

    def test_a_perfect_fit_has_no_risk_and_no_cut(self):
        risk = LossRisk(Squared(), np.zeros(3), np.ones(3))
        assert risk.value(np.zeros(3)) == 0.0
        assert risk.cut(np.zeros(3)).loss == 0.0
        assert not np.any(risk.cut(np.zeros(3)).delta)


class TestHingeAndAccuracy:
    """The sum of the hinge losses is the risk of the accuracy."""

    @pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
    def test_the_same_values_cuts_bounds_and_contrast(self, weights):
        hinge = LossRisk(Hinge(), LABELS, weights)
        accuracy = MeasureRisk(get_measure("accuracy"), LABELS, weights)
        assert_array_equal(hinge.flip_values, accuracy.flip_values)
        assert_allclose(hinge.contrast(), accuracy.contrast())
        for scores in (*some_scores(), *some_scores(seed=9)):
            expected = hinge.row_weights @ np.maximum(0.0, 1.0 - LABELS * scores)
            cuts = [risk.cut(scores) for risk in (hinge, accuracy)]
            for risk, cut in zip((hinge, accuracy), cuts, strict=True):
                assert risk.value(scores) == pytest.approx(expected)
                assert cut.value(scores) == pytest.approx(expected)
            # Away from the kink the subgradient is unique.
            if np.all(np.abs(1.0 - LABELS * scores) > 1e-9):
                assert_allclose(cuts[0].delta, cuts[1].delta)
        alpha = np.random.default_rng(3).dirichlet(np.ones(6))
        packed = some_cuts(accuracy)[1]
        gains, vectors = zip(
            *(risk.checked_dual(risk.dual_point(alpha, packed, 1.0), 1.0)
              for risk in (hinge, accuracy)),
            strict=True,
        )  # fmt: skip
        assert gains[0] == pytest.approx(gains[1])
        assert_allclose(*vectors, atol=1e-14)

    @pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
    @pytest.mark.parametrize("sets", [{}, {"intercept_scaling": 1.0, "always_features": [4]}])
    def test_the_bundle_ends_at_the_same_objective(self, data, is_weighted, sets):
        X, y = data(3, n_samples=50, n_features=20, noise=1.5)
        weights = np.random.default_rng(4).uniform(0.0, 2.0, size=50) if is_weighted else None
        trackers = []
        for kind in ({"loss": "hinge"}, {"measure": "accuracy"}):
            problem = make_problem(X, y, budget=4, C=0.3, sample_weight=weights, **kind, **sets)
            tracker = Tracker(Limits(1e-5, 500), problem.risk.no_dual_point())
            bundle = run_bundle(problem, tracker, None)
            assert bundle.pool.proving_cuts().cuts.dtype == np.uint8
            assert tracker.gap <= 1e-5
            trackers.append(tracker)
        hinge, accuracy = trackers
        assert hinge.primal == pytest.approx(accuracy.primal, rel=1e-5)
        assert max(hinge.dual, accuracy.dual) <= min(hinge.primal, accuracy.primal) * (1 + 1e-12)
        assert isinstance(hinge.dual_point, Slopes)
        assert isinstance(accuracy.dual_point, CutWeights)


class TestContrast:
    @every
    def test_it_tells_high_y_from_low_y(self, risk):
        contrast = risk.contrast()
        assert contrast.sum() == pytest.approx(0.0, abs=1e-12)
        high = risk.y > (np.median(TARGETS) if risk.y is TARGETS else 0.0)
        assert contrast[high].sum() == pytest.approx(1.0)
        assert np.all(contrast[high] >= 0.0)
        assert np.all(contrast[~high] <= 0.0)
        if risk.weights is not None and risk.y is not TARGETS:
            assert_array_equal(contrast == 0.0, risk.weights == 0.0)

    def test_targets_that_are_all_equal(self):
        risk = LossRisk(Squared(), np.full(4, 3.0))
        assert_allclose(risk.contrast(), np.full(4, -0.25))


def test_a_measure_is_checked_against_the_labels():
    with pytest.raises(ValueError, match="k=14 asks for the 14 highest scores"):
        MeasureRisk(get_measure("prec@14"), LABELS)
    with pytest.raises(ValueError, match="f1 takes no sample_weight"):
        MeasureRisk(get_measure("f1"), LABELS, WEIGHTS)


def test_weights_that_leave_a_class_out_are_refused():
    weights = np.where(LABELS > 0, 0.0, 1.0)
    for name in ("accuracy", "balanced_accuracy", "roc_auc"):
        with pytest.raises(ValueError, match="positive"):
            MeasureRisk(get_measure(name), LABELS, weights)


def test_a_dual_point_may_hold_cuts_without_weight_and_keeps_none():
    risk = MeasureRisk(get_measure("f1"), LABELS)
    cuts = [risk.cut(np.full(N, score)) for score in (0.0, 1e-3)]
    packed = np.array([risk.pack(cut.delta) for cut in cuts])
    gain, v = risk.checked_dual(CutWeights(np.array([0.0, 0.5]), packed), 1.0)
    assert gain == 0.5 * cuts[1].loss
    assert_array_equal(v, 0.5 * cuts[1].delta)
    kept = risk.dual_point(np.array([0.0, 0.5]), packed, 1.0)
    assert_array_equal(kept.alpha, [0.5])
    assert_array_equal(kept.cuts, packed[1:])


def test_the_contrast_of_targets_is_that_of_their_halves():
    contrast = LossRisk(Squared(), np.array([5.0, -1.0, 2.0, 9.0])).contrast()
    assert_allclose(contrast, [0.5, -0.5, -0.5, 0.5])


def test_scores_are_cut_elsewhere_only_where_the_model_may_move():
    """Without an intercept F1 stays where it was trained; the k highest are always k."""
    scores = np.arange(N, dtype=float)
    f1, top = (MeasureRisk(get_measure(name), LABELS) for name in ("f1", "prec@4"))
    best = get_measure("f1").threshold(LABELS, scores, 99.0)
    assert best != 99.0
    assert f1.threshold(scores, 99.0, is_free=False) == 99.0
    assert f1.threshold(scores, 99.0, is_free=True) == best
    assert top.threshold(scores, 99.0, is_free=False) == N - 4.5
