"""What the command line and Python learn from the same data is the same, bit by bit."""

import io

import numpy as np
import pandas as pd
import pytest
from conftest import blobs, tagged, write_csv

from m4n import (
    MaxMinClassifier,
    MaxMinClassifierCV,
    MaxMinMultiLabelClassifier,
    MaxMinOrdinalClassifier,
    MaxMinRanker,
    MaxMinSequenceLabeler,
)

COST = np.array([[0, 1, 5.5], [2, 0, 1], [3, 0.25, 0]])
CASES = {
    "plain": ({}, []),
    "m3n": ({"surrogate": "m3n", "lam": 0.003}, ["--surrogate", "m3n", "--lambda", "0.003"]),
    "crf": ({"surrogate": "crf", "tol": 1e-5}, ["--surrogate", "crf", "--tol", "1e-5"]),
    "qs": ({"surrogate": "qs"}, ["--surrogate", "qs"]),
    "smoothed": ({"smoothing": 4.0}, ["--smoothing", "4"]),
    "costs": ({"cost_matrix": COST}, ["--loss", "COST"]),
    "argmax": ({"cost_matrix": COST, "decode": "argmax"}, ["--loss", "COST", "--decode", "argmax"]),
    "absolute": ({"cost_matrix": "absolute"}, ["--loss", "absolute"]),
    "balanced": ({"class_weight": "balanced"}, ["--class-weight", "balanced"]),
    "rbf": ({"features": "rbf"}, ["--features", "rbf"]),
    "nystrom": (
        {"features": "nystrom", "n_components": 20, "random_state": 7},
        ["--features", "nystrom", "--components", "20", "--seed", "7"],
    ),
    "raw": ({"standardize": False, "fit_intercept": False}, ["--standardize", "no", "--bias", "no"]),
}


@pytest.mark.parametrize("case", CASES)
def test_same_model_and_predictions(case, cli, tmp_path):
    parameters, options = CASES[case]
    X, y = blobs(seed=3)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    data, model = write_csv(tmp_path / "data.csv", X, y), tmp_path / "cli.m4n"
    np.savetxt(tmp_path / "cost.csv", COST, delimiter=",")
    options = [str(tmp_path / "cost.csv") if option == "COST" else option for option in options]
    cli("train", data, "--task", "multiclass", "--model", model, "--quiet", *options)
    estimator = MaxMinClassifier(**parameters).fit(frame, y)
    assert estimator.to_bytes() == model.read_bytes()

    # Trained in one, used in the other.
    estimator.save(tmp_path / "python.m4n")
    printed = cli("predict", tmp_path / "python.m4n", data, "--scores", "--json")
    loaded = MaxMinClassifier.load(model)
    scores = np.array(printed["scores"])
    assert printed["label"] == list(map(str, loaded.predict(frame)))
    assert np.array_equal(scores, loaded.decision_function(frame))
    assert np.array_equal(scores, estimator.decision_function(frame))
    assert loaded.to_bytes() == model.read_bytes()
    assert cli("eval", model, data, "--json")["loss"] == pytest.approx(
        -loaded.score(frame, y) if loaded.cost_matrix is not None else 1 - loaded.score(frame, y), rel=1e-12
    )


def test_same_grades(cli, tmp_path):
    X, y = blobs(k=4, seed=5)
    data, model = write_csv(tmp_path / "data.csv", X, y), tmp_path / "cli.m4n"
    cli("train", data, "--task", "ordinal", "--model", model, "--quiet")
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    assert MaxMinOrdinalClassifier().fit(frame, y).to_bytes() == model.read_bytes()
    loaded = MaxMinOrdinalClassifier.load(model)
    assert loaded.cost_matrix == "absolute" and loaded.score(frame, y) == -np.abs(loaded.predict(frame) - y).mean()


def escaped(name):
    return name.replace("\\", "\\\\").replace(":", "\\:")


def crfsuite_text(X, y):
    """The attributes as CRFsuite's format writes them."""
    lines = []
    for sequence, labels in zip(X, y):
        for token, label in zip(sequence, labels):
            cells = [label, escaped(f"word:{token['word']}"), f"even:{int(token['even'])}", f"size:{token['size']!r}"]
            if "last" in token:
                cells.append(escaped(f"last:of:{token['last']['of']}"))
            lines.append("\t".join(cells))
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
@pytest.mark.parametrize("extra", [{}, {"min_count": 3}, {"hash_bits": 8}])
def test_same_sequences(surrogate, extra, cli, tmp_path):
    X, y = tagged()
    data, model = tmp_path / "data.crfsuite", tmp_path / "cli.m4n"
    data.write_text(crfsuite_text(X, y))
    options = [
        f"--{name.split('_')[0] if name == 'hash_bits' else 'min-count'}={value}" for name, value in extra.items()
    ]
    cli("train", data, "--format", "crfsuite", "--surrogate", surrogate, "--model", model, "--quiet", *options)
    estimator = MaxMinSequenceLabeler(surrogate=surrogate, **extra).fit(X, y)
    assert estimator.to_bytes() == model.read_bytes()
    printed = cli("predict", model, data).splitlines()
    assert [line for line in printed if line] == [label for labels in estimator.predict(X) for label in labels]
    assert MaxMinSequenceLabeler.load(model).predict(X) == estimator.predict(X)


def test_the_choice_of_a_search_is_the_refit_of_its_parameters():
    X, y = blobs(n=150, seed=8)
    found = MaxMinClassifierCV(COST, surrogate="auto", lams=[0.1, 0.01], extend=False, n_jobs=2).fit(X, y)
    again = MaxMinClassifier(
        COST, surrogate=found.surrogate_, smoothing=found.smoothing_, decode=found.decode_, lam=found.lam_
    ).fit(X, y)
    assert found.to_bytes() == again.to_bytes()


def test_names_of_outputs_in_a_table_of_predictions(cli, tmp_path):
    X, _ = blobs(n=30)
    names = ["a b", "c,d", 'say "x"']
    marks, ranks = (X[:, :3] > 0).astype(int), np.argsort(np.argsort(X[:, :3], axis=1), axis=1) + 1
    data = tmp_path / "rows.csv"
    pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(5)]).to_csv(data, index=False)
    for estimator, target in ((MaxMinMultiLabelClassifier(), marks), (MaxMinRanker(), ranks)):
        frame = pd.read_csv(data)
        estimator.fit(frame, pd.DataFrame(target, columns=names)).save(tmp_path / "model.m4n")
        printed = pd.read_csv(io.StringIO(cli("predict", tmp_path / "model.m4n", data)))
        assert list(printed.columns) == names
        assert np.array_equal(printed.to_numpy(), estimator.predict(frame))
