"""Models go from one kind of processor to another. M4N_OTHER_BIN: the tool for another one (make test-aarch64)."""

import os

import pytest
from agreement import TASKS, assert_same, bounds, contradict, generated, shown
from conftest import Tool

OTHER = os.environ.get("M4N_OTHER_BIN")
pytestmark = pytest.mark.skipif(OTHER is None, reason="M4N_OTHER_BIN, the tool for another processor, is not given")


class OtherTool(Tool):
    binary = str(OTHER)


CASES = [(task, surrogate, ()) for task, (_, surrogates) in TASKS.items() for surrogate in surrogates]
CASES += [("multiclass", "m4n", ("--features", kind)) for kind in ("rbf", "nystrom", "fourier")]


@pytest.mark.parametrize("task, surrogate, features", CASES)
def test_a_model_of_either_predicts_the_same_with_both(m4n, tmp_path, task, surrogate, features):
    data, tools = generated(m4n, tmp_path, task), [m4n, OtherTool()]
    found = []
    for number, trainer in enumerate(tools):
        model = tmp_path / f"{number}.m4n"
        found.append(bounds(trainer, data, model, task, surrogate, *features))
        assert_same(*(shown(tool, model, data, task, surrogate) for tool in tools))
    assert not contradict(*found)
