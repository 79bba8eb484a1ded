#!/usr/bin/env python3
"""A small convolutional network reads digits, and a digit read too high costs three times what one too low costs.

  torch_digits.py [--epochs 40] [--rows 800] [--smoothing 1]

Images are scikit-learn's. The same network is trained with cross-entropy, whose largest score, or whose answer of least
expected cost, is taken, and with the max-min loss, which knows the costs as it learns. Needs `pip install m4n[torch]`.
"""

import argparse

import torch
from sklearn.datasets import load_digits

from m4n.torch import MaxMinLoss


def images(rows, seed):
    """Images and digits to learn from, and to test on."""
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float).reshape(-1, 1, 8, 8), torch.tensor(y)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    learn, test = order[:rows], order[rows:]
    return (x[learn], y[learn]), (x[test], y[test])


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 4 * 4, 10),
    )


def train(loss, x, y, epochs, seed):
    torch.manual_seed(seed)
    model = network()
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(y)).split(64):
            optimiser.zero_grad()
            loss(model(x[batch]), y[batch]).backward()
            optimiser.step()
    return model.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--rows", type=int, default=800, help="images to learn from, of 1797")
    parser.add_argument("--smoothing", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    steps = torch.arange(10.0) - torch.arange(10.0)[:, None]  # [true][predicted]: how much too high
    cost = torch.where(steps > 0, 3 * steps, -steps)
    cost = cost / cost.sum() * 90  # so that a mistake costs 1 in the mean, and scores need not be large
    (x, y), (test_x, test_y) = images(options.rows, options.seed)

    def report(name, predicted):
        paid, wrong = cost[test_y, predicted].mean(), (predicted != test_y).float().mean()
        print(f"{name:<36} test cost {paid:.3f}, {wrong:.1%} wrong")

    likelihood = MaxMinLoss(cost, surrogate="crf")  # cross-entropy; the costs are for deciding only
    max_min = MaxMinLoss(cost, smoothing=options.smoothing)
    with torch.no_grad():
        counts = torch.bincount(y, minlength=10).float()
        report("always the same digit", (counts @ cost).argmin().expand(len(test_y)))
    scores = train(likelihood, x, y, options.epochs, options.seed)(test_x).detach()
    report("cross-entropy, largest score", scores.argmax(-1))
    report("cross-entropy, least expected cost", likelihood.decode(scores))
    scores = train(max_min, x, y, options.epochs, options.seed)(test_x).detach()
    report("max-min loss", max_min.decode(scores))


if __name__ == "__main__":
    main()
