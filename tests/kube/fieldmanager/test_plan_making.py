"""A plan makes of an object what merging, reading and defaulting all of it would make, or nothing.

Random configurations, as in `test_merged_parts`, each merged into several objects by one plan: what
a plan has put into one object may not change with the next.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import GroupVersionKind
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.fieldmanager.compiled_merge import EveryItem, Plan, Unplanned, merge_plan
from celadon.kube.fieldmanager.merge_types import type_of
from celadon.kube.fieldmanager.structured_merge import misfits
from celadon.kube.registry.decoded_object import changed_defaulting, drafted
from celadon.kube.schemas import DecodeError
from tests.kube.fieldmanager.random_configurations import LIVE, LIVE_KINDS, Json, configurations
from tests.kube.fieldmanager.test_merged_parts import from_scratch

POD = GroupVersionKind("", "v1", "Pod")


def planned(
    config: Json,
    kind: GroupVersionKind = POD,
    every: dict[tuple[str, ...], EveryItem] | None = None,
) -> Plan | None:
    defaulting = changed_defaulting(kind, DefaultingContext())
    config = {name: one for name, one in config.items() if name not in ("apiVersion", "kind")}
    if defaulting is None or misfits(type_of(kind, None), config):
        return None
    return merge_plan(type_of(kind, None), config, defaulting, every or {})


def tried(plan: Plan, live: Json) -> Json | None:
    before = copy.deepcopy(live)
    try:
        made: Json = plan(live)
    except Unplanned:
        return None
    finally:
        assert live == before, "the object before belongs to others"
    return made


@pytest.mark.parametrize("kind", LIVE_KINDS, ids=lambda kind: kind.kind)
@given(data=st.data())
def test_as_if_all_were_read_anew(kind: GroupVersionKind, data: st.DataObject) -> None:
    plan = planned(config := data.draw(configurations(kind)), kind)
    given = copy.deepcopy(config)
    if plan is None:
        return
    live = drafted(LIVE[kind], kind).form()
    seen = []
    for _ in range(3):
        made = tried(plan, live)
        if made is not None:
            assert made == from_scratch(live, config, kind)
            seen.append((made, copy.deepcopy(made)))
            assert tried(plan, made) in (None, from_scratch(made, config, kind))
        try:
            live = from_scratch(live, data.draw(configurations(kind)), kind)
        except DecodeError:
            break
    assert all(made == was for made, was in seen)
    assert config == given


def spec(**fields: Any) -> Json:
    return {"spec": fields}


def containers(**fields: Any) -> Json:
    return spec(containers=[{"name": "a", **fields}])


@pytest.mark.parametrize(
    "config",
    [
        {"metadata": {"labels": {"x": "y"}, "annotations": {"a": "b"}}},
        spec(priority=1, dnsPolicy="Default", enableServiceLinks=False, hostUsers=False),
        spec(hostname=""),
        spec(securityContext={}),
        spec(containers=[{"name": "new", "image": "new"}]),
        spec(containers=[{"name": "new", "ports": [{"containerPort": 80}]}]),
        spec(containers=[{"name": "b", "tty": False}, {"name": "new", "image": "x"}][:1]),
        spec(containers=[{"name": "a", "tty": True}, {"name": "b", "image": "x"}]),
        containers(imagePullPolicy="Always"),
        containers(env=[{"name": "E", "value": "1"}]),
        containers(env=[{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]),
        containers(ports=[{"containerPort": 80, "protocol": "TCP", "name": "http"}]),
        containers(ports=[{"containerPort": 81}, {"containerPort": 82, "protocol": "UDP"}]),
        containers(livenessProbe={"httpGet": {"path": "/x"}}),
        spec(volumes=[{"name": "w"}]),
        spec(volumes=[{"name": "w", "emptyDir": {}}]),
        spec(volumes=[{"name": "w", "secret": {"secretName": "s"}}]),
        spec(initContainers=[{"name": "i", "image": "x"}]),
    ],
    ids=str,
)
def test_what_has_a_plan(config: Json) -> None:
    plan = planned(config)
    assert plan is not None
    live = drafted(LIVE[POD], POD).form()
    made = tried(plan, live)
    assert made == from_scratch(live, config, POD)
    assert tried(plan, made) == from_scratch(made, config, POD)


@pytest.mark.parametrize(
    "config",
    [
        spec(hostNetwork=True),
        spec(serviceAccountName="s"),
        spec(terminationGracePeriodSeconds=-1),
        spec(restartPolicy=""),
        spec(resources={"limits": {"cpu": "1"}}),
        containers(imagePullPolicy=""),
        containers(resources={"limits": {"cpu": "1"}}),
        {"metadata": {"finalizers": ["x.io/a"]}},
        {"metadata": {"labels": {}}},
        {"status": {"phase": "Running"}},
        spec(priority=2**40),
    ],
    ids=str,
)
def test_what_may_have_consequences_has_none(config: Json) -> None:
    assert planned(config) is None


@pytest.mark.parametrize(
    ("config", "fields"),
    [
        (spec(initContainers=[{"name": "i", "image": "x"}]), {"hostNetwork": True}),
        (spec(priority=1), {"resources": {"limits": {"cpu": "1"}}}),
        (spec(containers=[{"name": "b"}, {"name": "a"}]), {}),
        (spec(containers=[{"name": "b"}, {"name": "new", "image": "x"}]), {}),
        (containers(env=[{"name": "E"}]), {"containers": [{"name": "a"}, {"name": "a"}]}),
    ],
    ids=str,
)
def test_objects_that_it_was_not_made_for(config: Json, fields: Json) -> None:
    live = drafted(LIVE[POD], POD).form()
    live["spec"].update(copy.deepcopy(fields))
    plan = planned(config)
    assert plan is not None
    assert tried(plan, live) is None


CONTAINERS = ("spec", "containers")


def every(most: int = 9, *copied: str) -> dict[tuple[str, ...], EveryItem]:
    return {CONTAINERS: EveryItem(frozenset(copied or ("name",)), most)}


@given(data=st.data())
def test_one_item_stands_for_all(data: st.DataObject) -> None:
    drawn = data.draw(configurations(POD)).get("spec", {}).get("containers")
    items = drawn or [{"name": "a"}]
    item = {**items[0], "name": "any"}
    plan = planned(spec(containers=[item]), POD, every())
    live = drafted(LIVE[POD], POD).form()
    try:
        live = from_scratch(live, data.draw(configurations(POD)), POD)
        alike = [{**item, "name": one["name"]} for one in live["spec"]["containers"]]
        wanted = from_scratch(live, spec(containers=alike), POD)
    except DecodeError:
        return
    assert plan is None or tried(plan, live) in (None, wanted)


@pytest.mark.parametrize(
    "item",
    [
        {"tty": True},
        {"env": [{"name": "E", "value": "1"}]},
        {"ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"}]},
    ],
    ids=str,
)
def test_every_item_is_set(item: Json) -> None:
    live = drafted(LIVE[POD], POD).form()
    plan = planned(containers(**item), POD, every())
    assert plan is not None
    wanted = spec(containers=[{"name": name, **item} for name in ("a", "b")])
    assert tried(plan, live) == from_scratch(live, wanted, POD)


@pytest.mark.parametrize(
    ("limits", "names"),
    [
        (every(1), ["a", "b"]),
        (every(), ["a", "a"]),
        (every(), ["a", ""]),
        (every(), ["a", 1]),
        (every(), []),
        (every(), None),
    ],
)
def test_lists_that_it_was_not_made_for(limits: Any, names: Any) -> None:
    live = drafted(LIVE[POD], POD).form()
    live["spec"]["containers"] = None if names is None else [{"name": one} for one in names]
    if names is None:
        del live["spec"]["containers"]
    plan = planned(containers(tty=True), POD, limits)
    assert plan is not None
    assert tried(plan, live) is None


def test_only_keys_may_be_copied_and_all_of_them() -> None:
    assert planned(containers(image="any"), POD, every(9, "name", "image")) is None
    assert planned(spec(priority=1), POD, every()) is None, "there is no such list"
    path: tuple[str, ...] = ("spec", "ports")
    ports = {path: EveryItem(frozenset({"port"}), 9)}
    service = GroupVersionKind("", "v1", "Service")
    assert planned(spec(ports=[{"port": 1, "name": "a"}]), service, ports) is None
