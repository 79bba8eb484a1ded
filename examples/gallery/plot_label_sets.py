"""
Sets of labels: misses and false alarms
=======================================

A piece of music has any number of moods. What a missed mood costs beside one that was announced wrongly decides how
many are announced, label by label.
"""

import matplotlib.pyplot as plt
import numpy as np

from m4n import MaxMinMultiLabelClassifier

rng = np.random.default_rng(0)
MOODS = ["calm", "sad", "happy", "angry", "rare"]
X = rng.normal(size=(3000, 4))
directions = np.array([[1, 1, -1, -1, 0], [0, 1, -1, 0, 1], [0, 0, 0.5, 1, 1], [1, 0, 0, -1, 0]])
Y = (X @ directions + 1.5 * rng.normal(size=(3000, 5)) > [0, 0, 0, 0, 3]).astype(int)
train, test = slice(0, 1000), slice(1000, None)

# %%
# All labels have the same costs, and a miss costs from a tenth to ten times as much as a false alarm. On the left the
# share of moods that are found and of announcements that are right; on the right thirty pieces at three of these costs.

ratios = [0.1, 0.3, 1, 3, 10]
found, right, pictures = [], [], {}
for ratio in ratios:
    costs = [[ratio] * 5, [1] * 5]  # misses, false alarms
    marks = MaxMinMultiLabelClassifier(costs, surrogate="m4n").fit(X[train], Y[train]).predict(X[test])
    hits = (marks & Y[test]).sum(axis=0)
    found.append(hits / Y[test].sum(axis=0))
    right.append(hits / np.maximum(marks.sum(axis=0), 1))
    pictures[ratio] = Y[test][:30] + 2 * marks[:30]  # 0: off, 1: missed, 2: false alarm, 3: hit

figure, axes = plt.subplots(1, 5, figsize=(12, 3.8), layout="constrained", width_ratios=[2, 2, 1, 1, 1])
for axis, shares, title in zip(axes, [found, right], ["found (recall)", "right (precision)"]):
    axis.plot(ratios, shares, "o-", label=MOODS)
    axis.set(xscale="log", xlabel="cost of a miss / of a false alarm", ylim=(-0.03, 1.03))
    axis.set_title(title, fontsize=10)
axes[0].legend(fontsize=8)
colours = plt.matplotlib.colors.ListedColormap(["0.95", "#e66101", "#fdb863", "#5e3c99"])
for axis, ratio in zip(axes[2:], [0.1, 1, 10]):
    axis.imshow(pictures[ratio], cmap=colours, vmin=0, vmax=3, aspect="auto", interpolation="none")
    axis.set_xticks(range(5), MOODS, rotation=90, fontsize=8)
    axis.set_yticks([])
    axis.set_title(f"miss costs {ratio}", fontsize=10)
handles = [plt.Rectangle((0, 0), 1, 1, color=colours(i)) for i in (3, 1, 2)]
figure.legend(handles, ["hit", "missed", "false alarm"], fontsize=8, loc="outside lower right", ncols=3)
plt.show()
