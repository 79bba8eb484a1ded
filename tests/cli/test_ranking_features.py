"""Rankings: kernels and sampled features, cross-validation."""

import numpy as np
import pytest
from conftest import DONE, FAILED
from permutation_files import rankings, write_rankings

SIZE = 4


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """40 rankings of four items by noisy linear functions of three features."""
    x, positions = rankings(40, 3, SIZE, seed=1)
    return write_rankings(tmp_path_factory.mktemp("ranked") / "ranked.csv", x, positions), x, positions


KERNELS = {
    "rbf": lambda x, y: np.exp(-0.3 * np.sum((x - y) ** 2)),
    "laplacian": lambda x, y: np.exp(-0.3 * np.sum(np.abs(x - y))),
    "poly": lambda x, y: (0.3 * x @ y + 1) ** 2,
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("surrogate", ["m4n", "crf", "qs"])
def test_an_exact_kernel_is_linear_in_the_rows_of_its_factor(m4n, ranked, tmp_path, kernel, surrogate):
    """K = L L^T: the kernel model is the linear one on the rows of L, for new x on L^-1 (K(x_i, x))."""
    path, x, positions = ranked
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    k = np.array([[KERNELS[kernel](a, b) for b in z] for a in z])
    factor = np.linalg.cholesky(k + 1e-10 * k.trace() / 40 * np.eye(40))
    rows = write_rankings(tmp_path / "rows.csv", factor, positions)
    options = ["--surrogate", surrogate, "--lambda", 0.2, "--tol", "1e-7"]
    degree = ["--degree", 2] if kernel == "poly" else []
    one = m4n.train(path, tmp_path / "k.m4n", "--features", kernel, "--gamma", 0.3, *degree, *options)
    two = m4n.train(rows, tmp_path / "l.m4n", "--standardize", "no", *options)
    assert one["features"] == kernel and one["d"] == 3
    assert one["primal"] == pytest.approx(two["primal"], rel=3e-7) and one["train_loss"] == pytest.approx(
        two["train_loss"]
    )
    new, _ = rankings(9, 3, SIZE, seed=7)
    standard = (new - x.mean(axis=0)) / x.std(axis=0)
    mapped = np.linalg.solve(factor, np.array([[KERNELS[kernel](a, b) for b in standard] for a in z])).T
    found = m4n.predict(tmp_path / "k.m4n", write_rankings(tmp_path / "n.csv", new, positions[:9, :0]), "--scores")
    meant = m4n.predict(tmp_path / "l.m4n", write_rankings(tmp_path / "m.csv", mapped, positions[:9, :0]), "--scores")
    for a, b in zip(found, meant):
        for name in a:
            assert float(a[name]) == pytest.approx(float(b[name]), abs=2e-3), name


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf", "qs"])
def test_equal_examples_with_other_rankings(m4n, tmp_path, kernel, surrogate):
    """What they are ranked as must be one and the same, in training too."""
    x, positions = rankings(20, 2, 3, seed=3)
    # Two of each, of which one has the opposite ranking: all scores are nearly equal.
    both = np.where(np.arange(40)[:, None] % 2, positions.repeat(2, 0), 2 - positions.repeat(2, 0))
    data = write_rankings(tmp_path / "twice.csv", x.repeat(2, 0), both)
    report = m4n.train(data, tmp_path / "m.m4n", "--features", kernel, "--surrogate", surrogate)
    assert m4n.json("eval", tmp_path / "m.m4n", data)["loss"] == pytest.approx(report["train_loss"], abs=1e-12)


@pytest.mark.parametrize("features", ["rbf", "nystrom", "fourier"])
def test_a_gamma_that_leaves_the_range_is_refused(m4n, tmp_path, features):
    x, positions = rankings(10, 2, 3)
    data = write_rankings(tmp_path / "huge.csv", 1e307 * x, positions)
    options = ["--features", features, "--model", tmp_path / "m.m4n"]
    message = m4n("train", data, "--standardize", "no", *options, expect=FAILED).stderr
    assert "--standardize yes" in message
    m4n("train", data, *options, expect=DONE)


@pytest.mark.parametrize("features", ["nystrom", "fourier", "rbf-centers"])
def test_sampled_features(m4n, ranked, tmp_path, features):
    report = m4n.train(ranked[0], tmp_path / "m.m4n", "--features", features, "--components", 11)
    assert report["converged"] and report["features"] == features
    assert m4n.json("eval", tmp_path / "m.m4n", ranked[0])["loss"] == pytest.approx(report["train_loss"], abs=1e-12)
    seeds = [
        m4n.train(ranked[0], tmp_path / "s.m4n", "--features", features, "--components", 11, "--seed", s)
        for s in (0, 1)
    ]
    assert seeds[0]["primal"] == report["primal"] != seeds[1]["primal"]


def test_cross_validation(m4n, ranked, tmp_path):
    path, _, _ = ranked
    quick = ["--splits", 2, "--lambdas", "2^0:2^-3", "--extend", "no"]
    report = m4n.json(
        "cv", path, "--surrogates", "auto", *quick, "--out", tmp_path / "cv", "--model", tmp_path / "m.m4n"
    )
    assert [(r["surrogate"], r["decode"]) for r in report["results"]] == [
        ("m4n", "argmax"),
        ("m3n", "argmax"),
        ("crf", "expected"),
    ]
    assert len(report["curve"]) == 4 and report["splits"] == 2 and report["k"] == SIZE and report["loss"] == "hamming"
    info = m4n.json("info", tmp_path / "m.m4n")
    assert (info["lambda"], info["surrogate"], info["n"]) == (report["best_lambda"], report["best_surrogate"], 40)
    del report["seconds"]
    for options in (
        ["--threads", 1, "--model", tmp_path / "m.m4n"],
        ["--out", tmp_path / "cv", "--model", tmp_path / "m.m4n"],
    ):
        again = m4n.json("cv", path, "--surrogates", "auto", *quick, *options)
        del again["seconds"]
        assert again == report
    folds = m4n.json("cv", path, "--surrogates", "qs", "--loss", "spearman", "--folds", 4, "--features", "rbf", "--lambdas", "1,0.1",
                     "--extend", "no")  # fmt: skip
    assert folds["splits"] == 4 and folds["features"] == "rbf" and folds["best_gamma"] == "median"
    costs = tmp_path / "costs.csv"
    costs.write_text("0,2,3,4\n1,0,2,3\n1,1,0,2\n1,1,1,0\n")  # not symmetric
    both = m4n.json("cv", path, "--surrogates", "auto", "--loss", costs, *quick)
    assert [r["decode"] for r in both["results"] if r["surrogate"] == "m4n"] == ["argmax", "adversary"]
