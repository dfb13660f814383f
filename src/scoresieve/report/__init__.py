"""One HTML page about a fitted model, which needs no network and no further file."""

from scoresieve.report.page import write_report

__all__ = ["write_report"]
