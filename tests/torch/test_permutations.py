"""MaxMinPermutationLoss: against m4n.oracle and the estimators of rankings."""

import numpy as np
import pytest
import torch

import m4n
from m4n import oracle
from m4n.torch import MaxMinPermutationLoss, _plain
from m4n.torch.permutations import _rank_one_table, permutation_decode, permutation_loss

M = 5
RANK_ONE = ["spearman", "dcg", "precision@2"]
OTHERS = ["hamming", "footrule", np.arange(1.0, M + 1), np.abs(np.subtract.outer(np.arange(M), np.arange(M))) ** 1.5]


def permutations(n, most=M, device="cpu"):
    return torch.stack([torch.randperm(most) for _ in range(n)]).to(device)


@pytest.mark.parametrize("name", RANK_ONE + OTHERS, ids=str)
def test_cells_agree_with_the_oracle(name, device):
    scores, target = torch.randn(12, M, M, dtype=torch.double, device=device), permutations(12, device=device)
    loss = MaxMinPermutationLoss(name, tol=1e-9, reduction="none").eval()
    same = oracle.max_min_permutation(scores.cpu().numpy(), name, tol=1e-9)
    own = scores.gather(2, target.unsqueeze(-1)).sum((1, 2)).cpu().numpy()
    value = loss(scores, target)
    np.testing.assert_allclose(value.cpu(), same.bound - own, atol=1e-7)
    lower, upper = loss.bounds
    assert (lower <= upper).all() and (upper == value).all()


@pytest.mark.parametrize("name", RANK_ONE)
def test_items_are_cells_times_gains(name, device):
    scores, target = torch.randn(9, M, dtype=torch.double, device=device), permutations(9, device=device)
    gains = torch.tensor(m4n._core.rank_one_parts(name, M)[1], dtype=torch.double, device=device)
    loss = MaxMinPermutationLoss(name, tol=1e-10, reduction="none")
    torch.testing.assert_close(loss(scores, target), loss(scores.unsqueeze(-1) * gains, target), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", RANK_ONE)
@pytest.mark.parametrize("most", [1, 2, 7, 20])
def test_plain_torch_agrees_with_the_library(name, most):
    least = {"spearman": 1, "dcg": 2, "precision@2": 3}[name]
    if most < least:
        pytest.skip("no such loss of so few items")
    n = 25
    scores, target = torch.randn(n, most, dtype=torch.double), permutations(n, most)
    scores[:5] = scores[:5].round()
    scores[5] = 0
    sizes = torch.full((n,), most)
    sizes[6] = 0
    sizes[7:12] = torch.randint(least, most + 1, (5,))
    for i in range(7, 12):
        target[i, : sizes[i]] = torch.randperm(int(sizes[i]))
    constants, gains, discounts = _rank_one_table(name, most, torch.double, torch.device("cpu"))
    value, gradient = _plain.rank_one_loss(scores, target, sizes, gains[sizes], discounts[sizes], constants[sizes])
    same = permutation_loss(scores, target, sizes, name, [], "m4n", 1e-9, 100, None, 0)
    torch.testing.assert_close(value[sizes > 0], same[1][sizes > 0], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(gradient[12:], same[2][12:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("surrogate", ["m4n", "m3n"])
@pytest.mark.parametrize("name", ["hamming", "spearman"])
@pytest.mark.parametrize("axes", [1, 2])
def test_finite_differences_and_the_operators(name, surrogate, axes, device):
    if name == "hamming" and axes == 1:
        pytest.skip("no rank one")
    scores, target = torch.randn(3, *[M] * axes, dtype=torch.double, device=device), permutations(3, device=device)
    loss = MaxMinPermutationLoss(name, surrogate, tol=1e-12)
    assert torch.autograd.gradcheck(lambda v: loss(v, target), scores.requires_grad_())
    sizes = torch.full((3,), M, device=device)
    arguments = (scores, target, sizes, name, [], surrogate, 1e-9, 100, None, 0)
    torch.library.opcheck(permutation_loss, arguments)
    if axes == 2:
        torch.library.opcheck(permutation_decode, (scores.detach(), sizes, name, [], False, 1e-6))


@pytest.mark.parametrize("axes", [1, 2])
def test_masks_in_the_middle(axes, device):
    scores = torch.randn(3, *[M] * axes, dtype=torch.double, device=device)
    mask = torch.tensor([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], device=device).bool()
    target = torch.tensor([[2, 99, 0, 1, -4], [0, 3, 1, 2, 4], [0, 0, 0, 0, 0]], device=device)
    scores[0, 1] = float("nan")
    loss = MaxMinPermutationLoss("spearman", reduction="none")
    value = loss(scores, target, mask)
    rows = torch.tensor([0, 2, 3], device=device)
    short = scores[:1, rows] if axes == 1 else scores[:1, rows, :3]
    torch.testing.assert_close(value[:1], loss(short, target[:1, rows]))
    torch.testing.assert_close(value[1:2], loss(scores[1:2], target[1:2]))
    assert value[2] == 0
    found = loss.decode(scores, mask)
    assert (found[~mask] == -1).all() and sorted(found[0, mask[0]].tolist()) == [0, 1, 2]
    torch.testing.assert_close(found[:1, rows], loss.decode(short))


def test_bounds_of_an_oracle_that_is_stopped_early():
    scores, target = 0.1 * torch.randn(4, 12, 12, dtype=torch.double), permutations(4, 12)
    exact = MaxMinPermutationLoss("footrule", tol=1e-9, reduction="none")(scores, target)
    loss = MaxMinPermutationLoss("footrule", tol=0.2, max_rounds=1, reduction="none").eval()
    loss(scores, target)
    lower, upper = loss.bounds
    assert (lower <= exact + 1e-9).all() and (exact <= upper + 1e-9).all() and (upper - lower > 1e-6).any()


def test_decoding_agrees_with_the_oracle():
    scores = torch.randn(6, M, M)
    assert MaxMinPermutationLoss().decode(scores).tolist() == oracle.assignment(scores.numpy())[1].tolist()
    assert MaxMinPermutationLoss("dcg").decode(torch.tensor([[0.1, 5.0, 2.0]])).tolist() == [[2, 0, 1]]
    adversary = MaxMinPermutationLoss("footrule").decode(10 * scores.double(), how="adversary")
    nu = oracle.max_min_permutation(10 * scores.double().numpy(), "footrule").nu
    taken = np.take_along_axis(nu, adversary.numpy()[:, :, None], 2).sum((1, 2))
    np.testing.assert_allclose(taken, oracle.assignment(nu)[0], atol=1e-5)


def test_what_is_wrong_is_said():
    scores, target = torch.randn(2, M, M), permutations(2)
    scores[1, 2, 3] = float("inf")
    with pytest.raises(m4n.Error, match=r"scores\[1, 2, 3\] is inf"):
        MaxMinPermutationLoss()(scores, target)
    with pytest.raises(m4n.Error, match=r"target\[1\] is no permutation"):
        target[1] = 0
        MaxMinPermutationLoss()(torch.randn(2, M, M), target)
    with pytest.raises(m4n.Error, match="only spearman"):
        MaxMinPermutationLoss()(torch.randn(2, M), permutations(2))
    with pytest.raises(m4n.Error, match="no mask"):
        MaxMinPermutationLoss(OTHERS[2])(scores, target, torch.ones(2, M))
    with pytest.raises(m4n.Error, match="one of"):
        MaxMinPermutationLoss("kendall")
    with pytest.raises(m4n.Error, match="vmap"):
        torch.vmap(MaxMinPermutationLoss())(scores.unsqueeze(0), target.unsqueeze(0))
    assert MaxMinPermutationLoss()(scores[:0], target[:0]) == 0
    huge = MaxMinPermutationLoss("footrule")(1e30 * torch.randn(2, M, M), permutations(2))
    assert torch.isfinite(huge)


def test_compiled_as_one_graph(device):
    scores, target = torch.randn(2, M, M, device=device), permutations(2, device=device)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 1, 1]], device=device)
    target[1] = torch.tensor([0, 1, 9, 2, 3])
    loss = MaxMinPermutationLoss()
    torch.testing.assert_close(
        torch.compile(loss, fullgraph=True, backend="aot_eager")(scores, target, mask), loss(scores, target, mask)
    )


def test_starts_give_the_same_values():
    loss, plain, index = MaxMinPermutationLoss("footrule"), MaxMinPermutationLoss("footrule"), torch.tensor([4, 1])
    scores, target = torch.randn(2, M, M, dtype=torch.double), permutations(2)
    for _ in range(3):
        scores = scores + 0.1 * torch.randn_like(scores)
        torch.testing.assert_close(loss(scores, target, index=index), plain(scores, target), rtol=0, atol=1e-5)
