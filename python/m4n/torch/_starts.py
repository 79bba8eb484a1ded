"""What oracles keep of examples between visits, where the caller says which examples a batch has.

Operators of torch take numbers and tensors only, so the memory of a loss is known to them by a number.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any, Optional

from torch import Tensor

from .. import _core

_numbers = itertools.count(1)
_memory: weakref.WeakValueDictionary[int, Starts] = weakref.WeakValueDictionary()


class Starts:
    """A copy of a loss starts with nothing kept."""

    def __init__(self) -> None:
        self.number, self.core = next(_numbers), _core.Starts()
        _memory[self.number] = self

    def __reduce__(self) -> Any:
        return Starts, ()


def starts_of(number: int, index: Optional[Tensor]) -> Optional[_core.Starts]:
    """None where the caller does not say which examples these are."""
    found = _memory.get(number)
    return found.core if found is not None and index is not None else None
