"""What `celadon check --kubernetes-version A,B` calls different is what two servers, one of each
release, decide differently.

An object is drawn (an ordinary one with a few random fields, or a random one of any kind) and two
releases. Servers in process of both are asked to create it, without keeping it. They decide
differently if one refuses and the other does not, if what they say or warn of is not the same, or
if they would store other fields.
"""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from celadon.apiserver.api_settings import Settings
from celadon.cli.check.upgrade_report import field_changes
from celadon.cli.main import main
from celadon.kube import GroupVersionKind, metadata
from celadon.kube.protobuf import message_of
from celadon.kube.releases import answering_as, per_release
from celadon.kube.resources import known_resources
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


@st.composite
def cases(draw: st.DrawFn) -> tuple[Json, Two]:
    """An object as one of the two releases knows it, and these."""
    pair = draw(st.sampled_from(PAIRS))
    with answering_as(draw(st.sampled_from(pair))):
        made = draw(st.one_of(ordinary(), of_any_kind()))
        resource = known_resources(all_versions=True).by_gvk(metadata.gvk(made))
    assert resource is not None
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


def path_in(obj: Json, pair: Two) -> str:
    """Where objects of the kind are created; one of the releases serves it."""
    gvk, resource = metadata.gvk(obj), None
    for release in pair:
        with answering_as(release):
            resource = resource or known_resources(all_versions=True).by_gvk(gvk)
    assert resource is not None
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
