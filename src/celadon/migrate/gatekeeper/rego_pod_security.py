"""The templates of gatekeeper-library for Pods that are written in Rego only, and what they demand
of the security of Pods, and of their requests and limits.

See `rego_general` for how the tables are written. Most fields of a Pod cannot be changed, and the
templates do not look at updates: neither do the policies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from celadon.migrate.gatekeeper.rego_general import (
    CONTAINERS,
    EPHEMERAL,
    INIT,
    Check,
    KnownTemplate,
    Variable,
    listed,
    meant,
    none_of,
    none_wrong,
    whole,
)

VOLUMES: Final = "object.?spec.?volumes.orValue([])"
_CREATE: Final = ("CREATE",)

_FLEX: Final = none_wrong(
    ("f60ade4cff8779497dce0aa460d852ca",),
    "disallowed",
    "volume",
    "'FlexVolume ' + volume.name + ' is not allowed, pod: ' + object.metadata.name + "
    "'. Allowed drivers: ' + "
    "params.spec.allowedFlexVolumes.map(volume, volume.driver).join(', ')",
    (
        "disallowed",
        f"{VOLUMES}.filter(volume, has(volume.flexVolume) && "
        "!params.spec.allowedFlexVolumes.exists(allowed, "
        "allowed.driver == volume.flexVolume.driver))",
    ),
    operations=_CREATE,
    digests_of_all_operations=frozenset({"5b4fa293435272a1528b746d76cd6f69"}),
    needs=("allowedFlexVolumes",),
)
_TYPES: Final = none_wrong(
    ("bd0a427dd8986ad06d476d1f1f1d8ef9", "f7f34e6941126bbf6c0feb46078e0481"),
    "disallowed",
    "volume",
    "'The volume type of ' + volume.name + ' is not allowed, pod: ' + "
    "object.metadata.name + '. Allowed volume types: ' + params.spec.volumes.join(', ')",
    (
        "disallowed",
        f"{VOLUMES}.filter(volume, !('*' in params.spec.volumes) && "
        "!dyn(volume).all(field, field == 'name' || field in params.spec.volumes))",
    ),
    operations=_CREATE,
    digests_of_all_operations=frozenset({"d9445ed20fbe994bfedf3514a4f15649"}),
    needs=("volumes",),
)

_SELINUX_FIELDS: Final = ("level", "role", "type", "user")


def has_allowed_options(context: str) -> str:
    """Return whether the SELinux options of a context are absent, or as an allowed one."""
    same = " && ".join(
        f"(!has(options.{field}) || options.{field} == allowed.?{field}.orValue(''))"
        for field in _SELINUX_FIELDS
    )
    return (
        f"{context}.?seLinuxOptions.optMap(options, "
        f"params.spec.allowedSELinuxOptions.exists(allowed, {same})).orValue(true)"
    )


_SELINUX: Final = KnownTemplate(
    frozenset(
        {
            "0c68125d052e970624248183fda60516",
            "904f4c8a90634a5cb023c34d48e20a7e",
            "02a6431511122af4014509330c92b0e4",
        }
    ),
    (
        (
            has_allowed_options("object.?spec.?securityContext"),
            "'SELinux options is not allowed, pod: ' + object.metadata.name",
        ),
        none_of(
            "disallowed",
            "container",
            "'SELinux options is not allowed, pod: ' + object.metadata.name + ', container: ' + "
            "container.name",
        ),
    ),
    (
        ("containers", meant(CONTAINERS, INIT, EPHEMERAL)),
        (
            "disallowed",
            "variables.containers.filter(container, "
            f"!{has_allowed_options('container.?securityContext')})",
        ),
    ),
    _CREATE,
    frozenset({"1ce0746490cd2da1177f0355478b0324"}),
    ("allowedSELinuxOptions",),
)


# --- Security of containers ---------------------------------------------------

# Templates that have CEL by now, as they were in Rego.

_ALL: Final = ("containers", meant(CONTAINERS, INIT, EPHEMERAL))


def containers_template(
    digests: Collection[str],
    wrong: str,
    message: str,
    judged: Variable = _ALL,
    *,
    for_updates: Collection[str] = (),
    needs: tuple[str, ...] = (),
) -> KnownTemplate:
    """Return a template that judges one container after the other."""
    return none_wrong(
        digests,
        "wrong",
        "container",
        message,
        judged,
        ("wrong", f"variables.containers.filter(container, {wrong})"),
        operations=_CREATE if for_updates else (),
        digests_of_all_operations=frozenset(for_updates),
        needs=needs,
    )


_PRIVILEGED: Final = containers_template(
    ("263fa073aee29670e5fc07c0835c5c18",),
    "container.?securityContext.?privileged.orValue(false)",
    "'Privileged container is not allowed: ' + container.name",
    for_updates=("fde8eda9558b3ad40896e5dcb2bc1508",),
)
_ESCALATION: Final = containers_template(
    ("31c9cc56cb54410d8a9000dde9a98fd1",),
    "container.?securityContext.?allowPrivilegeEscalation.orValue(true)",
    "'Privilege escalation container is not allowed: ' + container.name",
    for_updates=("530d58e824df72495b88f9f76e03a693",),
)
_READ_ONLY: Final = containers_template(
    ("bae4a32d26fea7acde63603c5441377a",),
    "!container.?securityContext.?readOnlyRootFilesystem.orValue(false)",
    "'only read-only root filesystem container is allowed: ' + container.name",
    for_updates=("7fce5e57ea419264b36987b7d456b456",),
)
_PROC_MOUNT: Final = containers_template(
    ("fef879da3b94aa5b7cd20a5498b64733", "32ad401caba3d21bd321663a9db92dab"),
    "params.spec.?procMount.orValue('').lowerAscii() != 'unmasked' && "
    "container.?securityContext.?procMount.orValue('default').lowerAscii() != 'default'",
    "'ProcMount type is not allowed, container: ' + container.name",
    for_updates=("71e1cb4ca818d9ef48b56a90fd2eb703", "e1cbfd8e0c764c70f4003036f99187b7"),
)
_APPARMOR: Final = containers_template(
    ("25c24dcaf86008408ca71299ffdc6466",),
    "!(object.metadata.?annotations[?'container.apparmor.security.beta.kubernetes.io/' + "
    "container.name].orValue('runtime/default') in params.spec.allowedProfiles)",
    "'AppArmor profile is not allowed, pod: ' + object.metadata.name + ', container: ' + "
    "container.name + '. Allowed profiles: ' + params.spec.allowedProfiles.join(', ')",
    needs=("allowedProfiles",),
)
_HOST_PORTS: Final = whole(
    ("985fcbabb07372b6a1a4344b7cca9845", "f5529154496fcb8a30cafcae74a2e6e8"),
    "!variables.sharesNetwork && size(variables.wrongPorts) == 0",
    "'The specified hostNetwork and hostPort are not allowed, pod: ' + object.metadata.name",
    _ALL,
    (
        "sharesNetwork",
        "object.?spec.?hostNetwork.orValue(false) && !params.spec.?hostNetwork.orValue(false)",
    ),
    (
        "wrongPorts",
        "variables.containers.filter(container, container.?ports.orValue([])"
        ".exists(port, port.?hostPort.optMap(number, "
        "number < params.spec.?min.orValue(number) || "
        "number > params.spec.?max.orValue(number)).orValue(false)))",
    ),
    operations=_CREATE,
    digests_of_all_operations=frozenset({"9a38dcff47f4e777a1b62169e882daf2"}),
)
_HOST_NAMESPACE: Final = whole(
    ("9c0b5b429e134c38624dfd8aeb5dfda4",),
    "!object.?spec.?hostPID.orValue(false) && !object.?spec.?hostIPC.orValue(false)",
    "'Sharing the host namespace is not allowed: ' + object.metadata.name",
    operations=_CREATE,
)


def capabilities_template(
    digests: Collection[str],
    judged: Variable = _ALL,
    lower: str = ".lowerAscii()",
    *,
    for_updates: Collection[str] = (),
) -> KnownTemplate:
    """Return a template that allows some capabilities, and has others dropped. With `lower`, which
    makes them alike, it is enough to drop all."""
    added = "container.?securityContext.?capabilities.?add.orValue([])"
    dropped = "container.?securityContext.?capabilities.?drop.orValue([])"
    allowed = "params.spec.?allowedCapabilities.orValue([])"
    required = "params.spec.?requiredDropCapabilities.orValue([])"
    drops_all = f"!{dropped}.exists(one, one{lower} == 'all') && " if lower else ""
    return KnownTemplate(
        frozenset(digests),
        (
            none_of(
                "wrong",
                "container",
                "'container <' + container.name + '> has a disallowed capability. Allowed "
                "capabilities are ' + " + listed(allowed),
            ),
            none_of(
                "lacking",
                "container",
                "'container <' + container.name + '> is not dropping all required capabilities. "
                "Container must drop all of ' + " + listed(required),
            ),
        ),
        (
            judged,
            ("allowed", f"{allowed}.map(one, one{lower})"),
            (
                "wrong",
                "variables.containers.filter(container, !('*' in variables.allowed) && "
                f"{added}.exists(one, !(one{lower} in variables.allowed)))",
            ),
            (
                "lacking",
                f"variables.containers.filter(container, {drops_all}!{required}.all(wanted, "
                f"{dropped}.exists(one, one{lower} == wanted{lower})))",
            ),
        ),
        _CREATE if for_updates else (),
        frozenset(for_updates),
    )


_CAPABILITIES: Final = capabilities_template(
    ("0ce8289b0e4e7f5f05956527aeb983cc", "38969cfc917dc75fbdc52a8342c1965b"),
    for_updates=("867e63669ef7b759f82453456867fb84",),
)

# --- Security of Pods ---------------------------------------------------------

_SYSCTLS: Final = "object.?spec.?securityContext.?sysctls.orValue([])"


def _matches_sysctl(field: str) -> str:
    return (
        f"params.spec.?{field}.orValue([]).exists(one, one == sysctl.name || "
        "one.endsWith('*') && sysctl.name.startsWith(one.substring(0, size(one) - 1)))"
    )


_FORBIDDEN_SYSCTLS: Final = KnownTemplate(
    frozenset({"bf6dfe1ad9c702c82449fcbe0082f0fa", "4ccfe15195226f588c0efb0fdb3fb7e6"}),
    (
        none_of(
            "forbidden",
            "sysctl",
            "'The sysctl ' + sysctl.name + ' is not allowed, pod: ' + object.metadata.name",
        ),
        none_of(
            "notAllowed",
            "sysctl",
            "'The sysctl ' + sysctl.name + ' is not explicitly allowed, pod: ' + "
            "object.metadata.name + '. Allowed sysctls: ' + params.spec.allowedSysctls.join(', ')",
        ),
    ),
    (
        ("forbidden", f"{_SYSCTLS}.filter(sysctl, {_matches_sysctl('forbiddenSysctls')})"),
        (
            "notAllowed",
            f"{_SYSCTLS}.filter(sysctl, has(params.spec.allowedSysctls) && "
            f"!{_matches_sysctl('allowedSysctls')})",
        ),
    ),
    _CREATE,
    frozenset({"adf37fa371a8373a6d8943480582c99a", "b9e5726ece85856d9cff0c751fc38775"}),
)
_FS_GROUP: Final = whole(
    ("789e125736f4af4f3fac6885f8858445", "023c23cb12033b9472368bb2c164b581"),
    "!has(object.spec) || variables.rule == 'RunAsAny' || "
    "object.spec.?securityContext.?fsGroup.optMap(group, "
    "variables.rule in ['MustRunAs', 'MayRunAs'] && "
    "params.spec.?ranges.orValue([]).exists(range, "
    "range.min <= group && group <= range.max))"
    ".orValue(variables.rule == 'MayRunAs')",
    "'The provided pod spec fsGroup is not allowed, pod: ' + object.metadata.name",
    ("rule", "params.spec.?rule.orValue('')"),
    operations=_CREATE,
    digests_of_all_operations=frozenset({"1110193e78f291caf41169aab092d237"}),
)
_TRIMMED: Final = "find('[^/](.*[^/])?')"
_HOST_FILESYSTEM: Final = none_wrong(
    ("86aef5bb396ecb1b6219f0a980c4d46f", "25fe92eda485f4bfb903f48ef0c2dd0a"),
    "disallowed",
    "volume",
    "'HostPath volume ' + volume.name + ' is not allowed, pod: ' + object.metadata.name",
    ("containers", meant(CONTAINERS, INIT, EPHEMERAL, exempt=False)),
    (
        "written",
        "variables.containers.map(container, container.?volumeMounts.orValue([])"
        ".filter(mount, !mount.?readOnly.orValue(false)).map(mount, mount.name))",
    ),
    (
        "disallowed",
        f"{VOLUMES}.filter(volume, has(volume.hostPath) && "
        "!params.spec.?allowedHostPaths.orValue([]).exists(allowed, "
        "has(allowed.pathPrefix) && (allowed.pathPrefix == '/' || "
        f"(volume.hostPath.path.{_TRIMMED} + '/')"
        f".startsWith(allowed.pathPrefix.{_TRIMMED} + '/')) && "
        "(!allowed.?readOnly.orValue(false) || "
        "!variables.written.exists(names, volume.name in names))))",
    ),
    operations=_CREATE,
    digests_of_all_operations=frozenset({"1c4283e8692616758dbbcb053d57b478"}),
)


# --- Users and groups --------------------------------------------------------


def _field(name: str) -> str:
    """Return a field of a container's security context, of the Pod's where it has none."""
    of_pod = f"object.?spec.?securityContext.?{name}"
    return f"container.?securityContext.?{name}.or({of_pod})"


def _in_range(field: str, number: str) -> str:
    return (
        f"params.spec.?{field}.?ranges.orValue([]).exists(range, "
        f"range.min <= {number} && {number} <= range.max)"
    )


_NON_ROOT: Final = (
    f"{_field('runAsUser')}.optMap(user, user != 0)"
    f".orValue({_field('runAsNonRoot')}.orValue(false))"
)


def _in_group_range(field: str) -> str:
    """Return whether a group is in a range. Where there are no ranges at all, the templates refuse
    no group: only that there is none."""
    return f"!params.spec.?{field}.?ranges.hasValue() || {_in_range(field, 'group')}"


def _groups(field: str, allowed: str) -> tuple[tuple[str, str], ...]:
    """Return the variables for a field of groups; `allowed` is whether what is there is allowed, an
    optional one."""
    rule = f"variables.{field}Rule"
    return (
        (f"{field}Rule", f"params.spec.?{field}.?rule.orValue('RunAsAny')"),
        (
            f"wrong{field[0].upper()}{field[1:]}",
            f"variables.containers.filter(container, {rule} in ['MustRunAs', 'MayRunAs'] && "
            f"!{allowed}.orValue({rule} == 'MayRunAs'))",
        ),
    )


def _message(field: str) -> tuple[str, str]:
    return none_of(
        f"wrong{field[0].upper()}{field[1:]}",
        "container",
        f"'Container ' + container.name + ' is attempting to run with a {field} that is missing or "
        f"disallowed. Rule: ' + variables.{field}Rule",
    )


_USERS: Final = KnownTemplate(
    frozenset({"a4986517820168f88abe608c1586d85e", "7c62e6caa57d4bddd43e0fb6e2f0f199"}),
    tuple(map(_message, ("runAsUser", "runAsGroup", "supplementalGroups", "fsGroup"))),
    (
        ("containers", meant(CONTAINERS, INIT, EPHEMERAL)),
        ("runAsUserRule", "params.spec.?runAsUser.?rule.orValue('RunAsAny')"),
        (
            "wrongRunAsUser",
            "variables.containers.filter(container, variables.runAsUserRule == 'MustRunAs' "
            f"? !{_field('runAsUser')}.optMap(user, {_in_range('runAsUser', 'user')})"
            ".orValue(false) "
            f": variables.runAsUserRule == 'MustRunAsNonRoot' && !{_NON_ROOT})",
        ),
        *_groups(
            "runAsGroup", f"{_field('runAsGroup')}.optMap(group, {_in_group_range('runAsGroup')})"
        ),
        *_groups(
            "supplementalGroups",
            "object.?spec.?securityContext.?supplementalGroups.optMap(groups, "
            f"groups.all(group, {_in_group_range('supplementalGroups')}))",
        ),
        *_groups(
            "fsGroup",
            f"object.?spec.?securityContext.?fsGroup.optMap(group, {_in_group_range('fsGroup')})",
        ),
    ),
    _CREATE,
    frozenset({"0ab9dc569879eb325987731bd19ef318"}),
)


# --- Requests and limits -----------------------------------------------------

# What the templates of gatekeeper-library demand of requests and limits of containers.
#
# They read quantities themselves, and refuse some forms that Kubernetes takes (`1e3`): so do the
# checks here. See `rego_general` for how the tables are written.

_CPU: Final = "^[0-9]+([.][0-9]+)?m?$"
_SIZE: Final = "^[0-9]+([.][0-9]+)?([mkMGTPE]|[KMGTPE]i)?$"
_FORMS: Final = {"cpu": _CPU, "memory": _SIZE, "ephemeral-storage": _SIZE}
"""The quantities that the templates read."""

_Parts = tuple[list[tuple[str, str]], list[Check]]
_NAMED: Final = "'container <' + container.name + '>"


def _title(field: str, name: str) -> str:
    """Return what a quantity is called in names of variables: `CpuLimit`."""
    return "".join(part.capitalize() for part in (*name.split("-"), field.removesuffix("s")))


def _step(name: str) -> str:
    return f"[?'{name}']" if "-" in name else f".?{name}"


def _value(field: str, name: str) -> str:
    """Return the quantity of a container, empty if it has none."""
    return f"container.?resources.?{field}{_step(name)}.orValue('')"


def _written(field: str, name: str, condition: str = "") -> _Parts:
    """Return that every container has a quantity, of a form that is read."""
    value, title, word = _value(field, name), _title(field, name), field.removesuffix("s")
    return [
        (f"without{title}", f"variables.containers.filter(container, {condition}{value} == '')"),
        (
            f"unread{title}",
            f"variables.containers.filter(container, {condition}{value} != '' && "
            f"!{value}.matches('{_FORMS[name]}'))",
        ),
    ], [
        none_of(f"without{title}", "container", f"{_NAMED} has no {name} {word}'"),
        none_of(
            f"unread{title}",
            "container",
            f"{_NAMED} {name} {word} <' + {value} + '> could not be parsed'",
        ),
    ]


def _bounded(field: str, name: str, condition: str = "", parameter: str = "") -> _Parts:
    """Return that no quantity is above a parameter, the one of its name unless given."""
    value, title, form = _value(field, name), _title(field, name), _FORMS[name]
    most = f"variables.most{title}"
    params = "dyn(params.spec)" if "-" in name else "params.spec"
    return [
        (f"most{title}", f"{params}{_step(parameter or name)}.orValue('')"),
        (
            f"above{title}",
            f"variables.containers.filter(container, {condition}{most}.matches('{form}') && "
            f"{value}.matches('{form}') && quantity({value}).isGreaterThan(quantity({most})))",
        ),
    ], [
        none_of(
            f"above{title}",
            "container",
            f"{_NAMED} {name} {field.removesuffix('s')} <' + {value} + "
            f"'> is higher than the maximum allowed of <' + {most} + '>'",
        )
    ]


_ROUNDING: Final = "1.00000000000001"
"""Factor that keeps a limit which is exactly a multiple of the request from being above it."""


def _in_ratio(name: str, ratio: str) -> _Parts:
    """Return that no limit is above a multiple of the request, where the parameter `ratio` is
    there: without it the template bounds nothing."""
    limit, request, form = _value("limits", name), _value("requests", name), _FORMS[name]
    title = name.capitalize()
    most = f"variables.most{title}Ratio"
    return [
        (f"most{title}Ratio", ratio),
        (
            f"above{title}Ratio",
            f"variables.containers.filter(container, has(params.spec.ratio) && "
            f"{limit}.matches('{form}') && {request}.matches('{form}') && "
            f"quantity({limit}).asApproximateFloat() > "
            f"quantity({request}).asApproximateFloat() * double({most}) * {_ROUNDING})",
        ),
    ], [
        none_of(
            f"above{title}Ratio",
            "container",
            f"{_NAMED} {name} limit <' + {limit} + "
            f"'> is higher than the maximum allowed ratio of <' + {most} + '>'",
        )
    ]


def _template(
    digests: tuple[str, ...],
    *parts: _Parts,
    operations: tuple[str, ...] = (),
    for_updates: tuple[str, ...] = (),
    exempt: bool = True,
) -> KnownTemplate:
    judged = ("containers", meant(CONTAINERS, INIT, exempt=exempt))
    return KnownTemplate(
        frozenset(digests),
        tuple(check for _, checks in parts for check in checks),
        (judged, *(item for named, _ in parts for item in named)),
        operations,
        frozenset(for_updates),
    )


def limits_template(digests: tuple[str, ...], containers: tuple[str, str]) -> KnownTemplate:
    """Return a template that bounds the limits of some containers by `cpuLimit` and
    `memoryLimit`."""
    parts = (
        _written("limits", "cpu"),
        _bounded("limits", "cpu", parameter="cpuLimit"),
        _written("limits", "memory"),
        _bounded("limits", "memory", parameter="memoryLimit"),
    )
    return KnownTemplate(
        frozenset(digests),
        tuple(check for _, checks in parts for check in checks),
        (containers, *(item for named, _ in parts for item in named)),
    )


def _lacking(field: str) -> _Parts:
    """Return that containers have those quantities that the parameter lists."""
    title = field.capitalize()
    missing = (
        f"params.spec.?{field}.orValue([]).filter(name, "
        f"!(name in container.?resources.?{field}.orValue({{}})))"
    )
    quoted = listed(missing).replace("'[", "'{", 1).replace("]'", "}'")
    return [
        (f"lacking{title}", f"variables.containers.filter(container, size({missing}) > 0)"),
    ], [
        none_of(
            f"lacking{title}",
            "container",
            f"{_NAMED} does not have <' + {quoted} + '> {field} defined'",
        )
    ]


_OFF: Final = "params.spec.?cpu.orValue('-1') != '-1' && "
"""What switches off the limit of cpu."""

_LIMITS: Final = (
    _written("limits", "cpu"),
    _bounded("limits", "cpu"),
    _written("limits", "memory"),
    _bounded("limits", "memory"),
)
_RATIOS: Final = (
    _written("limits", "cpu"),
    _written("limits", "memory"),
    _written("requests", "cpu"),
    _written("requests", "memory"),
    _in_ratio("cpu", "params.spec.?cpuRatio.or(params.spec.?ratio).orValue('')"),
    _in_ratio("memory", "params.spec.?ratio.orValue('')"),
)

KNOWN: Final[Mapping[str, tuple[KnownTemplate, ...]]] = {
    "K8sPSPAllowPrivilegeEscalationContainer": (_ESCALATION,),
    "K8sPSPAllowedUsers": (_USERS,),
    "K8sPSPAppArmor": (_APPARMOR,),
    "K8sPSPCapabilities": (_CAPABILITIES,),
    "K8sPSPFSGroup": (_FS_GROUP,),
    "K8sPSPForbiddenSysctls": (_FORBIDDEN_SYSCTLS,),
    "K8sPSPHostFilesystem": (_HOST_FILESYSTEM,),
    "K8sPSPHostNamespace": (_HOST_NAMESPACE,),
    "K8sPSPHostNetworkingPorts": (_HOST_PORTS,),
    "K8sPSPPrivilegedContainer": (_PRIVILEGED,),
    "K8sPSPProcMount": (_PROC_MOUNT,),
    "K8sPSPReadOnlyRootFilesystem": (_READ_ONLY,),
    "K8sPSPFlexVolumes": (_FLEX,),
    "K8sPSPSELinuxV2": (_SELINUX,),
    "K8sPSPVolumeTypes": (_TYPES,),
    "K8sContainerLimits": (
        _template(
            ("67e266f50ec35817e09b9f8189070291",),
            _written("limits", "cpu", _OFF),
            _bounded("limits", "cpu", _OFF),
            _written("limits", "memory"),
            _bounded("limits", "memory"),
        ),
        _template(
            ("8c21c2c54883da593627f6993892da2b", "f76ce94bdba899d4be8b598808fb7369"), *_LIMITS
        ),
        _template(("54111626fcae47a2107b2cb198a6cd14",), *_LIMITS, exempt=False),
    ),
    "K8sContainerRequests": (
        _template(
            ("299077e9e5c27bd14098271b128c9a3d", "39e6dbf682f8c22af4cfa459a72c25e5"),
            _written("requests", "cpu"),
            _bounded("requests", "cpu"),
            _written("requests", "memory"),
            _bounded("requests", "memory"),
        ),
    ),
    "K8sContainerRatios": (
        _template(
            ("1e3294be9ec815d93a694487f0a25bbb", "e9b1d15964f3bf94233e0d5fe18dfeb2"), *_RATIOS
        ),
        _template(
            ("dfb163814878b20129ff6173df866cfb", "5b8826da552be2fff40009aa0546805d"),
            *_RATIOS,
            exempt=False,
        ),
    ),
    "K8sRequiredResources": (
        _template(("3c0ae0020117526677e2093d790d8c8b",), _lacking("limits"), _lacking("requests")),
    ),
    "K8sContainerEphemeralStorageLimit": (
        _template(
            ("d7fb02e42e98d0ea14fd451836817048", "f3aead4b07d2dc5004b5df5a7f4b4ac3"),
            _written("limits", "ephemeral-storage"),
            _bounded("limits", "ephemeral-storage"),
            operations=("CREATE",),
            for_updates=("e63096fec8766e6cf6fdc929d07e100b",),
        ),
    ),
}
"""The templates by their kinds."""
