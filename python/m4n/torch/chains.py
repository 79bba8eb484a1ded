"""Sequences: a label at every position."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch import Tensor

from .. import _core
from . import _chain_kernels, _late, _plain
from ._batches import (
    back,
    checked_reduction,
    computed,
    on_host,
    one_of,
    packed,
    packed_targets,
    packing,
    present,
    real_on_host,
    reduced,
    refuse_second_derivative,
    refuse_vmap,
    refused_shape,
    threads,
    unpacked,
    whole_on_host,
)
from ._costs import CostModule, matrix_on_host, rows_of
from ._starts import Starts, starts_of

SURROGATES = ("m4n", "m3n", "crf")


@torch.library.custom_op("m4n::chain_loss", mutates_args=())
def chain_loss(
    emissions: Tensor,
    tags: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    name: str,
    scale: float,
    matrix: Optional[Tensor],
    surrogate: str,
    tol: float,
    rounds: int,
    index: Optional[Tensor],
    starts: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Bounds of the loss from below and above, the gradient in the emissions and, by example, in the transitions."""
    n, most, labels = emissions.shape
    if n == 0 or most == 0 or labels == 1:
        zero = emissions.new_zeros(n)
        return zero, zero.clone(), torch.zeros_like(emissions), emissions.new_zeros(n, labels, labels)
    if emissions.is_cpu or surrogate == "m4n":
        lower, upper, gradient, pairs = _core.chain_loss(
            on_host(emissions), whole_on_host(tags), whole_on_host(lengths), real_on_host(transitions),
            real_on_host(start), real_on_host(end), matrix_on_host(name, scale, matrix, labels), surrogate, tol, rounds,
            starts_of(starts, index), whole_on_host(index), threads(),
        )  # fmt: skip
        return back(lower, emissions), back(upper, emissions), back(gradient, emissions), back(pairs, emissions)
    known = (tags >= 0) & (tags < labels)
    finite = torch.isfinite(emissions).flatten(1).all(-1) & (known | ~present(lengths, most)).all(-1)
    tags = torch.where(known, tags, 0)
    if surrogate == "m3n":
        share = rows_of(name, scale, matrix, tags, emissions) / lengths.clamp(min=1)[:, None, None]
        value, paths = best_paths(emissions + share, lengths, transitions, start, end)
        gradient, pairs = _counts(paths, lengths, emissions)
        truth, truth_pairs = _counts(tags, lengths, emissions)
        gradient, pairs = gradient - truth, pairs - truth_pairs
        value = value - _plain.chain_score(emissions, tags, lengths, transitions, start, end)
    elif _chain_kernels.usable(emissions, labels):
        value, gradient, pairs = _chain_kernels.crf(emissions, tags, lengths, transitions, start, end)
    else:
        value, gradient, pairs = _plain_crf(emissions, tags, lengths, transitions, start, end)
    value = torch.where(finite, value, torch.nan)
    _late.note(value)
    return value, value.clone(), gradient, pairs


def best_paths(
    emissions: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> tuple[Tensor, Tensor]:
    kernel = _chain_kernels.usable(emissions, emissions.shape[-1])
    return (_chain_kernels.viterbi if kernel else _plain.viterbi)(emissions, lengths, transitions, start, end)


def _counts(tags: Tensor, lengths: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    """The indicators of labellings: of labels at positions, and how often one follows another."""
    there = present(lengths, like.shape[1])
    marks = torch.nn.functional.one_hot(tags.clamp(min=0), like.shape[2]).to(like.dtype) * there.unsqueeze(-1)
    return marks, torch.einsum("bmi,bmj->bij", marks[:, :-1], marks[:, 1:])


def _plain_crf(
    emissions: Tensor, tags: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    with torch.enable_grad():
        unary = emissions.detach().requires_grad_()
        between = transitions.detach().expand(len(emissions), -1, -1).clone().requires_grad_()
        alpha = _plain.chain_log_partition(unary, lengths, between, start.detach(), end.detach())
        mu, pairs = torch.autograd.grad(alpha.sum(), (unary, between), materialize_grads=True)
    truth, truth_pairs = _counts(tags, lengths, emissions)
    value = alpha.detach() - _plain.chain_score(emissions, tags, lengths, transitions, start, end)
    return value, mu - truth, pairs - truth_pairs


@chain_loss.register_fake
def _(emissions: Tensor, *arguments: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    n, _, labels = emissions.shape
    pairs = emissions.new_empty(n, labels, labels)
    return emissions.new_empty(n), emissions.new_empty(n), torch.empty_like(emissions), pairs


def _remember(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[2], output[2], output[3])


def _backward(ctx: Any, by_lower: Tensor, by_upper: Tensor, *_: Any) -> Any:
    refuse_second_derivative()
    lengths, gradient, pairs = ctx.saved_tensors
    by_value = by_lower + by_upper
    unary = by_value[:, None, None] * gradient
    between = torch.einsum("b,bij->ij", by_value, pairs)
    if gradient.shape[1] == 0:
        ends = unary.new_zeros(2, gradient.shape[2])
    else:  # positions beyond the length have no gradient
        last = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, gradient.shape[2])
        ends = torch.stack([unary[:, 0].sum(0), unary.gather(1, last).sum((0, 1))])
    return unary, None, None, between, ends[0], ends[1], *[None] * 8


chain_loss.register_autograd(_backward, setup_context=_remember)
refuse_vmap(chain_loss, "MaxMinChainLoss")


@torch.library.custom_op("m4n::chain_decode", mutates_args=())
def chain_decode(
    emissions: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    name: str,
    scale: float,
    matrix: Optional[Tensor],
    how: str,
    tol: float,
    rounds: int,
) -> Tensor:
    """The best labelling ('argmax'), or the min player's most likely answers ('adversary'); -1 beyond the length."""
    n, most, labels = emissions.shape
    there = present(lengths, most)
    if n == 0 or most == 0 or labels == 1:
        return torch.where(there, 0, -1)
    if how == "adversary":
        cost = matrix_on_host(name, scale, matrix, labels)
        nu = _core.chain_game(
            *_scores_on_host(emissions, lengths, transitions, start, end), cost, tol, rounds, threads()
        )
        best = torch.from_numpy(nu[3].argmax(-1)).to(emissions.device)
        return torch.where(there, best, -1)
    if emissions.is_cpu:
        found = _core.chain_k_best(*_scores_on_host(emissions, lengths, transitions, start, end), 1, threads())[1]
        return torch.from_numpy(found).squeeze(1).clone()
    return best_paths(emissions, lengths, transitions, start, end)[1]


@chain_decode.register_fake
def _(emissions: Tensor, *arguments: Any) -> Tensor:
    return emissions.new_empty(emissions.shape[:2], dtype=torch.long)


refuse_vmap(chain_decode, "decode")


def _scores_on_host(
    emissions: Tensor, lengths: Tensor, transitions: Tensor, start: Tensor, end: Tensor
) -> tuple[Any, Any, Any, Any, Any]:
    edges = (real_on_host(transitions), real_on_host(start), real_on_host(end))
    return real_on_host(emissions), whole_on_host(lengths), *edges


class MaxMinChainLoss(CostModule):
    """The loss of emissions B x M x R and tags B x M; the cost of a labelling is the mean over its positions.

    cost: None ('zero-one'), 'absolute', 'squared', or costs R x K, [true][prediction]. labels: R, if it is to be checked.
    surrogate: 'm4n', 'm3n' or 'crf'.
    tol, max_rounds: of the oracle of m4n: how far its bounds may lie apart, and how many labellings it may ask for. The
    loss is the bound from above. In eval mode ``bounds`` holds both, by example.

    ``loss(emissions, tags, mask, transitions, start, end)``: mask B x M says which positions are there, in any order;
    the others are passed over. transitions R x R [from][to], start and end R; None: zeros. ``index``: the numbers of the
    examples, from 0, let the games start where those of the last visit ended.
    """

    bounds: Optional[tuple[Tensor, Tensor]]

    def __init__(
        self,
        cost: Any = None,
        labels: Optional[int] = None,
        surrogate: str = "m4n",
        tol: float = 1e-6,
        max_rounds: int = 1000,
        reduction: str = "mean",
    ) -> None:
        super().__init__(cost)
        self.labels = self.classes if labels is None else labels
        self.surrogate = one_of("surrogate", surrogate, SURROGATES)
        self.tol, self.max_rounds = float(tol), int(max_rounds)
        self.reduction = checked_reduction(reduction)
        self.bounds = None
        self._starts = Starts()

    def forward(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Optional[Tensor] = None,
        transitions: Optional[Tensor] = None,
        start: Optional[Tensor] = None,
        end: Optional[Tensor] = None,
        index: Optional[Tensor] = None,
    ) -> Tensor:
        if tags.shape != emissions.shape[:2]:
            raise refused_shape("tags", tags.shape, f"{tuple(emissions.shape[:2])}")
        unary, lengths, order, edges = self._prepared(emissions, mask, transitions, start, end)
        lower, upper, _, _ = chain_loss(
            unary, packed_targets(tags, lengths, order), lengths, *edges, *self.costs(), self.surrogate, self.tol,
            self.max_rounds, index, self._starts.number,
        )  # fmt: skip
        if not self.training:
            self.bounds = (lower.detach(), upper.detach())
        return reduced(upper, None, self.reduction)

    def decode(
        self,
        emissions: Tensor,
        mask: Optional[Tensor] = None,
        transitions: Optional[Tensor] = None,
        start: Optional[Tensor] = None,
        end: Optional[Tensor] = None,
        how: Optional[str] = None,
    ) -> Tensor:
        """Labels B x M, -1 where the mask is off: the best labelling ('argmax'), the min player's most likely answers
        ('adversary', m4n) or those of least expected cost ('expected', crf). None: the usual one, as in the library."""
        if how is None:
            usual = "argmax" if self.symmetric or self.surrogate == "m3n" else "adversary"
            how = "expected" if self.surrogate == "crf" else usual
        allowed = [] if self.has_actions else ["argmax"]  # scores are of labels, answers are not
        allowed += {"m4n": ["adversary"], "crf": ["expected"], "m3n": []}[self.surrogate]
        one_of("decode", how, allowed)
        unary, lengths, order, edges = self._prepared(emissions, mask, transitions, start, end)
        if how == "expected":
            mu = self._marginals(unary, lengths, edges)
            truths = torch.arange(mu.shape[-1], device=mu.device)
            found = (mu @ rows_of(*self.costs(), truths, mu)).argmin(-1)
            found = torch.where(present(lengths, mu.shape[1]), found, -1)
        else:
            found = chain_decode(unary, lengths, *edges, *self.costs(), how, self.tol, self.max_rounds)
        return unpacked(found, order, -1)

    def k_best(
        self,
        emissions: Tensor,
        k: int,
        mask: Optional[Tensor] = None,
        transitions: Optional[Tensor] = None,
        start: Optional[Tensor] = None,
        end: Optional[Tensor] = None,
    ) -> tuple[Tensor, Tensor]:
        """The scores, B x k, and the labellings, B x k x M, of the k best labellings; -infinity and -1 where there are
        fewer, and -1 where the mask is off. On the host."""
        unary, lengths, order, edges = self._prepared(emissions, mask, transitions, start, end)
        scores, paths = _core.chain_k_best(*_scores_on_host(unary, lengths, *edges), int(k), threads())
        labels = torch.from_numpy(paths).to(unary.device)
        if order is not None:
            rows = order.unsqueeze(1).expand(-1, k, -1)
            labels = torch.full_like(labels, -1).scatter(2, rows, labels)
        return back(scores, unary), labels

    def marginals(
        self,
        emissions: Tensor,
        mask: Optional[Tensor] = None,
        transitions: Optional[Tensor] = None,
        start: Optional[Tensor] = None,
        end: Optional[Tensor] = None,
    ) -> Tensor:
        """B x M x R: the probabilities of the labels for crf, the max player's strategy for m4n; 0 where the mask is
        off."""
        one_of("surrogate", self.surrogate, ("m4n", "crf"))
        unary, lengths, order, edges = self._prepared(emissions, mask, transitions, start, end)
        return unpacked(self._marginals(unary, lengths, edges), order, 0)

    def _marginals(self, unary: Tensor, lengths: Tensor, edges: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        if self.surrogate == "crf":
            nothing = torch.zeros(unary.shape[:2], dtype=torch.long, device=unary.device)
            gradient = chain_loss(
                unary, nothing, lengths, *edges, "zero-one", 1.0, None, "crf", self.tol, self.max_rounds, None, 0
            )[2]
            first = torch.arange(unary.shape[2], device=unary.device) == 0
            return gradient + (present(lengths, unary.shape[1]).unsqueeze(-1) & first).to(unary.dtype)
        cost = matrix_on_host(*self.costs(), unary.shape[-1])
        found = _core.chain_game(*_scores_on_host(unary, lengths, *edges), cost, self.tol, self.max_rounds, threads())
        return back(found[2], unary)

    def _prepared(
        self,
        emissions: Tensor,
        mask: Optional[Tensor],
        transitions: Optional[Tensor],
        start: Optional[Tensor],
        end: Optional[Tensor],
    ) -> tuple[Tensor, Tensor, Optional[Tensor], tuple[Tensor, Tensor, Tensor]]:
        """Chains that begin at the first place, their lengths, where their positions come from, and the edges."""
        if emissions.dim() != 3 or emissions.shape[2] == 0:
            raise refused_shape("emissions", emissions.shape, "batch x positions x labels")
        labels = emissions.shape[2]
        if self.labels not in (None, labels):
            raise refused_shape("emissions", emissions.shape, f"{self.labels} labels")
        unary = computed(emissions)

        def edge(name: str, values: Optional[Tensor], shape: tuple[int, ...]) -> Tensor:
            if values is None:
                return unary.new_zeros(shape)
            if values.shape != shape:
                raise refused_shape(name, values.shape, str(shape))
            return values.to(unary.dtype).contiguous()

        edges = (
            edge("transitions", transitions, (labels, labels)), edge("start", start, (labels,)), edge("end", end, (labels,))
        )  # fmt: skip
        lengths, order = packing(unary, mask)
        return packed(unary, order), lengths, order, edges

    def extra_repr(self) -> str:
        return f"cost={self.cost.name}, surrogate={self.surrogate}, tol={self.tol}"


class MaxMinChain(torch.nn.Module):
    """MaxMinChainLoss with transitions, start and end of its own, learnt with the network: where a CRF layer stands.

    ``chain(emissions, tags, mask)`` is the loss; decode, k_best and marginals take emissions and mask.
    """

    def __init__(self, labels: int, cost: Any = None, **options: Any) -> None:
        super().__init__()
        self.loss = MaxMinChainLoss(cost, labels, **options)
        self.transitions = torch.nn.Parameter(torch.zeros(labels, labels))
        self.start = torch.nn.Parameter(torch.zeros(labels))
        self.end = torch.nn.Parameter(torch.zeros(labels))

    def _edges(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.transitions, self.start, self.end

    def forward(
        self, emissions: Tensor, tags: Tensor, mask: Optional[Tensor] = None, index: Optional[Tensor] = None
    ) -> Tensor:
        return self.loss(emissions, tags, mask, *self._edges(), index)

    @property
    def bounds(self) -> Optional[tuple[Tensor, Tensor]]:
        return self.loss.bounds

    def decode(self, emissions: Tensor, mask: Optional[Tensor] = None, how: Optional[str] = None) -> Tensor:
        return self.loss.decode(emissions, mask, *self._edges(), how)

    def k_best(self, emissions: Tensor, k: int, mask: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        return self.loss.k_best(emissions, k, mask, *self._edges())

    def marginals(self, emissions: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        return self.loss.marginals(emissions, mask, *self._edges())
