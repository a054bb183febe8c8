"""An authorizer answered from RBAC manifests.

`RbacAuthorizer` holds Role, ClusterRole, RoleBinding and ClusterRoleBinding objects and says what
a user may do, in the words of k8s.io/kubernetes `plugin/pkg/auth/authorizer/rbac`. Aggregated
cluster roles get the rules of the roles they select, as the controller would write them. Members
of `system:masters` may do everything. Bindings are asked in name order; upstream's order is that
of its cache, which only shows in the reason when several bindings allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from celadon.kube import Attributes, Ruling, User, metadata
from celadon.kube.go import quote
from celadon.kube.selection import SelectorError, label_selector

JsonObject = Mapping[str, Any]

RBAC_GROUP: Final = "rbac.authorization.k8s.io"
MASTERS: Final = "system:masters"
SERVICE_ACCOUNT_PREFIX: Final = "system:serviceaccount:"
ALL: Final = "*"

Answer = tuple[Ruling, str, str | None]
"""Ruling, reason, and the text of an error."""


@dataclass(frozen=True, slots=True)
class _Grant:
    """A binding that applies to a user: the role's rules, or why they are unknown."""

    rules: tuple[JsonObject, ...]
    description: str
    error: str = ""


class RbacAuthorizer:
    """Answers from the manifests given; others are ignored."""

    def __init__(self, objects: Iterable[JsonObject] = ()) -> None:
        self._cluster_roles: dict[str, JsonObject] = {}
        self._roles: dict[tuple[str, str], JsonObject] = {}
        self._cluster_bindings: dict[str, JsonObject] = {}
        self._bindings: dict[tuple[str, str], JsonObject] = {}
        for obj in objects:
            self._take(obj)

    def _take(self, obj: JsonObject) -> None:
        key = (metadata.namespace(obj), metadata.name(obj))
        match obj.get("kind"):
            case "ClusterRole":
                self._cluster_roles[key[1]] = obj
            case "ClusterRoleBinding":
                self._cluster_bindings[key[1]] = obj
            case "Role":
                self._roles[key] = obj
            case "RoleBinding":
                self._bindings[key] = obj

    def authorize(self, attributes: Attributes) -> Answer:
        """RBAC never denies: what it does not allow it has no opinion about."""
        if MASTERS in attributes.user.groups:
            return Ruling.ALLOW, "", None
        errors: list[str] = []
        for grant in self._grants(attributes):
            if grant.error:
                errors.append(grant.error)
            elif any(rule_allows(rule, attributes) for rule in grant.rules):
                return Ruling.ALLOW, f"RBAC: allowed by {grant.description}", None
        errors = list(dict.fromkeys(errors))
        if not errors:
            return Ruling.NO_OPINION, "", None
        text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        return Ruling.NO_OPINION, f"RBAC: {text}", None

    def _grants(self, attributes: Attributes) -> Iterator[_Grant]:
        for key in sorted(self._cluster_bindings):
            binding = self._cluster_bindings[key]
            subject = _subject(binding, attributes.user, "")
            if subject is not None:
                yield self._grant(binding, f"ClusterRoleBinding {quote(key)}", subject, "")
        for where, key in sorted(self._bindings):
            if where != attributes.namespace or not where:
                continue
            binding = self._bindings[where, key]
            subject = _subject(binding, attributes.user, where)
            if subject is not None:
                yield self._grant(binding, f"RoleBinding {quote(f'{key}/{where}')}", subject, where)

    def _grant(self, binding: JsonObject, title: str, subject: str, where: str) -> _Grant:
        ref = binding.get("roleRef") or {}
        kind, role = str(ref.get("kind", "")), str(ref.get("name", ""))
        description = f"{title} of {kind} {quote(role)} to {subject}"
        if kind == "Role":
            found = self._roles.get((where, role))
            rules = None if found is None else _rules(found)
        elif kind == "ClusterRole":
            rules = self._cluster_rules(role, frozenset())
        else:
            return _Grant((), description, f"unsupported role reference kind: {quote(kind)}")
        if rules is None:
            return _Grant((), description, f"{kind.lower()}.{RBAC_GROUP} {quote(role)} not found")
        return _Grant(rules, description)

    def _cluster_rules(self, role: str, seen: frozenset[str]) -> tuple[JsonObject, ...] | None:
        """The rules of a cluster role, collected through its aggregation rule if it has one."""
        found = self._cluster_roles.get(role)
        if found is None:
            return None
        selectors = (found.get("aggregationRule") or {}).get("clusterRoleSelectors")
        if not selectors:
            return _rules(found)
        collected: list[JsonObject] = []
        for other in sorted(self._cluster_roles):
            if other == role or other in seen:
                continue
            if any(_selects(one, self._cluster_roles[other]) for one in selectors):
                collected += self._cluster_rules(other, seen | {role}) or ()
        return tuple(collected)


def _selects(selector: JsonObject, role: JsonObject) -> bool:
    try:
        return label_selector(selector).matches(metadata.labels(role))
    except SelectorError:
        return False


def _rules(role: JsonObject) -> tuple[JsonObject, ...]:
    return tuple(role.get("rules") or ())


def _subject(binding: JsonObject, user: User, where: str) -> str | None:
    """The description of the first subject that is this user; None when there is none."""
    for subject in binding.get("subjects") or ():
        kind, who = subject.get("kind"), str(subject.get("name", ""))
        if kind == "User" and user.name == who:
            return f"User {quote(who)}"
        if kind == "Group" and who in user.groups:
            return f"Group {quote(who)}"
        if kind == "ServiceAccount":
            space = subject.get("namespace") or where
            if space and user.name == f"{SERVICE_ACCOUNT_PREFIX}{space}:{who}":
                return f"ServiceAccount {quote(f'{who}/{space}')}"
    return None


def rule_allows(rule: JsonObject, attributes: Attributes) -> bool:
    """Whether one policy rule covers the question."""
    verbs = rule.get("verbs") or ()
    if ALL not in verbs and attributes.verb not in verbs:
        return False
    if attributes.path:
        return any(_covers_path(u, attributes.path) for u in rule.get("nonResourceURLs") or ())
    groups = rule.get("apiGroups") or ()
    if ALL not in groups and attributes.group not in groups:
        return False
    if not _covers_resource(rule.get("resources") or (), attributes):
        return False
    names = rule.get("resourceNames") or ()
    return not names or attributes.name in names


def _covers_resource(resources: Iterable[str], attributes: Attributes) -> bool:
    everywhere = f"*/{attributes.subresource}" if attributes.subresource else None
    return any(r in {ALL, full_resource(attributes), everywhere} for r in resources)


def full_resource(attributes: Attributes) -> str:
    """The resource with its subresource: `pods/exec`."""
    if not attributes.subresource:
        return attributes.resource
    return f"{attributes.resource}/{attributes.subresource}"


def _covers_path(pattern: str, path: str) -> bool:
    if pattern in {ALL, path}:
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))
