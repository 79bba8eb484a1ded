"""Fits that keep where they stand in a file, and fits that go on from there."""

import numpy as np
import pytest
from sklearn.base import clone

import m4n

random = np.random.default_rng(0)
X = random.normal(size=(120, 4))
LABELS = np.argmax(X[:, :3] + random.normal(size=(120, 3)), axis=1)
SETS = (X[:, :3] + random.normal(size=(120, 3)) > 0).astype(int)
RANKS = np.argsort(np.argsort(X[:, :3] + random.normal(size=(120, 3)), axis=1), axis=1) + 1
WORDS = [X[i : i + 4] for i in range(0, 120, 4)]
TAGS = [list(LABELS[i : i + 4]) for i in range(0, 120, 4)]

CASES = {
    "m4n": (m4n.MaxMinClassifier(), X, LABELS),
    "m3n": (m4n.MaxMinClassifier(surrogate="m3n"), X, LABELS),
    "crf": (m4n.MaxMinClassifier(surrogate="crf"), X, LABELS),
    "rbf": (m4n.MaxMinClassifier(features="rbf"), X, LABELS),
    "grades": (m4n.MaxMinOrdinalClassifier(), X, LABELS),
    "label sets": (m4n.MaxMinMultiLabelClassifier(), X, SETS),
    "rankings": (m4n.MaxMinRanker(), X, RANKS),
    "sequences": (m4n.MaxMinSequenceLabeler(), WORDS, TAGS),
}


@pytest.fixture(params=CASES)
def case(request):
    estimator, rows, outputs = CASES[request.param]
    return clone(estimator).set_params(lam=1e-3, tol=1e-6), rows, outputs


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_goes_on_ends_the_same(case, tmp_path):
    estimator, rows, outputs = case
    whole = clone(estimator).fit(rows, outputs)
    kept = tmp_path / "kept.m4nc"
    started = clone(estimator).set_params(max_iter=2, checkpoint=kept).fit(rows, outputs)
    assert started.n_iter_ < whole.n_iter_
    resumed = clone(estimator).set_params(resume_from=str(kept)).fit(rows, outputs)
    assert resumed.to_bytes() == whole.to_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["kept.m4nc"]


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    kept = tmp_path / "kept.m4nc"
    m4n.MaxMinClassifier(checkpoint=kept).fit(X, LABELS)
    with pytest.raises(m4n.Error, match=r"other data or options \(data is .*start without it"):
        m4n.MaxMinClassifier(resume_from=kept).fit(X + 1, LABELS)
    with pytest.raises(m4n.Error, match=r"other data or options \(lam(bda)? is 0.5 now"):
        m4n.MaxMinClassifier(resume_from=kept, lam=0.5).fit(X, LABELS)


def test_every_says_how_often(tmp_path):
    """Every time the solver looks: there is a file before the fit is over."""
    kept = tmp_path / "kept.m4nc"
    seen = []

    class Watched(m4n.MaxMinClassifier):
        pass

    estimator = Watched(checkpoint=kept, checkpoint_every=0, tol=1e-9, max_iter=50, verbose=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("m4n._estimator.printer", lambda verbose: lambda *progress: seen.append(kept.exists()))
        patch.setattr("warnings.warn", lambda *a, **k: None)
        estimator.fit(X, LABELS)
    assert seen and seen[-1]


def test_a_fit_goes_on_where_a_checkpoint_cannot_be_written():
    with pytest.warns(UserWarning, match="/dev/full: cannot be written: No space left on device; training goes on"):
        kept = m4n.MaxMinClassifier(checkpoint="/dev/full").fit(X, LABELS)
    assert kept.to_bytes() == m4n.MaxMinClassifier().fit(X, LABELS).to_bytes()


@pytest.mark.parametrize("parameter", ["checkpoint", "resume_from"])
@pytest.mark.parametrize(("value", "error"), [(3, TypeError), ("", ValueError), ("a\0b", ValueError)])
def test_bad_names(parameter, value, error):
    with pytest.raises(error, match=parameter):
        m4n.MaxMinClassifier(**{parameter: value}).fit(X, LABELS)


def test_what_cannot_be_read_or_written_is_an_error(tmp_path):
    with pytest.raises(m4n.Error, match="cannot be opened"):
        m4n.MaxMinClassifier(resume_from=tmp_path / "nothing").fit(X, LABELS)
    (tmp_path / "text").write_text("not a checkpoint at all, but long enough to look at")
    with pytest.raises(m4n.Error, match="is no checkpoint"):
        m4n.MaxMinClassifier(resume_from=tmp_path / "text").fit(X, LABELS)
    with pytest.raises((m4n.Error, OSError), match="checkpoint .*: there is no directory .*nowhere; create it first"):
        m4n.MaxMinClassifier(checkpoint=tmp_path / "nowhere" / "kept").fit(X, LABELS)
