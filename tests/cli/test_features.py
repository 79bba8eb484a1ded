"""--features: every kind trains, says what it is, and comes back from its file."""

import json

import numpy as np
import pytest
from conftest import DONE, blobs, write_csv

KINDS = {
    "linear": [],
    "rbf": ["--gamma", "0.5"],
    "laplacian": ["--gamma", "0.25"],
    "poly": ["--degree", "2", "--gamma", "0.5"],
    "rbf-centers": ["--components", "20"],
    "nystrom": ["--components", "20", "--landmarks", "uniform"],
    "fourier": ["--components", "60"],
}


@pytest.fixture
def ring(tmp_path):
    """A disc and the ring around it: no line separates them."""
    rng = np.random.default_rng(3)
    angle, inside = rng.uniform(0, 2 * np.pi, 120), np.arange(120) % 2
    radius = np.where(inside == 1, rng.uniform(0, 0.8, 120), rng.uniform(1.2, 2, 120))
    x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return write_csv(tmp_path / "ring.csv", x, np.array(["out", "in"])[inside])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_trains_evaluates_and_round_trips(m4n, ring, tmp_path, kind):
    model = tmp_path / "m.m4n"
    report = m4n.train(ring, model, "--features", kind, *KINDS[kind], "--lambda", "1e-3", "--seed", "5")
    assert report["features"] == kind and report["dual"] <= report["primal"]
    evaluation = m4n.json("eval", model, ring)
    assert evaluation["loss"] == pytest.approx(report["train_loss"], abs=1e-12)
    # Only a curved border tells the disc from the ring.
    assert evaluation["loss"] > 0.2 if kind == "linear" else evaluation["loss"] < 0.05
    rows = m4n.predict(model, ring, "--scores")
    best = ["in" if float(row["score_in"]) >= float(row["score_out"]) else "out" for row in rows]
    assert [row["label"] for row in rows] == best
    again = tmp_path / "again.m4n"
    m4n.train(ring, again, "--features", kind, *KINDS[kind], "--lambda", "1e-3", "--seed", "5", "--threads", "2")
    assert again.read_bytes() == model.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_info_shows_the_feature_map(m4n, ring, tmp_path, kind):
    model = tmp_path / "m.m4n"
    m4n.train(ring, model, "--features", kind, *KINDS[kind])
    info, text = m4n.json("info", model), m4n("info", model, expect=DONE).stdout
    assert info["features"] == kind
    if kind == "linear":
        assert "gamma" not in info and "points" not in info
        return
    options = dict(zip(KINDS[kind][::2], KINDS[kind][1::2]))
    assert info["gamma"] == pytest.approx(float(options.get("--gamma", info["gamma"]))) and info["gamma"] > 0
    assert info["points"] == int(options.get("--components", info["points"])) and 0 < info["points"] <= 120
    assert f"{kind}, gamma " in text and f"{info['points']} points" in text
    assert ("degree" in info) == (kind == "poly")


def test_the_scores_of_an_rbf_model_are_those_of_its_kernel(m4n, tmp_path):
    """v(x) = sum_i w_i exp(-gamma |x - c_i|^2) + bias; for crf every example c_i supports the model, in its order."""
    x, y = blobs(12, 2, 2, seed=7)
    data, model = write_csv(tmp_path / "data.csv", x, y), tmp_path / "m.m4n"
    m4n.train(data, model, "--surrogate", "crf", "--features", "rbf", "--gamma", "0.7", "--standardize", "no")
    assert m4n.json("info", model)["points"] == 12
    weights = np.zeros((13, 2))
    for entry in m4n.json("dump", model)["weights"]:
        row = 12 if entry["feature"] == "(bias)" else int(entry["feature"].strip("()").split()[1]) - 1
        weights[row, int(entry["class"])] = entry["weight"]
    scores = np.array([[float(row["score_0"]), float(row["score_1"])] for row in m4n.predict(model, data, "--scores")])
    kernel = np.exp(-0.7 * ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))
    np.testing.assert_allclose(scores, kernel @ weights[:12] + weights[12], atol=1e-9)


def test_gamma_median_is_the_default(m4n, ring, tmp_path):
    a, b = tmp_path / "a.m4n", tmp_path / "b.m4n"
    m4n.train(ring, a, "--features", "rbf")
    m4n.train(ring, b, "--features", "rbf", "--gamma", "median")
    assert a.read_bytes() == b.read_bytes()
    assert json.loads(m4n("info", a, "--json", expect=DONE).stdout)["gamma"] > 0
