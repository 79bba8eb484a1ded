"""
The right to refuse
===================

A classifier may say "I do not know" for a fixed price: an action with the same cost for every truth. The cheaper it is,
the more it refuses, and the fewer mistakes are left among its answers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import m4n
from m4n import MaxMinClassifier

X, y = make_moons(2000, noise=0.3, random_state=0)
train, test = slice(0, 500), slice(500, None)
prices = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5]
models = {}
for price in prices:
    costs = m4n.costs.reject([0, 1], price)  # a frame with one more column, reject, which always costs `price`
    models[price] = MaxMinClassifier(costs, surrogate="crf", features="rbf", lam=1e-3).fit(X[train], y[train])

# %%
# Where it refuses (grey), at three prices; and what is won by it. At a price of a half nothing is refused: tossing a
# coin between two classes is as good.

axes_x, axes_y = np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-1.6, 2.1, 200))
figure, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
for axis, price in zip(axes, [0.05, 0.1, 0.3]):
    predicted = models[price].predict(np.column_stack([axes_x.ravel(), axes_y.ravel()]))
    shade = np.where(predicted == "reject", -1, predicted).astype(int).reshape(axes_x.shape)
    axis.contourf(axes_x, axes_y, shade, levels=[-1.5, -0.5, 0.5, 1.5], colors=["0.8", "#fdb863", "#b2abd2"])
    axis.scatter(*X[:200].T, c=y[:200], cmap="PuOr", s=10, edgecolors="0.3", linewidth=0.4)
    axis.set_title(f"price {price}", fontsize=10)

refused, wrong = [], []
for price in prices:
    predicted = models[price].predict(X[test])
    answered = predicted != "reject"
    refused.append(1 - answered.mean())
    wrong.append((predicted != y[test])[answered].mean())
axes[3].plot(refused, wrong, "o-", color="#5e3c99")
for price, across, up in list(zip(prices, refused, wrong))[:5]:
    axes[3].annotate(f"{price}", (across, up), textcoords="offset points", xytext=(5, 5), fontsize=8)
axes[3].set(xlabel="share refused", ylabel="mistakes among answers", xlim=(-0.05, 1.15), ylim=(0, None))
axes[3].set_title("test data, by price", fontsize=10)
plt.show()
