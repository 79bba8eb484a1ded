"""Classes, grades, and any other labels of which one is right."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch import Tensor

from .. import _core
from .._options import refusal
from . import _kernels, _late, _plain
from ._batches import (
    back,
    checked_reduction,
    computed,
    gives_gradient,
    on_host,
    one_of,
    real_on_host,
    reduced,
    refuse_vmap,
    refused_shape,
    smoothing_of,
    threads,
    whole_on_host,
)
from ._costs import CostModule, matrix_on_host, mean_mistake, rows_of
from ._starts import Starts, starts_of

SURROGATES = ("m4n", "m3n", "crf")
DECODERS = ("argmax", "adversary", "expected")


@torch.library.custom_op("m4n::class_loss", mutates_args=())
def class_loss(
    scores: Tensor,
    target: Tensor,
    name: str,
    scale: float,
    matrix: Optional[Tensor],
    surrogate: str,
    smoothing: float,
    ignored: int,
    index: Optional[Tensor],
    starts: int,
    shape: list[int],
) -> tuple[Tensor, Tensor]:
    """Values and subgradients of scores N x k; ``shape`` is what the caller gave, for messages."""
    n, k = scores.shape
    if n == 0 or k == 1:  # with one class there is nothing to lose
        zero = torch.where(torch.isfinite(scores), 0, torch.nan) if k == 1 else scores
        return zero.sum(-1), torch.zeros_like(scores)
    formula = surrogate != "m4n" or name in ("zero-one", "absolute")
    if scores.is_cpu or not formula:
        value, gradient = _core.class_loss(
            on_host(scores), whole_on_host(target), matrix_on_host(name, scale, matrix, k), surrogate, smoothing,
            ignored, starts_of(starts, index), whole_on_host(index), shape, threads(),
        )  # fmt: skip
        return back(value, scores), back(gradient, scores)
    g = smoothing * mean_mistake(name, scale, k) if surrogate == "m4n" else 0.0
    if _kernels.usable(scores) and surrogate == "m4n" and k <= _kernels.MOST_CLASSES:
        value, gradient = _kernels.class_loss(scores, target, name, scale, g, ignored)
    else:
        kept = target != ignored
        known = (target >= 0) & (target < k)
        safe = torch.where(known, target, 0)
        rows = rows_of(name, scale, matrix, safe, scores) if surrogate == "m3n" else None
        value, gradient = _plain.class_loss(scores, safe, name, scale, rows, surrogate, g)
        value = torch.where(kept, torch.where(known, value, torch.nan), 0)
        gradient = torch.where(kept.unsqueeze(-1), gradient, 0)
    _late.note(value)
    return value, gradient


@class_loss.register_fake
def _(scores: Tensor, *arguments: Any) -> tuple[Tensor, Tensor]:
    return scores.new_empty(scores.shape[0]), torch.empty_like(scores)


gives_gradient(class_loss, "MaxMinLoss", values=1)


@torch.library.custom_op("m4n::class_decode", mutates_args=())
def class_decode(
    scores: Tensor,
    name: str,
    scale: float,
    matrix: Optional[Tensor],
    surrogate: str,
    decode: str,
    smoothing: float,
    shape: list[int],
) -> Tensor:
    """By the min player's strategy, or the distribution of the smoothed game."""
    n, k = scores.shape
    if n == 0 or k == 1:
        return torch.zeros(n, dtype=torch.long, device=scores.device)
    cost = matrix_on_host(name, scale, matrix, k)
    found = _core.class_decode(real_on_host(scores), cost, surrogate, decode, smoothing, shape, threads())
    return torch.from_numpy(found).to(scores.device)


@class_decode.register_fake
def _(scores: Tensor, *arguments: Any) -> Tensor:
    return scores.new_empty(scores.shape[0], dtype=torch.long)


refuse_vmap(class_decode, "MaxMinLoss.decode")


class MaxMinLoss(CostModule):
    """The max-min margin loss of scores B x ... x k and targets B x ..., in the costs of its user.

    cost: None ('zero-one'), 'absolute', 'squared', or costs k x K, [true][prediction].
    surrogate: 'm4n', 'm3n' or 'crf'.
    smoothing: of m4n, in units of the mean cost of a mistake; makes the loss differentiable.
    reduction: 'mean', 'sum' or 'none'. ignore_index: targets that do not count. weight: of the classes.

    ``loss(scores, target, index)``: the numbers of the examples, from 0, let the games of matrices start where those of
    the last visit ended. The loss is in single precision, or in double where the scores are.
    """

    weight: Optional[Tensor]

    def __init__(
        self,
        cost: Any = None,
        surrogate: str = "m4n",
        smoothing: float = 0.0,
        reduction: str = "mean",
        ignore_index: int = -100,
        weight: Any = None,
    ) -> None:
        super().__init__(cost)
        self.surrogate = one_of("surrogate", surrogate, SURROGATES)
        self.smoothing = smoothing_of(smoothing)
        self.reduction = checked_reduction(reduction)
        self.ignore_index = int(ignore_index)
        self.register_buffer("weight", None if weight is None else torch.as_tensor(weight, dtype=torch.float32))
        self._starts = Starts()

    def forward(self, scores: Tensor, target: Tensor, index: Optional[Tensor] = None) -> Tensor:
        if scores.dim() == 0 or scores.shape[-1] == 0 or target.shape != scores.shape[:-1]:
            raise refused_shape(
                "target", target.shape, f"{tuple(scores.shape[:-1])}, that of the scores less the classes"
            )
        k = scores.shape[-1]
        self._check_classes(k)
        if index is not None:
            index = index.expand(target.shape).reshape(-1)
        flat, labels = computed(scores).reshape(-1, k).contiguous(), target.reshape(-1).long()
        values, _ = class_loss(
            flat, labels, *self.costs(), self.surrogate, self.smoothing, self.ignore_index, index, self._starts.number,
            list(scores.shape),
        )  # fmt: skip
        counts = None
        if self.reduction == "mean" or self.weight is not None:
            kept = labels != self.ignore_index
            counts = kept.to(values.dtype)
            if self.weight is not None:
                counts = counts * self.weight.to(values.dtype)[labels.clamp(0, k - 1)]
        out = reduced(values, counts, self.reduction)
        return out.reshape(target.shape) if self.reduction == "none" else out

    def decode(self, scores: Tensor, how: Optional[str] = None) -> Tensor:
        """Predictions, B x ...: by the largest score ('argmax'), the min player's most likely answer ('adversary', m4n)
        or least expected cost ('expected', crf and smoothed m4n). None: the usual one, as in the library."""
        k = scores.shape[-1]
        self._check_classes(k)
        smoothed = self.surrogate == "m4n" and self.smoothing > 0
        if how is None:
            usual = "argmax" if self.symmetric or self.surrogate == "m3n" else "adversary"
            how = "expected" if self.surrogate == "crf" or smoothed else usual
        allowed = set() if self.has_actions else {"argmax"}  # scores are of classes, answers are not
        allowed |= {"expected"} if self.surrogate == "crf" or smoothed else set()
        allowed |= {"adversary"} if self.surrogate == "m4n" else set()
        one_of("decode", how, [name for name in DECODERS if name in allowed])
        if how == "argmax":
            return scores.argmax(-1)
        values = computed(scores)
        if how == "expected" and self.surrogate == "crf":
            if self.cost.name == "zero-one":
                return scores.argmax(-1)
            truths = torch.arange(k, device=scores.device)
            return (values.softmax(-1) @ rows_of(*self.costs(), truths, values[..., :k])).argmin(-1)
        if how == "adversary" and self.cost.name == "zero-one":
            return scores.argmax(-1)
        found = class_decode(
            values.reshape(-1, k).contiguous(), *self.costs(), self.surrogate, how, self.smoothing, list(scores.shape)
        )
        return found.reshape(scores.shape[:-1])

    def _check_classes(self, k: int) -> None:
        if self.classes not in (None, k):
            expected = f"{k} rows, one for every score"
            raise refusal("cost", self.classes, expected, text=f"cost has {self.classes} rows; expected {expected}")

    def extra_repr(self) -> str:
        return f"cost={self.cost.name}, surrogate={self.surrogate}, smoothing={self.smoothing}"
