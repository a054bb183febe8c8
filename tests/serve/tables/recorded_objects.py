"""The objects of a recorded scenario, as far as its own writes tell.

No server: creates are defaulted, merge patches merged, deletions noted. What the scenario does not
write (times, addresses) is masked in the recordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from celadon.kube.catalogue import Resource, custom_resources, known_resources
from celadon.kube.custom.custom_defaults import defaulted
from celadon.kube.defaulting import admit_form, stored_form
from celadon.kube.names import GroupVersionResource, parse_api_version
from celadon.kube.schemas import decode_schema
from celadon.kube.writes import apply_merge_patch

CREATED = "2026-01-01T00:00:00Z"
SUBRESOURCES = frozenset({"status", "approval", "finalize", "ephemeralcontainers", "resize"})
LINGERING = frozenset({"pods", "namespaces"})
BUILT_IN = known_resources(all_versions=True)

Key = tuple[str, str, str]
"""Resource with its group, namespace, name."""


@dataclass(frozen=True)
class Address:
    """What a path means; `name` is empty for a collection."""

    gvr: GroupVersionResource
    namespace: str
    name: str
    subresource: str

    def key(self, name: str) -> Key:
        return (
            str(self.gvr.group_resource).replace("events.events.k8s.io", "events"),
            (self.namespace),
            name,
        )


def address(path: str) -> Address | None:
    """None for paths that are no resource's."""
    parts = path.partition("?")[0].strip("/").split("/")
    core = parts[0] == "api"
    rest = parts[2 if core else 3 :]
    rest = rest[1:] if rest[:1] == ["watch"] else rest
    if parts[0] not in ("api", "apis") or not rest:
        return None
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    group, version = ("" if core else parts[1]), parts[1 if core else 2]
    return Address(GroupVersionResource(group, version, resource), namespace, name, subresource)


@dataclass
class Notebook:
    """Objects by key, what they have been, and the definitions among them."""

    objects: dict[Key, dict[str, Any]] = field(default_factory=dict)
    history: dict[Key, list[dict[str, Any]]] = field(default_factory=dict)
    custom: dict[GroupVersionResource, tuple[Resource, Mapping[str, Any]]] = field(
        default_factory=dict
    )

    def resource(self, gvr: GroupVersionResource) -> Resource | None:
        found = BUILT_IN.by_gvr(gvr)
        return found or (self.custom[gvr][0] if gvr in self.custom else None)

    def note(self, step: Mapping[str, Any]) -> None:
        """Take in what a step that succeeded has written."""
        where = address(step.get("path", ""))
        body = step.get("body")
        if where is None or where.subresource not in ("", *SUBRESOURCES):
            return
        if step.get("method") == "DELETE":
            self._deleted(where)
        elif isinstance(body, dict) and step.get("method") in ("POST", "PUT", "PATCH"):
            self._written(where, str(step["method"]), body)

    def versions(self, key: Key) -> list[dict[str, Any]]:
        """The object as it is, and as it was before, the latest first."""
        return self.history.get(key, [])[::-1]

    def setup(self, item: Mapping[str, Any]) -> None:
        """An object of the setup, or a step of it."""
        if "method" in item:
            self.note(item)
            return
        group, version = parse_api_version(item["apiVersion"])
        for resource in (*BUILT_IN, *(one for one, _ in self.custom.values())):
            if (*resource.gvr[:2], resource.gvk.kind) == (group, version, item["kind"]):
                namespace = item["metadata"].get("namespace", "default")
                where = Address(resource.gvr, namespace if resource.namespaced else "", "", "")
                self._written(where, "POST", dict(item))
                return

    def _written(self, where: Address, method: str, body: dict[str, Any]) -> None:
        key = where.key(where.name or body.get("metadata", {}).get("name", ""))
        old = self.objects.get(key)
        if method == "PATCH" and old is not None:
            patched = apply_merge_patch(old, body)
            self.objects[key] = patched if where.subresource else self._stored(where, patched, old)
        elif where.subresource and old is not None:
            shown = body.get("status", old.get("status"))
            self.objects[key] = {**old, "status": shown}
        elif not where.subresource:
            self.objects[key] = self._stored(where, body, old)
        if key in self.objects:
            self.history.setdefault(key, []).append(self.objects[key])
        if where.gvr.resource == "customresourcedefinitions":
            for resource in custom_resources(self.objects[key]):
                self.custom[resource.gvr] = resource, self.objects[key]

    def _stored(
        self, where: Address, body: dict[str, Any], old: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        meta = {"creationTimestamp": CREATED, **body.get("metadata", {})}
        if where.namespace:
            meta["namespace"] = where.namespace
        resource = BUILT_IN.by_gvr(where.gvr)
        if resource is None:
            return self._custom(where, {**body, "metadata": meta})
        sent = {"apiVersion": resource.gvk.api_version, "kind": resource.gvk.kind, **body}
        admitted = admit_form({**sent, "metadata": meta}, resource.gvk)
        admitted["metadata"]["creationTimestamp"] = CREATED
        made = stored_form(admitted, resource.gvk)
        if where.gvr.resource == "certificatesigningrequests":
            made["spec"]["username"] = "admin"
        if old is not None and "status" in old:
            made["status"] = old["status"]
        return made

    def _custom(self, where: Address, obj: dict[str, Any]) -> dict[str, Any]:
        _, definition = self.custom[where.gvr]
        for version in definition["spec"]["versions"]:
            if version["name"] == where.gvr.version:
                schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
                obj = defaulted(obj, decode_schema(schema))
        return obj

    def _deleted(self, where: Address) -> None:
        key = where.key(where.name)
        found = self.objects.get(key)
        if found is None:
            return
        if where.gvr.resource == "namespaces":
            found = {**found, "status": {"phase": "Terminating"}}
        lives_on = found["metadata"].get("finalizers") or where.gvr.resource in LINGERING
        if lives_on:
            meta = {**found["metadata"], "deletionTimestamp": CREATED}
            self.objects[key] = {**found, "metadata": meta}
            self.history[key].append(self.objects[key])
        else:
            del self.objects[key]
