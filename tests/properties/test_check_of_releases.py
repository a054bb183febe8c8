"""What `celadon check --kubernetes-version A,B` calls different is what two servers, one of each
release, decide differently.

An object is drawn (an ordinary one with a few random fields, a random one of any kind, or one with
a field that only one of the releases has) and two releases. Servers in process of both are asked to
create it, without keeping it. They decide differently if one refuses and the other does not, if
what they say or warn of is not the same, or if they would store other fields.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import itertools
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from celadon.apiserver.api_settings import Settings
from celadon.cli.check.upgrade_report import field_changes
from celadon.cli.main import main
from celadon.kube import GroupVersionKind, metadata
from celadon.kube.protobuf import MessageField, message_fields, message_of
from celadon.kube.releases import answering_as, per_release
from celadon.kube.resources import Resource, known_resources
from tests.apiserver.asking import ask, make, warnings
from tests.apiserver.in_process import Running
from tests.kube.protobuf import objects as random_objects
from tests.properties.test_check_is_serve import objects as ordinary_objects

Json = dict[str, Any]

RELEASES: Final = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")
PAIRS: Final = tuple(itertools.combinations(RELEASES, 2))
NAMESPACE: Final = "calm"
QUERY: Final = "?dryRun=All&fieldManager=kubectl-create&fieldValidation=Strict"
OF_A_SERVER: Final = ("uid", "creationTimestamp", "resourceVersion", "managedFields", "generation")
BY_CHANCE: Final = {"Service": ("clusterIP", "clusterIPs", "healthCheckNodePort", "ports")}
"""Fields that an allocator fills."""
SPECS: Final = {
    "Pod": "core.v1.PodSpec",
    "Service": "core.v1.ServiceSpec",
    "PersistentVolumeClaim": "core.v1.PersistentVolumeClaimSpec",
}

_POD: Final = {"containers": [{"name": "c", "image": "example.com/c:1"}]}
_LABELS: Final = {"app": "a"}
_TEMPLATE: Final = {"metadata": {"labels": _LABELS}, "spec": _POD}
_WORKLOAD: Final = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_JOB: Final = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}
_REQUEST: Final = {
    "name": "r",
    "deviceClassName": "c.example.com",
    "exactly": {"deviceClassName": "c"},
}
_RULE: Final = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
}
GOOD: Final[dict[str, Json]] = {
    "Pod": {"spec": _POD},
    "PodTemplate": {"template": _TEMPLATE},
    "ReplicationController": {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    "Deployment": {"spec": _WORKLOAD},
    "ReplicaSet": {"spec": _WORKLOAD},
    "DaemonSet": {"spec": _WORKLOAD},
    "StatefulSet": {"spec": {**_WORKLOAD, "serviceName": "s"}},
    "Job": {"spec": _JOB},
    "CronJob": {"spec": {"schedule": "1 * * * *", "jobTemplate": {"spec": _JOB}}},
    "Service": {"spec": {"ports": [{"port": 80}]}},
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
            "hostPath": {"path": "/x"},
        }
    },
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]},
    "HorizontalPodAutoscaler": {
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        }
    },
    "PodDisruptionBudget": {"spec": {"selector": {"matchLabels": _LABELS}}},
    "CSIDriver": {"spec": {}},
    "StorageClass": {"provisioner": "example.com/p"},
    "ResourceClaim": {"spec": {"devices": {"requests": [_REQUEST]}}},
    "ResourceClaimTemplate": {"spec": {"spec": {"devices": {"requests": [_REQUEST]}}}},
    "ResourceSlice": {
        "spec": {
            "driver": "d.example.com",
            "nodeName": "n",
            "pool": {"name": "n", "resourceSliceCount": 1},
            "devices": [{"name": "d", "basic": {}}],
        }
    },
    "ValidatingAdmissionPolicy": {
        "spec": {
            "matchConstraints": {"resourceRules": [_RULE]},
            "validations": [{"expression": "true"}],
        }
    },
    "Lease": {"spec": {"holderIdentity": "h", "leaseDurationSeconds": 3}},
    "Ingress": {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 1}}}}},
}
"""Objects that are valid, or nearly so in every version of their kind."""

TOKEN_VOLUME: Final = re.compile(r"kube-api-access-\w{5}")
"""Is named by chance, too."""

Two = tuple[str, str]


# --- objects ---


@st.composite
def ordinary(draw: st.DrawFn) -> Json:
    """An ordinary object with a few fields that are drawn, which not all releases know."""
    made = copy.deepcopy(draw(ordinary_objects(0)))
    if made["kind"] in SPECS:
        made["spec"] = {**draw(random_objects.messages(SPECS[made["kind"]], 2)), **made["spec"]}
    return made


@st.composite
def of_any_kind(draw: st.DrawFn) -> Json:
    return draw(random_objects.objects(draw(st.sampled_from(creatable_kinds()))))


@per_release()
def creatable_kinds() -> tuple[GroupVersionKind, ...]:
    """Those that the current release keeps objects of, but for kinds behind feature gates: `check`
    knows them whether a gate is on or not."""
    found = {
        one.gvk
        for one in known_resources(all_versions=True)
        if {"create", "list"} <= {*one.verbs} and not one.gate
    }
    return tuple(sorted(gvk for gvk in found if message_of(gvk) is not None))


Way = tuple[MessageField, ...]


def messages_of(gvk: GroupVersionKind, release: str) -> dict[str, Way]:
    """Those that objects of a kind are made of in a release, each with the way to it."""
    with answering_as(release):
        start = message_of(gvk)
        found: dict[str, Way] = {} if start is None else {start: ()}
        waiting = [*found]
        for name in waiting:
            for field in message_fields(name):
                if message_fields_or_none(field.type) and field.type not in found:
                    found[field.type] = (*found[name], field)
                    waiting.append(field.type)
    return found


def message_fields_or_none(name: str) -> Sequence[MessageField]:
    try:
        return message_fields(name)
    except KeyError:  # a scalar
        return ()


@functools.cache
def changed_fields(pair: Two) -> Sequence[tuple[str, GroupVersionKind, Way]]:
    """The fields that one of the releases has, and the other, which knows the message, has not."""
    found = []
    for knows, other in (pair, pair[::-1]):
        with answering_as(knows):
            kinds = creatable_kinds()
        for gvk in kinds:
            elsewhere = messages_of(gvk, other)
            for name, path in messages_of(gvk, knows).items():
                if name not in elsewhere:
                    continue
                with answering_as(other):
                    old = {field.name for field in message_fields(name)}
                with answering_as(knows):
                    fields = message_fields(name)
                found += [(knows, gvk, (*path, one)) for one in fields if one.name not in old]
    return found


@st.composite
def with_a_changed_field(draw: st.DrawFn, pair: Two) -> Json:
    """An object that is as good as may be, but for a field that is not of both releases."""
    release, gvk, path = draw(st.sampled_from(changed_fields(pair)))
    with answering_as(release):
        made: Json = copy.deepcopy(GOOD.get(gvk.kind, {}))
        at: Any = made
        for field in path[:-1]:
            inner = draw(random_objects.messages(field.type, 0)) if field.name not in at else {}
            if field.inline:
                continue
            if field.repeated:
                at = at.setdefault(field.name, [inner])[0]
            elif field.mapped:
                at = at.setdefault(field.name, {"m": inner}).setdefault("m", inner)
            else:
                at = at.setdefault(field.name, inner)
        at.update(draw(random_objects.with_field(path[-1], 2)))
    return {"apiVersion": gvk.api_version, **made, "kind": gvk.kind}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Json, Two]:
    """An object as one of the two releases knows it, and these."""
    pair = draw(st.sampled_from(PAIRS))
    with answering_as(draw(st.sampled_from(pair))):
        made = draw(st.one_of(ordinary(), of_any_kind(), with_a_changed_field(pair)))
    resource = served_in(made, pair)
    given_meta = made.get("metadata", {})
    meta = {key: given_meta[key] for key in ("labels", "annotations") if given_meta.get(key)}
    meta |= {"name": "o", **({"namespace": NAMESPACE} if resource.namespaced else {})}
    return {**made, "metadata": meta}, pair


def pod(**fields: Any) -> Json:
    meta = {"name": "o", "namespace": NAMESPACE}
    spec = {"containers": [{"name": "c", "image": "example.com/c:1"}], **fields}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


# --- both ---


class Servers:
    """A server for each release that was asked for."""

    def __init__(self) -> None:
        self._running: dict[str, Running] = {}

    def of(self, release: str) -> Running:
        if release not in self._running:
            running = Running(Settings(version=release, all_versions=True))
            self._running[release] = running
            make(running, "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            running.settle()
        return self._running[release]

    def close(self) -> None:
        for running in self._running.values():
            running.close()


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    found = Servers()
    yield found
    found.close()


def served_in(obj: Json, pair: Two) -> Resource:
    """Where objects of the kind are served; one of the releases has it."""
    gvk, resource = metadata.gvk(obj), None
    for release in pair:
        with answering_as(release):
            resource = resource or known_resources(all_versions=True).by_gvk(gvk)
    assert resource is not None
    return resource


def path_in(obj: Json, pair: Two) -> str:
    """Where objects of the kind are created."""
    resource = served_in(obj, pair)
    group, version, name = resource.gvr
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return f"{root}/namespaces/{NAMESPACE}/{name}" if resource.namespaced else f"{root}/{name}"


def served(running: Running, path: str, obj: Json) -> tuple[str, list[str], Json | None]:
    """Why a server refuses the object, what it warns of, and what it would store."""
    answer = ask(running, "POST", path + QUERY, obj)
    if answer.code == 404:
        return "not served", [], None
    found = json.loads(TOKEN_VOLUME.sub("kube-api-access", answer.body.decode()))
    if answer.code >= 400:
        return found["message"], warnings(answer), None
    for key in OF_A_SERVER:
        found["metadata"].pop(key, None)
    for key in BY_CHANCE.get(obj["kind"], ()):
        found["spec"].pop(key, None)
    return "", warnings(answer), found


def are_different(servers: Servers, obj: Json, pair: Two) -> str:
    """What two servers decide differently, for people to read; empty where they do not."""
    path = path_in(obj, pair)
    (refusal, warned, stored), (refusal_2, warned_2, stored_2) = (
        served(servers.of(release), path, obj) for release in pair
    )
    if refusal != refusal_2:
        return f"{refusal or 'admitted'} / {refusal_2 or 'admitted'}"
    if warned != warned_2:
        return f"{warned} / {warned_2}"
    return ", ".join(map(str, field_changes(stored, stored_2)))


def are_called_different(obj: Json, pair: Two) -> str:
    """What `check` shows of the object under both releases; empty where that is nothing."""
    world = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("world", world), ("given", obj)):
            (Path(folder) / f"{name}.json").write_text(json.dumps(value))
        with contextlib.chdir(folder), contextlib.redirect_stdout(out):
            options = ["--whole-cluster", "--no-generated-pods", "--no-config", "-o", "json"]
            options += ["--admit", obj["kind"]]  # policies and definitions, too
            main(["check", "--kubernetes-version", ",".join(pair), "-f", "world.json", *options,
                  "given.json"])  # fmt: skip
    report = json.loads(out.getvalue())
    assume(not report["problems"])  # a definition that no release can read
    return json.dumps(report["differences"]) if report["differences"] else ""


@pytest.mark.thorough
@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(cases())
@example((pod(hostnameOverride="here"), ("1.33", "1.34")))
@example((pod(), ("1.30", "1.36")))
def test_what_is_called_different_is_decided_differently(
    servers: Servers, case: tuple[Json, Two]
) -> None:
    obj, pair = case
    decided, called = are_different(servers, obj, pair), are_called_different(obj, pair)
    assert bool(called) == bool(decided), f"check: {called}\nservers: {decided}"
