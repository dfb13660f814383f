"""``save`` and ``load``: the fitted state of an estimator as plain data, for files and pickles.

Pickles hold the same plain state as files, so that skops needs to trust the estimators themselves
and nothing else of this package.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from dataclasses import is_dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from scoresieve._record import Known, Record
from scoresieve.estimators.persistence.fields import Field, named
from scoresieve.estimators.persistence.file import read_model, write_model

#: Default limit on the dense weights of a loaded model.
MAX_BYTES = 2**30
#: The entry of a file that describes how the rows of other files become X.
INPUT = "input"
#: What reads and writes this entry for pipelines; it builds on this module, and is asked for by
#: this name.
TABLES = "scoresieve.tables.encoding"
PACKAGE = "scoresieve"
#: Every estimator of this package whose module has been imported, by the part that defines it.
CLASSES: dict[tuple[str, str], Any] = {}

#: Parameters that may be objects with a name.
_NAMED = {name: named(name) for name in ("loss", "measure")}
_OUTPUTS = (None, "default", "pandas", "polars")


class PersistenceMixin:
    """``load(save(model)) == model``, bit by bit, and pickles of plain data.

    Conventions
    -----------
    * A class lists in ``_saved`` what ``fit`` sets. ``_refresh`` computes derived attributes, which
      are in no file.
    * Callbacks and metadata requests are not saved.
    """

    get_params: Any
    set_output: Any
    _saved: ClassVar[dict[str, Field]] = {}
    #: What ``_refresh`` sets.
    _computed: tuple[str, ...] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if part_of(cls):
            CLASSES[part_of(cls), cls.__name__] = cls

    def _refresh(self) -> None:
        """Compute what follows from the saved state."""

    @classmethod
    def _required(cls) -> list[str]:
        """What every fitted model has."""
        return [name for name, part in cls._saved.items() if not part.optional]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state = {name: value for name, value in state.items() if name not in self._computed}
        plain = {k: part.plain(state[k]) for k, part in self._saved.items() if k in state}
        return state | plain

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = {k: part.value(state[k]) for k, part in self._saved.items() if k in state}
        super().__setstate__(state | values)  # type: ignore[misc]
        if state.keys() >= {*self._required()}:
            self._refresh()

    def save(self, path: str | os.PathLike, *, with_certificate: bool = False) -> None:
        """Write the fitted model to one file of JSON and arrays for :func:`load`.

        The file holds all parameters and everything that ``predict`` needs, but no code. It
        replaces an older file only when it is complete.

        Parameters
        ----------
        path : path
            Any file name.
        with_certificate : bool, default=False
            Whether to keep what ``certify`` and a warm start on the same rows need. The file then
            grows with the training rows, otherwise only with the selected features.

        Raises
        ------
        ValueError
            If the measure or the loss is user-defined; pickle the model instead.
        TypeError
            If a parameter is not plain data, for example a pandas object.
        """
        save_with_input(path, self, with_certificate=with_certificate)

    def _without_certificate(self) -> Any:
        """The same model without what grows with the training rows."""
        lean = type(self).__new__(type(self))
        lean.__dict__.update(vars(self))
        for name, part in self._saved.items():
            if name in vars(self):
                setattr(lean, name, part.lean(getattr(self, name)))
        return lean

    def _tree(self) -> dict[str, Any]:
        """Class, parameters and fitted state as plain data."""
        state, parameters = self.__getstate__(), self.get_params(deep=False)
        fitted = {name: state.get(name) for name in self._saved}
        inner = {k: v._tree() for k, v in fitted.items() if isinstance(v, PersistenceMixin)}
        return {
            "part": part_of(type(self)),
            "class": type(self).__name__,
            "parameters": parameters
            | {k: part.plain(parameters[k]) for k, part in _NAMED.items() if k in parameters},
            "output": getattr(self, "_transform_output", None),
            "fitted": fitted | inner,
        }

    @classmethod
    def from_record(cls, record: Record) -> Any:
        """The checked model that the rest of a part of a file describes."""
        entry, parameters = record.record("parameters"), {}
        for name in cls().get_params(deep=False):
            if name in _NAMED and not entry.holds(name, str):
                parameters[name] = _NAMED[name].value(_NAMED[name].check(entry, name))
            else:
                parameters[name] = entry.take(name)
        entry.end()
        model = cls(**parameters)
        output = record.choice("output", _OUTPUTS if hasattr(model, "set_output") else (None,))
        entry = record.record("fitted")
        entry.known = known = Known(record.known.max_bytes, record.known.sizes)
        for name, part in cls._saved.items():
            plain = part.check(entry, name)
            if plain is not None or not part.optional:
                known.values[name] = plain
        entry.end()
        record.end()
        model.__setstate__(known.values)
        return model if output is None else model.set_output(transform=output)

    @classmethod
    def load(cls, path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
        """Read a model of this class that ``save`` wrote; see :func:`scoresieve.load`."""
        model = load(path, max_bytes=max_bytes)
        if type(model) is not cls:
            own = f"{type(model).__name__}.load or " * isinstance(model, PersistenceMixin)
            raise ValueError(
                f"cannot load {os.fspath(path)!r}: it holds a {type(model).__name__}, not a "
                f"{cls.__name__}; use {own}scoresieve.load."
            )
        return model


def part_of(cls: type) -> str:
    """The part of the package that defines a class: "estimators", for example."""
    package, part, *_ = *cls.__module__.split("."), ""
    return part if package == PACKAGE else ""


def model_of(record: Record, kind: type = object) -> Any:
    """The model that a record describes, of this class or a subclass.

    A part of this package is imported when a file names one of its classes; nothing else ever is.
    """
    part = record.take("part", str)
    # A word, and a folder: neither "__main__" nor a way out of the package.
    spec = find_spec(f"{PACKAGE}.{part}") if re.fullmatch("[a-z]+", part) else None
    if spec is not None and spec.submodule_search_locations:
        importlib.import_module(spec.name)
    known: dict[str, Any] = {
        name: cls
        for (at, name), cls in CLASSES.items()
        if at == part and issubclass(cls, kind) and is_dataclass(cls)  # bases have no parameters
    }
    if not known:
        record.refuse("part", f"is {part!r:.40}: no part of that name defines such models.")
    return known[record.choice("class", sorted(known))].from_record(record)


def estimator_field(kind: type) -> Field:
    """A fitted model of this class, which is plain data by itself."""
    return Field(
        lambda record, key: model_of(record.record(key), kind),
        lean=lambda model: model._without_certificate(),
    )


def save_with_input(
    path: str | os.PathLike,
    model: PersistenceMixin,
    input_: dict[str, Any] | None = None,
    *,
    with_certificate: bool = False,
) -> None:
    """``save``, with plain data that describes how rows of files become X."""
    check_is_fitted(model, model._required())
    cls = type(model)
    if CLASSES.get((part_of(cls), cls.__name__)) is not cls:
        raise TypeError(
            f"{cls.__name__} is not a class of scoresieve, so load could not read it; pickle it."
        )
    tree = (model if with_certificate else model._without_certificate())._tree()
    # What is not of the expected form, since somebody changed it, is refused now, not later.
    model_of(Record(tree, "model"))
    write_model(path, tree if input_ is None else tree | {INPUT: input_})


def save(model: Any, path: str | os.PathLike, *, with_certificate: bool = False) -> None:
    """Write a fitted model, or a pipeline of a ``TableEncoder`` and a model, to one file.

    :func:`load` and the command line read it.

    Parameters
    ----------
    model : estimator of this package, or Pipeline
        A pipeline has two steps: a :class:`TableEncoder` or a ``Normalizer(norm="l2")``, and the
        model.
    path : path
        Any file name.
    with_certificate : bool, default=False
        Whether to keep what ``certify`` and a warm start on the same rows need.

    Raises
    ------
    ValueError
        If the pipeline has other steps, or the measure or the loss is user-defined.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from scoresieve import MeasureSVC, TableEncoder, load, save
    >>> table = pd.DataFrame({"age": [31, 40, 47, 52], "city": ["Bern", "Graz", "Bern", "Graz"]})
    >>> model = make_pipeline(TableEncoder(), MeasureSVC(n_features_to_select=1, pos_label="b"))
    >>> model = model.fit(table, ["a", "b", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.scoresieve")
    ...     save(model, path)
    ...     copy = load(path)
    >>> copy.predict(table[["city"]]).tolist()  # the model has no weight on the age
    ['a', 'b', 'a', 'b']
    """
    model, input_ = importlib.import_module(TABLES).taken_apart(model)
    save_with_input(path, model, input_, with_certificate=with_certificate)


def load(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that ``save`` wrote: same class, bitwise identical predictions.

    A model that was fitted on a table is a fitted ``Pipeline`` of a :class:`TableEncoder` and the
    model, whose methods take a data frame; with rows divided by their length, of a ``Normalizer``
    and the model. Files are untrusted data: nothing in them is executed, and anything inconsistent
    is refused.

    Parameters
    ----------
    path : path
    max_bytes : int, default=2**30
        Limit on the memory of the dense weights. Only these can be larger than the file, which
        holds the non-zero weights.

    Raises
    ------
    ValueError
        If the file is damaged, not a model, or of another format version.

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

    def pipeline_of(model: Any, record: Record) -> Any:
        return importlib.import_module(TABLES).pipeline_of(model, record)

    model, pipeline = load_with_input(path, max_bytes=max_bytes, read_input=pipeline_of)
    return model if pipeline is None else pipeline


def load_with_input(
    path: str | os.PathLike,
    *,
    max_bytes: int = MAX_BYTES,
    read_input: Callable[[Any, Record], Any] = lambda model, record: None,
) -> tuple[Any, Any]:
    """Read a model and the additional data of :func:`save_with_input`, or None.

    Parameters
    ----------
    read_input : callable, optional
        ``read_input(model, record)`` checks the plain data and returns the second result.
    """
    try:
        tree = read_model(path)
        input_ = tree.pop(INPUT, None)
        model = model_of(Record(tree, "model", Known(max_bytes)))
        return model, None if input_ is None else read_input(model, Record(input_, INPUT))
    except ValueError as error:
        raise ValueError(f"cannot load {os.fspath(path)!r}: {error}") from error
