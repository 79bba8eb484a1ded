"""m4n.boosting without trees: its gradient, its bound of the Hessian, its decisions. tests/torch has the trees."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import m4n
from m4n import oracle
from m4n.boosting import objective

RNG = np.random.default_rng(0)
K = 4
RANDOM = RNG.uniform(0.1, 1.9, size=(K, K)) * (1 - np.eye(K))
COSTS = ["zero-one", "absolute", RANDOM, 1000 * RANDOM]


def unit(cost):
    """The mean cost of a mistake."""
    steps = np.abs(np.subtract.outer(np.arange(K), np.arange(K)))
    matrix = {"zero-one": steps > 0, "absolute": steps}[cost] if isinstance(cost, str) else cost
    return matrix.sum() / (K * (K - 1))


def value(v, y, cost, smoothing):
    """S in units of the mean cost of a mistake, from the loss in the unit of the costs."""
    return oracle.loss(unit(cost) * v, y, cost, smoothing=smoothing)[0] / unit(cost)


@pytest.mark.parametrize("smoothing", [0.5, 4.0])
@pytest.mark.parametrize("cost", COSTS)
def test_gradient_by_finite_differences(cost, smoothing):
    v, y = RNG.normal(size=(20, K)), RNG.integers(0, K, 20)
    gradient, _ = objective(cost, smoothing)(y, v)
    for j in range(K):
        step = 1e-5 * np.eye(K)[j]
        slope = (value(v + step, y, cost, smoothing) - value(v - step, y, cost, smoothing)) / 2e-5
        assert np.allclose(gradient[:, j], slope, atol=1e-4)


@pytest.mark.parametrize("smoothing", [0.5, 4.0])
@pytest.mark.parametrize("cost", COSTS)
def test_bound_of_the_hessian(cost, smoothing):
    """S(v + d) is never above its quadratic model, whatever the step, and is nearly there for some."""
    n = 4000
    v, y = RNG.normal(size=(n, K)) * RNG.choice([0.1, 1, 5], n)[:, None], RNG.integers(0, K, n)
    d = RNG.normal(size=(n, K)) * RNG.choice([0.1, 1, 5], n)[:, None]
    gradient, bound = objective(cost, smoothing)(y, v)
    more = value(v + d, y, cost, smoothing) - value(v, y, cost, smoothing) - (gradient * d).sum(axis=1)
    share = more / (0.5 * (bound * d * d).sum(axis=1))
    assert 0.9 < share.max() <= 1 + 1e-6 and share.min() >= -1e-6


def test_bound_of_the_hessian_of_one_score():
    v, d, y = RNG.normal(size=500), RNG.normal(size=500), RNG.integers(0, 2, 500)
    cost = np.array([[0.0, 1], [3, 0]])
    gradient, bound = objective(cost, 1.0)(y, v)

    def of_two(score):
        return oracle.loss(2 * np.column_stack([0 * score, score]), y, cost, smoothing=1.0)[0] / 2

    share = (of_two(v + d) - of_two(v) - gradient * d) / (0.5 * bound * d * d)
    assert 0.9 < share.max() <= 1 + 1e-6 and share.min() >= -1e-6
    two, _ = objective(cost, 1.0)(y, np.column_stack([0 * v, v]))
    assert np.array_equal(gradient, two[:, 1])


def test_the_unit_of_costs_does_not_matter():
    v, y = RNG.normal(size=(50, K)), RNG.integers(0, K, 50)
    cents, euros = objective(100 * RANDOM), objective(RANDOM)
    assert np.allclose(cents(y, v)[0], euros(y, v)[0]) and np.array_equal(cents.decode(v), euros.decode(v))
    assert np.array_equal(cents(y, v)[1], euros(y, v)[1])


@pytest.mark.parametrize("cost", COSTS)
def test_decisions_cost_least_under_mu(cost):
    v, y = 5 * RNG.normal(size=(200, K)), np.zeros(200, dtype=int)
    loss = objective(cost)
    mu = loss(y, v)[0] + np.eye(K)[0]
    assert np.allclose(mu.sum(axis=1), 1) and (mu >= -1e-12).all()
    expected = mu @ loss._unit_costs(K)
    chosen = expected[np.arange(200), loss.decode(v)]
    assert np.allclose(chosen, expected.min(axis=1), atol=1e-9) and len(set(loss.decode(v))) == K


def test_weights_and_the_native_interfaces():
    v, y, weight = RNG.normal(size=(9, K)), RNG.integers(0, K, 9), RNG.uniform(size=9)
    loss = objective(RANDOM)
    gradient, bound = loss(y, v)
    weighted = [weight[:, None] * gradient, weight[:, None] * bound]

    def data(w):
        return SimpleNamespace(get_label=lambda: y.astype(np.float32), get_weight=lambda: w)

    for found in (loss(y, v, weight), loss(y, v, sample_weight=weight), loss(v, data(weight))):
        assert np.array_equal(found, weighted)
    for none in (None, np.zeros(0, dtype=np.float32)):  # LightGBM's and XGBoost's way of saying so
        assert np.array_equal(loss(v, data(none)), [gradient, bound])
    for same in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):  # scikit-learn's clone, and models on disk
        assert np.array_equal(same(y, v), [gradient, bound])


def test_what_is_refused():
    y, v = [0, 1], np.zeros((2, K))
    for wrong in (0, -1, np.inf, np.nan):
        with pytest.raises(m4n.Error, match="smoothing must be a positive number"):
            objective(smoothing=wrong)
    with pytest.raises(m4n.Error, match="cost must be .*'absolute'.*; found 'cheap'"):
        objective("cheap")
    with pytest.raises(m4n.Error, match=r"cost has the shape \(2, 3\)"):
        objective([[0, 1, 2], [1, 0, 2]])
    for same in (np.ones((3, 3)), np.full((3, 3), np.inf), [[0.0]]):
        with pytest.raises(m4n.Error, match="cost must be costs that are finite and not all the same"):
            objective(same)
    with pytest.raises(m4n.Error, match=r"cost has the shape \(\)"):
        objective(3)
    with pytest.raises(TypeError, match="cost must be a name or k x k numbers"):
        objective([[0, 1], [1]])
    with pytest.raises(m4n.Error, match=r"cost has the shape \(4, 4\); expected \(3, 3\)"):
        objective(RANDOM)(y, np.zeros((2, 3)))
    with pytest.raises(m4n.Error, match="y_true must be the numbers of classes, from 0; found 0.5"):
        objective(RANDOM)([0, 0.5], v)
    with pytest.raises(m4n.Error, match=r"y\[1\] is 4; expected 0 to 3"):
        objective(RANDOM)([0, 4], v)
    with pytest.raises(m4n.Error, match="a row for each of 2 examples"):
        objective(RANDOM)(y, v.ravel())
    with pytest.raises(m4n.Error, match=r"scores\[1, 2\]"):
        objective(RANDOM)(y, [[0, 0, 0, 0], [0, 0, np.nan, 0]])
    with pytest.raises(m4n.Error, match="scores has the shape"):
        objective(RANDOM).decode(np.zeros((2, 3, 4)))
