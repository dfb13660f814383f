"""Data sets that need no download."""

from scoresieve.datasets.docstrings import Docstrings, load_docstrings

__all__ = ["Docstrings", "load_docstrings"]
