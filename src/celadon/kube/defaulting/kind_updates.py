"""What an update loses or takes over from the old object, kind by kind.

As `PrepareForUpdate` in the strategies of k8s.io/kubernetes `pkg/registry`. What holds for many
kinds stands in the data pack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube import name_rules
from celadon.kube.defaulting import workload_defaults
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import HOST_NAME

PHASE_SINCE: Final = "lastPhaseTransitionTime"

KindUpdate = Callable[[dict[str, Any], JsonObject, str], None]
"""Changes the new object in place; the last is the time."""


def pod_status(made: dict[str, Any], old: JsonObject, _: str) -> None:
    """Kubelets that do not know a field leave it out, and it stays."""
    status, was = made.setdefault("status", {}), old.get("status") or {}
    for field in ("qosClass", "observedGeneration"):
        if not status.get(field) and was.get(field):
            status[field] = was[field]
    before: dict[str, list[int]] = {}
    for condition in was.get("conditions") or ():
        seen = condition.get("observedGeneration") or 0
        before.setdefault(condition.get("type") or "", []).append(seen)
    for condition in status.get("conditions") or ():
        generations = before.get(condition.get("type") or "")
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def node(made: dict[str, Any], old: JsonObject, _: str) -> None:
    """A node that was not configured by the API is not from now on."""
    if (old.get("spec") or {}).get("configSource") is None:
        (made.get("spec") or {}).pop("configSource", None)


def node_status(made: dict[str, Any], old: JsonObject, _: str) -> None:
    """The same of what a kubelet says of it."""
    if (old.get("status") or {}).get("config") is None:
        (made.get("status") or {}).pop("config", None)


def volume_status(made: dict[str, Any], old: JsonObject, now: str) -> None:
    """A volume says since when it has been in its phase."""
    status, was = made.setdefault("status", {}), old.get("status") or {}
    since, before = status.get(PHASE_SINCE), was.get(PHASE_SINCE)
    if (status.get("phase") or "") != (was.get("phase") or ""):
        if since is None or since == before:
            status[PHASE_SINCE] = now
    elif since is None and before is not None:
        status[PHASE_SINCE] = before


def claim(made: dict[str, Any], old: JsonObject, _: str) -> None:
    """Clients that do not know where the reference to the source is now leave it out; a source
    that a claim has may be of any kind."""
    spec, was = made.setdefault("spec", {}), old.get("spec") or {}
    is_new = was.get("dataSource") is None and was.get("dataSourceRef") is None
    workload_defaults.data_sources(spec, any_kind=not is_new)


def service_account(made: dict[str, Any], _: JsonObject, __: str) -> None:
    """Secrets are in the namespace of the account: only their names count."""
    for secret in made.get("secrets") or ():
        for field in [*secret]:
            if field != "name":
                del secret[field]


def endpoint_slice(made: dict[str, Any], old: JsonObject, _: str) -> None:
    """Changed endpoints lose their old topology; a host that was known becomes the node's name."""
    if (made.get("endpoints") or []) == (old.get("endpoints") or []):
        return
    known = {_host(one) for one in old.get("endpoints") or ()} - {""}
    for endpoint in made.get("endpoints") or ():
        host = _host(endpoint)
        was_node = host in known and not name_rules.dns1123_subdomain(host)
        if endpoint.get("nodeName") is None and was_node:
            endpoint["nodeName"] = host
        endpoint.pop("deprecatedTopology", None)


def _host(endpoint: JsonObject) -> str:
    host: str = (endpoint.get("deprecatedTopology") or {}).get(HOST_NAME, "")
    return host


KIND_UPDATES: Final[Mapping[tuple[str, str, str], KindUpdate]] = {
    ("", "Node", ""): node,
    ("", "Node", "status"): node_status,
    ("", "Pod", "status"): pod_status,
    ("", "PersistentVolume", "status"): volume_status,
    ("", "PersistentVolumeClaim", ""): claim,
    ("", "ServiceAccount", ""): service_account,
    ("discovery.k8s.io", "EndpointSlice", ""): endpoint_slice,
}
"""By group, kind and subresource."""
