"""HTTP requests of recorded scenarios, understood: who, what endpoint, which verb."""

from __future__ import annotations

import json
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from celadon.kube import GroupVersionResource
from celadon.kube.authorization import User

AUTHENTICATED = "system:authenticated"
USERS = {
    "admin": User("admin", ("system:masters", AUTHENTICATED), "admin-uid"),
    "alice": User("alice", ("devs", AUTHENTICATED), "alice-uid"),
    "bob": User("bob", ("ops", "qa", AUTHENTICATED), "bob-uid"),
}
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True)
class Call:
    method: str
    resource: GroupVersionResource
    namespace: str
    name: str
    subresource: str
    rest: str
    query: dict[str, list[str]]
    body: Any
    content_type: str
    user: User
    headers: dict[str, Any] = field(default_factory=dict)
    accept: str = "application/json"

    @property
    def text(self) -> str:
        """The body as it was sent."""
        if self.body is None:
            return ""
        return self.body if isinstance(self.body, str) else json.dumps(self.body)

    def first(self, key: str) -> str:
        return self.query.get(key, [""])[0]

    @property
    def dry_run(self) -> bool:
        return "All" in self.query.get("dryRun", [])


def parse(step: dict[str, Any]) -> Call:
    """Paths outside `/api` and `/apis` are ValueErrors."""
    path, _, query = step["path"].partition("?")
    parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
    if parts[0] == "api":
        group, version, parts = "", parts[1], parts[2:]
    elif parts[0] == "apis":
        group, version, parts = parts[1], parts[2], parts[3:]
    else:
        raise ValueError(f"not a resource path: {path}")
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in {"status", "finalize"}:
            parts = parts[2:]
    name = parts[1] if len(parts) > 1 else ""
    return Call(
        method=step["method"],
        resource=GroupVersionResource(group, version, parts[0]),
        namespace=namespace,
        name=name,
        subresource=parts[2] if len(parts) > 2 else "",
        rest="/".join(parts[3:]),
        query=urllib.parse.parse_qs(query, keep_blank_values=True),
        body=step.get("body"),
        content_type=step.get("contentType") or "application/json",
        user=_user(step.get("user", "admin"), step.get("headers", {})),
        headers=step.get("headers", {}),
        accept=step.get("accept", "application/json"),
    )


def _user(name: str | None, headers: dict[str, Any]) -> User:
    user = USERS[name] if name else ANONYMOUS
    impersonated = headers.get("Impersonate-User")
    if impersonated is None:
        return user
    groups = headers.get("Impersonate-Group", [])
    groups = [groups] if isinstance(groups, str) else list(groups)
    if not groups and impersonated.startswith(SERVICE_ACCOUNT):
        namespace = impersonated.split(":")[2]
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    if AUTHENTICATED not in groups:
        groups.append(AUTHENTICATED)
    extra: dict[str, tuple[str, ...]] = {}
    for header, value in headers.items():
        if header.lower().startswith("impersonate-extra-"):
            key = urllib.parse.unquote(header[len("impersonate-extra-") :].lower())
            extra[key] = (value,) if isinstance(value, str) else tuple(value)
    return User(impersonated, tuple(groups), headers.get("Impersonate-Uid", ""), extra)
