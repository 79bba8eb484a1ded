"""Scores that are not finite, on a GPU. To ask the GPU would make the host wait at every batch. So the loss of such an
example is nan at once, its place in the batch is copied to the host behind the computation, and the next loss on that
device, or ``check``, raises the error."""

from __future__ import annotations

from typing import Any

import torch

from .._errors import Error

NOBODY = 2**62
_notes: dict[torch.device, torch.Tensor] = {}  # in pinned memory: the first bad example


def _raise_noted(device: torch.device) -> None:
    note = _notes.get(device)
    if note is None or note[0] == NOBODY:
        return
    example = int(note[0])
    note[0] = NOBODY
    raise Error(
        f"example {example} of an earlier batch on {device} had scores that are not finite, or a target that is out of "
        "range; its loss was nan"
    )


def note(values: torch.Tensor) -> None:
    """Remember the first example whose loss is nan; raise for one that was remembered before."""
    if not values.is_cuda or values.numel() == 0 or torch.cuda.is_current_stream_capturing():
        return
    device = values.device
    _raise_noted(device)
    if device not in _notes:
        _notes[device] = torch.full((1,), NOBODY, dtype=torch.int64, pin_memory=True)
    places = torch.arange(values.numel(), device=device)
    first = torch.where(torch.isnan(values.detach().reshape(-1)), places, NOBODY).amin()
    _notes[device].copy_(first.reshape(1), non_blocking=True)


def check(device: Any = None) -> None:
    """Wait for the GPU, and raise an error if an example had scores that are not finite."""
    if not torch.cuda.is_available():
        return
    torch.cuda.synchronize(device)
    for noted in [torch.device(device)] if device is not None else list(_notes):
        _raise_noted(noted)
