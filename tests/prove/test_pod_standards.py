"""The Pod Security Standards as policies: as the plugin, check by check, field by field."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

import pytest

pytest.importorskip("z3")

from celadon.admission import Operation, Request, default_options
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.plugins.pod_security_standards import (
    CHECKS,
    OTHER_VOLUMES,
    VOLUMES,
    StandardCheck,
    checks_of,
)
from celadon.kube import GroupVersionKind, JsonObject, User
from celadon.kube.registry import create
from celadon.kube.well_known_values import PODS
from celadon.prove import Standard
from celadon.prove.policy_properties import side_of

POD: Final = GroupVersionKind("", "v1", "Pod")
VERSIONS: Final = range(30, 37)
LEVELS: Final = ("baseline", "restricted")

# What may be in the fields that checks look at: nothing, what is allowed, what is not, what is
# empty. `None` leaves a field out.

FLAG: Final = (None, False, True)
PROFILE: Final[Sequence[Any]] = (
    None, {"type": "RuntimeDefault"}, {"type": "Localhost", "localhostProfile": "p"},
    {"type": "Unconfined"}, {"type": ""},
)  # fmt: skip
SELINUX: Final[Sequence[Any]] = (
    None, {}, {"type": "container_t"}, {"type": "container_engine_t"}, {"type": "spc_t"},
    {"user": "u"}, {"role": "r"}, {"level": "s0"}, {"type": "", "user": ""},
)  # fmt: skip
CAPABILITIES: Final[Sequence[Any]] = (
    None, {}, {"drop": ["ALL"]}, {"drop": ["all"]}, {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
    {"add": ["CHOWN"], "drop": ["X", "ALL"]}, {"add": ["SYS_ADMIN"]}, {"add": []},
    {"add": ["CHOWN", "NET_RAW"], "drop": ["ALL"]},
)  # fmt: skip
SECURITY: Final[Mapping[str, Sequence[Any]]] = {
    "privileged": FLAG,
    "allowPrivilegeEscalation": FLAG,
    "runAsNonRoot": FLAG,
    "runAsUser": (None, 0, 1, 1000),
    "procMount": (None, "Default", "Unmasked", ""),
    "seccompProfile": PROFILE,
    "appArmorProfile": PROFILE,
    "seLinuxOptions": SELINUX,
    "capabilities": CAPABILITIES,
    "windowsOptions": (None, {}, {"hostProcess": True}, {"hostProcess": False}),
}
OF_PODS: Final = ("runAsNonRoot", "runAsUser", "seccompProfile", "appArmorProfile",
                  "seLinuxOptions", "windowsOptions")  # fmt: skip
SYSCTLS: Final = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_fin_timeout"),
    *("net.ipv4.tcp_rmem", "kernel.msgmax", ""),
)
HANDLERS: Final = (
    None, {"httpGet": {"host": "h", "port": 1}}, {"tcpSocket": {"host": "h", "port": 1}},
    {"httpGet": {"host": "", "port": 1}}, {"exec": {"command": ["c"]}},
)  # fmt: skip
ANNOTATIONS: Final = (None, *(
    {"container.apparmor.security.beta.kubernetes.io/c": one}
    for one in ("", "runtime/default", "localhost/p", "localhost", "unconfined")
), {"container.apparmor.security.beta.kubernetes.io": "x"}, {"a": "unconfined"})  # fmt: skip
POD_FIELDS: Final[Mapping[str, Sequence[Any]]] = {
    "hostNetwork": FLAG, "hostPID": FLAG, "hostIPC": FLAG, "hostUsers": FLAG,
    "os": (None, {"name": "windows"}, {"name": "linux"}),
}  # fmt: skip
LISTS: Final = ("containers", "initContainers", "ephemeralContainers")


def volume(kind: str) -> JsonObject:
    """A volume of a kind."""
    return {"name": "v", kind: {}}


def pod(spec: Mapping[str, Any], annotations: object = None) -> dict[str, Any]:
    """A pod as the server completes it."""
    metadata = {"name": "p", "namespace": "n", "annotations": annotations}
    written: dict[str, Any] = {**spec}
    written.setdefault("containers", [{"name": "c"}])
    value = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": written}
    return dict(create.admit_form(_without_none(value), POD))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(one) for key, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value


def boundary_pods() -> Iterator[dict[str, Any]]:
    """Each field with each of its values, in the pod and in each kind of container; and with those
    that the same checks look at, all combinations."""
    for name, values in POD_FIELDS.items():
        yield from (pod({name: one}) for one in values)
    yield from (pod({}, one) for one in ANNOTATIONS)
    yield from (pod({"volumes": [volume(one)]}) for one in (*VOLUMES, *OTHER_VOLUMES))
    yield pod({"volumes": [volume("secret"), volume("hostPath")]})
    yield pod({"volumes": [{"name": "v"}]})
    yield from (pod({"securityContext": {"sysctls": [{"name": one, "value": "1"}]}})
                for one in SYSCTLS)  # fmt: skip
    for place in LISTS:
        for name, values in SECURITY.items():
            in_pods = values if name in OF_PODS else (None,)
            for own, one, other in itertools.product(in_pods, values, values):
                both = [
                    {"name": f"c{number}", "securityContext": {name: each}}
                    for number, each in enumerate((one, other))
                ]
                for system in ({}, {"os": {"name": "windows"}}, {"hostUsers": False}):
                    yield pod({place: both, "securityContext": {name: own}, **system})
        for host in (None, 0, 80):
            port = {"containerPort": 80, "hostPort": host}
            yield pod({place: [{"name": "c", "ports": [{"containerPort": 1}, port]}]})
        for handler in HANDLERS:
            for name in ("livenessProbe", "readinessProbe", "startupProbe"):
                yield pod({place: [{"name": "c", name: handler}]})
            for name in ("postStart", "preStop"):
                yield pod({place: [{"name": "c", "lifecycle": {name: handler}}]})


def random_pod(random: Random) -> dict[str, Any]:
    """Some of all of that at once, mostly what is allowed."""

    def some(values: Sequence[Any]) -> Any:
        return random.choice(values) if random.random() < 0.4 else None

    spec: dict[str, Any] = {name: some(values) for name, values in POD_FIELDS.items()}
    spec["securityContext"] = {name: some(SECURITY[name]) for name in OF_PODS}
    spec["securityContext"]["sysctls"] = [
        {"name": one, "value": "1"} for one in SYSCTLS if random.random() < 0.1
    ]
    spec["volumes"] = [
        volume(random.choice((*VOLUMES, "hostPath", "nfs")))
        for _ in range(random.choice((0, 1, 2)))
    ]
    for place in LISTS:
        spec[place] = [
            {
                "name": f"{place[:1]}{number}",
                "securityContext": {name: some(values) for name, values in SECURITY.items()},
                "livenessProbe": some(HANDLERS),
                "ports": [{"containerPort": 1, "hostPort": some((0, 80))}],
            }
            for number in range(random.choice((0, 1, 2)))
        ]
    return pod(spec, some(ANNOTATIONS))


class Claims:
    """The checks of a standard as programs, and what they say of a pod."""

    def __init__(self, standard: Standard) -> None:
        self.version = f"1.{standard.minor}"
        self.engines = {
            name: side_of(standard.asked(name), self.version).engine for name in standard.checks
        }

    def holds(self, name: str, value: JsonObject) -> bool:
        """Whether a check admits a pod."""
        request = Request(
            Operation.CREATE,
            POD,
            PODS,
            namespace="n",
            name="p",
            object=value,
            user=User("u"),
            options=default_options(Operation.CREATE),
        )
        return self.engines[name].review(request, WORLD).allowed


WORLD: Final = ObjectWorld([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}])


def checks() -> dict[tuple[str, int], tuple[Standard, StandardCheck]]:
    """Every check of every release once."""
    found: dict[tuple[str, int], tuple[Standard, StandardCheck]] = {}
    for level, minor in itertools.product(LEVELS, VERSIONS):
        for one in checks_of(level, minor):
            found.setdefault((one.name, one.since), (Standard(level, minor), one))
    return found


CHECKED: Final = checks()


def test_all_checks_are_there() -> None:
    """And those before are of releases that nobody asks about."""
    missing = {(one.name, one.since) for one in CHECKS} - set(CHECKED)
    assert all(since < 30 for _, since in missing)
    for level, minor in itertools.product(LEVELS, VERSIONS):
        names = [one.name for one in checks_of(level, minor)]
        assert list(Standard(level, minor).checks) == names


def test_names() -> None:
    assert Standard.named("pod-security/restricted", 36) == Standard("restricted", 36)
    assert Standard.named("pod-security/baseline:1.30", 36) == Standard("baseline", 30)
    assert Standard.named("pod-security/baseline:v1.30", 36) == Standard("baseline", 30)
    assert Standard.named("pod-security/baseline:latest", 31) == Standard("baseline", 31)
    for wrong in ("pod-security/privileged", "baseline", "pod-security/baseline:1.20"):
        assert Standard.named(wrong, 36) is None


def disagreements(values: Sequence[dict[str, Any]]) -> list[str]:
    """Where a check of the plugin and its expression differ."""
    found = []
    for (name, since), (standard, one) in CHECKED.items():
        claims = Claims(standard)
        for value in values:
            violated = one.check(value["metadata"], value["spec"]) is not None
            if claims.holds(name, value) is violated:
                found.append(f"{name} since 1.{since}: {value['spec']}")
    return found


@pytest.mark.thorough
def test_boundaries_are_those_of_the_plugin() -> None:
    """A sample; all of them below."""
    assert not disagreements(list(boundary_pods())[::401])


@pytest.mark.thorough
def test_all_boundaries_are_those_of_the_plugin() -> None:
    assert not disagreements(list(boundary_pods()))


@pytest.mark.thorough
def test_random_pods_are_judged_as_by_the_plugin() -> None:
    random = Random(29)
    assert not disagreements([random_pod(random) for _ in range(10_000)])


def test_a_sample_of_random_pods() -> None:
    random = Random(30)
    assert not disagreements([random_pod(random) for _ in range(25)])
