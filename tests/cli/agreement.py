"""What two builds, two instruction sets or two processors must agree on: small data of every task, and comparisons."""

import json
import re

from conftest import DONE

TASKS = {
    "multiclass": ([], ["m4n", "m3n", "crf", "qs"]),
    "ordinal": (["--task", "ordinal"], ["m4n", "m3n", "crf", "qs"]),
    "multilabel": (["--edges", "tree"], ["m4n", "m3n", "crf"]),
    "sequence": (["--template", "pos"], ["m4n", "m3n", "crf"]),
    "ranking": ([], ["m4n", "m3n", "crf", "qs"]),
    "matching": ([], ["m4n", "m3n", "crf", "qs"]),
    "graph": ([], ["m4n", "m3n", "crf"]),
}


def generated(tool, folder, task):
    data = folder / "data"
    tool("generate", "--task", task, "--n", 40, "--seed", 1, "--out", data, expect=DONE)
    return data


def bounds(tool, data, model, task, surrogate, *options, **keywords):
    """Trains until the gap is small; the bounds of the optimum that are then known, dual and primal."""
    usual = [*TASKS[task][0], "--surrogate", surrogate, "--lambda", 0.05, "--tol", "1e-4", "--json"]
    report = json.loads(tool("train", data, *usual, *options, "--model", model, expect=DONE, **keywords).stdout)
    assert report["converged"]
    return report["dual"], report["primal"]


def contradict(a, b):
    """Whether no optimum is within both bounds."""
    slack = 1e-9 * max(1, abs(a[1]))
    return a[0] > b[1] + slack or b[0] > a[1] + slack


def shown(tool, model, data, task, surrogate, **keywords):
    """Predictions with their scores; sequences show those of the best labellings, graphs only probabilities."""
    wanted = {"sequence": ["--k-best", 2, "--json"], "graph": ["--marginals"] if surrogate == "crf" else []}
    return tool("predict", model, data, *wanted.get(task, ["--scores"]), expect=DONE, **keywords).stdout


def assert_same(a, b):
    """The same texts but for the last digits of their numbers."""
    cells = [re.split(r"[\s,:{}\[\]]+", text) for text in (a, b)]
    assert len(cells[0]) == len(cells[1])
    for one, other in zip(*cells):
        if one != other:
            assert abs(float(one) - float(other)) <= 1e-9 * max(1, abs(float(one)))
