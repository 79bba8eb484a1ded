"""Costs as users give them: a name, or a matrix [true][predicted]."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, Optional

import numpy as np
import torch
from torch import Tensor

from .. import _core
from .._options import quoted, reals, refusal
from ..oracle import NAMED_COSTS


class Cost(NamedTuple):
    """``scale`` times the cost of this ``name``, or a matrix. Operators take its parts."""

    name: str
    scale: float
    matrix: Optional[Tensor]


def cost_of(cost: Any) -> Cost:
    """Multiples of zero-one and absolute costs are recognised, for they have formulas."""
    if cost is None:
        return Cost("zero-one", 1.0, None)
    if isinstance(cost, str):
        if cost not in NAMED_COSTS:
            raise refusal("cost", cost, f"None, {quoted(NAMED_COSTS)} or a matrix of numbers")
        return Cost("zero-one" if cost == "hamming" else cost, 1.0, None)
    if isinstance(cost, Tensor):
        cost = cost.detach().cpu().numpy()
    values = reals("cost", cost, "None, a name or a matrix of numbers")
    if values.ndim != 2 or 0 in values.shape:
        expected = "k x K: of true classes and predictions"
        raise refusal("cost", values.shape, expected, text=f"cost has the shape {values.shape}; expected {expected}")
    if not np.isfinite(values).all():
        raise refusal("cost", "", "finite numbers", text="cost holds numbers that are not finite")
    k = len(values)
    if values.shape == (k, k) and k > 1 and values[0, 1] > 0:
        for name in ("zero-one", "absolute"):
            if (values == values[0, 1] * _core.named_cost(name, k)).all():
                return Cost(name, float(values[0, 1]), None)
    return Cost("matrix", 1.0, torch.from_numpy(values.copy()))


class CostModule(torch.nn.Module):
    """A module with costs. Their matrix goes where the module goes, but is never rounded to its precision."""

    matrix: Optional[Tensor]

    def __init__(self, cost: Any) -> None:
        super().__init__()
        self.cost = cost_of(cost)
        self.classes = None if cost is None or isinstance(cost, str) else len(cost)  # None: any number
        matrix = self.cost.matrix
        self.has_actions = matrix is not None and matrix.shape[0] != matrix.shape[1]
        self.symmetric = matrix is None or not self.has_actions and matrix.equal(matrix.T)
        self.register_buffer("matrix", matrix, persistent=False)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        super()._apply(fn, recurse)
        if self.matrix is not None and self.cost.matrix is not None:
            self.matrix = self.cost.matrix.to(self.matrix.device)
        return self

    def costs(self) -> tuple[str, float, Optional[Tensor]]:
        """As operators take them."""
        return self.cost.name, self.cost.scale, self.matrix


@lru_cache(maxsize=16)
def _named(name: str, scale: float, k: int) -> np.ndarray:
    return scale * _core.named_cost(name, k)


def matrix_on_host(name: str, scale: float, matrix: Optional[Tensor], k: int) -> np.ndarray:
    return _named(name, scale, k) if matrix is None else matrix.detach().cpu().numpy()


def rows_of(name: str, scale: float, matrix: Optional[Tensor], target: Tensor, like: Tensor) -> Tensor:
    """cost[target], N x K, beside ``like``."""
    if matrix is not None:
        return matrix.to(like.device).to(like.dtype)[target]
    distance = (torch.arange(like.shape[-1], device=like.device) - target.unsqueeze(-1)).abs().to(like.dtype)
    if name == "zero-one":
        distance = distance.clamp(max=1)
    elif name == "squared":
        distance = distance * distance
    return scale * distance


def mean_mistake(name: str, scale: float, k: int) -> float:
    """The unit of smoothing, of costs that have a formula."""
    return scale * ((k + 1) / 3 if name == "absolute" else 1.0)
