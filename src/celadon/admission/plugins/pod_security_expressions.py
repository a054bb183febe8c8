"""The checks of the Pod Security Standards as expressions of CEL, part by part.

Which checks a level has in which version the plugin says (`pod_security_standards`); here is what
each of them claims of a pod. Both are held against each other field by field
(`tests/prove/test_pod_standards.py`). Versions before 1.25 are not here: their checks are of
annotations that nobody reads any more.

A check consists of parts, each of one field, so that whoever forgives something of a field can give
the part another alternative, and put the parts together again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.admission.plugins import pod_security_standards as standards
from celadon.kube.well_known_values import APPARMOR_OF_CONTAINER, PROBES

OLDEST: Final = 25
"""The first minor version that is here."""
CONTAINERS: Final = "variables.containers"
"""All containers of the pod: a variable that policies need (`all_containers`)."""


def all_containers(root: str = "object") -> str:
    """Return the expression of the variable `containers`."""
    return " + ".join(
        f"{root}.spec.?{field}.orValue([])"
        for field in ("initContainers", "containers", "ephemeralContainers")
    )


# --- Parts -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """A check demands this of one field, of the pod or of containers. One of the alternatives must
    hold."""

    path: str
    """The path of the field below the pod's spec or a container, as errors name it; empty where no
    error has one."""
    alternatives: tuple[str, ...]
    """About an item, if there are items; else about the pod or a container, which is called `c`."""
    items: str = ""
    """A list whose items must all be so."""
    item: str = ""
    """What an item is called."""
    otherwise: tuple[str, ...] = ()
    """Further alternatives, of a part with items: not about an item."""
    containers: str = CONTAINERS
    """The list of the containers that it is about; empty if it is about the pod."""
    unless: tuple[str, ...] = ()
    """Conditions on the pod, of which one is enough in place of what containers must be."""

    @property
    def text(self) -> str:
        """Return what is demanded of the pod or of a container, as an operand of `&&`."""
        alternatives = " || ".join(self.alternatives)
        texts = [f"{self.items}.all({self.item}, {alternatives})"] if self.items else [alternatives]
        return " || ".join((*texts, *self.otherwise))

    def with_others(self, others: tuple[str, ...]) -> Part:
        """Return the part with further alternatives, about the pod or a container as a whole."""
        if self.items:
            return replace(self, otherwise=(*self.otherwise, *others))
        return replace(self, alternatives=(*self.alternatives, *others))

    @property
    def is_choice(self) -> bool:
        """Return whether the text has alternatives."""
        return len(self.otherwise) + (1 if self.items else len(self.alternatives)) > 1


@dataclass(frozen=True, slots=True)
class Check:
    """All parts must hold, unless something is so of the pod."""

    parts: tuple[Part, ...]
    unless: str = ""

    @property
    def expression(self) -> str:
        """Return the whole check; `true` if it has no parts."""
        terms = [_inside(part, self.parts) for part in self.parts if not part.containers]
        loops: dict[tuple[str, ...], dict[str, list[Part]]] = {}
        for part in self.parts:
            if part.containers:
                lists = loops.setdefault(part.unless, {})
                lists.setdefault(part.containers, []).append(part)
        for unless, lists in loops.items():
            every = " && ".join(
                f"{name}.all(c, {' && '.join(_inside(part, parts) for part in parts)})"
                for name, parts in lists.items()
            )
            whole = " || ".join((*unless, every))
            is_alone = not terms and len(loops) == 1
            terms.append(f"({whole})" if unless and not is_alone else whole)
        text = " && ".join(terms) or "true"
        return f"{self.unless} || {text}" if self.unless and terms else text


def _inside(part: Part, beside: Sequence[Part]) -> str:
    return f"({part.text})" if part.is_choice and len(beside) > 1 else part.text


# --- Checks ------------------------------------------------------------------


def _texts(values: Iterable[str]) -> str:
    return f"[{', '.join(repr(value) for value in sorted(values))}]"


_HANDLERS: Final = (*PROBES, "lifecycle.?postStart", "lifecycle.?preStop")
_CAPABILITIES: Final = "c.?securityContext.?capabilities"
_FIELD: Final = "securityContext"


@dataclass(frozen=True, slots=True)
class _Checks:
    """The checks of a pod that stands somewhere."""

    root: str

    @property
    def spec(self) -> str:
        return f"{self.root}.spec"

    @property
    def own_users(self) -> str:
        return f"{self.spec}.?hostUsers.orValue(true) == false"

    def pod(self, path: str, *alternatives: str, items: str = "", item: str = "") -> Part:
        """Make a part about the pod."""
        listed = f"{self.spec}.{items}.orValue([])" if items else ""
        return Part(path, alternatives, listed, item, containers="")

    def everywhere(self, path: str, *alternatives: str) -> tuple[Part, Part]:
        """Parts about the pod and about each container, which `{0}` stands for."""
        return (
            self.pod(path, *(alternative.format(self.spec) for alternative in alternatives)),
            Part(path, tuple(alternative.format("c") for alternative in alternatives)),
        )

    def profile(self, name: str) -> tuple[Part, Part]:
        read = f"{{0}}.?securityContext.?{name}"
        return self.everywhere(
            f"{_FIELD}.{name}.type",
            f"!{read}.hasValue()",
            f"{read}.?type.orValue('') in {_texts(standards.PROFILES)}",
        )

    def selinux(self, allowed: Iterable[str]) -> Check:
        options = "{0}.?securityContext.?seLinuxOptions"
        good = {"type": f"in {_texts(allowed)}", "user": "== ''", "role": "== ''"}
        return Check(
            tuple(
                part
                for name, is_good in good.items()
                for part in self.everywhere(
                    f"{_FIELD}.seLinuxOptions.{name}", f"{options}.?{name}.orValue('') {is_good}"
                )
            )
        )

    def sysctls(self, safe: Iterable[str]) -> Check:
        is_safe = f"sysctl.name in {_texts(safe)}"
        listed = "?securityContext.?sysctls"
        return Check((self.pod(f"{_FIELD}.sysctls[*].name", is_safe, items=listed, item="sysctl"),))

    def volumes(self, path: str, *alternatives: str) -> Check:
        return Check((self.pod(path, *alternatives, items="?volumes", item="volume"),))

    def annotations(self) -> Part:
        """Return what is demanded of annotations for AppArmor."""
        optional = f"{self.root}.{'' if self.root == 'object' else '?'}metadata.?annotations"
        annotations = f"{self.root}.metadata.annotations"
        return self.pod(
            "",
            f"!{optional}.hasValue()",
            f"{annotations}.all(key, !key.startsWith('{APPARMOR_OF_CONTAINER}')"
            f" || {annotations}[key] in ['', 'runtime/default']"
            f" || {annotations}[key].startsWith('localhost/'))",
        )

    def non_root(self) -> tuple[Part, Part]:
        path, pod_value = f"{_FIELD}.runAsNonRoot", f"{self.spec}.?securityContext.?runAsNonRoot"
        return (
            # A value alone has no type; with an operator it is a bool.
            self.pod(path, f"{pod_value}.orValue(true) == true"),
            Part(path, (f"c.?securityContext.?runAsNonRoot.orValue({pod_value}.orValue(false))",)),
        )

    def required_seccomp(self) -> tuple[Part, ...]:
        pod_type = f"{self.spec}.?securityContext.?seccompProfile.?type.orValue('')"
        missing = Part(
            f"{_FIELD}.seccompProfile.type",
            ("c.?securityContext.?seccompProfile.hasValue()",),
            unless=(f"{pod_type} in {_texts(standards.PROFILES)}",),
        )
        return *self.profile("seccompProfile"), missing

    def table(self) -> Mapping[tuple[str, int], Check]:
        """Hold the parts by the name of the check and the minor release since when it is so."""
        return {**self.baseline(), **self.restricted()}

    def baseline(self) -> Mapping[tuple[str, int], Check]:
        """Return the checks of the level `baseline`."""
        return {
            ("appArmorProfile", 0): Check((*self.profile("appArmorProfile"), self.annotations())),
            ("capabilities_baseline", 0): Check((_added(standards.BASELINE_CAPABILITIES),)),
            ("hostNamespaces", 0): Check(
                tuple(
                    self.pod(field, f"!{self.spec}.?{field}.orValue(false)")
                    for field in ("hostNetwork", "hostPID", "hostIPC")
                )
            ),
            ("hostPathVolumes", 0): self.volumes("volumes[*].hostPath", "!has(volume.hostPath)"),
            ("hostPorts", 0): Check((_HOST_PORTS,)),
            ("hostProbesAndHostLifecycle", 34): Check(
                tuple(
                    Part("", (f"c.?{handler}.?{action}.?host.orValue('') == ''",))
                    for handler in _HANDLERS
                    for action in ("httpGet", "tcpSocket")
                )
            ),
            ("privileged", 0): Check(
                _of_containers(
                    f"{_FIELD}.privileged", "!c.?securityContext.?privileged.orValue(false)"
                )
            ),
            ("procMount", 0): Check(_PROC_MOUNT),
            ("procMount", 35): Check(_PROC_MOUNT, self.own_users),
            ("seLinuxOptions", 0): self.selinux(standards.SELINUX_1_0),
            ("seLinuxOptions", 31): self.selinux(standards.SELINUX_1_31),
            ("seccompProfile_baseline", 19): Check(self.profile("seccompProfile")),
            ("sysctls", 0): self.sysctls(standards.SYSCTLS_1_0),
            ("sysctls", 27): self.sysctls(standards.SYSCTLS_1_27),
            ("sysctls", 29): self.sysctls(standards.SYSCTLS_1_29),
            ("sysctls", 32): self.sysctls(standards.SYSCTLS_1_32),
            ("windowsHostProcess", 0): Check(
                self.everywhere(
                    f"{_FIELD}.windowsOptions.hostProcess",
                    "!{0}.?securityContext.?windowsOptions.?hostProcess.orValue(false)",
                )
            ),
        }

    def restricted(self) -> Mapping[tuple[str, int], Check]:
        """Return the checks that the level `restricted` adds."""
        windows = f"{self.spec}.?os.?name.orValue('') == 'windows'"
        not_zero = self.everywhere(
            f"{_FIELD}.runAsUser", "{0}.?securityContext.?runAsUser.orValue(1) != 0"
        )
        kinds = (f"has(volume.{kind})" for kind in standards.VOLUMES)
        return {
            ("allowPrivilegeEscalation", 25): Check(_NO_ESCALATION, windows),
            ("capabilities_restricted", 25): Check(
                (_DROPPED, _added(["NET_BIND_SERVICE"])), windows
            ),
            ("procMount_restricted", 35): Check(_PROC_MOUNT),
            ("restrictedVolumes", 0): self.volumes("volumes[*]", *kinds),
            ("runAsNonRoot", 0): Check(self.non_root()),
            ("runAsNonRoot", 35): Check(self.non_root(), self.own_users),
            ("runAsUser", 23): Check(not_zero),
            ("runAsUser", 35): Check(not_zero, self.own_users),
            ("seccompProfile_restricted", 25): Check(self.required_seccomp(), windows),
        }


def _of_containers(path: str, rule: str) -> tuple[Part]:
    return (Part(path, (rule,)),)


def _added(allowed: Iterable[str]) -> Part:
    return Part(
        f"{_FIELD}.capabilities.add",
        (f"capability in {_texts(allowed)}",),
        f"{_CAPABILITIES}.?add.orValue([])",
        "capability",
    )


_HOST_PORTS: Final = Part(
    "ports[*].hostPort", ("port.?hostPort.orValue(0) == 0",), "c.?ports.orValue([])", "port"
)

_PROC_MOUNT: Final = _of_containers(
    f"{_FIELD}.procMount", "c.?securityContext.?procMount.orValue('Default') == 'Default'"
)
_DROPPED: Final = Part(
    f"{_FIELD}.capabilities.drop", (f"'ALL' in {_CAPABILITIES}.?drop.orValue([])",)
)
_NO_ESCALATION: Final = _of_containers(
    f"{_FIELD}.allowPrivilegeEscalation",
    "c.?securityContext.?allowPrivilegeEscalation.orValue(true) == false",
)

_checks_at: Final = functools.cache(lambda root: _Checks(root).table())


def checks_of(level: str, minor: int, root: str = "object") -> dict[str, Check]:
    """Return what a level demands of a pod that stands somewhere, in the version of a minor
    release, by the names of the checks."""
    table = _checks_at(root)
    return {
        check.name: table[check.name, check.since]
        for check in standards.checks_of(level, min(minor, standards.NEWEST))
    }
