"""The classes that a file may name: those that enter themselves here when they are defined."""

from __future__ import annotations

import importlib
from typing import Any

#: Every estimator of this package whose module has been imported.
CLASSES: dict[str, Any] = {}

#: Where further ones are defined. These sub-packages build on this one, which must not import them:
#: it asks for one of them by this table, and only when a file names a class of it.
DEFINED_IN = {
    "scoresieve.mil": {"BagMeasureSVC", "BagMeasureSVCCV", "MILESEmbedding"},
    "scoresieve.baselines": {
        *("FGM", "FSMulti", "L0SVM", "L1BundleSVM", "L1SVM", "MILES", "MeanInstanceSVM", "NMMKL"),
        *("SVMPerf", "SVMRFE", "SquaredL1SVM"),
    },
}


def enter(cls: type) -> None:
    """Make a class known if it is of this package and, unlike a base, has its own parameters."""
    if cls.__module__.startswith("scoresieve.") and "__init__" in vars(cls):
        CLASSES[cls.__name__] = cls


def known_names() -> list[str]:
    """What a file may name."""
    return sorted({*CLASSES}.union(*DEFINED_IN.values()))


def find_class(name: str) -> Any:
    """The class of a known name."""
    for module, names in DEFINED_IN.items():
        if name in names:
            importlib.import_module(module)
    return CLASSES[name]
