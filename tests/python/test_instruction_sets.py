"""The switch of the instruction set in Python."""

import os
import subprocess
import sys

import numpy as np
import pytest

import m4n


@pytest.fixture
def restored():
    before = m4n.simd()
    yield
    m4n.set_simd(before)


def test_every_set_gives_the_same_scores(restored):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(3, size=60)
    model = m4n.MaxMinClassifier(lam=0.01).fit(X, y)
    expected = model.decision_function(X)
    for name in m4n.simd_names():
        m4n.set_simd(name)
        assert m4n.simd() == name
        np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-9)
    m4n.set_simd("auto")
    assert m4n.simd() == m4n.simd_names()[0]


def test_unknown_sets_are_refused(restored):
    with pytest.raises(ValueError, match="avx9000.*scalar"):
        m4n.set_simd("avx9000")


def imported(name):
    environment = {**os.environ, "M4N_SIMD": name}
    code = "import m4n; print(m4n.simd())"
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)


def test_the_environment_is_heard():
    assert imported("scalar").stdout.strip() == "scalar"
    refused = imported("avx9000")
    assert refused.returncode != 0 and "avx9000" in refused.stderr and "scalar" in refused.stderr
