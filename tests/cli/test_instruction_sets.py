"""Every instruction set gives the same answers: M4N_SIMD, which `m4n --version` explains."""

import itertools
import json
import os
import re

import pytest
from conftest import DONE, WRONG_USAGE

TASKS = {
    "multiclass": ([], ["m4n", "m3n", "crf", "qs"]),
    "ordinal": (["--task", "ordinal"], ["m4n", "m3n", "crf", "qs"]),
    "multilabel": (["--edges", "tree"], ["m4n", "m3n", "crf"]),
    "sequence": (["--template", "pos"], ["m4n", "m3n", "crf"]),
    "ranking": ([], ["m4n", "m3n", "crf", "qs"]),
    "matching": ([], ["m4n", "m3n", "crf", "qs"]),
    "graph": ([], ["m4n", "m3n", "crf"]),
}


def environment(name):
    return {**os.environ, "M4N_SIMD": name}


def instruction_sets(m4n):
    first, second = m4n("--version", expect=DONE, env=environment("")).stdout.splitlines()
    assert second.startswith("instruction set ")
    names = second.split("chooses among ")[1].rstrip(")").split()
    assert names[-1] == "scalar" and second.split()[2] == names[0]
    return names


def numbers(text):
    """All numbers of a CSV or of text, column by column or label:number."""
    found = []
    for cell in re.split(r"[\s,:{}\[\]]+", text):
        try:
            found.append(float(cell))
        except ValueError:
            continue
    return found


@pytest.mark.parametrize("task", TASKS)
def test_scores_agree_and_certificates_do_not_contradict(m4n, tmp_path, task):
    options, surrogates = TASKS[task]
    data, names = tmp_path / "data", instruction_sets(m4n)
    m4n("generate", "--task", task, "--n", 40, "--seed", 1, "--out", data, expect=DONE)
    for surrogate in surrogates:
        bounds, shown = [], []
        model = tmp_path / "model"
        for name in names:
            arguments = ["train", data, *options, "--surrogate", surrogate, "--lambda", 0.05, "--tol", "1e-4", "--json"]
            result = m4n(*arguments, "--model", tmp_path / name, env=environment(name), expect=DONE)
            report = json.loads(result.stdout)
            assert report["converged"]
            bounds.append((report["dual"], report["primal"]))
            model = tmp_path / name
        for a, b in itertools.combinations(bounds, 2):
            slack = 1e-9 * max(1, abs(a[1]))
            assert a[0] <= b[1] + slack and b[0] <= a[1] + slack
        # Scores of the same model; sequences show those of the best labellings, graphs only probabilities.
        wanted = {"sequence": ["--k-best", 2, "--json"], "graph": ["--marginals"] if surrogate == "crf" else []}
        for name in names:
            result = m4n("predict", model, data, *wanted.get(task, ["--scores"]), env=environment(name), expect=DONE)
            shown.append(numbers(result.stdout))
        assert all(len(other) == len(shown[0]) for other in shown)
        for other in shown[1:]:
            assert max(abs(a - b) / max(1, abs(a)) for a, b in zip(shown[0], other)) <= 1e-9


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
