"""The formulas of games on the simplex, row by row, in plain torch: what is used beside Triton's kernels, and where there
is no Triton. docs/algorithms.md derives them.

``w`` are scores minus the largest of their row, so that huge scores lose nothing; ``s`` is the scale of the costs. A step
gives the mu and the value of  max h(mu)/g + u.mu - |mu|^2 / 2.  The value is that of the dual,

    min over theta of  theta mass + sum (u - theta)_+^2 / 2          (h = 0; its multipliers are added to u otherwise),

to which an error of theta is of second order. Put into the primal, an error of the mass would be multiplied by theta.
"""

from __future__ import annotations

from typing import Optional

import torch
from torch import Tensor


def threshold(u: Tensor, mass: float) -> Tensor:
    """theta with sum (u - theta)_+ = mass, of every row."""
    top = u.amax(-1, keepdim=True)
    falling = (u - top).sort(-1, descending=True).values
    sums = falling.cumsum(-1) - mass
    theta = sums / torch.arange(1, u.shape[-1] + 1, device=u.device, dtype=u.dtype)
    count = (falling > theta).sum(-1, keepdim=True).clamp_(min=1)
    theta = theta.gather(-1, count - 1)
    excess = (falling - theta).clamp_(min=0).sum(-1, keepdim=True) - mass  # of rounded sums: one Newton step
    return theta + excess / count + top


def simplex(u: Tensor, mass: float = 1.0) -> tuple[Tensor, Tensor]:
    """The nearest point of {mu >= 0, sum mu = mass}, and the value."""
    top = u.amax(-1, keepdim=True)
    theta = threshold(u - top, mass)
    mu = (u - top - theta).clamp_(min=0)
    return mu, mass * (top + theta) + 0.5 * (mu * mu).sum(-1, keepdim=True)


def zero_one_step(u: Tensor, reach: float) -> tuple[Tensor, Tensor]:
    """``reach``: s/g."""
    mu, value = simplex(torch.minimum(u, threshold(u, reach)))
    return mu, value + reach


def absolute_step(u: Tensor, unit: float) -> tuple[Tensor, Tensor]:
    """``unit``: s/g. For a median p it is the projection of u + unit |j - p|. The median is found by bisection; if
    neither p nor p + 1 is one, exactly half of the mass lies up to p."""
    k = u.shape[-1]
    j = torch.arange(k, device=u.device)
    low = torch.zeros(u.shape[:-1] + (1,), dtype=torch.long, device=u.device)
    high = torch.full_like(low, k - 1)
    done = torch.zeros_like(low, dtype=torch.bool)
    out, value = torch.zeros_like(u), torch.zeros_like(u[..., :1])
    for _ in range(k.bit_length() + 1):
        p = (low + high) // 2
        mu, bound = simplex(u + unit * (j - p).abs().to(u.dtype))
        below = torch.where(j < p, mu, 0).sum(-1, keepdim=True)
        upto = torch.where(j <= p, mu, 0).sum(-1, keepdim=True)
        running = ~done & (low <= high)
        left, right = running & (below > 0.5), running & (upto < 0.5)
        found = running & ~left & ~right
        out, value = torch.where(found, mu, out), torch.where(found, bound, value)
        done = done | found
        high, low = torch.where(left, p - 1, high), torch.where(right, p + 1, low)
    slope = unit * j.to(u.dtype)
    lowest = u.amin() - unit * k - 4 * (u.amax() - u.amin()) - 4
    left, left_value = simplex(torch.where(j < low, u - slope, lowest), 0.5)
    right, right_value = simplex(torch.where(j < low, lowest, u + slope), 0.5)
    mu = torch.where(done, out, torch.where(j < low, left, right))
    return mu, torch.where(done, value, left_value + right_value)


def zero_one_game(w: Tensor, s: float) -> tuple[Tensor, Tensor]:
    """The value of the game without smoothing and a maximiser: uniform above the threshold."""
    theta = threshold(w, s)
    on = (w > theta).to(w.dtype)
    on = torch.where(on.any(-1, keepdim=True), on, (w >= 0).to(w.dtype))  # thresholds that round to the largest score
    return s + theta.squeeze(-1), on / on.sum(-1, keepdim=True)


def absolute_game(w: Tensor, s: float) -> tuple[Tensor, Tensor]:
    k = w.shape[-1]
    slope = s * torch.arange(k, device=w.device, dtype=w.dtype)
    low, a = (w - slope).max(-1)
    high, b = (w + slope).max(-1)
    both = torch.nn.functional.one_hot(a, k) + torch.nn.functional.one_hot(b, k)
    return 0.5 * (low + high), 0.5 * both.to(w.dtype)


def class_loss(
    scores: Tensor, target: Tensor, name: str, s: float, rows: Optional[Tensor], surrogate: str, g: float
) -> tuple[Tensor, Tensor]:
    """Values and subgradients of a batch N x k; ``rows``: cost[target], for m3n; ``g``: the smoothing of m4n, in costs.
    Rows with scores that are not finite have the value nan."""
    w = scores - scores.amax(-1, keepdim=True)
    truth = torch.nn.functional.one_hot(target, scores.shape[-1]).to(scores.dtype)
    own = (w * truth).sum(-1)
    if surrogate == "crf":
        value, mu = w.logsumexp(-1), w.softmax(-1)
    elif surrogate == "m3n":
        assert rows is not None
        value, best = (w + rows).max(-1)
        mu = torch.nn.functional.one_hot(best, scores.shape[-1]).to(scores.dtype)
    elif g > 0:
        mu, value = (absolute_step if name == "absolute" else zero_one_step)(w / g, s / g)
        value = g * (value.squeeze(-1) + 0.5)
    else:
        value, mu = absolute_game(w, s) if name == "absolute" else zero_one_game(w, s)
    finite = torch.isfinite(scores).all(-1)
    return torch.where(finite, value - own, torch.nan), mu - truth


def label_set_loss(
    scores: Tensor, target: Tensor, costs: Tensor, surrogate: str, ignored: int
) -> tuple[Tensor, Tensor]:
    """Of label sets: one score z a label that speaks for it being on, costs 2 x M or 3 x M. With p = the share of
    truths with the label on, a its miss and b its false alarm divided by M,

        m4n   max over p of  min(a p, b (1 - p), c) + z (p - y)        (c: the answer unsure, if there is one)
        m3n   max over p in {0, 1} of  the cost of p + z (p - y)
        crf   log(1 + exp(z)) - z y
    """
    kept = target != ignored
    y = torch.where(kept, target, 0).to(scores.dtype)
    a, b = (costs[r].to(scores.dtype) / scores.shape[-1] for r in (0, 1))
    if surrogate == "crf":
        value, p = torch.nn.functional.softplus(scores) - scores * y, scores.sigmoid()
    elif surrogate == "m3n":
        off, on = y * a - scores * y, (1 - y) * b + scores * (1 - y)
        value, p = torch.maximum(off, on), (on > off).to(scores.dtype)
    else:
        # Concave in p and linear between the places where two of its pieces meet: p is one of them, 0 or 1.
        kink = b / (a + b)
        top = a * kink
        low = high = kink
        if len(costs) == 3:
            unsure = costs[2].to(scores.dtype) / scores.shape[-1]
            pays = unsure < top
            low, high = torch.where(pays, unsure / a, kink), torch.where(pays, 1 - unsure / b, kink)
            top = torch.where(pays, unsure, top)
        p = torch.where(scores > 0, high, low)  # the slopes are a left of low, 0 between, -b right of high
        p = torch.where(scores > b, 1.0, torch.where(scores < -a, 0.0, p))
        risk = torch.minimum(torch.minimum(a * p, b * (1 - p)), top)
        value = risk + scores * (p - y)
    value = torch.where(kept, value, 0).sum(-1)
    finite = (torch.isfinite(scores) | ~kept).all(-1)
    return torch.where(finite, value, torch.nan), torch.where(kept, p - y, 0)


def rank_one_loss(
    scores: Tensor, target: Tensor, sizes: Tensor, gains: Tensor, discounts: Tensor, constant: Tensor
) -> tuple[Tensor, Tensor]:
    """Of permutations with a loss of rank one, m4n: N x M scores of items. ``gains`` and ``discounts``, N x M, are those
    of each size, falling, 0 beyond it. With scores and discounts sorted, the residual r is the nearest falling sequence
    to v - discount; where it is constant, mu is the mean of the gains.

    The nearest falling sequence has r_i = min over a <= i of max over b >= i of the mean of a..b, M^2 means a row.
    """
    n, most = scores.shape
    place = torch.arange(most, device=scores.device)
    there = place < sizes.unsqueeze(-1)
    finite = (torch.isfinite(scores) | ~there).all(-1)
    top = torch.where(there, scores, -torch.inf).amax(-1, keepdim=True)
    lowest = torch.where(there, scores, torch.inf).amin(-1, keepdim=True)
    v, order = torch.where(there, scores - top, lowest - top - 1).sort(stable=True, dim=-1, descending=True)
    # Items that are not there come last; what they have is so low that no block reaches them.
    far = 4 * ((top - lowest) + discounts.amax(-1, keepdim=True)) + 4
    u = torch.where(there, v - discounts, -far)
    sums = torch.nn.functional.pad(u.cumsum(-1), (1, 0))
    length = (place[None, :] - place[:, None] + 1).clamp(min=1).to(scores.dtype)
    means = (sums[:, None, 1:] - sums[:, :-1, None]) / length  # [a, b], a <= b
    valid = (place[None, :] >= place[:, None]) & there[:, None, :]
    means = torch.where(valid, means, -torch.inf)
    best = means.flip(-1).cummax(-1).values.flip(-1)  # max over b' >= b
    best = torch.where(place[None, :] >= place[:, None], best, torch.inf)
    residual = best.cummin(1).values.diagonal(dim1=1, dim2=2)  # min over a <= i
    # Blocks of equal residuals, up to rounding: neighbours that differ by less than it has.
    step = residual[:, :-1] - residual[:, 1:]
    noise = 64 * torch.finfo(scores.dtype).eps * (far + residual[:, :-1].abs().clamp(max=torch.finfo(scores.dtype).max))
    block = torch.nn.functional.pad((step > noise).long().cumsum(-1), (1, 0)).clamp_(max=max(most - 1, 0))
    total = torch.zeros_like(gains).scatter_add(-1, block, gains)
    count = torch.zeros_like(gains).scatter_add(-1, block, there.to(scores.dtype)).clamp(min=1)
    mean_gain = torch.where(there, (total / count).gather(-1, block), 0)
    value = constant + torch.where(there, (v - discounts) * mean_gain, 0).sum(-1)
    mu = torch.zeros_like(scores).scatter(-1, order, mean_gain)
    truth = torch.where(there, gains.gather(-1, target.clamp(0, max(most - 1, 0))), 0)
    own = torch.where(there, (scores - top) * truth, 0).sum(-1)
    return torch.where(finite, value - own, torch.nan), torch.where(there, mu - truth, 0)


def chain_log_partition(emissions: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """By the forward recursion; 0 for chains of length 0."""
    if emissions.shape[1] == 0:
        return emissions.sum((1, 2))
    alpha = emissions[:, 0] + start
    for m in range(1, emissions.shape[1]):
        ahead = (alpha.unsqueeze(-1) + transitions).logsumexp(1) + emissions[:, m]
        alpha = torch.where((m < lengths).unsqueeze(-1), ahead, alpha)
    return torch.where(lengths > 0, (alpha + end).logsumexp(-1), 0)


def viterbi(
    emissions: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> tuple[Tensor, Tensor]:
    """The largest score of a labelling and the labelling, -1 beyond the length."""
    n, most, _ = emissions.shape
    paths = torch.full((n, most), -1, dtype=torch.long, device=emissions.device)
    if most == 0:
        return emissions.sum((1, 2)), paths
    best, back = emissions[:, 0] + start, []
    for m in range(1, most):
        ahead, source = (best.unsqueeze(-1) + transitions).max(1)
        best = torch.where((m < lengths).unsqueeze(-1), ahead + emissions[:, m], best)
        back.append(source)
    value, tag = (best + end).max(-1)
    for m in range(most - 1, -1, -1):
        there = m < lengths
        paths[:, m] = torch.where(there, tag, -1)
        if m > 0:
            tag = torch.where(there, back[m - 1].gather(1, tag.unsqueeze(-1)).squeeze(-1), tag)
    return torch.where(lengths > 0, value, 0), paths


def chain_score(
    emissions: Tensor, tags: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    most = emissions.shape[1]
    if most == 0:
        return emissions.sum((1, 2))
    there = torch.arange(most, device=emissions.device) < lengths.unsqueeze(-1)
    total = torch.where(there, emissions.gather(2, tags.unsqueeze(-1)).squeeze(-1), 0).sum(-1)
    total = total + torch.where(there[:, 1:], transitions[tags[:, :-1], tags[:, 1:]], 0).sum(-1)
    last = tags.gather(1, (lengths - 1).clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return torch.where(lengths > 0, total + start[tags[:, 0]] + end[last], 0)
