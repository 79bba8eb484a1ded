"""Triton kernels of chains: one program runs one chain, with the R x R transitions in registers."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import torch
from torch import Tensor

from ._kernels import triton

if triton is not None:
    import triton.language as tl

MOST_LABELS = 64  # R x R numbers are kept by a program


def usable(values: Tensor, labels: int) -> bool:
    return triton is not None and values.is_cuda and labels <= MOST_LABELS


if triton is not None:
    NEVER = tl.constexpr(-1e30)  # what the padding of labels scores

    @triton.jit
    def _edges(T, START, END, r, WIDTH: tl.constexpr):
        a = tl.arange(0, WIDTH)
        there = a < r
        both = there[:, None] & there[None, :]
        between = tl.load(T + a[:, None] * r + a[None, :], mask=both, other=NEVER)
        start = tl.load(START + a, mask=there, other=NEVER)
        return a, there, between, start, tl.load(END + a, mask=there, other=NEVER)

    @triton.jit
    def _log_sum(values, AXIS: tl.constexpr):
        top = tl.max(values, AXIS)
        return top + tl.log(tl.sum(tl.exp(values - tl.expand_dims(top, AXIS)), AXIS))

    @triton.jit
    def _crf(U, TAGS, LENGTHS, T, START, END, ALPHA, VALUE, GRADIENT, PAIRS, most, r, WIDTH: tl.constexpr):
        """log Z minus the score of the truth, its gradient in the emissions and in the transitions."""
        i = tl.program_id(0).to(tl.int64)
        length = tl.load(LENGTHS + i).to(tl.int32)
        a, there, between, start, end = _edges(T, START, END, r, WIDTH)
        both = there[:, None] & there[None, :]
        rows, tags = i * most * r, i * most
        alpha = start + tl.load(U + rows + a, mask=there, other=0.0)
        tl.store(ALPHA + rows + a, alpha, mask=there)
        tag = tl.load(TAGS + tags)
        own = tl.sum(tl.where(a == tag, alpha, 0.0), 0)
        pairs = tl.zeros([WIDTH, WIDTH], alpha.dtype)
        m = 1
        while m < length:
            here = tl.load(U + rows + m * r + a, mask=there, other=0.0)
            alpha = tl.where(there, _log_sum(alpha[:, None] + between, 0) + here, NEVER)
            tl.store(ALPHA + rows + m * r + a, alpha, mask=there)
            after = tl.load(TAGS + tags + m)
            step = (a[:, None] == tag) & (a[None, :] == after)
            own += tl.sum(tl.where(a == after, here, 0.0), 0) + tl.sum(tl.sum(tl.where(step, between, 0.0), 1), 0)
            pairs = pairs - tl.where(step, 1.0, 0.0)
            tag = after
            m += 1
        own += tl.sum(tl.where(a == tag, end, 0.0), 0)
        total = _log_sum(alpha + end, 0)
        tl.store(VALUE + i, tl.where(length > 0, total - own, 0.0))
        beta = end
        tl.debug_barrier()
        m = length - 1
        while m >= 0:
            place = rows + m * r + a
            alpha = tl.load(ALPHA + place, mask=there, other=NEVER)
            tag = tl.load(TAGS + tags + m)
            mu = tl.exp(alpha + beta - total)
            tl.store(GRADIENT + place, mu - tl.where(a == tag, 1.0, 0.0), mask=there)
            if m > 0:
                arrive = tl.load(U + place, mask=there, other=0.0) + beta
                before = tl.load(ALPHA + place - r, mask=there, other=NEVER)
                pairs += tl.exp(before[:, None] + between + arrive[None, :] - total)
                beta = tl.where(there, _log_sum(between + arrive[None, :], 1), NEVER)
            m -= 1
        tl.store(PAIRS + i * r * r + a[:, None] * r + a[None, :], pairs, mask=both)

    @triton.jit
    def _viterbi(U, LENGTHS, T, START, END, BACK, VALUE, PATHS, most, r, WIDTH: tl.constexpr):
        i = tl.program_id(0).to(tl.int64)
        length = tl.load(LENGTHS + i).to(tl.int32)
        a, there, between, start, end = _edges(T, START, END, r, WIDTH)
        rows = i * most * r
        best = start + tl.load(U + rows + a, mask=there, other=0.0)
        m = 1
        while m < length:
            reach = best[:, None] + between
            tl.store(BACK + rows + m * r + a, tl.argmax(reach, 0), mask=there)
            here = tl.load(U + rows + m * r + a, mask=there, other=0.0)
            best = tl.where(there, tl.max(reach, 0) + here, NEVER)
            m += 1
        final = best + end
        tl.store(VALUE + i, tl.where(length > 0, tl.max(final, 0), 0.0))
        tl.debug_barrier()
        tag = tl.argmax(final, 0).to(tl.int32)
        m = length - 1
        while m >= 0:
            tl.store(PATHS + i * most + m, tag.to(tl.int64))
            if m > 0:
                tag = tl.load(BACK + rows + m * r + tag)
            m -= 1


def crf(
    emissions: Tensor, tags: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    n, most, r = emissions.shape
    alpha, value = torch.empty_like(emissions), emissions.new_empty(n)
    gradient, pairs = torch.zeros_like(emissions), emissions.new_zeros(n, r, r)
    _crf[(n,)](
        emissions, tags, lengths, transitions, start, end, alpha, value, gradient, pairs, most, r, WIDTH=_width(r)
    )
    return value, gradient, pairs


def viterbi(
    emissions: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> tuple[Tensor, Tensor]:
    n, most, r = emissions.shape
    arrivals = torch.empty(emissions.shape, dtype=torch.int32, device=emissions.device)
    value, paths = emissions.new_empty(n), torch.full((n, most), -1, dtype=torch.long, device=emissions.device)
    _viterbi[(n,)](emissions, lengths, transitions, start, end, arrivals, value, paths, most, r, WIDTH=_width(r))
    return value, paths


def _width(labels: int) -> int:
    return max(triton.next_power_of_2(labels), 16)
