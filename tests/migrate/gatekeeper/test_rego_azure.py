"""Templates of Azure Policy in Rego that are known, near the boundaries of what they demand."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate.gatekeeper import constraint_translation, rego_azure
from tests.migrate.gatekeeper.gatekeeper_documents import (
    constraint,
    pod,
    refusal,
    review,
    template,
    translated,
)

KNOWN = rego_azure.KNOWN
ANYTHING: JsonObject = {"x-kubernetes-preserve-unknown-fields": True}
WINDOWS = {"kubernetes.io/os": "windows"}
SPARED = {"excludedContainers": ["c"]}
IMAGES = {"excludedImages": ["nginx:*"]}
RANGE: list[Json] = [{"min": 100, "max": 200}]
OPEN: list[Json] = [{"min": 100, "max": -1}]


def secured(of_pod: JsonObject | None = None, **context: Json) -> JsonObject:
    """A Pod whose container, and which itself, has a security context."""
    more: dict[str, Any] = {} if of_pod is None else {"securityContext": of_pod}
    return pod({"securityContext": context}, **more)


def adding(*capabilities: str, **more: Json) -> JsonObject:
    return secured(capabilities={"add": list(capabilities), **more})


def mounting(path: str, *, read_only: bool = True, name: str = "v") -> JsonObject:
    """A Pod that mounts a path of its host."""
    volumes: list[Json] = [{"name": "v", "hostPath": {"path": path}}]
    mount: dict[str, Any] = {"name": name, "mountPath": "/x", "readOnly": read_only}
    return pod({"volumeMounts": [mount]}, volumes=volumes)


def named(kind: str, api_version: str = "v1", **rest: Json) -> dict[str, Any]:
    about: JsonObject = {"name": "x", "namespace": "shop"}
    return {"apiVersion": api_version, "kind": kind, "metadata": about, **rest}


def about(obj: JsonObject, **metadata: Json) -> JsonObject:
    return {**obj, "metadata": {**obj["metadata"], **metadata}}


def service(**spec: Json) -> JsonObject:
    return named("Service", spec=spec)


def ingress(annotations: JsonObject, **spec: Json) -> JsonObject:
    return about(named("Ingress", "networking.k8s.io/v1", spec=spec), annotations=annotations)


def limited(**limits: Json) -> JsonObject:
    return pod({"resources": {"limits": limits}})


def node(labels: JsonObject, *taints: str) -> JsonObject:
    keys: list[Json] = [{"key": one, "effect": "NoSchedule"} for one in taints]
    return about(named("Node", spec={"taints": keys}), labels=labels)


NGINX = {"kubernetes.io/ingress.class": "nginx"}
SSL = {"nginx.ingress.kubernetes.io/force-ssl-redirect": "true"}
TLS: list[Json] = [{"secretName": "s"}]
DEPLOYED: JsonObject = {"containers": []}
SPREAD: JsonObject = {"podAntiAffinity": {}}
SMALL = {"cpuLimit": "200m", "memoryLimit": "1Gi"}

Case = tuple[str, int, JsonObject, JsonObject, str]
"""A template and its version, parameters, an object, and how its refusal begins."""

CASES: list[Case] = [
    ("K8sAzureContainerNoPrivilege", 0, {}, secured(privileged=True), "Privileged"),
    ("K8sAzureContainerNoPrivilege", 0, {}, secured(privileged=False), ""),
    ("K8sAzureContainerNoPrivilege", 1, {}, secured(privileged=True), "Privileged"),
    ("K8sAzureContainerNoPrivilege", 1, SPARED, secured(privileged=True), ""),
    ("K8sAzureContainerNoPrivilege", 1, IMAGES, secured(privileged=True), ""),
    (
        "K8sAzureContainerNoPrivilege", 1, {"excludedImages": ["nginx"]},
        secured(privileged=True), "Privileged",
    ),
    (
        "K8sAzureContainerNoPrivilege", 1, {},
        pod({"securityContext": {"privileged": True}}, nodeSelector=WINDOWS), "",
    ),
    (
        "K8sAzureContainerNoPrivilege", 1, {},
        pod(ephemeralContainers=[{"name": "e", "securityContext": {"privileged": True}}]),
        "Privileged container is not allowed: e",
    ),
    ("K8sAzureReadOnlyRootFilesystem", 0, {}, secured(readOnlyRootFilesystem=True), ""),
    ("K8sAzureReadOnlyRootFilesystem", 0, {}, pod(), "Readonly"),
    ("K8sAzureReadOnlyRootFilesystem", 1, {}, secured(readOnlyRootFilesystem=False), "Readonly"),
    ("K8sAzureContainerNoPrivilegeEscalation", 0, {}, pod(), "Privilege escalation"),
    (
        "K8sAzureContainerNoPrivilegeEscalation", 0, {},
        secured(allowPrivilegeEscalation=False), "",
    ),
    ("K8sAzureContainerNoPrivilegeEscalation", 1, {}, pod(), ""),
    (
        "K8sAzureContainerNoPrivilegeEscalation", 1, {},
        secured(allowPrivilegeEscalation=True), "Privilege escalation",
    ),
    ("K8sAzureContainerNoPrivilegeEscalation", 1, {}, secured(runAsUser=0), ""),
    ("K8sAzureContainerNoPrivilegeEscalation", 1, {}, secured(runAsUser=1), "Privilege"),
    ("K8sAzureContainerNoPrivilegeEscalation", 1, {}, secured({"runAsUser": 1}), "Privilege"),
    (
        "K8sAzureContainerNoPrivilegeEscalation", 1, {},
        secured({"runAsUser": 1}, runAsUser=0), "",
    ),
    (
        "K8sAzureContainerNoPrivilegeEscalation", 1, {},
        secured({"runAsUser": 1}, allowPrivilegeEscalation=False), "",
    ),
    ("K8sAzureBlockHostNamespace", 0, {}, pod(hostPID=True), "Sharing the host namespace"),
    ("K8sAzureBlockHostNamespace", 0, {}, pod(hostNetwork=True), ""),
    ("K8sAzureBlockHostNamespace", 1, {}, pod(hostIPC=True), "Sharing the host namespace"),
    ("K8sAzureBlockHostNamespace", 1, IMAGES, pod(hostIPC=True), ""),
    ("K8sAzureHostNetworkingPorts", 0, {}, pod(hostNetwork=True), "The specified hostNetwork"),
    ("K8sAzureHostNetworkingPorts", 0, {"allowHostNetwork": True}, pod(hostNetwork=True), ""),
    *(
        (
            "K8sAzureHostNetworkingPorts", 1, {"minPort": 80, "maxPort": 90},
            pod({"ports": [{"containerPort": 1, "hostPort": port}]}), message,
        )
        for port, message in ((79, "The specified"), (80, ""), (90, ""), (91, "The specified"))
    ),
    (
        "K8sAzureHostNetworkingPorts", 1, {},
        pod({"ports": [{"containerPort": 1, "hostPort": 1}]}), "",
    ),
    ("K8sAzureAllowedCapabilities", 0, {"allowedCapabilities": ["A"]}, adding("A"), ""),
    ("K8sAzureAllowedCapabilities", 0, {}, adding("A"), "container <c> has a disallowed"),
    ("K8sAzureAllowedCapabilities", 0, {"allowedCapabilities": ["*"]}, adding("A"), ""),
    ("K8sAzureAllowedCapabilities", 0, {"allowedCapabilities": ["a"]}, adding("A"), "container"),
    ("K8sAzureAllowedCapabilities", 1, {"allowedCapabilities": ["a"]}, adding("A"), ""),
    (
        "K8sAzureAllowedCapabilities", 0, {"requiredDropCapabilities": ["A"]},
        adding(drop=["ALL"]), "container <c> is not dropping",
    ),
    (
        "K8sAzureAllowedCapabilities", 1, {"requiredDropCapabilities": ["A"]},
        adding(drop=["ALL"]), "",
    ),
    (
        "K8sAzureAllowedCapabilities", 1, {"requiredDropCapabilities": ["A", "B"]},
        adding(drop=["a"]), "container <c> is not dropping",
    ),
    (
        "K8sAzureDisallowedCapabilities", 0, {"disallowedCapabilities": ["A"]}, adding("A"),
        'container <c> has a disallowed capability. Disallowed capabilities are ["A"]',
    ),
    ("K8sAzureDisallowedCapabilities", 1, {"disallowedCapabilities": ["A"]}, adding("B"), ""),
    ("K8sAzureDisallowedCapabilities", 1, {"disallowedCapabilities": ["*"]}, pod(), "container"),
    ("K8sAzureProcMount", 0, {}, secured(procMount="Default"), ""),
    ("K8sAzureProcMount", 0, {}, secured(procMount="Unmasked"), "ProcMount type"),
    ("K8sAzureProcMount", 1, {"procMount": "Unmasked"}, secured(procMount="Unmasked"), ""),
    ("K8sAzureProcMount", 1, {"procMount": "Other"}, secured(procMount="Unmasked"), "ProcMount"),
    ("K8sAzureEnforceAppArmor", 0, {"allowedProfiles": ["runtime/default"]}, pod(), ""),
    ("K8sAzureEnforceAppArmor", 0, {"allowedProfiles": ["localhost/x"]}, pod(), "AppArmor"),
    (
        "K8sAzureEnforceAppArmor", 0, {"allowedProfiles": ["localhost/x"]},
        about(
            pod(),
            annotations={"container.apparmor.security.beta.kubernetes.io/c": "localhost/x"},
        ), "",
    ),
    (
        "K8sAzureSELinux", 0, {"allowedSELinuxOptions": [{"user": "u"}]},
        secured({"seLinuxOptions": {"user": "v"}}), "SELinux options is not allowed, pod: p",
    ),
    (
        "K8sAzureSELinux", 1, {"allowedSELinuxOptions": [{"user": "u"}]},
        secured(seLinuxOptions={"user": "v"}), "SELinux options is not allowed, pod: p, container",
    ),
    (
        "K8sAzureSELinux", 1, {"allowedSELinuxOptions": [{"user": "u"}], **IMAGES},
        secured(seLinuxOptions={"user": "v"}), "",
    ),
    *(
        (
            "K8sAzureForbiddenSysctls", version, {"forbiddenSysctls": [pattern]},
            pod(securityContext={"sysctls": [{"name": "net.a", "value": "1"}]}), message,
        )
        for version in (0, 1)
        for pattern, message in (
            ("*", "The sysctl net.a"), ("net.a", "The sysctl net.a"), ("net.*", "The sysctl"),
            ("net.a.b", ""), ("a", ""),
        )
    ),
    *(
        (
            "K8sAzureAllowedUsersGroups", 0, {"runAsUser": {"rule": rule, "ranges": ranges}},
            secured(of_pod, **context), message and "Container c is attempting to run with a runAs",
        )
        for rule, ranges, of_pod, context, message in (
            ("RunAsAny", [], None, {"runAsUser": 0}, ""),
            ("MustRunAs", RANGE, None, {"runAsUser": 99}, "x"),
            ("MustRunAs", RANGE, None, {"runAsUser": 100}, ""),
            ("MustRunAs", RANGE, None, {"runAsUser": 200}, ""),
            ("MustRunAs", RANGE, None, {"runAsUser": 201}, "x"),
            ("MustRunAs", OPEN, None, {"runAsUser": 9000}, ""),
            ("MustRunAs", RANGE, {"runAsUser": 100}, {}, ""),
            ("MustRunAs", RANGE, None, {}, "x"),
            ("MustRunAsNonRoot", [], None, {"runAsUser": 0, "runAsNonRoot": True}, "x"),
            ("MustRunAsNonRoot", [], None, {"runAsUser": 1}, ""),
            ("MustRunAsNonRoot", [], {"runAsNonRoot": True}, {}, ""),
            ("MustRunAsNonRoot", [], {"runAsNonRoot": True}, {"runAsNonRoot": False}, "x"),
            ("MustRunAsNonRoot", [], None, {}, "x"),
        )
    ),
    *(
        (
            "K8sAzureAllowedUsersGroups", 0, {field: {"rule": rule, "ranges": RANGE}},
            secured(of_pod), message and f"Container c is attempting to run with a {field}",
        )
        for field, rule, of_pod, message in (
            ("runAsGroup", "MustRunAs", {"runAsGroup": 100}, ""),
            ("runAsGroup", "MustRunAs", {}, "x"),
            ("runAsGroup", "MayRunAs", {}, ""),
            ("runAsGroup", "MayRunAs", {"runAsGroup": 201}, "x"),
            ("fsGroup", "MustRunAs", {"fsGroup": 99}, "x"),
            ("supplementalGroups", "MayRunAs", {"supplementalGroups": [100, 201]}, "x"),
            ("supplementalGroups", "MustRunAs", {"supplementalGroups": [100, 200]}, ""),
        )
    ),
    *(
        (
            "K8sAzureVolumeTypes", 0, {"volumes": allowed},
            pod(
                {"volumeMounts": [{"name": mounted, "mountPath": "/x"}]},
                volumes=[{"name": "v", "emptyDir": {}}],
            ), message,
        )
        for allowed, mounted, message in (
            (["emptyDir"], "v", ""), (["*"], "v", ""), (["secret"], "v", "The volume type of v"),
            (["secret"], "w", ""),
        )
    ),
    *(
        (
            "K8sAzureHostFilesystem", 0,
            {"allowedHostPaths": [{"pathPrefix": prefix, "readOnly": True}]},
            mounting(path), message,
        )
        for prefix, path, message in (
            ("/foo", "/foo", ""), ("/foo", "/foo/", ""), ("/foo/", "/foo/bar", ""),
            ("/foo", "/foobar", "HostPath volume v is not allowed"), ("/", "/any", ""),
            ("/foo", "/", "HostPath volume v is not allowed"), ("/", "/", ""),
        )
    ),
    ("K8sAzureHostFilesystem", 0, {}, mounting("/a"), "HostPath volume v is not allowed"),
    ("K8sAzureHostFilesystem", 0, {}, mounting("/a", name="w"), ""),
    ("K8sAzureHostFilesystem", 0, SPARED, mounting("/a"), ""),
    (
        "K8sAzureHostFilesystem", 0, {"allowedHostPaths": [{"pathPrefix": "/a"}]},
        mounting("/a", read_only=False), "",
    ),
    (
        "K8sAzureHostFilesystem", 0,
        {"allowedHostPaths": [{"pathPrefix": "/a", "readOnly": True}]},
        mounting("/a", read_only=False), "HostPath volume v does not meet the readonly",
    ),
    (
        "K8sAzureFlexVolumes", 0, {"allowedFlexVolumeDrivers": ["a"]},
        pod(volumes=[{"name": "v", "flexVolume": {"driver": "b"}}]), "FlexVolume v",
    ),
    (
        "K8sAzureFlexVolumes", 0, {"allowedFlexVolumeDrivers": ["a"]},
        pod(volumes=[{"name": "v", "flexVolume": {"driver": "a"}}]), "",
    ),
    (
        "K8sAzureEnforceCSIDriver", 0, {},
        named("StorageClass", "storage.k8s.io/v1", provisioner="kubernetes.io/azure-disk"),
        "Storage class x use intree provisioner kubernetes.io/azure-disk",
    ),
    (
        "K8sAzureEnforceCSIDriver", 0, {},
        named("StorageClass", "storage.k8s.io/v1", provisioner="disk.csi.azure.com"), "",
    ),
    ("K8sAzureBlockAutomountToken", 0, {}, pod(), "Automounting service account token"),
    ("K8sAzureBlockAutomountToken", 0, {}, pod(automountServiceAccountToken=False), ""),
    ("K8sAzureBlockAutomountToken", 1, {}, pod(), ""),
    ("K8sAzureBlockAutomountToken", 1, {}, pod(automountServiceAccountToken=True), "Automounting"),
    ("K8sAzureBlockAutomountToken", 1, IMAGES, pod(automountServiceAccountToken=True), ""),
    (
        "K8sAzureBlockAutomountToken", 1, {},
        pod({
            "volumeMounts": [
                {"name": "t", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
            ]
        }), "Automounting",
    ),
    ("K8sAzureContainerAllowedImages", 0, {"imageRegex": "^nginx:.+$"}, pod(), ""),
    ("K8sAzureContainerAllowedImages", 0, {"imageRegex": "^x"}, pod(), "Container image nginx:1"),
    ("K8sAzureContainerAllowedImages", 1, {"imageRegex": "^x", **SPARED}, pod(), ""),
    ("K8sAzureContainerAllowedImages", 1, {}, pod(), "Container image nginx:1 for container c"),
    (
        "K8sAzureContainerAllowedPullPolicy", 0, {"allowedPullPolicy": ["Always"]},
        pod({"imagePullPolicy": "Never"}), "Image pull policy Never",
    ),
    (
        "K8sAzureContainerAllowedPullPolicy", 0, {"allowedPullPolicy": ["Always"]},
        pod({"imagePullPolicy": "Always"}), "",
    ),
    ("K8sAzureContainerRestrictedImagePulls", 0, IMAGES, pod(), ""),
    (
        "K8sAzureContainerRestrictedImagePulls", 0, {},
        pod(imagePullSecrets=[{"name": "s"}]), "",
    ),
    *(
        (
            "K8sAzureContainerAllowedPorts", version, {"allowedPorts": ["80"]},
            pod({"ports": [{"containerPort": port}]}), message,
        )
        for version in (0, 1)
        for port, message in ((80, ""), (8, "Container port 8 for container c"))
    ),
    (
        "K8sAzureContainerEnforceProbes", 0, {"enforceProbes": ["livenessProbe"]},
        pod({"livenessProbe": {"httpGet": {"port": 80}}}), "",
    ),
    (
        "K8sAzureContainerEnforceProbes", 0, {"enforceProbes": ["livenessProbe"]},
        pod({"livenessProbe": {"grpc": {"port": 80}}}), "Container <c> in your Pod <p>",
    ),
    (
        "K8sAzureContainerEnforceProbes", 0, {"enforceProbes": ["livenessProbe"]},
        pod(), "Container <c> in your Pod <p> has not all of the probes livenessProbe",
    ),
    ("K8sAzureContainerLimits", 0, SMALL, limited(cpu="200m", memory="1Gi"), ""),
    ("K8sAzureContainerLimits", 0, SMALL, limited(cpu="0.2", memory="1000k"), ""),
    (
        "K8sAzureContainerLimits", 0, SMALL, limited(cpu="201m", memory="1Gi"),
        "container <c> cpu limit <201m> is higher than the maximum allowed of <200m>",
    ),
    (
        "K8sAzureContainerLimits", 0, SMALL, limited(cpu="200m", memory="1025Mi"),
        "container <c> memory limit <1025Mi> is higher",
    ),
    ("K8sAzureContainerLimits", 0, SMALL, limited(cpu="1m"), "container <c> has no memory limit"),
    ("K8sAzureContainerLimits", 0, {**SMALL, **SPARED}, pod(), ""),
    ("K8sAzureContainerLimits", 0, {}, limited(cpu="9", memory="9Ti"), ""),
    (
        "K8sAzureExternalIPs", 0, {"allowedExternalIPs": ["1.1.1.1"]},
        service(externalIPs=["1.1.1.1", "2.2.2.2"]),
        'service has forbidden external IPs: {"2.2.2.2"}',
    ),
    ("K8sAzureExternalIPs", 0, {}, service(), ""),
    ("K8sAzureLoadBalancerNoPublicIPs", 0, {}, service(type="ClusterIP"), ""),
    ("K8sAzureLoadBalancerNoPublicIPs", 0, {}, service(type="LoadBalancer"), "Load Balancers"),
    (
        "K8sAzureLoadBalancerNoPublicIPs", 0, {},
        about(
            service(type="LoadBalancer"),
            annotations={"service.beta.kubernetes.io/azure-load-balancer-internal": "true"},
        ), "",
    ),
    *(
        (
            "K8sAzureServiceAllowedPorts", version, {"allowedPorts": [allowed]},
            service(ports=[{"port": port}]), message and f"Port {port} for service x",
        )
        for version, allowed, port, message in (
            (0, "80", 80, ""), (0, "80-90", 85, "x"), (1, "80", 80, ""), (1, "80", 8, "x"),
            (1, "80-90", 79, "x"), (1, "80-90", 80, ""), (1, "80-90", 90, ""),
            (1, "80-90", 91, "x"),
        )
    ),
    (
        "K8sAzurePodEnforceLabels", 0, {"labels": ["a", "b"]}, about(pod(), labels={"b": ""}),
        'you must provide labels: {"a"}',
    ),
    ("K8sAzurePodEnforceLabels", 0, {}, pod(), ""),
    ("K8sAzureBlockDefault", 0, {}, pod(), ""),
    ("K8sAzureBlockDefault", 0, {}, about(pod(), namespace="default"), "Usage of the default"),
    (
        "K8sAzureBlockDefault", 0, {},
        about(named("ConfigMap"), name="kube-root-ca.crt", namespace="default"), "Usage",
    ),
    (
        "K8sAzureBlockDefault", 1, {},
        about(named("ConfigMap"), name="kube-root-ca.crt", namespace="default"), "",
    ),
    (
        "K8sAzureBlockDefault", 1, {},
        about(named("ServiceAccount"), name="default", namespace="default"), "",
    ),
    ("K8sAzureBlockResource", 0, {}, named("ConfigMap"), "ConfigMap resource except default"),
    ("K8sAzureBlockResource", 0, {}, about(named("ConfigMap"), name="kube-root-ca.crt"), ""),
    ("K8sAzureBlockNakedPods", 0, {}, pod(), "Naked pod is not allowed, pod: p"),
    (
        "K8sAzureBlockNakedPods", 0, {},
        about(
            pod(),
            ownerReferences=[{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u"}],
        ), "",
    ),
    *(
        (
            "K8sAzureAntiAffinityRules", 0, {},
            named("Deployment", "apps/v1", spec={"replicas": count, "template": {"spec": below}}),
            message,
        )
        for count, below, message in (
            (1, DEPLOYED, ""), (2, DEPLOYED, "Deployment with 2 replicas should have"),
            (2, {**DEPLOYED, "affinity": SPREAD}, ""),
            (2, {**DEPLOYED, "affinity": {"nodeAffinity": {}}}, "Deployment with 2 replicas"),
        )
    ),
    ("K8sAzureReservedTaints", 0, {"reservedTaints": ["^Crit"]}, node({}, "CriticalOnly"), "Taint"),
    ("K8sAzureReservedTaints", 0, {"reservedTaints": ["^Crit"]}, node({}, "xCrit"), ""),
    (
        "K8sAzureReservedTaints", 0, {"reservedTaints": ["^Crit"]},
        node({"kubernetes.azure.com/mode": "system"}, "CriticalOnly"), "",
    ),
    (
        "K8sAzureRestrictedLabels", 0, {"labels": ["a"]}, about(pod(), labels={"a": "1"}),
        'Label <{"a"}> is reserved',
    ),
    ("K8sAzureRestrictedLabels", 0, {"labels": ["a"]}, about(pod(), labels={"b": "1"}), ""),
    (
        "K8sAzureRestrictedLabels", 0, {"labels": ["a"], "allowedUsers": ["eve"]},
        review("CREATE", about(pod(), labels={"a": "1"})), "",
    ),
    ("K8sAzureIngressHttpsOnly", 0, {}, ingress({}), ""),
    ("K8sAzureIngressHttpsOnly", 0, {}, service(), ""),
    ("K8sAzureIngressHttpsOnly", 0, {}, ingress(NGINX, tls=TLS), "Ingress should allow https only"),
    ("K8sAzureIngressHttpsOnly", 0, {}, ingress(NGINX, tls=TLS, rules=[{"host": "a.b"}]), ""),
    ("K8sAzureIngressHttpsOnly", 0, {}, ingress(NGINX, tls=TLS, rules=[{}]), "Ingress should"),
    ("K8sAzureIngressHttpsOnly", 0, {}, ingress({**NGINX, **SSL}, tls=TLS), ""),
    ("K8sAzureIngressHttpsOnly", 0, {}, ingress({**NGINX, **SSL}), "Ingress should allow"),
    ("K8sAzureIngressHttpsOnly", 0, {}, ingress({**NGINX, **SSL}, ingressClassName="x"), ""),
    (
        "K8sAzureIngressHttpsOnly", 0, {},
        ingress({"kubernetes.io/ingress.class": "azure/application-gateway"}),
        "Ingress should allow https only. tls configuration is required for x",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "version", "parameters", "obj", "begin"), CASES)
def test_what_known_templates_demand(
    kind: str,
    version: int,
    parameters: JsonObject,
    obj: JsonObject,
    begin: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (content, *_) = KNOWN[kind][version].digests
    monkeypatch.setattr(constraint_translation, "digest", lambda _: content)
    demand = template(kind="Renamed", rego="package x", schema=ANYTHING)
    match: JsonObject = {"kinds": [{"apiGroups": ["*"], "kinds": ["*"]}]}
    (found,) = translated(demand, constraint(match, parameters, kind="Renamed"))
    message = refusal(found, obj)
    assert message.startswith(begin)
    assert bool(message) == bool(begin)


def test_every_version_of_a_known_template_has_cases() -> None:
    every = {(kind, number) for kind, versions in KNOWN.items() for number in range(len(versions))}
    assert {(kind, version) for kind, version, *_ in CASES} == every
