"""The data packs: what they say is what their sources in `data/` say."""

from __future__ import annotations

import importlib
import json
import pkgutil
import zlib
from pathlib import Path
from typing import Any

import pytest

from celadon.kube.schemas import schema_packs
from tests.paths import ROOT, shared

SOURCES = ROOT / "data"
PACKS = ROOT / "src" / "celadon" / "kube" / "data"


def tool(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module(name)


def test_packs_are_shared() -> None:
    assert schema_packs.load("resources") is schema_packs.load("resources")


def test_missing_pack() -> None:
    with pytest.raises(FileNotFoundError):
        schema_packs.load("nope")


@pytest.mark.thorough
def test_packs_are_what_the_sources_give(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tool("build_packs", monkeypatch).texts(SOURCES)
    assert set(texts) == {path.name.removesuffix(".json.z") for path in PACKS.glob("*.z")}
    for name, text in texts.items():
        packed = pkgutil.get_data("celadon.kube", f"data/{name}.json.z")
        assert packed is not None
        assert zlib.decompress(packed) == text.encode(), f"{name}: run `make packs`"


def test_sources_have_one_form(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tool("pack_sources", monkeypatch)
    for path in sorted(SOURCES.rglob("*.json")):
        text = path.read_text(encoding="utf-8")
        value = json.loads(text)
        form = sources.text_of(value, sources.levels_of(path))
        assert text == form, f"{path}: not in the form of tools/pack_sources.py"
        if path.parent not in (SOURCES, SOURCES / "releases"):
            assert list(value) == sorted(value), f"{path}: not sorted by name"


def test_fields_stand_in_the_order_of_their_struct(monkeypatch: pytest.MonkeyPatch) -> None:
    """`always` and `ptr` name some of the fields of a struct in its order."""
    for package, types in tool("pack_sources", monkeypatch).read(SOURCES / "schemas"):
        for name, entry in types.items():
            order = list(entry.get("fields", ()))
            for column in ("always", "ptr"):
                named = [field for field in entry.get(column, ()) if field in order]
                assert named == sorted(named, key=order.index), f"{package}.{name}: {column}"


GATED = {"io.k8s.api.scheduling.v1alpha2.json"}
"""Types that only a gate brings: the documents of a release are those of its defaults."""


@pytest.mark.thorough
def test_types_are_those_of_the_openapi_documents(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = shared("openapi", "v3").parent.parent
    tool("import_upstream", monkeypatch).main(folder, tmp_path)
    written = {path.name for path in (tmp_path / "schemas").glob("*.json")}
    sources = sorted(SOURCES.glob("schemas/*.json"))
    assert {path.name for path in sources} - written == GATED
    for path in sources:
        if path.name not in GATED:
            assert path.read_text() == (tmp_path / "schemas" / path.name).read_text(), path.name


@pytest.mark.thorough
def test_the_packs_of_older_releases_are_what_their_sources_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    releases = tool("release_sources", monkeypatch)
    sources = tool("pack_sources", monkeypatch).every_source()
    for release, change in releases.release_changes(SOURCES):
        sources = releases.release_sources(sources, change)
        for name, pack in tool("build_packs", monkeypatch).packs_of(sources).items():
            assert schema_packs.pack_of(name, release) == pack, f"{name} of {release}"
