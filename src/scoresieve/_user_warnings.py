"""Warnings that name the user's line, however deep in the package their reason was found."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings

import joblib
import sklearn

#: Files below these are never where the user's own code is.
_LIBRARIES = tuple(
    os.path.dirname(path) + os.sep for path in (__file__, joblib.__file__, sklearn.__file__)
)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line of the call stack that belongs to no library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__", "<string>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _is_library(filename: str) -> bool:
    """Whether a file is of this package, or of those that stand between it and its callers."""
    return filename.startswith(_LIBRARIES) or filename == contextlib.__file__
