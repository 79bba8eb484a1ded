"""Completion by shells, and manual pages: both are made of what the commands declare, and read by those they are for."""

import os
import re
import select
import shutil
import subprocess
import time

import pytest
from conftest import DONE, ROOT, WRONG_USAGE

COMMANDS = "train predict eval cv report loss info dump reproduce generate demo bench help".split()


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@pytest.fixture
def scripts(m4n, tmp_path):
    """A function that gives the completion script of a shell, as a file."""

    def script(shell):
        path = tmp_path / f"m4n.{shell}"
        path.write_text(m4n("help", "--completion", shell, expect=DONE).stdout)
        return path

    return script


def words_of_option(m4n, command, option):
    """The words among the values of an option, as the reference has them."""
    page = m4n("help", command, expect=DONE).stdout
    values = re.search(rf"^  --{option} (\S+)", page, re.MULTILINE).group(1)
    return [word for word in values.split("|") if word == word.lower()]


def options_of(m4n, command):
    return re.findall(r"^  (--[a-z0-9-]+)", m4n("help", command, expect=DONE).stdout, re.MULTILINE)


# ---- bash


@pytest.fixture
def bash(scripts, tmp_path):
    """What bash has to offer for the last of these words."""
    script = scripts("bash")

    def complete(*words):
        quoted = " ".join(f"'{word}'" for word in words)
        program = (
            f"source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _m4n;"
            ' printf "%s\\n" "${COMPREPLY[@]}"'
        )
        result = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True, cwd=tmp_path)
        assert result.returncode == 0 and result.stderr == ""
        return result.stdout.split()

    return complete


@needs("bash")
def test_bash_completes_commands(bash):
    assert bash("m4n", "") == [*COMMANDS, "--help", "--version"]
    assert bash("m4n", "re") == ["report", "reproduce"]


@needs("bash")
def test_bash_completes_options(bash, m4n):
    for command in COMMANDS:
        assert bash("m4n", command, "--") == options_of(m4n, command)
    assert bash("m4n", "train", "data.csv", "--surr") == ["--surrogate"]
    assert bash("m4n", "cv", "--surr") == ["--surrogates", "--surrogate"]
    assert bash("m4n", "demo", "") == options_of(m4n, "demo")  # takes no file


@needs("bash")
@pytest.mark.parametrize("option", ["surrogate", "task", "loss", "features", "constraints", "standardize", "format"])
def test_bash_completes_values(bash, m4n, option):
    words = words_of_option(m4n, "train", option)
    assert len(words) > 1
    assert bash("m4n", "train", f"--{option}", "") == words
    assert bash("m4n", "train", f"--{option}", words[-1]) == words[-1:]
    # bash takes the words of --option=value apart at the sign.
    assert bash("m4n", "train", f"--{option}", "=") == words
    assert bash("m4n", "train", f"--{option}", "=", words[-1]) == words[-1:]


@needs("bash")
def test_bash_offers_nothing_where_a_file_or_a_number_belongs(bash):
    """Nothing offered means files: the option -o default of complete."""
    for words in (["train", "--model", ""], ["train", "--lambda", ""], ["train", ""], ["predict", "a.m4n", "iris"]):
        assert bash("m4n", *words) == []


@needs("bash")
def test_bash_completes_arguments_that_are_words(bash):
    assert bash("m4n", "help", "") == COMMANDS
    assert bash("m4n", "reproduce", "tab") == ["table1", "table2"]
    assert bash("m4n", "loss", "") == ["zero-one", "absolute", "squared"]


# ---- fish and zsh


@needs("fish")
def test_fish_completes(scripts, m4n, tmp_path):
    script = scripts("fish")
    (tmp_path / "some.csv").write_text("")

    def complete(line):
        program = f'source "{script}"; complete -C "{line}"'
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
        result = subprocess.run(
            ["fish", "--no-config", "-c", program], capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert result.returncode == 0 and result.stderr == ""
        return [line.split("\t")[0] for line in result.stdout.splitlines()]

    assert set(complete("m4n ")) >= set(COMMANDS)
    for command in COMMANDS:
        assert set(complete(f"m4n {command} --")) >= set(options_of(m4n, command))
    assert complete("m4n train --surrogate ") == sorted(words_of_option(m4n, "train", "surrogate"))
    assert complete("m4n train --task=ord") == ["--task=ordinal"]
    losses = complete("m4n train --loss ")
    assert set(losses) >= {*words_of_option(m4n, "train", "loss"), "some.csv"}
    assert complete("m4n train som") == ["some.csv"] == complete("m4n train --model som")
    assert complete("m4n help rep") == ["report", "reproduce"]


@needs("zsh")
@pytest.mark.parametrize(
    "typed, shown",
    [
        ("rep", ["report", "reproduce"]),
        ("train --require", ["--require-converged"]),
        ("train --loss ", ["zero-one", "hamming", "some.csv"]),
        ("train --task=ord", ["--task=ordinal"]),
        ("train --model so", ["--model some.csv"]),
        ("loss ", ["absolute", "some.csv"]),
        ("help repr", ["reproduce"]),
    ],
)
def test_zsh_completes(scripts, tmp_path, typed, shown):
    """zsh completes on a terminal only: types a line and a tab, and reads until all is shown."""
    (tmp_path / "some.csv").write_text("")
    master, slave = os.openpty()
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb", "COLUMNS": "200"}
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=slave, stdout=slave, stderr=slave, cwd=tmp_path, env=environment, close_fds=True
    )
    os.close(slave)
    output = ""

    def read_until(*words):
        nonlocal output
        end = time.monotonic() + 30
        while not all(word in output for word in words) and time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                output += os.read(master, 65536).decode()
        assert all(word in output for word in words), output

    try:
        setup = f"autoload -Uz compinit; compinit -u -D; source '{scripts('zsh')}'; LISTMAX=1000; print re''ady"
        os.write(master, f"{setup}\n".encode())
        read_until("ready")
        output = ""
        os.write(master, f"m4n {typed}\t".encode())
        read_until(*shown)
    finally:
        shell.kill()
        shell.wait()
        os.close(master)


# ---- manual pages


def manual_pages(m4n):
    yield m4n("help", "--man", expect=DONE).stdout
    for command in COMMANDS:
        yield m4n("help", command, "--man", expect=DONE).stdout


@needs("groff")
def test_manual_pages_are_good_roff(m4n):
    for page in manual_pages(m4n):
        result = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z", "-rCHECKSTYLE=3"], input=page, capture_output=True, text=True
        )
        assert result.returncode == 0 and result.stderr == "", page


@needs("man")
def test_man_shows_every_option(m4n, tmp_path):
    path = tmp_path / "m4n-train.1"
    path.write_text(m4n("help", "train", "--man", expect=DONE).stdout)
    environment = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "MANWIDTH": "1000", "MAN_KEEP_FORMATTING": ""}
    result = subprocess.run(
        ["man", "--warnings", "-l", "-P", "cat", str(path)], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0 and result.stderr == ""
    assert re.findall(r"^ +(--[a-z0-9-]+)", result.stdout, re.MULTILINE) == options_of(m4n, "train")
    # Every character comes out as it was, among them those that roff would take for its own.
    text, shown = (m4n("help", "train", expect=DONE).stdout, " ".join(result.stdout.split()))
    for words in ("(P - D) / |P|", "2^-13", "|w|^2 / 2", "m4n train [options] DATA --model OUT.m4n"):
        assert words in " ".join(text.split()) and words in shown


def test_the_version_of_manual_pages_is_that_of_the_build(m4n):
    version = re.search(r"project\(m4n VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    for page in manual_pages(m4n):
        assert f'"m4n {version}"' in page.splitlines()[0]


# ---- wrong usage


def test_one_page_at_a_time(m4n):
    assert "one of them" in m4n("help", "--man", "--markdown", expect=WRONG_USAGE).stderr
    assert "leave out 'train'" in m4n("help", "train", "--completion", "bash", expect=WRONG_USAGE).stderr
    assert "bash, zsh, fish" in m4n("help", "--completion", "csh", expect=WRONG_USAGE).stderr
