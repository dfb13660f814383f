"""``Bags``: from lists, groups and frames, indexing, and errors that name the bag."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import shuffle

from scoresieve.mil import Bags
from scoresieve.mil.bags import as_bags


def dense(bag):
    return bag.toarray() if sp.issparse(bag) else bag


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(dense(one), dense(other))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.coo_matrix, np.ndarray.tolist])
def test_a_list_is_stacked(bags, convert):
    stacked = as_bags([convert(bag) for bag in bags])
    assert_same(stacked, bags)
    assert stacked.shape == (48, 3)
    assert stacked.n_instances == sum(map(len, bags))
    assert_array_equal(stacked.sizes, [len(bag) for bag in bags])
    assert sp.issparse(stacked.instances) == (convert in (sp.csr_array, sp.coo_matrix))
    assert repr(stacked) == f"Bags(48 bags, {stacked.n_instances} instances, 3 columns)"


def test_one_sparse_bag_makes_all_sparse(bags):
    assert_same(as_bags([sp.csc_matrix(bags[0]), *bags[1:]]), bags)


def test_an_array_of_three_dimensions_is_a_list():
    X = np.arange(24.0).reshape(4, 3, 2)
    assert_same(as_bags(X), list(X))


@pytest.mark.parametrize(
    ("dtype", "kept"), [("float32", "float32"), ("int8", "float64"), ("bool", "float64")]
)
def test_single_precision_is_kept(dtype, kept):
    assert as_bags([np.ones((2, 2), dtype=dtype)]).instances.dtype == kept


@settings(derandomize=True, deadline=None, database=None, max_examples=50)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    chosen=st.lists(st.integers(0, 7), min_size=1, max_size=12),
)
def test_chosen_bags_are_those_of_a_list(sizes, chosen):
    listed = [np.full((size, 1), float(place)) for place, size in enumerate(sizes)]
    bags = as_bags(listed)
    chosen = [place % len(sizes) for place in chosen]
    some = bags[chosen]
    assert_same(some, [listed[place] for place in chosen])
    assert_array_equal(some.names, chosen)
    for instance in range(some.n_instances):
        bag, position = some.origin(instance)
        assert some[bag][position] == some.instances[instance]
        assert some.offsets[bag] + position == instance


def test_slices_masks_and_negative_numbers(bags):
    stacked = as_bags(bags)
    assert_same(stacked[3:9:2], bags[3:9:2])
    assert_same(stacked[np.arange(48) % 5 == 0], bags[::5])
    assert_same(stacked[[-1]], bags[-1:])
    assert_array_equal(stacked[-2], bags[-2])
    assert_array_equal(stacked[np.int64(3)], bags[3])
    with pytest.raises(IndexError):
        stacked[48]
    for wrong in ([], [[0, 1]], slice(3, 3)):
        with pytest.raises(IndexError, match="at least one; got"):
            stacked[wrong]


def test_each_instance_alone(bags):
    alone = as_bags(bags).alone()
    assert_array_equal(alone.sizes, 1)
    assert_array_equal(alone.instances, np.concatenate(bags))


def test_tools_of_scikit_learn_take_them_like_a_list(bags, binary):
    stacked = as_bags(bags)
    parts = train_test_split(stacked, binary, random_state=0, stratify=binary)
    expected = train_test_split(bags, binary, random_state=0, stratify=binary)
    for found, part in zip(parts[:2], expected[:2], strict=True):
        assert isinstance(found, Bags)
        assert_same(found, part)
    assert_array_equal(parts[3], expected[3])
    assert_same(shuffle(stacked, random_state=1), shuffle(bags, random_state=1))
    for train, test in StratifiedKFold(3).split(stacked, binary):
        assert_same(stacked[train], [bags[place] for place in train])
        assert len(stacked[test]) == 16


def test_they_survive_a_pickle(bags):
    stacked = pickle.loads(pickle.dumps(Bags.from_list(bags, names=[f"m{k}" for k in range(48)])))
    assert_same(stacked, bags)
    assert stacked.names[7] == "m7"


@pytest.mark.parametrize("convert", [np.asarray, sp.csc_matrix])
def test_groups_are_bags_in_the_order_of_appearance(convert):
    X = np.arange(10.0).reshape(5, 2)
    bags = Bags.from_groups(convert(X), ["b", "c", "b", "a", "c"])
    assert bags.names.tolist() == ["b", "c", "a"]
    assert_same(bags, [X[[0, 2]], X[[1, 4]], X[[3]]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_names_its_bags(library):
    frame = pytest.importorskip(library).DataFrame(
        {
            "molecule": ["aspirin", "water", "aspirin"],
            "x": [1.0, 2.0, 3.0],
            "y": [0, 1, 2],
            "active": [1, 0, 1],
        }
    )
    bags, labels = Bags.from_dataframe(frame, bag="molecule", label="active")
    assert bags.names.tolist() == ["aspirin", "water"]
    assert_same(bags, [[[1.0, 0.0], [3.0, 2.0]], [[2.0, 1.0]]])
    assert_array_equal(labels, [1, 0])
    only = Bags.from_dataframe(frame, bag="molecule", columns=["y"])
    assert_same(only, [[[0.0], [2.0]], [[1.0]]])
    with pytest.raises(ValueError, match="no column 'mass'; it has 'molecule', 'x', 'y', 'active'"):
        Bags.from_dataframe(frame, bag="mass")
    with pytest.raises(ValueError, match="no column 'z'"):
        Bags.from_dataframe(frame, bag="molecule", columns=["x", "z"])


def test_a_bag_with_two_labels_is_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"bag": ["a", "b", "a"], "x": [1.0, 2.0, 3.0], "label": [1, 0, 0]})
    with pytest.raises(ValueError, match=r"bag 'a' has the labels .*1.* and .*0.*; all rows"):
        Bags.from_dataframe(frame, bag="bag", label="label")


ONES = np.ones((2, 3))


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        ([], "bags is empty; give at least one"),
        ([ONES, np.empty((0, 3))], "bag 1 is empty; leave it out"),
        ([ONES, sp.csr_array((0, 3))], "bag 1 is empty"),
        ([ONES, ONES, np.ones((2, 4))], "bag 2 has 4 columns, but bag 0 has 3"),
        ([ONES, [[1.0, 2.0, 3.0], [1.0]]], "bag 1: instances cannot be read as a 2-D array"),
        ([ONES, np.ones(3)], r"bag 1: instances must be 2-D, .* got shape \(3,\)"),
        ([ONES, 5.0], r"bag 1: instances must be 2-D, .* got shape \(\)"),
        ([np.ones((2, 0))], "bag 0: instances have no columns"),
        ([ONES, [["a", "b", "c"]]], "bag 1: instances must hold real numbers; got dtype"),
        ([ONES, 1j * ONES], "bag 1: instances must hold real numbers; got dtype complex"),
        ([ONES, [[1.0, 2.0, 3.0], [0.0, np.nan, 0.0]]], "bag 1 has NaN or .* in instance 1"),
        ([ONES, sp.csr_array([[0.0, 0.0, np.inf]])], "bag 1 has NaN or .* in instance 0"),
        (np.ones((3, 4)), r"one 2-D array of shape \(3, 4\); .* \[array\] for a single bag"),
        (sp.csr_array(np.ones((3, 4))), "must be a list of 2-D arrays, or Bags; got csr_array"),
        ("bags", "must be a list of 2-D arrays, or Bags; got str"),
        (3, "must be a list of 2-D arrays, or Bags; got int"),
    ],
)
def test_wrong_bags_are_refused_by_name(bags, message):
    with pytest.raises(ValueError, match=message):
        as_bags(bags)


def test_numbers_whose_sum_overflows_are_fine():
    assert len(as_bags([[[1e308], [1e308]], [[-1e308]]])) == 2


def test_the_name_of_a_bag_is_in_the_message():
    X = [[1.0], [np.nan]]
    with pytest.raises(ValueError, match=r"bag 1 \(aspirin\) has NaN"):
        Bags.from_groups(X, ["water", "aspirin"])


@pytest.mark.parametrize(
    "offsets", [[0, 2], [1, 3], [0, 2, 1, 3], [0.0, 3.0], [[0, 3]], [3], "03", [0, 1, 4]]
)
def test_wrong_offsets_are_refused(offsets):
    with pytest.raises(ValueError, match="offsets must be integers that rise from 0 to the 3"):
        Bags(np.ones((3, 2)), offsets)


def test_offsets_that_make_an_empty_bag_are_refused():
    with pytest.raises(ValueError, match="bag 1 is empty"):
        Bags(np.ones((3, 2)), [0, 2, 2, 3])


def test_other_wrong_arguments_are_refused(bags):
    with pytest.raises(ValueError, match=r"names has shape \(2,\), but there are 48 bags"):
        Bags.from_list(bags, names=["a", "b"])
    with pytest.raises(ValueError, match=r"groups has shape \(2,\), but X has 3 rows"):
        Bags.from_groups(np.ones((3, 1)), [0, 1])
