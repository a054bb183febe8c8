"""The schema of the configuration says the same as what reads it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from tools.config_schema import schema

from celadon.cli.fmt import LayoutConfig, layout_config
from celadon.cli.lint import LintConfig, find_config
from celadon.cli.project_config import PROFILE_KEYS, TABLES, ConfigError, find_project
from tests.json_schemas import draft_2020_12
from tests.paths import ROOT


def test_it_is_published() -> None:
    published = (ROOT / "docs" / "schemas" / "celadon.json").read_text(encoding="utf-8")
    assert json.loads(published) == schema(), "python -m tools.config_schema > docs/schemas/..."


@pytest.mark.parametrize(("table", "config"), [("lint", LintConfig), ("fmt", LayoutConfig)])
def test_every_key_is_there(table: str, config: type[LintConfig] | type[LayoutConfig]) -> None:
    keys = {field.name.replace("_", "-") for field in fields(config)}
    assert schema()["properties"][table]["properties"].keys() == keys


@pytest.mark.parametrize(
    ("line", "is_good"),
    [
        ("line-width = 100", True),
        ("line-width = 10", False),
        ("line-width = 2000", False),
        ("line-width = '80'", False),
        ("exclude = ['drafts/*']", True),
        ("exclude = 'drafts/*'", False),
        ("line_width = 100", False),
    ],
)
def test_both_say_the_same_of_layouts(line: str, is_good: bool, tmp_path: Path) -> None:
    text = f"[fmt]\n{line}\n"
    validator = draft_2020_12(schema())
    assert validator.is_valid(tomllib.loads(text)) is is_good
    (tmp_path / "celadon.toml").write_text(text, encoding="utf-8")
    if is_good:
        layout_config(tmp_path)
    else:
        with pytest.raises(ConfigError):
            layout_config(tmp_path)


@pytest.mark.parametrize(
    ("line", "is_good"),
    [
        ("select = ['CEL0', 'missing-message', 'CEL025']", True),
        ("select = ['no-such-rule']", False),
        ("ignore = 'CEL025'", False),
        ("kubernetes-versions = ['1.33', '1.36']", True),
        ("kubernetes-versions = ['2.0']", False),
        ("fail-on = 'warn'", True),
        ("fail-on = 'always'", False),
        ("large-object = 1", True),
        ("large-object = 0", False),
        ("large-object = true", False),
        ("exclude = ['drafts/*']", True),
        ("exclude = [1]", False),
        ("per-file-ignores = {'legacy/*' = ['CEL025']}", True),
        ("per-file-ignores = ['CEL025']", False),
        ("fail_on = 'warning'", False),
    ],
)
def test_both_say_the_same(line: str, is_good: bool, tmp_path: Path) -> None:
    text = f"[lint]\n{line}\n"
    validator = draft_2020_12(schema())
    assert validator.is_valid(tomllib.loads(text)) is is_good
    (tmp_path / "celadon.toml").write_text(text, encoding="utf-8")
    if is_good:
        find_config(tmp_path)
    else:
        with pytest.raises(ConfigError):
            find_config(tmp_path)


def test_every_shared_key_is_there() -> None:
    found = schema()["properties"]
    assert found.keys() == {*PROFILE_KEYS, "profiles", *TABLES}
    profile = found["profiles"]["additionalProperties"]["properties"]
    assert profile.keys() == set(PROFILE_KEYS)


@pytest.mark.parametrize(
    ("text", "is_good"),
    [
        ("policies = ['p']", True),
        ("policies = 'p'", False),
        ("policies = ['']", False),
        ("cluster = ['-']", False),
        ("exclude = ['-']", True),
        ("exclude = [1]", False),
        ("kubernetes-version = '1.36'", True),
        ("kubernetes-version = '2.0'", False),
        ("kubernetes-version = 1.36", False),
        ("profiles = {ci = {policies = ['p']}}", True),
        ("profiles = {ci = {lint = {}}}", False),
        ("profiles = {ci = []}", False),
        ("profiles = []", False),
        ("polices = []", False),
    ],
)
def test_both_say_the_same_of_what_is_shared(text: str, is_good: bool, tmp_path: Path) -> None:
    assert draft_2020_12(schema()).is_valid(tomllib.loads(text)) is is_good
    (tmp_path / "celadon.toml").write_text(text, encoding="utf-8")
    if is_good:
        find_project(tmp_path, reads_files=False)
    else:
        with pytest.raises(ConfigError):
            find_project(tmp_path, reads_files=False)
