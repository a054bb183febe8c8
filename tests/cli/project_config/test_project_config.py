"""What a project says to all commands, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.project_config import (
    NO_PROJECT,
    ConfigError,
    find_project,
    nearest_table,
)

TEXT = """\
policies = ["policies"]
cluster = ["cluster/*.yaml"]
exclude = ["drafts", "*/old", "policies/new"]
kubernetes-version = "v1.35"
[lint]
ignore = []
[profiles.ci]
cluster = ["extra"]
exclude = ["*.tmp.yaml"]
kubernetes-version = "1.34"
[profiles.empty]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("policies", "cluster", "extra", "deep/er"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "cluster" / "a.yaml").touch()
    (tmp_path / "celadon.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_the_top_counts(folder: Path) -> None:
    found = find_project(folder)
    assert found.files == ("policies", "cluster/*.yaml")
    assert found.exclude == ("drafts", "*/old", "policies/new")
    assert (found.file, found.profile, found.version) == ("celadon.toml", "", "1.35")


def test_a_profile_adds_to_lists_and_replaces_the_version(folder: Path) -> None:
    found = find_project(folder, "ci")
    assert found.files == ("policies", "cluster/*.yaml", "extra")
    assert found.exclude[-1] == "*.tmp.yaml"
    assert found.version == "1.34"
    assert found.summary == (
        "configuration: celadon.toml, profile ci: -f policies -f cluster/*.yaml -f extra "
        "--exclude drafts --exclude */old --exclude policies/new --exclude *.tmp.yaml "
        "--kubernetes-version 1.34"
    )
    assert find_project(folder, "empty").files == find_project(folder).files


def test_paths_are_relative_to_the_file(folder: Path) -> None:
    found = find_project(folder / "deep" / "er")
    assert found.file == "../../celadon.toml"
    assert found.files == ("../../policies", "../../cluster/*.yaml")
    assert found.exclude == ("drafts", "*/old", "../../policies/new")


def test_the_nearest_file_that_says_something_to_all_counts(folder: Path) -> None:
    deep = folder / "deep"
    (deep / "celadon.toml").write_text("[lint]\nignore = []\n", encoding="utf-8")
    (deep / "er" / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert find_project(deep / "er").file == "../../celadon.toml"
    (deep / "pyproject.toml").write_text("[tool.celadon]\nexclude = ['x']\n", encoding="utf-8")
    found = find_project(deep / "er")
    assert (found.file, found.files, found.exclude) == ("../pyproject.toml", (), ("x",))


def test_nothing_is_there(tmp_path: Path) -> None:
    assert find_project(tmp_path) == NO_PROJECT
    assert NO_PROJECT.summary == ""
    with pytest.raises(ConfigError, match="there is no celadon"):
        find_project(tmp_path, "ci")


LONG = "x" * 5000
"""No file can have such a name."""

WRONG = [
    ("\npolices = []", "2:1: `polices`: there is no such key, did you mean `policies`?"),
    ("[lnt]", "1:2: `lnt`: there is no such key, did you mean `lint`?"),
    ("policies = 'a'", "1:1: `policies`: must be a list of texts"),
    ("policies = [\n  'a',\n  1]", "3:3: `policies[1]`: must be a text that is not empty"),
    ("exclude = ['']", "1:12: `exclude[0]`: must be a text that is not empty"),
    ("cluster = ['-']", "1:12: `cluster[0]`: standard input (`-`) can only be given on the"),
    ("cluster = ['gone']", "1:12: `cluster[0]`: `gone` does not exist"),
    ("cluster = ['go*e']", "1:12: `cluster[0]`: `go*e` does not exist"),
    ("\n[a" + ".a" * 5000 + "]", "2: a key of more than 100 parts"),
    ("policies = " + "9" * 10_000, " exceeds the limit (4300 digits) for integer string"),
    (f"cluster = ['{LONG}']", f"1:12: `cluster[0]`: `{LONG}` does not exist"),
    ("kubernetes-version = 1.36", '1:1: `kubernetes-version`: must be a text like "1.36"'),
    ("kubernetes-version = '2.0'", "1:1: `kubernetes-version`: unknown version `2.0`, expected"),
    ("profiles = []", "1:1: `profiles`: must be a table, with a table for each profile"),
    ("[profiles]\nci = 1", "2:1: `profiles.ci`: must be a table"),
    ("[profiles.x]\nlint = 1", "2:1: `profiles.x.lint`: there is no such key"),
    ("[profiles.x]\nclustr = 1", "2:1: `profiles.x.clustr`: there is no such key, did you mean"),
    ("[profiles.x]\ncluster = 1", "2:1: `profiles.x.cluster`: must be a list of texts"),
    ("policies = [\n  'a'\n  'b']", "3:3: unclosed array"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_said_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "celadon.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        find_project(tmp_path)
    assert f"celadon.toml:{message}" in str(raised.value)


def test_a_profile_that_is_not_there(folder: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        find_project(folder, "cii")
    text = "celadon.toml:7:2: `profiles`: there is no profile `cii`, did you mean `ci`?"
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("[project", False),
        ("[tool.celadon", True),
        ('[tool."\\u0063eladon', True),
    ],
)
def test_a_pyproject_that_says_nothing_of_celadon_need_not_be_right(
    tmp_path: Path, text: str, is_read: bool
) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    if is_read:
        with pytest.raises(ConfigError, match=r"pyproject\.toml"):
            nearest_table(tmp_path, "fmt")
    else:
        assert nearest_table(tmp_path, "fmt") is None


def test_keys_of_pyproject_are_said_as_they_stand_there(tmp_path: Path) -> None:
    text = "[tool.celadon.profiles.ci]\npolicies = ['gone']\n"
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert find_project(tmp_path).files == ()
    assert find_project(tmp_path, "ci", reads_files=False).files == ("gone",)
    with pytest.raises(ConfigError) as raised:
        find_project(tmp_path, "ci")
    key = "`tool.celadon.profiles.ci.policies[0]`"
    assert str(raised.value) == f"pyproject.toml:2:13: {key}: `gone` does not exist"
