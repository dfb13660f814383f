"""Multiple-instance data: the paper's images, Musk1 and Elephant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoresieve.mil import Bags
from studies.common.data import FILES, DataFolder, permuted

IMAGE_CLASSES = ("desert", "mountains", "sea", "sunset", "trees")


@dataclass(frozen=True, eq=False)
class BagSplit:
    """Training and test bags, and indicators in {-1, +1} of shape (n_bags, n_classes)."""

    bags: Bags
    y: np.ndarray
    test_bags: Bags
    y_test: np.ndarray


def load_image(folder: DataFolder) -> BagSplit:
    """Image: 1,200 training and 800 test bags of nine instances with 15 columns, five classes."""
    with np.load(folder.file(*FILES["image"])) as stored:
        X, Y = stored["X"].astype(np.float64), stored["Y"].astype(np.float64)
    train, test = permuted(len(X))
    bags, test_bags = (Bags.from_list(list(X[rows])) for rows in (train, test))
    return BagSplit(bags, Y[train], test_bags, Y[test])


def load_bags(folder: DataFolder, name: str) -> tuple[Bags, np.ndarray]:
    """Musk1 or Elephant: bags and their labels in {-1, +1}."""
    with np.load(folder.file(f"mil/{name}.npz")) as stored:
        bags = Bags.from_groups(stored["X"].astype(np.float64), stored["bag"])
        return bags, stored["bag_label"].astype(np.int64)[bags.names]
