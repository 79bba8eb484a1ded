"""MaxMinLabelSetLoss: against the game of two classes, and the estimator's thresholds."""

import numpy as np
import pytest
import torch

import m4n
from m4n import oracle
from m4n.torch import MaxMinLabelSetLoss, _kernels, _plain
from m4n.torch.label_sets import label_set_loss

M = 4
ASYMMETRIC = np.random.default_rng(0).uniform(0.5, 2, (2, M))
UNSURE = np.vstack([ASYMMETRIC, [0.1, 0.3, 5.0, 0.2]])
COSTS = ["hamming", ASYMMETRIC, UNSURE]


def batch(n=30, device="cpu"):
    return torch.randn(n, M, dtype=torch.double).to(device), torch.randint(0, 2, (n, M)).to(device)


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
@pytest.mark.parametrize("cost", COSTS[:2])
def test_a_label_is_a_game_of_two_classes(cost, surrogate, device):
    scores, target = batch(device=device)
    value = MaxMinLabelSetLoss(cost, surrogate, reduction="none").to(device)(scores, target)
    costs = np.ones((2, M)) if isinstance(cost, str) else cost
    expected = 0.0
    for j in range(M):
        two = np.stack([np.zeros(len(scores)), scores[:, j].cpu().numpy()], 1)
        matrix = np.array([[0, costs[1, j]], [costs[0, j], 0]]) / M
        expected = expected + oracle.loss(two, target[:, j].cpu().numpy(), matrix, surrogate=surrogate)[0]
    np.testing.assert_allclose(value.cpu(), expected, rtol=1e-6, atol=1e-7)  # costs are kept in float


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
@pytest.mark.parametrize("cost", COSTS)
def test_finite_differences_and_the_operator(cost, surrogate, device):
    scores, target = batch(5, device)
    loss = MaxMinLabelSetLoss(cost, surrogate).to(device)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), scores.requires_grad_())
    torch.library.opcheck(label_set_loss, (scores, target, loss._costs(scores), surrogate, -100))


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
@pytest.mark.parametrize("cost", COSTS[1:])
def test_triton_agrees_with_plain_torch(cost, surrogate, device):
    scores, target = batch(device=device)
    target[2, 1] = -100
    costs = torch.from_numpy(cost).to(device)
    found = _kernels.label_set_loss(scores, target, costs, surrogate, -100)
    torch.testing.assert_close(found, _plain.label_set_loss(scores, target, costs, surrogate, -100))


@pytest.mark.parametrize("surrogate", ["m4n", "crf", "m3n"])
@pytest.mark.parametrize("cost", COSTS)
def test_decoding_agrees_with_the_library(cost, surrogate):
    if surrogate == "m3n" and cost is UNSURE:
        pytest.skip("m3n has no answer beside the labels")
    X = np.random.default_rng(0).normal(size=(80, 3))
    Y = (X @ np.random.default_rng(1).normal(size=(3, M)) + np.random.default_rng(2).normal(size=(80, M)) > 0) * 1
    how = {"m4n": "adversary", "crf": "expected", "m3n": "argmax"}[surrogate]
    model = m4n.MaxMinMultiLabelClassifier(cost, surrogate=surrogate, decode=how, lam=0.01, tol=0.1).fit(X, Y)
    scores = 2 * torch.from_numpy(model.decision_function(X))  # of both being on and off, with opposite signs
    found = MaxMinLabelSetLoss(cost, surrogate).decode(scores).numpy()
    assert (found == model.predict(X)).all()


def test_what_does_not_count_and_what_is_wrong():
    scores, target = batch(3)
    target[0, 1] = -100
    scores[0, 1] = float("nan")
    scores.requires_grad_()
    loss = MaxMinLabelSetLoss()
    loss(scores, target).backward()
    assert scores.grad[0, 1] == 0 and torch.isfinite(scores.grad).all()
    assert MaxMinLabelSetLoss()(scores[:0], target[:0]) == 0
    with pytest.raises(m4n.Error, match=r"scores\[0, 1\] is nan"):
        loss(scores, target.clamp(min=0))
    with pytest.raises(m4n.Error, match=r"target\[2, 3\] is 7; expected 0, 1"):
        target[2, 3] = 7
        loss(scores, target)
    for wrong in (np.ones((4, M)), -np.ones((2, M)), "absolute"):
        with pytest.raises(m4n.Error):
            MaxMinLabelSetLoss(wrong)
    with pytest.raises(m4n.Error, match="columns"):
        MaxMinLabelSetLoss(np.ones((2, 3)))(scores, target)


def test_compiled_as_one_graph(device):
    scores, target = batch(5, device)
    loss = MaxMinLabelSetLoss(ASYMMETRIC).to(device)
    torch.testing.assert_close(
        torch.compile(loss, fullgraph=True, backend="aot_eager")(scores, target), loss(scores, target)
    )
    assert torch.isfinite(loss(1e30 * scores.float(), target))
