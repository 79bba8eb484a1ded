#!/usr/bin/env python3
"""Which point is which? Points of a plane are matched to their noisy, rotated, shuffled copy.

  torch_matching.py [--points 10] [--noise 0.05] [--steps 300]

A point is described by its distances to the others, nearest first, which rotations do not change, and by eight numbers
of which the copy keeps two, a little changed. A small network embeds descriptions, and the score of a pair is minus the
distance of their embeddings: what to trust is learnt. Beside it: the same without learning, on the descriptions as they
are, and on the distances alone. Needs `pip install m4n[torch]`.
"""

import argparse
import math

import torch

from m4n.torch import MaxMinPermutationLoss

MARKS, KEPT = 8, 2


def scenes(count, points, noise):
    """Points, their copies in another order, and the place of each copy."""
    first = torch.rand(count, points, 2)
    angle = 2 * math.pi * torch.rand(count)
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1).reshape(-1, 2, 2)
    copy = first @ turn + noise * torch.randn(count, points, 2)
    marks = torch.rand(count, points, MARKS)
    kept = marks + 4 * noise * torch.randn_like(marks)
    new_marks = torch.where(torch.arange(MARKS) < KEPT, kept, torch.rand_like(marks))
    copy = torch.cat([copy, new_marks], -1)
    place = torch.rand(count, points).argsort(1)  # point i is number place[i] of the copies
    second = torch.empty_like(copy).scatter(1, place.unsqueeze(-1).expand_as(copy), copy)
    return described(torch.cat([first, marks], -1)), described(second), place


def described(points):
    distances = torch.cdist(points[..., :2], points[..., :2]).sort(-1).values[..., 1:]
    return torch.cat([distances, points[..., 2:]], -1)


def pair_scores(a, b):
    return -torch.cdist(a, b)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--noise", type=float, default=0.05, help="standard deviation; the points lie in a unit square")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    width = 32
    embed = torch.nn.Sequential(
        torch.nn.Linear(options.points - 1 + MARKS, width), torch.nn.ReLU(), torch.nn.Linear(width, width)
    )
    loss = MaxMinPermutationLoss("hamming", tol=1e-3)  # the cost: the share of points that are matched wrongly
    optimiser = torch.optim.Adam(embed.parameters(), lr=3e-3)
    for _ in range(options.steps):
        first, second, place = scenes(32, options.points, options.noise)
        optimiser.zero_grad()
        loss(pair_scores(embed(first), embed(second)), place).backward()
        optimiser.step()

    first, second, place = scenes(500, options.points, options.noise)
    near = slice(0, options.points - 1)
    for name, a, b in (
        ("learned embedding", embed(first), embed(second)),
        ("descriptions as they are", first, second),
        ("distances alone", first[..., near], second[..., near]),
    ):
        wrong = (loss.decode(pair_scores(a, b).detach()) != place).float().mean()
        print(f"{name:<24} {wrong:.1%} of the points matched wrongly")


if __name__ == "__main__":
    main()
