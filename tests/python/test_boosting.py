"""m4n.boosting without trees: its gradient, its bound of the Hessian, its decisions. tests/torch has the trees."""

import copy
import pickle
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import m4n
from m4n import oracle
from m4n._options import shown
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
    y = [0, 1]
    for wrong in (0, -1, np.inf, np.nan):
        with pytest.raises(m4n.Error, match="smoothing must be a positive number"):
            objective(smoothing=wrong)
    with pytest.raises(m4n.Error, match="cost must be .*'absolute'.*; found 'cheap'"):
        objective("cheap")
    with pytest.raises(m4n.Error, match=r"cost has the shape \(2, 3\)"):
        objective([[0, 1, 2], [1, 0, 2]])
    with pytest.raises(m4n.Error, match="cost must be costs of two classes or more"):
        objective([[0.0]])
    with pytest.raises(m4n.Error, match=r"cost has the shape \(\)"):
        objective(3)
    with pytest.raises(TypeError, match="cost must be a name or k x k numbers"):
        objective([[0, 1], [1]])
    with pytest.raises(m4n.Error, match=r"scores\[1, 2\]"):
        objective(RANDOM)(y, [[0, 0, 0, 0], [0, 0, np.nan, 0]])
    with pytest.raises(m4n.Error, match="scores has the shape"):
        objective(RANDOM).decode(np.zeros((2, 3, 4)))


@pytest.mark.parametrize(
    "wrong, message",
    [
        (-3.0, "the wrong prediction costs -3, no more than the right one"),
        (0.0, "the wrong prediction costs 0, no more than the right one"),
        (np.nan, "is nan; expected a finite number"),
        (np.inf, "is inf; expected a finite number"),
        (1e308, r"the cost 1e\+308 is beyond"),
    ],
)
def test_costs_are_refused_at_once_as_they_were_given(wrong, message):
    with pytest.raises(m4n.Error, match=message):
        objective([[0, 700, 700], [700, 0, wrong], [700, 700, 0]])


def test_costs_in_a_data_frame():
    words, mixed = list("dacb"), [2, 0, 3, 1]
    assert np.array_equal(objective(pd.DataFrame(RANDOM, words, words)).cost, RANDOM)
    numbered = pd.DataFrame(RANDOM, range(K), range(K))
    for frame in (numbered, numbered.loc[mixed, mixed], numbered.loc[mixed], numbered.loc[mixed, mixed[::-1]]):
        assert np.array_equal(objective(frame).cost, RANDOM)
    for columns in (sorted(words), list("dacx"), list(range(K))):
        with pytest.raises(m4n.Error, match=r"cost has the rows \['d', 'a', .* and columns .*; expected the same"):
            objective(pd.DataFrame(RANDOM, words, columns))
    with pytest.raises(m4n.Error, match="expected the same names, each once"):
        objective(pd.DataFrame(RANDOM, list("aabc"), list("aabc")))


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (5, 5)])
def test_scores_of_another_number_of_classes(shape):
    loss = objective(RANDOM)
    expected = re.escape(f"has the shape {shape}; expected (n, 4). ")
    with pytest.raises(m4n.Error, match=f"scores {expected}.*output_margin=True.*raw_score=True"):
        loss.decode(np.zeros(shape))
    with pytest.raises(m4n.Error, match=f"y_pred {expected}.*num_class"):
        loss(np.zeros(5), np.zeros(shape))


@pytest.mark.parametrize("cost", ["zero-one", RANDOM, [[0, 1], [3, 0]]])
def test_classes_are_no_scores(cost):
    with pytest.raises(m4n.Error, match=r"scores holds whole numbers .*\(3,\).*output_margin=True.*raw_score=True"):
        objective(cost).decode(np.array([0, 1, 1]))


@pytest.mark.parametrize("wrong", [-1, 4, 0.5, 1e300, np.nan, None, "1", "good", 10**400])
def test_labels_that_are_no_numbers_of_classes(wrong):
    message = "expected the number of a class, 0 to 3"
    with pytest.raises(m4n.Error, match=rf"y_true\[1\] is .*; {message}"):
        objective(RANDOM)(np.array([0, wrong], dtype=object), np.zeros((2, K)))
    with pytest.raises(m4n.Error, match=rf"is {re.escape(shown(wrong))}; {message}"):
        objective(RANDOM)([wrong] * 2, np.zeros((2, K)))
    with pytest.raises(m4n.Error, match=r"y_true\[1\] is 'good'"):
        objective(RANDOM)([0, "good"], np.zeros((2, K)))
    with pytest.raises(m4n.Error, match=r"y_true has the shape \(3,\); expected \(2,\)"):
        objective(RANDOM)([0, 1, 2], np.zeros((2, K)))


def test_weights_that_are_none():
    loss, y, v = objective(RANDOM), [0, 1], np.zeros((2, K))
    for wrong in (np.nan, -1.0, np.inf, None):
        with pytest.raises(m4n.Error, match=r"sample_weight\[1\] is .*; expected a number that is finite"):
            loss(y, v, [1.0, wrong])
    for wrong in ([1.0], [1.0, 1, 1], [[1.0, 1]]):
        with pytest.raises(m4n.Error, match=r"sample_weight has the shape .*; expected \(2,\)"):
            loss(y, v, wrong)
