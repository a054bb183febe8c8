"""Roles and bindings by the subjects they bind.

`RoleIndex` takes objects as they are stored, one at a time, and says which grants a user has in a
namespace. It looks at the bindings that name the user or one of the groups, not at all of them, and
remembers the grants of who asked until something changes.

Bindings are looked at in the order of their names; upstream's order is that of its cache, which
only shows in the reason when several bindings allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from celadon.kube import metadata
from celadon.kube.authorization import User
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.roles.policy_rules import PolicyRule, policy_rules
from celadon.kube.selection.label_selectors import (
    NOTHING,
    LabelSelector,
    SelectorError,
    label_selector,
)
from celadon.kube.well_known_values import RBAC_GROUP, SERVICE_ACCOUNT_PREFIX
from celadon.records import dataclass

Key = tuple[str, str]
"""Namespace and name; the namespace is empty for ClusterRoles and ClusterRoleBindings."""

Who = tuple[str, str]
"""The kind of a subject, and the name of the user or group that it is."""


CLUSTER_WIDE: Final = ""

LONGEST_REMEMBERED: Final = 8192
"""Characters of all names of a user. Reviews can make up users with more, and then nothing is."""

REMEMBERED_USERS: Final = 4096
"""Grants that are kept; beyond it, all are forgotten. A choice of ours."""

_ROLES: Final = frozenset({"Role", "ClusterRole"})
_BINDINGS: Final = frozenset({"RoleBinding", "ClusterRoleBinding"})


@dataclass(frozen=True, slots=True)
class RoleRef:
    """Which role a binding grants: a Role of its own namespace, or a ClusterRole."""

    kind: str
    name: str
    group: str = RBAC_GROUP

    @property
    def error(self) -> str:
        """What an authorizer says when there is no such role."""
        if self.kind not in _ROLES:
            return f"unsupported role reference kind: {quote(self.kind)}"
        return f"{self.kind.lower()}.{RBAC_GROUP} {quote(self.name)} not found"


@dataclass(frozen=True, slots=True)
class Grant:
    """A binding that applies to a user; the role's rules are None when there is no such role.

    `source` is how reasons name it: `RoleBinding "b/ns" of Role "r" to User "alice"`.
    """

    source: str
    role: RoleRef
    rules: tuple[PolicyRule, ...] | None


@dataclass(frozen=True, slots=True)
class _Subject:
    who: Who
    description: str


@dataclass(frozen=True, slots=True)
class _Binding:
    title: str
    role: RoleRef
    subjects: tuple[_Subject, ...]


class RoleIndex:
    """With `aggregating`, a ClusterRole with an aggregation rule has the rules of the roles it
    selects, as a controller would write them; otherwise those that are stored."""

    def __init__(self, objects: Iterable[JsonObject] = (), *, aggregating: bool = False) -> None:
        self._aggregating = aggregating
        self._roles: dict[Key, JsonObject] = {}
        self._rules: dict[Key, tuple[PolicyRule, ...]] = {}
        self._bindings: dict[Key, _Binding] = {}
        self._bound: dict[tuple[str, Who], set[str]] = {}
        self._remembered: dict[tuple[str, tuple[str, ...], str], tuple[Grant, ...]] = {}
        for obj in objects:
            self.put(obj)

    def put(self, obj: JsonObject) -> None:
        """Add an object or replace the one of its name; other kinds are ignored."""
        kind = obj.get("kind")
        key = _key(obj)
        if kind in _ROLES:
            self._roles[key] = obj
        elif kind in _BINDINGS:
            self._unbind(key)
            self._bind(key, obj)
        self._forget()

    def remove(self, obj: JsonObject) -> None:
        """Only kind, namespace and name matter."""
        kind = obj.get("kind")
        if kind in _ROLES:
            self._roles.pop(_key(obj), None)
        elif kind in _BINDINGS:
            self._unbind(_key(obj))
        self._forget()

    def _forget(self) -> None:
        self._rules.clear()
        self._remembered.clear()

    def _bind(self, key: Key, obj: JsonObject) -> None:
        binding = _binding(key, obj)
        self._bindings[key] = binding
        for subject in binding.subjects:
            self._bound.setdefault((key[0], subject.who), set()).add(key[1])

    def _unbind(self, key: Key) -> None:
        binding = self._bindings.pop(key, None)
        if binding is None:
            return
        for subject in binding.subjects:
            names = self._bound[key[0], subject.who]
            names.discard(key[1])
            if not names:
                del self._bound[key[0], subject.who]

    def grants(self, user: User, namespace: str) -> tuple[Grant, ...]:
        """Those of the whole cluster, then those in the namespace, if one is given."""
        asked = (user.name, user.groups, namespace)
        found = self._remembered.get(asked)
        if found is None:
            found = tuple(self._find(user, namespace))
            if sum(map(len, (user.name, namespace, *user.groups))) <= LONGEST_REMEMBERED:
                if len(self._remembered) >= REMEMBERED_USERS:
                    self._remembered.clear()
                self._remembered[asked] = found
        return found

    def _find(self, user: User, namespace: str) -> Iterator[Grant]:
        identities = _identities(user)
        for where in dict.fromkeys((CLUSTER_WIDE, namespace)):
            names: set[str] = set()
            for who in identities:
                names |= self._bound.get((where, who), set())
            for name in sorted(names):
                yield self._grant(self._bindings[where, name], identities, where)

    def _grant(self, binding: _Binding, identities: Mapping[Who, None], where: str) -> Grant:
        subject = next(one for one in binding.subjects if one.who in identities)
        role = binding.role
        source = f"{binding.title} of {role.kind} {quote(role.name)} to {subject.description}"
        return Grant(source, role, self.rules_of(role, where))

    def rules_of(self, role: RoleRef, namespace: str) -> tuple[PolicyRule, ...] | None:
        """What a reference in a binding of this namespace grants; None when there is no role."""
        if role.kind not in _ROLES or (role.kind == "Role" and not namespace):
            return None
        key = (namespace if role.kind == "Role" else CLUSTER_WIDE, role.name)
        rules = self._rules.get(key)
        if rules is None and key in self._roles:
            rules = self._rules[key] = self._collect(key, frozenset())
        return rules

    def _collect(self, key: Key, seen: frozenset[Key]) -> tuple[PolicyRule, ...]:
        role = self._roles[key]
        selectors = role_selectors(role)
        if not selectors or not self._aggregating:
            return policy_rules(role)
        collected: list[PolicyRule] = []
        for other in sorted(self._roles):
            if other[0] or other == key or other in seen:
                continue
            labels = metadata.labels(self._roles[other])
            if any(one.matches(labels) for one in selectors):
                collected += self._collect(other, seen | {key})
        return tuple(collected)


def _key(obj: JsonObject) -> Key:
    namespaced = obj.get("kind") in {"Role", "RoleBinding"}
    return (metadata.namespace(obj) if namespaced else CLUSTER_WIDE, metadata.name(obj))


def role_ref(binding: JsonObject) -> RoleRef:
    """The role that a RoleBinding or ClusterRoleBinding refers to."""
    ref = binding.get("roleRef") or {}
    kind, name = str(ref.get("kind") or ""), str(ref.get("name") or "")
    return RoleRef(kind, name, str(ref.get("apiGroup") or ""))


def _binding(key: Key, obj: JsonObject) -> _Binding:
    where, name = key
    title = (
        f"RoleBinding {quote(f'{name}/{where}')}" if where else f"ClusterRoleBinding {quote(name)}"
    )
    subjects = (_subject(one, where) for one in obj.get("subjects") or ())
    return _Binding(title, role_ref(obj), tuple(one for one in subjects if one is not None))


def _subject(given: JsonObject, where: str) -> _Subject | None:
    """None for what can be nobody."""
    kind, name = str(given.get("kind") or ""), str(given.get("name") or "")
    if kind in {"User", "Group"}:
        return _Subject((kind, name), f"{kind} {quote(name)}")
    space = given.get("namespace") or where
    if kind != "ServiceAccount" or not space:
        return None
    account = f"{SERVICE_ACCOUNT_PREFIX}{space}:{name}"
    return _Subject((kind, account), f"{kind} {quote(f'{name}/{space}')}")


def _identities(user: User) -> dict[Who, None]:
    groups = (("Group", group) for group in user.groups)
    return dict.fromkeys([("User", user.name), ("ServiceAccount", user.name), *groups])


def role_selectors(role: JsonObject) -> tuple[LabelSelector, ...]:
    """Of a role's aggregation rule; none for a role that says its rules itself. A bad selector
    chooses nothing."""
    given = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
    return tuple([_selector(one) for one in given])


def _selector(given: JsonObject) -> LabelSelector:
    try:
        return label_selector(given)
    except SelectorError:
        return NOTHING
