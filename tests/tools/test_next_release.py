"""A new release out of what is given of it: 1.36 of 1.35, and 1.35 of 1.34. What comes out is what
`data/` says of them, but for what the report names."""

from __future__ import annotations

import fnmatch
import importlib
import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT
from tests.tools.given_releases import given, rolled_back, until

Json = Any

DATA = ROOT / "data"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module("next_release")


def differences(made: Json, known: Json, place: str = "") -> Iterator[str]:
    """Places at which two trees are not the same; the order of fields is a place of its own, and
    the order of groups is none."""
    if place == "groups/groups":
        made, known = ({group["name"]: group for group in side} for side in (made, known))
    made, known = ({} if one is None else one for one in (made, known))
    if not isinstance(made, dict) or not isinstance(known, dict):
        if made != known:
            yield place
        return
    if place.endswith("/fields") and made.keys() == known.keys() and list(made) != list(known):
        yield f"{place}/order"
    for key in {**made, **known}:
        yield from differences(made.get(key), known.get(key), f"{place}/{key}".lstrip("/"))


def covers(named: str, place: str) -> bool:
    """Whether a place is one that is named, or inside of it."""
    steps = named.split("/")
    return len(steps) <= len(place.split("/")) and all(
        fnmatch.fnmatchcase(other, step)
        for step, other in zip(steps, place.split("/"), strict=False)
    )


def known_sources(tools: Any, release: str) -> Json:
    sources = tools.every_source(DATA)
    for name, change in tools.release_changes(DATA):
        if tuple(map(int, name.split("."))) < tuple(map(int, release.split("."))):
            break
        sources = tools.release_sources(sources, change)
    return sources


@pytest.mark.thorough
@pytest.mark.parametrize(("previous", "release"), [("1.34", "1.35"), ("1.35", "1.36")])
def test_a_release_of_the_one_before_it(
    previous: str, release: str, tmp_path: Path, tools: Any
) -> None:
    folder, data = given(release, tmp_path / release), tmp_path / "data"
    shutil.copytree(DATA, data)
    rolled_back(tools, data, previous)
    before = tools.every_source(data)
    findings = tools.import_documents(folder, data=data)
    made = tools.every_source(data)
    named = {place for one in findings if one.is_open for place in one.places}
    found = list(differences(made, known_sources(tools, release)))
    unnamed = [one for one in found if not any(covers(place, one) for place in named)]
    assert not unnamed
    assert found
    # The release before it is told from the new one.
    name, change = next(tools.release_changes(data))
    assert name == previous
    assert tools.release_sources(made, change) == before
    # A field that is new is named, one that is not is taken over and not named.
    assert not any(
        covers(place, "schemas/io.k8s.api.core.v1/Container/fields/image") for place in named
    )


def test_gates_of_a_release(tmp_path: Path, tools: Any) -> None:
    folder, data = given("1.35", tmp_path), tmp_path / "data"
    shutil.copytree(DATA, data)
    rolled_back(tools, data, "1.34")
    findings = tools.import_gate_table(folder, None, data)
    assert {"feature_gates/*/locked", "feature_gates/*/needs"} <= {
        place for one in findings for place in one.places
    }
    made = json.loads((data / "feature_gates.json").read_text(encoding="utf-8"))
    known = json.loads((DATA / "feature_gates.json").read_text(encoding="utf-8"))
    assert stages_of(made) == stages_of(
        {name: kept for name, stages in known.items() if (kept := until(stages, "1.35"))}
    )


def stages_of(histories: Json) -> dict[str, list[Any]]:
    """By gate, when it got which stage and default; whether it is locked is left out."""
    return {
        name: [
            (next(same)["since"], key)
            for key, same in itertools.groupby(
                stages, key=lambda stage: (stage["stage"], stage.get("default"))
            )
        ]
        for name, stages in histories.items()
    }


def test_what_the_report_names(tools: Any) -> None:
    """A new field, one that is gone, a kind that may have it, and rules that are shared."""

    def sources(fields: Json) -> Json:
        pot = {"fields": {"soil": {"ref": "a.v1.Soil"}}, "gvk": ["g", "v1", "Pot"]}
        return {
            "groups": {"groups": [{"name": "g", "versions": ["v1"]}]},
            "resources": {"g.v1": {"pots": {"kind": "Pot"}}},
            "defaults": {"g.v1": {"Pot": {"default": [{"path": "soil", "use": "Soil"}]}}},
            "defaulting": {"sets": {"Soil": []}},
            "schemas": {"a.v1": {"Pot": pot, "Soil": {"fields": fields}}},
        }

    base, made = sources({"sand": "int32"}), sources({"peat": "int32"})
    comparison = tools.Comparison(base, made, has_go=True)
    lines = tools.report("1.99", comparison.findings()).splitlines()
    assert {
        "- [x] schemas/a.v1/Soil/fields/sand: is gone, with its rules",
        "- [ ] schemas/a.v1/Soil/fields/peat: int32; no number, default, gate",
        "- [ ] schemas/a.v1/Soil (rules, immutable): of peat",
        "- [ ] defaults/g.v1/Pot: of new fields in a.v1.Soil",
        "- [ ] defaulting/sets (Soil): used by kinds with new fields",
    } <= {*lines}
