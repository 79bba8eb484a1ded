"""Triton kernels: one reads scores and writes values and subgradients. Formulas are those of _plain.py.

Thresholds by Michelot's iteration in registers: start with all that can lie above, theta = (their sum - mass) / their
number, drop what lies below, until nothing does. That sum is rounded, and a GPU divides to 2 units in the last place: a
Newton step, whose sum is of what lies above theta only, corrects the mass.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # there is none for this system: plain torch does the same
    triton = None

MOST_CLASSES = 4096  # of a row that a program keeps in registers


def usable(values: Tensor) -> bool:
    return triton is not None and values.is_cuda


if triton is not None:
    FAR = tl.constexpr(-1e30)  # padding: below any threshold

    @triton.jit
    def _number(value, LIKE):
        """A number of the host, which is a float64 there, in the precision of an array."""
        return (tl.sum(tl.zeros([1], tl.float64), 0) + value).to(LIKE.dtype.element_ty)

    @triton.jit
    def _threshold(u, on, mass):
        """theta with sum (u - theta)_+ = mass, of every row; `on`: all that can lie above."""
        count = tl.maximum(tl.sum(on.to(u.dtype), 1), 1.0)
        theta = (tl.sum(tl.where(on, u, 0.0), 1) - mass) / count
        dropped = 1
        while dropped > 0:
            on = on & (u > theta[:, None])
            fewer = tl.maximum(tl.sum(on.to(u.dtype), 1), 1.0)
            dropped = tl.sum((fewer < count).to(tl.int32), 0)
            count = fewer
            theta = (tl.sum(tl.where(on, u, 0.0), 1) - mass) / count
        return theta + (tl.sum(tl.maximum(u - theta[:, None], 0.0), 1) - mass) / count

    @triton.jit
    def _simplex(u, there, mass):
        top = tl.max(tl.where(there, u, FAR), 1)
        shifted = tl.where(there, u - top[:, None], FAR)
        theta = _threshold(shifted, shifted > -mass, mass)
        mu = tl.maximum(shifted - theta[:, None], 0.0)
        return mu, mass * (top + theta) + 0.5 * tl.sum(mu * mu, 1)

    @triton.jit
    def zero_one_step(u, there, reach):
        top = tl.max(tl.where(there, u, FAR), 1)
        shifted = tl.where(there, u - top[:, None], FAR)
        theta = _threshold(shifted, shifted > -reach, reach)
        cut = tl.minimum(shifted, theta[:, None])
        mu, value = _simplex(cut, there, 1.0)
        return mu, reach + top + value

    @triton.jit
    def absolute_step(u, there, unit, k, LOG: tl.constexpr):
        j = tl.arange(0, u.shape[1])[None, :]
        low = tl.zeros([u.shape[0]], tl.int32)
        high = low + (k - 1)
        done = low > high
        out, value = tl.zeros_like(u), tl.max(u, 1)
        for _ in range(LOG):
            p = (low + high) // 2
            mu, bound = _simplex(u + unit * tl.abs(j - p[:, None]).to(u.dtype), there, 1.0)
            below = tl.sum(tl.where(j < p[:, None], mu, 0.0), 1)
            upto = tl.sum(tl.where(j <= p[:, None], mu, 0.0), 1)
            running = (done == 0) & (low <= high)
            left = running & (below > 0.5)
            right = running & (upto < 0.5)
            found = running & (left == 0) & (right == 0)
            out, value = tl.where(found[:, None], mu, out), tl.where(found, bound, value)
            done = done | found
            high = tl.where(left, p - 1, high)
            low = tl.where(right, p + 1, low)
        slope = unit * j.to(u.dtype)
        first = j < low[:, None]
        left, left_value = _simplex(u - slope, there & first, 0.5)
        right, right_value = _simplex(u + slope, there & (first == 0), 0.5)
        mu = tl.where(done[:, None], out, tl.where(first, left, right))
        return mu, tl.where(done, value, left_value + right_value)

    @triton.jit
    def _class_loss(
        V, Y, VALUE, GRADIENT, n, k, s: tl.float64, g: tl.float64, ignored, ABSOLUTE: tl.constexpr,
        SMOOTH: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, LOG: tl.constexpr,
    ):  # fmt: skip
        s, g = _number(s, V), _number(g, V)
        row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
        j = tl.arange(0, WIDTH)
        here, there = row < n, j < k
        cells = here[:, None] & there[None, :]
        place = row[:, None] * k + j[None, :]
        v = tl.load(V + place, mask=cells, other=0.0)
        y = tl.load(Y + row, mask=here, other=0)
        good = tl.sum(((tl.abs(v) < float("inf")) | (cells == 0)).to(tl.int32), 1) == WIDTH
        known = (y >= 0) & (y < k)
        kept = y != ignored
        there2 = there[None, :] & (row[:, None] >= 0)
        top = tl.max(tl.where(there2, v, float("-inf")), 1)
        w = tl.where(there2, v - top[:, None], FAR)
        w = tl.where(good[:, None], w, tl.where(there2, 0.0, FAR))
        if ABSOLUTE:
            if SMOOTH:
                mu, value = absolute_step(w / g, there2, s / g, k, LOG)
                value = g * (value + 0.5)
            else:
                slope = s * j.to(w.dtype)[None, :]
                down = tl.where(there2, w - slope, FAR)
                up = tl.where(there2, w + slope, FAR)
                a, b = tl.argmax(down, 1), tl.argmax(up, 1)
                value = 0.5 * (tl.max(down, 1) + tl.max(up, 1))
                mu = 0.5 * ((j[None, :] == a[:, None]).to(w.dtype) + (j[None, :] == b[:, None]).to(w.dtype))
        else:
            if SMOOTH:
                mu, value = zero_one_step(w / g, there2, s / g)
                value = g * (value + 0.5)
            else:
                theta = _threshold(w, w > -s, s)
                on = (w > theta[:, None]).to(w.dtype)
                mu = on / tl.maximum(tl.sum(on, 1), 1.0)[:, None]
                value = s + theta
        truth = (j[None, :] == y[:, None]).to(w.dtype)
        value = value - tl.sum(tl.where(there2, w * truth, 0.0), 1)
        value = tl.where(good & known, value, float("nan"))
        tl.store(VALUE + row, tl.where(kept, value, 0.0), mask=here)
        tl.store(GRADIENT + place, tl.where(kept[:, None], mu - truth, 0.0), mask=cells)

    @triton.jit
    def _label_set_loss(
        Z, Y, COSTS, VALUE, GRADIENT, m, ignored, SURROGATE: tl.constexpr, UNSURE: tl.constexpr, WIDTH: tl.constexpr
    ):
        row = tl.program_id(0).to(tl.int64)
        total = tl.sum(tl.zeros([WIDTH], Z.dtype.element_ty), 0)
        start = 0
        while start < m:
            j = start + tl.arange(0, WIDTH)
            there = j < m
            z = tl.load(Z + row * m + j, mask=there, other=0.0)
            label = tl.load(Y + row * m + j, mask=there, other=0)
            kept = there & (label != ignored)
            y = tl.where(kept, label, 0).to(z.dtype)
            a = tl.load(COSTS + j, mask=there, other=1.0).to(z.dtype) / m
            b = tl.load(COSTS + m + j, mask=there, other=1.0).to(z.dtype) / m
            if SURROGATE == 2:
                small = tl.exp(-tl.abs(z))
                value = tl.maximum(z, 0.0) + tl.log(1.0 + small) - z * y
                p = tl.where(z >= 0, 1.0, small) / (1.0 + small)
            elif SURROGATE == 1:
                off, on = y * a - z * y, (1.0 - y) * b + z * (1.0 - y)
                value = tl.maximum(off, on)
                p = tl.where(on > off, 1.0, 0.0)
            else:
                low = b / (a + b)
                high = low
                top = a * low
                if UNSURE:
                    unsure = tl.load(COSTS + 2 * m + j, mask=there, other=1.0).to(z.dtype) / m
                    pays = unsure < top
                    low, high = tl.where(pays, unsure / a, low), tl.where(pays, 1.0 - unsure / b, high)
                    top = tl.where(pays, unsure, top)
                p = tl.where(z > 0, high, low)
                p = tl.where(z > b, 1.0, tl.where(z < -a, 0.0, p))
                value = tl.minimum(tl.minimum(a * p, b * (1.0 - p)), top) + z * (p - y)
            good = (tl.abs(z) < float("inf")) & ((label == 0) | (label == 1))
            value = tl.where(good, value, float("nan"))
            total += tl.sum(tl.where(kept, value, 0.0), 0)
            tl.store(GRADIENT + row * m + j, tl.where(kept, p - y, 0.0), mask=there)
            start += WIDTH
        tl.store(VALUE + row, total)


def _rows_of_width(k: int) -> tuple[int, int]:
    """Rows of a program, and their length: about 2048 numbers in four warps."""
    width = max(triton.next_power_of_2(k), 2)
    return max(1, min(64, 2048 // width)), width


def class_loss(scores: Tensor, target: Tensor, name: str, s: float, g: float, ignored: int) -> tuple[Tensor, Tensor]:
    n, k = scores.shape
    rows, width = _rows_of_width(k)
    value, gradient = scores.new_empty(n), torch.empty_like(scores)
    _class_loss[(triton.cdiv(n, rows),)](
        scores, target, value, gradient, n, k, s, g, ignored, ABSOLUTE=name == "absolute", SMOOTH=g > 0, ROWS=rows,
        WIDTH=width, LOG=k.bit_length() + 1,
    )  # fmt: skip
    return value, gradient


def label_set_loss(
    scores: Tensor, target: Tensor, costs: Tensor, surrogate: str, ignored: int
) -> tuple[Tensor, Tensor]:
    n, m = scores.shape
    value, gradient = scores.new_empty(n), torch.empty_like(scores)
    _label_set_loss[(n,)](
        scores, target, costs, value, gradient, m, ignored, SURROGATE=("m4n", "m3n", "crf").index(surrogate),
        UNSURE=len(costs) == 3, WIDTH=min(1024, max(triton.next_power_of_2(m), 2)),
    )  # fmt: skip
    return value, gradient
