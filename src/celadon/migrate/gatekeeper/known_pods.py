"""What the templates of gatekeeper-library for the security of Pods demand that are written in
Rego only.

See `known_general` for how the tables are written. Most fields of a Pod cannot be changed, and the
templates do not look at updates: neither do the policies.
"""

from __future__ import annotations

from typing import Final

from celadon.migrate.gatekeeper.known_general import CONTAINERS, EPHEMERAL, INIT, meant, none_of
from celadon.migrate.gatekeeper.known_rego import KnownTemplate

_VOLUMES: Final = "object.?spec.?volumes.orValue([])"
_CREATE: Final = ("CREATE",)

_FLEX: Final = KnownTemplate(
    frozenset({"5bdd8a13e1b4a635600ac09c334fbb0d"}),
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
            f"{_VOLUMES}.filter(volume, has(volume.flexVolume) && "
            "!params.spec.allowedFlexVolumes.exists(allowed, "
            "allowed.driver == volume.flexVolume.driver))",
        ),
    ),
    _CREATE,
    frozenset({"006b2cf23d04618c9b9fe4ada65d0690"}),
    ("allowedFlexVolumes",),
)
_TYPES: Final = KnownTemplate(
    frozenset({"60eac5a4d4d0599d0a26a10db543c9a6", "28cfb34dc47553c5fb8164ac1da74af5"}),
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
            f"{_VOLUMES}.filter(volume, !('*' in params.spec.volumes) && "
            "!dyn(volume).all(field, field == 'name' || field in params.spec.volumes))",
        ),
    ),
    _CREATE,
    frozenset({"24b082d2757113093d1d1d967235ec2d"}),
    ("volumes",),
)

_SELINUX_FIELDS: Final = ("level", "role", "type", "user")


def _has_allowed_options(context: str) -> str:
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
            "8f176a6cca3f7be832c729280d203abd",
            "fc03bb93f468b4fc6301123b933d9ef5",
            "4bdce545486f9293586eadf50437d85f",
        }
    ),
    (
        (
            _has_allowed_options("object.?spec.?securityContext"),
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
            f"!{_has_allowed_options('container.?securityContext')})",
        ),
    ),
    _CREATE,
    frozenset({"03dce2949fcf3a6a28a95350327b07ae"}),
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
    frozenset({"9e07656346b220f77365b279ded305c6", "ceb4885fc91ec0680266b186e7059905"}),
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
    frozenset({"0dc539308f0064bdfab94124acb386cf"}),
)

KNOWN: Final = {
    "K8sPSPAllowedUsers": (_USERS,),
    "K8sPSPFlexVolumes": (_FLEX,),
    "K8sPSPSELinuxV2": (_SELINUX,),
    "K8sPSPVolumeTypes": (_TYPES,),
}
"""The templates by their kinds."""
