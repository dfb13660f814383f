"""``save`` and ``load``: the fitted state of a linear model as plain data, for files and pickles.

Pickles hold the same plain state as files, so that skops needs to trust the class of the model and
no other of this package.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from scoresieve.estimators.persistence.fields import (
    LINEAR_DERIVED,
    LINEAR_FIELDS,
    Field,
    Known,
    plain_measure,
)
from scoresieve.estimators.persistence.file import naming_file, read_model, write_model
from scoresieve.estimators.persistence.record import Record
from scoresieve.measures import Measure, get_measure

#: What the dense weights of a loaded model may take, if the caller does not say otherwise.
MAX_BYTES = 2**30

_OUTPUTS = (None, "default", "pandas", "polars")


class PersistenceMixin:
    """``load(save(model)) == model``, bit by bit, and pickles of plain data.

    Conventions
    -----------
    A class lists what ``fit`` sets in ``_fields`` and ``_derived``, and is listed by name in
    ``loadable_classes``. Callbacks and metadata requests are not part of a file.
    """

    _fields: ClassVar[dict[str, Field]] = LINEAR_FIELDS
    _derived: ClassVar[dict[str, tuple[str, str]]] = LINEAR_DERIVED

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name, (source, _) in self._derived.items():
            if source in state:
                state.pop(name, None)
        for name, part in self._fields.items():
            if state.get(name) is not None:
                state[name] = part.plain(state[name])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name, part in self._fields.items():
            if state.get(name) is not None:
                state[name] = part.value(state[name])
        for name, (source, attribute) in self._derived.items():
            if source in state:
                state[name] = getattr(state[source], attribute)
        super().__setstate__(state)

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to one file of JSON and arrays, which :func:`load` reads.

        The file holds all parameters and fitted attributes, and no code. It replaces an older file
        only when it is complete.

        Parameters
        ----------
        path : path
            Any name will do.

        Raises
        ------
        ValueError
            If the measure is a function of your own.
        TypeError
            If a parameter is no plain data, but a pandas object for example.
        """
        check_is_fitted(self, "coef_")
        name = type(self).__name__
        if loadable_classes().get(name) is not type(self):
            raise TypeError(f"{name} is a class of your own, which load does not know; pickle it.")
        state = self.__getstate__()
        fitted = {key: state.get(key) for key in self._fields}
        _refuse_own_measure(fitted["_settings"]["measure"])
        parameters = self.get_params(deep=False).items()
        tree = {
            "class": name,
            "parameters": {key: _plain_parameter(value) for key, value in parameters},
            "output": getattr(self, "_transform_output", None),
            "fitted": fitted,
        }
        # What is not of the expected form, since somebody changed it, is refused now, not later.
        read_fitted(type(self), Record(fitted, "fitted"), float("inf"))
        write_model(path, tree)

    @classmethod
    def load(cls, path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
        """Read a model of this class that ``save`` wrote; see :func:`scoresieve.load`.

        Parameters
        ----------
        path : path
        max_bytes : int
            What the dense weights may take in memory.

        Returns
        -------
        model
        """
        model = load(path, max_bytes=max_bytes)
        if type(model) is not cls:
            raise ValueError(
                f"cannot load {os.fspath(path)!r}: it holds a {type(model).__name__}, not a "
                f"{cls.__name__}; use {type(model).__name__}.load or scoresieve.load."
            )
        return model


def loadable_classes() -> dict[str, type]:
    """The classes that a file may name; nothing else is ever looked up by name."""
    # Imported here, since these classes are built on this module.
    from scoresieve.estimators.measure_svc import MeasureSVC

    return {"MeasureSVC": MeasureSVC}


def load(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that ``save`` wrote.

    Every method of the model gives the same bits as before. Files are checked as what they are,
    data from elsewhere: nothing in them is executed, and what does not fit is refused.

    Parameters
    ----------
    path : path
    max_bytes : int, default=2**30
        What the dense weights may take in memory. They are the one part of a model that can be
        larger than its file, since only weights other than 0 are written.

    Returns
    -------
    model
        Of the class that was saved.

    Raises
    ------
    ValueError
        If the file is damaged, no model, or of a newer format.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from scoresieve import MeasureSVC, load
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> model = MeasureSVC("f1", budget=2).fit(X, X[:, 0] > 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.scoresieve")
    ...     model.save(path)
    ...     copy = load(path)
    >>> bool(np.all(copy.decision_function(X) == model.decision_function(X)))
    True
    """
    with naming_file(path):
        record = Record(read_model(path), "model")
        cls = loadable_classes()[record.choice("class", tuple(loadable_classes()))]
        parameters = record.record("parameters")
        names = cls().get_params(deep=False)
        model = cls(**{name: _parameter(parameters, name) for name in names})
        parameters.end()
        output = record.choice("output", _OUTPUTS)
        state = read_fitted(cls, record.record("fitted"), max_bytes)
        record.end()
        model.__setstate__(state)
    return model if output is None else model.set_output(transform=output)


def read_fitted(cls: type, record: Record, max_bytes: float) -> dict[str, Any]:
    """The plain state of a model, each field of it checked."""
    known = Known(max_bytes)
    for name, part in cls._fields.items():
        plain = part.read(record, name, known)
        if plain is not None or part.nullable:
            known.plain[name] = plain
    record.end()
    return known.plain


def _plain_parameter(value: Any) -> Any:
    """A measure as a dict with its name, anything else as it is."""
    if not isinstance(value, Measure):
        return value
    _refuse_own_measure(plain_measure(value))
    return {"measure": value.name}


def _parameter(parameters: Record, name: str) -> Any:
    """The inverse of ``_plain_parameter``."""
    value = parameters.take(name)
    if type(value) is not dict:
        return value
    entry = Record(value, f"{parameters.name}.{name}")
    measure = get_measure(entry.take("measure", str))
    entry.end()
    return measure


def _refuse_own_measure(measure: str | Measure) -> None:
    if isinstance(measure, Measure):
        raise ValueError(
            f"measure={measure!r} has no name that gives it back: a function, weights or a class "
            "of your own cannot be in a file of plain data. Pickle the model instead."
        )
