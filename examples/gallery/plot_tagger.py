"""
A tagger of sequences
=====================

Words of a toy language are tagged by what they look like and by their neighbours. The picture shows what was learnt
about neighbours, and how sure the tagger is of each word of a new sentence.
"""

import matplotlib.pyplot as plt
import numpy as np

from m4n import MaxMinSequenceLabeler

# "can" and "fish" are nouns or verbs: only the words around them tell.
rng = np.random.default_rng(0)
WORDS = {
    "D": ["the", "a", "every"],
    "N": ["boat", "can", "fish", "river"],
    "V": ["can", "fish", "runs", "sees"],
    "A": ["old", "blue"],
}
NEXT = {"D": "NNA", "A": "NNA", "N": "VVN", "V": "DDA"}


def sentence(length):
    tags = ["D"]
    while len(tags) < length:
        tags.append(rng.choice(list(NEXT[tags[-1]])))
    return [str(rng.choice(WORDS[tag])) for tag in tags], [str(tag) for tag in tags]


pairs = [sentence(rng.integers(4, 9)) for _ in range(300)]
X = [[{"word": word, "last": word[-1]} for word in words] for words, _ in pairs]
y = [tags for _, tags in pairs]
tagger = MaxMinSequenceLabeler(surrogate="crf", lam=0.003).fit(X[:200], y[:200])
print(f"{tagger.score(X[200:], y[200:]):.1%} of the words of 100 new sentences are tagged right")

# %%
# Rows of the left picture are a tag, columns the tag that follows. On the right, every column is a distribution.

words = "the old boat can fish a can".split()
marginals = tagger.predict_marginals([[{"word": word, "last": word[-1]} for word in words]])[0]
shares = np.array([[of_word[tag] for of_word in marginals] for tag in tagger.classes_])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained", width_ratios=[1, 2])
reach = np.abs(tagger.transitions_).max()
figure.colorbar(left.imshow(tagger.transitions_, cmap="PuOr", vmin=-reach, vmax=reach), ax=left, label="score")
left.set_xticks(range(4), tagger.classes_)
left.set_yticks(range(4), tagger.classes_)
left.set(title="which tag follows which", xlabel="next", ylabel="tag")
figure.colorbar(right.imshow(shares, cmap="Purples", vmin=0, vmax=1, aspect="auto"), ax=right, label="probability")
right.set_xticks(range(len(words)), words)
right.set_yticks(range(4), tagger.classes_)
right.set(title="tags of a new sentence")
plt.show()
