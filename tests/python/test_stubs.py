"""The stubs of the extension say what it has."""

import ast
import pathlib
import subprocess
import sys

import nanobind
import pytest

import m4n


@pytest.mark.skipif(nanobind.__version__ < "3", reason="older versions write stubs otherwise")
def test_stubs_are_those_of_the_extension(tmp_path):
    """As `python -m nanobind.stubgen -m m4n._core` writes them, and beside them the version."""
    made, kept = tmp_path / "_core.pyi", pathlib.Path(m4n.__file__).with_name("_core.pyi")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "m4n._core", "-o", str(made)], check=True)
    stubs = ast.unparse(ast.parse(kept.read_text()))
    version = "__version__: str = ...\n"
    assert version in stubs and stubs.replace(version, "") == ast.unparse(ast.parse(made.read_text()))
