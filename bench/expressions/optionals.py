"""Chains of optional fields."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Final

from bench.case import Case, JsonObject


def team_label(pod: JsonObject) -> bool:
    return pod["metadata"].get("labels", {}).get("team", "") != ""


def pod_non_root(deployment: JsonObject) -> bool:
    spec = deployment["spec"].get("template", {}).get("spec", {})
    return spec.get("securityContext", {}).get("runAsNonRoot", False)


def seccomp(pod: JsonObject) -> bool:
    profile = pod["spec"].get("securityContext", {}).get("seccompProfile", {})
    return profile.get("type", "Unconfined") in ("RuntimeDefault", "Localhost")


def dropped_capabilities(pod: JsonObject) -> bool:
    return all(
        "ALL" in container.get("securityContext", {}).get("capabilities", {}).get("drop", ())
        for container in pod["spec"]["containers"]
    )


def gold_tier(deployment: JsonObject) -> bool:
    tier = deployment["metadata"].get("annotations", {}).get("example.com/tier")
    return tier is not None and (tier == "gold" or tier == "platinum")


CASES: Final = (
    Case(team_label, "object.metadata.?labels.?team.orValue('') != ''", "Pod"),
    Case(
        pod_non_root,
        "object.spec.?template.?spec.?securityContext.?runAsNonRoot.orValue(false)",
        "Deployment",
    ),
    Case(
        seccomp,
        "object.spec.?securityContext.?seccompProfile.?type.orValue('Unconfined')"
        " in ['RuntimeDefault', 'Localhost']",
        "Pod",
    ),
    Case(
        dropped_capabilities,
        "object.spec.containers.all(c,"
        " 'ALL' in c.?securityContext.?capabilities.?drop.orValue([]))",
        "Pod",
    ),
    Case(
        gold_tier,
        "object.metadata.?annotations[?'example.com/tier']"
        ".optMap(tier, tier == 'gold' || tier == 'platinum').orValue(false)",
        "Deployment",
    ),
)
