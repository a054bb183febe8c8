"""The data packs: what they say is what their sources in `data/` say."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from celadon.kube.schemas import packs
from tests.paths import ROOT, shared

SOURCES = ROOT / "data"


def tool(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module(name)


def test_packs_are_shared() -> None:
    assert packs.load("resources") is packs.load("resources")


def test_missing_pack() -> None:
    with pytest.raises(FileNotFoundError):
        packs.load("nope")


@pytest.mark.slow
def test_packs_are_what_the_sources_give(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tool("build_packs", monkeypatch).texts(SOURCES)
    assert set(texts) == {"columns", "defaults", "resources", "schemas"}
    for name, text in texts.items():
        packed = pkgutil.get_data("celadon.kube", f"data/{name}.json.z")
        assert packed is not None
        assert zlib.decompress(packed) == text.encode(), f"{name}: run `make packs`"


def test_sources_have_one_form(monkeypatch: pytest.MonkeyPatch) -> None:
    text_of = tool("pack_sources", monkeypatch).text_of
    for path in sorted(SOURCES.rglob("*.json")):
        text = path.read_text(encoding="utf-8")
        value = json.loads(text)
        assert text == text_of(value), f"{path}: not in the form of tools/pack_sources.py"
        if path.parent != SOURCES:
            assert list(value) == sorted(value), f"{path}: not sorted by name"


@pytest.mark.slow
def test_types_are_those_of_the_openapi_documents(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = shared("openapi", "v3").parent.parent
    tool("import_upstream", monkeypatch).main(folder, tmp_path)
    for path in sorted(SOURCES.glob("schemas/*.json")):
        assert path.read_text() == (tmp_path / "schemas" / path.name).read_text(), path.name


RECIPE = """
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.catalogue import columns_of, known_resources
from celadon.kube.defaulting import admit_form
kind = GroupVersionKind("apps", "v1", "Gadget")
resource = known_resources().by_gvk(kind)
print(resource.gvr.resource, resource.short_names, columns_of(resource.gvr)[0].name)
print(admit_form({"spec": {"size": 3, "unknown": 1}, "metadata": {}}, kind)["spec"])
"""


@pytest.mark.slow
def test_the_recipe_for_a_resource(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(SOURCES, tmp_path / "data")
    shutil.copytree(ROOT / "src" / "celadon", tmp_path / "src" / "celadon")
    text_of = tool("pack_sources", monkeypatch).text_of
    meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    added: dict[str, dict[str, Any]] = {
        "resources/apps.v1.json": {
            "gadgets": {
                "kind": "Gadget",
                "singular": "gadget",
                "namespaced": True,
                "verbs": ["create", "get", "list"],
                "shortNames": ["gd"],
                "default": True,
                "columns": [{"name": "Size", "type": "integer", "from": "int: .spec.size"}],
            }
        },
        "defaults/apps.v1.json": {
            "Gadget": {"default": [{"path": "spec.colour", "value": "green"}]}
        },
        "schemas/io.k8s.api.apps.v1.json": {
            "Gadget": {
                "fields": {
                    "apiVersion": "string",
                    "kind": "string",
                    "metadata": {"ref": meta},
                    "spec": {"ref": "io.k8s.api.apps.v1.GadgetSpec"},
                },
                "gvk": ["apps", "v1", "Gadget"],
            },
            "GadgetSpec": {"fields": {"colour": "string", "size": "int32"}},
        },
    }
    for name, entries in added.items():
        path = tmp_path / "data" / name
        path.write_text(text_of(dict(sorted({**json.loads(path.read_text()), **entries}.items()))))
    built = tmp_path / "src" / "celadon" / "kube" / "data"
    tool("build_packs", monkeypatch).main(tmp_path / "data", built)
    found = subprocess.run(
        [sys.executable, "-c", RECIPE],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.splitlines() == [
        "gadgets ('gd',) Size",
        "{'size': 3, 'colour': 'green'}",
    ], found.stderr
