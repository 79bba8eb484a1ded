"""What rankings, label sets and matchings have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ._certificate import Certificate
from ._model_file import ModelFile
from ._options import surrogate_options, word

COSTS = ("hamming", "footrule", "spearman", "dcg")
DECODERS = ("argmax", "adversary", "expected")


def is_named(cost: Any) -> bool:
    return isinstance(cost, str) and (cost in COSTS or (cost.startswith("precision@") and cost[10:].isdigit()))


class StructuredEstimator(ModelFile, BaseEstimator):
    """The model of an estimator of whole outputs."""

    def _surrogate_options(self) -> dict[str, str]:
        return surrogate_options(self, DECODERS)

    def _adopt(self, model: Any) -> Any:
        self._model = model
        self.n_iter_ = model.epochs
        self.lam_ = model.lam
        self.decode_ = model.decoder
        for name in ("coef_", "intercept_", "gamma_"):
            self.__dict__.pop(name, None)
        if model.features == "linear":
            weights = model.weights()
            self.coef_, self.intercept_ = weights["coef"], weights["intercept"]
        else:
            self.gamma_ = model.gamma
        self.certificate_: Certificate = Certificate(**model.certificate())
        return self

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        parameters = super()._parameters_of(model)
        parameters.pop("cost_matrix")
        return parameters


def position_cost(cost: Any, items: int) -> tuple[dict[str, str], list[float]]:
    """The option of a named cost, or the numbers of weights (M) or costs (M x M)."""
    if isinstance(cost, str):
        return {"loss": cost if is_named(cost) else word("cost", cost, (*COSTS, "precision@K"))}, []
    values = np.asarray(cost, dtype=np.float64)
    if values.shape not in ((items,), (items, items)):
        raise ValueError(f"cost has the shape {values.shape}; expected {(items,)} or {(items, items)}, or a name")
    return {}, values.ravel().tolist()
