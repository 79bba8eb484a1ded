"""Small files of sequences for the tests, and a chain computed in plain Python from what `m4n dump` prints."""

import itertools
import math
import random

WORD_TEMPLATE = "# the word, and the two before it\nU0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\n"


def attributes(words):
    """What WORD_TEMPLATE gives every token."""
    before = ["_B-1", *words[:-1]]
    return [[f"U0:{word}", f"U1:{last}/{word}"] for last, word in zip(before, words)]


def read_sentences(text):
    """CoNLL columns as lists of lists of cells."""
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return [[line.split() for line in block.splitlines() if line.strip()] for block in blocks]


def write_sentences(path, sentences):
    path.write_text("".join("".join(" ".join(cells) + "\n" for cells in sentence) + "\n" for sentence in sentences))
    return path


def escaped(name):
    return name.replace("\\", "\\\\").replace(":", "\\:")


def as_crfsuite(sentences):
    """The attributes of WORD_TEMPLATE in CRFsuite's format."""
    lines = []
    for sentence in sentences:
        for (_, label), names in zip(sentence, attributes([word for word, _ in sentence])):
            lines.append("\t".join([label, *map(escaped, names)]))
        lines.append("")
    return "\n".join(lines) + "\n"


def random_words(count, pixels, seed=0, folds=5, flip=0.1):
    """Words of the letters a, b, c, each followed by the next one more often than not, as noisy pictures:
    a list of (fold, letters, rows of pixels)."""
    rng = random.Random(seed)
    shapes = {letter: [rng.randint(0, 1) for _ in range(pixels)] for letter in "abc"}
    words = []
    for w in range(count):
        letters = [rng.choice("abc")]
        while len(letters) < 6 and rng.random() < 0.7:
            letters.append("abc"[("abc".index(letters[-1]) + (rng.random() < 0.7)) % 3])
        rows = [[bit ^ (rng.random() < flip) for bit in shapes[letter]] for letter in letters]
        words.append((w % folds, letters, rows))
    return words


def letters_text(words):
    """The layout of the OCR letters data set."""
    lines, number = [], 0
    for w, (fold, letters, rows) in enumerate(words):
        for position, (letter, row) in enumerate(zip(letters, rows), 1):
            number += 1
            following = -1 if position == len(letters) else number + 1
            lines.append(
                "\t".join(map(str, [number, letter, following, w + 1, position, fold, *map(repr, map(float, row))]))
            )
    return "\n".join(lines) + "\n"


class Chain:
    """Scores of all labellings of a sentence, by counting them."""

    def __init__(self, dump, classes):
        self.classes = classes
        self.weight = {(entry["feature"], entry["class"]): entry["weight"] for entry in dump["weights"]}

    def score(self, names, labels):
        get = self.weight.get
        total = get(("(start)", labels[0]), 0) + get(("(end)", labels[-1]), 0)
        total += sum(get((f"(after {a})", b), 0) for a, b in zip(labels, labels[1:]))
        for own, label in zip(names, labels):
            total += get(("(bias)", label), 0) + sum(get((name, label), 0) for name in own)
        return total

    def ranked(self, words):
        """(score, labelling), the best first."""
        names = attributes(words)
        return sorted(
            ((self.score(names, y), y) for y in itertools.product(self.classes, repeat=len(words))), reverse=True
        )

    def probabilities(self, words):
        """Of every labelling, the most likely first: (p, labelling)."""
        ranked = self.ranked(words)
        masses = [math.exp(score - ranked[0][0]) for score, _ in ranked]
        return [(mass / sum(masses), y) for mass, (_, y) in zip(masses, ranked)]

    def marginals(self, words):
        """One dictionary per token."""
        out = [dict.fromkeys(self.classes, 0.0) for _ in words]
        for p, y in self.probabilities(words):
            for own, label in zip(out, y):
                own[label] += p
        return out
