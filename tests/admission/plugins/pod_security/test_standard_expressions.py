"""The expressions of the standards say of a pod what the plugin says, check by check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.admission.plugins.pod_security_expressions import (
    CONTAINERS,
    OLDEST,
    Check,
    Part,
    all_containers,
    checks_of,
)
from celadon.admission.plugins.pod_security_standards import CHECKS, NEWEST
from celadon.admission.plugins.pod_security_standards import checks_of as standard_checks
from celadon.kube.schemas import component
from celadon.kube.schemas.schema_packs import resolved
from celadon.kube.well_known_values import PROBES
from tests.admission.plugins.pod_security import (
    test_baseline_checks,
    test_restricted_checks,
    test_standard_checks,
)
from tests.admission.plugins.pod_security.test_baseline_checks import spec
from tests.kube.library.evaluation import evaluate, program

Json = dict[str, Any]
VOLUMES = component("io.k8s.api.core.v1.Volume").properties.keys() - {"name"}
CAPABILITIES = ("ALL", "all", "CHOWN", "NET_BIND_SERVICE", "NET_RAW", "SYS_ADMIN")
APPARMOR = "container.apparmor.security.beta.kubernetes.io"
SELINUX = ("", "container_t", "container_engine_t", "spc_t")
SYSCTLS = (
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_fin_timeout"),
    *("net.ipv4.tcp_rmem", "kernel.msgmax", ""),
)


def contexts() -> Iterator[Json]:
    """Security contexts of a container or a pod, with one field each."""
    for value in (False, True):
        for name in ("allowPrivilegeEscalation", "privileged", "runAsNonRoot"):
            yield {name: value}
        yield {"windowsOptions": {"hostProcess": value}}
    yield from ({"runAsUser": number} for number in (0, 1))
    yield from ({"procMount": mount} for mount in ("Default", "Unmasked", ""))
    for name in ("appArmorProfile", "seccompProfile"):
        for kind in ("RuntimeDefault", "Localhost", "Unconfined", ""):
            yield {name: {"type": kind}}
    yield from ({"seLinuxOptions": {"type": label}} for label in SELINUX)
    yield from ({"seLinuxOptions": {name: "x"}} for name in ("user", "role", "level"))
    for capability in CAPABILITIES:
        yield {"capabilities": {"drop": [capability]}}
        yield {"capabilities": {"add": [capability], "drop": ["ALL"]}}


def specs() -> Iterator[Json]:
    """Specs of pods: those that the plugin is tested with, and each field alone, in each place."""
    for rows in (test_baseline_checks.ROWS, test_restricted_checks.ROWS):
        yield from (given for _, given, _ in rows)
    for name in ("SYSCTL", "ENGINE", "UNMASKED", "PROBED", "HOST_PATH"):
        yield getattr(test_standard_checks, name)
    yield spec()
    for context in contexts():
        yield spec(context)
        yield spec({}, context)
        yield spec({}, securityContext=context)
        yield spec(context, hostUsers=False)
        yield spec(context, os={"name": "windows"})
        for place in ("initContainers", "ephemeralContainers"):
            yield spec({}, **{place: [{"name": "i", "securityContext": context}]})
    for value in (False, True):
        yield from (spec({}, **{name: value}) for name in ("hostNetwork", "hostPID", "hostIPC"))
        yield spec({}, hostUsers=value)
    yield from (spec({}, os={"name": name}) for name in ("linux", "windows"))
    yield from (spec({}, volumes=[{"name": "v", kind: {}}]) for kind in sorted(VOLUMES))
    yield from (spec({}, securityContext={"sysctls": [{"name": name}]}) for name in SYSCTLS)
    for action in ("httpGet", "tcpSocket"):
        for host in ("", "h"):
            handler = {action: {"host": host}}
            yield from ({"containers": [{"name": "a", name: handler}]} for name in PROBES)
            for hook in ("postStart", "preStop"):
                yield {"containers": [{"name": "a", "lifecycle": {hook: handler}}]}
    yield from ({"containers": [{"ports": [{"hostPort": number}]}]} for number in (0, 80))


def pods() -> Iterator[Json]:
    """The pods with these specs, and with annotations that a check reads."""
    for given in specs():
        yield {"metadata": {}, "spec": {"containers": [], **given}}
    for key in (f"{APPARMOR}/a", APPARMOR, "a"):
        for value in ("", "runtime/default", "localhost/p", "localhost", "unconfined"):
            yield {"metadata": {"annotations": {key: value}}, "spec": spec({})}


PODS = list(pods())
KNOWN = sorted(
    {(one.level, one.name, max(one.since, OLDEST)) for one in CHECKS},
)


def expression_of(level: str, minor: int, name: str) -> str:
    text = checks_of(level, minor)[name].expression
    return text.replace(CONTAINERS, f"({all_containers()})")


@pytest.mark.parametrize(("level", "name", "minor"), KNOWN)
def test_a_pod_that_the_plugin_refuses(level: str, name: str, minor: int) -> None:
    """Each check as it is since that release; that of the other standard if it stands for one."""
    found = {one.name: one.check for one in standard_checks(level, minor)}
    compiled = program(expression_of(level, minor, name))
    for pod in PODS:
        fine = found[name](pod["metadata"], pod["spec"]) is None
        assert compiled.evaluate({"object": pod}) is fine, pod


@pytest.mark.parametrize("level", ["baseline", "restricted"])
@pytest.mark.parametrize("minor", [*range(OLDEST, NEWEST + 1), NEWEST + 7])
def test_the_checks_of_a_release(level: str, minor: int) -> None:
    assert [*checks_of(level, minor)] == [one.name for one in standard_checks(level, minor)]


def test_a_pod_that_stands_elsewhere() -> None:
    """A template may have no metadata."""
    root = "object.spec.template"
    for check in checks_of("restricted", NEWEST, root).values():
        text = check.expression.replace(CONTAINERS, f"({all_containers(root)})")
        template: Json = {"spec": {"containers": []}}
        assert evaluate(text, object={"spec": {"template": template}}) is True


@pytest.mark.parametrize(
    ("level", "minor"),
    [*(("baseline", minor) for minor in (OLDEST, NEWEST)), ("restricted", NEWEST)],
)
def test_parts_are_about_fields_that_there_are(level: str, minor: int) -> None:
    for name, check in checks_of(level, minor).items():
        for part in check.parts:
            kind = "Container" if part.containers else "PodSpec"
            field: Any = component(f"io.k8s.api.core.v1.{kind}")
            for step in filter(None, part.path.split(".")):
                field = resolved(field).properties[step.removesuffix("[*]")]
                if step.endswith("[*]"):
                    field = field.items
            assert field is not None, (name, part.path)


ITEMS = Part("f", ("i == 1", "i == 2"), "c.list", "i")


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (Check(()), "true"),
        (Check((), "u"), "true"),
        (Check((Part("f", ("a", "b"), containers=""),)), "a || b"),
        (
            Check((Part("f", ("a", "b"), containers=""), Part("g", ("c",), containers=""))),
            "(a || b) && c",
        ),
        (Check((ITEMS,)), f"{CONTAINERS}.all(c, c.list.all(i, i == 1 || i == 2))"),
        (
            Check((ITEMS.with_others(("x",)),)),
            f"{CONTAINERS}.all(c, c.list.all(i, i == 1 || i == 2) || x)",
        ),
        (
            Check((ITEMS.with_others(("x",)), Part("g", ("y",)))),
            f"{CONTAINERS}.all(c, (c.list.all(i, i == 1 || i == 2) || x) && y)",
        ),
        (Check((Part("f", ("a",)).with_others(("b",)),)), f"{CONTAINERS}.all(c, a || b)"),
        (
            Check((Part("f", ("a",)), Part("g", ("b",), containers="others")), "u"),
            f"u || {CONTAINERS}.all(c, a) && others.all(c, b)",
        ),
        (Check((Part("f", ("a",), unless=("u",)),)), f"u || {CONTAINERS}.all(c, a)"),
        (
            Check((Part("f", ("a",), unless=("u",)), Part("g", ("b",), containers=""))),
            f"b && (u || {CONTAINERS}.all(c, a))",
        ),
        (
            Check((Part("f", ("a",), unless=("u",)), Part("g", ("b",)))),
            f"(u || {CONTAINERS}.all(c, a)) && {CONTAINERS}.all(c, b)",
        ),
    ],
)
def test_parts_are_put_together(check: Check, text: str) -> None:
    assert check.expression == text
