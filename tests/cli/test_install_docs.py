"""What is written down about packages in several places is the same: names of libraries, and the version."""

import json
import re

from conftest import ROOT


def needed_to_build():
    lines = (ROOT / "scripts" / "packages.txt").read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith("build ")]


def table():
    """Rows of the table of package names in docs/install.md, by the name in Debian."""
    text = (ROOT / "docs" / "install.md").read_text()
    start = text.index("| Debian, Ubuntu |")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text[start:].split("\n\n")[0].splitlines()]
    assert set(rows[1]) == {"---"}
    return {row[0]: dict(zip(rows[0][1:], row[1:])) for row in rows[2:]}


def test_the_table_has_every_package_and_no_other():
    assert list(table()) == needed_to_build()
    assert all(name for names in table().values() for name in names.values())


def test_the_conda_environment_has_the_names_of_the_table():
    environment = (ROOT / "environment.yml").read_text()
    listed = set(re.findall(r"^  - (\S+)", environment, re.MULTILINE))
    assert {names["conda-forge"] for names in table().values()} <= listed


def test_the_debian_package_asks_for_what_the_build_needs():
    control = (ROOT / "packaging" / "debian" / "control").read_text()
    depends = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.MULTILINE).group(1)
    names = {line.split()[0].rstrip(",") for line in depends.splitlines()}
    # A compiler is there in any case; a cache of what it compiled is of no use for one build.
    assert names - {"debhelper-compat"} == set(needed_to_build()) - {"g++", "ccache"}


def test_the_conda_recipe_has_the_libraries_of_the_table():
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    listed = set(re.findall(r"^    - (\S+)", recipe, re.MULTILINE))
    libraries = {
        name for debian, names in table().items() if debian.endswith("-dev") for name in [names["conda-forge"]]
    }
    assert libraries and libraries <= listed


def test_the_version_is_that_of_the_build():
    version = re.search(r"project\(m4n VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert json.loads((ROOT / "packaging" / "vcpkg" / "m4n" / "vcpkg.json").read_text())["version"] == version
