#!/usr/bin/env python3
"""A bidirectional LSTM tags words; MaxMinChain stands where a CRF layer would.

  torch_tagger.py [--data train.txt.gz] [--epochs 5] [--sentences 1000]

FILE has a token a line, columns separated by blanks, the word first and its tag last, and an empty line between
sentences, as the text of CoNLL-2000 has. Without it a small text is made up, in which a word's tag depends on its
neighbours. A fifth of the sentences is kept for the test. Needs `pip install m4n[torch]`.
"""

import argparse
import collections
import gzip
import random

import torch
from torch.nn.utils.rnn import pad_sequence

from m4n.torch import MaxMinChain


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    rows = [[line.split() for line in block.splitlines() if line.strip()] for block in blocks]
    return [([row[0] for row in block], [row[-1] for row in block]) for block in rows if block]


def made_up(count, rng):
    """'the old can rusts', 'they can rust': what `can` is depends on what stands before it."""
    phrases = "the/D can/N rusts/V; the/D old/A can/N; they/P can/X rust/V; we/P fish/V; the/D fish/N can/X fish/V"
    texts = [" and/C ".join(rng.choices(phrases.split("; "), k=rng.randint(1, 3))) for _ in range(count)]
    return [tuple(map(list, zip(*(token.split("/") for token in text.split())))) for text in texts]


class Tagger(torch.nn.Module):
    def __init__(self, words, tags, width=64):
        super().__init__()
        self.embed = torch.nn.Embedding(words, width)
        self.lstm = torch.nn.LSTM(width, width // 2, bidirectional=True, batch_first=True)
        self.score = torch.nn.Linear(width, tags)
        self.chain = MaxMinChain(tags, tol=0.01)  # bounds that are 0.01 apart do for training

    def forward(self, words):
        return self.score(self.lstm(self.embed(words))[0])


def numbered(sentences, words, tags):
    """Padded to one length, and where there are tokens; words that were not seen are number 0."""
    x = [torch.tensor([words.get(word, 0) for word in sentence]) for sentence, _ in sentences]
    y = [torch.tensor([tags.get(tag, -1) for tag in own]) for _, own in sentences]
    there = [torch.ones(len(own), dtype=torch.bool) for own in y]
    return tuple(pad_sequence(rows, batch_first=True) for rows in (x, y, there))


def usual_errors(train, test):
    counts = collections.defaultdict(collections.Counter)
    for word, tag in (pair for sentence in train for pair in zip(*sentence)):
        counts[word][tag] += 1
        counts[None][tag] += 1  # of words that were not seen
    pairs = [pair for sentence in test for pair in zip(*sentence)]
    return sum(counts[word if word in counts else None].most_common(1)[0][0] != tag for word, tag in pairs) / len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="FILE", help="tagged text, may be gzipped (default: a text is made up)")
    parser.add_argument("--sentences", type=int, default=1000, help="take so many of them")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    text = (read(options.data) if options.data else made_up(options.sentences, rng))[: options.sentences]
    if len(text) < 5:
        parser.error(f"found {len(text)} sentences, expected 5 or more: some to learn from, some to test on")
    rng.shuffle(text)
    train, test = text[len(text) // 5 :], text[: len(text) // 5]
    tags = {tag: t for t, tag in enumerate(sorted({tag for _, own in train for tag in own}))}
    words = {word: w for w, word in enumerate(sorted({word for own, _ in train for word in own}), start=1)}

    model = Tagger(len(words) + 1, len(tags))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(options.epochs):
        rng.shuffle(train)
        for first in range(0, len(train), 16):
            x, y, there = numbered(train[first : first + 16], words, tags)
            optimiser.zero_grad()
            model.chain(model(x), y, there).backward()
            optimiser.step()

    x, y, there = numbered(test, words, tags)
    with torch.no_grad():
        wrong = (model.chain.decode(model(x), there) != y)[there].float().mean()
    print(f"wrong tags: {wrong:.2%}; by the most frequent tag of each word: {usual_errors(train, test):.2%}")


if __name__ == "__main__":
    main()
