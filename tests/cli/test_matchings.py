"""Matchings: train, predict, eval, info, dump, cv, generate against plain Python; sizes that vary, one point
per side."""

import gzip
import itertools
import json
import signal

import numpy as np
import pytest
from conftest import DONE, write_csv
from permutation_files import NOT_IN_INFO, TRAIN_KEYS, best_value, gibbs, matching_text, matchings, values_of

SIZES = [3, 1, 4, 2, 5, 3, 4, 1, 2, 5, 3, 4, 2, 3]


@pytest.fixture(scope="module")
def matched(tmp_path_factory):
    """Fourteen matchings of one to five points per side, three features per pair."""
    examples = matchings(SIZES, 3, seed=1, noise=1.3)
    path = tmp_path_factory.mktemp("matched") / "matched.txt"
    path.write_text(matching_text(examples, ["near", "like", "odd"]))
    return path, examples


def partners_of(rows, sizes):
    """The rows matching,point,partner as lists of partners from 0, in their order."""
    rows = iter(rows)
    out = []
    for e, size in enumerate(sizes, 1):
        own = list(itertools.islice(rows, size))
        assert [(row["matching"], row["point"]) for row in own] == [(str(e), str(i)) for i in range(1, size + 1)]
        out.append([int(row["partner"]) - 1 for row in own])
    assert next(rows, None) is None
    return out


def square(rows, column, sizes):
    """One column of matching,point,other,.. as M x M arrays."""
    rows = iter(rows)
    out = []
    for e, size in enumerate(sizes, 1):
        own = list(itertools.islice(rows, size**2))
        expected = [(str(e), str(i), str(j)) for i, j in itertools.product(range(1, size + 1), repeat=2)]
        assert [(row["matching"], row["point"], row["other"]) for row in own] == expected
        out.append(np.reshape([float(row[column]) for row in own], (size, size)))
    assert next(rows, None) is None
    return out


def test_generated_matchings(m4n, tmp_path):
    path = tmp_path / "a.txt"
    report = m4n.json("generate", "--task", "matching", "--n", 30, "--seed", 3, "--out", path)
    lines = [line.split() for line in path.read_text().splitlines()]
    assert lines[0] == ["features", "d1", "d2", "d3", "d4", "noise1", "noise2"]
    heads = [line for line in lines if line[0] == "matching"]
    assert len(heads) == 30 and all(sorted(map(int, h[2:])) == list(range(1, int(h[1]) + 1)) for h in heads)
    assert all(4 <= int(h[1]) <= 10 for h in heads) and len(lines) == 1 + 30 + sum(int(h[1]) ** 2 for h in heads)
    assert (report["n"], report["d"], report["k"], report["seed"]) == (30, 6, 10, 3)
    # One in five is random; then a point of M is misplaced with probability 1 - 1/M, M uniform on 4..10.
    assert report["bayes_risk"] == pytest.approx(0.2 * np.mean([1 - 1 / m for m in range(4, 11)]), rel=1e-12)
    longer = m4n("generate", "--task", "matching", "--n", 40, "--seed", 3, expect=DONE).stdout
    assert longer.startswith(path.read_text())
    m4n.train(path, tmp_path / "m.m4n", "--lambda", 0.01)
    judge = tmp_path / "judge.txt"
    m4n("generate", "--task", "matching", "--n", 400, "--seed", 8, "--out", judge, expect=DONE)
    assert (
        report["bayes_risk"] - 0.04 < m4n.json("eval", tmp_path / "m.m4n", judge)["loss"] < report["bayes_risk"] + 0.1
    )


def test_json_keys_and_the_guess(m4n, matched, tmp_path):
    path, _ = matched
    result = m4n("train", path, "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert (
        result.stdout.count("\n") == 1 and "task matching, guessed" in result.stderr and "14 matchings" in result.stderr
    )
    report = json.loads(result.stdout)
    assert set(report) == TRAIN_KEYS | {"points"} and report["points"] == sum(SIZES)
    assert (report["task"], report["loss"], report["n"], report["d"], report["k"]) == ("matching", "hamming", 14, 3, 5)
    assert report["lambda"] == pytest.approx(sum(SIZES) / 14 / 14, rel=1e-15) and report["converged"]
    assert m4n.train(path, tmp_path / "m.m4n", "--surrogate", "crf")["lambda"] == pytest.approx(1 / 14, rel=1e-15)
    text = m4n("info", tmp_path / "m.m4n", expect=DONE).stdout
    assert "14 matchings" in text and "5 points" in text and "no bias" in text


@pytest.mark.parametrize("options", [
    [], ["--decode", "adversary"], ["--surrogate", "m3n"], ["--surrogate", "qs"], ["--surrogate", "crf"],
    ["--surrogate", "crf", "--decode", "argmax", "--standardize", "no"],
    ["--solver", "gbcfw", "--oracle", "spmp", "--epochs", "5"],
], ids=" ".join)  # fmt: skip
def test_every_surrogate(m4n, matched, tmp_path, options):
    """What was said of training is what eval, predict and info say; predictions are the best of their scores."""
    path, examples = matched
    for name, threads in (("a", 1), ("b", 3), ("c", 1)):
        report = m4n.train(path, tmp_path / name, "--threads", threads, *options)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    assert report["dual"] <= report["primal"]
    info = m4n.json("info", tmp_path / "a")
    for key in TRAIN_KEYS - NOT_IN_INFO:
        assert info[key] == report[key], key

    predicted = partners_of(m4n.predict(tmp_path / "a", path), SIZES)
    loss = np.mean([np.mean(own != np.array(y)) for (_, own), y in zip(examples, predicted)])
    assert loss == pytest.approx(report["train_loss"], abs=1e-12)
    judged = m4n.json("eval", tmp_path / "a", path)
    assert judged["loss"] == pytest.approx(loss, abs=1e-12)
    assert judged["metrics"] == {"match_accuracy": pytest.approx(1 - loss), "hamming": pytest.approx(loss)}

    crf = report["surrogate"] == "crf"
    rows = m4n.predict(tmp_path / "a", path, "--scores", *(["--marginals"] if crf else []))
    scores = square(rows, "score", SIZES)
    dump = m4n.json("dump", tmp_path / "a")
    weight = {entry["feature"]: entry["weight"] for entry in dump["weights"]}
    assert set(weight) <= {"near", "like", "odd"} and {entry["class"] for entry in dump["weights"]} == {"pair"}
    w = np.array([weight.get(name, 0) for name in ("near", "like", "odd")])
    mean, scale = dump["mean"] or np.zeros(3), dump["inverse_scale"] or np.ones(3)
    for (x, _), own, y, chosen in zip(examples, scores, predicted, square(rows, "matched", SIZES)):
        np.testing.assert_allclose(own, ((x - mean) * scale) @ w, rtol=1e-9, atol=1e-12)
        assert np.array_equal(chosen, np.eye(len(y))[y])
        if report["decode"] == "argmax":
            assert values_of(own, np.array([y]))[0] == pytest.approx(best_value(own), abs=1e-9)
    if crf:
        for own, p in zip(scores, square(rows, "p", SIZES)):
            everyone, mass = gibbs(own)
            for i, j in itertools.product(range(len(own)), repeat=2):
                assert p[i, j] == pytest.approx(mass[everyone[:, i] == j].sum(), rel=1e-9, abs=1e-12)
    answer = m4n.json("predict", tmp_path / "a", path, "--scores")
    assert answer["n"] == 14 and answer["partner"] == [[p + 1 for p in y] for y in predicted]
    assert all(np.array_equal(a, b) for a, b in zip(answer["scores"], scores))


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_two_points_are_two_classes(m4n, tmp_path, surrogate):
    """The margin between the two matchings is w . (x11 + x22 - x12 - x21). Two classes of features z have the margin
    (u_1 - u_2) . z with u_1 = -u_2 = u at the optimum: w = 2 u, |w|^2 = 2 (|u_1|^2 + |u_2|^2), so their lambda is
    twice."""
    examples = matchings([2] * 30, 3, seed=4, noise=2)
    path = tmp_path / "two.txt"
    path.write_text(matching_text(examples))
    z = np.array([x[0, 0] + x[1, 1] - x[0, 1] - x[1, 0] for x, _ in examples])
    classes = write_csv(tmp_path / "classes.csv", z, ["same" if own[0] == 0 else "swapped" for _, own in examples])
    options = ["--surrogate", surrogate, "--standardize", "no", "--tol", "1e-9", "--epochs", 20000]
    one = m4n.train(path, tmp_path / "m.m4n", "--lambda", 0.2, *options)
    two = m4n.train(classes, tmp_path / "c.m4n", "--lambda", 0.4, "--bias", "no", *options)
    assert one["primal"] == pytest.approx(two["primal"], rel=3e-9)
    assert one["norm_squared"] == pytest.approx(2 * two["norm_squared"], rel=1e-3)
    assert one["train_loss"] == pytest.approx(two["train_loss"], abs=1e-12)


def test_quadratic_surrogate_is_ridge_regression_onto_the_permutation_matrix(m4n, tmp_path):
    examples = matchings([3] * 20, 2, seed=6)
    path = tmp_path / "three.txt"
    path.write_text(matching_text(examples))
    m4n.train(path, tmp_path / "m.m4n", "--surrogate", "qs", "--lambda", 0.3, "--standardize", "no", "--tol", "1e-15")
    x = np.concatenate([x.reshape(9, 2) for x, _ in examples])
    y = np.concatenate([np.eye(3)[own].ravel() for _, own in examples])
    w = np.linalg.solve(2 * x.T @ x / 20 + 0.3 * np.eye(2), 2 * x.T @ y / 20)
    found = {entry["feature"]: entry["weight"] for entry in m4n.json("dump", tmp_path / "m.m4n")["weights"]}
    # The certificate is of values: weights follow to about its square root.
    assert found == {"1": pytest.approx(w[0], abs=1e-8), "2": pytest.approx(w[1], abs=1e-8)}


def test_the_paper_way_reaches_nearly_the_same_optimum(m4n, matched, tmp_path):
    exact = m4n.train(matched[0], tmp_path / "a.m4n", "--tol", "1e-6")
    paper = m4n.train(matched[0], tmp_path / "b.m4n", "--oracle", "spmp", "--oracle-iterations", 50, "--epochs", 60)
    assert max(exact["dual"], paper["dual"]) <= min(exact["primal"], paper["primal"])
    assert paper["primal"] == pytest.approx(exact["primal"], rel=0.02) and paper["solver"] == "gbcfw"


def test_named_features_in_any_order_unknown_partners_gzip_and_standard_input(m4n, matched, tmp_path):
    path, examples = matched
    m4n("train", path, "--model", tmp_path / "a", expect=DONE)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    m4n("train", packed, "--model", tmp_path / "b", expect=DONE)
    m4n("train", "-", "--format", "matching", "--model", tmp_path / "c", input=path.read_text(), expect=DONE)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    meant = m4n("predict", tmp_path / "a", path, expect=DONE).stdout
    turned = [(x[:, :, [2, 0, 1]], own) for x, own in examples]
    for text in (
        matching_text(turned, ["odd", "near", "like"], partners=False),
        matching_text(examples, partners=False),
    ):
        assert m4n("predict", tmp_path / "a", input=text, expect=DONE).stdout == meant
    # Turning around the order of the second set turns the partners around.
    other = tmp_path / "other.txt"
    other.write_text(matching_text([(x[:, ::-1], len(own) - 1 - own) for x, own in examples], ["near", "like", "odd"]))
    turned = partners_of(m4n.predict(tmp_path / "a", other), SIZES)
    predicted = partners_of(m4n.predict(tmp_path / "a", path), SIZES)
    assert turned == [[len(y) - 1 - p for p in y] for y in predicted]


def test_a_single_point_has_its_partner(m4n, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("matching 1 1\n1 1 0.5\nmatching 1 1\n1 1 -2\n")
    for surrogate in ("m4n", "m3n", "crf", "qs"):
        report = m4n.train(path, tmp_path / "m.m4n", "--surrogate", surrogate)
        assert report["train_loss"] == 0 and report["converged"] and report["k"] == 1
        assert m4n.predict(tmp_path / "m.m4n", path) == [
            {"matching": str(e), "point": "1", "partner": "1"} for e in (1, 2)
        ]
        assert m4n.json("eval", tmp_path / "m.m4n", path)["metrics"]["match_accuracy"] == 1
    # Larger matchings than any in training.
    path.write_text(matching_text(matchings([6], 1)))
    assert len(m4n.predict(tmp_path / "m.m4n", path)) == 6


def test_bootstrap_and_cross_validation(m4n, matched, tmp_path):
    path, _ = matched
    m4n.train(path, tmp_path / "m.m4n")
    report = m4n.json("eval", tmp_path / "m.m4n", path, "--bootstrap", 40, "--seed", 2)
    interval = report["bootstrap"]["metrics"]["match_accuracy"]
    assert 0 <= interval["low"] < report["metrics"]["match_accuracy"] < interval["high"] <= 1
    assert report == m4n.json("eval", tmp_path / "m.m4n", path, "--bootstrap", 40, "--seed", 2, "--threads", 1)
    quick = [
        "--surrogates",
        "m4n,m3n,crf,qs",
        "--lambdas",
        "2^0:2^-3",
        "--extend",
        "no",
        "--model",
        tmp_path / "cv.m4n",
    ]
    chosen = m4n.json("cv", path, "--splits", 2, *quick)
    assert chosen["task"] == "matching" and [r["surrogate"] for r in chosen["results"]] == ["m4n", "m3n", "crf", "qs"]
    assert len(chosen["curve"]) == 4 and 0 <= chosen["test_mean"] <= 1
    again = m4n.json("cv", path, "--splits", 2, *quick, "--threads", 1)
    assert {**again, "seconds": 0} == {**chosen, "seconds": 0}
    info = m4n.json("info", tmp_path / "cv.m4n")
    assert (info["lambda"], info["surrogate"], info["n"]) == (chosen["best_lambda"], chosen["best_surrogate"], 14)
    assert m4n.json("cv", path, "--folds", 7, *quick)["splits"] == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_exits_with_130(m4n, matched, tmp_path, number):
    path, model = matched[0], tmp_path / "m.m4n"
    m4n.interrupted_training(path, model, "--oracle", "spmp", "--lambda", "1e-6", number=number)
    assert len(m4n.predict(model, path)) == sum(SIZES)
