"""Every example in the documentation does what it says."""

import doctest
import importlib
import pkgutil

import pytest
from conftest import ROOT

import m4n

MODULES = [f"m4n.{module.name}" for module in pkgutil.iter_modules(m4n.__path__) if module.name != "_core"]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


def test_python_md(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=FLAGS)
    assert found.attempted > 20 and found.failed == 0
