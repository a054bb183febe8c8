"""Well-known users and groups, and a user as it is shown.

As k8s.io/apiserver `pkg/authentication/{user,serviceaccount}`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Protocol
from urllib.parse import unquote

from celadon.kube import MASTERS, GroupVersionResource, User, name_rules
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.well_known_values import NODE_PREFIX
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

ADMINISTRATOR: Final = User("kubernetes-admin", (MASTERS,))
"""Whom the kubeconfig of a new server makes its bearer."""

EXTRA_PREFIX: Final = "authentication.kubernetes.io/"
CREDENTIAL_ID: Final = EXTRA_PREFIX + "credential-id"
POD_NAME: Final = EXTRA_PREFIX + "pod-name"
POD_UID: Final = EXTRA_PREFIX + "pod-uid"
NODE_NAME: Final = EXTRA_PREFIX + "node-name"
NODE_UID: Final = EXTRA_PREFIX + "node-uid"

_BAD_ESCAPE: Final = late_pattern("%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class FrontProxies:
    """Holds the common names of those who may say in headers who asks (any, if empty), and which
    headers these are. As the flags `--requestheader-*` of kube-apiserver."""

    allowed_names: tuple[str, ...] = ()
    user_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()


class StoredObjects(Protocol):
    """Finds the objects that identities are looked up in."""

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """Return the object as stored; `namespace` is empty for a cluster-scoped resource."""
        ...


def with_group(user: User, group: str) -> User:
    """Add a group: it comes last, unless the user is in it already."""
    return user if group in user.groups else replace(user, groups=(*user.groups, group))


def extra_key(header: str) -> str:
    """Return the key that the rest of a header's name stands for. Go unescapes all of it or, where
    one escape of it is broken, nothing."""
    key = header.lower()
    return key if _BAD_ESCAPE.search(key) else unquote(key)


def node_of(name: str) -> str | None:
    """Return the node that has this user name; None for others."""
    if not name.startswith(NODE_PREFIX):
        return None
    node = name.removeprefix(NODE_PREFIX)
    return None if name_rules.dns1123_subdomain(node) else node


def user_info(user: User) -> JsonDict:
    """`authentication.k8s.io/v1` UserInfo; what is empty is left out."""
    extra = {key: list(values) for key, values in sorted(user.extra.items())}
    members = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": extra,
    }
    return {name: value for name, value in members.items() if value}
