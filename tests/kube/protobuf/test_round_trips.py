"""Every kind comes back from its bytes as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.kube import ApiVersionError, GroupVersionKind, parse_api_version
from celadon.kube.protobuf import decode, encode, has_message, kinds
from celadon.kube.schemas import DecodeError, round_trip
from tests.examples import examples
from tests.kube.protobuf.objects import objects
from tests.paths import recordings

KINDS = sorted(kinds())


@pytest.mark.thorough
@pytest.mark.parametrize("gvk", KINDS, ids=str)
def test_every_kind_comes_back(gvk: GroupVersionKind) -> None:
    @settings(max_examples=examples(4))
    @given(objects(gvk))
    def check(obj: dict[str, Any]) -> None:
        body = encode(obj)
        assert decode(body) == obj
        assert encode(decode(body)) == body

    check()


@pytest.mark.thorough
@given(st.sampled_from(KINDS).flatmap(objects))
def test_what_go_adds_is_not_seen(obj: dict[str, Any]) -> None:
    """The struct of the object, with all its zeros, comes back without them."""
    gvk = GroupVersionKind(*parse_api_version(obj["apiVersion"]), obj["kind"])
    completed = round_trip(obj, gvk)
    if completed is not None:
        assert decode(encode(completed)) == obj


def _objects_in(value: Any) -> Iterator[tuple[GroupVersionKind, Any]]:
    if isinstance(value, dict):
        api_version, kind = value.get("apiVersion"), value.get("kind")
        if isinstance(api_version, str) and isinstance(kind, str):
            try:
                yield GroupVersionKind(*parse_api_version(api_version), kind), value
            except ApiVersionError:
                return
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _objects_in(inner)


def _without_empty_lists(value: Any) -> Any:
    """Empty lists as null, which is what becomes of them on the wire, and no type in templates."""
    if isinstance(value, dict):
        return {key: _without_empty_lists(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_empty_lists(inner) for inner in value] or None
    return value


@pytest.mark.thorough
@pytest.mark.parametrize("folder", ["api", "clients", "defaulting", "tables", "watch"])
def test_recorded_objects_come_back(folder: str) -> None:
    """What a server stores and sends, in the form that Go's JSON gives it."""
    checked = 0
    for recording in recordings(folder):
        path = recording.values[0]
        if not isinstance(path, Path) or not path.exists():
            pytest.skip(f"no {path}")
        for gvk, obj in _objects_in(json.loads(path.read_text())):
            if not has_message(gvk):
                continue
            try:
                typed = round_trip(obj, gvk)
            except DecodeError:
                continue
            if typed is None:
                continue
            for claim in (typed.get("spec") or {}).get("volumeClaimTemplates") or ():
                claim.pop("apiVersion", None)  # messages do not say their kind
                claim.pop("kind", None)
            back = round_trip(decode(encode(typed)), gvk)
            assert back == _without_empty_lists(typed), path.name
            checked += 1
    assert checked > 20


def test_fields_are_written_by_number() -> None:
    """As Go writes them, though JSON has them in another order."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "c", "imagePullPolicy": "Always"}]},
    }
    policy = {"terminationMessagePolicy": "File", "imagePullPolicy": "Always"}
    container = {"name": "c", **policy}
    body = encode({**pod, "spec": {"containers": [container]}})
    assert body.index(b"Always") < body.index(b"File")  # 14 and 20
