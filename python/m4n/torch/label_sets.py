"""Sets of labels: any number of M labels are on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._errors import Error
from .._options import reals, refusal
from . import _kernels, _late, _plain
from ._batches import (
    checked_reduction,
    computed,
    gives_gradient,
    one_of,
    reduced,
    refused_shape,
)

SURROGATES = ("m4n", "m3n", "crf")


def _refuse_bad(scores: Tensor, target: Tensor, ignored: int) -> None:
    kept = target != ignored
    for name, values, bad, expected in (
        ("target", target, kept & (target != 0) & (target != 1), "0, 1"),
        ("scores", scores, kept & ~torch.isfinite(scores), "a finite number"),
    ):
        if bad.any():
            place = bad.nonzero()[0].tolist()
            raise Error(f"{name}{place} is {values[tuple(place)].item()}; expected {expected}")


@torch.library.custom_op("m4n::label_set_loss", mutates_args=())
def label_set_loss(
    scores: Tensor, target: Tensor, costs: Tensor, surrogate: str, ignored: int
) -> tuple[Tensor, Tensor]:
    if scores.is_cpu:
        _refuse_bad(scores, target, ignored)
    if _kernels.usable(scores) and scores.numel() > 0:
        value, gradient = _kernels.label_set_loss(scores, target, costs, surrogate, ignored)
    else:
        known = (target == 0) | (target == 1) | (target == ignored)
        value, gradient = _plain.label_set_loss(scores, torch.where(known, target, 0), costs, surrogate, ignored)
        value = torch.where(known.all(-1), value, torch.nan)
    _late.note(value)
    return value, gradient


@label_set_loss.register_fake
def _(scores: Tensor, *arguments: Any) -> tuple[Tensor, Tensor]:
    return scores.new_empty(scores.shape[0]), torch.empty_like(scores)


gives_gradient(label_set_loss, "MaxMinLabelSetLoss", values=1)


class MaxMinLabelSetLoss(torch.nn.Module):
    """The loss of scores B x M, one a label that speaks for it being on, and targets B x M of 0 and 1.

    costs: 'hamming', or 2 x M: what a label costs that is on and was missed, and off and was announced; the mean over
    labels counts. A third row is what the answer unsure costs.
    surrogate: 'm4n', 'm3n' or 'crf', where a score is the logarithm of the odds.
    """

    costs: Tensor

    def __init__(
        self, costs: Any = "hamming", surrogate: str = "m4n", reduction: str = "mean", ignore_index: int = -100
    ) -> None:
        super().__init__()
        self.surrogate = one_of("surrogate", surrogate, SURROGATES)
        self.reduction = checked_reduction(reduction)
        self.ignore_index = int(ignore_index)
        if isinstance(costs, str):
            one_of("costs", costs, ("hamming",))
            values = np.ones((2, 1))
        else:
            values = reals("costs", costs, "'hamming' or 2 x M numbers: misses, false alarms")
            if values.ndim != 2 or values.shape[0] not in (2, 3) or values.shape[1] == 0:
                raise refused_shape("costs", values.shape, "2 x M: misses, false alarms; or a third row: unsure")
            if not (np.isfinite(values).all() and (values > 0).all()):
                raise refusal("costs", "", "positive numbers that are finite", text="costs must be positive and finite")
        self.register_buffer("costs", torch.from_numpy(values).float(), persistent=False)

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        if scores.dim() == 0 or target.shape != scores.shape:
            raise refused_shape("target", target.shape, f"{tuple(scores.shape)}, that of the scores")
        costs = self._costs(scores)
        flat, labels = computed(scores).reshape(-1, scores.shape[-1]), target.reshape(-1, scores.shape[-1]).long()
        values, _ = label_set_loss(flat.contiguous(), labels.contiguous(), costs, self.surrogate, self.ignore_index)
        out = reduced(values, None, self.reduction)
        return out.reshape(scores.shape[:-1]) if self.reduction == "none" else out

    def decode(self, scores: Tensor) -> Tensor:
        """B x M of 0 and 1, and -1 where the answer unsure is best: for m4n the min player's most likely answer, for
        crf the least expected cost, for m3n the sign of the score. They are the same as long as a miss costs what a
        false alarm does."""
        costs = self._costs(scores).to(torch.float64)
        a, b = costs[0], costs[1]
        z = scores.double()
        if self.surrogate == "m3n":
            return (z > 0).long()
        if self.surrogate == "crf":
            off, on = z.sigmoid() * a, (-z).sigmoid() * b
            answer = (on < off).long()
            if len(costs) == 3:
                answer = torch.where(costs[2] < torch.minimum(off, on), -1, answer)
            return answer
        # The min player announces a label with the probability (z M + a) / (a + b) between the kinks.
        m = scores.shape[-1]
        answer = (z > (b - a) / (2 * m)).long()
        if len(costs) == 3:
            pays = costs[2] < a * b / (a + b)
            between = (z > -a / (2 * m)) & (z < b / (2 * m))
            answer = torch.where(pays, torch.where(between, -1, (z > 0).long()), answer)
        return answer

    def _costs(self, scores: Tensor) -> Tensor:
        m = scores.shape[-1]
        if self.costs.shape[1] not in (1, m):
            raise refused_shape("costs", self.costs.shape, f"{m} columns, one for every label")
        return self.costs.expand(-1, m).contiguous()
