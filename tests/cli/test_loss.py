"""What the tool says of a loss; the numbers themselves are tested in tests/games/loss_analysis_test.cc."""

import math

import pytest
from conftest import DONE, FAILED, WRONG_USAGE
from pages import Page


def test_named_losses(m4n):
    for k in (2, 3, 5):
        found = m4n.json("loss", "zero-one", "--k", k)
        assert found["name"] == "zero-one" and found["k"] == k and found["symmetric"]
        assert found["predictions"] == [str(t + 1) for t in range(k)]
        assert found["m3n_consistent"] == (k == 2) and (found["counterexample"] is None) == (k == 2)
        assert found["calibration"]["m4n"] == pytest.approx(k)
        assert found["calibration"]["crf"] == pytest.approx(math.sqrt(2))
        assert found["calibration"]["qs"] == pytest.approx(math.sqrt(2))
        assert found["decoders"] == {"m4n": "argmax", "m3n": "argmax", "crf": "expected", "qs": "argmax"}
    found = m4n.json("loss", "absolute", "--k", 3)
    assert found["m3n_consistent"] and found["calibration"]["m4n"] == pytest.approx(2) and found["theorem"] is None
    assert not m4n.json("loss", "squared", "--k", 3)["m3n_consistent"]
    text = m4n("loss", "zero-one", "--k", 3, expect=DONE).stdout
    assert "m3n consistent  no" in text and "counterexample" in text
    many = m4n.json("loss", "zero-one", "--k", 40)
    assert many["calibration"]["m4n"] is None and many["calibration_bounds"]["m4n"][1] == pytest.approx(40)


def test_files(m4n, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text(",ok,<b>,\x1bbad\nok,0,1,5\n<b>,1,0,1\n\x1bbad,9,2,0\n")
    found = m4n.json("loss", costs)
    assert found["classes"] == ["ok", "<b>", "\x1bbad"] and not found["symmetric"] and found["cost"][2] == [9, 2, 0]
    assert found["decoders"]["m4n"] == "adversary"
    page, svg = tmp_path / "loss.html", tmp_path / "loss.svg"
    text = m4n("loss", costs, "--out", page, expect=DONE).stdout
    assert "\x1b" not in text
    shown = Page(page.read_text())
    assert shown.headings == ["What is known", "Three classes", "The costs"] and "M3N" in shown.text
    m4n("loss", costs, "--out", svg, expect=DONE)
    first = svg.read_bytes()
    m4n("loss", costs, "--out", svg, expect=DONE)
    assert svg.read_bytes() == first and first.startswith(b"<svg") and b"<b>" not in first
    # Named and described, and with plain colours, for not every viewer knows variables.
    assert b'<title id="t">costs.csv: three classes</title><desc id="d">' in first and b"var(" not in first
    assert first.count(b"prefers-color-scheme:dark") == 1
    costs.write_text("0,1,0.3\n1,0,0.3\n")
    actions = m4n.json("loss", costs)
    assert actions["k"] == 2 and len(actions["predictions"]) == 3 and actions["m3n_consistent"] is None
    assert actions["calibration"]["m4n"] is None and actions["decoders"]["m3n"] is None
    costs.write_text("a,b,c,d,act\n0,1,1,1,0.4\n1,0,1,1,0.4\n1,1,0,1,0.4\n1,1,1,0,0.4\n")
    m4n("loss", costs, "--out", page, "--three", "a,b,d", expect=DONE)
    Page(page.read_text())
    tree = tmp_path / "tree.csv"
    tree.write_text("child,parent\nx,top\ny,top\nz,y\nw,y\n")
    assert m4n.json("loss", f"tree:{tree}")["classes"] == ["x", "z", "w"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["zero-one"], ["--k"]),
        (["zero-one", "--k", "1"], ["--k", "2"]),
        (["footrule", "--k", "3"], ["zero-one"]),
        (["zero-one", "--k", "2", "--out", "x.svg"], ["three classes"]),
        (["zero-one", "--k", "3", "--out", "x.png"], [".html", ".svg"]),
        (["zero-one", "--k", "5", "--three", "1,2,9"], ["'9'"]),
        (["zero-one", "--k", "5", "--three", "1,2,2"], ["different"]),
    ],
)
def test_refusals(m4n, tmp_path, arguments, words):
    message = m4n("loss", *arguments, cwd=tmp_path, expect=WRONG_USAGE).stderr
    assert all(word in message for word in words), message


def test_bad_files(m4n, tmp_path):
    assert "no_such" in m4n("loss", tmp_path / "no_such", expect=FAILED).stderr
    costs = tmp_path / "costs.csv"
    for text in ("", "0,1\n1\n", "a\n"):
        costs.write_text(text)
        assert "costs.csv" in m4n("loss", costs, expect=FAILED).stderr


def test_unknown_names_list_the_known_and_large_losses_end(m4n, tmp_path):
    for extra in ([], ["--k", "3"]):
        message = m4n("loss", "zeroone", *extra, expect=2).stderr
        assert (
            "'zeroone' is neither a file nor the name of a loss" in message and "zero-one, absolute, squared" in message
        )
    (tmp_path / "one.csv").write_text(",a\na,0\n")
    assert "expected at least 2" in m4n("loss", tmp_path / "one.csv", expect=1).stderr
    assert "at least" in m4n("loss", "squared", "--k", "100", expect=0).stdout
