"""Tables as X: data frames and files with named columns."""

from scoresieve.tables.encoding import TableEncoder

__all__ = ["TableEncoder"]
