"""m4n reproduce: the paper's tables, on the one set of theirs that the source brings along and on generated ones."""

import json

import numpy as np
import pytest
from conftest import DONE, FAILED, ROOT, WRONG_USAGE, write_csv

DATA = ROOT / "data"


@pytest.fixture
def ordinal_sets(tmp_path):
    """A stand-in for machine: 209 rows, the first of which the experiments leave out, as the paper must have done."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(209, 6))
    directory = tmp_path / "data"
    directory.mkdir()
    write_csv(
        directory / "machine.csv", x, [repr(float(v)) for v in x @ rng.normal(size=6) + rng.normal(size=209)], "target"
    )
    return directory


@pytest.fixture
def tiny_ordinal_set(ordinal_sets):
    lines = (ordinal_sets / "machine.csv").read_text().splitlines(keepends=True)
    (ordinal_sets / "machine.csv").write_text("".join(lines[:31]))
    return ordinal_sets


def test_table1_puts_the_printed_values_beside_three_protocols(m4n, tmp_path):
    out = tmp_path / "t1"
    text = m4n(
        "reproduce", "table1", "--data", DATA, "--only", "iris", "--splits", "3", "--out", out, expect=DONE
    ).stdout
    assert text == (out / "reproduce.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| MC")]
    assert [row[:5] for row in rows] == [
        ["MC", "iris", "(4, 150, 3)", "M3N", "3.33%"],
        ["MC", "iris", "(4, 150, 3)", "CRF", "3.08%"],
        ["MC", "iris", "(4, 150, 3)", "M4N", "3.33%"],
    ]
    table = json.loads((out / "reproduce.json").read_text())
    assert table["splits"] == 3 and table["seed"] == 0 and table["binning"] == "width"
    cells = {(cell["protocol"], cell["surrogate"]): cell for cell in table["table1"]}
    assert len(cells) == 9
    for (protocol, surrogate), cell in cells.items():
        column = 5 + ["paper", "exact", "best"].index(protocol)
        row = rows[["m3n", "crf", "m4n"].index(surrogate)]
        assert row[column].rstrip(" *") == f"{100 * cell['test']['mean']:.2f}% +- {100 * cell['test']['se']:.2f}"
        assert 0 <= cell["test"]["mean"] < 0.3
        # The exact protocol certifies every fit.
        assert protocol != "exact" or cell["unconverged"] == 0
    assert cells["paper", "m4n"]["unconverged"] == cells["paper", "m4n"]["fits"] == 30


def test_protocols_share_splits_and_run_the_algorithms_they_name(m4n, tmp_path):
    m4n("reproduce", "table1", "--data", DATA, "--only", "iris", "--splits", "2", "--out", tmp_path, expect=DONE)

    def settings(name):
        return json.loads((tmp_path / "cells" / name / "settings.json").read_text())

    paper, exact, best = (settings(f"iris-{protocol}-m4n") for protocol in ("paper", "exact", "best"))
    assert [paper[name] for name in ("solver", "oracle", "oracle-iterations", "epochs")] == [
        "gbcfw",
        "spmp",
        "20",
        "50",
    ]
    assert paper["candidates"] == [["m4n", 0.0, "argmax"]]
    assert settings("iris-paper-m3n")["average"] == "yes" and settings("iris-paper-m3n")["solver"] == "gbcfw"
    assert settings("iris-paper-crf")["solver"] == "prox"
    assert settings("iris-paper-crf")["candidates"] == [["crf", 0.0, "argmax"]]
    assert settings("iris-exact-crf")["candidates"] == [["crf", 0.0, "expected"]]
    # Features made from all the data beforehand are the same for both; the kernel's are made in the training parts.
    assert paper["data"] == exact["data"] != best["data"] and best["features"] == "rbf"
    assert paper["lambdas"] == exact["lambdas"] == [2.0**-e for e in range(1, 11)]
    assert len(best["gammas"]) == 3 and min(best["lambdas"]) < 2.0**-10
    assert float(exact["tol"]) == 1e-3


def test_finished_cells_are_not_run_again(m4n, tmp_path):
    command = ["reproduce", "table1", "--data", DATA, "--only", "iris", "--splits", "2", "--protocols", "exact", "--out",
               tmp_path]  # fmt: skip
    first = m4n(*command, expect=DONE).stdout
    kept = tmp_path / "cells" / "iris-exact-m4n" / "cells.csv"
    text = kept.read_text()
    header, rows = text.split("\n", 1)
    column = header.split(",").index("test")
    forged = "\n".join(",".join("1" if c == column else cell for c, cell in enumerate(row.split(",")))
                       for row in rows.splitlines())  # fmt: skip
    kept.write_text(f"{header}\n{forged}\n")
    second = m4n(*command, expect=DONE).stdout
    # What was kept is believed: all test losses of M4N are now 1, the other rows are as before.
    assert "100.00%" in second and "100.00%" not in first
    of_m3n = lambda text: [line.split() for line in text.splitlines() if "M3N" in line]
    assert of_m3n(first)[0] == of_m3n(second)[0]


def test_finished_rows_stay_in_the_table(m4n, tiny_ordinal_set, tmp_path):
    (tiny_ordinal_set / "iris.csv").write_text((DATA / "iris.csv").read_text())
    command = [
        "reproduce",
        "table1",
        "--data",
        tiny_ordinal_set,
        "--splits",
        "1",
        "--protocols",
        "exact",
        "--out",
        tmp_path,
    ]
    m4n(*command, "--only", "iris", expect=DONE)
    both = m4n.json(*command, "--only", "machine")["table1"]
    assert {cell["set"] for cell in both} == {"iris", "machine"}
    # But not those of other settings.
    assert {cell["set"] for cell in m4n.json(*command[:-1], tmp_path / "o", "--only", "machine", "--seed", "1")["table1"]} == {
        "machine"}  # fmt: skip


def test_only_what_is_asked_for_is_read(m4n, tiny_ordinal_set, tmp_path):
    (tiny_ordinal_set / "iris.csv").write_text((DATA / "iris.csv").read_text())
    command = ["reproduce", "table1", "--data", tiny_ordinal_set, "--splits", "1", "--protocols", "exact", "--out",
               tmp_path / "out", "--only"]  # fmt: skip
    machine = m4n.json(*command, "machine")["table1"]
    (tiny_ordinal_set / "machine.csv").write_text("no table at all")
    assert [cell for cell in m4n.json(*command, "iris")["table1"] if cell["set"] == "machine"] == machine
    assert "machine.csv" in m4n(*command, "machine", expect=FAILED).stderr
    # The rows stay where a table is not asked for, and where its files are gone.
    (tiny_ordinal_set / "machine.csv").unlink()
    assert "machine" in m4n(*command, "iris", expect=DONE).stdout
    table = tmp_path / "out" / "reproduce.json"
    for text in ("{", "[]", '{"splits": 1, "seed": 0, "binning": "width", "table1": [{"set": "none"}], "table2": []}'):
        table.write_text(text)
        assert "reproduce.json: is not as m4n reproduce wrote it" in m4n(*command, "iris", expect=FAILED).stderr


def test_ordinal_sets_are_cut_by_width_or_quantiles(m4n, ordinal_sets, tmp_path):
    def table(binning):
        return m4n.json("reproduce", "table1", "--data", ordinal_sets, "--only", "machine", "--splits", "1", "--protocols",
                        "paper", "--binning", binning, "--out", tmp_path / binning)  # fmt: skip

    width, quantile = table("width"), table("quantile")
    assert width["binning"] == "width" and quantile["binning"] == "quantile"
    assert {cell["n"] for cell in width["table1"] + quantile["table1"]} == {208}
    # Most targets of equal width lie in the middle grades, so mistakes are smaller.
    mean = lambda cells: np.mean([cell["test"]["mean"] for cell in cells])
    assert mean(width["table1"]) < mean(quantile["table1"])


def test_table2_shows_that_warm_starts_and_iterations_shrink_the_error(m4n, tiny_ordinal_set, tmp_path):
    out = tmp_path / "t2"
    text = m4n("reproduce", "table2", "--data", tiny_ordinal_set, "--only", "machine", "--splits", "1", "--out", out,
               expect=DONE).stdout  # fmt: skip
    rows = [line.split() for line in text.splitlines() if line.startswith("| machine")]
    assert [row[3] for row in rows] == ["yes", "yes", "no", "no"]
    assert "0.42 / 0.57" in text  # as printed
    cells = json.loads((out / "reproduce.json").read_text())["table2"]
    error = {(cell["warm_start"], cell["oracle_iterations"]): cell["oracle_error"]["mean"] for cell in cells}
    assert len(error) == 8 and min(error.values()) >= 0
    for iterations in (10, 30, 50, 100):
        assert error[True, iterations] < error[False, iterations]
    assert error[False, 100] < error[False, 50] < error[False, 30] < error[False, 10]


def test_missing_files_are_listed_and_the_others_run(m4n, tmp_path):
    result = m4n("reproduce", "table1", "--data", DATA, "--only", "iris,vehicle,auto", "--splits", "2", "--protocols", "exact",
                 "--out", tmp_path, expect=DONE)  # fmt: skip
    assert "missing (plain or .gz), left out: 'vehicle.csv', 'auto.csv'" in result.stderr
    assert "| MC   | iris" in result.stdout
    nothing = m4n("reproduce", "table2", "--data", DATA, "--out", tmp_path, expect=FAILED)
    assert "table 2 uses 'machine.csv', 'auto.csv'" in nothing.stderr and nothing.stdout == ""


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["table3", "--data", DATA, "--out", "o"], WRONG_USAGE, "unknown table 'table3'"),
        (["table1", "--data", DATA], WRONG_USAGE, "--out"),
        (["table1", "--out", "o"], WRONG_USAGE, "--data"),
        (["table1", "--data", "no/where", "--out", "o"], FAILED, "is no directory"),
        (["table1", "--data", DATA, "--out", "o", "--only", "irs"], WRONG_USAGE, "Did you mean 'iris'?"),
        (["table1", "--data", DATA, "--out", "o", "--protocols", "exact,exact"], WRONG_USAGE, "stands twice"),
        (["table1", "--data", DATA, "--out", "o", "--only", "iris", "--splits", "151"], FAILED, "only 150 examples"),
        (["table1", "--data", DATA, "--out", DATA / "iris.csv", "--only", "iris"], FAILED, "directory"),
    ],
)
def test_bad_input_is_refused_with_the_reason(m4n, tmp_path, arguments, code, message):
    result = m4n("reproduce", *arguments, cwd=tmp_path)
    assert result.returncode == code and message in result.stderr, result.stderr
