"""Base of linear models on embedded bags: key instances, decisions, contributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from scoresieve._arrays import Array, FloatArray, IntArray
from scoresieve._checks import check_weights
from scoresieve._record import Record
from scoresieve.estimators.linear_model import LinearModelMixin
from scoresieve.estimators.model import ClassModel
from scoresieve.estimators.persistence.fields import Field, labels
from scoresieve.estimators.persistence.registry import PersistenceMixin, estimator_field
from scoresieve.estimators.persistence.values import classifier
from scoresieve.estimators.targets import Targets
from scoresieve.mil.bags import Bags, as_bags, check_length
from scoresieve.mil.embedding import MILESEmbedding

#: Parameters that belong to the embedding.
OF_EMBEDDING = ("sigma", "metric", "n_prototypes", "prototypes", "max_memory", "random_state")


class KeyInstance(NamedTuple):
    """A training instance that the model compares other bags with.

    Attributes
    ----------
    label : object
        The class that a positive weight makes more likely.
    bag, position : int
        Index of its training bag, and its position there.
    vector : ndarray of shape (n_columns,), or CSR array of shape (1, n_columns)
    name : object
        The name of the bag, see :class:`Bags`; its index if the bags have no names.
    """

    label: Any
    bag: int
    position: int
    weight: float
    vector: Any
    name: Any

    @property
    def title(self) -> str:
        """In words, for summaries and tables: "bag m54, instance 2"."""
        return _title(self.name, self.position)


def _title(name: Any, position: int) -> str:
    return f"bag {name}, instance {position}"


def _check_origins(record: Record, key: Any) -> IntArray:
    """Bag and place of each selected instance."""
    columns = [model["columns"] for model in record.known.values["models_"]]
    n_selected = record.size(key, "selected", np.unique(np.concatenate(columns)).size)
    origins = record.array(key, np.int64, (n_selected, 2))
    if np.any(origins < 0):
        record.refuse(key, "must be indices of bags, and positions there.")
    return origins


def bag_classifier(*has: str) -> dict[str, Field]:
    """The fitted state; ``has`` as in :func:`classifier`."""
    columns = {"embedding_": estimator_field(MILESEmbedding)}
    origins = {"origins_": Field(_check_origins), "bag_names_": labels("selected")}
    return {**classifier(*has, columns=columns), **origins}


class BagModelMixin(LinearModelMixin, PersistenceMixin):
    """``f(B) = sum_k w_k s(x^k, B) + b``, with s of :class:`MILESEmbedding` and few x^k.

    Conventions
    -----------
    * ``fit`` of a subclass ends with ``_keep_bags``, which sets ``embedding_``, ``origins_``,
      ``bag_names_`` and what every linear model has. The columns of ``models_`` are prototypes of
      the embedding.
    * ``coef_`` covers the selected prototypes only, in their order.
    """

    _nouns = ("instances", "bags")
    embedding_: MILESEmbedding
    origins_: IntArray
    bag_names_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def _fit_on_embedding(
        self, bags: Any, y: Any, model: Any, sample_weight: ArrayLike | None = None
    ) -> None:
        """Embed the bags, fit the model on them, and keep what it selected.

        Bags without weight give no prototypes.
        """
        bags = as_bags(bags)
        check_length(len(bags), y)
        numbers, weights = counted_bags(bags, sample_weight)
        embedding = MILESEmbedding(**{name: getattr(self, name) for name in OF_EMBEDDING})
        kept = bags if weights is None else bags[numbers]
        embedding.fit(kept)
        # Estimators may not have the argument.
        argument = {} if weights is None else {"sample_weight": weights}
        model.fit(embedding.transform(bags), y, **argument)
        for name in vars(model).keys() & {"problem_", "measure_"}:
            setattr(self, name, getattr(model, name))
        self._keep_bags(embedding, kept, numbers, model.targets_, model.models_, len(bags))

    def _keep_bags(
        self,
        embedding: MILESEmbedding,
        kept: Bags,
        numbers: IntArray,
        targets: Targets,
        models: Sequence[ClassModel],
        n_samples: int,
    ) -> None:
        """Set the fitted state; the embedding is of ``kept``, which have these numbers of all."""
        self.embedding_ = embedding
        self._keep(targets, models, n_samples)
        places = [kept.origin(k) for k in embedding.prototype_indices_[self.support_]]
        origins = [(numbers[bag], position) for bag, position in places]
        self.origins_ = np.array(origins, dtype=np.int64).reshape(-1, 2)
        names = kept.names[[bag for bag, _ in places]]
        # Files of models hold text and numbers.
        self.bag_names_ = np.array([*map(str, names)], "O") if names.dtype.kind == "O" else names

    def _n_weights(self) -> int:
        return self.support_.size

    @property
    def n_instances_selected_(self) -> int:
        """Number of selected instances."""
        return int(self.support_.size)

    @property
    def key_instances_(self) -> list[KeyInstance]:
        """The selected instances class by class, the largest weights first."""
        targets, prototypes = self.targets_, self.embedding_.prototypes_
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        labels = targets.classes[1:] if targets.kind == "binary" else targets.classes
        found = []
        for label, w in zip(labels, coef, strict=True):
            for place in np.argsort(-np.abs(w), kind="stable")[: np.count_nonzero(w)]:
                bag, position = self.origins_[place].tolist()
                vector = prototypes[[self.support_[place]]]
                vector = vector if sp.issparse(vector) else vector[0]
                name = self.bag_names_[[place]].tolist()[0]
                found.append(KeyInstance(label, bag, position, float(w[place]), vector, name))
        return found

    def _without_certificate(self) -> Any:
        """The selected instances alone, and models of their columns of the embedding."""
        lean = super()._without_certificate()
        # No embedding is without any column.
        kept = self.support_ if self.support_.size else np.arange(1)
        lean.embedding_ = lean.embedding_.with_prototypes(kept)
        lean.models_ = tuple(
            replace(model, columns=np.searchsorted(kept, model.columns)) for model in lean.models_
        )
        return lean

    def _column_names(self, feature_names: ArrayLike | None) -> Array:
        if feature_names is not None:
            raise ValueError(
                f"feature_names has {np.size(feature_names)} entries, but instances are selected "
                "here, named by training bag and position; leave feature_names=None."
            )
        places = zip(self.bag_names_, self.origins_[:, 1], strict=True)
        names = [_title(name, position) for name, position in places]
        return np.array(names, dtype=object)

    def _numbered(self, model: ClassModel) -> IntArray:
        return np.searchsorted(self.support_, model.columns)

    def _n_columns(self) -> int | None:
        return None

    def _validated(self, X: Any) -> FloatArray:
        """The similarity of each bag to the selected instances."""
        check_is_fitted(self, "models_")
        return self.embedding_.similarities(X, self.embedding_.prototypes_[self.support_])

    def instance_scores(self, bag: Any) -> FloatArray:
        """The contribution of each instance of one bag to the decision.

        The term of a key instance goes to the nearest instance of the bag, as in MILES; ties share
        it. The contributions and ``intercept_`` sum to the decision.

        Returns
        -------
        ndarray of shape (n_instances,) or (n_instances, n_classes)
        """
        near = self._validated(as_bags([bag]).alone())
        best = near.max(axis=0)
        shares = near == best
        shares = shares / shares.sum(axis=0)
        added = (shares * best) @ self.coef_.T
        return added[:, 0] if self.targets_.kind == "binary" else added


def counted_bags(bags: Bags, sample_weight: ArrayLike | None) -> tuple[IntArray, FloatArray | None]:
    """Indices of the bags with a weight, and all weights."""
    if sample_weight is None:
        return np.arange(len(bags)), None
    weights = check_weights(sample_weight)
    if weights.size != len(bags):
        raise ValueError(
            f"sample_weight has {weights.size} weights, but there are {len(bags)} bags; give one "
            "weight per bag."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for all bags; give a positive weight to some.")
    return np.flatnonzero(weights), weights
