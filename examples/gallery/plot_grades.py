"""
Grades: near misses and far ones
================================

Grades have an order, and a prediction that is four steps off is worse than one that is one step off. The cost says how
much worse: the same data, three costs, three different rules.
"""

import matplotlib.pyplot as plt
import numpy as np

from m4n import MaxMinOrdinalClassifier

# Half of the pupils get what their hours of work suggest; the others fail, or do very well, whatever they do.
rng = np.random.default_rng(0)
hours = rng.uniform(0, 10, size=4000)
grade = np.clip(np.round(1 + 0.4 * hours + 0.5 * rng.normal(size=4000)), 1, 5)
luck = rng.random(4000)
grade = np.where(luck < 0.3, 1, np.where(luck > 0.85, 5, grade)).astype(int)
X = np.column_stack([hours, np.abs(hours - 3), np.abs(hours - 7)])  # so that scores can bend twice

# %%
# With a cost of one for any mistake the best answer is the most frequent grade, with absolute costs the median, with
# squared costs the mean, rounded. The tables count what was predicted for what came, on pupils that were not learnt
# from; the titles give the mean number of steps and the share that is right.

grid = np.linspace(0, 10, 200)
curves = np.column_stack([grid, np.abs(grid - 3), np.abs(grid - 7)])
figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained", width_ratios=[1.3, 1, 1, 1])
axes[0].scatter(hours[:400], grade[:400] + rng.uniform(-0.2, 0.2, 400), s=5, c="0.75")
for axis, cost, style in zip(axes[1:], ["zero-one", "absolute", "squared"], ["-", "--", ":"]):
    model = MaxMinOrdinalClassifier(cost, surrogate="crf").fit(X[:2000], grade[:2000])
    axes[0].plot(grid, model.predict(curves), style, label=cost, linewidth=2)
    found = model.predict(X[2000:])
    table = np.array([[np.sum((grade[2000:] == t) & (found == p)) for p in range(1, 6)] for t in range(1, 6)])
    axis.imshow(table, cmap="Blues", extent=(0.5, 5.5, 5.5, 0.5), vmax=450)
    for t, p in np.argwhere(table):
        colour = "w" if table[t, p] > 250 else "k"
        axis.text(p + 1, t + 1, table[t, p], ha="center", va="center", fontsize=8, color=colour)
    steps = np.abs(found - grade[2000:])
    axis.set(xlabel="predicted", ylabel="true")
    axis.set_title(f"{cost}: {steps.mean():.2f} steps, {np.mean(steps == 0):.0%} right", fontsize=10)
axes[0].set(xlabel="hours of work", ylabel="grade")
axes[0].legend(fontsize=8, loc="upper left")
plt.show()
