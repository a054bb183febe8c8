"""What `celadon check --operation UPDATE --kubernetes-version A,B` calls different is what two
servers, one of each release, decide differently about a change.

A good object is drawn, that both servers keep, and another one of its kind of which it takes over
what it is made of, or its status. The other one is random, or has a field that only one of the two
releases knows.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from celadon.cli.check.upgrade_report import field_changes
from celadon.cli.main import main
from celadon.kube import GroupVersionKind
from celadon.kube.protobuf import MessageField, message_fields, message_of
from celadon.kube.releases import answering_as
from tests.apiserver.asking import ask, warnings
from tests.apiserver.in_process import Running
from tests.kube.protobuf import objects as random_objects
from tests.properties.test_check_of_releases import (
    GOOD,
    NAMESPACE,
    OF_A_SERVER,
    PAIRS,
    Json,
    Servers,
    Two,
    creatable_kinds,
    path_in,
    served_in,
)

QUERY: Final = "?dryRun=All&fieldManager=kubectl-replace&fieldValidation=Strict"
KEPT: Final = frozenset(GOOD) - {"Job", "ValidatingAdmissionPolicy"}
"""Kinds whose objects say nothing about other objects, nor have anything of one server."""
NO_STATUS: Final = frozenset(
    {
        *("PodTemplate", "EndpointSlice", "CSIDriver", "StorageClass", "ResourceClaimTemplate"),
        *("ResourceSlice", "Lease"),
    }
)


@functools.cache
def kept_kinds(pair: Two) -> Sequence[GroupVersionKind]:
    """Those of KEPT in each version that both releases serve."""
    found = []
    for release in pair:
        with answering_as(release):
            found.append({gvk for gvk in creatable_kinds() if gvk.kind in KEPT})
    return sorted(found[0] & found[1])


def parts_of(gvk: GroupVersionKind, *, status: bool) -> Sequence[MessageField]:
    """What an object of a kind is made of, or its status, in the current release."""
    name = message_of(gvk)
    assert name is not None
    ignored = {"metadata", "status"}
    return [
        one
        for one in message_fields(name)
        if (one.name == "status" if status else one.name not in ignored)
    ]


@st.composite
def changes(draw: st.DrawFn) -> tuple[Json, Json, str, Two]:
    """A good object, what it takes over, the subresource that this is sent to, and two releases."""
    pair = draw(st.sampled_from(PAIRS))
    gvk = draw(st.sampled_from(kept_kinds(pair)))
    status = gvk.kind not in NO_STATUS and draw(st.booleans())
    with answering_as(draw(st.sampled_from(pair))):
        part = draw(st.sampled_from(parts_of(gvk, status=status)))
        brought = draw(random_objects.with_field(part, 2))
    made: Json = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "o"}}
    if served_in(made, pair).namespaced:
        made["metadata"]["namespace"] = NAMESPACE
    return made | copy.deepcopy(GOOD[gvk.kind]), brought, "status" if status else "", pair


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    found = Servers()
    yield found
    found.close()


NUMBERS: Final = itertools.count(1)


def stored(servers: Servers, obj: Json, pair: Two) -> Json | None:
    """The object as the older server keeps it, once both have it; None if one refuses it."""
    path = path_in(obj, pair)
    first = ask(servers.of(pair[0]), "POST", path, obj)
    if first.code >= 400:
        return None
    found: Json = json.loads(first.body)
    bare = {key: value for key, value in found["metadata"].items() if key not in OF_A_SERVER}
    second = ask(servers.of(pair[1]), "POST", path, {**found, "metadata": bare})
    return found if second.code < 400 else None


def answer(running: Running, path: str, obj: Json) -> tuple[str, list[str], Json | None]:
    """Why a server refuses the change, what it warns of, and what it would store. It is sent with
    what the server itself says of the object."""
    here = json.loads(ask(running, "GET", path.removesuffix("/status")).body)["metadata"]
    own = {key: here[key] for key in ("uid", "resourceVersion")}
    said = ask(running, "PUT", path + QUERY, {**obj, "metadata": {**obj["metadata"], **own}})
    found = json.loads(said.body)
    if said.code >= 400:
        return found["message"], warnings(said), None
    for key in OF_A_SERVER:
        found["metadata"].pop(key, None)
    found.get("status", {}).pop("lastPhaseTransitionTime", None)
    return "", warnings(said), found


def are_different(servers: Servers, obj: Json, subresource: str, pair: Two) -> str:
    """What two servers decide differently, for people to read; empty where they do not."""
    path = f"{path_in(obj, pair)}/{obj['metadata']['name']}"
    path += f"/{subresource}" if subresource else ""
    one, other = (answer(servers.of(release), path, obj) for release in pair)
    if one[:2] != other[:2]:
        return f"{one[:2]} / {other[:2]}"
    return ", ".join(map(str, field_changes(one[2], other[2])))


def are_called_different(old: Json, obj: Json, subresource: str, pair: Two) -> str:
    """What `check` shows of the change under both releases; empty where that is nothing."""
    world = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("world", world), ("old", old), ("given", obj)):
            (Path(folder) / f"{name}.json").write_text(json.dumps(value))
        with contextlib.chdir(folder), contextlib.redirect_stdout(out):
            options = ["--whole-cluster", "--no-generated-pods", "--no-config", "-o", "json"]
            options += ["--operation", "UPDATE", "--old", "old.json", "-f", "world.json"]
            options += ["--subresource", subresource] if subresource else []
            main(["check", "--kubernetes-version", ",".join(pair), *options, "given.json"])
    report = json.loads(out.getvalue())
    assume(not report["problems"])
    return json.dumps(report["differences"]) if report["differences"] else ""


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(changes())
def test_what_is_called_different_is_decided_differently(
    servers: Servers, case: tuple[Json, Json, str, Two]
) -> None:
    made, brought, subresource, pair = case
    made["metadata"]["name"] = f"o{next(NUMBERS)}"
    old = stored(servers, made, pair)
    assume(old is not None)
    assert old is not None
    obj = {**old, **brought}
    decided = are_different(servers, obj, subresource, pair)
    called = are_called_different(old, obj, subresource, pair)
    assert bool(called) == bool(decided), f"check: {called}\nservers: {decided}"
