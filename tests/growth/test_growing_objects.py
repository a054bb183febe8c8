"""Lists that are twice as long take twice as many steps, and not four times as many."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from celadon.apiserver.controllers.system_objects import aggregated_rules
from celadon.kube import fieldpath
from celadon.kube.crd.cel_values import Unknown
from celadon.kube.crd.openapi_validation import value_errors
from celadon.kube.fieldpath import MOST_ERROR_TEXT, FieldPath, as_many_as_fit
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.validation import validate_create, validate_update
from celadon.kube.validation.pods.internal_types import MOST_COMPARED, pod_spec_diff
from tests.growth.counted_steps import LINEAR, Text, growth, steps_of
from tests.growth.grown_objects import grown, places

Json = dict[str, Any]
POD = GroupVersionKind("", "v1", "Pod")
NODE = GroupVersionKind("", "v1", "Node")
CSI_NODE = GroupVersionKind("storage.k8s.io", "v1", "CSINode")
META = {"name": "a", "namespace": "default"}


def pod(spec: Json, **meta: Any) -> Json:
    containers = [{"name": "a", "image": "b"}]
    return {"metadata": {**META, **meta}, "spec": {"containers": containers, **spec}}


def tolerating(count: int) -> Json:
    tolerations = [{"key": Text(f"k{number}"), "operator": "Exists"} for number in range(count)]
    return pod({"tolerations": tolerations})


def owned(count: int) -> Json:
    owners = [
        {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": f"{number}", "controller": True}
        for number in range(count)
    ]
    return pod({}, ownerReferences=owners)


def claiming(count: int) -> Json:
    claims = [
        part
        for number in range(count)
        for part in (
            {"name": f"a/{number}/b", "request": Text("r")},
            {"name": Text(f"a/{number}/c")},
        )
    ]
    container = {"name": "a", "image": "b", "resources": {"claims": claims}}
    return pod({"containers": [container]})


def addressed(count: int) -> Json:
    addresses = [
        {"type": Text("Hostname"), "address": Text(f"{number}")} for number in range(count)
    ]
    return {"metadata": {"name": "a"}, "status": {"addresses": addresses}}


def driven(count: int) -> Json:
    drivers = [{"name": Text(f"d{number}"), "nodeID": f"{number}"} for number in range(count)]
    return {"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"drivers": drivers}}


def created(kind: GroupVersionKind, make: Callable[[int], Json]) -> Callable[[int], Any]:
    def prepared(count: int) -> Callable[[], object]:
        obj = make(count)
        return lambda: validate_create(obj, kind)

    return prepared


def updated(kind: GroupVersionKind, make: Callable[[int], Json]) -> Callable[[int], Any]:
    def prepared(count: int) -> Callable[[], object]:
        obj, old = make(count), make(count)
        return lambda: validate_update(obj, old, kind)

    return prepared


def aggregating(count: int) -> Callable[[], object]:
    """Two roles have all the rules."""
    rules = [{"apiGroups": [Text("")], "resources": [Text(f"r{n}")]} for n in range(count)]
    again = [{"apiGroups": [Text("")], "resources": [Text(f"r{n}")]} for n in range(count)]
    roles = [
        {"metadata": {"name": name, "labels": {"a": "b"}}, "rules": found}
        for name, found in (("b", rules), ("c", again))
    ]
    selectors = [{"matchLabels": {"a": "b"}}]
    role = {"metadata": {"name": "a"}, "aggregationRule": {"clusterRoleSelectors": selectors}}
    return lambda: aggregated_rules(role, [role, *roles])


CASES: list[tuple[str, Callable[[int], Any]]] = [
    ("tolerations that stay", updated(POD, tolerating)),
    ("owners that all control", created(POD, owned)),
    ("claims with slashes", created(POD, claiming)),
    ("addresses of a node", updated(NODE, addressed)),
    ("drivers of a node", updated(CSI_NODE, driven)),
    ("rules of aggregated roles", aggregating),
]


@pytest.mark.parametrize("work", [row[1] for row in CASES], ids=[row[0] for row in CASES])
def test_steps_grow_with_the_list(work: Callable[[int], Any]) -> None:
    assert growth(work, 40) < LINEAR


def test_what_compares_each_with_each_is_noticed() -> None:
    def quadratic(count: int) -> Callable[[], object]:
        texts = [Text(f"{number}") for number in range(count)]
        return lambda: [text for text in texts if texts.count(text) > 1]

    assert growth(quadratic, 40) > 3.5


def test_claims_below_a_claim_with_a_slash() -> None:
    used = [
        {"name": "a/b", "request": "x"},
        {"name": "a/b", "request": "y"},
        {"name": "a/bc", "request": "z"},
        {"name": "a/b"},
    ]
    container = {"name": "a", "image": "b", "resources": {"claims": used}}
    errors = validate_create(pod({"containers": [container]}), POD)
    last = "spec.containers[0].resources.claims[3]"
    repeated = [error for error in errors if error.field == last and "Duplicate" in error.body]
    assert len(repeated) == 2


def test_errors_that_no_refusal_shows_are_not_looked_for() -> None:
    endless = (fieldpath.duplicate(FieldPath("a"), "b" * 4_000) for _ in itertools.count())
    found = as_many_as_fit(endless)
    size = sum(len(error.field) + len(error.body) for error in found)
    assert MOST_ERROR_TEXT < size < MOST_ERROR_TEXT + 5_000


def test_values_are_not_compared_with_each_of_an_enum() -> None:
    """Nor are all choices written anew for each value that is none of them."""

    def work(count: int) -> Callable[[], Any]:
        names = [f"n{number}" for number in range(count)]
        schema = decode_schema({"items": {"enum": [*names, 1, None, [names]]}})
        return lambda: value_errors([*names, *["other"] * count], schema, Unknown())

    assert len(work(100)()) == 100
    assert growth(work, 100) < LINEAR


def test_topologies_that_repeat_each_other() -> None:
    """Each is one repetition of each before it: 4,000 are eight million."""
    term = {"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}
    obj = {"metadata": {"name": "a"}, "provisioner": "p", "allowedTopologies": [term] * 4_000}
    kind = GroupVersionKind("storage.k8s.io", "v1", "StorageClass")
    assert len(validate_create(obj, kind)) < 100_000


def test_a_long_difference_is_one_hunk() -> None:
    keys = [{"key": f"k{number}"} for number in range(MOST_COMPARED)]
    other = [*keys[:5_000], {"key": "new"}, *keys[5_001:]]
    shown = pod_spec_diff({"tolerations": keys}, {"tolerations": other}).splitlines()
    assert shown[0].startswith("@@ -")
    assert [line.strip(' ,"') for line in shown[1:]] == ['-   "Key": "k5000', '+   "Key": "new']


def test_every_list_of_every_kind_can_be_grown() -> None:
    """The command that measures them all goes by what is made here."""
    names = set()
    for place in places():
        obj = grown(place, 3, distinct=True, depth=1)
        assert obj["kind"] == place.resource.gvk.kind
        names.add(str(place))
    assert "/v1 Pod spec.containers.0.ports" in names
    assert len(names) > 300


def test_amounts_of_a_million_digits_of_devices() -> None:
    amount = "1" * 100_000
    policy = {"default": amount, "validValues": [amount]}
    device = {"name": "a", "capacity": {"c": {"value": amount, "requestPolicy": policy}}}
    spec = {"driver": "d", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}}
    obj = {"metadata": {"name": "a"}, "spec": {**spec, "devices": [device]}}
    kind = GroupVersionKind("resource.k8s.io", "v1", "ResourceSlice")
    assert steps_of(lambda: validate_create(obj, kind)) < 1_000_000
