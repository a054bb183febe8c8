"""What an operator tells PodSecurity; untold, nothing is exempt and a namespace is privileged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.admission.plugins.pod_security.security_levels import (
    PREFIX,
    PRIVILEGED,
    UNLABELLED,
    SecurityPolicy,
)
from celadon.admission.request import Request
from celadon.kube.go import quote
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """What namespaces without labels choose, and whom PodSecurity leaves alone."""

    defaults: SecurityPolicy = UNLABELLED
    usernames: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def exemption(self, request: Request) -> str:
        """By what a request is exempt; empty if it is not."""
        if request.namespace in self.namespaces:
            return "namespace"
        return "user" if request.user.name in self.usernames else ""

    def exempts(self, pod_spec: Mapping[str, Any]) -> bool:
        """By the way in which the pod is run."""
        return pod_spec.get("runtimeClassName") in self.runtime_classes

    def remark(self, namespace: str, policy: SecurityPolicy) -> str:
        """What to say about the labels of an exempt namespace; empty if they ask for nothing."""
        modes = {"enforce": policy.enforce, "audit": policy.audit, "warn": policy.warn}
        asked = [f"{mode}={one}" for mode, one in modes.items() if one.level != PRIVILEGED]
        if not asked or policy == self.defaults:
            return ""
        return (
            f"namespace {quote(namespace)} is exempt from Pod Security, "
            f"and the policy ({', '.join(asked)}) will be ignored"
        )


def exempt_note(by: str) -> dict[str, str]:
    """What the audit event says of an exemption."""
    return {PREFIX + "exempt": by}


UNTOLD: Final = SecuritySettings()
