"""Every instruction set gives the same answers: M4N_SIMD, which `m4n --version` explains."""

import itertools
import os

import pytest
from agreement import TASKS, assert_same, bounds, contradict, generated, shown
from conftest import DONE, WRONG_USAGE


def environment(name):
    return {**os.environ, "M4N_SIMD": name}


def instruction_sets(m4n):
    first, second = m4n("--version", expect=DONE, env=environment("")).stdout.splitlines()
    assert second.startswith("instruction set ")
    names = second.split("chooses among ")[1].rstrip(")").split()
    assert names[-1] == "scalar" and second.split()[2] == names[0]
    return names


@pytest.mark.parametrize("task", TASKS)
def test_scores_agree_and_certificates_do_not_contradict(m4n, tmp_path, task):
    data, names = generated(m4n, tmp_path, task), instruction_sets(m4n)
    for surrogate in TASKS[task][1]:
        found = [bounds(m4n, data, tmp_path / name, task, surrogate, env=environment(name)) for name in names]
        assert not any(contradict(a, b) for a, b in itertools.combinations(found, 2))
        texts = [shown(m4n, tmp_path / names[-1], data, task, surrogate, env=environment(name)) for name in names]
        for text in texts[1:]:
            assert_same(texts[0], text)


@pytest.mark.parametrize("command", ["train", "predict", "eval", "cv", "info", "dump", "generate", "help", "demo"])
def test_an_unknown_set_is_refused_by_every_command(m4n, command):
    result = m4n(command, expect=WRONG_USAGE, env=environment("avx9000"))
    assert "M4N_SIMD" in result.stderr and "'avx9000'" in result.stderr and not result.stdout
    for name in instruction_sets(m4n):
        assert name in result.stderr


def test_the_set_that_is_asked_for_is_used(m4n):
    for name in instruction_sets(m4n):
        assert m4n("--version", expect=DONE, env=environment(name)).stdout.splitlines()[1].split()[2] == name
    best = m4n("--version", expect=DONE, env=environment("auto")).stdout
    assert best == m4n("--version", expect=DONE, env=environment("")).stdout
