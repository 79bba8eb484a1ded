"""predict on sequences: one more column, every line kept, streaming, k best and marginals against all labellings."""

import json
import os
import re
import select
import subprocess
import threading

import pytest
from conftest import DONE, FAILED, WRONG_USAGE
from sequence_files import WORD_TEMPLATE, Chain, as_crfsuite, attributes, letters_text, random_words, read_sentences

PLAIN = "the\nfish\n\nno\nboat\nsees\na\nwatch\n\n"


@pytest.fixture(scope="module")
def home(m4n, tmp_path_factory):
    """Sentences, a template, and the models m4n.m4n, m3n.m4n and crf.m4n of them."""
    path = tmp_path_factory.mktemp("tagging")
    m4n("generate", "--task", "sequence", "--n", 120, "--seed", 5, "--out", path / "tagged.txt", expect=DONE)
    (path / "words.tpl").write_text(WORD_TEMPLATE)
    for surrogate in ("m4n", "m3n", "crf"):
        m4n("train", path / "tagged.txt", "--template", path / "words.tpl", "--surrogate", surrogate, "--model",
            path / f"{surrogate}.m4n", "--lambda", "0.02", expect=DONE)  # fmt: skip
    return path


def labels_of(text):
    return [line.split()[-1] for line in text.splitlines() if line]


def test_one_more_column_and_every_line_kept(m4n, home):
    data = home / "tagged.txt"
    out = m4n("predict", home / "crf.m4n", data, expect=DONE).stdout
    before, after = data.read_text().splitlines(), out.splitlines()
    assert len(before) == len(after) and out.endswith("\n")
    for line, answer in zip(before, after):
        assert answer == "" if not line else re.fullmatch(re.escape(line) + " [DNV]", answer)
    assert {answer[-1] for answer in after if answer} == {"D", "N", "V"}
    for threads in (1, 4):
        assert m4n("predict", home / "crf.m4n", data, "--threads", threads).stdout == out
    m4n("predict", home / "crf.m4n", data, "--out", home / "out.txt", expect=DONE)
    assert (home / "out.txt").read_text() == out


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_labels_in_the_input_do_not_matter(m4n, home, surrogate):
    """Absent, unknown or never seen."""
    model = home / f"{surrogate}.m4n"
    expected = labels_of(m4n("predict", model, input=PLAIN, expect=DONE).stdout)
    for label in (" _", " D", " never-seen", "\tV"):
        text = "".join(line + label + "\n" if line else "\n" for line in PLAIN.splitlines())
        out = m4n("predict", model, input=text, expect=DONE).stdout
        assert labels_of(out) == expected
        assert all(line == "" or line.startswith(text.splitlines()[i]) for i, line in enumerate(out.splitlines()))


def test_separators_line_ends_and_blanks(m4n, home):
    model = home / "crf.m4n"
    out = m4n("predict", model, input=PLAIN, expect=DONE).stdout
    assert m4n("predict", model, "-", input=PLAIN, expect=DONE).stdout == out
    assert m4n("predict", model, input=PLAIN.replace("\n", "\r\n"), expect=DONE).stdout == out
    assert m4n("predict", model, input=PLAIN.rstrip("\n"), expect=DONE).stdout == out[:-1]
    assert m4n("predict", model, input="\ufeff" + PLAIN, expect=DONE).stdout == out
    spaced = "\n\n" + PLAIN.replace("\n\n", "\n \n\t\n\n") + "\n"
    answer = m4n("predict", model, input=spaced, expect=DONE).stdout
    assert answer.count("\n") == spaced.count("\n") and answer.startswith("\n\nthe ") and answer.endswith("\n\n\n\n\n")
    assert [line for line in answer.splitlines() if line] == [line for line in out.splitlines() if line]
    tabs = m4n("predict", model, input="the\tD\nfish\tN\n", expect=DONE).stdout
    assert re.fullmatch(r"the\tD\t[DNV]\nfish\tN\t[DNV]\n", tabs)
    assert m4n("predict", model, input="", expect=DONE).stdout == ""
    assert m4n("predict", model, input="\n\n", expect=DONE).stdout == "\n\n"


def test_bytes_that_are_no_text_pass_through(m4n, home):
    text = b"caf\xe9\xff \x80\nthe _\n\x01\x7f \xc3\x28\n"
    result = subprocess.run([m4n.binary, "predict", home / "m4n.m4n"], input=text, capture_output=True, timeout=30)
    assert result.returncode == DONE
    for before, after in zip(text.splitlines(), result.stdout.splitlines(), strict=True):
        assert after[:-1] == before + b" " and after[-1:] in b"DNV"
    line = b"x" * 10_000_000 + b" N\nthe D\n"
    result = subprocess.run([m4n.binary, "predict", home / "m4n.m4n"], input=line, capture_output=True, timeout=30)
    assert result.returncode == DONE and len(result.stdout) == len(line) + 4


def test_json(m4n, home):
    report = m4n.json("predict", home / "crf.m4n", home / "tagged.txt", "--marginals")
    assert list(report) == ["n", "tokens", "classes", "label", "marginals"]
    sentences = read_sentences(home.joinpath("tagged.txt").read_text())
    assert (report["n"], report["tokens"]) == (120, sum(map(len, sentences)))
    assert (
        [len(own) for own in report["label"]] == [len(own) for own in report["marginals"]] == list(map(len, sentences))
    )
    text = m4n("predict", home / "crf.m4n", home / "tagged.txt").stdout
    assert [label for own in report["label"] for label in own] == labels_of(text)
    empty = json.loads(
        m4n("predict", home / "crf.m4n", "--json", "--marginals", "--k-best", 2, input="", expect=DONE).stdout
    )
    assert (empty["n"], empty["tokens"], empty["k_best"], empty["marginals"]) == (0, 0, [], [])
    assert json.loads(m4n("predict", home / "m4n.m4n", "--json", input="", expect=DONE).stdout)["label"] == []


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_k_best_against_all_labellings(m4n, home, surrogate):
    model = home / f"{surrogate}.m4n"
    chain = Chain(m4n.json("dump", model), ["D", "N", "V"])
    sentences = [["fish"], ["the", "can"], ["no", "boat", "sees", "a", "watch"], ["unheard", "of", "run"]]
    text = "\n\n".join("\n".join(own) for own in sentences) + "\n"
    found = json.loads(m4n("predict", model, "--json", "--k-best", 20, input=text, expect=DONE).stdout)["k_best"]
    columns = read_sentences(m4n("predict", model, "--k-best", 20, input=text, expect=DONE).stdout)
    single = read_sentences(m4n("predict", model, "--k-best", 1, input=text, expect=DONE).stdout)
    for words, best, lines, one in zip(sentences, found, columns, single, strict=True):
        ranked = chain.ranked(words)[:20]
        assert [entry["score"] for entry in best] == pytest.approx([score for score, _ in ranked], rel=1e-9, abs=1e-9)
        for entry, (score, _) in zip(best, ranked, strict=True):
            assert chain.score(attributes(words), entry["label"]) == pytest.approx(score, rel=1e-9, abs=1e-9)
        assert len({tuple(entry["label"]) for entry in best}) == len(ranked)
        padding = ["_"] * (20 - len(ranked))
        assert [line[1:] for line in lines] == [
            [entry["label"][m] for entry in best] + padding for m in range(len(words))
        ]
        assert [line[1] for line in one] == best[0]["label"]
        if surrogate == "crf":
            expected = [p for p, _ in chain.probabilities(words)[:20]]
            assert [entry["probability"] for entry in best] == pytest.approx(expected, rel=1e-9)
        else:
            # These are decoded by Viterbi.
            plain = m4n("predict", model, input="\n".join(words), expect=DONE).stdout
            assert labels_of(plain) == best[0]["label"]


def test_marginals_against_all_labellings(m4n, home):
    chain = Chain(m4n.json("dump", home / "crf.m4n"), ["D", "N", "V"])
    for words in (["fish"], ["the", "can"], ["no", "boat", "sees", "a", "watch"]):
        out = m4n("predict", home / "crf.m4n", "--marginals", input="\n".join(words), expect=DONE).stdout
        for line, expected in zip(out.splitlines(), chain.marginals(words), strict=True):
            _, label, *cells = line.split(" ")
            found = {cell.rsplit(":", 1)[0]: float(cell.rsplit(":", 1)[1]) for cell in cells}
            assert list(found) == ["D", "N", "V"] and sum(found.values()) == pytest.approx(1, abs=1e-12)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert label == max(found, key=found.get)  # the least expected Hamming cost


def test_letters_give_a_csv_and_attributes_a_label_a_line(m4n, home, tmp_path):
    words = random_words(40, 8, seed=2)
    data = tmp_path / "letters.data"
    data.write_text(letters_text(words))
    m4n("train", data, "--surrogate", "crf", "--model", tmp_path / "o.m4n", expect=DONE)
    rows = m4n.predict(tmp_path / "o.m4n", data, "--marginals", "--k-best", 2)
    assert list(rows[0]) == ["label", "label_2", "p_a", "p_b", "p_c"] and len(rows) == sum(len(w[1]) for w in words)
    assert all(sum(float(row[f"p_{c}"]) for c in "abc") == pytest.approx(1) for row in rows)
    unlabelled = tmp_path / "unlabelled.data"
    unlabelled.write_text(letters_text([(f, ["_"] * len(own), pixels) for f, own, pixels in words]))
    assert (
        m4n("predict", tmp_path / "o.m4n", unlabelled, expect=DONE).stdout
        == m4n("predict", tmp_path / "o.m4n", data).stdout
    )

    written = tmp_path / "written.txt"
    written.write_text(as_crfsuite(read_sentences((home / "tagged.txt").read_text())))
    m4n("train", written, "--surrogate", "crf", "--lambda", "0.02", "--model", tmp_path / "a.m4n", expect=DONE)
    out = m4n("predict", tmp_path / "a.m4n", written, expect=DONE).stdout
    assert [bool(line) for line in out.splitlines()] == [bool(line) for line in written.read_text().splitlines()]
    assert labels_of(out) == labels_of(m4n("predict", home / "crf.m4n", home / "tagged.txt").stdout)


def start(m4n, *arguments):
    return subprocess.Popen([m4n.binary, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_answers_arrive_before_the_input_ends(m4n, home):
    process = start(m4n, "predict", home / "m4n.m4n")
    try:
        for words in ("the\nfish\n\n", "a\nboat\nsees\n\n"):
            os.write(process.stdin.fileno(), words.encode())
            answer = b""
            while answer.count(b"\n") < words.count("\n"):
                assert select.select([process.stdout], [], [], 20)[0], f"no answer to {words!r}, only {answer!r}"
                answer += os.read(process.stdout.fileno(), 1000)
            assert re.sub(rb" [DNV]\n", b"\n", answer) == words.encode()
        # A sentence that is there in full does not wait for the next one, of which there is only a part.
        os.write(process.stdin.fileno(), b"no\n \n\nboat\nse")
        assert select.select([process.stdout], [], [], 20)[0]
        assert re.fullmatch(rb"no [DNV]\n\n", os.read(process.stdout.fileno(), 1000))
        os.write(process.stdin.fileno(), b"es\n")
    finally:
        process.stdin.close()
    assert re.fullmatch(rb"\nboat [DNV]\nsees [DNV]\n", process.stdout.read()) and process.wait(timeout=20) == DONE


def drain_into(received, stream):
    received.append(sum(map(len, iter(lambda: stream.read1(1 << 20), b""))))


@pytest.mark.parametrize("options", [[], ["--k-best", "2"]], ids=["plain", "k-best"])
def test_memory_does_not_grow_with_the_input(m4n, home, options):
    """The most that was ever resident, before the input ends: 40 MB more of it move that by far less."""
    peak = []
    for megabytes in (2, 42):
        process = start(m4n, "predict", home / "m4n.m4n", *options)
        received = []
        drain = threading.Thread(target=drain_into, args=(received, process.stdout))
        drain.start()
        block = ("\n".join(["w" * 200] * 12) + "\n\n").encode()
        piece = block * (1_000_000 // len(block))
        for _ in range(megabytes):
            process.stdin.write(piece)
        process.stdin.flush()
        with open(f"/proc/{process.pid}/status") as status:
            peak.append(int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]))
        process.stdin.close()
        assert process.wait(timeout=30) == DONE
        drain.join()
        assert received[0] > megabytes * len(piece)
    assert peak[1] < peak[0] + 8000, peak


def test_a_closed_pipe_ends_it_quietly(m4n, home):
    command = f"{m4n.binary} predict {home / 'm4n.m4n'} | head -n 1 >/dev/null"
    process = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    _, messages = process.communicate(b"the\nfish\n\n" * 100_000, timeout=30)
    assert b"terminate" not in messages and b"abort" not in messages


def test_options_of_other_models_are_refused(m4n, home, small, tmp_path):
    model, data = home / "m4n.m4n", home / "tagged.txt"
    assert "--k-best" in m4n("predict", model, data, "--scores", expect=WRONG_USAGE).stderr
    assert "crf" in m4n("predict", model, data, "--marginals", expect=WRONG_USAGE).stderr
    for option in ("--target", "--id", "--weights"):
        for command in ("predict", "eval"):
            assert option in m4n(command, model, data, option, "x", expect=WRONG_USAGE).stderr
    assert "conll" in m4n("predict", model, data, "--format", "ocr", expect=WRONG_USAGE).stderr
    for count in ("0", "1001", "two"):
        assert "--k-best" in m4n("predict", model, data, "--k-best", count, expect=WRONG_USAGE).stderr
    m4n.train(small, tmp_path / "classes.m4n")
    assert "sequences" in m4n("predict", tmp_path / "classes.m4n", small, "--k-best", 2, expect=WRONG_USAGE).stderr
    result = m4n("predict", tmp_path / "classes.m4n", data, expect=FAILED)
    assert str(data) in result.stderr and "line 1" in result.stderr and result.stdout == ""
    wide = tmp_path / "wide.txt"
    wide.write_text("a b c\n")
    for command in ("predict", "eval"):
        result = m4n(command, model, wide, expect=FAILED)
        assert (
            str(wide) in result.stderr
            and "line 1: found 3 columns, expected 1" in result.stderr
            and result.stdout == ""
        )


def test_a_file_is_written_whole_or_not_at_all(m4n, home, tmp_path):
    data, out = tmp_path / "ragged.txt", tmp_path / "out.txt"
    data.write_text("the\nfish\n\n" * 2000 + "a b c\n")
    out.write_text("precious")
    assert "line 6001" in m4n("predict", home / "m4n.m4n", data, "--out", out, expect=FAILED).stderr
    assert out.read_text() == "precious" and sorted(p.name for p in tmp_path.iterdir()) == ["out.txt", "ragged.txt"]
    assert "input" in m4n("predict", home / "m4n.m4n", data, "--out", data, expect=WRONG_USAGE).stderr
