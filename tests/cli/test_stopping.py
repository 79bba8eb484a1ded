"""Time limits and signals are heard inside long computations, and what was asked to be saved is saved."""

import json
import random
import signal
import subprocess
import time

import pytest
from conftest import DONE, INTERRUPTED, WRONG_USAGE

# Undisturbed, each of these would train for minutes; to hear that it shall stop takes a fraction of this.
SOON = 10


def sequence(path, tokens, labels=5):
    luck = random.Random(tokens)
    lines = []
    for _ in range(tokens):
        y = luck.randrange(labels)
        lines.append(f"w{luck.randrange(50)} f{(y + (luck.random() < 0.4) * luck.randrange(labels)) % labels} L{y}")
    path.write_text("\n".join(lines) + "\n\n")
    template = path.with_suffix(".template")
    template.write_text("U0:%x[0,0]\nU1:%x[0,1]\nU2:%x[-1,1]\nB\n")
    return ["--format", "conll", "--template", template]


def graphs(path, count, nodes, edges, labels=3):
    luck = random.Random(nodes)
    lines = []
    for _ in range(count):
        lines.append("graph")
        for m in range(nodes):
            y = luck.randrange(labels)
            lines.append(f"node {m} L{y} " + " ".join(f"{(k == y) + luck.gauss(0, 1):.3f}" for k in range(4)))
        lines += [f"edge {a} {b}" for a, b in edges]
    path.write_text("\n".join(lines) + "\n")
    return []


def rankings(path, count, items):
    luck = random.Random(items)
    lines = [",".join([f"x{j + 1}" for j in range(5)] + [f"r{j + 1}" for j in range(items)])]
    for _ in range(count):
        x = [luck.gauss(0, 1) for _ in range(5)]
        lines.append(",".join(map(str, x + luck.sample(range(1, items + 1), items))))
    path.write_text("\n".join(lines) + "\n")
    return ["--task", "ranking"]


def complete(nodes):
    return [(a, b) for a in range(nodes) for b in range(a)]


CASES = {
    "a long sequence": lambda path: sequence(path, 3000),
    "a sequence of medium length": lambda path: sequence(path, 250),
    "a long path": lambda path: graphs(path, 1, 20000, [(m, m + 1) for m in range(19999)]),
    "complete graphs": lambda path: graphs(path, 30, 12, complete(12)),
    "rankings of many items": lambda path: rankings(path, 20, 100),
    "rankings with footrule": lambda path: [*rankings(path, 20, 60), "--loss", "footrule"],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_a_time_limit_is_heard(m4n, tmp_path, case, surrogate):
    data, model = tmp_path / "data", tmp_path / "m.m4n"
    options = CASES[case](data)
    if surrogate == "crf" and "ranking" in options:
        pytest.skip("crf sums over all permutations of up to 16 items")
    result = m4n("train", data, *options, "--surrogate", surrogate, "--tol", "1e-14", "--epochs", 10**9, "--time-limit",
                 "0.3", "--model", model, "--json", expect=DONE)  # fmt: skip
    found = json.loads(result.stdout)
    assert found["dual"] <= found["primal"] and found["primal"] < 1e6
    assert "relative gap" in m4n("info", model, expect=DONE).stdout


@pytest.mark.parametrize("case", CASES)
def test_a_signal_is_heard(m4n, tmp_path, case):
    data, model = tmp_path / "data", tmp_path / "m.m4n"
    arguments = ["train", data, *CASES[case](data), "--tol", "1e-14", "--epochs", 10**9, "--model", model, "--json"]
    process = subprocess.Popen([m4n.binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)  # until it trains
    process.send_signal(signal.SIGINT)
    out, messages = process.communicate(timeout=SOON)
    if process.returncode == -signal.SIGINT:
        pytest.skip("it had not begun to listen")
    assert process.returncode == INTERRUPTED, messages
    assert json.loads(out)["interrupted"]
    assert "relative gap" in m4n("info", model, expect=DONE).stdout


def test_games_of_many_items_are_refused_with_the_limit(m4n, tmp_path):
    data = tmp_path / "data"
    options = rankings(data, 3, 101)
    message = m4n("train", data, *options, "--loss", "footrule", expect=WRONG_USAGE).stderr
    assert "up to 100 items" in message and "--surrogate m3n" in message
    m4n("train", data, *options, "--loss", "footrule", "--surrogate", "m3n", "--epochs", 1, expect=DONE)
    m4n("train", data, *options, "--loss", "spearman", "--epochs", 1, expect=DONE)
