"""Known templates decide as their rules do, said in another way, on random objects near the
boundary of what each demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import JsonObject
from celadon.migrate.gatekeeper import constraint_translation, rego_general, rego_pod_security
from tests.migrate.gatekeeper.gatekeeper_documents import (
    constraint,
    pod,
    refusal,
    template,
    translated,
)
from tests.migrate.gatekeeper.rego_rules import RULES

KNOWN = {**rego_general.KNOWN, **rego_pod_security.KNOWN}
ANYTHING: JsonObject = {"x-kubernetes-preserve-unknown-fields": True}

_Values = st.SearchStrategy[Any]


def some(**fields: Any) -> _Values:
    """Objects with some of these fields, of these values."""
    made = {name: _values(value) for name, value in fields.items()}
    return st.fixed_dictionaries({}, optional=made)


def _values(value: Any) -> _Values:
    return value if isinstance(value, st.SearchStrategy) else st.sampled_from(value)


def lists(*values: Any, most: int = 3) -> _Values:
    """Lists of these values."""
    return st.lists(st.sampled_from(values), max_size=most)


# --- Objects ------------------------------------------------------------------

_IMAGES: Final = (
    "a", "a:1", "a:latest", "a/b:1", "b/a", "host:5000/a", "a@sha256:0f", "a/b:latest@sha256:0f",
)  # fmt: skip
_CPUS: Final = ("100m", "0.1", "101m", "1", "1000m", "1.5", "2", "1e3", "0", "x")
_SIZES: Final = ("1Gi", "1024Mi", "1025Mi", "1G", "1k", "1K", "0.5Gi", "1", "1e3", "1m", "2Gi")
_IDS: Final = (0, 99, 100, 200, 201)
_AMOUNTS: Final = some(cpu=_CPUS, memory=_SIZES, **{"ephemeral-storage": _SIZES})
_LINUX: Final = some(level=("s0", "s1"), role=("r", "q"), type=("t",), user=("u",))
_CAPABILITIES: Final = lists("ALL", "all", "NET_ADMIN", "net_admin", "CHOWN")
_PROBE: Final = some(httpGet=[{"port": 80}], tcpSocket=[{"port": 80}], exec=[{}])
_TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount"

_identity = {"runAsUser": _IDS, "runAsGroup": _IDS, "runAsNonRoot": (True, False)}
_containers = st.lists(
    st.builds(
        lambda fixed, rest: {**fixed, **rest},
        st.fixed_dictionaries(
            {"name": st.sampled_from(["c", "d"]), "image": st.sampled_from(_IMAGES)}
        ),
        some(
            resources=some(limits=_AMOUNTS, requests=_AMOUNTS),
            securityContext=some(
                **_identity,
                privileged=(True, False),
                allowPrivilegeEscalation=(True, False),
                readOnlyRootFilesystem=(True, False),
                procMount=("Default", "Unmasked"),
                seLinuxOptions=_LINUX,
                capabilities=some(add=_CAPABILITIES, drop=_CAPABILITIES),
            ),
            ports=st.lists(some(hostPort=(79, 80, 90, 91)), max_size=2),
            volumeMounts=st.lists(
                st.builds(
                    lambda name, path, more: {"name": name, "mountPath": path, **more},
                    st.sampled_from(["v", "w"]),
                    st.sampled_from(["/x", _TOKEN]),
                    some(readOnly=(True, False)),
                ),
                max_size=2,
            ),
            stdin=(True, False),
            tty=(True, False),
            livenessProbe=_PROBE,
            readinessProbe=_PROBE,
        ),
    ),
    min_size=1,
    max_size=2,
)
_sources = st.one_of(
    st.builds(
        lambda path: {"hostPath": {"path": path}},
        st.sampled_from(["/", "/foo", "/foo/", "/foo/bar", "/fool", "/etc/foo"]),
    ),
    st.sampled_from([{"emptyDir": {}}, {"secret": {"secretName": "s"}}]),
    st.builds(lambda one: {"flexVolume": {"driver": one}}, st.sampled_from(["x/a", "x/b"])),
)
_volumes = st.lists(
    st.builds(lambda name, rest: {"name": name, **rest}, st.sampled_from(["v", "w"]), _sources),
    max_size=2,
)
_sysctls = st.lists(
    st.builds(
        lambda name: {"name": name, "value": "1"},
        st.sampled_from(["kernel.msgmax", "net.core.x", "net"]),
    ),
    max_size=2,
)
_labels = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["x", "xy", "z"]))
_apparmor = st.dictionaries(
    st.sampled_from([f"container.apparmor.security.beta.kubernetes.io/{one}" for one in "cd"]),
    st.sampled_from(["runtime/default", "unconfined"]),
)


def _with_metadata(obj: dict[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], **metadata}}


_pods = st.builds(
    lambda containers, spec, metadata: _with_metadata(pod(*containers, **spec), metadata),
    _containers,
    some(
        initContainers=_containers,
        ephemeralContainers=_containers,
        securityContext=some(
            **_identity,
            fsGroup=_IDS,
            supplementalGroups=lists(*_IDS),
            seLinuxOptions=_LINUX,
            sysctls=_sysctls,
        ),
        volumes=_volumes,
        hostPID=(True, False),
        hostIPC=(True, False),
        hostNetwork=(True, False),
        automountServiceAccountToken=(True, False),
    ),
    some(labels=_labels, annotations=st.one_of(_labels, _apparmor)),
)


def _objects(api_version: str, kind: str, rest: _Values, metadata: _Values) -> _Values:
    about = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}
    return st.builds(lambda one, each: _with_metadata({**about, **one}, each), rest, metadata)


_services = _objects(
    "v1",
    "Service",
    st.fixed_dictionaries(
        {"spec": some(type=("NodePort", "LoadBalancer"), externalIPs=lists("1.1.1.1", "2.2.2.2"))}
    ),
    some(labels=_labels, annotations=_labels),
)
_ingresses = _objects(
    "networking.k8s.io/v1",
    "Ingress",
    some(
        spec=some(
            tls=([], [{"secretName": "s"}]),
            rules=st.lists(some(host=("", "*", "*.a", "a.b")), max_size=2),
        )
    ),
    some(
        annotations=st.dictionaries(
            st.just("kubernetes.io/ingress.allow-http"), st.sampled_from(["true", "false"])
        )
    ),
)
_subjects = ("system:unauthenticated", "system:anonymous", "system:authenticated", "eve")
_bindings = _objects(
    "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding",
    st.builds(
        lambda role, names: {
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": role,
            },
            "subjects": [{"kind": "Group", "name": one} for one in names],
        },
        st.sampled_from(["view", "edit"]),
        lists(*_subjects, most=2),
    ),
    st.just({}),
)
_deployments = _objects(
    "apps/v1",
    "Deployment",
    st.fixed_dictionaries({"spec": some(replicas=(0, 1, 2, 3, 4, 7))}),
    st.just({}),
)

OBJECTS: Final[Mapping[str, _Values]] = {
    "K8sBlockLoadBalancer": _services,
    "K8sBlockNodePort": _services,
    "K8sBlockWildcardIngress": _ingresses,
    "K8sDisallowAnonymous": _bindings,
    "K8sExternalIPs": _services,
    "K8sHttpsOnly": _ingresses,
    "K8sReplicaLimits": _deployments,
}
"""What is judged, where that is no Pod."""

# --- Parameters ---------------------------------------------------------------

_exempt = {"exemptImages": lists("a", "a:*", "a/*", "*", most=1)}
_ranges = st.lists(
    st.sampled_from([{"min": 100, "max": 200}, {"min": 0, "max": 0}, {"min": 201, "max": 201}]),
    max_size=2,
)


def _of_rules(*names: str) -> _Values:
    rule = {"rule": st.sampled_from(names)}
    return st.fixed_dictionaries(rule, optional={"ranges": _ranges})


_rules = _of_rules("MustRunAs", "MayRunAs", "RunAsAny")
_users = _of_rules("MustRunAs", "MustRunAsNonRoot", "RunAsAny")
_bounds = some(**_exempt, cpu=("100m", "1", "1500m", "-1"), memory=("1Gi", "1G", "1k"))
_required = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from(["a", "b"])},
        optional={"allowedRegex": st.sampled_from(["", "^x$", "x", "y"])},
    ),
    max_size=2,
)
_paths = st.lists(
    st.fixed_dictionaries(
        {"pathPrefix": st.sampled_from(["/", "/foo", "/foo/", "/foo/bar", "foo"])},
        optional={"readOnly": st.booleans()},
    ),
    max_size=2,
)
_resources = lists("cpu", "memory")
_replicas = st.lists(
    st.sampled_from(
        [{"min_replicas": 1, "max_replicas": 3}, {"min_replicas": 7, "max_replicas": 7}]
    )
)

PARAMETERS: Final[Mapping[str, _Values]] = {
    "K8sAllowedRepos": some(repos=lists("a", "a/", "host:5000/")),
    "K8sAllowedReposv2": some(allowedImages=lists("a", "a/*", "a:1", "*")),
    "K8sContainerEphemeralStorageLimit": some(**_exempt, **{"ephemeral-storage": ("1Gi", "1k")}),
    "K8sContainerLimits": _bounds,
    "K8sContainerRatios": some(**_exempt, ratio=("1", "2", "1.5"), cpuRatio=("1", "10")),
    "K8sContainerRequests": _bounds,
    "K8sDisallowAnonymous": some(allowedRoles=lists("view", "edit"), disallowAuthenticated=[True]),
    "K8sDisallowedRepos": some(repos=lists("a", "a/", "host:5000/")),
    "K8sDisallowedTags": some(**_exempt, tags=lists("latest", "1")),
    "K8sExternalIPs": some(allowedIPs=lists("1.1.1.1")),
    "K8sHttpsOnly": some(tlsOptional=(True, False)),
    "K8sPSPAllowedUsers": some(
        **_exempt, runAsUser=_users, runAsGroup=_rules, fsGroup=_rules, supplementalGroups=_rules
    ),
    "K8sPSPAppArmor": some(**_exempt, allowedProfiles=lists("runtime/default", "unconfined")),
    "K8sPSPCapabilities": some(
        **_exempt,
        allowedCapabilities=lists("*", "CHOWN", "NET_ADMIN"),
        requiredDropCapabilities=lists("ALL", "CHOWN", "net_admin"),
    ),
    "K8sPSPFSGroup": some(rule=("MustRunAs", "MayRunAs", "RunAsAny"), ranges=_ranges),
    "K8sPSPFlexVolumes": some(allowedFlexVolumes=lists({"driver": "x/a"})),
    "K8sPSPForbiddenSysctls": some(
        allowedSysctls=lists("*", "net.*", "net", "kernel.msgmax"),
        forbiddenSysctls=lists("*", "kernel.*", "net.core.x"),
    ),
    "K8sPSPHostFilesystem": some(allowedHostPaths=_paths),
    "K8sPSPHostNetworkingPorts": some(
        **_exempt, hostNetwork=(True, False), min=(80, 91), max=(79, 90)
    ),
    "K8sPSPProcMount": some(**_exempt, procMount=("Default", "Unmasked", "unmasked", "other")),
    "K8sPSPSELinuxV2": some(**_exempt, allowedSELinuxOptions=st.lists(_LINUX, max_size=2)),
    "K8sPSPVolumeTypes": some(volumes=lists("*", "emptyDir", "hostPath", "secret")),
    "K8sReplicaLimits": some(ranges=_replicas),
    "K8sRequiredAnnotations": some(annotations=_required),
    "K8sRequiredLabels": some(labels=_required, message=("no",)),
    "K8sRequiredProbes": some(
        probes=lists("livenessProbe", "readinessProbe", most=2),
        probeTypes=lists("httpGet", "tcpSocket", "exec"),
    ),
    "K8sRequiredResources": some(**_exempt, limits=_resources, requests=_resources),
}
"""Those of each kind; others have images that are exempt, at most."""

_WITHOUT_PARAMETERS: Final = {"K8sHttpsOnly": 1}
"""Kinds of which a text has none."""

# --- The property ------------------------------------------------------------


def test_every_known_template_has_a_rule() -> None:
    assert {kind: len(one) for kind, one in KNOWN.items() if kind in RULES} == {
        kind: len(one) for kind, one in RULES.items()
    }
    # Their cases say all that there is to say.
    assert set(KNOWN) - set(RULES) == {
        "K8sBlockEndpointEditDefaultRole",
        "K8sHorizontalPodAutoscaler",
        "NoUpdateServiceAccount",
        "VerifyDeprecatedAPI",
    }


@pytest.mark.parametrize(
    ("kind", "number"),
    [(kind, number) for kind, one in RULES.items() for number in range(len(one))],
)
@given(st.data())
def test_known_templates_decide_as_their_rules(kind: str, number: int, data: st.DataObject) -> None:
    known, rule = KNOWN[kind][number], RULES[kind][number]
    parameters = data.draw(PARAMETERS.get(kind, some(**_exempt)), label="parameters")
    obj = data.draw(OBJECTS.get(kind, _pods), label="object")
    content = min(known.digests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constraint_translation, "digest", lambda _: content)
        schema = None if _WITHOUT_PARAMETERS.get(kind) == number else ANYTHING
        demand = template(kind=kind, rego="package x", schema=schema)
        (found,) = translated(demand, constraint({}, parameters, kind=kind))
    if found.reason:
        assert found.reason.startswith("a constraint that refuses nothing"), found.reason
        assert not rule(obj, parameters)
    else:
        assert bool(refusal(found, obj)) is rule(obj, parameters)
