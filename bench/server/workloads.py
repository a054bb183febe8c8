"""What is asked of the servers: requests, and what must be there before."""

from __future__ import annotations

import copy
import json
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


def _post(target: str, obj: dict[str, Any]) -> bytes:
    return request("POST", target, TOKEN, json.dumps(obj).encode())


def _get(target: str) -> bytes:
    return request("GET", target, TOKEN)


def namespaces() -> list[bytes]:
    """The creation of the namespaces everything is in."""
    names = (NAMESPACE, WATCHED)
    return [_post("/api/v1/namespaces", {"metadata": {"name": name}}) for name in names]


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
        found.append(
            _post(f"{REGISTRATION}/validatingadmissionpolicies", policy(name, expressions))
        )
        found.append(_post(f"{REGISTRATION}/validatingadmissionpolicybindings", binding(name)))
    return found


def small_deployments(count: int) -> list[bytes]:
    """Dry runs of a Deployment with one container."""
    return [_post(f"{DEPLOYMENTS}?dryRun=All", check.manifest(n)) for n in range(count)]


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
    return [_post(f"{DEPLOYMENTS}?dryRun=All", sent)] * count


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
    return [_post(CONFIG_MAPS, config_map(f"{prefix}-{n}")) for n in range(count)]


def gets(name: str, count: int) -> list[bytes]:
    """Of one ConfigMap."""
    return [_get(f"{CONFIG_MAPS}/{name}")] * count


def lists(count: int) -> list[bytes]:
    """Of all ConfigMaps of the namespace."""
    return [_get(CONFIG_MAPS)] * count


def watch() -> bytes:
    """Of a namespace in which there is nothing."""
    return _get(f"/api/v1/namespaces/{WATCHED}/configmaps?watch=1&timeoutSeconds=300")


def watched_changes(count: int) -> list[bytes]:
    """Creations there."""
    target = f"/api/v1/namespaces/{WATCHED}/configmaps"
    return [_post(target, config_map(f"watched-{n}")) for n in range(count)]
