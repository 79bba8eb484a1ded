"""
Rankings
========

Everyone orders the same four drinks. The ranker learns from some hundred orders to rank the drinks for new people, by
two things that are known about them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from m4n import MaxMinRanker

rng = np.random.default_rng(0)
DRINKS = ["tea", "coffee", "milk", "juice"]
person = rng.uniform(-2, 2, size=(1800, 2))  # age and thirst, in some unit
liking = person @ [[1.5, 1, -1.5, -1], [-0.5, -1, 0, 1.5]] + 0.7 * rng.normal(size=(1800, 4))
ranks = pd.DataFrame((-liking).argsort(axis=1).argsort(axis=1) + 1, columns=DRINKS)
new_person, new_ranks = person[800:], ranks[800:]

# %%
# The cost is ``footrule``: by how many places a drink is misplaced, on average. It falls with the number of orders to
# learn from; one order for everybody, the best one, costs the dashed line.

sizes = [25, 50, 100, 200, 400, 800]
costs, rankers = {}, {}
for surrogate in ["crf", "m4n"]:
    path = [MaxMinRanker("footrule", surrogate=surrogate).fit(person[:n], ranks[:n]) for n in sizes]
    costs[surrogate] = [-ranker.score(new_person, new_ranks) for ranker in path]
    rankers[surrogate] = path[-1]
same_for_all = new_ranks.mean().rank()
alike = np.abs(new_ranks - same_for_all).to_numpy().mean()

axes_x, axes_y = np.meshgrid(np.linspace(-2, 2, 200), np.linspace(-2, 2, 200))
order = rankers["crf"].predict(np.column_stack([axes_x.ravel(), axes_y.ravel()])).reshape(200, 200, 4)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
axes[0].contourf(axes_x, axes_y, order.argmin(axis=2), levels=np.arange(5) - 0.5, cmap="Set2")
for drink, name in enumerate(DRINKS):
    where = order.argmin(axis=2) == drink
    if where.any():
        axes[0].text(axes_x[where].mean(), axes_y[where].mean(), name, ha="center", va="center")
axes[0].set(title="the first drink", xlabel="age", ylabel="thirst")
picture = axes[1].contourf(axes_x, axes_y, order[:, :, 0], levels=np.arange(5) + 0.5, cmap="Purples_r")
figure.colorbar(picture, ax=axes[1], ticks=[1, 2, 3, 4], label="rank")
axes[1].set(title="the rank of tea", xlabel="age", ylabel="thirst")
for (surrogate, line), style in zip(costs.items(), ["o-", "s--"]):
    axes[2].plot(sizes, line, style, label=surrogate)
axes[2].axhline(alike, color="0.5", linestyle=":", label="one order for all")
axes[2].set(
    title="cost on new people", xlabel="orders to learn from", ylabel="places off", xscale="log", ylim=(0, None)
)
axes[2].set_xticks(sizes, sizes)
axes[2].minorticks_off()
axes[2].legend(fontsize=8)
plt.show()
