"""The page is the same each time it is built, wherever the tree lies and whatever the hour."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.playground.built_site import WEB, build_site, built_site, needs_site


@needs_site
@pytest.mark.thorough
def test_another_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    tree = tmp_path / "elsewhere"
    unwanted = shutil.ignore_patterns("__pycache__", "site", "node_modules")
    for name in ("src", "web", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=unwanted)
    (tree / "web" / "node_modules").symlink_to((WEB / "node_modules").resolve())
    again = build_site(tmp_path / "site", tree / "web")
    found = {
        site: {
            file.relative_to(site): file.read_bytes()
            for file in site.rglob("*.*")
            if file.is_file()
        }
        for site in (again, built_site())
    }
    assert {*found[again]} == {*found[built_site()]}, (
        "the folder is named by a hash of what it holds"
    )
    assert found[again] == found[built_site()]
