"""
What smoothing does
===================

The max-min surrogate is a maximum of linear functions, with kinks. ``smoothing`` rounds them off: training is faster,
and the distribution at which the game is decided, which has zeros, can be read as probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np

from m4n import MaxMinClassifier, oracle

# %%
# The loss of an example of the first of three classes, as its score moves beside those of the others, which are equal;
# and the probability of the first class that goes with it.

ahead = np.linspace(-3, 3, 300)
scores = np.column_stack([ahead, np.zeros(300), np.zeros(300)])
truth = np.zeros(300, dtype=int)
shown = {
    "m4n": {"surrogate": "m4n"},
    "m4n, smoothing 1": {"surrogate": "m4n", "smoothing": 1},
    "m4n, smoothing 4": {"surrogate": "m4n", "smoothing": 4},
    "crf": {"surrogate": "crf"},
}

# %%
# Probabilities that are learnt: three classes along a line, whose true probabilities are the thin lines. m4n with
# smoothing puts a class to exactly zero where it is out of the question; crf never does.

rng = np.random.default_rng(0)
x = rng.uniform(-4, 4, size=3000)
at = np.linspace(-4, 4, 300)
true = lambda x: np.exp([-x, 0.5 + 0 * x, x]).T / np.exp([-x, 0.5 + 0 * x, x]).sum(axis=0)[:, None]
y = (rng.random(3000)[:, None] > true(x).cumsum(axis=1)).sum(axis=1)

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for (name, options), style in zip(shown.items(), ["-", "--", "-.", ":"]):
    value, gradient = oracle.loss(scores, truth, **options)
    axes[0].plot(ahead, value, style, label=name)
    axes[1].plot(ahead, 1 + gradient[:, 0], style, label=name)  # the gradient is mu minus the indicator of the truth
axes[0].set(title="loss", xlabel="score of the true class, others 0")
axes[1].set(title="its probability of the true class", xlabel="score of the true class, others 0")
axes[0].legend(fontsize=8)
axes[2].plot(at, true(at), color="0.7", linewidth=1)
for (name, options), style in zip(list(shown.items())[2:], ["-", ":"]):
    model = MaxMinClassifier(**options).fit(x[:, None], y)
    axes[2].set_prop_cycle(color=["#e66101", "#5e3c99", "#1b7837"])
    lines = axes[2].plot(at, model.predict_proba(at[:, None]), style)
    lines[0].set_label(name)
axes[2].set(title="predict_proba of three classes", xlabel="x")
axes[2].legend(fontsize=8)
plt.show()
