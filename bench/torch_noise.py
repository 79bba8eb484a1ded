#!/usr/bin/env python3
"""Losses of m4n.torch on one network: test cost with asymmetric costs, clean and with wrong labels.

scikit-learn's digits: --rows images to learn from, a quarter of them to choose the learning rate and the epoch by the cost
of decisions, the others to test on. A network of one hidden layer learns with Adam; losses differ, all else is the same
for a seed: split, random costs, first weights, batches. With noise, labels to learn and to choose from are replaced at
random, and those to test on are not. Cross-entropy decides by least expected cost.

    bench/torch_noise.py [--seeds N] [--rows N] [--epochs N]

Prints a Markdown table: mean and standard error over the seeds, and how many standard errors of the paired differences
it lies from cross-entropy (negative: it costs less). One thread, on the CPU. Needs torch (make test-torch installs it).
"""

import argparse
import functools

import numpy as np
import torch
from sklearn.datasets import load_digits

from m4n.torch import MaxMinLoss

LOSSES = {
    "cross-entropy, least expected cost": functools.partial(MaxMinLoss, surrogate="crf"),
    "max-min": MaxMinLoss,
    "max-min, smoothing 1": functools.partial(MaxMinLoss, smoothing=1.0),
    "max-min, smoothing 4": functools.partial(MaxMinLoss, smoothing=4.0),
    "max-margin (m3n)": functools.partial(MaxMinLoss, surrogate="m3n"),
}
NOISES = (0.0, 0.3)
RATES = (1e-3, 3e-3, 1e-2)
HIDDEN, BATCH = 64, 64


def data(noise, seed, rows):
    """Images and labels to learn from, to choose from and to test on; and costs."""
    x, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    x, y = torch.tensor(x[order] / 16, dtype=torch.float), torch.tensor(y[order])
    cost = torch.from_numpy(rng.uniform(0.1, 1.9, size=(10, 10)) * (1 - np.eye(10)))
    wrong = torch.from_numpy(rng.random(rows) < noise)
    given = torch.where(wrong, torch.from_numpy(rng.integers(0, 10, rows)), y[:rows])
    learn = rows - rows // 4
    return (x[:learn], given[:learn]), (x[learn:rows], given[learn:]), (x[rows:], y[rows:]), cost


def test_cost(kind, noise, seed, rows, epochs):
    parts = data(noise, seed, rows)
    tried = [costs for rate in RATES for costs in learning_curve(kind, rate, seed, epochs, *parts)]
    return min(tried, key=lambda costs: costs[0])[1]


def learning_curve(kind, rate, seed, epochs, learn, choice, test, cost):
    """After every epoch the cost on what is chosen by, and on the test."""
    (x, y), loss = learn, kind(cost)
    torch.manual_seed(seed)
    network = torch.nn.Sequential(torch.nn.Linear(64, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 10))
    optimiser = torch.optim.Adam(network.parameters(), lr=rate)

    def paid(images, labels):
        with torch.no_grad():
            return cost[labels, loss.decode(network(images))].mean().item()

    for _ in range(epochs):
        for batch in torch.randperm(len(y)).split(BATCH):
            optimiser.zero_grad()
            loss(network(x[batch]), y[batch]).backward()
            optimiser.step()
        yield paid(*choice), paid(*test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=800)
    parser.add_argument("--epochs", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| loss | " + " | ".join(f"{n:.0%} at random" if n else "clean" for n in NOISES) + " |")
    print("|" + "---|" * (len(NOISES) + 1))
    usual = None
    for name, kind in LOSSES.items():
        found = np.array(
            [[test_cost(kind, n, seed, options.rows, options.epochs) for n in NOISES] for seed in range(options.seeds)]
        )
        usual = found if usual is None else usual
        cells = []
        for c in range(len(NOISES)):
            beside, root = found[:, c] - usual[:, c], np.sqrt(options.seeds)
            cells.append(f"{found[:, c].mean():.3f} ± {found[:, c].std(ddof=1) / root:.3f}")
            if found is not usual:
                cells[-1] += f" ({beside.mean() / (beside.std(ddof=1) / root):+.1f})"
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
