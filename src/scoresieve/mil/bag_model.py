"""What fitted linear models on embedded bags share: key instances, decisions, contributions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve._checks import check_weights
from scoresieve.certificate import Certificate
from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.persistence.fields import fields_of
from scoresieve.estimators.persistence.kinds import weights as weights_of
from scoresieve.estimators.persistence.saving import PersistenceMixin
from scoresieve.estimators.summary.parts import Fact
from scoresieve.mil.bag_checks import check_length
from scoresieve.mil.bags import Bags, as_bags
from scoresieve.mil.embedding import MILESEmbedding

#: Parameters that belong to the embedding.
OF_EMBEDDING = ("sigma", "metric", "n_prototypes", "prototypes", "max_memory", "random_state")
#: Fitted attributes of the model on the embedding that are not those of the model of bags.
NOT_TAKEN = {"coef_", "support_", "supports_", "n_features_selected_", "n_features_in_"}


class KeyInstance(NamedTuple):
    """A training instance that the model looks for in other bags.

    Attributes
    ----------
    label : object
        The class that a positive weight speaks for.
    bag, position : int
        The training bag it comes from, and its place there.
    vector : ndarray of shape (n_columns,), or CSR array of shape (1, n_columns)
    """

    label: Any
    bag: int
    position: int
    weight: float
    vector: Any


def _may_certify(model: Any) -> bool:
    """Not for rivals, whose model on the embedding has no certificate."""
    return not hasattr(model, "model_") or hasattr(model.model_, "certify")


class BagModelMixin(LinearModelMixin, PersistenceMixin):
    """``f(B) = sum_k w_k s(x^k, B) + b``, with s of :class:`MILESEmbedding` and few x^k.

    Conventions
    -----------
    ``fit`` of a subclass ends with ``_fit_on_embedding`` or ``_take_over``, which set
    ``embedding_``, ``model_``, ``key_instances_``, ``n_instances_selected_``, ``coef_`` and all
    fitted attributes of ``model_`` that mean the same for bags.
    """

    _nouns = ("instances", "bags")
    _fields = fields_of("embedding_", "model_", "_origins")
    _fields |= {"coef_": weights_of("problems", "selected")}
    _selected: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def _fit_on_embedding(
        self, bags: Any, y: Any, model: Any, sample_weight: ArrayLike | None = None
    ) -> None:
        """Embed the bags, fit the model on them, and keep what it selected.

        Parameters
        ----------
        y : array-like of shape (n_bags,) or (n_bags, n_classes)
        model : estimator
            For the embedding; with ``support_`` when it is fitted.
        sample_weight : array-like of shape (n_bags,), optional
            Bags without weight give no prototypes.
        """
        bags = as_bags(bags)
        check_length(len(bags), y)
        numbers, weights = counted_bags(bags, sample_weight)
        embedding = MILESEmbedding(**{name: getattr(self, name) for name in OF_EMBEDDING})
        kept = bags if weights is None else bags[numbers]
        embedding.fit(kept)
        model.fit(embedding.transform(bags), y, **weights_argument(weights))
        self._take_over(embedding, model, kept, numbers)

    def _take_over(
        self, embedding: MILESEmbedding, model: Any, kept: Bags, numbers: IntArray
    ) -> None:
        """Set the fitted attributes from those of a model on the embedding.

        Parameters
        ----------
        kept : Bags
            That the embedding was fitted on.
        numbers : ndarray of int of shape (len(kept),)
            Their numbers among all bags.
        """
        places = [kept.origin(k) for k in embedding.prototype_indices_[model.support_]]
        origins = [(numbers[bag], position) for bag, position in places]
        for name in fitted_names(self):
            delattr(self, name)
        self.embedding_, self.model_ = embedding, model
        self._origins = np.array(origins, dtype=np.int64).reshape(-1, 2)
        self.coef_ = np.ascontiguousarray(model.coef_[:, model.support_])
        self.__dict__.update(self._derived())

    def _derived(self) -> dict[str, Any]:
        """What the model on the embedding says of bags, and the selected instances."""
        model = self.model_
        return {
            **{name: getattr(model, name) for name in fitted_names(model) if name not in NOT_TAKEN},
            "_targets": model._targets,
            "n_instances_selected_": model.n_features_selected_,
            "_selected": self.embedding_.prototypes_[model.support_],
            "key_instances_": list(self._key_instances()),
        }

    def _key_instances(self) -> Iterator[KeyInstance]:
        """The selected instances class by class, the largest weights first."""
        model = self.model_
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        labels = model.classes_[1:] if model._targets.kind == "binary" else model.classes_
        for label, w in zip(labels, coef, strict=True):
            for place in np.argsort(-np.abs(w), kind="stable")[: np.count_nonzero(w)]:
                bag, position = self._origins[place].tolist()
                vector = self.embedding_.prototypes_[[model.support_[place]]]
                vector = vector if sp.issparse(vector) else vector[0]
                yield KeyInstance(label, bag, position, float(w[place]), vector)

    def _without_certificate(self) -> Any:
        """The selected instances alone, and the model on their columns of the embedding."""
        lean = super()._without_certificate()
        embedding, model = lean.embedding_, lean.model_
        # No embedding is without any column.
        kept = model.support_ if model.support_.size else np.arange(1)
        embedding.prototypes_ = embedding.prototypes_[kept]
        embedding.prototype_indices_ = embedding.prototype_indices_[kept]
        model.n_features_in_, model.coef_ = int(kept.size), model.coef_[:, kept]
        model.supports_ = [np.searchsorted(kept, support) for support in model.supports_]
        model.support_ = np.searchsorted(kept, model.support_)
        return lean

    def _facts(self, problem: int) -> list[Fact]:
        """Those of the model on the embedding, where columns are instances and rows are bags."""
        return self.model_._facts(problem, owner=self)

    def _weights_of(self, problem: int) -> tuple[IntArray, FloatArray]:
        """Places among the selected instances, and weights."""
        w = self._coefficients()[problem]
        return np.flatnonzero(w), w[w != 0.0]

    def _column_names(self, feature_names: ArrayLike | None) -> Array:
        if feature_names is not None:
            raise ValueError(
                f"feature_names has {np.size(feature_names)} entries, but instances are selected "
                "here, which are named by their training bag and place; leave it at None."
            )
        names = [f"bag {bag}, instance {position}" for bag, position in self._origins]
        return np.array(names, dtype=object)

    def _n_columns(self) -> int | None:
        return None

    def _validated(self, X: Any) -> FloatArray:
        """The similarity of each bag to the selected instances."""
        check_is_fitted(self, "coef_")
        return self.embedding_.similarities(X, self._selected)

    def instance_scores(self, bag: Any) -> FloatArray:
        """What each instance of one bag adds to the decision.

        The nearest instance to a key instance gets its whole term, as in MILES; several that are
        equally near share it. The sum over the instances, plus ``intercept_``, is the decision.

        Returns
        -------
        ndarray of shape (n_instances,) or (n_instances, n_classes)
        """
        near = self._validated(as_bags([bag]).alone())
        best = near.max(axis=0)
        shares = near == best
        shares = shares / shares.sum(axis=0)
        added = (shares * best) @ self.coef_.T
        return added[:, 0] if self._targets.kind == "binary" else added

    @available_if(_may_certify)
    def certify(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> Certificate | list[Certificate]:
        """Recompute primal, dual and gap from the training bags; see ``MeasureSVC.certify``."""
        check_is_fitted(self, "coef_")
        return self.model_.certify(self.embedding_.transform(X), y, sample_weight)


def counted_bags(bags: Bags, sample_weight: ArrayLike | None) -> tuple[IntArray, FloatArray | None]:
    """Numbers of the bags that have a weight, and all weights."""
    if sample_weight is None:
        return np.arange(len(bags)), None
    weights = check_weights(sample_weight)
    if weights.size != len(bags):
        raise ValueError(
            f"sample_weight has {weights.size} weights, but there are {len(bags)} bags; give one "
            "weight for each bag."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for all bags; give a positive weight to some.")
    return np.flatnonzero(weights), weights


def weights_argument(weights: FloatArray | None) -> dict[str, FloatArray]:
    """``sample_weight`` as a keyword argument, for estimators that may not have it."""
    return {} if weights is None else {"sample_weight": weights}


def fitted_names(model: Any) -> list[str]:
    """Public attributes that ``fit`` has set."""
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
