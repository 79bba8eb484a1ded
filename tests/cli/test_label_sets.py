"""Label sets: what is learnt, against plain Python, the classes of each label, and the best that can be."""

import json
import math

import numpy as np
import pytest
from conftest import DONE, write_csv
from label_files import (  # noqa: F401 (fixtures)
    ALARM,
    COMBINATIONS,
    MISS,
    NAMES,
    NOT_IN_INFO,
    SIZE,
    TRAIN_KEYS,
    costs,
    edge_option,
    label_cost,
    label_sets,
    labellings,
    marked,
    probabilities,
    read_marks,
    tables_of,
    values_of,
    write_label_sets,
)


def test_generated_label_sets(m4n, tmp_path):
    path = tmp_path / "a.csv"
    report = m4n.json("generate", "--task", "multilabel", "--n", 70, "--seed", 3, "--out", path)
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    d, k = report["d"], report["k"]
    assert header == [f"x{j}" for j in range(1, d + 1)] + [f"y{j}" for j in range(1, k + 1)] and len(rows) == 70
    assert all(sorted(row[:d]) == ["0"] * (d - 1) + ["1"] and set(row[d:]) <= {"0", "1"} for row in rows)
    assert (report["n"], report["seed"]) == (70, 3) and 0 < report["bayes_risk"] < 0.5
    longer = m4n("generate", "--task", "multilabel", "--n", 90, "--seed", 3, expect=DONE).stdout
    assert longer.startswith(path.read_text()) and longer.count("\n") == 91
    assert m4n("generate", "--task", "multilabel", "--n", 70, "--seed", 4, expect=DONE).stdout != path.read_text()


@pytest.mark.parametrize("surrogate, edges", [(s, e) for s, e in COMBINATIONS if e != "file"])
def test_much_data_brings_the_loss_near_the_bayes_risk(m4n, tmp_path, surrogate, edges):
    learn, judge = tmp_path / "learn.csv", tmp_path / "judge.csv"
    risk = m4n.json("generate", "--task", "multilabel", "--n", 3000, "--seed", 5, "--out", learn)["bayes_risk"]
    m4n("generate", "--task", "multilabel", "--n", 6000, "--seed", 6, "--out", judge, expect=DONE)
    # The frequencies of a region are the best rule; no model of these columns can be better.
    table = np.loadtxt(judge, delimiter=",", skiprows=1)
    d = m4n.json("generate", "--task", "multilabel", "--n", 1, "--out", tmp_path / "one.csv")["d"]
    regions, marks = table[:, :d].argmax(axis=1), table[:, d:]
    rates = np.array([marks[regions == r].mean(axis=0) for r in range(d)])
    assert np.minimum(rates, 1 - rates).mean() == pytest.approx(risk, abs=0.01)
    m4n.train(
        learn, tmp_path / "m.m4n", "--surrogate", surrogate, "--edges", edges, "--tol", "1e-2", "--time-limit", 10
    )
    found = m4n.json("eval", tmp_path / "m.m4n", judge)["loss"]
    assert risk - 0.02 < found < risk + 0.03


def test_json_keys_and_the_guess(m4n, marked, tmp_path):
    result = m4n("train", marked[0], "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert result.stdout.count("\n") == 1 and "task multilabel, guessed" in result.stderr
    report = json.loads(result.stdout)
    assert set(report) == TRAIN_KEYS
    assert (report["n"], report["d"], report["k"], report["features"]) == (40, 3, SIZE, "linear")
    assert (report["task"], report["surrogate"], report["loss"]) == ("multilabel", "m4n", "hamming")
    assert (report["solver"], report["decode"]) == ("smooth", "argmax")
    assert report["converged"] and 0 <= report["relative_gap"] <= 1e-3


@pytest.mark.parametrize("surrogate, edges", COMBINATIONS)
def test_default_lambda(m4n, marked, tmp_path, edge_option, surrogate, edges):
    report = m4n.train(marked[0], tmp_path / "m.m4n", "--surrogate", surrogate, "--edges", edge_option(edges))
    labels = SIZE if surrogate in ("m4n", "m3n") else 1  # their loss is an average over labels
    assert report["lambda"] == pytest.approx(labels / 40, rel=1e-15)


@pytest.mark.parametrize("uneven", [False, True], ids=["hamming", "costs"])
@pytest.mark.parametrize("surrogate, edges", COMBINATIONS)
def test_every_way_with_every_surrogate(m4n, marked, tmp_path, costs, edge_option, surrogate, edges, uneven):
    """What was said of training is what eval, predict and info say; predictions are the best of their scores."""
    path, _, truth = marked
    model = tmp_path / "m.m4n"
    options = ["--surrogate", surrogate, "--edges", edge_option(edges), *(["--loss", costs] if uneven else [])]
    report = m4n.train(path, model, "--task", "multilabel", *options)
    assert report["dual"] <= report["primal"] and report["converged"]
    assert report["loss"] == ("costs" if uneven else "hamming")
    joined = edges != "none"
    assert report["decode"] == {"crf": "expected", "m4n": "adversary" if uneven else "argmax"}.get(surrogate, "argmax")
    info = m4n.json("info", model)
    for key in TRAIN_KEYS - NOT_IN_INFO:
        assert info[key] == report[key], key
    assert info["classes"] == NAMES
    if uneven:
        np.testing.assert_array_equal(np.ravel(info["cost"]), np.concatenate([MISS, ALARM]))

    rows = m4n.predict(model, path, "--scores", *(["--marginals"] if surrogate == "crf" else []))
    predicted = read_marks(rows, SIZE)
    miss, alarm = (MISS, ALARM) if uneven else (1, 1)
    assert label_cost(miss, alarm, truth, predicted).mean() == pytest.approx(report["train_loss"], abs=1e-12)
    assert m4n.json("eval", model, path)["loss"] == pytest.approx(report["train_loss"], abs=1e-12)

    tables = tables_of(m4n.json("dump", model), info)
    assert len(tables) == {"none": 0, "tree": SIZE - 1, "file": 4}[edges]
    everyone = labellings(SIZE, 2)
    for row, y in zip(rows, predicted):
        if joined:
            unary = np.array([[float(row[f"score_{name}_{a}"]) for a in (0, 1)] for name in NAMES])
        else:
            unary = np.array([[-1, 1]]) * np.array([[float(row[f"score_{name}"])] for name in NAMES])
        if report["decode"] == "argmax":
            value = values_of(unary, tables, y[None])[0]
            assert value == pytest.approx(values_of(unary, tables, everyone).max(), rel=1e-9, abs=1e-12)
        if surrogate == "crf":
            p = probabilities(unary, tables, everyone)[:, 1]
            np.testing.assert_allclose([float(row[f"p_{name}"]) for name in NAMES], p, rtol=1e-9, atol=1e-12)
            if report["decode"] == "expected":
                np.testing.assert_array_equal(y, p * miss > (1 - p) * alarm)
        if surrogate == "m4n" and uneven and not joined:
            np.testing.assert_array_equal(y, unary[:, 1] > (ALARM - MISS) / (4 * SIZE))


@pytest.mark.parametrize("uneven", [False, True], ids=["hamming", "costs"])
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_labels_apart_are_classes(m4n, marked, tmp_path, costs, surrogate, uneven):
    """Without edges: one problem of two classes per label, with scores s and -s, the costs divided by M, and the same
    lambda. Costs divided by M are the costs themselves with scores M times as large: lambda / M, and the objective
    divided by M."""
    path, x, marks = marked
    strict = ["--surrogate", surrogate, "--tol", "1e-11", "--epochs", 100000]
    lambda_ = 0.02
    together = m4n.train(path, tmp_path / "m.m4n", "--lambda", lambda_, *strict, *(["--loss", costs] if uneven else []))
    averaged = surrogate != "crf"
    miss, alarm = (MISS, ALARM) if uneven else (np.ones(SIZE), np.ones(SIZE))
    scores = m4n.predict(tmp_path / "m.m4n", path, "--scores")
    primal, norm, shared, loss = [], [], [], 0
    for j in range(SIZE):
        own = write_csv(tmp_path / "own.csv", x, marks[:, j])
        matrix = tmp_path / "matrix.csv"
        scale = SIZE if averaged else 1
        matrix.write_text(f"0,{float(alarm[j] / scale)!r}\n{float(miss[j] / scale)!r},0\n")
        apart = m4n.train(
            own, tmp_path / "c.m4n", "--task", "multiclass", "--lambda", lambda_, "--loss", matrix, *strict
        )
        primal.append(apart["primal"])
        norm.append(apart["norm_squared"])
        loss += apart["train_loss"] * scale / SIZE
        rows = m4n.predict(tmp_path / "c.m4n", own, "--scores")
        assert [row["label"] for row in rows] == [row[f"y{j + 1}"] for row in scores]
        np.testing.assert_allclose([float(row[f"score_y{j + 1}"]) for row in scores], [float(row["score_1"]) for row in rows],
                                   atol=1e-4)  # fmt: skip
        if not uneven:
            scaled = lambda_ / SIZE if averaged else lambda_
            usual = m4n.train(own, tmp_path / "c.m4n", "--task", "multiclass", "--lambda", repr(scaled), *strict)
            shared.append(usual["primal"] / scale)
    assert together["converged"]
    assert together["primal"] == pytest.approx(math.fsum(primal), rel=1e-10)
    assert together["norm_squared"] == pytest.approx(math.fsum(norm), rel=1e-5)
    assert together["train_loss"] == pytest.approx(loss, abs=1e-12)
    if shared:
        assert together["primal"] == pytest.approx(math.fsum(shared), rel=1e-10)


@pytest.mark.parametrize("uneven", [False, True], ids=["hamming", "costs"])
def test_qs_is_least_squares(m4n, marked, tmp_path, costs, uneven):
    path, x, marks = marked
    report = m4n.train(path, tmp_path / "m.m4n", "--surrogate", "qs", "--lambda", 0.05, "--tol", "1e-12", "--standardize", "no",
                       *(["--loss", costs] if uneven else []))  # fmt: skip
    miss, alarm = (MISS, ALARM) if uneven else (1, 1)
    z, target = np.c_[x, np.ones(40)], np.where(marks == 1, miss, np.negative(alarm)) / 2
    weights = np.linalg.solve(z.T @ z / 40 + 0.05 * np.eye(4), z.T @ target / 40)
    value = ((z @ weights - target) ** 2).sum() / 40 + 0.05 * (weights**2).sum()
    assert report["primal"] == pytest.approx(value, rel=1e-11)
    assert report["norm_squared"] == pytest.approx(2 * (weights**2).sum(), rel=1e-9)
    rows = m4n.predict(tmp_path / "m.m4n", path, "--scores")
    np.testing.assert_allclose(
        [[float(row[f"score_{name}"]) for name in NAMES] for row in rows], z @ weights, atol=1e-9
    )


def test_one_label_is_two_classes(m4n, tmp_path):
    x, marks = label_sets(30, 2, 1, seed=4)
    data = write_label_sets(tmp_path / "one.csv", x, marks)
    classes = write_csv(tmp_path / "classes.csv", x, marks[:, 0])
    for surrogate in ("m4n", "m3n", "crf"):
        options = ["--surrogate", surrogate, "--lambda", 0.1, "--tol", "1e-10", "--epochs", 100000]
        for edges in ([], ["--edges", "none"], ["--edges", "tree"]):
            one = m4n.train(data, tmp_path / "m.m4n", "--task", "multilabel", *edges, *options)
            two = m4n.train(classes, tmp_path / "c.m4n", *options)
            assert one["primal"] == pytest.approx(two["primal"], rel=1e-9)
            found = [row["y1"] for row in m4n.predict(tmp_path / "m.m4n", data)]
            assert found == [row["label"] for row in m4n.predict(tmp_path / "c.m4n", classes)]
            assert set(m4n.json("eval", tmp_path / "m.m4n", data)["metrics"]) == {
                "hamming",
                "subset_accuracy",
                "micro_f1",
                "macro_f1",
            }
