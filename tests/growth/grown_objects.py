"""Objects of every built-in kind in which one list or map has as many items as was asked for.

The schemas say which lists and maps there are. An object begins with a valid one where this module
knows one (`BASES`), so that what is validated last is reached, too. Everything on the way to the
list is filled with what is required of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.resources import Resource, known_resources
from celadon.kube.schemas import Schema, resolved, schema_for
from celadon.kube.schemas.schema_packs import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME

Json = dict[str, Any]

_POD: Final[Json] = {"containers": [{"name": "a", "image": "b"}]}
_LABELS: Final[Json] = {"app": "a"}
_TEMPLATE: Final[Json] = {"metadata": {"labels": _LABELS}, "spec": _POD}
_WORKLOAD: Final[Json] = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_JOB: Final[Json] = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}
_SCALED: Final[Json] = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
_RULE: Final[Json] = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
    "operations": ["CREATE"],
}
_HOOK: Final[Json] = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://example.com"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
_BACKEND: Final[Json] = {"service": {"name": "a", "port": {"number": 80}}}
_CONSTRAINTS: Final[Json] = {"resourceRules": [{"resourceNames": [], **_RULE}]}
_MATCHED: Final[Json] = {"policyName": "a", "validationActions": ["Deny"]}

BASES: Final[dict[str, Json]] = {
    "Pod": {"spec": _POD},
    "PodTemplate": {"template": _TEMPLATE},
    "ReplicationController": {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    "Deployment": {"spec": _WORKLOAD},
    "ReplicaSet": {"spec": _WORKLOAD},
    "DaemonSet": {"spec": _WORKLOAD},
    "StatefulSet": {"spec": {**_WORKLOAD, "serviceName": "a"}},
    "Job": {"spec": _JOB},
    "CronJob": {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": _JOB}}},
    "Service": {"spec": {"ports": [{"port": 80}]}},
    "Ingress": {"spec": {"defaultBackend": _BACKEND}},
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "HorizontalPodAutoscaler": {"spec": {"scaleTargetRef": _SCALED, "maxReplicas": 3}},
    "PersistentVolumeClaim": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
    },
    "PersistentVolume": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/a"},
        }
    },
    "ValidatingAdmissionPolicy": {
        "spec": {"matchConstraints": _CONSTRAINTS, "validations": [{"expression": "true"}]}
    },
    "MutatingAdmissionPolicy": {
        "spec": {
            "matchConstraints": _CONSTRAINTS,
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {"expression": "[]"},
                }
            ],
        }
    },
    "ValidatingAdmissionPolicyBinding": {"spec": _MATCHED},
    "MutatingAdmissionPolicyBinding": {"spec": {"policyName": "a"}},
    "ValidatingWebhookConfiguration": {"webhooks": [_HOOK]},
    "MutatingWebhookConfiguration": {"webhooks": [_HOOK]},
    "ClusterRole": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "Role": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "RoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    },
    "ClusterRoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    },
    "CustomResourceDefinition": {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    },
    "APIService": {
        "metadata": {"name": "v1.a.example.com"},
        "spec": {
            "group": "a.example.com",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": "a", "namespace": "default"},
            "insecureSkipTLSVerify": True,
        },
    },
    "FlowSchema": {
        "spec": {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 100}
    },
    "StorageClass": {"provisioner": "example.com/a"},
    "CSINode": {"spec": {"drivers": []}},
    "CSIDriver": {"spec": {}},
    "IngressClass": {"spec": {"controller": "example.com/a"}},
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]},
    "PodDisruptionBudget": {"spec": {"minAvailable": 1}},
    "PriorityClass": {"value": 1},
    "RuntimeClass": {"handler": "a"},
    "ControllerRevision": {"revision": 1, "data": {}},
    "Event": {
        "metadata": {"name": "a", "namespace": "default"},
        "involvedObject": {"namespace": "default"},
    },
}
"""By kind: what a server takes, without names. Other kinds begin empty."""


@dataclass(frozen=True, slots=True)
class Place:
    """A list or a map in the objects of a kind. Steps into lists are `0`."""

    resource: Resource
    steps: tuple[str, ...]
    schema: Schema

    def __str__(self) -> str:
        kind = self.resource.gvk
        return f"{kind.group}/{kind.version} {kind.kind} {'.'.join(self.steps)}"


def places(*, every_mention: bool = False) -> Iterator[Place]:
    """All lists and maps of the built-in kinds that can be created. A list of a component is given
    once, in the first kind that has the component, unless `every_mention` is set."""
    seen: set[tuple[str, str]] = set()
    for resource in sorted(known_resources().resources, key=_rank):
        schema = schema_for(resource.gvk)
        if schema is not None and "create" in resource.verbs:
            yield from _places(resource, schema, (), frozenset(), None if every_mention else seen)


def _rank(resource: Resource) -> tuple[bool, bool]:
    """Pods come first, and then what can be stored and read again."""
    return resource.gvk.kind != "Pod", "get" not in resource.verbs


def _places(
    resource: Resource,
    schema: Schema,
    steps: tuple[str, ...],
    above: frozenset[str],
    seen: set[tuple[str, str]] | None,
) -> Iterator[Place]:
    known = resolved(schema)
    if known.name and known.name in above:
        return
    above |= {known.name} if known.name else set()
    for name, field in known.properties.items():
        if not steps and name in {"apiVersion", "kind"}:
            continue
        node, path = field, (*steps, name)
        if known.name and seen is not None:
            key = known.name, name
            if key in seen:
                continue
            seen.add(key)
        while node.items is not None or node.additional_properties is not None:
            yield Place(resource, path, node)
            if node.items is not None:
                node, path = node.items, (*path, "0")
            else:
                assert node.additional_properties is not None
                node, path = node.additional_properties, (*path, "k0")
        yield from _places(resource, node, path, above, seen)


# --- Values ---

Text = Callable[[int], str]

NAMES: Final[dict[str, Text]] = {
    "ip": lambda number: f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
    "mountPath": lambda number: f"/m{number}",
    "devicePath": lambda number: f"/d{number}",
    "path": lambda number: f"p{number}",
    "protocol": lambda number: "TCP",
    "apiVersion": lambda number: "v1",
    "kind": lambda number: "Pod",
    "addresses": lambda number: f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
    "operator": lambda number: "In",
    "topologyKey": lambda number: f"k{number}",
    "key": lambda number: f"k{number}",
    "cidr": lambda number: f"10.{number >> 8 & 255}.{number & 255}.0/24",
    "expression": lambda number: f"{number} == 0",
    "url": lambda number: f"https://example.com/{number}",
    "host": lambda number: f"a{number}.example.com",
    "hosts": lambda number: f"a{number}.example.com",
    "finalizers": lambda number: f"example.com/f{number}",
    "operations": lambda number: "CREATE",
    "apiGroups": lambda number: f"g{number}.example.com",
    "driver": lambda number: f"d{number}.example.com",
    "fieldsType": lambda number: "FieldsV1",
    "operation": lambda number: "Update",
    "status": lambda number: "True",
}
"""Texts that are valid in fields of that name, mostly."""


def scalar(schema: Schema, name: str, number: int) -> Any:
    """A value of that type, another one for each number."""
    known = resolved(schema)
    if known.enum:
        return known.enum[number % len(known.enum)]
    if known.name == QUANTITY:
        return str(number + 1)
    if known.name == INT_OR_STRING or known.int_or_string:
        return number % 65_000 + 1
    if known.name in {TIME, MICRO_TIME} or known.format == "date-time":
        return "2026-01-01T00:00:00Z"
    if known.type in {"integer", "number"}:
        return number % 65_000 + 1
    if known.type == "boolean":
        return True
    if known.format == "byte":
        return "YQ=="
    text = NAMES.get(name)
    return f"a{number}" if text is None else text(number)


def value(schema: Schema, name: str, number: int, depth: int) -> Any:
    """A value with what is required in it, and `depth` levels with everything."""
    known = resolved(schema)
    if known.properties:
        members = known.properties.items()
        return {
            key: value(field, key, number, depth - 1)
            for key, field in members
            if key in known.required or (depth > 0 and field.items is None)
        }
    if known.items is not None:
        return [value(known.items, name, number, depth - 1)]
    if known.additional_properties is not None:
        return {f"k{number}": value(known.additional_properties, name, number, depth - 1)}
    if known.preserve_unknown or known.type == "object":
        return {}
    return scalar(known, name, number)


KEYS: Final = ("name", "key", "containerPort", "port", "ip", "type", "topologyKey", "uid", "claim")


def item(schema: Schema, name: str, number: int, depth: int) -> Any:
    """As `value`; an object also has what commonly tells one from others."""
    made = value(schema, name, number, depth)
    known = resolved(schema)
    if isinstance(made, dict) and known.properties:
        for key in KEYS:
            if key in known.properties and not resolved(known.properties[key]).properties:
                made.setdefault(key, value(known.properties[key], key, number, 0))
    return made


def grown(place: Place, count: int, *, distinct: bool, depth: int = 0) -> Json:
    """An object whose list or map has so many items."""
    gvk = place.resource.gvk
    made: Json = copy.deepcopy(BASES.get(gvk.kind, {}))
    made |= {"apiVersion": _api_version(gvk), "kind": gvk.kind}
    made.setdefault("metadata", {}).setdefault("name", "a")
    schema = schema_for(gvk)
    assert schema is not None
    for key in schema.required:
        made.setdefault(key, value(schema.properties[key], key, 0, 0))
    name = [step for step in place.steps if step not in {"0", "k0"}][-1]
    numbers = range(count) if distinct else [0] * count
    if place.schema.items is not None:
        inner = place.schema.items
        if distinct:
            items: Any = [item(inner, name, number, depth) for number in numbers]
        else:
            items = [item(inner, name, 0, depth)] * count
    else:
        assert place.schema.additional_properties is not None
        inner = place.schema.additional_properties
        items = {f"k{number}": item(inner, name, number, depth) for number in range(count)}
    _put(made, schema, place.steps, items)
    return made


def _put(made: Any, schema: Schema, steps: tuple[str, ...], items: Any) -> None:
    """Sets what is at the steps, and makes what is on the way."""
    here, node = made, resolved(schema)
    for index, step in enumerate(steps):
        is_last = index == len(steps) - 1
        key: Any = 0 if step == "0" and isinstance(here, list) else step
        below = (
            node.items
            if isinstance(here, list)
            else node.properties.get(step, node.additional_properties)
        )
        assert below is not None
        if is_last:
            here[key] = items
            return
        if isinstance(here, list):
            if not here:
                here.append(item(below, "", 0, 0))
        elif here.get(key) is None or here[key] in ([], {}):
            here[key] = _empty(below, step)
        here, node = here[key], resolved(below)


def _empty(schema: Schema, name: str) -> Any:
    known = resolved(schema)
    if known.items is not None:
        return [item(known.items, name, 0, 0)]
    if known.additional_properties is not None:
        return {"k0": item(known.additional_properties, name, 0, 0)}
    return item(known, name, 0, 0)


def _api_version(gvk: GroupVersionKind) -> str:
    return f"{gvk.group}/{gvk.version}" if gvk.group else gvk.version
