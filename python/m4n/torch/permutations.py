"""Rankings and matchings: every item has a position of its own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Optional

import numpy as np
import torch
from torch import Tensor

from .. import _core
from .._errors import Error
from .._options import reals, refusal
from .._positions import position_cost
from . import _late, _plain
from ._batches import (
    back,
    checked_reduction,
    computed,
    gives_gradient,
    on_host,
    one_of,
    packed,
    packed_targets,
    packing,
    present,
    real_on_host,
    reduced,
    refuse_vmap,
    refused_shape,
    threads,
    unpacked,
    whole_on_host,
)
from ._starts import Starts, starts_of

SURROGATES = ("m4n", "m3n")
RANK_ONE = ("spearman", "dcg", "precision@")


@lru_cache(maxsize=16)
def _rank_one_table(name: str, most: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """c0 and the falling gains and discounts of the losses of 0 to ``most`` items, a row each, 0 beyond the size."""
    constants, gains, discounts = np.zeros(most + 1), np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for size in range(1, most + 1):
        try:
            constants[size], gains[size, :size], discounts[size, :size] = _core.rank_one_parts(name, size)
        except Error:  # no loss of so few items: theirs is nan
            constants[size] = np.nan
    return tuple(torch.from_numpy(a).to(dtype).to(device) for a in (constants, gains, discounts))


@torch.library.custom_op("m4n::permutation_loss", mutates_args=())
def permutation_loss(
    scores: Tensor,
    target: Tensor,
    sizes: Tensor,
    name: str,
    costs: list[float],
    surrogate: str,
    tol: float,
    rounds: int,
    index: Optional[Tensor],
    starts: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Bounds of the loss from below and above, and the gradient in the scores N x M x M of cells or N x M of items."""
    n, most = scores.shape[:2]
    if n == 0 or most == 0:
        return scores.new_zeros(n), scores.new_zeros(n), torch.zeros_like(scores)
    if scores.is_cpu or scores.dim() == 3 or surrogate == "m3n":
        lower, upper, gradient = _core.permutation_loss(
            on_host(scores), whole_on_host(target), whole_on_host(sizes), name, costs, surrogate, tol, rounds,
            starts_of(starts, index), whole_on_host(index), threads(),
        )  # fmt: skip
        return back(lower, scores), back(upper, scores), back(gradient, scores)
    constants, gains, discounts = _rank_one_table(name, most, scores.dtype, scores.device)
    value, gradient = _plain.rank_one_loss(scores, target, sizes, gains[sizes], discounts[sizes], constants[sizes])
    there = present(sizes, most)
    marks = torch.zeros_like(scores).scatter_add(1, target.clamp(0, most - 1), there.to(scores.dtype))
    value = torch.where((marks == there).all(-1), value, torch.nan)  # each position once
    _late.note(value)
    return value, value.clone(), gradient


@permutation_loss.register_fake
def _(scores: Tensor, *arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
    return scores.new_empty(scores.shape[0]), scores.new_empty(scores.shape[0]), torch.empty_like(scores)


gives_gradient(permutation_loss, "MaxMinPermutationLoss", values=2)


@torch.library.custom_op("m4n::permutation_decode", mutates_args=())
def permutation_decode(
    scores: Tensor, sizes: Tensor, name: str, costs: list[float], adversary: bool, tol: float
) -> Tensor:
    if scores.numel() == 0:
        return torch.full(scores.shape[:2], -1, dtype=torch.long, device=scores.device)
    found = _core.permutation_decode(real_on_host(scores), whole_on_host(sizes), name, costs, adversary, tol, threads())
    return torch.from_numpy(found).to(scores.device)


@permutation_decode.register_fake
def _(scores: Tensor, *arguments: Any) -> Tensor:
    return scores.new_empty(scores.shape[:2], dtype=torch.long)


refuse_vmap(permutation_decode, "MaxMinPermutationLoss.decode")


class MaxMinPermutationLoss(torch.nn.Module):
    """The loss of scores B x M x M of item i at position j, or B x M of items, and targets B x M: the positions of the
    items, from 0.

    loss: 'hamming', 'footrule', 'spearman', 'precision@K', 'dcg', M weights of items or M x M costs of positions, [true]
    [predicted]. With one score an item: spearman, precision@K and dcg; the largest score goes to position 0.
    surrogate: 'm4n' or 'm3n'.
    tol, max_rounds: of the oracle of m4n: how far its bounds may lie apart, in units of the range of the loss, and how
    many rounds it may take. The value is the bound from above. In eval mode ``bounds`` holds both, by example.

    ``mask`` B x M says which items are there; their positions count from 0. ``index``: the numbers of the examples, from
    0, let the games start where those of the last visit ended.
    """

    bounds: Optional[tuple[Tensor, Tensor]]

    def __init__(
        self,
        loss: Any = "hamming",
        surrogate: str = "m4n",
        tol: float = 1e-6,
        max_rounds: int = 200,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.surrogate = one_of("surrogate", surrogate, SURROGATES)
        self.tol, self.max_rounds = float(tol), int(max_rounds)
        self.reduction = checked_reduction(reduction)
        self.bounds = None
        self._starts = Starts()
        self.items: Optional[int] = None
        self.name, self.costs = "", []
        if isinstance(loss, str):
            position_cost(loss, 1)
            self.name = loss
        else:
            values = reals("loss", loss, "a name, M weights of items or M x M costs")
            self.items = len(values) if values.ndim else 0
            self.costs = position_cost(values, self.items)[1]

    def forward(
        self, scores: Tensor, target: Tensor, mask: Optional[Tensor] = None, index: Optional[Tensor] = None
    ) -> Tensor:
        if target.shape != scores.shape[:2]:
            raise refused_shape("target", target.shape, f"{tuple(scores.shape[:2])}")
        values, sizes, order = self._prepared(scores, mask)
        lower, upper, _ = permutation_loss(
            values, packed_targets(target, sizes, order), sizes, self.name, self.costs, self.surrogate, self.tol,
            self.max_rounds, index, self._starts.number,
        )  # fmt: skip
        if not self.training:
            self.bounds = (lower.detach(), upper.detach())
        return reduced(upper, None, self.reduction)

    def decode(self, scores: Tensor, mask: Optional[Tensor] = None, how: str = "argmax") -> Tensor:
        """The positions of the items, B x M, -1 where the mask is off: of the best permutation ('argmax'), or of the one
        that is most like the min player's strategy ('adversary', scores of cells, m4n)."""
        cells = scores.dim() == 3
        one_of("decode", how, ("argmax", "adversary") if cells and self.surrogate == "m4n" else ("argmax",))
        values, sizes, order = self._prepared(scores, mask)
        if cells:
            found = permutation_decode(values, sizes, self.name or "hamming", self.costs, how == "adversary", self.tol)
        else:
            there = present(sizes, values.shape[1])
            falling = torch.where(there, values, -torch.inf).argsort(stable=True, dim=1, descending=True)
            found = torch.where(there, falling.argsort(1), -1)
        return unpacked(found, order, -1)

    def _prepared(self, scores: Tensor, mask: Optional[Tensor]) -> tuple[Tensor, Tensor, Optional[Tensor]]:
        """Items that are there first, how many they are, and where they come from."""
        if scores.dim() not in (2, 3) or scores.dim() == 3 and scores.shape[1] != scores.shape[2]:
            raise refused_shape("scores", scores.shape, "B x M x M or B x M")
        most = scores.shape[1]
        if scores.dim() == 2 and not self.name.startswith(RANK_ONE):
            expected = "B x M x M: only spearman, precision@K and dcg take one score an item"
            raise refused_shape("scores", scores.shape, expected)
        if self.items is not None and (most != self.items or mask is not None):
            found = "a mask" if mask is not None else f"{most} items"
            expected = f"{self.items} items and no mask, as the costs are of so many"
            raise refusal("loss", "", expected, text=f"found {found}; expected {expected}")
        sizes, order = packing(scores, mask)
        return packed(computed(scores), order), sizes, order

    def extra_repr(self) -> str:
        return f"loss={self.name or 'costs'}, surrogate={self.surrogate}, tol={self.tol}"
