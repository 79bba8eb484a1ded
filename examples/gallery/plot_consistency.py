"""
Noisy labels: m3n beside m4n
============================

Where no class has a majority, the structural SVM (``m3n``) goes astray, and more data do not help it. Max-min margins
(``m4n``) were made to mend that: with enough data they find the best rule.
"""

import matplotlib.pyplot as plt
import numpy as np

from m4n import MaxMinClassifier

# Eight kinds of inputs, equally likely. In each the most likely of three classes has a probability between 0.4 and
# 0.95, so that the best rule and its risk are known.
rng = np.random.default_rng(0)
best = rng.integers(0, 3, size=8)
majority = np.array([0.4, 0.42, 0.44, 0.46, 0.48, 0.48, 0.7, 0.95])
probability = np.repeat((1 - majority)[:, None] / 2, 3, axis=1)
probability[np.arange(8), best] = majority


def excess_risk(surrogate, n, seed):
    """By how much the rule learnt from n examples errs more often than the best one."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 8, size=n)
    y = (draw.random(n)[:, None] > probability[kind].cumsum(axis=1)).sum(axis=1)
    model = MaxMinClassifier(surrogate=surrogate, lam=0.3 / n, fit_intercept=False, standardize=False)
    answers = model.fit(np.eye(8)[kind], y).predict(np.eye(8))
    return np.mean(majority - probability[np.arange(8), answers])


# %%
# Ten samples of every size, their mean and its standard error.

sizes = [50, 200, 800, 3200, 12800]
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for surrogate, style in zip(["m3n", "m4n", "crf"], ["s-", "o-", "^--"]):
    risks = np.array([[excess_risk(surrogate, n, seed) for seed in range(10)] for n in sizes])
    error = risks.std(axis=1, ddof=1) / np.sqrt(10)
    axis.errorbar(sizes, risks.mean(axis=1), error, fmt=style, capsize=3, label=surrogate)
axis.set(xscale="log", xlabel="examples", ylabel="excess risk", ylim=(0, None))
axis.legend()
plt.show()
