"""What a real API server answered to custom resources: refusals, defaults, unknown fields."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.kube.crd.custom_kinds import CustomKind, custom_kinds
from celadon.kube.fieldpath import FieldError
from celadon.kube.names import GroupKind, GroupVersionKind, parse_api_version
from celadon.kube.registry.patches import apply_json_patch, apply_merge_patch
from celadon.kube.status import invalid
from tests.paths import shared

Json = dict[str, Any]
SCENARIOS = (
    "cr-schema-errors",
    "cr-several-errors",
    "cr-create-and-default",
    "cr-validation-rules",
    "cr-update",
)


def steps() -> list[Any]:
    """Every recorded write of the scenarios, with the CRD and the object of the setup."""
    found: list[Any] = []
    for name in SCENARIOS:
        try:
            recorded = json.loads(shared("conformance", "api", f"{name}.json").read_text())
        except pytest.skip.Exception:
            return []
        crd, *stored = recorded["setup"]
        for number, step in enumerate(recorded["steps"]):
            if step["method"] in ("POST", "PATCH") and step["want"]["code"] in (200, 201, 422):
                case = (crd, stored[0] if stored else None, step)
                found.append(pytest.param(*case, id=f"{name} {number}"))
    return found


def kind_of(crd: Json, obj: Json) -> CustomKind:
    group, version = parse_api_version(obj["apiVersion"])
    return custom_kinds(crd)[GroupVersionKind(group, version, obj["kind"])]


def patched(stored: Json, step: Json) -> Json:
    made: Json = json.loads(json.dumps(stored))
    if "json-patch" in step["contentType"]:
        return dict(apply_json_patch(made, step["body"]))
    return dict(apply_merge_patch(made, step["body"]))


@pytest.mark.parametrize(("crd", "stored", "step"), steps())
def test_writes(crd: Json, stored: Json | None, step: Json) -> None:
    before = None
    if step["method"] == "PATCH":
        assert stored is not None
        before = kind_of(crd, stored).prepare(stored).value
        body = patched(before, step)
    else:
        body = step["body"]
        body["metadata"].setdefault("namespace", "default")
    kind = kind_of(crd, body)
    made, dropped = kind.prepare(body)
    errors = kind.validate(made, before).errors
    want = step["want"]
    if want["code"] == 422:
        assert invalid_json(kind, made, errors) == want["body"]
        return
    assert errors == []
    assert made.get("spec") == want["body"]["spec"] or before is not None
    assert [one.text for one in dropped] == want["warnings"]


def invalid_json(kind: CustomKind, obj: Json, errors: list[FieldError]) -> Json:
    name = obj["metadata"]["name"]
    return invalid(GroupKind(kind.gvk.group, kind.gvk.kind), name, errors).status.to_json()
