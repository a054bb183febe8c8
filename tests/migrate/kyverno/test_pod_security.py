"""Kyverno's `validate.podSecurity` as expressions: as the plugin PodSecurity, level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from celadon.admission.plugins.pod_security_standards import LevelVersion, violations
from celadon.kube import JsonObject
from celadon.kube.releases import answering_as
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
    "host process": {
        "spec": {"securityContext": {"windowsOptions": {"hostProcess": True}}},
        "context": RESTRICTED_CONTAINER,
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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
        ([("HostProcess", []), ("SELinux", [])], "host process", "nginx", "pass"),
        ([("HostProcess", ["*"])], "host process", "nginx", "fail"),
        ([("AppArmor", [])], "annotation", "nginx", "pass"),
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


def field_excluded(control: str, path: str, values: Sequence[str], *images: str) -> JsonObject:
    """An exclusion of the values of a field, of the pod or of containers with images."""
    of_images = {"images": list(images)} if images else {}
    return {"controlName": control, "restrictedField": path, "values": list(values), **of_images}


SECCOMP: Final = "securityContext.seccompProfile.type"
SELINUX: Final = "securityContext.seLinuxOptions"
CONTAINERS: Final = "spec.containers[*]"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("control", "path", "context", "spec", "answers"),
    [
        ("Capabilities", "securityContext.capabilities.add",
         {"capabilities": {"add": ["A", "B"]}}, {}, {"A": "fail", "A B": "pass", "?": "pass"}),
        ("Capabilities", "securityContext.capabilities.add",
         {"capabilities": {"add": ["A", "CHOWN"]}}, {}, {"A": "pass", "CHOWN": "fail"}),
        ("Privileged Containers", "securityContext.privileged", {"privileged": True}, {},
         {"true": "pass", "t*": "pass", "false": "fail"}),
        ("Host Ports", "ports[*].hostPort", {}, {"ports": [{"hostPort": 10}, {"hostPort": 20}, {}]},
         {"10": "fail", "10 20": "pass", "?0": "pass"}),
        ("/proc Mount Type", "securityContext.procMount", {"procMount": "Unmasked"}, {},
         {"Unmasked": "pass", "unmasked": "fail"}),
        ("AppArmor", "securityContext.appArmorProfile.type",
         {"appArmorProfile": {"type": "Unconfined"}}, {},
         {"Unconfined": "pass", "Localhost": "fail"}),
        ("HostProcess", "securityContext.windowsOptions.hostProcess",
         {"windowsOptions": {"hostProcess": True}}, {}, {"true": "pass", "false": "fail"}),
        ("SELinux", f"{SELINUX}.type", {"seLinuxOptions": {"type": "t"}}, {},
         {"t": "pass", "u": "fail"}),
        ("SELinux", f"{SELINUX}.type", {"seLinuxOptions": {"type": "t", "user": "u"}}, {},
         {"t": "fail", "t u": "fail"}),
        ("SELinux", f"{SELINUX}.user", {"seLinuxOptions": {"user": "u"}}, {}, {"u": "pass"}),
        ("Seccomp", SECCOMP, {"seccompProfile": {"type": "Unconfined"}}, {},
         {"Unconfined": "pass", "Localhost": "fail"}),
    ],
)  # fmt: skip
def test_values_of_containers_that_are_forgiven(
    control: str, path: str, context: JsonObject, spec: JsonObject, answers: Mapping[str, str]
) -> None:
    pod = pod_of({"context": context}, "nginx")
    pod["spec"]["containers"][0].update(spec)
    other = pod_of({"context": context}, "redis")
    other["spec"]["containers"][0].update(spec)
    first = pod_of({"spec": {"initContainers": pod["spec"]["containers"]}})
    for values, answer in answers.items():
        exclusion = field_excluded(control, f"{CONTAINERS}.{path}", values.split(), "nginx")
        demanded = {"level": "baseline", "exclude": [exclusion]}
        assert judged(demanded, in_kind("Pod", pod)) == answer, values
        assert judged(demanded, in_kind("CronJob", pod)) == answer, values
        assert judged(demanded, in_kind("Pod", other)) == "fail", values
        assert judged(demanded, in_kind("Pod", first)) == "fail", values


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("control", "path", "spec", "answers"),
    [
        ("Host Namespaces", "hostNetwork", {"hostNetwork": True},
         {"true": "pass", "false": "fail"}),
        ("Host Namespaces", "hostPID", {"hostNetwork": True}, {"true": "fail"}),
        ("Sysctls", "securityContext.sysctls[*].name",
         {"securityContext": {"sysctls": [{"name": "a.b"}, {"name": "a.c"}]}},
         {"a.b": "fail", "a.b a.c": "pass", "a.*": "pass"}),
        ("HostPath Volumes", "volumes[*].hostPath",
         {"volumes": [{"name": "v", "hostPath": {"path": "/var/lib"}}, {"name": "w"}]},
         {"/var/lib": "pass", "/var*": "pass", "/etc": "fail"}),
        ("HostProcess", "securityContext.windowsOptions.hostProcess",
         {"securityContext": {"windowsOptions": {"hostProcess": True}}}, {"true": "pass"}),
        ("Seccomp", SECCOMP, {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
         {"Unconfined": "pass", "Localhost": "fail"}),
        ("SELinux", f"{SELINUX}.role", {"securityContext": {"seLinuxOptions": {"role": "r"}}},
         {"r": "pass", "s": "fail"}),
    ],
)  # fmt: skip
def test_values_of_pods_that_are_forgiven(
    control: str, path: str, spec: JsonObject, answers: Mapping[str, str]
) -> None:
    pod = pod_of({"spec": spec})
    for values, answer in answers.items():
        exclusion = field_excluded(control, f"spec.{path}", values.split())
        demanded = {"level": "baseline", "exclude": [exclusion]}
        assert judged(demanded, in_kind("Pod", pod)) == answer, values
        assert judged(demanded, in_kind("Deployment", pod)) == answer, values


def without(name: str, **context: Any) -> JsonObject:
    """What a restricted container says, but one field."""
    return {key: one for key, one in RESTRICTED_CONTAINER.items() if key != name} | context


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("exclusions", "contexts", "spec", "answer"),
    [
        # A value that is missing is forgiven with any value, but not one that says nothing.
        ([("Privilege Escalation", "allowPrivilegeEscalation", ["true"])],
         [without("allowPrivilegeEscalation")], {}, "fail"),
        ([("Privilege Escalation", "allowPrivilegeEscalation", ["nil"])],
         [without("allowPrivilegeEscalation")], {}, "pass"),
        ([("Privilege Escalation", "allowPrivilegeEscalation", ["nil"])],
         [without("allowPrivilegeEscalation", allowPrivilegeEscalation=True)], {}, "fail"),
        ([("Running as Non-root", "runAsNonRoot", ["other"])],
         [without("runAsNonRoot")], {}, "pass"),
        ([("Running as Non-root", "runAsNonRoot", ["other"])],
         [without("runAsNonRoot", runAsNonRoot=False)], {}, "fail"),
        ([("Running as Non-root", "runAsNonRoot", ["false"])],
         [without("runAsNonRoot", runAsNonRoot=False)], {}, "pass"),
        ([("Running as Non-root user", "runAsUser", ["0"])],
         [without("", runAsUser=0)], {}, "pass"),
        # The level restricted has checks of both levels, and fields of their own.
        ([("Capabilities", "capabilities.add", ["A"])],
         [without("", capabilities={"add": ["A"], "drop": ["ALL"]})], {}, "pass"),
        ([("Capabilities", "capabilities.add", ["A"])],
         [without("", capabilities={"add": ["A"], "drop": []})], {}, "fail"),
        ([("Capabilities", "capabilities.add", ["A"]),
          ("Capabilities", "capabilities.drop", ["B"])],
         [without("", capabilities={"add": ["A"], "drop": ["B"]})], {}, "pass"),
        # Each exclusion has to forgive all capabilities of a container.
        ([("Capabilities", "capabilities.add", ["A"]), ("Capabilities", "capabilities.add", ["B"])],
         [without("", capabilities={"add": ["A", "B"], "drop": ["ALL"]})], {}, "fail"),
        # A profile that is missing is no error where another is bad.
        ([("Seccomp", "seccompProfile.type", ["Unconfined"])],
         [without("", seccompProfile={"type": "Unconfined"}), without("seccompProfile")], {},
         "pass"),
        ([("Seccomp", "seccompProfile.type", ["a"])], [without("seccompProfile")], {}, "pass"),
        ([("Volume Types", "spec.volumes[*].nfs", ["a"]),
          ("Volume Types", "spec.volumes[*].rbd", ["b"])],
         [without("")], {"volumes": [{"nfs": {}}, {"rbd": {}}]}, "pass"),
        ([("Volume Types", "spec.volumes[*].nfs", ["a"])],
         [without("")], {"volumes": [{"nfs": {}}, {"rbd": {}}]}, "fail"),
    ],
)  # fmt: skip
def test_errors_of_the_level_restricted(
    exclusions: Sequence[tuple[str, str, Sequence[str]]],
    contexts: Sequence[JsonObject],
    spec: JsonObject,
    answer: str,
) -> None:
    exclude = [
        field_excluded(control, path, values)
        if path.startswith("spec.")
        else field_excluded(control, f"{CONTAINERS}.securityContext.{path}", values, "a")
        for control, path, values in exclusions
    ]
    pod = pod_of({"spec": spec})
    pod["spec"]["containers"] = [
        {"name": f"c{index}", "image": "ab"[index], "securityContext": one}
        for index, one in enumerate(contexts)
    ]
    assert judged({"level": "restricted", "exclude": exclude}, in_kind("Pod", pod)) == answer


def test_a_field_of_the_pod_is_all_that_is_left() -> None:
    exclude = [
        field_excluded(
            "Running as Non-root", f"{CONTAINERS}.securityContext.runAsNonRoot", ["a"], "b"
        ),
        {"controlName": "Running as Non-root", "images": ["*"]},
    ]
    demanded = {"level": "restricted", "exclude": exclude}
    for given, answer in ((True, "pass"), (False, "fail")):
        spec = {"securityContext": {"runAsNonRoot": given}}
        pod = pod_of({"spec": spec, "context": without("runAsNonRoot")})
        assert judged(demanded, in_kind("Pod", pod)) == answer


def test_the_latest_version_is_that_of_kyverno() -> None:
    """It knows no pods with users of their own."""
    pod = pod_of({"spec": {"hostUsers": False}, "context": without("", runAsUser=0)})
    assert judged({"level": "restricted"}, in_kind("Pod", pod)) == "fail"


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
            "does not take",
        ),
        (
            {"level": "baseline", "exclude": [field_excluded("Sysctls", "spec.hostPID", ["a"])]},
            "the `restrictedField` spec.hostPID",
        ),
        (
            {
                "level": "baseline",
                "exclude": [
                    field_excluded("Seccomp", f"spec.containers[*].{SECCOMP}", ["Unconfined"])
                ],
            },
            "the `restrictedField` spec.containers",
        ),
        (
            {
                "level": "baseline",
                "exclude": [
                    field_excluded("Host Ports", "spec.containers[*].ports[*].hostPort", [one], "*")
                    for one in ("10", "20")
                ],
            },
            "several exclusions",
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


@pytest.mark.parametrize(("release", "asks"), [("1.30", False), ("1.31", True)])
def test_fields_are_those_of_the_release(release: str, asks: bool) -> None:
    demanded = {"podSecurity": {"level": "restricted"}}
    with answering_as(release):
        found = translated(kyverno_policy(rule(demanded), annotations={}))
    assert ("volume.image" in str(found.documents)) is asks
    assert "volume.projected" in str(found.documents)


def test_messages_name_the_check() -> None:
    demanded = {"message": "Not here.", "podSecurity": {"level": "baseline"}}
    (policy,) = translated(kyverno_policy(rule(demanded))).policies
    messages = [one["message"] for one in policy["spec"]["validations"]]
    assert "Not here. (privileged)" in messages
    assert len(set(messages)) == len(messages)
