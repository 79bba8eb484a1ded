"""What the operators share: conversions to arrays of the library, masks, derivatives, the reduction of values."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import torch
from torch import Tensor

from .._errors import Error
from .._options import quoted, refusal, word

REDUCTIONS = ("mean", "sum", "none")


def threads() -> int:
    return torch.get_num_threads()


def on_host(values: Tensor) -> np.ndarray:
    return values.detach().cpu().contiguous().numpy()


def real_on_host(values: Tensor) -> np.ndarray:
    return on_host(values.double())


def whole_on_host(values: Optional[Tensor]) -> np.ndarray:
    return np.zeros(0, dtype=np.int64) if values is None else on_host(values.long())


def back(array: np.ndarray, like: Tensor) -> Tensor:
    """An array of the library as a tensor beside ``like``, in its precision."""
    return torch.from_numpy(array).to(device=like.device, dtype=like.dtype)


def computed(scores: Tensor) -> Tensor:
    """In a precision that is computed with: half and bfloat16 become float32."""
    if not scores.dtype.is_floating_point:
        raise TypeError(f"scores must be floating-point numbers, found {scores.dtype}")
    return scores if scores.dtype == torch.float64 else scores.float()


def refused_shape(name: str, found: Any, expected: str) -> Error:
    shape = tuple(found)
    return refusal(name, shape, expected, text=f"{name} has the shape {shape}; expected {expected}")


def reduced(values: Tensor, weight: Optional[Tensor], reduction: str) -> Tensor:
    """``weight``: of every value, zero where it does not count; the mean over nothing is 0."""
    if weight is not None:
        values = values * weight
    if reduction == "none":
        return values
    total = values.sum()
    if reduction == "sum":
        return total
    if weight is None:
        return total / max(values.numel(), 1)
    mass = weight.sum()
    return total / torch.where(mass > 0, mass, torch.ones_like(mass))


def checked_reduction(reduction: str) -> str:
    return word("reduction", reduction, REDUCTIONS)


def present(sizes: Tensor, most: int) -> Tensor:
    """B x most: the first of every example, as many as it has."""
    return torch.arange(most, device=sizes.device) < sizes.unsqueeze(-1)


def packing(values: Tensor, mask: Optional[Tensor]) -> tuple[Tensor, Optional[Tensor]]:
    """How many of B x M are there, by example, and the order in which those come first; None: all are there."""
    n, most = values.shape[:2]
    if mask is None:
        return torch.full((n,), most, dtype=torch.long, device=values.device), None
    if mask.shape != (n, most):
        raise refused_shape("mask", mask.shape, f"{(n, most)}")
    there = mask.bool()
    return there.sum(1), (~there).long().argsort(stable=True, dim=1)


def packed(values: Tensor, order: Optional[Tensor]) -> Tensor:
    """What is there first."""
    if order is None or order.shape[1] == 0:
        return values.contiguous()
    return values.gather(1, order if values.dim() == 2 else order.unsqueeze(-1).expand_as(values)).contiguous()


def packed_targets(target: Tensor, sizes: Tensor, order: Optional[Tensor]) -> Tensor:
    """Those that are there first, 0 behind them."""
    if order is None:
        return target.long()
    return torch.where(present(sizes, target.shape[1]), packed(target.long(), order), 0)


def unpacked(values: Tensor, order: Optional[Tensor], empty: int) -> Tensor:
    """To where the mask has them; ``empty`` where it is off."""
    if order is None:
        return values
    rows = order if values.dim() == 2 else order.unsqueeze(-1).expand_as(values)
    return torch.full_like(values, empty).scatter(1, rows, values)


def gives_gradient(operator: Any, name: str, values: int) -> None:
    """The operator answers with ``values`` tensors of values, of which one is taken, and the gradient in its first
    argument; it has no derivative in the others. ``name``: the loss, for messages."""

    def remember(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output[values])
        ctx.others = len(inputs) - 1

    def backward(ctx: Any, *by: Tensor) -> Any:
        refuse_second_derivative()
        (gradient,) = ctx.saved_tensors
        by_value = sum(by[:values]).reshape(-1, *[1] * (gradient.dim() - 1))
        return by_value * gradient, *[None] * ctx.others

    operator.register_autograd(backward, setup_context=remember)
    refuse_vmap(operator, name)


def refuse_vmap(operator: Any, name: str) -> None:
    def refuse(info: Any, in_dims: Any, *arguments: Any) -> Any:
        raise Error(f"{name} takes batches as they are and cannot be used inside vmap: give it the whole batch")

    operator.register_vmap(refuse)


def refuse_second_derivative() -> None:
    """To be called in a backward pass: grad mode is on there only for create_graph."""
    if torch.is_grad_enabled():
        raise Error("the losses of m4n have first derivatives only; do without create_graph=True")


def smoothing_of(value: Any) -> float:
    found = float(value)
    if not 0 <= found < np.inf:
        raise refusal("smoothing", value, "finite and not negative")
    return found


def one_of(name: str, value: Any, allowed: Any) -> str:
    if value not in allowed:
        raise refusal(name, value, f"one of {quoted(allowed)}")
    return value
