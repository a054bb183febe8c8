"""The data packs say what the reference tables say they were built from."""

from __future__ import annotations

import json
import runpy

import pytest

from celadon.kube.schemas import packs
from tests.paths import ROOT, shared


def test_packs_are_shared() -> None:
    assert packs.load("resources") is packs.load("resources")


def test_missing_pack() -> None:
    with pytest.raises(FileNotFoundError):
        packs.load("nope")


@pytest.mark.slow
def test_packs_are_up_to_date() -> None:
    folder = shared("reference", "defaults.json").parent.parent
    script = runpy.run_path(str(ROOT / "tools" / "build_packs.py"))
    defaults = json.loads((folder / "reference" / "defaults.json").read_text())
    assert packs.load("schemas") == script["schemas"](folder, defaults["types"])
    assert packs.load("defaults")["kinds"] == defaults["kinds"]
    resources = json.loads((folder / "reference" / "resources.json").read_text())
    assert len(packs.load("resources")["resources"]) == len(resources["resources"])
