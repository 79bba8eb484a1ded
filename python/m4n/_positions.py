"""Costs of positions in a permutation."""

from __future__ import annotations

import re
from typing import Any

from ._options import reals, word

COSTS = ("hamming", "footrule", "spearman", "dcg")


def is_named(cost: Any) -> bool:
    return isinstance(cost, str) and (cost in COSTS or re.fullmatch("precision@[1-9][0-9]{0,8}", cost) is not None)


def position_cost(cost: Any, items: int) -> tuple[dict[str, str], list[float]]:
    """The option of a named cost, or the numbers of weights (M) or costs (M x M)."""
    if isinstance(cost, str):
        return {"loss": cost if is_named(cost) else word("cost", cost, (*COSTS, "precision@K"))}, []
    values = reals("cost", cost, f"a name, {items} weights or {items} x {items} costs")
    if values.shape not in ((items,), (items, items)):
        raise ValueError(f"cost has the shape {values.shape}; expected {(items,)} or {(items, items)}, or a name")
    return {}, values.ravel().tolist()
