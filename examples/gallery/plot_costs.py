"""
What costs change
=================

Three kinds of patients, two measurements. Sending home someone with pneumonia costs twenty, any other mistake one. Four
rules of the same data: the likeliest class, as usual, and three that know the costs.
"""

import matplotlib.pyplot as plt
import numpy as np

from m4n import MaxMinClassifier

rng = np.random.default_rng(0)
NAMES = ["cold", "pneumonia", "well"]
LEVELS, COLOURS = [-0.5, 0.5, 1.5, 2.5], ["#d8daeb", "#fdb863", "#d9f0d3"]
CENTRES = np.array([[1, 1], [2, 1], [0, 0]])
y = rng.integers(0, 3, size=1500)
X = CENTRES[y] + rng.normal(size=(1500, 2))
costs = np.array([[0, 1, 1], [1, 0, 20], [1, 1, 0]])  # costs[true][predicted]

rules = {
    "argmax of crf": MaxMinClassifier(surrogate="crf"),
    "crf, least expected cost": MaxMinClassifier(costs, surrogate="crf"),
    "m4n, trained for the costs": MaxMinClassifier(costs, surrogate="m4n"),
    "smoothed m4n": MaxMinClassifier(costs, surrogate="m4n", smoothing=4),
}

# %%
# Every rule learns from 500 patients and is judged by the mean cost of the other 1000. Those that know the costs call a
# patient well only where pneumonia is very unlikely. ``crf`` has good probabilities here, and is then hard to beat.

axes_x, axes_y = np.meshgrid(np.linspace(-3, 5, 200), np.linspace(-3, 4, 200))
figure, axes = plt.subplots(1, 4, figsize=(12, 3.6), sharey=True, layout="constrained")
for axis, (name, rule) in zip(axes, rules.items()):
    predicted = rule.fit(X[:500], y[:500]).predict(np.column_stack([axes_x.ravel(), axes_y.ravel()]))
    axis.contourf(axes_x, axes_y, predicted.reshape(axes_x.shape), levels=LEVELS, colors=COLOURS)
    for kind, marker in enumerate("ox+"):
        axis.scatter(*X[:150][y[:150] == kind].T, s=14, marker=marker, c="0.2", linewidth=0.8, label=NAMES[kind])
    axis.set_title(f"{name}\nmean cost {costs[y[500:], rule.predict(X[500:])].mean():.2f}", fontsize=10)
    axis.set_xlabel("fever")
axes[0].set_ylabel("cough")
axes[0].legend(loc="lower right", fontsize=8)
plt.show()
