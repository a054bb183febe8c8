"""Kyverno's `validate.podSecurity` as expressions: as the plugin PodSecurity, level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from celadon.admission.plugins.pod_security_standards import LevelVersion, violations
from celadon.kube import JsonObject
from tests.migrate.kyverno.policy_documents import kyverno_policy, result, rule, translated

RESTRICTED_CONTAINER: Final[Mapping[str, Any]] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}

PODS: Final[Mapping[str, JsonObject]] = {
    "nothing said": {},
    "restricted": {"context": RESTRICTED_CONTAINER},
    "privileged": {"context": {**RESTRICTED_CONTAINER, "privileged": True}},
    "capability": {"context": {**RESTRICTED_CONTAINER, "capabilities": {"add": ["SYS_ADMIN"]}}},
    "allowed capability": {
        "context": {**RESTRICTED_CONTAINER, "capabilities": {"add": ["CHOWN"], "drop": ["ALL"]}}
    },
    "windows": {"spec": {"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": True}}},
    "windows with a capability": {
        "spec": {"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": True}},
        "context": {"capabilities": {"add": ["SYS_ADMIN"]}},
    },
    "host network": {"spec": {"hostNetwork": True}, "context": RESTRICTED_CONTAINER},
    "host path": {
        "spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
        "context": RESTRICTED_CONTAINER,
    },
    "nfs": {
        "spec": {"volumes": [{"name": "v", "nfs": {"server": "s", "path": "/"}}]},
        "context": RESTRICTED_CONTAINER,
    },
    "sysctl of 1.27": {
        "spec": {"securityContext": {"sysctls": [
            {"name": "net.ipv4.ip_local_reserved_ports", "value": "1"}
        ]}},
        "context": RESTRICTED_CONTAINER,
    },
    "unconfined pod": {
        "spec": {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
        "context": {**RESTRICTED_CONTAINER, "seccompProfile": None},
    },
    "root": {"context": {**RESTRICTED_CONTAINER, "runAsUser": 0}},
    "annotation": {
        "metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/a": "none"}},
        "context": RESTRICTED_CONTAINER,
    },
}  # fmt: skip

TEMPLATES: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "Pod": ("v1", ()),
    "Deployment": ("apps/v1", ("spec", "template")),
    "CronJob": ("batch/v1", ("spec", "jobTemplate", "spec", "template")),
}


def pod_of(given: JsonObject, image: str = "a") -> dict[str, Any]:
    """The metadata and the spec of a pod with one container."""
    context = {key: one for key, one in given.get("context", {}).items() if one is not None}
    container = {"name": "a", "image": image, **({"securityContext": context} if context else {})}
    spec = {"containers": [container], **given.get("spec", {})}
    return {"metadata": given.get("metadata", {}), "spec": spec}


def in_kind(kind: str, pod: JsonObject) -> JsonObject:
    """An object of a kind with a pod in it."""
    version, path = TEMPLATES[kind]
    whole: dict[str, Any] = dict(pod)
    for name in reversed(path):
        whole = {name: whole}
    metadata = {**whole.get("metadata", {}), "name": "p", "namespace": "default"}
    return {"apiVersion": version, "kind": kind, **whole, "metadata": metadata}


def judged(demanded: JsonObject, obj: JsonObject) -> str:
    """What the translation of a rule for pods and their controllers says of an object."""
    translation = translated(kyverno_policy(rule({"podSecurity": demanded}), annotations={}))
    assert not translation.reason, translation.reason
    return result(translation, obj)


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize(
    ("level", "version"),
    [("baseline", "latest"), ("restricted", "latest"), ("restricted", "v1.25")],
)
def test_a_level_is_what_the_plugin_says(level: str, version: str, kind: str) -> None:
    minor = None if version == "latest" else int(version.removeprefix("v1."))
    demanded = {"level": level, "version": version}
    translation = translated(kyverno_policy(rule({"podSecurity": demanded}), annotations={}))
    for name, given in PODS.items():
        pod = pod_of(given)
        wrong = [
            one
            for each in {"baseline", level}
            for one in violations(LevelVersion(each, minor), pod["metadata"], pod["spec"])
        ]
        answer = result(translation, in_kind(kind, pod))
        assert answer == ("fail" if wrong else "pass"), (name, wrong)


@pytest.mark.parametrize(
    ("exclusions", "name", "image", "answer"),
    [
        ([], "capability", "redis:1", "fail"),
        ([("Capabilities", ["redis*"])], "capability", "redis:1", "pass"),
        ([("Capabilities", ["redis*"])], "capability", "nginx", "fail"),
        ([("Capabilities", ["a"]), ("Capabilities", ["n?inx"])], "capability", "nginx", "pass"),
        ([("Capabilities", ["*"])], "capability", "nginx", "pass"),
        ([("Capabilities", ["*"])], "privileged", "nginx", "fail"),
        ([("Privileged Containers", ["*"])], "privileged", "nginx", "pass"),
        ([("Host Namespaces", [])], "host network", "nginx", "pass"),
        ([("HostPath Volumes", [])], "host path", "nginx", "fail"),
        ([("HostPath Volumes", []), ("Volume Types", [])], "host path", "nginx", "pass"),
        ([("Seccomp", ["*"])], "unconfined pod", "nginx", "fail"),
        ([("Seccomp", []), ("Seccomp", ["*"])], "unconfined pod", "nginx", "pass"),
        ([("Running as Non-root user", ["redis"])], "root", "redis", "pass"),
        ([("Running as Non-root user", ["redis"])], "root", "nginx", "fail"),
    ],
)  # fmt: skip
def test_what_is_excluded(
    exclusions: Sequence[tuple[str, Sequence[str]]], name: str, image: str, answer: str
) -> None:
    exclude = [
        {"controlName": control, **({"images": images} if images else {})}
        for control, images in exclusions
    ]
    pod = in_kind("Pod", pod_of(PODS[name], image))
    assert judged({"level": "restricted", "exclude": exclude}, pod) == answer


@pytest.mark.parametrize(
    ("demanded", "reason"),
    [
        ({"level": "privileged"}, "the level privileged"),
        ({"level": "baseline", "version": "v1.24"}, "the version v1.24"),
        ({"level": "baseline", "version": "1.30"}, "the version 1.30"),
        ({"level": "baseline", "exclude": [{"controlName": "Seccomp"}]}, "of pods, but not of"),
        ({"level": "baseline", "exclude": [{"controlName": "Nothing"}]}, "does not take"),
        ({"level": "baseline", "exclude": [{"controlName": "Capabilities"}]}, "does not take"),
        (
            {"level": "baseline", "exclude": [{"controlName": "Sysctls", "images": ["a"]}]},
            "does not take",
        ),
        (
            {
                "level": "baseline",
                "exclude": [
                    {
                        "controlName": "Capabilities",
                        "images": ["*"],
                        "restrictedField": "spec.containers[*].securityContext.capabilities.add",
                    }
                ],
            },
            "`restrictedField`",
        ),
    ],
)
def test_what_is_not_translated(demanded: JsonObject, reason: str) -> None:
    translation = translated(kyverno_policy(rule({"podSecurity": demanded})))
    assert reason in translation.reason


def test_only_kinds_with_pods() -> None:
    demanded = {"podSecurity": {"level": "baseline"}}
    translation = translated(kyverno_policy(rule(demanded, ["ConfigMap"])))
    assert "without a template of Pods" in translation.reason


def test_messages_name_the_check() -> None:
    demanded = {"message": "Not here.", "podSecurity": {"level": "baseline"}}
    (policy,) = translated(kyverno_policy(rule(demanded))).policies
    messages = [one["message"] for one in policy["spec"]["validations"]]
    assert "Not here. (privileged)" in messages
    assert len(set(messages)) == len(messages)
