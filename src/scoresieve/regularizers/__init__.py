"""Regularizers: functions of ``w`` or of ``c = X^T v``. They never see y."""

from scoresieve.regularizers.budget_norm import BudgetNorm
from scoresieve.regularizers.norm_piece import NormPiece

__all__ = ["BudgetNorm", "NormPiece"]
