"""``save`` and ``load``: the fitted state of an estimator as plain data, for files and pickles.

Pickles hold the same plain state as files, so that skops needs to trust the estimators themselves
and nothing else of this package.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from scoresieve._record import Known, Record
from scoresieve.estimators.persistence.classes import CLASSES, enter, model_of
from scoresieve.estimators.persistence.file import read_model, write_model
from scoresieve.estimators.persistence.kinds import Field
from scoresieve.estimators.persistence.named import check_named, plain_named, to_named

#: What the dense weights of a loaded model may take, if the caller does not say otherwise.
MAX_BYTES = 2**30

#: The entry of a file that says how the rows of other files become X.
INPUT = "input"

_OUTPUTS = (None, "default", "pandas", "polars")


class PersistenceMixin:
    """``load(save(model)) == model``, bit by bit, and pickles of plain data.

    Conventions
    -----------
    * A class lists what ``fit`` sets in ``_fields``, and computes in ``_derived`` what follows from
      that and is therefore in no file.
    * Callbacks and metadata requests are not part of a file.
    """

    get_params: Any
    set_output: Any
    _fields: ClassVar[dict[str, Field]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        enter(cls)

    def _derived(self) -> dict[str, Any]:
        """Fitted attributes by name that follow from the fields."""
        return {}

    @classmethod
    def _required(cls) -> list[str]:
        """What every fitted model has."""
        return [name for name, part in cls._fields.items() if not part.optional]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        derived = self._derived() if state.keys() >= {*self._required()} else ()
        state = {name: value for name, value in state.items() if name not in derived}
        plain = {k: part.to_plain(state[k]) for k, part in self._fields.items() if k in state}
        return state | plain

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = {k: part.to_value(state[k]) for k, part in self._fields.items() if k in state}
        super().__setstate__(state | values)  # type: ignore[misc]
        if state.keys() >= {*self._required()}:
            self.__dict__.update(self._derived())

    def save(self, path: str | os.PathLike, *, with_certificate: bool = False) -> None:
        """Write the fitted model to one file of JSON and arrays, which :func:`load` reads.

        The file holds all parameters and what the model needs to predict, and no code. It replaces
        an older file only when it is complete.

        Parameters
        ----------
        path : path
            Any name will do.
        with_certificate : bool, default=False
            Whether the file also holds what ``certify`` and a warm start of the same rows need. It
            grows with the training rows; without it, the file grows with the selected features.

        Raises
        ------
        ValueError
            If the measure or the loss is one of your own.
        TypeError
            If a parameter is no plain data, but a pandas object for example.
        """
        write_model(path, plain_model(self, with_certificate))

    def _without_certificate(self) -> Any:
        """The same model without what grows with the training rows."""
        lean = type(self).__new__(type(self))
        lean.__dict__.update(vars(self))
        for name, part in self._fields.items():
            value: Any = getattr(self, name, None)
            if isinstance(value, PersistenceMixin):
                setattr(lean, name, value._without_certificate())
            elif part.is_proof:
                setattr(lean, name, [None] * len(value) if part.is_list else None)
        return lean

    def _tree(self) -> dict[str, Any]:
        """Class, parameters and fitted state as plain data."""
        state = self.__getstate__()
        fitted = {name: state.get(name) for name in self._fields}
        inner = {k: v._tree() for k, v in fitted.items() if isinstance(v, PersistenceMixin)}
        return {
            "class": type(self).__name__,
            "parameters": {k: plain_named(v) for k, v in self.get_params(deep=False).items()},
            "output": getattr(self, "_transform_output", None),
            "fitted": fitted | inner,
        }

    @classmethod
    def from_record(cls, record: Record) -> Any:
        """The model that the rest of a part of a file describes, all of it checked."""
        entry = record.record("parameters")
        names = cls().get_params(deep=False)
        named = {"measure", "loss"} & {name for name in names if not entry.holds(name, str)}
        values = {name: to_named(check_named(entry, name, name)) for name in named}
        model = cls(**values | {name: entry.take(name) for name in names if name not in named})
        entry.end()
        output = record.choice("output", _OUTPUTS if hasattr(model, "set_output") else (None,))
        entry = record.record("fitted")
        entry.known = known = Known(record.known.max_bytes, record.known.sizes)
        for name, part in cls._fields.items():
            plain = part.read(entry, name)
            if plain is not None or part.nullable:
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
            raise ValueError(
                f"cannot load {os.fspath(path)!r}: it holds a {type(model).__name__}, not a "
                f"{cls.__name__}; use {type(model).__name__}.load or scoresieve.load."
            )
        return model


def plain_model(model: PersistenceMixin, with_certificate: bool = False) -> dict[str, Any]:
    """What ``save`` writes of a fitted model, all of it checked as ``load`` would."""
    check_is_fitted(model, model._required())
    name = type(model).__name__
    if CLASSES.get(name) is not type(model):
        raise TypeError(f"{name} is a class of your own, which load does not know; pickle it.")
    tree = (model if with_certificate else model._without_certificate())._tree()
    # What is not of the expected form, since somebody changed it, is refused now, not later.
    model_of(Record(tree, "model"))
    return tree


def save_with_input(
    path: str | os.PathLike, model: Any, input_: dict[str, Any], *, with_certificate: bool = False
) -> None:
    """``save``, with plain data beside the model that says how rows of files become X."""
    write_model(path, plain_model(model, with_certificate) | {INPUT: input_})


def load(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that ``save`` wrote; it is of the same class and predicts the same bits.

    Files are checked as what they are, data from elsewhere: nothing in them is executed, and what
    does not fit is refused.

    Parameters
    ----------
    path : path
    max_bytes : int, default=2**30
        What the dense weights may take in memory. They are the one part of a model that can be
        larger than its file, since only weights other than 0 are written.

    Raises
    ------
    ValueError
        If the file is damaged, no model, or of another format version.

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
    return load_with_input(path, max_bytes=max_bytes)[0]


def load_with_input(
    path: str | os.PathLike,
    *,
    max_bytes: int = MAX_BYTES,
    read_input: Callable[[Any, Record], Any] | None = None,
) -> tuple[Any, Any]:
    """Read a model, and what stands beside it in files of :func:`save_with_input`.

    Parameters
    ----------
    read_input : callable, optional
        ``read_input(model, record)`` gives the second part of the answer from the plain data, all
        of which it has to check. Without it, or where a file has no such data, that is None.
    """
    try:
        tree = read_model(path)
        input_ = tree.pop(INPUT, None)
        model = model_of(Record(tree, "model", Known(max_bytes)))
        if input_ is None or read_input is None:
            return model, None
        return model, read_input(model, Record(input_, INPUT))
    except ValueError as error:
        raise ValueError(f"cannot load {os.fspath(path)!r}: {error}") from error
    except RecursionError:
        raise ValueError(f"cannot load {os.fspath(path)!r}: it is nested too deeply.") from None
