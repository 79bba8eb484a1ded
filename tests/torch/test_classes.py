"""MaxMinLoss: against m4n.oracle, finite differences, and what networks ask for."""

import copy
import gc

import numpy as np
import pytest
import torch

import m4n
from m4n import oracle
from m4n.torch import MaxMinLoss, _kernels, _plain
from m4n.torch._costs import cost_of, mean_mistake, rows_of
from m4n.torch.classes import class_decode, class_loss

K = 5
RANDOM = np.random.default_rng(1).uniform(1, 3, (K, K)) * (1 - np.eye(K))
REJECT = np.hstack([RANDOM, np.full((K, 1), 0.4)])
KINDS = [("m4n", 0.0), ("m4n", 0.7), ("m3n", 0.0), ("crf", 0.0)]


def batch(*shape, device="cpu", dtype=torch.double):
    scores = 2 * torch.randn(*shape, K, dtype=dtype)
    return scores.to(device), torch.randint(0, K, shape).to(device)


def value_and_gradient(loss, scores, target, **more):
    scores = scores.clone().requires_grad_()
    value = loss(scores, target, **more)
    (gradient,) = torch.autograd.grad(value.sum(), scores)
    return value.detach(), gradient


@pytest.mark.parametrize("surrogate, smoothing", KINDS)
@pytest.mark.parametrize("cost", [None, "absolute", "squared", RANDOM, 3 * (1 - np.eye(K))])
def test_agrees_with_the_oracle(cost, surrogate, smoothing, device):
    scores, target = batch(3, 7, device=device)
    scores[0, 0], scores[0, 1] = 0, torch.arange(K)  # ties
    loss = MaxMinLoss(cost, surrogate, smoothing, reduction="none").to(device)
    value, gradient = value_and_gradient(loss, scores, target)
    same = oracle.loss(
        scores.cpu().numpy(), target.cpu().numpy(), "zero-one" if cost is None else cost, surrogate=surrogate,
        smoothing=smoothing,
    )  # fmt: skip
    np.testing.assert_allclose(value.cpu(), same[0], atol=1e-12)
    # In ties there are several subgradients: all are supports of the loss, tested below.
    untied = np.ones((3, 7), dtype=bool)
    untied[0, :2] = smoothing > 0 or surrogate == "crf"
    np.testing.assert_allclose(gradient.cpu()[untied], same[1][untied], atol=1e-12)


@pytest.mark.parametrize("surrogate, smoothing", KINDS)
@pytest.mark.parametrize("name", ["zero-one", "absolute"])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 33])
def test_plain_torch_agrees_with_the_library(name, surrogate, smoothing, k):
    scores, target = torch.randn(40, k, dtype=torch.double), torch.randint(0, k, (40,))
    scores[:5] = scores[:5].round()
    scores[5] *= 1e12
    g = smoothing * mean_mistake(name, 1.5, k) if surrogate == "m4n" else 0.0
    rows = rows_of(name, 1.5, None, target, scores)
    value, gradient = _plain.class_loss(scores, target, name, 1.5, rows, surrogate, g)
    same = class_loss(scores, target, name, 1.5, None, surrogate, smoothing, -100, None, 0, list(scores.shape))
    if k == 1:
        assert value.abs().max() <= 1e-12 or smoothing > 0
        return
    torch.testing.assert_close(value, same[0], rtol=1e-12, atol=1e-10)
    torch.testing.assert_close(gradient[6:], same[1][6:], rtol=0, atol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.7])
@pytest.mark.parametrize("name", ["zero-one", "absolute"])
@pytest.mark.parametrize("k", [2, 5, 33])
def test_triton_agrees_with_the_library(name, smoothing, k, device):
    scores, target = torch.randn(12, k, dtype=torch.double), torch.randint(0, k, (12,))
    scores[5] *= 1e12
    target[3] = -100
    g = smoothing * mean_mistake(name, 1.3, k)
    found = _kernels.class_loss(scores.to(device), target.to(device), name, 1.3, g, -100)
    same = class_loss(scores, target, name, 1.3, None, "m4n", smoothing, -100, None, 0, list(scores.shape))
    torch.testing.assert_close(found[0].cpu(), same[0], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found[1].cpu(), same[1], rtol=0, atol=1e-12)


@pytest.fixture
def inexact_division(monkeypatch):
    """A GPU divides numbers of single precision to two units in the last place; Triton's interpreter does so here."""
    if torch.cuda.is_available():
        return
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    rng = np.random.default_rng(0)

    def divide(_, a, b):
        quotient = np.divide(a.data, b.data)
        if quotient.dtype == np.float32:
            quotient = (quotient * (1 + rng.integers(-2, 3, quotient.shape) * 2.0**-23)).astype(np.float32)
        return TensorHandle(quotient, a.dtype.scalar)

    monkeypatch.setattr(InterpreterBuilder, "create_fdiv", divide)


@pytest.mark.parametrize("how", ["triton", "plain"])
@pytest.mark.parametrize("name", ["zero-one", "absolute"])
def test_smoothed_values_of_many_classes_in_single_precision(name, how, inexact_division, device):
    """Values are right to the last places, though a thousand of small shares add up to one and costs are large."""
    k = 1000
    scores, target = torch.randn(8, k) * torch.tensor([1.0, 30.0]).repeat(4)[:, None], torch.randint(0, k, (8,))
    g = mean_mistake(name, 1.5, k)
    if how == "triton":
        value, gradient = _kernels.class_loss(scores.to(device), target.to(device), name, 1.5, g, -100)
    else:
        value, gradient = _plain.class_loss(scores.to(device), target.to(device), name, 1.5, None, "m4n", g)
    same = class_loss(scores.double(), target, name, 1.5, None, "m4n", 1.0, -100, None, 0, [8, k])
    torch.testing.assert_close(value.cpu().double(), same[0], rtol=2 * torch.finfo(torch.float).eps, atol=1e-6)
    torch.testing.assert_close(gradient.cpu().double(), same[1], rtol=0, atol=1e-6)
    assert gradient.double().sum(-1).abs().max() < 2.5e-7


@pytest.mark.parametrize("cost", [None, "absolute", RANDOM, REJECT])
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_gradients_are_subgradients(cost, surrogate):
    if surrogate == "m3n" and cost is REJECT:
        pytest.skip("m3n has no actions")
    loss = MaxMinLoss(cost, surrogate, reduction="none")
    scores, target = batch(50)
    scores[:25] = scores[:25].round()
    value, gradient = value_and_gradient(loss, scores, target)
    assert (value >= -1e-12).all()
    for scale in (0.01, 1.0, 10.0):
        other = scores + scale * torch.randn_like(scores)
        below = value + (gradient * (other - scores)).sum(-1)
        assert (loss(other, target) >= below - 1e-9).all()


@pytest.mark.parametrize("surrogate, smoothing", KINDS)
@pytest.mark.parametrize("cost", [None, "absolute", RANDOM])
def test_finite_differences(cost, surrogate, smoothing, device):
    scores, target = batch(4, device=device)
    loss = MaxMinLoss(cost, surrogate, smoothing).to(device)
    assert torch.autograd.gradcheck(lambda v: loss(v, target), scores.requires_grad_())


@pytest.mark.parametrize("matrix", [None, torch.from_numpy(RANDOM)])
def test_the_operators_are_sound(matrix, device):
    scores, target = batch(6, device=device)
    name = "zero-one" if matrix is None else "matrix"
    arguments = (scores.requires_grad_(), target, name, 1.0, matrix, "m4n", 0.3, -100, None, 0, [6, K])
    torch.library.opcheck(class_loss, arguments)
    torch.library.opcheck(class_decode, (scores.detach(), name, 1.0, matrix, "m4n", "adversary", 0.0, [6, K]))


def test_reductions_weights_and_targets_that_do_not_count(device):
    scores, target = batch(20, device=device)
    weight = torch.rand(K)
    every = MaxMinLoss(reduction="none").to(device)(scores, target)
    target_with_gaps = torch.where(torch.arange(20, device=device) % 3 == 0, -100, target)
    kept = target_with_gaps >= 0
    mean = MaxMinLoss(weight=weight).to(device)(scores, target_with_gaps)
    weights = weight.to(device).double()[target[kept]]
    torch.testing.assert_close(mean, (every[kept] * weights).sum() / weights.sum())
    total = MaxMinLoss(reduction="sum", ignore_index=-7).to(device)
    torch.testing.assert_close(total(scores, torch.where(kept, target, -7)), every[kept].sum())
    _, gradient = value_and_gradient(MaxMinLoss().to(device), scores, target_with_gaps)
    assert (gradient[~kept] == 0).all() and (gradient[kept] != 0).any()
    assert MaxMinLoss().to(device)(scores, torch.full_like(target, -100)) == 0


@pytest.mark.parametrize("cost", [None, RANDOM])
def test_nothing_in_a_batch(cost):
    scores = torch.zeros(0, K, requires_grad=True)
    loss = MaxMinLoss(cost)(scores, torch.zeros(0, dtype=torch.long))
    loss.backward()
    assert loss == 0 and scores.grad.shape == (0, K)
    assert MaxMinLoss()(torch.zeros(0, 4, K), torch.zeros(0, 4, dtype=torch.long)) == 0


def test_one_class_has_nothing_to_lose():
    scores = torch.randn(3, 1, requires_grad=True)
    loss = MaxMinLoss(smoothing=0.5)(scores, torch.zeros(3, dtype=torch.long))
    loss.backward()
    assert loss == 0 and (scores.grad == 0).all()
    assert (MaxMinLoss().decode(scores) == 0).all()


@pytest.mark.parametrize("cost", [None, "absolute", RANDOM])
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_huge_scores(cost, smoothing, device):
    scores, target = batch(8, device=device, dtype=torch.float)
    value, gradient = value_and_gradient(MaxMinLoss(cost, smoothing=smoothing).to(device), 1e30 * scores, target)
    assert torch.isfinite(value) and torch.isfinite(gradient).all()
    right = scores.argmax(-1) == target
    assert (gradient[right].abs() < 1e-6).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("cost", [None, RANDOM])
def test_scores_that_are_not_finite_are_named(cost, bad):
    scores, target = batch(2, 3)
    scores[1, 2, 4] = bad
    with pytest.raises(m4n.Error, match=r"scores\[1, 2, 4\]"):
        MaxMinLoss(cost)(scores, target)
    target[1, 2] = -100  # what does not count is not looked at
    assert torch.isfinite(MaxMinLoss(cost)(scores, target))


def test_wrong_input_is_refused():
    scores, target = batch(2, 3)
    target[1, 1] = K
    with pytest.raises(m4n.Error, match=r"y\[1, 1\] is 5; expected 0 to 4"):
        MaxMinLoss()(scores, target)
    with pytest.raises(m4n.Error, match="target has the shape"):
        MaxMinLoss()(scores, target[0])
    with pytest.raises(m4n.Error, match="rows, one for every score"):
        MaxMinLoss([[0, 1], [1, 0]])(scores, target)
    with pytest.raises(TypeError, match="floating-point"):
        MaxMinLoss()(scores.long(), target)
    for wrong in ({"cost": "cheap"}, {"surrogate": "qs"}, {"smoothing": -1}, {"reduction": "all"}, {"cost": [1, 2]}):
        with pytest.raises(m4n.Error):
            MaxMinLoss(**wrong)
    with pytest.raises(m4n.Error, match="labels against labels"):
        MaxMinLoss(REJECT, "m3n")(scores, torch.zeros(2, 3, dtype=torch.long))
    with pytest.raises(m4n.Error, match="first derivatives only"):
        values = scores.requires_grad_()
        torch.autograd.grad(MaxMinLoss(smoothing=1)(values, target % K), values, create_graph=True)


def test_vmap_is_refused():
    scores, target = batch(2, 3)
    with pytest.raises(m4n.Error, match="vmap"):
        torch.vmap(MaxMinLoss())(scores, target)


@pytest.mark.parametrize("cost, backend", [(None, "inductor"), (RANDOM, "aot_eager")])
def test_compiled_as_one_graph(cost, backend, device):
    scores, target = batch(6, device=device, dtype=torch.float)
    loss = MaxMinLoss(cost).to(device)
    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    expected, actual = value_and_gradient(loss, scores, target), value_and_gradient(compiled, scores, target)
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half])
def test_autocast(dtype, device):
    layer, loss = torch.nn.Linear(4, K).to(device), MaxMinLoss(RANDOM).to(device)
    x, target = torch.randn(9, 4, device=device), torch.randint(0, K, (9,), device=device)
    with torch.autocast(device.type, dtype):
        scores = layer(x)
        value = loss(scores, target)
    value.backward()
    assert scores.dtype == dtype and value.dtype == torch.float32 and layer.weight.grad.dtype == torch.float32
    torch.testing.assert_close(value, loss(scores.detach().float(), target))


def test_decoding_agrees_with_the_library():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % K
    for surrogate, smoothing, how in (
        ("m4n", 0.0, "argmax"), ("m4n", 0.0, "adversary"), ("m4n", 0.8, "expected"), ("crf", 0.0, "expected")
    ):  # fmt: skip
        for cost in (None, "absolute", RANDOM, REJECT):
            if how == "argmax" and cost is REJECT:
                continue
            model = m4n.MaxMinClassifier(cost, surrogate=surrogate, smoothing=smoothing, decode=how, lam=0.01, tol=0.1)
            scores = torch.from_numpy(model.fit(X, y).decision_function(X))
            loss = MaxMinLoss(cost, surrogate, smoothing)
            number = {name: p for p, name in enumerate(model.predictions_.tolist())}
            expected = [number[name] for name in model.predict(X).tolist()]
            assert loss.decode(scores, how).tolist() == expected, (surrogate, how)
    with pytest.raises(m4n.Error, match="decode must be one of"):
        MaxMinLoss().decode(scores, "expected")


def test_decoding_is_exported():
    class Predictor(torch.nn.Module):
        def __init__(self, loss):
            super().__init__()
            self.layer, self.loss = torch.nn.Linear(3, K), loss

        def forward(self, x):
            return self.loss.decode(self.layer(x))

    x = torch.randn(4, 3)
    for loss in (MaxMinLoss(), MaxMinLoss(RANDOM), MaxMinLoss(RANDOM, "crf"), MaxMinLoss(None, smoothing=0.4)):
        predictor = Predictor(loss)
        exported = torch.export.export(predictor, (x,)).module()
        assert exported(x).equal(predictor(x))


def test_starts_give_the_same_values():
    loss, plain = MaxMinLoss(RANDOM), MaxMinLoss(RANDOM)
    index = torch.tensor([3, 0, 9, 9])  # one of them twice
    scores, target = batch(4)
    for _ in range(5):
        scores = scores + 0.1 * torch.randn_like(scores)
        torch.testing.assert_close(loss(scores, target, index), plain(scores, target), rtol=1e-12, atol=1e-12)
    with pytest.raises(m4n.Error, match=r"index\[0\] is -1"):
        loss(scores, target, index - 4)
    again = copy.deepcopy(loss)
    assert again._starts.number != loss._starts.number
    torch.testing.assert_close(again(scores, target, index), plain(scores, target))


def test_distributed_data_parallel(tmp_path):
    import torch.distributed as distributed

    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        network = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, K))
        loss = MaxMinLoss(RANDOM, smoothing=0.5)
        loss(network(torch.randn(8, 3)), torch.randint(0, K, (8,))).backward()
        assert torch.isfinite(network.module.weight.grad).all()
    finally:
        distributed.destroy_process_group()


def test_memory_stays_as_it_is():
    import resource

    loss, scores = MaxMinLoss(RANDOM), torch.randn(32, K, requires_grad=True)
    target, index = torch.randint(0, K, (32,)), torch.arange(32)

    def steps(count):
        for _ in range(count):
            scores.grad = None
            loss(scores, target, index).backward()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = steps(500)
    assert steps(9500) - before < 8 * 1024  # KB


def test_learns():
    """A layer trained on the loss predicts as its cost wants."""
    x = torch.randn(300, 2)
    target = (x[:, 0] + 0.3 * torch.randn(300) > 0).long()
    cost = torch.tensor([[0.0, 1.0], [4.0, 0.0]])
    layer, loss = torch.nn.Linear(2, 2), MaxMinLoss(cost)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.1)
    for _ in range(100):
        optimiser.zero_grad()
        loss(layer(x), target).backward()
        optimiser.step()
    paid = cost[target, loss.decode(layer(x))].mean()
    assert paid < 0.8 * min(cost[target, answer].mean() for answer in (0, 1))


@pytest.mark.parametrize("name", ["zero-one", "absolute"])
def test_costs_with_a_formula_are_recognised(name):
    assert cost_of(2.5 * m4n._core.named_cost(name, 4))[:2] == (name, 2.5)
    assert cost_of(m4n._core.named_cost("squared", 4)).name == "matrix"
