"""eval, cv and reproduce on sequences: chunks counted anew, folds of a file, resuming, the letters of the paper."""

import csv
import json
import random

import numpy as np
import pytest
from conftest import DONE, FAILED, WRONG_USAGE
from sequence_files import WORD_TEMPLATE, letters_text, random_words, read_sentences, write_sentences


@pytest.fixture(scope="module")
def home(m4n, tmp_path_factory):
    """Sentences, a template and a crf of them; letters of words."""
    path = tmp_path_factory.mktemp("judged")
    m4n("generate", "--task", "sequence", "--n", 60, "--seed", 5, "--out", path / "tagged.txt", expect=DONE)
    (path / "words.tpl").write_text(WORD_TEMPLATE)
    m4n("train", path / "tagged.txt", "--template", path / "words.tpl", "--surrogate", "crf", "--model", path / "m.m4n",
        "--lambda", "0.02", expect=DONE)  # fmt: skip
    (path / "letters.data").write_text(letters_text(random_words(40, 10, folds=4, flip=0.3)))
    return path


def chunks(tags):
    """(first, behind the last, type): a chunk goes on with I or E of its type, unless E or S ended it."""
    found, begin, kind, last = set(), None, None, None
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, own = tag.partition("-")
        if begin is not None and (prefix in "OBS" or own != kind or last in "ES"):
            found.add((begin, i, kind))
            begin = None
        if begin is None and prefix != "O":
            begin, kind = i, own
        last = prefix
    return found


SCHEMES = {
    "IOB1": ["O", "I-A", "I-B", "B-A", "B-B"],
    "IOB2": ["O", "B-A", "I-A", "B-B", "I-B"],
    "IOBES": ["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"],
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_eval_against_a_count_of_its_own(m4n, tmp_path, scheme):
    """Any tag may follow any other: the words say what is predicted, the last column what is true."""
    tags, rng = SCHEMES[scheme], random.Random(scheme)
    learnt = [[[f"w{tag}", tag] for tag in rng.choices(tags, k=8)] for _ in range(60)]
    (tmp_path / "t.tpl").write_text("U:%x[0,0]\nB\n")
    m4n("train", write_sentences(tmp_path / "learnt.txt", learnt), "--template", tmp_path / "t.tpl", "--surrogate", "crf",
        "--lambda", "1e-5", "--tol", "1e-2", "--model", tmp_path / "m.m4n", expect=DONE)  # fmt: skip
    labels = [*tags, "B-NEW", "odd"]
    sentences = [[[f"w{rng.choice(tags)}"] for _ in range(rng.randint(1, 12))] for _ in range(150)]
    for i, sentence in enumerate(sentences):
        for cells in sentence:
            right = rng.random() < 0.6 or i % 5 == 0
            cells.append(cells[0][1:] if right else rng.choice(labels))
    data = write_sentences(tmp_path / "test.txt", sentences)
    result = m4n("eval", tmp_path / "m.m4n", data, "--json", expect=DONE)
    report = json.loads(result.stdout)
    answers = read_sentences(m4n("predict", tmp_path / "m.m4n", data).stdout)
    pairs = [([cells[1] for cells in own], [cells[2] for cells in own]) for own in answers]
    assert [cells[0][1:] for own in answers for cells in own] == [tag for _, predicted in pairs for tag in predicted]

    flat = [pair for truth, predicted in pairs for pair in zip(truth, predicted)]
    assert (report["n"], report["tokens"]) == (150, len(flat))
    assert report["unseen"] == sum(t in ("B-NEW", "odd") for t, _ in flat) > 0
    assert "'B-NEW'" in result.stderr and "'odd'" in result.stderr and "warning" in result.stderr
    assert report["loss"] == pytest.approx(
        np.mean([np.mean([t != p for t, p in zip(*own)]) for own in pairs]), rel=1e-13
    )
    metrics = report["metrics"]
    assert metrics["token_accuracy"] == pytest.approx(np.mean([t == p for t, p in flat]), rel=1e-13)
    assert metrics["sequence_accuracy"] == pytest.approx(np.mean([t == p for t, p in pairs]), rel=1e-13)
    classes = report["classes"]
    assert metrics["confusion"] == [[flat.count((t, p)) for p in classes] for t in classes]
    for label in labels:
        actual, predicted = sum(t == label for t, _ in flat), sum(p == label for _, p in flat)
        row = report["labels"][label]
        assert (row["actual"], row["predicted"], row["found"]) == (actual, predicted, flat.count((label, label)))

    # "odd" is no tag of chunks: what it does to its neighbours is left to the unit tests of the counter.
    tame = [own for own in pairs if "odd" not in own[0]]
    data = write_sentences(tmp_path / "tame.txt", [own for own in sentences if all(cells[1] != "odd" for cells in own)])
    report = m4n.json("eval", tmp_path / "m.m4n", data)
    found = [(chunks(truth), chunks(predicted)) for truth, predicted in tame]
    for kind in (None, "A", "B", "NEW"):
        count = [sum(sum(kind in (None, c[2]) for c in s) for s in sets)
                 for sets in zip(*((t, p, t & p) for t, p in found))]  # fmt: skip
        if kind is None:
            actual, predicted, right = count
            metrics = report["metrics"]
            assert actual > 100 and metrics["chunk_precision"] == pytest.approx(right / predicted, rel=1e-13)
            assert metrics["chunk_recall"] == pytest.approx(right / actual, rel=1e-13)
            assert metrics["chunk_f1"] == pytest.approx(2 * right / (actual + predicted), rel=1e-13)
        else:
            row = report["chunks"][kind]
            assert [row["actual"], row["predicted"], row["found"]] == count


def test_eval_bootstrap_and_text(m4n, home):
    data = home / "tagged.txt"
    report = m4n.json("eval", home / "m.m4n", data, "--bootstrap", 400)
    assert "chunks" not in report and "chunk_f1" not in report["metrics"]  # D, N and V are no tags of chunks
    sure = report["bootstrap"]
    assert sure["replicates"] == 400 and set(sure["metrics"]) == {"token_accuracy", "sequence_accuracy"}
    assert sure["loss"]["low"] < report["loss"] < sure["loss"]["high"]
    again = [m4n.json("eval", home / "m.m4n", data, "--bootstrap", 400, "--threads", n)["bootstrap"] for n in (1, 3)]
    assert again == [sure, sure]
    text = m4n("eval", home / "m.m4n", data, expect=DONE).stdout
    assert "token_accuracy" in text and "precision" in text and "sequences" in text


def test_eval_needs_every_label(m4n, home, tmp_path):
    for text, words in (("the\nfish\n", ["label"]), ("the D\nfish _\n", ["line 2", "'_'"]), ("", ["no tokens"])):
        data = tmp_path / "data.txt"
        data.write_text(text)
        result = m4n("eval", home / "m.m4n", data, expect=FAILED)
        assert str(data) in result.stderr and all(word in result.stderr for word in words) and result.stdout == ""


QUICK = ["--lambdas", "2^-3:2^-5", "--extend", "no"]


def without_times(report):
    return {key: value for key, value in report.items() if key != "seconds"}


def cells(directory):
    with open(directory / "cells.csv", newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


def test_cv_with_the_folds_of_the_letters(m4n, home, tmp_path):
    data, model = home / "letters.data", tmp_path / "m.m4n"
    command = ["cv", data, "--folds", "fold", "--surrogates", "m4n,m3n,crf", *QUICK]
    report = m4n.json(*command, "--out", tmp_path / "out", "--model", model, "--threads", 1)
    assert (report["task"], report["loss"], report["splits"], report["n"], report["k"]) == (
        "sequence",
        "hamming",
        4,
        40,
        3,
    )
    assert [(r["surrogate"], r["decode"]) for r in report["results"]] == [
        ("m4n", "viterbi"),
        ("m3n", "viterbi"),
        ("crf", "expected"),
    ]
    assert len(cells(tmp_path / "out")) == 4 * 3 * 3
    other = without_times(m4n.json(*command, "--threads", 3))
    assert other == {**without_times(report), "model": other["model"]}
    # The refit is what train makes of the choice; only it does not know of the folds.
    m4n.train(
        data, tmp_path / "t.m4n", "--surrogate", report["best_surrogate"], "--lambda", repr(report["best_lambda"])
    )
    assert m4n("dump", model).stdout == m4n("dump", tmp_path / "t.m4n").stdout
    assert m4n.json("info", model)["fold_column"] == "fold"

    # One cell by hand: fold 0 tests, fold 1 validates, the others train.
    words = random_words(40, 10, folds=4, flip=0.3)
    part = lambda *folds: letters_text([word for word in words if word[0] in folds])
    for name, text in (("train", part(2, 3)), ("validation", part(1)), ("test", part(0))):
        (tmp_path / name).write_text(text)
    first = [row for row in cells(tmp_path / "out") if row["split"] == "1" and float(row["lambda"]) == 2.0**-3]
    assert [row["surrogate"] for row in first] == ["m4n", "m3n", "crf"]
    for row in first:
        m4n.train(tmp_path / "train", tmp_path / "p.m4n", "--surrogate", row["surrogate"], "--lambda", "2^-3")
        for name in ("validation", "test"):
            assert m4n.json("eval", tmp_path / "p.m4n", tmp_path / name)["loss"] == pytest.approx(
                float(row[name]), abs=1e-12
            )


def test_cv_of_text_is_resumed(m4n, home, tmp_path):
    out = tmp_path / "out"
    start = ["cv", home / "tagged.txt", "--splits", 3, "--surrogates", "m4n,crf", *QUICK, "--out", out]
    command = [*start, "--template", home / "words.tpl", "--min-count", 2]
    report = m4n.json(*command)
    assert report["splits"] == 3 and 0 < report["test_mean"] < 0.6
    whole, lines = cells(out), (out / "cells.csv").read_text().splitlines(keepends=True)
    assert len(whole) == 3 * 3 * 2
    (out / "cells.csv").write_text("".join(lines[:8]) + lines[8][:5])
    again = m4n(*command, "--threads", 2, "--json", expect=DONE)
    assert "7 cells found there" in again.stderr and cells(out) == whole
    assert without_times(json.loads(again.stdout)) == without_times(report)
    for change in (["--template", "pos", "--min-count", 2], ["--template", home / "words.tpl", "--min-count", 3]):
        assert "other settings" in m4n(*start, *change, expect=FAILED).stderr


def test_cv_chooses_among_what_sequences_have(m4n, home, tmp_path):
    command = [
        "cv",
        home / "tagged.txt",
        "--template",
        home / "words.tpl",
        "--splits",
        2,
        "--lambdas",
        "0.1",
        "--surrogates",
        "auto",
    ]
    found = [(r["surrogate"], r["smoothing"], r["decode"]) for r in m4n.json(*command)["results"]]
    assert found == [("m4n", 0, "viterbi"), ("m3n", 0, "viterbi"), ("crf", 0, "expected")]
    cost = tmp_path / "cost.csv"
    cost.write_text(",D,N,V\nD,0,1,1\nN,1,0,5\nV,1,1,0\n")
    found = [(r["surrogate"], r["decode"]) for r in m4n.json(*command, "--loss", cost)["results"]]
    assert found == [("m4n", "viterbi"), ("m4n", "adversary"), ("m3n", "viterbi"), ("crf", "expected")]


@pytest.mark.parametrize("options, code, words", [
    (["--folds", "fold"], WRONG_USAGE, "ocr"),
    (["--surrogates", "m4n,qs"], WRONG_USAGE, "qs"),
    (["--surrogates", "m4n,smoothed"], WRONG_USAGE, "--smoothing"),
    (["--features", "rbf"], WRONG_USAGE, "--features"),
    (["--splits", "100"], FAILED, "60"),
])  # fmt: skip
def test_cv_refusals(m4n, home, options, code, words):
    result = m4n("cv", home / "tagged.txt", "--template", home / "words.tpl", *QUICK, *options, expect=code)
    assert words in result.stderr and result.stdout == ""


def test_reproduce_letters(m4n, tmp_path):
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    (data / "ocr_letters.data").write_text(letters_text(random_words(16, 128, flip=0.4)))
    report = m4n.json("reproduce", "table1", "--data", data, "--only", "ocr", "--splits", 2, "--out", out)
    found = [(cell["set"], cell["protocol"], cell["surrogate"]) for cell in report["table1"]]
    assert found == [("ocr", p, s) for p in ("exact", "best") for s in ("m3n", "crf", "m4n")]
    assert all(cell["n"] == 16 and cell["k"] == 3 and 0 <= cell["test"]["mean"] <= 1 for cell in report["table1"])
    settings = [json.loads((out / "cells" / f"ocr-{p}-m4n" / "settings.json").read_text()) for p in ("exact", "best")]
    assert settings[0]["data"] != settings[1]["data"]  # the best has the products of the pixels
    assert "ocr" in (out / "reproduce.md").read_text()


def test_reproduce_says_that_the_papers_solver_is_not_run_on_letters(m4n, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "ocr_letters.data").write_text(letters_text(random_words(12, 128, flip=0.4)))
    result = m4n(
        "reproduce", "table1", "--data", data, "--only", "ocr", "--protocols", "paper", "--out", tmp_path / "o"
    )
    assert "ocr: left out of the protocol paper" in result.stderr
