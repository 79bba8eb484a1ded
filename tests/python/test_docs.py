"""Every example in the documentation does what it says."""

import doctest
import email.message
import importlib
import importlib.metadata
import pkgutil
import re

import pytest
from conftest import ROOT

import m4n

MODULES = [f"m4n.{module.name}" for module in pkgutil.iter_modules(m4n.__path__) if module.name != "_core"]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:  # of a package that only this module needs
        pytest.skip(f"{name} needs {error.name}")
    assert doctest.testmod(module, optionflags=FLAGS).failed == 0


GUIDE = sorted(page for page in (ROOT / "docs" / "guide").glob("*.md") if page.name != "index.md")


@pytest.mark.parametrize(
    "page", [ROOT / "docs" / "python.md", ROOT / "docs" / "cookbook.md", *GUIDE], ids=lambda page: page.stem
)
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert found.attempted >= 5 and found.failed == 0


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict = {}
    exec(block, names)
    assert names["model"].certificate_.converged and (tmp_path / "costly.m4n").exists()


@pytest.mark.parametrize("example", sorted((ROOT / "examples" / "gallery").glob("*.py")), ids=lambda path: path.stem)
def test_examples_of_the_gallery_are_short(example):
    assert len(example.read_text().splitlines()) < 60  # `make docs` runs them


def test_the_reference_has_every_public_name_and_header():
    page = (ROOT / "docs" / "api" / "python.rst").read_text()
    named = set(re.findall(r"^(?:   |\.\. auto\w+:: (?:m4n\.)?)(\w+)$", page, re.MULTILINE))
    assert {name for name in m4n.__all__ if name != "__version__"} <= named
    headers = {path.name for path in (ROOT / "include" / "m4n").glob("*.h")} - {"m4n.h", "visibility.h"}
    page = (ROOT / "docs" / "api" / "cpp.rst").read_text()
    assert set(re.findall(r"^\.\. doxygenfile:: (\S+)$", page, re.MULTILINE)) == headers


def test_estimators_link_to_their_reference(monkeypatch):
    told = email.message.Message()
    told["Project-URL"] = "Documentation, https://example.org/m4n/"
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: told)
    page = "https://example.org/m4n/api/generated/m4n.MaxMinRankerCV.html"
    assert f'href="{page}"' in m4n.MaxMinRankerCV()._repr_html_()


def test_estimators_without_a_site_have_no_link(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: email.message.Message())
    assert 'href="' not in m4n.MaxMinRankerCV()._repr_html_()


def names_of_parameters(text):
    """Calls of estimators in blocks of Python that are shown beside those of other libraries."""
    calls = re.findall(r"\b(MaxMin\w+)\(([^\n|`]*)", text)
    return [(estimator, arguments.split(".fit(")[0]) for estimator, arguments in calls]


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("from-*.md")), ids=lambda page: page.stem)
def test_migration_pages_name_estimators_and_parameters_that_exist(page):
    for estimator, arguments in names_of_parameters(page.read_text()):
        known = getattr(m4n, estimator)().get_params()
        for name in re.findall(r"(\w+)=", arguments):
            assert name in known, f"{estimator}({name}=..)"
