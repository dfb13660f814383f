"""``MILESEmbedding``: a double loop, memory, prototypes, sigma and errors."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from scoresieve import MeasureSVC
from scoresieve.mil import BagMeasureSVC, Bags, MILESEmbedding, _similarity
from scoresieve.mil.bags import as_bags


def by_loops(bags, prototypes, sigma):
    """The definition, number by number."""
    return [
        [max(np.exp(-np.sum((x - k) ** 2) / (2 * sigma**2)) for x in bag) for k in prototypes]
        for bag in bags
    ]


def cosines(bags, prototypes):
    def cosine(x, k):
        length = np.linalg.norm(x) * np.linalg.norm(k)
        return 0.0 if length == 0 else x @ k / length

    return [[max(cosine(x, k) for x in bag) for k in prototypes] for bag in bags]


def random_bags(seed, n_bags, n_columns, largest, shift=0.0):
    rng = np.random.default_rng(seed)
    return [
        shift + rng.normal(size=(rng.integers(1, largest + 1), n_columns)) for _ in range(n_bags)
    ]


FORMATS = {"dense": np.asarray, "csr": sp.csr_array, "float32": np.float32}


@pytest.mark.parametrize("of_train", FORMATS)
@pytest.mark.parametrize("of_test", FORMATS)
def test_it_is_the_double_loop(bags, of_train, of_test):
    train, test = bags[:20], bags[20:]
    embedding = MILESEmbedding(sigma=1.5).fit([FORMATS[of_train](bag) for bag in train])
    prototypes = np.concatenate(train)
    close = {"rtol": 1e-4, "atol": 1e-5} if "float32" in (of_train, of_test) else {"rtol": 1e-10}
    found = embedding.transform([FORMATS[of_test](bag) for bag in test])
    assert found.dtype == np.float64
    assert_allclose(found, by_loops(test, prototypes, 1.5), **close)
    assert_array_equal(embedding.prototype_indices_, np.arange(len(prototypes)))
    assert embedding.sigma_ == 1.5


@settings(derandomize=True, deadline=None, database=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n_bags=st.integers(1, 6),
    n_columns=st.integers(1, 4),
    largest=st.integers(1, 5),
    block=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    sparse=st.booleans(),
)
def test_every_size_of_a_block_gives_the_same(seed, n_bags, n_columns, largest, block, sparse):
    """Blocks end anywhere in a bag, and one-instance bags are among them."""
    listed = random_bags(seed, n_bags, n_columns, largest)
    bags = as_bags([sp.csr_array(bag) for bag in listed] if sparse else listed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_similarity, "block_shape", lambda *_: block)
        found = _similarity.nearest_squared(bags, bags.instances, 10**6)
        nearest_cosine = _similarity.greatest_cosine(bags, bags.instances, 10**6)
    prototypes = np.concatenate(listed)
    direct = [[min(np.sum((x - k) ** 2) for x in bag) for k in prototypes] for bag in listed]
    assert_allclose(found, direct, rtol=1e-9, atol=1e-11)
    assert_allclose(nearest_cosine, cosines(listed, prototypes), rtol=1e-9, atol=1e-12)


def test_numbers_far_from_zero_keep_their_digits():
    bags = random_bags(0, 5, 3, 4, shift=1e6)
    found = MILESEmbedding(sigma=1.0).fit_transform(bags)
    assert_allclose(found, by_loops(bags, np.concatenate(bags), 1.0), rtol=1e-6)


def test_a_bag_is_as_similar_as_can_be_to_its_own_instances(bags):
    stacked = as_bags(bags)
    similarity = MILESEmbedding().fit_transform(stacked)
    own = np.repeat(np.arange(len(bags)), stacked.sizes)
    assert_allclose(similarity[own, np.arange(stacked.n_instances)], 1.0, rtol=1e-12)
    assert similarity.max() <= 1.0


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_cosine(bags, convert):
    train = [np.zeros((1, 3)), *bags[:10]]
    embedding = MILESEmbedding(metric="cosine").fit([convert(bag) for bag in train])
    expected = cosines(train, np.concatenate(train))
    assert_allclose(embedding.transform([convert(bag) for bag in train]), expected, atol=1e-12)
    assert embedding.sigma_ is None


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("prototypes", ["sample", "kmeans"])
def test_fewer_prototypes_are_instances(bags, prototypes, convert):
    listed = [convert(bag) for bag in bags]
    embedding = MILESEmbedding(1.0, n_prototypes=7, prototypes=prototypes).fit(listed)
    numbers = embedding.prototype_indices_
    assert np.all(np.diff(numbers) > 0)
    assert numbers.size == 7
    assert_allclose(
        embedding.transform(listed),
        by_loops(bags, np.concatenate(bags)[numbers], 1.0),
        rtol=1e-4,
        atol=1e-5,
    )
    again = clone(embedding).fit(listed)
    assert_array_equal(again.prototype_indices_, numbers)
    other = clone(embedding).set_params(random_state=3).fit(listed)
    assert prototypes == "kmeans" or not np.array_equal(other.prototype_indices_, numbers)


def test_kmeans_finds_the_clusters():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    bags = [centres + 0.1 * rng.normal(size=(3, 2)) for _ in range(20)]
    embedding = MILESEmbedding(1.0, n_prototypes=3, prototypes="kmeans").fit(bags)
    assert sorted(embedding.prototype_indices_ % 3) == [0, 1, 2]


@pytest.mark.parametrize("n_prototypes", [None, 1000])
def test_more_prototypes_than_instances_are_all(bags, n_prototypes):
    embedding = MILESEmbedding(n_prototypes=n_prototypes, prototypes="kmeans").fit(bags)
    assert_array_equal(embedding.prototypes_, np.concatenate(bags))
    names = embedding.get_feature_names_out()
    assert names[3] == "instance3"
    assert names.size == embedding.prototypes_.shape[0]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n_bags", "largest"), [(120, 20), (900, 1)])
@pytest.mark.parametrize("max_memory", [1e6, 4e6])
def test_memory_stays_within_the_limit_and_the_result(sparse, n_bags, largest, max_memory):
    bags = as_bags(random_bags(0, n_bags, 30, largest))
    if sparse:
        bags = Bags(sp.csr_array(np.where(bags.instances > 0.8, 1.0, 0.0)), bags.offsets)
    embedding = MILESEmbedding(sigma=5.0, max_memory=max_memory).fit(bags)
    embedding.transform(bags[:2])  # what is imported at the first call is not counted
    tracemalloc.start()
    try:
        result = embedding.transform(bags)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    everything_at_once = 8 * bags.n_instances**2
    assert everything_at_once > max_memory
    assert result.nbytes < peak <= result.nbytes + max_memory


@pytest.mark.parametrize("max_memory", [1e6, 1e7, 1e12])
@pytest.mark.parametrize("shape", [(5000, 9, 15), (3, 1, 100_000), (100_000, 1, 2)])
def test_blocks_fit_into_memory_and_are_not_tiny(max_memory, shape):
    n_bags, n_instances, n_columns = shape
    bags = Bags(
        np.zeros((n_bags * n_instances, n_columns)),
        np.arange(0, n_bags * n_instances + 1, n_instances),
    )
    rows, columns = _similarity.block_shape(bags, bags.instances, int(max_memory))
    numbers = 2 * rows * columns + 3 * (rows + columns) * (n_columns + 1)
    assert rows >= 1
    assert columns >= 1
    if (max_memory, n_columns) == (1e6, 100_000):
        assert (rows, columns) == (1, 1)  # less than this cannot be done at once
    else:
        assert 8 * numbers <= max_memory
    if n_columns < 100_000:
        assert rows * columns >= 10_000


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_median_distance(bags, convert):
    X = np.concatenate(bags)
    pairs = [np.linalg.norm(x - k) for i, x in enumerate(X) for k in X[:i]]
    embedding = MILESEmbedding().fit([convert(bag) for bag in bags])
    assert embedding.sigma_ == pytest.approx(np.median(pairs), rel=1e-10)
    half = MILESEmbedding("0.5*median").fit([convert(bag) for bag in bags])
    assert half.sigma_ == pytest.approx(np.median(pairs) / 2, rel=1e-10)


def test_the_median_of_many_instances_is_that_of_a_sample():
    bags = random_bags(0, 1500, 4, 3)
    X = np.concatenate(bags)
    chosen = np.linspace(0, len(X) - 1, 500).round().astype(int)
    pairs = [np.linalg.norm(X[i] - X[j]) for i in chosen for j in chosen if i < j]
    assert MILESEmbedding().fit(bags).sigma_ == pytest.approx(np.median(pairs), rel=1e-10)


def test_the_median_of_mostly_equal_instances_is_that_of_the_others():
    X = np.full((20, 2), 0.1)
    X[0] += [3.0, 4.0]
    assert MILESEmbedding().fit([X]).sigma_ == pytest.approx(5.0)
    with pytest.raises(ValueError, match="sigma='median' needs instances that differ"):
        MILESEmbedding().fit([np.ones((3, 1))])
    with pytest.raises(ValueError, match="sigma='median' needs instances that differ"):
        MILESEmbedding().fit([np.ones((1, 1))])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0.0}, "sigma must be a positive finite number; got 0.0"),
        ({"sigma": np.nan}, "sigma must be a positive finite number"),
        ({"sigma": "mean"}, "sigma must be .* '0.5.median'; got 'mean'"),
        ({"sigma": "-1*median"}, "sigma must be .* got '-1.median'"),
        ({"sigma": "x*median"}, "sigma must be .* got 'x.median'"),
        ({"metric": "l2"}, r"metric must be one of \['cosine', 'rbf'\]; got 'l2'"),
        ({"prototypes": "best"}, r"prototypes must be one of \['kmeans', 'sample'\]; got 'best'"),
        ({"n_prototypes": 0}, "n_prototypes must be an integer of at least 1; got 0"),
        ({"max_memory": 10}, r"max_memory must be at least 1e\+06 bytes; got 10"),
        ({"max_memory": "1GB"}, "max_memory must be a positive finite number"),
    ],
)
def test_wrong_parameters_are_refused(bags, parameters, message):
    with pytest.raises(ValueError, match=message):
        MILESEmbedding(**parameters).fit(bags)


def test_other_columns_are_refused(bags):
    embedding = MILESEmbedding().fit(bags)
    with pytest.raises(ValueError, match=r"the bags have 2 columns, .* fitted on 3"):
        embedding.transform([np.ones((2, 2))])
    with pytest.raises(NotFittedError):
        MILESEmbedding().transform(bags)


def test_it_is_a_step_of_a_pipeline(bags, binary):
    embedding = MILESEmbedding(1.5)
    model = make_pipeline(embedding, MeasureSVC(n_features_to_select=2, C=5.0)).fit(bags, binary)
    whole = BagMeasureSVC(n_instances_to_select=2, C=5.0, sigma=1.5, tol=0.05).fit(bags, binary)
    assert_allclose(model.decision_function(bags), whole.decision_function(bags), atol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_it_gives_frames(bags, library):
    pytest.importorskip(library)
    embedding = MILESEmbedding(1.5, n_prototypes=4).set_output(transform=library)
    frame = embedding.fit_transform(bags)
    assert list(frame.columns) == [f"instance{k}" for k in embedding.prototype_indices_]
    assert_array_equal(frame.to_numpy(), MILESEmbedding(1.5, n_prototypes=4).fit_transform(bags))


def test_clone_and_pickle(bags):
    embedding = MILESEmbedding("2*median", n_prototypes=9).fit(bags)
    assert clone(embedding).get_params() == embedding.get_params()
    copy = pickle.loads(pickle.dumps(embedding))
    assert_array_equal(copy.transform(bags), embedding.transform(bags))
