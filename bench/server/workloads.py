"""What is asked of the servers: requests, and what must be there before."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any, Final

from bench import check, engine
from bench.load import TEMPLATES, binding, policy
from bench.objects import ACTIVATIONS
from bench.server.connection import request
from bench.server.processes import TOKEN

NAMESPACE: Final = "shop"
WATCHED: Final = "watched"
REGISTRATION: Final = "/apis/admissionregistration.k8s.io/v1"
DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
CONFIG_MAPS: Final = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


def post(target: str, obj: dict[str, Any]) -> bytes:
    return request("POST", target, TOKEN, json.dumps(obj).encode())


def _patch(target: str, kind: str, change: object) -> bytes:
    content = f"application/{kind}"
    return request("PATCH", target, TOKEN, json.dumps(change).encode(), content)


def get(target: str) -> bytes:
    return request("GET", target, TOKEN)


def namespaces() -> list[bytes]:
    """The creation of the namespaces everything is in."""
    names = (NAMESPACE, WATCHED)
    return [post("/api/v1/namespaces", {"metadata": {"name": name}}) for name in names]


def twenty_policies() -> list[bytes]:
    """The creation of twenty policies of one expression each, and of their bindings."""
    texts = [[text] for text in engine.expressions()]
    return _policies_and_bindings(texts)


def many_policies(count: int) -> list[bytes]:
    """The same of many, all different."""
    forms = len(TEMPLATES)
    return _policies_and_bindings([[TEMPLATES[n % forms].format(n=n + 1)] for n in range(count)])


def _policies_and_bindings(texts: list[list[str]]) -> list[bytes]:
    found = []
    for number, expressions in enumerate(texts):
        name = f"policy-{number:05}"
        found.append(post(f"{REGISTRATION}/validatingadmissionpolicies", policy(name, expressions)))
        found.append(post(f"{REGISTRATION}/validatingadmissionpolicybindings", binding(name)))
    return found


def named_policies(turn: int, count: int) -> list[bytes]:
    """Creations of policies of one expression each, all different in all turns, that nothing
    binds."""
    forms = len(TEMPLATES)
    numbers = range(turn * count, (turn + 1) * count)
    made = (policy(f"new-{n}", [TEMPLATES[n % forms].format(n=n + 1)]) for n in numbers)
    return [post(f"{REGISTRATION}/validatingadmissionpolicies", one) for one in made]


def deployments(prefix: str, count: int) -> list[bytes]:
    """Creations of Deployments with one container."""
    return [post(DEPLOYMENTS, _deployment(f"{prefix}-{n}", n)) for n in range(count)]


def _deployment(name: str, number: int) -> dict[str, Any]:
    made = check.manifest(number)
    return {**made, "metadata": {**made["metadata"], "name": name}}


def small_deployments(count: int) -> list[bytes]:
    """Dry runs of a Deployment with one container."""
    return [post(f"{DEPLOYMENTS}?dryRun=All", check.manifest(n)) for n in range(count)]


def large_deployments(count: int) -> list[bytes]:
    """Dry runs of a Deployment with four containers and all the fields that such ones have."""
    full = ACTIVATIONS["Deployment"][0]["object"]
    kept = ("name", "namespace", "labels", "annotations")
    meta = {key: full["metadata"][key] for key in kept if key in full["metadata"]}
    meta["namespace"] = NAMESPACE
    spec = copy.deepcopy(full["spec"])
    for container in spec["template"]["spec"]["initContainers"]:  # which cannot have probes
        del container["livenessProbe"], container["readinessProbe"]
    sent = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}
    return [post(f"{DEPLOYMENTS}?dryRun=All", sent)] * count


def config_map(name: str) -> dict[str, Any]:
    """Half a kilobyte of settings."""
    data = {f"setting-{n}": f"value {n} of {name}" for n in range(12)}
    labels = {"app": "shop", "part": name}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels},
        "data": data,
    }


def config_maps(prefix: str, count: int) -> list[bytes]:
    """Creations."""
    return [post(CONFIG_MAPS, config_map(f"{prefix}-{n}")) for n in range(count)]


def gets(name: str, count: int) -> list[bytes]:
    """Of one ConfigMap."""
    return [get(f"{CONFIG_MAPS}/{name}")] * count


def lists(count: int) -> list[bytes]:
    """Of all ConfigMaps of the namespace."""
    return [get(CONFIG_MAPS)] * count


_WATCHED_MAPS: Final = f"/api/v1/namespaces/{WATCHED}/configmaps"


def watched_list() -> bytes:
    """Of a namespace of its own."""
    return get(f"{_WATCHED_MAPS}?limit=1")


def watch(version: str = "") -> bytes:
    """Of that namespace, from a resource version on, or with what is there."""
    since = f"&resourceVersion={version}" if version else ""
    return get(f"{_WATCHED_MAPS}?watch=1&timeoutSeconds=300{since}")


def watched_changes(count: int, prefix: str = "watched") -> list[bytes]:
    """Creations there."""
    return [post(_WATCHED_MAPS, config_map(f"{prefix}-{n}")) for n in range(count)]


def updates(names: Sequence[str], turn: int, count: int) -> list[bytes]:
    """Updates of ConfigMaps, one value of each."""
    found = []
    for n, name in zip(range(count), cycle(names)):
        made = config_map(name)
        made["data"]["setting-0"] = f"{turn}-{n}"
        body = json.dumps(made).encode()
        found.append(request("PUT", f"{CONFIG_MAPS}/{name}", TOKEN, body))
    return found


def json_patches(names: Sequence[str], turn: int, count: int) -> list[bytes]:
    """Of Deployments: another image."""
    path = "/spec/template/spec/containers/0/image"
    return _patches(
        names,
        "json-patch+json",
        count,
        lambda n: [{"op": "replace", "path": path, "value": _image(turn, n)}],
    )


def merge_patches(names: Sequence[str], turn: int, count: int) -> list[bytes]:
    """Of Deployments: another label and another number of replicas."""
    return _patches(
        names,
        "merge-patch+json",
        count,
        lambda n: {"metadata": {"labels": {"turn": f"{turn}-{n}"}}, "spec": {"replicas": n % 7}},
    )


def strategic_patches(names: Sequence[str], turn: int, count: int) -> list[bytes]:
    """Of Deployments: another image of the container of that name."""

    def change(n: int) -> object:
        containers = [{"name": "app", "image": _image(turn, n)}]
        return {"spec": {"template": {"spec": {"containers": containers}}}}

    return _patches(names, "strategic-merge-patch+json", count, change)


def applies(names: Sequence[str], turn: int, count: int) -> list[bytes]:
    """Server-side apply of whole Deployments, with another image each."""
    found = []
    for n, name in zip(range(count), cycle(names)):
        made = _deployment(name, n % len(names))
        made["spec"]["template"]["spec"]["containers"][0]["image"] = _image(turn, n)
        found.append(_applied(name, made))
    return found


def same_applies(names: Sequence[str], count: int) -> list[bytes]:
    """The same with what is there already, after the first turn."""
    made = [_applied(name, _deployment(name, n)) for n, name in enumerate(names)]
    return [one for _, one in zip(range(count), cycle(made))]


def _applied(name: str, made: dict[str, Any]) -> bytes:
    return _patch(f"{DEPLOYMENTS}/{name}?fieldManager=bench&force=true", "apply-patch+yaml", made)


def _patches(
    names: Sequence[str], kind: str, count: int, change: Callable[[int], object]
) -> list[bytes]:
    return [
        _patch(f"{DEPLOYMENTS}/{name}", kind, change(n))
        for n, name in zip(range(count), cycle(names))
    ]


def _image(turn: int, number: int) -> str:
    return f"registry.example.com/shop/frontend:v{turn}.{number}"


def deletions(prefix: str, count: int) -> list[bytes]:
    """Of ConfigMaps."""
    return [request("DELETE", f"{CONFIG_MAPS}/{prefix}-{n}", TOKEN) for n in range(count)]
