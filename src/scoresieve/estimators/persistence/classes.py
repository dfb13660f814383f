"""The classes that a file may name: those that enter themselves here when they are defined."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

from scoresieve._record import Record

#: Every estimator of this package whose module has been imported.
CLASSES: dict[str, Any] = {}

#: Where further ones are defined. These sub-packages build on this one, which must not import them:
#: it asks for one of them by this table, and only when a file names a class of it.
DEFINED_IN = {
    "scoresieve.mil": {"BagMeasureSVC", "BagScoreSieve", "MILESEmbedding"},
    "scoresieve.baselines": {
        *("FGM", "FSMulti", "L0SVM", "L1BundleSVM", "L1SVM", "MILES", "MeanInstanceSVM", "NMMKL"),
        *("SVMPerf", "SVMRFE", "SquaredL1SVM"),
    },
}


def enter(cls: type) -> None:
    """Make a class known if it is of this package."""
    if cls.__module__.startswith("scoresieve."):
        CLASSES[cls.__name__] = cls


def known_classes() -> set[str]:
    """Names of the estimators whose modules have been imported; bases have no parameters."""
    return {name for name, cls in CLASSES.items() if dataclasses.is_dataclass(cls)}


def model_of(record: Record, *names: str) -> Any:
    """The model that a record describes, of a class with one of these names; of any, without."""
    known = known_classes().union(*DEFINED_IN.values())
    name = record.choice("class", names or sorted(known))
    for module, defined in DEFINED_IN.items():
        if name in defined:
            importlib.import_module(module)
    return CLASSES[name].from_record(record)
