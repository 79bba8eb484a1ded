"""The oracles against linear programs, listings and formulas."""

import itertools

import numpy as np
import pytest
from scipy.optimize import check_grad, linear_sum_assignment, linprog
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from m4n import oracle

RNG = np.random.default_rng(0)


def random_cost(k):
    cost = RNG.uniform(0.1, 2, size=(k, k))
    np.fill_diagonal(cost, 0)
    return cost


def game_value(v, cost):
    """max t + v.mu s.t. cost^T mu >= t, mu in the simplex, by a linear program."""
    k = len(v)
    found = linprog(
        np.append(-v, -1.0), A_ub=np.hstack([-cost.T, np.ones((k, 1))]), b_ub=np.zeros(k),
        A_eq=np.append(np.ones(k), 0.0)[None], b_eq=[1.0], bounds=[(0, None)] * k + [(None, None)],
    )  # fmt: skip
    return -found.fun


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("cost", ["zero-one", "absolute", "squared", "random"])
def test_max_min(k, cost):
    v = RNG.normal(size=(4, 3, k))
    matrix = random_cost(k) if cost == "random" else None
    answer = oracle.max_min(v, cost if matrix is None else matrix, n_jobs=2)
    if matrix is None:
        gap = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
        matrix = {"zero-one": gap > 0, "absolute": gap, "squared": gap**2}[cost].astype(float)
    assert answer.value.shape == (4, 3) and answer.mu.shape == answer.nu.shape == v.shape
    for at in np.ndindex(4, 3):
        value = game_value(v[at], matrix)
        assert answer.value[at] == pytest.approx(value, abs=1e-7) and answer.bound[at] == pytest.approx(value, abs=1e-7)
        for mixture in (answer.mu[at], answer.nu[at]):
            assert mixture.sum() == pytest.approx(1) and (mixture >= 0).all()
        assert (answer.mu[at] @ matrix).min() + v[at] @ answer.mu[at] == pytest.approx(value, abs=1e-7)
        assert (matrix @ answer.nu[at] + v[at]).max() == pytest.approx(value, abs=1e-7)
    alone = oracle.max_min(v[2, 1], matrix)
    assert alone.value == answer.value[2, 1] and np.array_equal(alone.mu, answer.mu[2, 1])


def test_losses():
    k = 4
    v, y, cost = RNG.normal(size=(6, k)), RNG.integers(0, k, size=6), random_cost(k)
    row = np.arange(6)
    value, gradient = oracle.loss(v, y, cost)
    assert np.allclose(value, [game_value(one, cost) for one in v] - v[row, y], atol=1e-7)
    assert np.allclose(gradient, oracle.max_min(v, cost).mu - np.eye(k)[y])
    value, gradient = oracle.loss(v, y, cost, surrogate="m3n")
    assert np.allclose(value, (cost[y] + v).max(axis=1) - v[row, y])
    assert np.allclose(gradient, np.eye(k)[(cost[y] + v).argmax(axis=1)] - np.eye(k)[y])
    value, gradient = oracle.loss(v, y, surrogate="crf")
    assert np.allclose(value, logsumexp(v, axis=1) - v[row, y])
    assert np.allclose(gradient, softmax(v, axis=1) - np.eye(k)[y])


@pytest.mark.parametrize("parameters", [{"surrogate": "crf"}, {"smoothing": 1.0}, {"smoothing": 4.0}])
@pytest.mark.parametrize("cost", ["zero-one", "absolute", "random"])
def test_gradients_of_smooth_losses(parameters, cost):
    k = 5
    matrix = random_cost(k) if cost == "random" else cost
    for _ in range(5):
        v, y = RNG.normal(size=k), int(RNG.integers(k))

        def value(u, y=y):
            return float(oracle.loss(u, y, matrix, **parameters)[0])

        def gradient(u, y=y):
            return oracle.loss(u, y, matrix, **parameters)[1]

        assert check_grad(value, gradient, v) < 1e-5
        assert value(v) >= 0


def chain_score(unary, transitions, start, end, y):
    total = unary[np.arange(len(y)), list(y)].sum() + start[y[0]] + end[y[-1]]
    return total + sum(transitions[a, b] for a, b in zip(y, y[1:]))


def test_viterbi():
    k, length = 3, 5
    unary, transitions = RNG.normal(size=(2, 4, length, k)), RNG.normal(size=(k, k))
    start, end = RNG.normal(size=k), RNG.normal(size=k)
    value, labels = oracle.viterbi(unary, transitions, start=start, end=end, n_jobs=2)
    for at in np.ndindex(2, 4):
        scores = [
            chain_score(unary[at], transitions, start, end, y) for y in itertools.product(range(k), repeat=length)
        ]
        assert value[at] == pytest.approx(max(scores))
        assert chain_score(unary[at], transitions, start, end, labels[at]) == pytest.approx(max(scores))


def test_max_min_chain():
    """Against the linear program over all labellings."""
    k, length = 3, 3
    paths = list(itertools.product(range(k), repeat=length))
    unary, transitions = RNG.normal(size=(6, length, k)) / 2, RNG.normal(size=(k, k)) / 2
    start, end, cost = RNG.normal(size=k), RNG.normal(size=k), random_cost(k)
    answer = oracle.max_min_chain(unary, transitions, cost, start=start, end=end, tol=1e-9)
    for i in range(6):
        scores = np.array([chain_score(unary[i], transitions, start, end, y) for y in paths])
        # variables: weights of paths, then t_m; t_m <= sum over paths of weight * cost[y_m][p], for all m and p
        rows = []
        for m in range(length):
            for p in range(k):
                rows.append([-cost[y[m], p] for y in paths] + [float(m == other) for other in range(length)])
        found = linprog(
            np.append(-scores, -np.ones(length) / length), A_ub=rows, b_ub=np.zeros(len(rows)),
            A_eq=[[1.0] * len(paths) + [0.0] * length], b_eq=[1.0],
            bounds=[(0, None)] * len(paths) + [(None, None)] * length,
        )  # fmt: skip
        assert answer.value[i] == pytest.approx(-found.fun, abs=1e-6)
        assert answer.bound[i] == pytest.approx(-found.fun, abs=1e-6)
        mu, pairs = answer.mu[i], answer.pairs[i]
        attained = np.mean([(mu[m] @ cost).min() for m in range(length)]) + (mu * unary[i]).sum()
        attained += (pairs * transitions).sum() + mu[0] @ start + mu[-1] @ end
        assert attained == pytest.approx(answer.value[i], abs=1e-9)
        assert np.allclose(mu.sum(axis=1), 1) and np.allclose(answer.nu[i].sum(axis=1), 1)
        assert np.allclose(pairs.sum(axis=1), mu[:-1].sum(axis=0)) and pairs.sum() == pytest.approx(length - 1)


def test_max_min_of_long_chains():
    """What is returned attains the value, and the value is near the bound."""
    k, length = 3, 150
    unary, transitions = RNG.normal(size=(2, length, k)) / length, RNG.normal(size=(k, k)) / length
    start, end, cost = RNG.normal(size=k), RNG.normal(size=k), random_cost(k)
    answer = oracle.max_min_chain(unary, transitions, cost, start=start, end=end, tol=1e-4)
    for i in range(2):
        mu, pairs = answer.mu[i], answer.pairs[i]
        attained = np.mean([(mu[m] @ cost).min() for m in range(length)]) + (mu * unary[i]).sum()
        attained += (pairs * transitions).sum() + mu[0] @ start + mu[-1] @ end
        assert attained == pytest.approx(answer.value[i], abs=1e-9)
        assert answer.bound[i] - 1e-3 <= answer.value[i] <= answer.bound[i]
        assert np.allclose(mu.sum(axis=1), 1) and np.allclose(answer.nu[i].sum(axis=1), 1)
        assert np.allclose(pairs.sum(axis=1), mu[:-1].sum(axis=0)) and pairs.sum() == pytest.approx(length - 1)


def test_assignment():
    scores = RNG.normal(size=(2, 3, 6, 6))
    value, position = oracle.assignment(scores, n_jobs=2)
    for at in np.ndindex(2, 3):
        rows, columns = linear_sum_assignment(scores[at], maximize=True)
        assert value[at] == pytest.approx(scores[at][rows, columns].sum())
        assert sorted(position[at]) == list(range(6))
        assert scores[at][np.arange(6), position[at]].sum() == pytest.approx(value[at])


@pytest.mark.parametrize("cost", ["hamming", "footrule", "spearman", "precision@2", "matrix"])
def test_max_min_permutation(cost):
    """Against the linear program over all permutations of both players."""
    m = 4
    orders = [np.array(y) for y in itertools.permutations(range(m))]
    matrix = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) ** 0.5
    price = {
        "hamming": lambda t, y: (t != y).mean(),
        "footrule": lambda t, y: np.abs(t - y).mean(),
        "spearman": lambda t, y: ((t - y) ** 2).mean(),
        "precision@2": lambda t, y: 1 - ((t < 2) & (y < 2)).sum() / 2,
        "matrix": lambda t, y: matrix[t, y].mean(),
    }[cost]
    payoff = np.array([[price(t, y) for t in orders] for y in orders])
    scores = RNG.normal(size=(3, m, m)) / 3
    answer = oracle.max_min_permutation(scores, matrix if cost == "matrix" else cost, tol=1e-9)
    n = len(orders)
    for i in range(3):
        gain = np.array([scores[i][np.arange(m), t].sum() for t in orders])
        found = linprog(
            np.append(-gain, -1.0), A_ub=np.hstack([-payoff, np.ones((n, 1))]), b_ub=np.zeros(n),
            A_eq=[[1.0] * n + [0.0]], b_eq=[1.0], bounds=[(0, None)] * n + [(None, None)],
        )  # fmt: skip
        assert answer.value[i] == pytest.approx(-found.fun, abs=1e-6)
        assert answer.bound[i] == pytest.approx(-found.fun, abs=1e-6)
        for mixture in (answer.mu[i], answer.nu[i]):
            assert np.allclose(mixture.sum(axis=0), 1) and np.allclose(mixture.sum(axis=1), 1)


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 1000.0])
def test_sinkhorn(scale):
    scores = scale * RNG.normal(size=(3, 5, 5))
    found = oracle.sinkhorn(scores)
    assert np.allclose(found.sum(axis=-1), 1, atol=1e-12) and np.allclose(found.sum(axis=-2), 1, atol=1e-12)
    assert (found >= 0).all()
    if scale <= 5:  # log P = scores + a_i + b_j: second differences are those of the scores

        def second(x):
            return x - x[:, :1] - x[:, :, :1] + x[:, :1, :1]

        assert np.allclose(second(np.log(found)), second(scores), atol=1e-5)
    assert np.allclose(oracle.sinkhorn(np.zeros((4, 4))), 0.25)


@pytest.mark.parametrize("score", [-3.0, 0.0, 1.0, 20.0, 30.0, 60.0, 1e6])
def test_sinkhorn_of_two(score):
    """P = [[x, 1 - x], [1 - x, x]] with x / (1 - x) = exp(score / 2): the weakest of links."""
    found = oracle.sinkhorn([[score, 0.0], [0.0, 0.0]])
    expected = 1 / (1 + np.exp(min(score / 2, 700)))
    assert found[0, 1] == pytest.approx(expected, abs=2e-9) and found[1, 0] == pytest.approx(expected, abs=2e-9)


def test_sinkhorn_that_is_stopped_says_so():
    with pytest.warns(ConvergenceWarning, match="allow more with max_iter"):
        oracle.sinkhorn(30 * np.random.default_rng(0).normal(size=(6, 6)), max_iter=1)


def test_batches_of_no_vectors():
    assert oracle.max_min(np.zeros((0, 3))).mu.shape == (0, 3)
    assert oracle.viterbi(np.zeros((0, 2, 3)), np.zeros((3, 3)))[1].shape == (0, 2)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_permutations_by_discounted_gain_and_by_weights(size):
    scores = np.random.default_rng(size).normal(size=(3, size, size))
    gain, discount = size - 1.0 - np.arange(size), 1 / np.log2(2 + np.arange(size))
    as_matrix = 1 - size * np.outer(gain, discount) / (gain @ discount)
    found, expected = oracle.max_min_permutation(scores, "dcg"), oracle.max_min_permutation(scores, as_matrix)
    assert np.allclose(found.value, expected.value, atol=1e-5)
    equal = oracle.max_min_permutation(scores, np.ones(size))
    assert np.allclose(equal.value, oracle.max_min_permutation(scores).value, atol=1e-5)
    heavy = oracle.max_min_permutation(np.zeros((size, size)), np.full(size, 2.0))
    assert heavy.value == pytest.approx(2 * oracle.max_min_permutation(np.zeros((size, size))).value, abs=1e-5)
