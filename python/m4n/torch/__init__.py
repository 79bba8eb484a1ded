"""Losses of m4n for networks of torch, on the CPU and on GPUs. It needs torch, which m4n does not install by itself:
``pip install m4n[torch]``.

>>> import torch
>>> from m4n.torch import MaxMinLoss
>>> loss = MaxMinLoss([[0, 1], [5, 0]])  # cost[true][predicted]
>>> scores = torch.zeros(3, 2, requires_grad=True)
>>> loss(scores, torch.tensor([0, 1, 1])).backward()
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ModuleNotFoundError("m4n.torch needs torch: pip install m4n[torch]", name="torch") from error

from ._late import check
from .chains import MaxMinChain, MaxMinChainLoss
from .classes import MaxMinLoss
from .label_sets import MaxMinLabelSetLoss
from .permutations import MaxMinPermutationLoss

__all__ = [
    "MaxMinChain",
    "MaxMinChainLoss",
    "MaxMinLabelSetLoss",
    "MaxMinLoss",
    "MaxMinPermutationLoss",
    "check",
]
