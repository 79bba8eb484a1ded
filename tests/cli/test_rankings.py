"""Rankings: train, predict, eval, info, dump, generate against plain Python; losses, surrogates, columns, signals."""

import json
import math
import signal
import time

import numpy as np
import pytest
from conftest import DONE, NOT_CONVERGED, write_csv
from permutation_files import (
    NOT_IN_INFO,
    TRAIN_KEYS,
    best_value,
    gibbs,
    loss_of,
    metrics_of,
    position_costs,
    rankings,
    read_positions,
    values_of,
    write_rankings,
)

SIZE = 4
LOSSES = ["hamming", "footrule", "spearman", "precision@2", "dcg", "weights", "matrix"]
ITEM_SCORES = {"spearman", "precision@2", "dcg"}
ITEM_WEIGHTS = np.array([3.0, 1, 0.5, 0])
# Not symmetric: a place too low costs more than one too high.
MATRIX = np.array([[0, 2, 3, 4], [1, 0, 2, 3], [1, 1, 0, 2], [1, 1, 1, -0.5]])


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """40 rankings of four items by noisy linear functions of three features."""
    x, positions = rankings(40, 3, SIZE, seed=1)
    return write_rankings(tmp_path_factory.mktemp("ranked") / "ranked.csv", x, positions), x, positions


def loss_option(loss, folder):
    """What --loss is given, and (constant, weights, costs)."""
    if loss == "weights":
        path = folder / "weights.csv"
        path.write_text("r1,r2,r3,r4\n3,1,0.5,0\n")
        return path, (0, ITEM_WEIGHTS / SIZE, 1 - np.eye(SIZE))
    if loss == "matrix":
        path = folder / "costs.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in MATRIX) + "\n")
        return path, (0, np.full(SIZE, 1 / SIZE), MATRIX)
    return loss, position_costs(loss, SIZE)


def cells_of(row, loss):
    """The scores of a prediction row as item x position."""
    if loss not in ITEM_SCORES:
        return np.array([[float(row[f"score_r{i}_{j}"]) for j in range(1, SIZE + 1)] for i in range(1, SIZE + 1)])
    items = np.array([float(row[f"score_r{i}"]) for i in range(1, SIZE + 1)])
    gains = {"spearman": [3, 2, 1, 0], "dcg": [3, 2, 1, 0], "precision@2": [0.5, 0.5, 0, 0]}[loss]
    if loss == "dcg":
        gains = np.array(gains) / sum(g / math.log2(2 + j) for j, g in enumerate(gains))
    return np.outer(items, gains)


def test_generated_rankings(m4n, tmp_path):
    path = tmp_path / "a.csv"
    report = m4n.json("generate", "--task", "ranking", "--n", 70, "--seed", 3, "--out", path)
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    assert header == [f"x{j}" for j in range(1, 9)] + [f"r{j}" for j in range(1, 6)] and len(rows) == 70
    assert all(sorted(row[8:]) == list("12345") for row in rows)
    assert (report["n"], report["d"], report["k"], report["seed"]) == (70, 8, 5, 3)
    # One in five is random, and then each item is misplaced with probability 4/5.
    assert report["bayes_risk"] == pytest.approx(0.2 * 0.8, rel=1e-12)
    longer = m4n("generate", "--task", "ranking", "--n", 90, "--seed", 3, expect=DONE).stdout
    assert longer.startswith(path.read_text()) and longer.count("\n") == 91
    assert m4n("generate", "--task", "ranking", "--n", 70, "--seed", 4, expect=DONE).stdout != path.read_text()


def test_much_data_brings_the_loss_near_the_bayes_risk(m4n, tmp_path):
    learn, judge = tmp_path / "learn.csv", tmp_path / "judge.csv"
    m4n("generate", "--task", "ranking", "--n", 4000, "--seed", 5, "--out", learn, expect=DONE)
    m4n("generate", "--task", "ranking", "--n", 4000, "--seed", 6, "--out", judge, expect=DONE)
    m4n.train(learn, tmp_path / "m.m4n", "--surrogate", "m3n", "--loss", "spearman")
    found = m4n.json("eval", tmp_path / "m.m4n", judge)["metrics"]["hamming"]
    assert 0.15 < found < 0.22


def test_json_keys_and_the_guess(m4n, ranked, tmp_path):
    path, _, _ = ranked
    result = m4n("train", path, "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert result.stdout.count("\n") == 1 and "task ranking, guessed" in result.stderr
    report = json.loads(result.stdout)
    assert set(report) == TRAIN_KEYS
    assert (report["n"], report["d"], report["k"], report["features"]) == (40, 3, SIZE, "linear")
    assert (report["task"], report["surrogate"], report["loss"]) == ("ranking", "m4n", "hamming")
    assert (report["solver"], report["decode"]) == ("atoms", "argmax")
    assert report["converged"] and 0 <= report["relative_gap"] <= 1e-3


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_default_lambda(m4n, ranked, tmp_path, surrogate):
    report = m4n.train(ranked[0], tmp_path / "m.m4n", "--surrogate", surrogate)
    items = SIZE if surrogate in ("m4n", "m3n") else 1  # their loss is an average over items
    assert report["lambda"] == pytest.approx(items / 40, rel=1e-15)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_every_loss_with_every_surrogate(m4n, ranked, tmp_path, surrogate, loss):
    """What was said of training is what eval, predict and info say; predictions are the best of their scores."""
    path, _, truth = ranked
    option, costs = loss_option(loss, tmp_path)
    model = tmp_path / "m.m4n"
    report = m4n.train(path, model, "--loss", option, "--surrogate", surrogate, "--epochs", 200)
    assert report["dual"] <= report["primal"] and report["converged"]
    assert report["loss"] == {"weights": "weighted"}.get(loss, loss)
    assert report["decode"] == {"crf": "expected", "m4n": "adversary" if loss == "matrix" else "argmax"}.get(
        surrogate, "argmax"
    )
    info = m4n.json("info", model)
    for key in TRAIN_KEYS - NOT_IN_INFO:
        assert info[key] == report[key], key

    rows = m4n.predict(model, path, "--scores", *(["--marginals"] if surrogate == "crf" else []))
    predicted = read_positions(rows, SIZE)
    assert np.mean([loss_of(costs, t, y) for t, y in zip(truth, predicted)]) == pytest.approx(
        report["train_loss"], abs=1e-12
    )
    assert m4n.json("eval", model, path)["loss"] == pytest.approx(report["train_loss"], abs=1e-12)
    for row, y in zip(rows, predicted):
        cells = cells_of(row, loss)
        if report["decode"] == "argmax":
            assert values_of(cells, y[None])[0] == pytest.approx(best_value(cells), rel=1e-9, abs=1e-9)
        if surrogate != "crf":
            continue
        everyone, p = gibbs(cells)
        for i in range(SIZE):
            for j in range(SIZE):
                assert float(row[f"p_r{i + 1}_{j + 1}"]) == pytest.approx(
                    p[everyone[:, i] == j].sum(), rel=1e-9, abs=1e-12
                )
        expected = [sum(q * loss_of(costs, t, z) for q, t in zip(p, everyone)) for z in everyone]
        own = sum(q * loss_of(costs, t, y) for q, t in zip(p, everyone))
        assert own == pytest.approx(min(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("options", [
    [],
    ["--loss", "footrule", "--decode", "adversary"],
    ["--solver", "gbcfw", "--oracle", "spmp", "--oracle-iterations", "15", "--epochs", "5"],
    ["--loss", "dcg", "--bias", "no", "--standardize", "no"],
    ["--surrogate", "crf", "--features", "nystrom", "--components", "7", "--decode", "argmax"],
    ["--surrogate", "qs", "--features", "fourier", "--components", "9"],
    ["--surrogate", "m3n", "--features", "rbf"],
], ids=" ".join)  # fmt: skip
def test_same_bytes_for_any_threads(m4n, ranked, tmp_path, options):
    for name, threads in (("a", 1), ("b", 3), ("c", 1)):
        m4n.train(ranked[0], tmp_path / name, "--threads", threads, "--seed", 5, *options)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    outputs = {
        m4n("predict", tmp_path / "a", ranked[0], "--scores", "--threads", t, expect=DONE).stdout for t in (1, 3)
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    "loss, scale", [("hamming", 2), ("footrule", 2), ("spearman", 1), ("precision@1", 1), ("dcg", 1)]
)
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_two_items_are_two_classes(m4n, tmp_path, surrogate, loss, scale):
    """Two permutations, the scores of which are sums of two cells: with u = v11 + v22 the cheapest cells are u/2 each,
    so |v|^2 = |u|^2 / 2 and lambda is twice that of the classes. Scores of items with gains (1, 0) are scores of
    classes."""
    x, positions = rankings(40, 3, 2, seed=2, noise=1.5)
    ranking = write_rankings(tmp_path / "ranking.csv", x, positions)
    classes = write_csv(tmp_path / "classes.csv", x, np.where(positions[:, 0] == 0, "first", "second"))
    swap = 1 - 1 / math.log2(3) if loss == "dcg" else 1  # the cost of the wrong one
    costs = tmp_path / "costs.csv"
    costs.write_text(f"0,{swap!r}\n{swap!r},0\n")
    options = ["--surrogate", surrogate, "--tol", "1e-9", "--epochs", 20000]
    if surrogate == "qs":
        # Regresses onto cells (two 1s; costs of 1/2 for footrule) or gains, classes onto costs.
        scale, factor = 1, {"hamming": 2, "footrule": 0.5, "dcg": 1 / swap**2}.get(loss, 1)
    else:
        factor = 1
    one = m4n.train(ranking, tmp_path / "r.m4n", "--lambda", 0.03, "--loss", loss, *options)
    two = m4n.train(classes, tmp_path / "c.m4n", "--lambda", 0.03 / scale, "--loss", costs, *options)
    assert one["primal"] == pytest.approx(factor * two["primal"], rel=3e-9)
    assert one["train_loss"] == pytest.approx(two["train_loss"], abs=1e-12)
    ranks = [row["r1"] for row in m4n.predict(tmp_path / "r.m4n", ranking)]
    names = [row["label"] for row in m4n.predict(tmp_path / "c.m4n", classes)]
    assert ranks == [{"first": "1", "second": "2"}[name] for name in names]


def test_the_paper_way_reaches_nearly_the_same_optimum(m4n, ranked, tmp_path):
    exact = m4n.train(ranked[0], tmp_path / "a.m4n", "--tol", "1e-5")
    paper = m4n.train(ranked[0], tmp_path / "b.m4n", "--solver", "gbcfw", "--oracle", "spmp", "--oracle-iterations", 50,
                      "--epochs", 40)  # fmt: skip
    assert max(exact["dual"], paper["dual"]) <= min(exact["primal"], paper["primal"])
    assert paper["primal"] == pytest.approx(exact["primal"], rel=0.02)


def test_dump_gives_the_scores(m4n, ranked, tmp_path):
    path, x, _ = ranked
    for loss in ("hamming", "spearman"):
        m4n.train(path, tmp_path / "m.m4n", "--loss", loss)
        dump = m4n.json("dump", tmp_path / "m.m4n")
        rows = m4n.predict(tmp_path / "m.m4n", path, "--scores")
        names = [key[6:] for key in rows[0] if key.startswith("score_")]
        assert len(names) == (SIZE if loss in ITEM_SCORES else SIZE**2)
        z = (x - dump["mean"]) * dump["inverse_scale"]
        weight = {(entry["feature"], entry["class"]): entry["weight"] for entry in dump["weights"]}
        for name in names:
            own = z @ [weight.get((f"x{j}", name), 0) for j in range(1, 4)] + weight.get(("(bias)", name), 0)
            np.testing.assert_allclose([float(row["score_" + name]) for row in rows], own, rtol=1e-9, atol=1e-12)
        table = m4n("dump", tmp_path / "m.m4n", expect=DONE).stdout.splitlines()
        assert table[0] == "feature,class,weight" and len(table) == 1 + len(dump["weights"])


def test_metrics_and_the_bootstrap(m4n, ranked, tmp_path):
    path, _, truth = ranked
    m4n.train(path, tmp_path / "m.m4n", "--loss", "footrule")
    predicted = read_positions(m4n.predict(tmp_path / "m.m4n", path), SIZE)
    report = m4n.json("eval", tmp_path / "m.m4n", path, "--bootstrap", 50)
    all_metrics = [metrics_of(t, y) for t, y in zip(truth, predicted)]
    assert report["n"] == 40 and set(report["metrics"]) == set(all_metrics[0])
    for name, value in report["metrics"].items():
        assert value == pytest.approx(np.mean([m[name] for m in all_metrics]), abs=1e-12), name
    assert report["loss"] == report["metrics"]["footrule"]
    interval = report["bootstrap"]["metrics"]["kendall_tau"]
    assert interval["low"] < report["metrics"]["kendall_tau"] < interval["high"] and interval["se"] > 0
    again = m4n.json("eval", tmp_path / "m.m4n", path, "--bootstrap", 50, "--threads", 1)
    assert again == report
    text = m4n("eval", tmp_path / "m.m4n", path, expect=DONE).stdout
    assert "kendall_tau" in text and "ndcg" in text


def test_columns_in_any_order_with_id_weights_and_fold(m4n, ranked, tmp_path):
    path, x, positions = ranked
    rng = np.random.default_rng(3)
    extra = {"id": [f'a "{i}", b' for i in range(40)], "w": rng.integers(1, 4, 40), "part": rng.integers(0, 3, 40)}
    quoted = extra | {"id": ['"' + name.replace('"', '""') + '"' for name in extra["id"]]}
    plain = write_rankings(tmp_path / "plain.csv", x, positions, quoted)
    mixed = write_rankings(tmp_path / "mixed.csv", x, positions, quoted, order=rng.permutation(10))
    columns = ["--id", "id", "--weights", "w"]
    repeated = write_rankings(tmp_path / "repeated.csv", x.repeat(extra["w"], 0), positions.repeat(extra["w"], 0))
    options = ["--lambda", 0.1, "--tol", "1e-7", "--surrogate", "crf", "--standardize", "no"]
    weighted = m4n.json("cv", plain, *columns, "--folds", "part", "--surrogates", "crf", "--lambdas", "0.1,0.2", "--extend", "no",
                        "--model", tmp_path / "cv.m4n")  # fmt: skip
    assert weighted["splits"] == 3 and weighted["n"] == 40
    no_fold = write_rankings(tmp_path / "no_fold.csv", x, positions, {k: quoted[k] for k in ("id", "w")})
    one = m4n.train(no_fold, tmp_path / "a.m4n", *columns, *options)
    two = m4n.train(repeated, tmp_path / "b.m4n", *options)
    assert one["primal"] == pytest.approx(two["primal"], rel=2e-7) and one["n"] == 40 < two["n"]
    assert one["train_loss"] == pytest.approx(two["train_loss"], rel=1e-12)
    found = m4n.json("eval", tmp_path / "a.m4n", no_fold, "--weights", "w")["metrics"]
    for name, value in m4n.json("eval", tmp_path / "b.m4n", repeated)["metrics"].items():
        assert found[name] == pytest.approx(value, abs=1e-12)
    first, second = (m4n.predict(tmp_path / "cv.m4n", data, "--scores", "--id", "id") for data in (plain, mixed))
    assert first == second and [row["id"] for row in first] == extra["id"]
    bare = write_rankings(tmp_path / "bare.csv", x, positions[:, :0])
    assert [row["r1"] for row in m4n.predict(tmp_path / "cv.m4n", bare)] == [row["r1"] for row in first]
    answer = m4n.json("predict", tmp_path / "cv.m4n", plain, "--id", "id", "--scores", "--marginals")
    assert answer["items"] == ["r1", "r2", "r3", "r4"] and answer["id"] == extra["id"] and answer["n"] == 40
    assert answer["ranks"] == [[int(row[f"r{j}"]) for j in range(1, 5)] for row in first]
    assert np.sum(answer["marginals"], axis=1) == pytest.approx([SIZE] * 40)


def test_gzip_and_standard_input(m4n, ranked, tmp_path):
    m4n.same_from_gzip_and_standard_input(ranked[0], tmp_path)


def test_text_reports(m4n, ranked, tmp_path):
    result = m4n("train", ranked[0], "--model", tmp_path / "m.m4n", "--quiet", expect=DONE)
    assert result.stderr == "" and "converged" in result.stdout and "40 rankings" in result.stdout
    text = m4n("info", tmp_path / "m.m4n", expect=DONE).stdout
    assert "40 rankings" in text and "r1, r2, r3, r4" in text


def test_limits(m4n, ranked, tmp_path):
    hard = ["--lambda", "1e-7", "--tol", "1e-12", "--epochs", 1000000000]
    started = time.monotonic()
    report = m4n.train(ranked[0], tmp_path / "m.m4n", *hard, "--time-limit", 0.3)
    assert not report["converged"] and report["dual"] <= report["primal"] and time.monotonic() - started < 15
    m4n(
        "train",
        ranked[0],
        "--model",
        tmp_path / "m.m4n",
        *hard,
        "--time-limit",
        0.1,
        "--require-converged",
        expect=NOT_CONVERGED,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("options", [[], ["--oracle", "spmp"], ["--surrogate", "m3n", "--loss", "dcg"]], ids=" ".join)
def test_a_signal_saves_and_exits_with_130(m4n, ranked, tmp_path, options, number):
    path, model = ranked[0], tmp_path / "m.m4n"
    m4n.interrupted_training(path, model, *options, "--lambda", "1e-9", number=number)
    assert len(m4n.predict(model, path)) == 40
