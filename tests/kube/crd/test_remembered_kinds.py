"""Definitions are compiled once, as long as their specs stay."""

from __future__ import annotations

from typing import Any

from celadon.kube import GroupVersionKind
from celadon.kube.crd import RememberedKinds

KIND = GroupVersionKind("x.io", "v1", "Widget")


def definition(name: str, kind: str = "Widget") -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    version = {"name": "v1", "served": True, "storage": True}
    return {
        "metadata": {"name": name},
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"plural": f"{kind.lower()}s", "kind": kind},
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def test_the_same_spec_is_the_same_kind() -> None:
    kinds = RememberedKinds("1.36")
    first = kinds.of([definition("widgets.x.io")])[KIND]
    again = kinds.of([definition("widgets.x.io"), definition("gears.x.io", "Gear")])
    assert again[KIND] is first
    assert again.keys() == {KIND, KIND._replace(kind="Gear")}


def test_what_is_gone_or_changed_is_made_anew() -> None:
    kinds = RememberedKinds("1.36")
    first = kinds.of([definition("widgets.x.io")])[KIND]
    assert kinds.of([]) == {}
    second = kinds.of([definition("widgets.x.io")])[KIND]
    assert second is not first
    changed = definition("widgets.x.io")
    changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {}
    assert kinds.of([changed])[KIND] is not second
