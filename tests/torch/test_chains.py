"""MaxMinChainLoss and MaxMinChain: against m4n.oracle, all labellings, and each other."""

import itertools

import numpy as np
import pytest
import torch

import m4n
from m4n import oracle
from m4n.torch import MaxMinChain, MaxMinChainLoss, _chain_kernels, _plain
from m4n.torch.chains import _plain_crf, best_paths, chain_decode, chain_loss

M, R = 4, 3
RANDOM = np.random.default_rng(1).uniform(1, 3, (R, R)) * (1 - np.eye(R))


def batch(n=6, most=M, device="cpu"):
    real = dict(dtype=torch.double)
    unary, edges = torch.randn(n, most, R, **real), [torch.randn(s, **real) for s in ((R, R), (R,), (R,))]
    return unary.to(device), torch.randint(0, R, (n, most)).to(device), [e.to(device) for e in edges]


def every_labelling(unary, edges, length):
    """All labellings of one chain, their scores."""
    between, start, end = edges
    for y in itertools.product(range(R), repeat=length):
        score = start[y[0]] + end[y[-1]] + sum(unary[m, y[m]] for m in range(length))
        yield y, float(score + sum(between[a, b] for a, b in zip(y, y[1:])))


@pytest.mark.parametrize("cost", [None, "absolute", RANDOM])
def test_m4n_agrees_with_the_oracle(cost, device):
    unary, tags, edges = batch(device=device)
    loss = MaxMinChainLoss(cost, R, reduction="none", tol=1e-9).eval()
    value = loss(unary, tags, None, *edges)
    host = [e.cpu().numpy() for e in edges]
    same = oracle.max_min_chain(
        unary.cpu().numpy(), host[0], "hamming" if cost is None else cost, start=host[1], end=host[2], tol=1e-9
    )
    own = _plain.chain_score(unary, tags, torch.full((6,), M, device=device), *edges)
    np.testing.assert_allclose((value + own).cpu(), same.bound, atol=1e-8)
    lower, upper = loss.bounds
    assert (lower <= upper).all() and (upper == value).all()


@pytest.mark.parametrize("cost", [None, RANDOM])
def test_m3n_and_crf_agree_with_enumeration(cost, device):
    unary, tags, edges = batch(device=device)
    matrix = 1 - np.eye(R) if cost is None else cost
    host, host_edges = unary.cpu(), [e.cpu() for e in edges]
    margin = MaxMinChainLoss(cost, R, "m3n", reduction="none")(unary, tags, None, *edges)
    likelihood = MaxMinChainLoss(cost, R, "crf", reduction="none")(unary, tags, None, *edges)
    for i in range(len(unary)):
        truth = tuple(tags[i].tolist())
        scored = dict(every_labelling(host[i], host_edges, M))
        paid = {y: np.mean([matrix[t, p] for t, p in zip(truth, y)]) for y in scored}
        best = max(scored[y] + paid[y] for y in scored) - scored[truth]
        assert margin[i].item() == pytest.approx(best, abs=1e-9)
        assert likelihood[i].item() == pytest.approx(np.logaddexp.reduce(list(scored.values())) - scored[truth])


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_finite_differences_and_the_operators(surrogate, device):
    unary, tags, edges = batch(3, device=device)
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 0, 0]], device=device).bool()
    loss = MaxMinChainLoss(RANDOM, surrogate=surrogate, tol=1e-12)
    inputs = [unary.requires_grad_(), *[e.requires_grad_() for e in edges]]
    assert torch.autograd.gradcheck(lambda u, *e: loss(u, tags, mask, *e), inputs)
    lengths, matrix = torch.tensor([4, 2, 1], device=device), torch.from_numpy(RANDOM)
    arguments = (unary, tags, lengths, *edges, "matrix", 1.0, matrix, surrogate, 1e-9, 100, None, 0)
    torch.library.opcheck(chain_loss, arguments)
    plain = [unary.detach(), lengths, *[e.detach() for e in edges]]
    torch.library.opcheck(chain_decode, (*plain, "zero-one", 1.0, None, "argmax", 1e-6, 100))


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_masks_in_the_middle(surrogate, device):
    unary, tags, edges = batch(3, device=device)
    mask = torch.tensor([[1, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]], device=device).bool()
    unary[0, 1], tags[0, 1] = float("nan"), -100  # of no consequence
    loss = MaxMinChainLoss(None, R, surrogate, reduction="none")
    value = loss(unary, tags, mask, *edges)
    rows = torch.tensor([0, 2, 3], device=device)
    short = unary[:1, rows]
    torch.testing.assert_close(value[:1], loss(short, tags[:1, rows], None, *edges))
    torch.testing.assert_close(value[1:2], loss(unary[1:2], tags[1:2], None, *edges))
    assert value[2] == 0
    decoded = loss.decode(unary, mask, *edges)
    assert (decoded[~mask] == -1).all()
    assert decoded[0, rows].equal(loss.decode(short, None, *edges)[0])
    scores, paths = loss.k_best(unary, 2, mask, *edges)
    assert (paths[:, :, :][~mask.unsqueeze(1).expand(-1, 2, -1)] == -1).all() and scores[2].tolist() == [0, -np.inf]
    if surrogate != "m3n":
        mu = loss.marginals(unary, mask, *edges)
        torch.testing.assert_close(mu.sum(-1), mask.double())


def test_decoding_and_the_best_labellings(device):
    unary, _, edges = batch(device=device)
    for i, (scores, paths) in enumerate(zip(*MaxMinChainLoss(None, R).k_best(unary, 5, None, *edges))):
        ranked = sorted(every_labelling(unary[i].cpu(), [e.cpu() for e in edges], M), key=lambda found: -found[1])[:5]
        np.testing.assert_allclose(scores.cpu(), [score for _, score in ranked])
        assert [tuple(path) for path in paths.tolist()] == [y for y, _ in ranked]
        best = MaxMinChainLoss(None, R).decode(unary[i : i + 1], None, *edges)
        assert tuple(best[0].tolist()) == ranked[0][0]
    few, paths = MaxMinChainLoss(None, R).k_best(unary[:, :1], 5, None, *edges)
    assert (few[:, 3:] == -np.inf).all() and (paths[:, 3:] == -1).all()


def test_other_decoders(device):
    unary, _, edges = batch(device=device)
    crf, game = MaxMinChainLoss(RANDOM, surrogate="crf"), MaxMinChainLoss(RANDOM)
    mu = crf.marginals(unary, None, *edges)
    expected = (mu.cpu() @ torch.from_numpy(RANDOM)).argmin(-1)
    assert crf.decode(unary, None, *edges).cpu().equal(expected)
    host = [e.cpu().numpy() for e in edges]
    same = oracle.max_min_chain(unary.cpu().numpy(), host[0], RANDOM, start=host[1], end=host[2])
    assert (game.decode(unary, None, *edges).cpu().numpy() == same.nu.argmax(-1)).all()
    np.testing.assert_allclose(game.marginals(unary, None, *edges).cpu(), same.mu, atol=1e-5)
    with pytest.raises(m4n.Error, match="decode must be one of"):
        game.decode(unary, None, *edges, how="expected")


def test_triton_and_plain_torch_agree_with_the_library(device):
    unary, tags, edges = batch(5, 6, device=device)
    lengths = torch.tensor([6, 1, 0, 3, 2], device=device)
    tags = torch.where(torch.arange(6, device=device) < lengths.unsqueeze(-1), tags, 0)
    host = [t.cpu() for t in (unary, tags, lengths, *edges)]
    same = chain_loss(*host, "zero-one", 1.0, None, "crf", 1e-6, 100, None, 0)[1:]
    for found in (_chain_kernels.crf(unary, tags, lengths, *edges), _plain_crf(unary, tags, lengths, *edges)):
        torch.testing.assert_close([f.cpu() for f in found], list(same))
    values, paths = _chain_kernels.viterbi(unary, lengths, *edges)
    torch.testing.assert_close(values, _plain.viterbi(unary, lengths, *edges)[0])
    assert paths.equal(best_paths(unary, lengths, *edges)[1])
    assert paths.cpu().equal(chain_decode(host[0], *host[2:], "zero-one", 1.0, None, "argmax", 1e-6, 9))


def test_bounds_of_an_oracle_that_is_stopped_early():
    unary, tags, edges = batch(4, 12)
    exact = MaxMinChainLoss("absolute", reduction="none", tol=1e-9)(0.1 * unary, tags, None, *edges)
    loss = MaxMinChainLoss("absolute", max_rounds=1, reduction="none").eval()
    loss(0.1 * unary, tags, None, *edges)
    lower, upper = loss.bounds
    assert (lower <= exact + 1e-9).all() and (exact <= upper + 1e-9).all() and (upper - lower > 1e-6).any()


def test_what_is_wrong_is_said(device):
    unary, tags, edges = batch(2)
    bad = unary.clone()
    bad[1, 2, 0] = float("nan")
    for surrogate in ("m4n", "m3n", "crf"):
        with pytest.raises(m4n.Error, match=r"emissions\[1, 2, 0\] is nan"):
            MaxMinChainLoss(surrogate=surrogate)(bad, tags, None, *edges)
    wrong = tags.clone()
    wrong[0, 3] = R
    with pytest.raises(m4n.Error, match=r"tags\[0, 3\] is 3; expected 0 to 2"):
        MaxMinChainLoss()(unary, wrong)
    for call in (
        lambda: MaxMinChainLoss(labels=7)(unary, tags),
        lambda: MaxMinChainLoss()(unary, tags[:, 1:]),
        lambda: MaxMinChainLoss()(unary, tags, torch.ones(2, 9)),
        lambda: MaxMinChainLoss()(unary, tags, None, torch.zeros(2, 2)),
    ):
        with pytest.raises(m4n.Error, match="has the shape"):
            call()
    with pytest.raises(m4n.Error, match="vmap"):
        torch.vmap(MaxMinChainLoss())(unary.unsqueeze(0), tags.unsqueeze(0))


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_nothing_and_huge_scores(surrogate, device):
    unary, tags, edges = batch(3, device=device)
    loss = MaxMinChainLoss(surrogate=surrogate)
    assert loss(unary[:0], tags[:0], None, *edges) == 0
    assert loss(unary[:, :0], tags[:, :0], None, *edges) == 0
    assert loss(unary[..., :1], 0 * tags) == 0
    assert loss.decode(unary[:0]).shape == (0, M)
    values = (1e30 * unary).float().requires_grad_()
    loss(values, tags).backward()
    assert torch.isfinite(values.grad).all()


@pytest.mark.parametrize("surrogate", ["m4n", "crf"])
def test_the_layer_learns_compiles_and_is_exported(surrogate, device):
    chain = MaxMinChain(R, RANDOM, surrogate=surrogate).to(device)
    unary, tags, _ = batch(8, device=device)
    unary, mask = unary.float(), torch.ones(8, M, device=device).bool()
    mask[2, 1:] = False
    compiled = torch.compile(chain, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(unary, tags, mask), chain(unary, tags, mask))
    optimiser = torch.optim.SGD(chain.parameters(), lr=0.1)
    first = chain(unary, tags, mask)
    for _ in range(20):
        optimiser.zero_grad()
        chain(unary, tags, mask, torch.arange(8, device=device)).backward()
        optimiser.step()
    assert chain(unary, tags, mask) < first
    assert chain.eval()(unary, tags) == chain.bounds[1].mean()
    with torch.autocast(device.type, torch.bfloat16):
        assert chain(unary.bfloat16(), tags).dtype == torch.float32

    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.chain = chain

        def forward(self, x, mask):
            return self.chain.decode(x, mask)

    exported = torch.export.export(Tagger(), (unary, mask)).module()
    assert exported(unary, mask).equal(chain.decode(unary, mask))
    assert chain.k_best(unary, 2)[1].shape == (8, 2, M) and chain.marginals(unary).shape == unary.shape
