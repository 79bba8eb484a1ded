#!/usr/bin/env python3
"""CoNLL-2000 chunking beside CRFsuite (python-crfsuite): one thread, one run, the same attributes.

  bench/sequence_peers.py --m4n build/release/m4n --data DIR [--quick]

The attributes are those of the chunking template, written once in CRFsuite's format; both read that file. CRFsuite
trains by L-BFGS with its defaults (c2 = 1, observed features, no limit on iterations), m4n with lambda = 2 c2 / n for
crf; m4n and m3n, whose losses are averages over tokens, have lambdas at which they tag well. Of m4n two times are told:
the first certificate whose objective n P is at most the one CRFsuite ended with (its features are a part of ours, so
its optimum is no lower), and the whole command, from the file to the saved model. Tagging is from an attribute file,
the test set ten times over, to a file of labels; reading in Python is part of CRFsuite's time there, and its time in
tag() alone is told beside it. Prints JSON.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

WORDS, TAGS = range(-2, 3), range(-2, 3)
TIMES = 10  # the test set, for the speed of tagging


def sentences(path):
    import gzip

    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = []
        for line in file:
            if line.strip():
                rows.append(line.split())
            elif rows:
                yield rows
                rows = []
        if rows:
            yield rows


def attributes(rows):
    """Words and tags in a window of five, bigrams of both, trigrams of tags: 19 per token."""
    n = len(rows)

    def cell(m, c):
        return rows[m][c] if 0 <= m < n else f"_B{m if m < 0 else '+' + str(m - n + 1)}"

    for m in range(n):
        w = {o: cell(m + o, 0) for o in WORDS}
        t = {o: cell(m + o, 1) for o in TAGS}
        out = [f"w{o}={w[o]}" for o in WORDS] + [f"w{o}|{o + 1}={w[o]}|{w[o + 1]}" for o in (-1, 0)]
        out += [f"t{o}={t[o]}" for o in TAGS] + [f"t{o}|{o + 1}={t[o]}|{t[o + 1]}" for o in range(-2, 2)]
        out += [f"t{o}|{o + 1}|{o + 2}={t[o]}|{t[o + 1]}|{t[o + 2]}" for o in range(-2, 1)]
        yield out


def write_attributes(source, target, limit, times=1):
    """Returns the numbers of sentences and tokens."""
    count = tokens = 0
    with open(target, "w", encoding="utf-8") as file:
        for rows in sentences(source):
            if count == limit:
                break
            for row, own in zip(rows, attributes(rows)):
                fields = [row[-1]] + own
                file.write("\t".join(f.replace("\\", "\\\\").replace(":", "\\:") for f in fields) + "\n")
            file.write("\n")
            count += 1
            tokens += len(rows)
    text = pathlib.Path(target).read_bytes()
    pathlib.Path(target).write_bytes(text * times)
    return count * times, tokens * times


def read_attributes(path):
    x, y = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line:
                label, *own = line.replace("\\:", ":").replace("\\\\", "\\").split("\t")
                x.append(own)
                y.append(label)
            elif x:
                yield x, y
                x, y = [], []


def chunks(tags):
    """(start, end, type) of every chunk of IOB tags, as conlleval cuts them."""
    found, start, kind = [], None, None
    for m, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if start is not None and (prefix in "BO" or name != kind):
            found.append((start, m, kind))
            start = None
        if start is None and prefix != "O":
            start, kind = m, name
    return found


def chunk_f1(truth, predicted):
    actual = predicted_count = right = 0
    for t, p in zip(truth, predicted):
        a, b = set(chunks(t)), set(chunks(p))
        actual += len(a)
        predicted_count += len(b)
        right += len(a & b)
    return 2 * right / (actual + predicted_count)


def crfsuite(train_file, test_file, many_file, model, out):
    """Run in a process of its own, so that its memory can be told."""
    import pycrfsuite

    start = time.perf_counter()
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for x, y in read_attributes(train_file):
        trainer.append(x, y)
    read = time.perf_counter() - start
    trainer.set_params({"c1": 0, "c2": 1})
    begin = time.perf_counter()
    trainer.train(model)
    trained = time.perf_counter() - begin
    last = trainer.logparser.last_iteration
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    begin = time.perf_counter()
    tokens, calls = 0, 0.0
    with open(out, "w", encoding="utf-8") as file:
        for x, y in read_attributes(many_file):
            before = time.perf_counter()
            labels = tagger.tag(x)
            calls += time.perf_counter() - before
            tokens += len(y)
            file.write("\n".join(labels) + "\n\n")
    tagging = time.perf_counter() - begin
    test = list(read_attributes(test_file))
    truth, predicted = [y for _, y in test], [tagger.tag(x) for x, _ in test]
    return {
        "seconds_reading": read,
        "seconds_training": trained,
        "seconds": read + trained,
        "loss": last["loss"],
        "iterations": last["num"],
        "peak_mib": peak,
        "chunk_f1": chunk_f1(truth, predicted),
        "tokens_per_second": tokens / tagging,
        "tokens_per_second_in_tag": tokens / calls,
    }


def measured(command):
    """Wall seconds, peak memory in MiB and the output of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: failed with status {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, text


def m4n_row(tool, surrogate, lam, tol, train_file, test_file, many_file, folder, goal, n):
    model, log, out = folder / f"{surrogate}.m4n", folder / "log.jsonl", folder / "labels.txt"
    common = [
        tool,
        "train",
        train_file,
        "--task",
        "sequence",
        "--format",
        "crfsuite",
        "--surrogate",
        surrogate,
        "--lambda",
        repr(lam),
        "--threads",
        "1",
        "--quiet",
        "--json",
    ]
    wall, peak, text = measured([*common, "--tol", repr(tol), "--model", model])
    report = json.loads(text)
    row = {
        "surrogate": surrogate,
        "lambda": lam,
        "tol": tol,
        "seconds": wall,
        "seconds_solving": report["seconds"],
        "peak_mib": peak,
        "primal": report["primal"],
        "relative_gap": report["relative_gap"],
        "epochs": report["epochs"],
    }
    if goal is not None:
        measured([*common, "--tol", "1e-4", "--log", log])
        reached = [line for line in map(json.loads, log.read_text().splitlines()) if line["primal"] * n <= goal]
        row["seconds_to_objective"] = reached[0]["seconds"] if reached else None
    evaluated = json.loads(measured([tool, "eval", model, test_file, "--threads", "1", "--json"])[2])
    row["chunk_f1"] = evaluated["metrics"]["chunk_f1"]
    wall, _, _ = measured([tool, "predict", model, many_file, "--threads", "1", "--out", out])
    row["tokens_per_second"] = evaluated["tokens"] * TIMES / wall
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--m4n", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--crfsuite", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.crfsuite:
        print(json.dumps(crfsuite(*arguments.crfsuite)))
        return
    train, test = (arguments.data / f"conll2000_{part}.txt.gz" for part in ("train", "test"))
    if not train.exists() or not test.exists():
        print(f"skipped: {train} or {test} is not there; set M4N_DATA", file=sys.stderr)
        print(json.dumps({"sequence_peers": []}))
        return
    limit = 300 if arguments.quick else None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        train_file, test_file, many_file = (folder / f"{part}.crfsuite" for part in ("train", "test", "many"))
        n, tokens = write_attributes(train, train_file, limit)
        write_attributes(test, test_file, limit)
        write_attributes(test, many_file, limit, TIMES)
        again = [sys.executable, __file__, "--m4n", arguments.m4n, "--data", arguments.data, "--crfsuite"]
        peer = json.loads(
            measured([*again, train_file, test_file, many_file, folder / "peer.model", folder / "peer.txt"])[2]
        )
        rows = [{"program": "CRFsuite", "surrogate": "crf", **peer}]
        for surrogate, lam, tol in (("crf", 2 / n, 1e-3), ("m4n", 0.012, 1e-2), ("m3n", 0.02, 1e-2)):
            goal = peer["loss"] if surrogate == "crf" else None
            rows.append(
                {
                    "program": "m4n",
                    **m4n_row(arguments.m4n, surrogate, lam, tol, train_file, test_file, many_file, folder, goal, n),
                }
            )
    print(json.dumps({"sequence_peers": rows}))


if __name__ == "__main__":
    main()
