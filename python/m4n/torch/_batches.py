"""What the operators share: conversions to arrays of the library, threads, the reduction of values."""

from __future__ import annotations

from typing import Any, Callable, Optional

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


def refuse_vmap(operator: Any, name: str) -> None:
    def refuse(info: Any, in_dims: Any, *arguments: Any) -> Any:
        raise Error(f"{name} takes batches as they are and cannot be used inside vmap: give it the whole batch")

    operator.register_vmap(refuse)


def refuse_second_derivative() -> None:
    """To be called in a backward pass: grad mode is on there only for create_graph."""
    if torch.is_grad_enabled():
        raise Error("the losses of m4n have first derivatives only; do without create_graph=True")


Backward = Callable[..., Any]


def smoothing_of(value: Any) -> float:
    found = float(value)
    if not 0 <= found < np.inf:
        raise refusal("smoothing", value, "finite and not negative")
    return found


def one_of(name: str, value: Any, allowed: Any) -> str:
    if value not in allowed:
        raise refusal(name, value, f"one of {quoted(allowed)}")
    return value
