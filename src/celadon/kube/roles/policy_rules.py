"""One rule of a role, and what it allows.

A rule is about resources or about other paths. `*` stands for every verb, group, resource (with all
subresources) or path; `*/scale` for one subresource of everything; a path may end in `*`. As
k8s.io/kubernetes `pkg/apis/rbac/v1/evaluation_helpers.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from celadon.kube.authorization import Attributes
from celadon.kube.go.go_text import quote
from celadon.records import dataclass

ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """The members of a rule as they are in the API, absent ones empty."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = ()

    def allows(self, asked: Attributes) -> bool:
        """Whether this rule alone is enough."""
        if asked.verb not in self.verbs and ALL not in self.verbs:
            return False
        if not asked.resource_request:
            return any(covers_url(one, asked.path) for one in self.non_resource_urls)
        if asked.group not in self.api_groups and ALL not in self.api_groups:
            return False
        if not self._has_resource(asked):
            return False
        return not self.resource_names or asked.name in self.resource_names

    def _has_resource(self, asked: Attributes) -> bool:
        resources = self.resources
        if ALL in resources or full_resource(asked) in resources:
            return True
        return bool(asked.subresource) and f"{ALL}/{asked.subresource}" in resources

    def __str__(self) -> str:
        """`{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`, as refusals name it."""
        members = (
            ("APIGroups", self.api_groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.non_resource_urls),
            ("ResourceNames", self.resource_names),
            ("Verbs", self.verbs),
        )
        shown = (f"{name}:{quoted_list(values)}" for name, values in members if values)
        return f"{{{', '.join(shown)}}}"

    def to_json(self) -> dict[str, Any]:
        """In the order of the API; what is empty is left out, except verbs."""
        members = {
            "apiGroups": self.api_groups,
            "resources": self.resources,
            "resourceNames": self.resource_names,
            "nonResourceURLs": self.non_resource_urls,
        }
        shown = {name: list(values) for name, values in members.items() if values}
        return {"verbs": list(self.verbs), **shown}


def policy_rules(role: Mapping[str, Any]) -> tuple[PolicyRule, ...]:
    """The rules of a Role or ClusterRole."""
    return tuple(_rule(one) for one in role.get("rules") or ())


def _rule(given: Mapping[str, Any]) -> PolicyRule:
    fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    return PolicyRule(*(tuple(given.get(field) or ()) for field in fields))


def full_resource(asked: Attributes) -> str:
    """The resource with its subresource: `pods/exec`."""
    if not asked.subresource:
        return asked.resource
    return f"{asked.resource}/{asked.subresource}"


def covers_url(pattern: str, path: str) -> bool:
    """Whether a path, or a pattern of paths, lies within a pattern."""
    if pattern in {ALL, path}:
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))


def quoted_list(texts: Iterable[str]) -> str:
    """Go's `%q` of strings: `["a" "b"]`."""
    return f"[{' '.join(map(quote, texts))}]"
