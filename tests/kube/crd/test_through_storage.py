"""Objects of a kind that is stored in another version."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.custom_kinds import CustomKind, custom_kinds
from celadon.kube.names import GroupVersionKind

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
NULLABLE: Json = TEXT | {"nullable": True}
OPEN: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def given(text: str) -> Json:
    return TEXT | {"default": text}


def kinds(*specs: Json) -> list[CustomKind]:
    """Of v1, v2 and so on; v1 is stored."""
    versions: list[Json] = [
        {
            "name": f"v{i + 1}",
            "served": True,
            "storage": not i,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        }
        for i, spec in enumerate(specs)
    ]
    names = {"plural": "gizmos", "kind": "Gizmo"}
    found = custom_kinds({"spec": {"group": "x.io", "names": names, "versions": versions}})
    return [found[GroupVersionKind("x.io", one["name"], "Gizmo")] for one in versions]


def gizmo(version: str, spec: Json) -> Json:
    return {
        "apiVersion": f"x.io/{version}",
        "kind": "Gizmo",
        "metadata": {"name": "g", "labels": {"a": "b"}},
        "spec": spec,
    }


def struct(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


WRITTEN: list[tuple[str, Json, Json, Json, Json]] = [
    ("lost in the store", struct(a=TEXT), struct(a=TEXT, b=TEXT), {"a": "x", "b": "y"}, {"a": "x"}),
    ("lost in a list", struct(a={"type": "array", "items": struct()}),
     struct(a={"type": "array", "items": struct(b=TEXT)}), {"a": [{"b": "x"}]}, {"a": [{}]}),
    ("default of the store", struct(a=given("x")), struct(a=TEXT), {}, {"a": "x"}),
    ("default that is not shown", struct(a=given("x")), struct(b=TEXT), {}, {}),
    ("default of the request only", struct(a=TEXT), struct(a=given("y")), {}, {}),
    ("null the store refuses", struct(a=TEXT), struct(a=NULLABLE), {"a": None}, {}),
    ("null the store fills", struct(a=given("x")), struct(a=NULLABLE), {"a": None}, {"a": "x"}),
    ("null that both allow", struct(a=NULLABLE), struct(a=NULLABLE), {"a": None}, {"a": None}),
    ("whole numbers", struct(a={"type": "number"}), OPEN, {"a": 2.0}, {"a": 2}),
    ("open store", OPEN, struct(a=TEXT), {"a": "x"}, {"a": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("storage", "written", "spec", "left"), [pytest.param(*row[1:], id=row[0]) for row in WRITTEN]
)
def test_what_comes_back_of_what_was_written(
    storage: Json, written: Json, spec: Json, left: Json
) -> None:
    _, kind = kinds(storage, written)
    before = gizmo("v2", spec)
    assert kind.read_back(before) == gizmo("v2", left)
    assert before == gizmo("v2", spec)


READ: list[tuple[str, Json, Json, Json]] = [
    ("unknown here", struct(a=TEXT), {"a": "x", "b": "y"}, {"a": "x", "c": "z"}),
    ("null that is refused", struct(n=TEXT), {"n": None}, {}),
    ("null in a list", struct(l={"type": "array", "items": TEXT}), {"l": [None]}, {"l": [None]}),
    ("null with a default", struct(n=given("w")), {"n": None}, {"n": None}),
]


@pytest.mark.parametrize(
    ("shown", "spec", "left"), [pytest.param(*row[1:], id=row[0]) for row in READ]
)
def test_an_object_of_the_version_that_is_stored_in_another(
    shown: Json, spec: Json, left: Json
) -> None:
    """Defaults are those of the version that is stored, and are shown where they are known."""
    nulls = {"type": "array", "items": NULLABLE}
    storage = struct(a=TEXT, b=TEXT, c=given("z"), n=NULLABLE, l=nulls)
    _, kind = kinds(storage, struct(**{**shown["properties"], "c": TEXT}))
    left = {**left, "c": "z"}
    assert kind.converted(gizmo("v1", spec)) == gizmo("v2", left)


def test_from_one_version_to_another_by_way_of_the_store() -> None:
    stored, second, third = kinds(
        struct(a=TEXT, d=given("z")), struct(a=TEXT, b=TEXT), struct(a=TEXT, b=TEXT, d=TEXT)
    )
    before = gizmo("v2", {"a": "x", "b": "y"})
    assert second.converted(gizmo("v3", {"a": "x", "d": "w"})) == gizmo("v2", {"a": "x"})
    assert third.converted(before) == gizmo("v3", {"a": "x", "d": "z"})
    assert stored.converted(before) == gizmo("v1", {"a": "x", "d": "z"})
    assert stored.storage is None
