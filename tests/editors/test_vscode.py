"""The extension for Visual Studio Code, as it is packaged; `make vscode` builds it."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
PACKAGE = FOLDER / "celadon.vsix"


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    return found


def test_what_the_code_uses_is_declared(manifest: dict[str, Any]) -> None:
    code = (FOLDER / "extension.js").read_text(encoding="utf-8")
    commands = set(re.findall(r'registerCommand\("([\w.]+)"', code))
    assert commands == {one["command"] for one in manifest["contributes"]["commands"]}
    section, setting = re.findall(r'getConfiguration\("(\w+)"\)\.get\("(\w+)"\)', code)[0]
    settings = manifest["contributes"]["configuration"]["properties"]
    assert list(settings) == [f"{section}.{setting}"]
    assert settings[f"{section}.{setting}"]["default"] == ["celadon", "lsp"]
    languages = re.findall(r'language: "(\w+)"', code)
    assert {f"onLanguage:{one}" for one in languages} <= set(manifest["activationEvents"])


def test_the_package_holds_what_is_started(manifest: dict[str, Any]) -> None:
    if not PACKAGE.exists():
        pytest.skip("the extension is not built; `make vscode` does, with npm")
    with zipfile.ZipFile(PACKAGE) as package:
        main = manifest["main"].removeprefix("./")
        bundle = package.read(f"extension/{main}").decode("utf-8")
        packaged = json.loads(package.read("extension/package.json"))
        names = package.namelist()
    assert "celadon.restart" in bundle
    assert "vscode-languageclient" not in re.findall(r'require\("([^"]+)"\)', bundle)
    assert packaged["activationEvents"] == manifest["activationEvents"]
    assert not [one for one in names if "node_modules" in one]
