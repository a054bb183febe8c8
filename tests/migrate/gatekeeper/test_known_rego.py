"""Templates in Rego that are known: how they are recognised, and what they demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate.gatekeeper import constraint_translation, rego_general, rego_pod_security
from celadon.migrate.gatekeeper.rego_general import DIGITS, digest
from tests.migrate.gatekeeper.gatekeeper_documents import (
    constraint,
    of_kind,
    pod,
    refusal,
    review,
    template,
    translated,
)

KNOWN = {**rego_general.KNOWN, **rego_pod_security.KNOWN}
ANYTHING: JsonObject = {"x-kubernetes-preserve-unknown-fields": True}

TEXT = """package a

# What it is for.
violation[{"msg": msg}] {
  input.x == "#1"   # in the end
  msg := `a  # b`
}
"""


@pytest.mark.parametrize(
    "same",
    [
        TEXT + "\n\n",
        TEXT.replace("# What it is for.\n", ""),
        TEXT.replace("  input", "\tinput"),
        TEXT.replace("  # in the end", ""),
    ],
)
def test_comments_and_layout_have_no_meaning(same: str) -> None:
    assert digest([same]) == digest([TEXT])
    assert len(digest([TEXT])) == DIGITS


@pytest.mark.parametrize(
    "texts",
    [
        [TEXT.replace("#1", "#2")],
        [TEXT.replace("a  # b", "a # b")],
        [TEXT.replace('"#1"', '"\\"#1"')],
        [TEXT, "package lib"],
        [TEXT.replace("  msg", "} violation {\n  msg")],
    ],
)
def test_everything_else_has(texts: Sequence[str]) -> None:
    assert digest(texts) != digest([TEXT])


def test_no_text_is_known_twice() -> None:
    every = [
        one
        for versions in KNOWN.values()
        for known in versions
        for one in (*known.digests, *known.digests_of_all_operations)
    ]
    assert len(every) == len(set(every))
    assert {len(one) for one in every} == {DIGITS}


def with_image(image: str) -> JsonObject:
    return pod({"image": image})


def limited(**limits: Json) -> JsonObject:
    return pod({"resources": {"limits": limits}})


def sized(limits: JsonObject, requests: JsonObject) -> JsonObject:
    return pod({"resources": {"limits": limits, "requests": requests}})


def named(kind: str, api_version: str = "v1", **rest: Json) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **rest}


def service(**spec: Json) -> JsonObject:
    return named("Service", spec=spec)


def ingress(annotations: JsonObject, **spec: Json) -> JsonObject:
    made = named("Ingress", "networking.k8s.io/v1", spec=spec)
    made["metadata"]["annotations"] = annotations
    return made


def scaler(least: int, most: int) -> JsonObject:
    spec: JsonObject = {
        "minReplicas": least,
        "maxReplicas": most,
        "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
    }
    return named("HorizontalPodAutoscaler", "autoscaling/v2", spec=spec)


def deployment(account: str | None = None, **spec: Json) -> JsonObject:
    below: dict[str, Any] = {"containers": []}
    if account:
        below["serviceAccountName"] = account
    return named("Deployment", "apps/v1", spec={"template": {"spec": below}, **spec})


def bound(*names: str, role: str = "view") -> JsonObject:
    subjects: list[Json] = [{"kind": "Group", "name": one} for one in names]
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    kind = "ClusterRoleBinding"
    return named(kind, "rbac.authorization.k8s.io/v1", roleRef=ref, subjects=subjects)


def editing(name: str, rules: list[Json] | None) -> JsonObject:
    role = named("ClusterRole", "rbac.authorization.k8s.io/v1", rules=rules)
    role["metadata"]["name"] = name
    return role


def annotated(**annotations: str) -> JsonObject:
    made = named("ConfigMap")
    made["metadata"]["annotations"] = annotations
    return made


SMALL = {"cpu": "200m", "memory": "1Gi"}
HTTP_OFF = {"kubernetes.io/ingress.allow-http": "false"}
TLS: list[Json] = [{"secretName": "s"}]
EDIT = "system:aggregate-to-edit"
ENDPOINTS = {"apiGroups": [""], "resources": ["endpoints"], "verbs": ["get", "patch"]}
SHOP = {"user": "u", "role": "r", "type": "t", "level": "s0"}
RANGE: list[Json] = [{"min": 100, "max": 200}]
FROM_3_TO_6: list[Json] = [{"min_replicas": 3, "max_replicas": 6}]
OLD = {"deprecatedAPI": "x.io/v1beta1", "kinds": ["A", "B"], "targetAPI": "x.io/v1"}
GONE = {"deprecatedAPI": "y.io/v1beta1", "kinds": ["A"], "targetAPI": "None"}


def user(rule: str, **more: Json) -> JsonObject:
    return {"runAsUser": {"rule": rule, **more}}


def running(context: JsonObject, of_pod: JsonObject | None = None) -> JsonObject:
    more: dict[str, Any] = {"securityContext": of_pod} if of_pod is not None else {}
    return pod({"securityContext": context}, **more)


def secured(**context: Json) -> JsonObject:
    return pod({"securityContext": context})


CASES: list[tuple[str, JsonObject, JsonObject, str]] = [
    ("K8sAllowedRepos", {"repos": ["a/"]}, with_image("a/b"), ""),
    (
        "K8sAllowedRepos",
        {"repos": ["a/", "b/"]},
        with_image("c/b"),
        'container <c> has an invalid image repo <c/b>, allowed repos are ["a/", "b/"]',
    ),
    (
        "K8sAllowedRepos",
        {"repos": ["a/"]},
        pod({"image": "a/x"}, initContainers=[{"name": "i", "image": "x"}]),
        'initContainer <i> has an invalid image repo <x>, allowed repos are ["a/"]',
    ),
    ("K8sAllowedRepos", {"repos": ["a/"]}, deployment(), ""),
    ("K8sAllowedReposv2", {"allowedImages": ["a"]}, with_image("a"), ""),
    ("K8sAllowedReposv2", {"allowedImages": ["a/*"]}, with_image("a/b"), ""),
    (
        "K8sAllowedReposv2",
        {"allowedImages": ["a"]},
        with_image("ab"),
        'container <c> has an invalid image <ab>, allowed images are ["a"]',
    ),
    ("K8sDisallowedRepos", {"repos": ["a/"]}, with_image("b/a/"), ""),
    (
        "K8sDisallowedRepos",
        {"repos": ["a/"]},
        with_image("a/b"),
        'container <c> has an invalid image repo <a/b>, disallowed repos are ["a/"]',
    ),
    ("K8sDisallowedTags", {"tags": ["latest"]}, with_image("a:1"), ""),
    (
        "K8sDisallowedTags",
        {"tags": ["latest"]},
        with_image("a:latest"),
        'container <c> uses a disallowed tag <a:latest>; disallowed tags are ["latest"]',
    ),
    (
        "K8sDisallowedTags",
        {"tags": []},
        with_image("host:5000/a"),
        "container <c> didn't specify an image tag <host:5000/a>",
    ),
    (
        "K8sDisallowedTags",
        {"tags": ["latest"], "exemptImages": ["a:*"]},
        with_image("a:latest"),
        "",
    ),
    (
        "K8sDisallowedTags",
        {"tags": ["latest"], "exemptImages": ["a:lat"]},
        with_image("a:latest"),
        'container <c> uses a disallowed tag <a:latest>; disallowed tags are ["latest"]',
    ),
    ("K8sImageDigests", {}, with_image("a@sha256:0f"), ""),
    (
        "K8sImageDigests",
        {},
        with_image("a:1"),
        "container <c> uses an image without a digest <a:1>",
    ),
    ("K8sImageDigests", {"exemptImages": ["a:1"]}, with_image("a:1"), ""),
    ("K8sContainerLimits", SMALL, limited(cpu="0.2", memory="1024Mi"), ""),
    ("K8sContainerLimits", SMALL, limited(cpu=0, memory="1Gi"), ""),
    (
        "K8sContainerLimits",
        SMALL,
        limited(cpu="201m", memory="1Gi"),
        "container <c> cpu limit <201m> is higher than the maximum allowed of <200m>",
    ),
    (
        "K8sContainerLimits",
        SMALL,
        limited(cpu="200m", memory="1025Mi"),
        "container <c> memory limit <1025Mi> is higher than the maximum allowed of <1Gi>",
    ),
    ("K8sContainerLimits", SMALL, limited(cpu="1m"), "container <c> has no memory limit"),
    ("K8sContainerLimits", SMALL, limited(memory="1"), "container <c> has no cpu limit"),
    ("K8sContainerLimits", {"memory": "1Gi", "cpu": "-1"}, limited(memory="1"), ""),
    ("K8sContainerLimits", {"memory": "1Gi"}, limited(memory="1", cpu="900"), ""),
    (
        "K8sContainerLimits",
        SMALL,
        limited(cpu="1m", memory="1e3"),
        "container <c> memory limit <1e3> could not be parsed",
    ),
    ("K8sContainerLimits", {**SMALL, "exemptImages": ["nginx:*"]}, pod(), ""),
    (
        "K8sContainerRequests",
        SMALL,
        sized({}, {"cpu": "1", "memory": "1"}),
        "container <c> cpu request <1> is higher than the maximum allowed of <200m>",
    ),
    ("K8sContainerRequests", {}, sized({}, {"cpu": "1", "memory": "1"}), ""),
    (
        "K8sContainerRatios",
        {"ratio": "2"},
        sized({"cpu": "2", "memory": "3Gi"}, {"cpu": "1", "memory": "1Gi"}),
        "container <c> memory limit <3Gi> is higher than the maximum allowed ratio of <2>",
    ),
    (
        "K8sContainerRatios",
        {"ratio": "100", "cpuRatio": "1.5"},
        sized({"cpu": "1501m", "memory": "1"}, {"cpu": "1", "memory": "1"}),
        "container <c> cpu limit <1501m> is higher than the maximum allowed ratio of <1.5>",
    ),
    (
        "K8sContainerRatios",
        {},
        sized({"cpu": "1", "memory": "1"}, {"cpu": "1"}),
        "container <c> has no memory request",
    ),
    (
        "K8sContainerRatios",
        {"cpuRatio": "2"},
        sized({"cpu": "3", "memory": "1"}, {"cpu": "1", "memory": "1"}),
        "",
    ),
    *(
        (
            "K8sContainerRatios",
            {"ratio": str(ratio)},
            sized({"cpu": f"{29 * ratio}m", "memory": "1"}, {"cpu": "29m", "memory": "1"}),
            "",
        )
        for ratio in (3, 7, 10, 100)
    ),
    (
        "K8sRequiredResources",
        {"limits": ["cpu", "memory"], "requests": ["cpu"]},
        sized({"memory": "1"}, {"cpu": "1"}),
        'container <c> does not have <{"cpu"}> limits defined',
    ),
    ("K8sRequiredResources", {}, pod(), ""),
    (
        "K8sContainerEphemeralStorageLimit",
        {"ephemeral-storage": "1Gi"},
        pod({"resources": {"limits": {"ephemeral-storage": "2Gi"}}}),
        "container <c> ephemeral-storage limit <2Gi> is higher than the maximum allowed of <1Gi>",
    ),
    (
        "K8sContainerEphemeralStorageLimit",
        {"ephemeral-storage": "1Gi"},
        review("UPDATE", pod(), pod()),
        "",
    ),
    (
        "K8sPSPAutomountServiceAccountTokenPod",
        {},
        pod(automountServiceAccountToken=True),
        "Automounting service account token is disallowed, pod: p",
    ),
    (
        "K8sPSPAutomountServiceAccountTokenPod",
        {},
        pod(
            {
                "volumeMounts": [
                    {"name": "t", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
                ]
            }
        ),
        "Automounting service account token is disallowed, pod: p",
    ),
    ("K8sPSPAutomountServiceAccountTokenPod", {}, pod(automountServiceAccountToken=False), ""),
    ("K8sPSPAutomountServiceAccountTokenPod", {}, pod(), ""),
    (
        "K8sDisallowInteractiveTTY",
        {},
        pod({"tty": True}),
        "Containers using tty or stdin (c) are not allowed running image: nginx:1",
    ),
    ("K8sDisallowInteractiveTTY", {}, pod({"stdin": False}), ""),
    ("K8sBlockEndpointEditDefaultRole", {}, editing(EDIT, None), ""),
    ("K8sBlockEndpointEditDefaultRole", {}, editing("other", [ENDPOINTS]), ""),
    ("K8sBlockEndpointEditDefaultRole", {}, editing(EDIT, [{**ENDPOINTS, "verbs": ["get"]}]), ""),
    (
        "K8sBlockEndpointEditDefaultRole",
        {},
        editing(EDIT, [ENDPOINTS]),
        "ClusterRole system:aggregate-to-edit should not allow endpoint edit permissions. For k8s "
        "version < 1.22, the Cluster Role should be annotated with "
        "rbac.authorization.kubernetes.io/autoupdate=false to prevent autoreconciliation back to "
        "default permissions for this role.",
    ),
    (
        "K8sBlockLoadBalancer",
        {},
        service(type="LoadBalancer"),
        "User is not allowed to create service of type LoadBalancer",
    ),
    ("K8sBlockLoadBalancer", {}, service(), ""),
    (
        "K8sBlockNodePort",
        {},
        service(type="NodePort"),
        "User is not allowed to create service of type NodePort",
    ),
    ("K8sBlockNodePort", {}, pod(), ""),
    (
        "K8sBlockWildcardIngress",
        {},
        ingress({}, rules=[{"host": "a.b"}, {"host": "*.b"}]),
        "Hostname '*.b' is not allowed since it counts as a wildcard, which can be used to "
        "intercept traffic from other applications.",
    ),
    (
        "K8sBlockWildcardIngress",
        {},
        ingress({}, rules=[{}]),
        "Hostname '' is not allowed since it counts as a wildcard, which can be used to intercept "
        "traffic from other applications.",
    ),
    ("K8sBlockWildcardIngress", {}, ingress({}, rules=[{"host": "a"}]), ""),
    ("K8sBlockWildcardIngress", {}, service(), ""),
    (
        "K8sExternalIPs",
        {"allowedIPs": ["1.1.1.1"]},
        service(externalIPs=["1.1.1.1", "2.2.2.2"]),
        'service has forbidden external IPs: {"2.2.2.2"}',
    ),
    ("K8sExternalIPs", {}, service(), ""),
    ("K8sHttpsOnly", {}, ingress(HTTP_OFF, tls=TLS), ""),
    (
        "K8sHttpsOnly",
        {},
        ingress(HTTP_OFF),
        "Ingress should be https. tls configuration and allow-http=false annotation are required "
        "for x",
    ),
    ("K8sHttpsOnly", {"tlsOptional": True}, ingress(HTTP_OFF), ""),
    (
        "K8sHttpsOnly",
        {"tlsOptional": True},
        ingress({}, tls=TLS),
        "Ingress should be https. The allow-http=false annotation is required for x",
    ),
    ("K8sHttpsOnly", {}, service(), ""),
    ("K8sHorizontalPodAutoscaler", {"ranges": FROM_3_TO_6}, scaler(3, 6), ""),
    (
        "K8sHorizontalPodAutoscaler",
        {"ranges": FROM_3_TO_6},
        scaler(2, 6),
        "The HorizontalPodAutoscaler <x> minReplicas 2 or maxReplicas 6 is not allowed. Allowed "
        "ranges: 3 to 6",
    ),
    (
        "K8sHorizontalPodAutoscaler",
        {"minimumReplicaSpread": 2},
        scaler(2, 3),
        "The HorizontalPodAutoscaler <x> is configured with minReplicas 2 and maxReplicas 3. The "
        "spread must be at least 2 replica(s)",
    ),
    ("K8sReplicaLimits", {"ranges": FROM_3_TO_6}, deployment(replicas=6), ""),
    (
        "K8sReplicaLimits",
        {"ranges": FROM_3_TO_6},
        deployment(replicas=7),
        "The provided number of replicas is not allowed for Deployment: x. Allowed ranges: 3 to 6",
    ),
    (
        "K8sReplicaLimits",
        {},
        deployment(),
        "The provided number of replicas is not allowed for Deployment: x. Allowed ranges:",
    ),
    ("K8sReplicaLimits", {"ranges": FROM_3_TO_6}, annotated(), ""),
    (
        "K8sRequiredAnnotations",
        {"annotations": [{"key": "a"}, {"key": "b"}]},
        annotated(b="1"),
        'you must provide annotation(s): {"a"}',
    ),
    (
        "K8sRequiredAnnotations",
        {"annotations": [{"key": "a", "allowedRegex": "^x"}]},
        annotated(a="yx"),
        "Annotation <a: yx> does not satisfy allowed regex: ^x",
    ),
    (
        "K8sRequiredAnnotations",
        {"annotations": [{"key": "a", "allowedRegex": "x"}, {"key": "b", "allowedRegex": ""}]},
        annotated(a="yx", b=""),
        "",
    ),
    (
        "K8sRequiredProbes",
        {"probes": ["readinessProbe"], "probeTypes": ["tcpSocket"]},
        pod({"readinessProbe": {"exec": {"command": ["x"]}}}),
        "Container <c> in your <Pod> <p> has not all of the probes readinessProbe",
    ),
    (
        "K8sRequiredProbes",
        {"probes": ["readinessProbe"], "probeTypes": ["tcpSocket", "exec"]},
        pod({"readinessProbe": {"exec": {"command": ["x"]}}}),
        "",
    ),
    (
        "NoUpdateServiceAccount",
        {},
        review("UPDATE", deployment("b"), deployment("a")),
        "user does not have permission to modify serviceAccountName",
    ),
    ("NoUpdateServiceAccount", {}, review("UPDATE", deployment("a"), deployment("a")), ""),
    (
        "NoUpdateServiceAccount",
        {"allowedUsers": ["eve"]},
        review("UPDATE", deployment("b"), deployment("a")),
        "",
    ),
    (
        "NoUpdateServiceAccount",
        {"allowedUsers": ["eve"]},
        review("UPDATE", deployment(), deployment("a")),
        "missing serviceAccountName field in object under review",
    ),
    (
        "NoUpdateServiceAccount",
        {"allowedUsers": ["eve"]},
        review("UPDATE", pod(serviceAccountName="b"), pod(serviceAccountName="a")),
        "",
    ),
    ("NoUpdateServiceAccount", {}, review("CREATE", deployment("b")), ""),
    (
        "VerifyDeprecatedAPI",
        {"k8sVersion": "1.2", "kvs": [OLD, GONE]},
        named("A", "x.io/v1beta1"),
        "API A for x.io/v1beta1 is deprecated in Kubernetes version 1.2, please use x.io/v1 "
        "instead",
    ),
    (
        "VerifyDeprecatedAPI",
        {"k8sVersion": "1.2", "kvs": [OLD, GONE]},
        named("A", "y.io/v1beta1"),
        "API A for y.io/v1beta1 is deprecated in Kubernetes version 1.2, please see Kubernetes API "
        "deprecation guide",
    ),
    ("VerifyDeprecatedAPI", {"k8sVersion": "1.2", "kvs": [GONE]}, named("B", "y.io/v1beta1"), ""),
    (
        "K8sDisallowAnonymous",
        {},
        bound("system:unauthenticated", "system:authenticated"),
        "system:unauthenticated is not allowed as a subject name in ClusterRoleBinding x",
    ),
    (
        "K8sDisallowAnonymous",
        {"disallowAuthenticated": True},
        bound("system:authenticated"),
        "system:authenticated is not allowed as a subject name in ClusterRoleBinding x",
    ),
    ("K8sDisallowAnonymous", {"allowedRoles": ["view"]}, bound("system:anonymous"), ""),
    ("K8sDisallowAnonymous", {}, bound(), ""),
    (
        "K8sPSPFlexVolumes",
        {"allowedFlexVolumes": [{"driver": "a"}]},
        pod(volumes=[{"name": "v", "flexVolume": {"driver": "b"}}]),
        "FlexVolume v is not allowed, pod: p. Allowed drivers: a",
    ),
    (
        "K8sPSPFlexVolumes",
        {"allowedFlexVolumes": [{"driver": "a"}]},
        pod(volumes=[{"name": "v", "flexVolume": {"driver": "a"}}, {"name": "e", "emptyDir": {}}]),
        "",
    ),
    ("K8sPSPVolumeTypes", {"volumes": ["*"]}, pod(volumes=[{"name": "e", "emptyDir": {}}]), ""),
    (
        "K8sPSPVolumeTypes",
        {"volumes": ["secret"]},
        pod(volumes=[{"name": "e", "emptyDir": {}}]),
        "The volume type of e is not allowed, pod: p. Allowed volume types: secret",
    ),
    (
        "K8sPSPVolumeTypes",
        {"volumes": ["*"]},
        review("UPDATE", pod(volumes=[{"name": "e", "emptyDir": {}}]), pod()),
        "",
    ),
    (
        "K8sPSPSELinuxV2",
        {"allowedSELinuxOptions": [SHOP]},
        running({"seLinuxOptions": {"user": "u", "level": "s0"}}, {"seLinuxOptions": SHOP}),
        "",
    ),
    (
        "K8sPSPSELinuxV2",
        {"allowedSELinuxOptions": [SHOP]},
        running({"seLinuxOptions": {"user": "v"}}),
        "SELinux options is not allowed, pod: p, container: c",
    ),
    (
        "K8sPSPSELinuxV2",
        {"allowedSELinuxOptions": [{"user": "u"}]},
        running({}, {"seLinuxOptions": {"user": "u", "role": "r"}}),
        "SELinux options is not allowed, pod: p",
    ),
    ("K8sPSPAllowedUsers", user("RunAsAny"), pod(), ""),
    *(
        (
            "K8sPSPAllowedUsers",
            parameters,
            running(context, of_pod),
            "Container c is attempting to run with a runAsUser that is missing or disallowed. "
            f"Rule: {rule}"
            if rule
            else "",
        )
        for parameters, context, of_pod, rule in (
            (user("MustRunAs", ranges=RANGE), {"runAsUser": 100}, {"runAsUser": 0}, ""),
            (user("MustRunAs", ranges=RANGE), {"runAsUser": 201}, {"runAsUser": 150}, "MustRunAs"),
            (user("MustRunAs", ranges=RANGE), {}, {"runAsUser": 200}, ""),
            (user("MustRunAs", ranges=RANGE), {}, None, "MustRunAs"),
            (user("MustRunAsNonRoot"), {"runAsUser": 1}, None, ""),
            (user("MustRunAsNonRoot"), {"runAsUser": 0, "runAsNonRoot": True}, None,
             "MustRunAsNonRoot"),
            (user("MustRunAsNonRoot"), {"runAsNonRoot": True}, None, ""),
            (user("MustRunAsNonRoot"), {"runAsNonRoot": False}, {"runAsNonRoot": True},
             "MustRunAsNonRoot"),
            (user("MustRunAsNonRoot"), {}, None, "MustRunAsNonRoot"),
        )
    ),
    (
        "K8sPSPPrivilegedContainer",
        {},
        secured(privileged=True),
        "Privileged container is not allowed: c",
    ),
    ("K8sPSPPrivilegedContainer", {"exemptImages": ["nginx:*"]}, secured(privileged=True), ""),
    (
        "K8sPSPAllowPrivilegeEscalationContainer",
        {},
        pod(),
        "Privilege escalation container is not allowed: c",
    ),
    (
        "K8sPSPReadOnlyRootFilesystem",
        {},
        pod(),
        "only read-only root filesystem container is allowed: c",
    ),
    (
        "K8sPSPProcMount",
        {"procMount": "Default"},
        secured(procMount="Unmasked"),
        "ProcMount type is not allowed, container: c",
    ),
    ("K8sPSPProcMount", {"procMount": "Unmasked"}, secured(procMount="Unmasked"), ""),
    (
        "K8sPSPAppArmor",
        {"allowedProfiles": ["unconfined"]},
        pod(),
        "AppArmor profile is not allowed, pod: p, container: c. Allowed profiles: unconfined",
    ),
    (
        "K8sPSPCapabilities",
        {"allowedCapabilities": ["CHOWN"], "requiredDropCapabilities": ["X"]},
        secured(capabilities={"add": ["chown", "KILL"], "drop": ["all"]}),
        'container <c> has a disallowed capability. Allowed capabilities are ["CHOWN"]',
    ),
    (
        "K8sPSPHostNetworkingPorts",
        {"hostNetwork": True, "min": 80, "max": 90},
        pod({"ports": [{"containerPort": 80, "hostPort": 91}]}, hostNetwork=True),
        "The specified hostNetwork and hostPort are not allowed, pod: p",
    ),
    (
        "K8sPSPHostNamespace",
        {},
        pod(hostIPC=True),
        "Sharing the host namespace is not allowed: p",
    ),
    (
        "K8sPSPForbiddenSysctls",
        {"forbiddenSysctls": ["kernel.*"]},
        pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
        "The sysctl kernel.msgmax is not allowed, pod: p",
    ),
    (
        "K8sPSPForbiddenSysctls",
        {"allowedSysctls": ["net.*"]},
        pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
        "The sysctl kernel.msgmax is not explicitly allowed, pod: p. Allowed sysctls: net.*",
    ),
    (
        "K8sPSPFSGroup",
        {"rule": "MustRunAs", "ranges": RANGE},
        pod(),
        "The provided pod spec fsGroup is not allowed, pod: p",
    ),
    (
        "K8sPSPHostFilesystem",
        {"allowedHostPaths": [{"pathPrefix": "/foo", "readOnly": True}]},
        pod(
            {"volumeMounts": [{"name": "v", "mountPath": "/x"}]},
            volumes=[{"name": "v", "hostPath": {"path": "/foo/bar"}}],
        ),
        "HostPath volume v is not allowed, pod: p",
    ),
    (
        "K8sRequiredLabels",
        {"labels": [{"key": "team"}]},
        pod(),
        'you must provide labels: {"team"}',
    ),
    ("K8sRequiredLabels", {"labels": [{"key": "team"}], "message": "no team"}, pod(), "no team"),
    *(
        (
            "K8sPSPAllowedUsers",
            {field: {"rule": rule, "ranges": RANGE}},
            running(context, of_pod),
            ""
            if is_fine
            else f"Container c is attempting to run with a {field} that is missing or disallowed. "
            f"Rule: {rule}",
        )
        for field, rule, context, of_pod, is_fine in (
            ("runAsGroup", "MustRunAs", {"runAsGroup": 100}, {}, True),
            ("runAsGroup", "MustRunAs", {}, {}, False),
            ("runAsGroup", "MayRunAs", {}, {}, True),
            ("runAsGroup", "MayRunAs", {"runAsGroup": 99}, {"runAsGroup": 100}, False),
            ("runAsGroup", "RunAsAny", {"runAsGroup": 99}, {}, True),
            ("supplementalGroups", "MustRunAs", {}, {"supplementalGroups": [100, 200]}, True),
            ("supplementalGroups", "MustRunAs", {}, {"supplementalGroups": [100, 201]}, False),
            ("supplementalGroups", "MustRunAs", {}, {}, False),
            ("fsGroup", "MayRunAs", {}, {}, True),
            ("fsGroup", "MustRunAs", {}, {"fsGroup": 5}, False),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "parameters", "obj", "message"), CASES)
def test_what_known_templates_demand(
    kind: str,
    parameters: JsonObject,
    obj: JsonObject,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (content, *_) = KNOWN[kind][0].digests
    monkeypatch.setattr(constraint_translation, "digest", lambda _: content)
    demand = template(kind=kind, rego="package x", schema=ANYTHING)
    (found,) = translated(demand, constraint({}, parameters, kind=kind))
    assert refusal(found, obj) == message


def test_every_known_template_has_cases() -> None:
    assert {kind for kind, *_ in CASES} == set(KNOWN)


@pytest.mark.parametrize(
    ("kind", "parameters", "reason"),
    [
        (
            "K8sHorizontalPodAutoscaler",
            {"enforceScaleTargetRef": True},
            "objects that are looked up (`data.inventory`)",
        ),
        ("K8sAllowedRepos", {}, "a constraint that refuses nothing: it has no `repos`"),
    ],
)
def test_parameters_that_cannot_be_translated(
    kind: str, parameters: JsonObject, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (content, *_) = KNOWN[kind][0].digests
    monkeypatch.setattr(constraint_translation, "digest", lambda _: content)
    demand = template(kind=kind, rego="package x", schema=ANYTHING)
    (found,) = translated(demand, constraint({}, parameters, kind=kind))
    assert found.reason == reason


def test_older_texts_that_look_at_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    known = KNOWN["K8sPSPVolumeTypes"][0]
    for digests, operations in (
        (known.digests, ["CREATE"]),
        (known.digests_of_all_operations, ["CREATE", "UPDATE"]),
    ):
        (content, *_) = digests
        monkeypatch.setattr(constraint_translation, "digest", lambda _, content=content: content)
        demand = template(kind="K8sPSPVolumeTypes", rego="package x", schema=ANYTHING)
        (found,) = translated(demand, constraint(None, {"volumes": []}, kind="K8sPSPVolumeTypes"))
        (one,) = of_kind(found, "Policy")["spec"]["matchConstraints"]["resourceRules"]
        assert one["operations"] == operations
