"""The data sets of the experiments: the files of the data folder, or small generated sets."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from scoresieve.mil import MILESEmbedding
from studies.common import data as files
from studies.common.bags import load_image
from studies.common.data import DataFolder, Split
from studies.paper import generated
from studies.paper.context import Context


def missing_files(context: Context, name: str) -> list[str]:
    """One sentence for each file of a data set that is not there."""
    if context.generated:
        return []
    problems = files.missing_files(context.folder, name)
    return [f"{name} is left out: {problem}" for problem in problems]


@lru_cache(maxsize=2)
def load(context: Context, name: str) -> Split:
    """The data set; :class:`studies.common.data.Missing` if a file is not there.

    Parameters
    ----------
    context : Context
    name : str
        A key of ``studies.common.data.FILES``.
    """
    if context.generated:
        return generated.MAKERS[name]()
    return embedded_images(context.folder) if name == "image" else files.load(context.folder, name)


def embedded_images(folder: DataFolder) -> Split:
    """The MILES embedding of the images, all training instances as prototypes."""
    images = load_image(folder)
    embedding = MILESEmbedding(sigma="median").fit(images.bags)
    X, X_test = (np.asarray(embedding.transform(bags)) for bags in (images.bags, images.test_bags))
    return Split(X, images.y, X_test, images.y_test)
