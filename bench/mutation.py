"""Twenty mutating policies of one configuration each, changing one Pod.

They do what such policies do: labels and annotations, a sidecar, environment variables of all
containers, ports, volumes and mounts, defaults that the author left out. Written by hand, the same
edits copy what they change and nothing else. Tolerations are not among them: they are an atomic
list, which a configuration may not touch.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from bench.measure import Call, side_by_side
from bench.objects import ACTIVATIONS
from celadon.admission import ObjectWorld, Operation, Request
from celadon.admission.policies.mutating import MutatingEngine
from celadon.admission.registration import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    decode_object,
)
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.fieldmanager import MutatedKinds
from celadon.kube.registry import create
from celadon.kube.resources import known_resources

Json = dict[str, Any]
R = TypeVar("R", MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding)

POD: Final = GroupVersionKind("", "v1", "Pod")

_NAMESPACE: Final = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}},
}


@dataclass(frozen=True, slots=True)
class Edit:
    """`by_hand` gives the changed object, and leaves the one given as it is."""

    name: str
    configuration: str
    by_hand: Callable[[Json], Json]


def _spec(configuration: str) -> str:
    return f"Object{{spec: Object.spec{{{configuration}}}}}"


def _metadata(configuration: str) -> str:
    return f"Object{{metadata: Object.metadata{{{configuration}}}}}"


def _each(configuration: str) -> str:
    """Of all containers."""
    item = f"Object.spec.containers{{name: c.name, {configuration}}}"
    return _spec(f"containers: object.spec.containers.map(c, {item})")


def _with_spec(pod: Json, **fields: Any) -> Json:
    return {**pod, "spec": {**pod["spec"], **fields}}


def _with_key(field: str, key: str, value: str) -> Callable[[Json], Json]:
    def edit(pod: Json) -> Json:
        meta = pod["metadata"]
        return {**pod, "metadata": {**meta, field: {**meta.get(field, {}), key: value}}}

    return edit


def _with_item(items: list[Json], item: Json) -> list[Json]:
    """Merged into the one of its name, or put behind the others."""
    for number, one in enumerate(items):
        if one["name"] == item["name"]:
            return [*items[:number], {**one, **item}, *items[number + 1 :]]
    return [*items, item]


def _each_with(field: str, item: Json) -> Callable[[Json], Json]:
    def edit(pod: Json) -> Json:
        containers = [
            {**one, field: _with_item(one.get(field, []), item)}
            for one in pod["spec"]["containers"]
        ]
        return _with_spec(pod, containers=containers)

    return edit


def _each_set(**fields: Any) -> Callable[[Json], Json]:
    return lambda pod: _with_spec(
        pod, containers=[{**one, **fields} for one in pod["spec"]["containers"]]
    )


def _with_entry(field: str, item: Json) -> Callable[[Json], Json]:
    return lambda pod: _with_spec(pod, **{field: _with_item(pod["spec"].get(field, []), item)})


def _label(key: str, value: str) -> Edit:
    configuration = _metadata(f"labels: {{'{key}': '{value}'}}")
    return Edit(f"label-{key}", configuration, _with_key("labels", key, value))


def _annotation(key: str, value: str) -> Edit:
    configuration = _metadata(f"annotations: {{'{key}': '{value}'}}")
    return Edit(f"annotation-{key}", configuration, _with_key("annotations", key, value))


def _variable(name: str, value: str) -> Edit:
    item = f"env: [Object.spec.containers.env{{name: '{name}', value: '{value}'}}]"
    by_hand = _each_with("env", {"name": name, "value": value})
    return Edit(f"env-{name.lower().replace('_', '-')}", _each(item), by_hand)


def _field(name: str, expression: str, value: Any) -> Edit:
    by_hand = functools.partial(_with_spec, **{name: value})
    return Edit(name.lower(), _spec(f"{name}: {expression}"), by_hand)


_PROXY: Final = {
    "name": "mesh",
    "image": "registry.example.com/mesh/proxy:1.2",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
}


_SIDECAR: Final = "name: 'mesh', image: 'registry.example.com/mesh/proxy:1.2'"
_CACHE: Final = "name: 'cache', emptyDir: Object.spec.volumes.emptyDir{}"
_PORT: Final = "name: 'debug', containerPort: 6060, protocol: 'TCP'"

EDITS: Final = (
    _label("cost-centre", "4711"),
    _label("team", "platform"),
    _label("tier", "web"),
    _label("managed-by", "platform"),
    _annotation("example.com-scrape", "true"),
    _annotation("example.com-owner", "platform@example.com"),
    Edit(
        "sidecar",
        _spec(f"containers: [Object.spec.containers{{{_SIDECAR}}}]"),
        _with_entry("containers", _PROXY),
    ),
    _variable("REGION", "eu-central-1"),
    _variable("LOG_LEVEL", "warning"),
    _variable("CLUSTER", "blue"),
    Edit(
        "image-pull-policy",
        _each("imagePullPolicy: 'Always'"),
        _each_set(imagePullPolicy="Always"),
    ),
    Edit(
        "termination-message",
        _each("terminationMessagePolicy: 'FallbackToLogsOnError'"),
        _each_set(terminationMessagePolicy="FallbackToLogsOnError"),
    ),
    Edit(
        "cache-volume",
        _spec(f"volumes: [Object.spec.volumes{{{_CACHE}}}]"),
        _with_entry("volumes", {"name": "cache", "emptyDir": {}}),
    ),
    _field("terminationGracePeriodSeconds", "45", 45),
    _field("enableServiceLinks", "false", value=False),
    _field("hostUsers", "false", value=False),
    _field("runtimeClassName", "'gvisor'", "gvisor"),
    _field("dnsPolicy", "'Default'", "Default"),
    _field("schedulerName", "'batch'", "batch"),
    Edit(
        "debug-port",
        _each(f"ports: [Object.spec.containers.ports{{{_PORT}}}]"),
        _each_with("ports", {"name": "debug", "containerPort": 6060, "protocol": "TCP"}),
    ),
)


def engine() -> MutatingEngine:
    """With a policy for each of EDITS, bound to everything."""
    return MutatingEngine(
        [_decoded(_policy(edit), MutatingAdmissionPolicy) for edit in EDITS],
        [_decoded(_binding(edit), MutatingAdmissionPolicyBinding) for edit in EDITS],
    ).prepare()


def _decoded(document: Json, kind: type[R]) -> R:
    found = decode_object(document, kind.__name__).value
    assert isinstance(found, kind)
    return found


def _policy(edit: Edit) -> Json:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    applied = {"expression": edit.configuration}
    return {
        "metadata": {"name": edit.name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": applied}],
        },
    }


def _binding(edit: Edit) -> Json:
    return {"metadata": {"name": edit.name}, "spec": {"policyName": edit.name}}


def request() -> Request:
    """The creation of the Pod, as the plugins have left it."""
    pod = create.admit_form(ACTIVATIONS["Pod"][0]["object"], POD)
    resource = GroupVersionResource("", "v1", "pods")
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    return Request(Operation.CREATE, POD, resource, name=name, namespace=namespace, object=pod)


def world() -> ObjectWorld:
    """With the namespace of the Pod."""
    return ObjectWorld([_NAMESPACE], catalog=known_resources())


def changed(engine: MutatingEngine, world: ObjectWorld, asked: Request) -> Json:
    """What the policies make of it."""
    made = engine.rounds(world, MutatedKinds()).run(asked, 0)
    return dict(made or {})


def changed_by_hand(pod: Json) -> Json:
    """The same."""
    for edit in sorted(EDITS, key=lambda one: one.name):
        pod = edit.by_hand(pod)
    return pod


def mutation_seconds() -> tuple[float, float]:
    """All twenty on one Pod: by policies, and by hand."""
    judge, looked_up, asked = engine(), world(), request()
    pod = dict(asked.object or {})
    timings = side_by_side(
        {
            "policies": Call(lambda: changed(judge, looked_up, asked)),
            "by hand": Call(changed_by_hand, (pod,)),
        }
    )
    return min(timings.rounds["policies"]), min(timings.rounds["by hand"])


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(prog="python -m bench.mutation", description=__doc__).parse_args()
    policies, by_hand = mutation_seconds()
    sys.stdout.write(f"{policies * 1e6:.1f} µs, by hand {by_hand * 1e6:.1f} µs\n")


if __name__ == "__main__":
    main()
