"""A new object that is said to be settled is what would be read back if it was stored."""

from __future__ import annotations

import contextlib
import copy
import random
from typing import Any, Final

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.defaulting.dropped_fields import outlasts_creation
from celadon.kube.json_types import compact, have_same_bytes
from celadon.kube.names import GroupVersionKind, parse_api_version
from celadon.kube.protobuf import in_message_order
from celadon.kube.registry.create import finish_create, is_settled, run_plugin, wipe_metadata
from celadon.kube.registry.decoded_object import (
    Draft,
    Target,
    drafted,
    stored_form,
    without_link,
)
from celadon.kube.registry.patch import reads_back
from celadon.kube.registry.patches import apply_merge_patch
from celadon.kube.registry.update import prepare_for_update, stored_update
from celadon.kube.resources.api_resources import known_resources
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.schema_packs import component_name, raw_ways
from celadon.kube.schemas.struct_decoding import struct_codec
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.status import StatusError

CONTEXT: Final = DefaultingContext(now="2026-01-01T00:00:00Z", uid="U")
DEEPEST: Final = 7
SCALARS: Final[dict[str, tuple[Any, ...]]] = {
    "s": ("", "a", "LoadBalancer"), "y": ("", "YQ=="), "b": (True, False), "i": (0, 1, -1),
    "l": (0, 1, 2), "d": (0, 1),
}  # fmt: skip
SPECIAL: Final[dict[str, tuple[Any, ...]]] = {
    schema_packs.QUANTITY: ("1", "100m", "0", 2),
    schema_packs.INT_OR_STRING: (0, 1, "25%"),
    schema_packs.TIME: ("2026-01-01T00:00:00Z",),
    schema_packs.MICRO_TIME: ("2026-01-01T00:00:00.000000Z",),
    schema_packs.RAW_EXTENSION: ({"a": []},),
    schema_packs.FIELDS_V1: ({"f:a": {}},),
}
DEPLOYMENT: Final = GroupVersionKind("apps", "v1", "Deployment")
KINDS: Final = sorted(
    GroupVersionKind(*parse_api_version(name.rpartition("/")[0]), name.rpartition("/")[2])
    for name in schema_packs.load("defaults")["kinds"]
)


def _value(node: Any, chance: random.Random, depth: int) -> Any:
    if isinstance(node, dict) and "ref" in node:
        if node["ref"] in SPECIAL:
            return chance.choice(SPECIAL[node["ref"]])
        return _struct(node["ref"], chance, depth)
    if isinstance(node, dict) and "items" in node:
        return [
            _value(node["items"], chance, depth + 1) for _ in range(chance.choice((0, 1, 1, 2)))
        ]
    if isinstance(node, dict) and "values" in node:
        count = chance.choice((0, 1, 1, 2))
        return {f"k{n}": _value(node["values"], chance, depth + 1) for n in range(count)}
    return chance.choice(SCALARS[node if isinstance(node, str) else node["type"]])


def _struct(name: str, chance: random.Random, depth: int) -> dict[str, Any]:
    nodes = struct_codec(name).field_nodes
    share = 0.0 if depth > DEEPEST else chance.choice((0.1, 0.3, 0.6))
    chosen = (key for key in nodes if chance.random() < share or (not depth and key == "spec"))
    return {key: _value(nodes[key], chance, depth + 1) for key in chosen}


def _created(obj: dict[str, Any], kind: GroupVersionKind) -> Draft:
    draft = drafted(obj, kind, CONTEXT)
    wipe_metadata(draft, "ns")
    finish_create(draft)
    return draft


DROPPED_DEFAULTS = {"PodGroup"}
"""Kinds that have a default for a field whose gate is off."""


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_is_settled_is_read_back_as_it_is(kind: GroupVersionKind) -> None:
    name, chance = component_name(kind), random.Random(str(kind))
    assert name is not None
    drafts = []
    for _ in range(40):
        obj = _struct(name, chance, 0)
        obj.pop("status", None)
        # A Service is refused for addresses that are none before anything else is looked at.
        with contextlib.suppress(StatusError):
            drafts.append(_created(obj, kind))
    settled = [draft for draft in drafts if is_settled(draft)]
    for draft in settled:
        # Services are changed by the store once more, raw JSON is no plain JSON.
        if kind.kind != "Service" and not raw_ways(kind):
            assert reads_back(in_message_order(draft.decoded), kind, CONTEXT)
        assert stored_form(copy.deepcopy(draft.decoded), kind, CONTEXT) == draft.decoded
    lasts = outlasts_creation(kind, drafts[0].run.gates)
    assert bool(settled) == (lasts and kind.kind not in DROPPED_DEFAULTS)


@pytest.mark.parametrize(
    ("kind", "lasts"),
    [
        ("ConfigMap", True),
        # a function of the whole object could find something to do
        ("Secret", False),
    ],
)
def test_defaults_that_look_at_the_whole_object_do_not_last(kind: str, lasts: bool) -> None:
    assert outlasts_creation(GroupVersionKind("", "v1", kind), frozenset()) is lasts


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("subresource", ["", "status"])
def test_what_a_change_leaves_settled_is_read_back_as_it_is(
    kind: GroupVersionKind, subresource: str
) -> None:
    name, chance = component_name(kind), random.Random(f"{kind} {subresource}")
    resource = known_resources(all_versions=True).by_gvk(kind)
    if name is None or resource is None or (subresource and not resource.kind_of(subresource)):
        return  # nobody changes it there
    has_settled = False
    for _ in range(40):
        with contextlib.suppress(StatusError):
            old = stored_form(_created(_struct(name, chance, 0), kind).decoded, kind, CONTEXT)
            if "status" in struct_codec(name).field_nodes:
                old = stored_form({**old, **_part(name, "status", chance)}, kind, CONTEXT)
            draft = drafted(_struct(name, chance, 0), kind, CONTEXT)
            made = prepare_for_update(draft, old, subresource=subresource)
            kept = stored_update(draft, made, old, Target(resource, "ns", "a", subresource))
            has_settled |= kept is made
            read_back = stored_form(made, kind, CONTEXT)
            assert kept == without_link({**read_back, **_type_of(kind)})
    assert has_settled or kind != DEPLOYMENT


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_patched_object_is_read_beside_the_stored_one_as_it_is_alone(
    kind: GroupVersionKind,
) -> None:
    name, chance = component_name(kind), random.Random(f"{kind} patched")
    resource = known_resources(all_versions=True).by_gvk(kind)
    if name is None or resource is None:
        return  # nobody patches it
    if raw_ways(kind):
        return  # all of it is read, see `_reads_back` of the handlers of writes
    has_shared = False
    for _ in range(40):
        with contextlib.suppress(StatusError):
            obj = stored_form(_created(_struct(name, chance, 0), kind).decoded, kind, CONTEXT)
            old = in_message_order({**obj, **_type_of(kind)})
            if not reads_back(old, kind, CONTEXT):
                continue
            patch = _struct(name, chance, 2) if chance.random() < 0.5 else _within(old, chance)
            patched, before = apply_merge_patch(old, patch), copy.deepcopy(old)
            beside, alone = _read(patched, kind, old), _read(patched, kind, None)
            if isinstance(beside, str) or isinstance(alone, str):
                assert beside == alone
                continue
            has_shared |= bool(beside.run.shared)
            assert beside.is_exact == alone.is_exact
            assert list(beside.run.empties) == list(alone.run.empties)
            target = Target(resource, "ns", "a")
            assert _written(beside, old, target) == _written(alone, old, target)
            assert have_same_bytes(old, before)
    assert has_shared or kind != DEPLOYMENT


def _read(
    obj: dict[str, Any], kind: GroupVersionKind, stored: dict[str, Any] | None
) -> Draft | str:
    try:
        return drafted(obj, kind, CONTEXT, stored)
    except DecodeError as error:
        return str(error)


def _within(obj: Any, chance: random.Random) -> Any:
    """A merge patch that changes or removes something at a random place of an object."""
    if not isinstance(obj, dict) or not obj or chance.random() < 0.1:
        return chance.choice((None, obj, "other"))
    key = chance.choice(sorted(obj))
    return {key: _within(obj[key], chance)}


def _written(draft: Draft, old: dict[str, Any], target: Target) -> bytes | str:
    draft.complete()
    try:
        made = prepare_for_update(draft, old)
        kept = stored_update(draft, made, old, target)
    except StatusError as error:
        return str(error)
    stored = in_message_order(kept, draft.run.shared)
    assert kept is not made or reads_back(stored, draft.gvk, CONTEXT)
    return compact(stored)


def _part(name: str, field: str, chance: random.Random) -> dict[str, Any]:
    return {field: _value(struct_codec(name).field_nodes[field], chance, 1)}


def _type_of(kind: GroupVersionKind) -> dict[str, Any]:
    return {"apiVersion": kind.api_version, "kind": kind.kind}


def _deployment(**pod_spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c"}], **pod_spec}}}}


SETTLED: dict[str, tuple[dict[str, Any], bool]] = {
    "plain": (_deployment(), True),
    "an empty list that nobody keeps": (_deployment(tolerations=[]), False),
    "an empty map in a pointer": ({"spec": {"selector": {"matchLabels": {}}}}, False),
    "an unknown field": (_deployment(wrong=1), False),
    "a field that is not enabled": (_deployment(schedulingGroup={"podGroupName": "g"}), False),
    "a signal that is not enabled": (
        _deployment(containers=[{"name": "c", "lifecycle": {"stopSignal": "SIGTERM"}}]), False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTLED)
def test_settled(name: str) -> None:
    obj, want = SETTLED[name]
    assert is_settled(_created(obj, DEPLOYMENT)) is want


def test_plugins_unsettle() -> None:
    draft = drafted(_deployment(), DEPLOYMENT, CONTEXT)
    run_plugin(draft, "LimitRanger")
    assert not is_settled(draft)


def test_an_empty_list_that_is_kept_unsettles() -> None:
    """`containers` is always written, so that an empty list stays until it is stored."""
    assert not is_settled(_created(_deployment(containers=[]), DEPLOYMENT))
