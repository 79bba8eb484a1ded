"""Costs of positions in a permutation."""

from __future__ import annotations

import re
from typing import Any

from . import _core
from ._options import quoted, reals, refusal


def is_named(cost: str) -> bool:
    """Names that end in @K stand for all numbers K."""
    name, at, count = cost.partition("@")
    numbered = re.fullmatch("[1-9][0-9]{0,8}", count) is not None
    return (f"{name}@K" if at and numbered else cost) in _core.losses("ranking")


def position_cost(cost: Any, items: int) -> tuple[dict[str, str], list[float]]:
    """The option of a named cost, or the numbers of weights (M) or costs (M x M)."""
    if isinstance(cost, str):
        if cost.endswith("@K") or not is_named(cost):
            raise refusal("cost", cost, f"one of {quoted(_core.losses('ranking'))} with a number for K")
        return {"loss": cost}, []
    values = reals("cost", cost, f"a name, {items} weights or {items} x {items} costs")
    if values.shape not in ((items,), (items, items)):
        expected = f"{(items,)} or {(items, items)}, or a name"
        raise refusal("cost", values.shape, expected, text=f"cost has the shape {values.shape}; expected {expected}")
    return {}, values.ravel().tolist()
