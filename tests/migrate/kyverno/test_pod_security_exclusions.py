"""Exclusions of `podSecurity` forgive what Kyverno forgives, of random pods near the level."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import JsonObject
from celadon.kube.well_known_values import CONTAINER_LISTS
from tests.migrate.kyverno.pod_security_evaluator import allowed
from tests.migrate.kyverno.policy_documents import kyverno_policy, result, rule, translated

PROFILE = st.sampled_from(["RuntimeDefault", "Unconfined", "Other"]).map(lambda one: {"type": one})
SELINUX = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["container_t", "a", "b"]),
        "user": st.sampled_from(["a", "b"]),
    },
)
GOOD: JsonObject = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CAPABILITIES = st.fixed_dictionaries(
    {},
    optional={
        "add": st.lists(st.sampled_from(["a", "b", "CHOWN", "NET_BIND_SERVICE"]), max_size=2),
        "drop": st.lists(st.sampled_from(["ALL", "a"]), max_size=1),
    },
)
CHANGES = st.one_of(
    st.fixed_dictionaries({"allowPrivilegeEscalation": st.sampled_from([None, True])}),
    st.fixed_dictionaries({"capabilities": CAPABILITIES}),
    st.fixed_dictionaries({"runAsNonRoot": st.sampled_from([None, False])}),
    st.fixed_dictionaries({"seccompProfile": st.none() | PROFILE}),
    st.fixed_dictionaries({"seLinuxOptions": SELINUX}),
    st.just({}),
)
PORTS = st.lists(st.sampled_from([{"hostPort": 10}, {"hostPort": 20}, {}]), max_size=2)
VOLUMES = st.sampled_from(
    [
        {"nfs": {}}, {"rbd": {}}, {"emptyDir": {}}, {"hostPath": {"path": "a"}},
        {"hostPath": {"path": "b"}},
    ]
)  # fmt: skip
ENTRIES = [
    ("Capabilities", "securityContext.capabilities.add"),
    ("Capabilities", "securityContext.capabilities.drop"),
    ("Host Ports", "ports[*].hostPort"),
    ("Privilege Escalation", "securityContext.allowPrivilegeEscalation"),
    ("Running as Non-root", "securityContext.runAsNonRoot"),
    ("SELinux", "securityContext.seLinuxOptions.type"),
    ("SELinux", "securityContext.seLinuxOptions.user"),
    ("Seccomp", "securityContext.seccompProfile.type"),
]
OF_PODS = [
    ("Host Namespaces", "hostPID"),
    ("HostPath Volumes", "volumes[*].hostPath"),
    ("Running as Non-root", "securityContext.runAsNonRoot"),
    ("SELinux", "securityContext.seLinuxOptions.type"),
    ("Seccomp", "securityContext.seccompProfile.type"),
    ("Volume Types", "volumes[*].hostPath"),
    ("Volume Types", "volumes[*].nfs"),
    ("Volume Types", "volumes[*].rbd"),
]
VALUES = st.just(["*"]) | st.lists(
    st.sampled_from(["a", "b", "?", "10", "*0", "true", "false", "nil", "Unconfined", "*"]),
    min_size=1, max_size=3,
)  # fmt: skip


@st.composite
def containers(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Containers of a pod, each with its list; the first is in `containers`."""
    found = []
    for index in range(draw(st.integers(1, 2))):
        context = {key: one for key, one in {**GOOD, **draw(CHANGES)}.items() if one is not None}
        container = {
            "name": f"c{index}",
            "image": draw(st.sampled_from(["x", "y"])),
            **({"securityContext": context} if draw(st.integers(0, 15)) else {}),
        }
        ports = draw(PORTS) if not draw(st.integers(0, 3)) else []
        name = draw(st.sampled_from(CONTAINER_LISTS)) if index else "containers"
        found.append({"list": name, **container, **({"ports": ports} if ports else {})})
    return found


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    for container in draw(containers()):
        spec.setdefault(container.pop("list"), []).append(container)
    if draw(st.integers(0, 2)) == 2:
        change = draw(st.fixed_dictionaries(
            {}, optional={
                "seccompProfile": PROFILE, "seLinuxOptions": SELINUX, "runAsNonRoot": st.booleans()
            }
        ))  # fmt: skip
        spec["securityContext"] = change
    if draw(st.integers(0, 2)) == 2:
        volumes = draw(st.lists(VOLUMES, max_size=2))
        spec |= {"hostPID": draw(st.booleans()), "volumes": volumes}
    return spec


@st.composite
def exclusions(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        control, field = draw(st.sampled_from(OF_PODS))
        return {
            "controlName": control, "restrictedField": f"spec.{field}", "values": draw(VALUES)
        }  # fmt: skip
    control, field = draw(st.sampled_from(ENTRIES))
    images = draw(st.lists(st.sampled_from(["*", "x", "y"]), min_size=1, max_size=1))
    name = draw(st.sampled_from(["containers", *CONTAINER_LISTS]))
    path = f"spec.{name}[*].{field}"
    of_field = {"restrictedField": path, "values": draw(VALUES)} if draw(st.booleans()) else {}
    return {"controlName": control, "images": images, **of_field}


@given(specs(), st.lists(exclusions(), min_size=1, max_size=6))
def test_what_is_forgiven_is_what_kyverno_forgives(
    spec: JsonObject, excludes: list[dict[str, Any]]
) -> None:
    demanded = {"podSecurity": {"level": "restricted", "exclude": excludes}}
    translation = translated(kyverno_policy(rule(demanded)))
    if translation.reason:
        assert "several exclusions" in translation.reason
        return
    metadata = {"name": "p", "namespace": "default"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    assert result(translation, pod) == ("pass" if allowed(spec, excludes) else "fail")
