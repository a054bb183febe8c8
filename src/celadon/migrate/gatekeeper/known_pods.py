"""The templates of gatekeeper-library for Pods that are written in Rego only, and what they demand
of the security of Pods, and of their requests and limits.

See `known_general` for how the tables are written. Most fields of a Pod cannot be changed, and the
templates do not look at updates: neither do the policies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.migrate.gatekeeper.known_general import (
    CONTAINERS,
    EPHEMERAL,
    INIT,
    Check,
    KnownTemplate,
    listed,
    meant,
    none_of,
)

VOLUMES: Final = "object.?spec.?volumes.orValue([])"
_CREATE: Final = ("CREATE",)

_FLEX: Final = KnownTemplate(
    frozenset({"f60ade4cff8779497dce0aa460d852ca"}),
    (
        none_of(
            "disallowed",
            "volume",
            "'FlexVolume ' + volume.name + ' is not allowed, pod: ' + object.metadata.name + "
            "'. Allowed drivers: ' + "
            "params.spec.allowedFlexVolumes.map(volume, volume.driver).join(', ')",
        ),
    ),
    (
        (
            "disallowed",
            f"{VOLUMES}.filter(volume, has(volume.flexVolume) && "
            "!params.spec.allowedFlexVolumes.exists(allowed, "
            "allowed.driver == volume.flexVolume.driver))",
        ),
    ),
    _CREATE,
    frozenset({"5b4fa293435272a1528b746d76cd6f69"}),
    ("allowedFlexVolumes",),
)
_TYPES: Final = KnownTemplate(
    frozenset({"bd0a427dd8986ad06d476d1f1f1d8ef9", "f7f34e6941126bbf6c0feb46078e0481"}),
    (
        none_of(
            "disallowed",
            "volume",
            "'The volume type of ' + volume.name + ' is not allowed, pod: ' + "
            "object.metadata.name + '. Allowed volume types: ' + params.spec.volumes.join(', ')",
        ),
    ),
    (
        (
            "disallowed",
            f"{VOLUMES}.filter(volume, !('*' in params.spec.volumes) && "
            "!dyn(volume).all(field, field == 'name' || field in params.spec.volumes))",
        ),
    ),
    _CREATE,
    frozenset({"d9445ed20fbe994bfedf3514a4f15649"}),
    ("volumes",),
)

_SELINUX_FIELDS: Final = ("level", "role", "type", "user")


def has_allowed_options(context: str) -> str:
    """Return whether the SELinux options of a context are absent, or as an allowed one."""
    same = " && ".join(
        f"(!has(options.{one}) || options.{one} == allowed.?{one}.orValue(''))"
        for one in _SELINUX_FIELDS
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


def _groups(field: str, held: str) -> tuple[tuple[str, str], ...]:
    """Return the variables for a field of groups; `held` is whether what is there is allowed, an
    optional one."""
    rule = f"variables.{field}Rule"
    return (
        (f"{field}Rule", f"params.spec.?{field}.?rule.orValue('RunAsAny')"),
        (
            f"wrong{field[0].upper()}{field[1:]}",
            f"variables.containers.filter(container, {rule} in ['MustRunAs', 'MayRunAs'] && "
            f"!{held}.orValue({rule} == 'MayRunAs'))",
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
            "runAsGroup",
            f"{_field('runAsGroup')}.optMap(group, {_in_range('runAsGroup', 'group')})",
        ),
        *_groups(
            "supplementalGroups",
            "object.?spec.?securityContext.?supplementalGroups.optMap(groups, "
            f"groups.all(group, {_in_range('supplementalGroups', 'group')}))",
        ),
        *_groups(
            "fsGroup",
            "object.?spec.?securityContext.?fsGroup.optMap(group, "
            f"{_in_range('fsGroup', 'group')})",
        ),
    ),
    _CREATE,
    frozenset({"0ab9dc569879eb325987731bd19ef318"}),
)


# --- Requests and limits -----------------------------------------------------

# What the templates of gatekeeper-library demand of requests and limits of containers.
#
# They read quantities themselves, and refuse some forms that Kubernetes takes (`1e3`): so do the
# checks here. See `known_general` for how the tables are written.

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
) -> KnownTemplate:
    return KnownTemplate(
        frozenset(digests),
        tuple(check for _, checks in parts for check in checks),
        (("containers", meant(CONTAINERS, INIT)), *(one for named, _ in parts for one in named)),
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
        (containers, *(one for named, _ in parts for one in named)),
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

KNOWN: Final[Mapping[str, tuple[KnownTemplate, ...]]] = {
    "K8sPSPAllowedUsers": (_USERS,),
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
            ("8c21c2c54883da593627f6993892da2b", "f76ce94bdba899d4be8b598808fb7369"),
            _written("limits", "cpu"),
            _bounded("limits", "cpu"),
            _written("limits", "memory"),
            _bounded("limits", "memory"),
        ),
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
            ("1e3294be9ec815d93a694487f0a25bbb", "e9b1d15964f3bf94233e0d5fe18dfeb2"),
            _written("limits", "cpu"),
            _written("limits", "memory"),
            _written("requests", "cpu"),
            _written("requests", "memory"),
            _in_ratio("cpu", "params.spec.?cpuRatio.or(params.spec.?ratio).orValue('')"),
            _in_ratio("memory", "params.spec.?ratio.orValue('')"),
        ),
    ),
    "K8sRequiredResources": (
        _template(
            ("3c0ae0020117526677e2093d790d8c8b",),
            _lacking("limits"),
            _lacking("requests"),
        ),
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
