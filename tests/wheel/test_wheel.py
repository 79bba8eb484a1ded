"""The installed wheel: it brings the command, and needs no library but those of C and C++. Run by make test-wheel."""

import pathlib
import re
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

import m4n

SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))
SHARE = pathlib.Path(sysconfig.get_path("data")) / "share"
RUNTIME = re.compile(r"(libstdc\+\+|libgcc_s|libm|libc|ld-linux-[a-z0-9-]+)\.so\.\d+$")


def tool(*arguments):
    result = subprocess.run([SCRIPTS / "m4n", *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_command_is_of_the_same_version():
    assert tool("--version").startswith(f"m4n {m4n.__version__}\n")


def test_the_command_reads_what_the_package_saves(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)).round(3)
    labels = np.where(x[:, 0] + rng.normal(size=60) > 0, "cat", "dog")
    data, model = tmp_path / "data.csv", str(tmp_path / "pets.m4n")
    data.write_text("\n".join(["x0,x1,x2", *(",".join(map(str, row.tolist())) for row in x)]) + "\n")
    classifier = m4n.MaxMinClassifier().fit(x, labels)
    classifier.save(model)
    assert tool("predict", model, data).split()[1:] == classifier.predict(x).tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF")
@pytest.mark.parametrize("binary", [m4n._core.__file__, SCRIPTS / "m4n"], ids=["module", "command"])
def test_what_is_linked_is_the_runtime_alone(binary):
    entries = subprocess.run(["readelf", "-dW", binary], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", entries)
    assert needed and all(RUNTIME.match(name) for name in needed), needed
    assert "(RPATH)" not in entries and "(RUNPATH)" not in entries


def test_pages_for_man_and_completions_are_there():
    assert (SHARE / "man/man1/m4n-train.1").read_text() == tool("help", "train", "--man")
    assert (SHARE / "bash-completion/completions/m4n").read_text() == tool("help", "--completion", "bash")
