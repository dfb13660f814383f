"""A selector whose ``transform`` can return a DataFrame for sparse input."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import BoolArray
from scoresieve.design import as_row_blocks
from scoresieve.estimators.data import read_X


class OutputMixin:
    """Remembers the argument of ``set_output``, which scikit-learn keeps private."""

    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose what ``transform`` and ``fit_transform`` return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            None leaves the setting unchanged.
        """
        super().set_output(transform=transform)  # type: ignore[misc]
        if transform is not None:
            self._transform_output = transform
        return self

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()  # type: ignore[misc]
        if hasattr(self, "_transform_output"):
            copy._transform_output = self._transform_output
        return copy


class SparseSelectorMixin(OutputMixin, SelectorMixin):
    """``transform(X) = X[:, support_]``.

    Conventions
    -----------
    * The selected columns of row blocks are returned in memory, sparse if the blocks are.
    * Sparse input gives sparse output of the same format, or a dense DataFrame if ``set_output`` or
      ``sklearn.set_config`` asks for one.
    * ``fit`` sets ``support_``, the sorted indices of the selected columns, and ``n_features_in_``.
    """

    def _get_support_mask(self) -> BoolArray:
        """The mask that the other methods of a selector are built on."""
        check_is_fitted(self, "support_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """The selected columns.

        Returns
        -------
        array, sparse matrix or DataFrame of shape (n_samples, n_selected)
        """
        check_is_fitted(self, "support_")
        blocks = as_row_blocks(X)
        if blocks is None and (not sp.issparse(X) or self.support_.size == 0):
            return super().transform(X)
        X = read_X(self, X if blocks is None else blocks, dtype=None)
        selected = X[:, self.support_]
        wanted = getattr(self, "_transform_output", get_config()["transform_output"])
        is_ready = wanted == "default" or not sp.issparse(selected)
        return selected if is_ready else selected.toarray()
