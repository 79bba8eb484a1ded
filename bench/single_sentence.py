#!/usr/bin/env python3
"""Tagging one sentence at a time in Python: predict_single beside python-crfsuite's Tagger.

Both are trained on the same dicts of attributes of CoNLL-2000 and tag the test sentences one by one, --repeats times in
turns; the least time of each counts. python-crfsuite is given lists of attribute names, the form it is quickest with.

    bench/single_sentence.py [--data DIR] [--train N] [--repeats N]

Needs python-crfsuite (bench/python-requirements.txt).
"""

import argparse
import os
import pathlib
import tempfile
import time

import pycrfsuite
from sequence_peers import attributes, sentences

from m4n import MaxMinSequenceLabeler

ROOT = pathlib.Path(__file__).resolve().parents[1]


def load(path):
    """Attribute names and the tag of every token."""
    rows = list(sentences(path))
    return [list(attributes(sentence)) for sentence in rows], [[token[-1] for token in sentence] for sentence in rows]


def crfsuite_tagger(x, y, folder):
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for names, tags in zip(x, y):
        trainer.append(names, tags)
    trainer.set_params({"c1": 0, "c2": 1, "max_iterations": 50})
    trainer.train(str(folder / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "model"))
    return tagger.tag


def seconds(tag, x):
    start = time.perf_counter()
    for sentence in x:
        tag(sentence)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--data", type=pathlib.Path, default=os.environ.get("M4N_DATA", ROOT.parent / "shared" / "data")
    )
    parser.add_argument("--train", type=int, default=2000, help="sentences to learn from")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    x, y = load(pathlib.Path(options.data) / "conll2000_train.txt.gz")
    test, _ = load(pathlib.Path(options.data) / "conll2000_test.txt.gz")
    x, y = x[: options.train], y[: options.train]
    dicts = [[dict.fromkeys(names, 1.0) for names in sentence] for sentence in test]
    model = MaxMinSequenceLabeler(surrogate="crf", tol=1e-2).fit(
        [[dict.fromkeys(names, 1.0) for names in sentence] for sentence in x], y
    )
    with tempfile.TemporaryDirectory() as folder:
        theirs = crfsuite_tagger(x, y, pathlib.Path(folder))
        best = [float("inf")] * 2
        for _ in range(options.repeats):
            for which, (tag, data) in enumerate([(model.predict_single, dicts), (theirs, test)]):
                best[which] = min(best[which], seconds(tag, data))
    ours, other = (1e6 * time / len(test) for time in best)
    tokens = sum(map(len, test)) / len(test)
    print(f"{len(test)} sentences of {tokens:.1f} tokens; microseconds per sentence")
    print(f"m4n predict_single {ours:.1f}, python-crfsuite {other:.1f}: {ours / other:.2f} times")


if __name__ == "__main__":
    main()
