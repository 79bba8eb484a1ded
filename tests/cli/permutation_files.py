"""Small files of rankings and matchings for the tests, and losses, metrics and the best permutation in plain Python."""

import itertools
import math

import numpy as np

TRAIN_KEYS = set(
    "task surrogate loss features n d k lambda smoothing solver decode seed epochs seconds seconds_total primal dual gap "
    "relative_gap converged train_loss norm_squared oracle_calls interrupted model".split()
)
NOT_IN_INFO = {"seconds", "seconds_total", "model"}


def rankings(n, d, size, seed=0, noise=0.7):
    """Features, and the positions (from 0) of items sorted by noisy linear functions of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    worth = x @ rng.normal(size=(d, size)) + noise * rng.normal(size=(n, size))
    return x, np.argsort(np.argsort(-worth, axis=1), axis=1)


def write_rankings(path, x, positions, extra=None, order=None):
    """x1.., r1.. and the columns `extra` ({name: values}) as CSV; `order` shuffles the columns."""
    columns = {f"x{j + 1}": [repr(float(v)) for v in x[:, j]] for j in range(x.shape[1])}
    columns |= {f"r{j + 1}": positions[:, j] + 1 for j in range(positions.shape[1])}
    columns |= extra or {}
    names = list(columns) if order is None else [list(columns)[c] for c in order]
    rows = zip(*(columns[name] for name in names))
    path.write_text(",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def read_positions(rows, size):
    """The ranks of prediction rows, as positions from 0."""
    return np.array([[int(row[f"r{j + 1}"]) - 1 for j in range(size)] for row in rows])


def matchings(sizes, d, seed=0, noise=1.0):
    """[(features M x M x d, partners from 0)]; a pair that belongs together has larger features."""
    rng = np.random.default_rng(seed)
    out = []
    for size in sizes:
        partners = rng.permutation(size)
        x = noise * rng.normal(size=(size, size, d))
        x[np.arange(size), partners] += np.linspace(0, 2, d)
        out.append((x, partners))
    return out


def matching_text(examples, names=None, partners=True):
    lines = ["features " + " ".join(names)] if names else []
    for x, own in examples:
        size = len(own)
        lines.append(" ".join(map(str, ["matching", size, *(own + 1 if partners else [])])))
        for i, j in itertools.product(range(size), repeat=2):
            lines.append(" ".join(map(str, [i + 1, j + 1, *map(repr, map(float, x[i, j]))])))
    return "\n".join(lines) + "\n"


def position_costs(loss, size):
    """(constant, weights of items, cost[true][predicted]) with L = constant + sum_i w_i cost[t_i][y_i]."""
    steps = np.arange(size)[:, None] - np.arange(size)
    mean = np.full(size, 1 / size)
    if loss == "hamming":
        return 0, mean, 1.0 - np.eye(size)
    if loss == "footrule":
        return 0, mean, np.abs(steps)
    if loss == "spearman":
        return 0, mean, steps**2
    if loss.startswith("precision@"):
        first = (np.arange(size) < int(loss.split("@")[1])).astype(float)
        return 1, np.full(size, 1 / first.sum()), -np.outer(first, first)
    assert loss == "dcg"
    gain, discount = size - 1 - np.arange(size), 1 / np.log2(2 + np.arange(size))
    return 1, np.full(size, 1 / (gain @ discount)), -np.outer(gain, discount)


def loss_of(costs, truth, predicted):
    constant, weights, cost = costs
    return constant + sum(w * cost[t, y] for w, t, y in zip(weights, truth, predicted))


def all_permutations(size):
    return np.array(list(itertools.permutations(range(size))))


def values_of(cells, permutations):
    """sum_i cells[i][y_i] of every y."""
    return cells[np.arange(len(cells)), permutations].sum(axis=1)


def best_value(cells):
    return values_of(cells, all_permutations(len(cells))).max()


def gibbs(cells):
    """Every permutation with its probability, p proportional to exp(value)."""
    permutations = all_permutations(len(cells))
    values = values_of(cells, permutations)
    mass = np.exp(values - values.max())
    return permutations, mass / mass.sum()


def metrics_of(truth, predicted):
    """Of one ranking, straight from the definitions."""
    size = len(truth)
    pairs = list(itertools.combinations(range(size), 2))
    agree = sum(np.sign(truth[a] - truth[b]) * np.sign(predicted[a] - predicted[b]) for a, b in pairs)
    dcg = lambda order: sum((size - 1 - t) / math.log2(2 + y) for t, y in zip(truth, order))
    return {
        "hamming": np.mean(truth != predicted),
        "kendall_tau": agree / len(pairs),
        "spearman_rho": np.corrcoef(truth, predicted)[0, 1],
        "footrule": np.mean(np.abs(truth - predicted)),
        "top1": float(predicted[list(truth).index(0)] == 0),
        "ndcg": dcg(predicted) / dcg(truth),
    }
