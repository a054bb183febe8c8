"""The authorizer that answers from roles and bindings.

Its words are those of k8s.io/kubernetes `plugin/pkg/auth/authorizer/rbac`. Members of
`system:masters` may do everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from celadon.kube.authorization import MASTERS, Answer, Attributes, Ruling, User
from celadon.kube.roles.policy_rules import PolicyRule
from celadon.kube.roles.role_index import RoleIndex, RoleRef


class RbacAuthorizer:
    """Over an index, or over the manifests given (others than roles and bindings are ignored, and
    aggregated roles have the rules that a controller would give them)."""

    def __init__(self, objects: Iterable[Mapping[str, Any]] | RoleIndex = ()) -> None:
        if not isinstance(objects, RoleIndex):
            objects = RoleIndex(objects, aggregating=True)
        self.index = objects

    def authorize(self, attributes: Attributes) -> Answer:
        """RBAC never denies: what it does not allow it has no opinion about."""
        if MASTERS in attributes.user.groups:
            return Ruling.ALLOW, "", None
        errors: list[str] = []
        namespace = attributes.namespace if attributes.resource_request else ""
        for grant in self.index.grants(attributes.user, namespace):
            if grant.rules is None:
                errors.append(grant.role.error)
                continue
            for rule in grant.rules:
                if rule.allows(attributes):
                    return Ruling.ALLOW, f"RBAC: allowed by {grant.source}", None
        reason = f"RBAC: {aggregated(errors)}" if errors else ""
        return Ruling.NO_OPINION, reason, None

    def rules_for(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[RoleRef]]:
        """All that a user may do there, as rules, and the roles that could not be found."""
        grants = self.index.grants(user, namespace)
        rules = [rule for grant in grants for rule in grant.rules or ()]
        return rules, [grant.role for grant in grants if grant.rules is None]


def aggregated(errors: Iterable[str]) -> str:
    """Several errors as one text: each once, in brackets if they are several. As
    k8s.io/apimachinery `pkg/util/errors`."""
    once = list(dict.fromkeys(errors))
    return once[0] if len(once) == 1 else f"[{', '.join(once)}]"
