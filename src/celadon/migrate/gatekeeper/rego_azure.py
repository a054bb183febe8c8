"""The templates that Azure Policy puts into clusters (AKS, Arc), as far as their Rego is public
(`samples/KubernetesService` and `built-in-references` of azure-policy), and what they demand.

See `rego_general` for how the tables are written. Templates of version 1 and above spare Pods for
Windows where a field has no meaning there, and containers that parameters exclude.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.migrate.gatekeeper import rego_pod_security
from celadon.migrate.gatekeeper.rego_general import (
    CONTAINERS,
    EPHEMERAL,
    INIT,
    Check,
    KnownTemplate,
    Variable,
    listed,
    none_of,
    none_wrong,
    whole,
)

_IMAGE_EXCLUDED: Final = (
    "params.spec.?excludedImages.orValue([]).exists(image, "
    "image.endsWith('*') ? container.image.startsWith(image.substring(0, size(image) - 1)) "
    ": container.image == image)"
)
_NAME_EXCLUDED: Final = "container.name in params.spec.?excludedContainers.orValue([])"
_IS_WINDOWS: Final = "object.?spec.?nodeSelector[?'kubernetes.io/os'].orValue('') == 'windows'"
_SECURITY: Final = "container.?securityContext"
_OF_POD: Final = "object.?spec.?securityContext"
_ALL: Final = (CONTAINERS, INIT, EPHEMERAL)
_LONG: Final = (CONTAINERS, INIT)


def _judged(
    lists: tuple[str, ...], *, names: bool = True, images: bool = True, linux: bool = True
) -> Variable:
    """Return the variable for the containers that are judged: those that no name or image excludes,
    of Pods for Linux."""
    together = " + ".join(lists)
    spared = [_NAME_EXCLUDED] * names + [_IMAGE_EXCLUDED] * images
    if spared:
        conditions = " && ".join(f"!({text})" for text in spared)
        together = f"({together}).filter(container, {conditions})"
    return "containers", f"{_IS_WINDOWS} ? [] : {together}" if linux else together


_EACH: Final = _judged(_LONG, names=False, images=False, linux=False)
"""The containers that the first form of a template judges: none is spared."""


def _both(
    plain: str, sparing: str, wrong: str, message: str, lists: tuple[str, ...] = _ALL
) -> tuple[KnownTemplate, ...]:
    """Return a template in its first form, and in the one that spares containers."""
    return (
        rego_pod_security.containers_template((plain,), wrong, message, _EACH),
        rego_pod_security.containers_template((sparing,), wrong, message, _judged(lists)),
    )


NAME: Final = "object.metadata.name"

# --- Security ----------------------------------------------------------------

_NO_PRIVILEGE: Final = _both(
    "73e22b4bc5932dae9147493e4f9087dd",
    "f4ff2dd403ed08de851f0526f601c301",
    f"{_SECURITY}.?privileged.orValue(false)",
    "'Privileged container is not allowed: ' + container.name",
)
_READ_ONLY: Final = _both(
    "f3be4d81267602fad4f26f7390584c01",
    "c60530c59c5649ba0a3fd612d29e45a6",
    f"!{_SECURITY}.?readOnlyRootFilesystem.orValue(false)",
    f"""'Readonly root filesystem is required for container. pod: ' + {NAME} + """
    "', container: ' + container.name",
)
_ESCALATION_MESSAGE: Final = "'Privilege escalation container is not allowed: ' + container.name"
_NO_ESCALATION: Final = (
    rego_pod_security.containers_template(
        ("70c0d6dcbe7b33c48d606bdf8bb495ef",),
        f"{_SECURITY}.?allowPrivilegeEscalation.orValue(true)",
        _ESCALATION_MESSAGE,
        _EACH,
    ),
    rego_pod_security.containers_template(
        ("97811d0469ac7aa0c1d3613da262db98",),
        # Without the field, whoever is not known to be root is meant.
        f"{_SECURITY}.?allowPrivilegeEscalation.orValue("
        f"{_SECURITY}.?runAsUser.or({_OF_POD}.?runAsUser).optMap(user, user != 0).orValue(false))",
        _ESCALATION_MESSAGE,
        _judged(_ALL),
    ),
)
_HOST_MESSAGE: Final = f"'Sharing the host namespace is not allowed: ' + {NAME}"
_SHARES_HOST: Final = (
    "(object.?spec.?hostPID.orValue(false) || object.?spec.?hostIPC.orValue(false))"
)
_HOST_NAMESPACE: Final = (
    whole(("3ca431f24a6ee42039d13e68f134ebf0",), f"!{_SHARES_HOST}", _HOST_MESSAGE),
    whole(
        ("33961bb8ceb49c7713467b1d875806a9",),
        f"!{_SHARES_HOST} || size(variables.containers) == 0",
        _HOST_MESSAGE,
        _judged(_ALL, names=False),
    ),
)
_HOST_PORTS: Final = _both(
    "f9c32d0ac2d6bb2d60c8a68a87a2bfac",
    "6e8fe761338a31945259271fad90f75f",
    "!params.spec.?allowHostNetwork.orValue(false) && object.?spec.?hostNetwork.orValue(false) || "
    "container.?ports.orValue([]).exists(port, port.?hostPort.optMap(number, "
    "number < params.spec.?minPort.orValue(number) || "
    "number > params.spec.?maxPort.orValue(number)).orValue(false))",
    f"'The specified hostNetwork and hostPort are not allowed, pod: ' + {NAME} + "
    "', container: ' + container.name",
)
_ADDED: Final = f"{_SECURITY}.?capabilities.?add.orValue([])"


def of_list(field: str) -> str:
    """Return an expression for a list that is a parameter, empty if it is absent."""
    return f"params.spec.?{field}.orValue([])"


_ALLOWED_CAPABILITIES: Final = (
    rego_pod_security.capabilities_template(
        ("1fcea9c9553e8cfa4957eff432cf1ae6",),
        _EACH,
        lower="",
    ),
    rego_pod_security.capabilities_template(("4297d6745b546a8ddcdd4557fc4a2ece",), _judged(_ALL)),
)
_DISALLOWED_CAPABILITIES: Final = _both(
    "ce7714c8e8d2ece94fc9d08bc13af866",
    "400f8f797ea77e6168c03e1e07c3df93",
    f"'*' in {of_list('disallowedCapabilities')} || "
    f"{_ADDED}.exists(one, one in {of_list('disallowedCapabilities')})",
    "'container <' + container.name + '> has a disallowed capability. Disallowed capabilities are "
    "' + " + listed(of_list("disallowedCapabilities")),
)
_PROC_MOUNT: Final = _both(
    "28d623c67433f559857aa0d6663304ed",
    "9f73814eadc52a01f880c209a7f7f842",
    "params.spec.?procMount.orValue('').lowerAscii() != 'unmasked' && "
    f"{_SECURITY}.?procMount.orValue('default').lowerAscii() != 'default'",
    "'ProcMount type is not allowed, container: ' + container.name",
)
_APPARMOR_KEY: Final = "'container.apparmor.security.beta.kubernetes.io/' + container.name"


def _apparmor(digest: str, otherwise: str, judged: Variable) -> KnownTemplate:
    profile = f"object.metadata.?annotations[?{_APPARMOR_KEY}].orValue('{otherwise}')"
    return rego_pod_security.containers_template(
        (digest,),
        f"!({profile} in params.spec.allowedProfiles)",
        f"'AppArmor profile is not allowed, pod: ' + {NAME} + ', container: ' + container.name + "
        "'. Allowed profiles: ' + params.spec.allowedProfiles.join(', ')",
        judged,
        needs=("allowedProfiles",),
    )


_APPARMOR: Final = (
    _apparmor("273162539b05b1f139aa6db8764a4665", "runtime/default", _judged(_ALL)),
)


def _selinux(digest: str, judged: Variable, *, linux: bool) -> KnownTemplate:
    spared = f"{_IS_WINDOWS} || " if linux else ""
    return KnownTemplate(
        frozenset({digest}),
        (
            (
                spared + rego_pod_security.has_allowed_options(_OF_POD),
                f"'SELinux options is not allowed, pod: ' + {NAME}",
            ),
            none_of(
                "disallowed",
                "container",
                f"'SELinux options is not allowed, pod: ' + {NAME} + ', container ' + "
                "container.name",
            ),
        ),
        (
            judged,
            (
                "disallowed",
                "variables.containers.filter(container, "
                f"!{rego_pod_security.has_allowed_options(_SECURITY)})",
            ),
        ),
        needs=("allowedSELinuxOptions",),
    )


_SELINUX: Final = (
    _selinux(
        "30c78db7dd8c580b4def95f85e3281aa",
        _EACH,
        linux=False,
    ),
    _selinux("c82a92296e3b5060b4360f71bf1d083b", _judged(_ALL, names=False), linux=True),
)
_SYSCTLS: Final = f"{_OF_POD}.?sysctls.orValue([])"


def _forbidden_sysctls(digest: str, spared: str) -> KnownTemplate:
    # Asterisks at both ends of a pattern are cut off; what begins with the rest is forbidden.
    return none_wrong(
        (digest,),
        "forbidden",
        "sysctl",
        f"'The sysctl ' + sysctl.name + ' is not allowed, pod: ' + {NAME} + "
        "'. Forbidden sysctls: ' + params.spec.forbiddenSysctls.join(', ')",
        (
            "forbidden",
            f"({spared}{_SYSCTLS}).filter(sysctl, params.spec.forbiddenSysctls.exists(one, "
            "sysctl.name == one || sysctl.name.startsWith(one.find('[^*](.*[^*])?'))))",
        ),
        needs=("forbiddenSysctls",),
    )


_FORBIDDEN_SYSCTLS: Final = (
    _forbidden_sysctls("b724b5703e46f75a03720bab7283e415", ""),
    _forbidden_sysctls("003982585547e7465c27d8a723fd240e", f"{_IS_WINDOWS} ? [] : "),
)

# --- Users and groups --------------------------------------------------------


def _field(name: str) -> str:
    return f"{_SECURITY}.?{name}.or({_OF_POD}.?{name})"


def _in_range(field: str, number: str) -> str:
    """Return whether a number is in a range of a parameter, one of which may be without an end."""
    return (
        f"params.spec.?{field}.?ranges.orValue([]).exists(range, "
        f"has(range.min) && has(range.max) && range.min <= {number} && "
        f"(range.max == -1 || {number} <= range.max))"
    )


def _users_message(field: str) -> Check:
    title = field[0].upper() + field[1:]
    return none_of(
        f"wrong{title}",
        "container",
        f"'Container ' + container.name + ' is attempting to run with a {field} that is missing or "
        f"disallowed. Rule: ' + variables.{field}Rule",
    )


def _users_variables(field: str, allowed: str) -> tuple[Variable, Variable]:
    """Return the variables of users. `allowed` is whether what is there is allowed, an optional
    one."""
    rule, title = f"variables.{field}Rule", field[0].upper() + field[1:]
    absent = f"{rule} != 'MustRunAs'"
    if field == "runAsUser":
        non_root = f"{_field('runAsNonRoot')}.orValue(false)"
        absent += f" && ({rule} != 'MustRunAsNonRoot' || {non_root})"
    return (
        (f"{field}Rule", f"params.spec.?{field}.?rule.orValue('RunAsAny')"),
        (
            f"wrong{title}",
            f"variables.containers.filter(container, {rule} != 'RunAsAny' && "
            f"!{allowed}.orValue({absent}))",
        ),
    )


_BOUND: Final = "variables.{0}Rule in ['MustRunAs', 'MayRunAs'] && "
_USERS: Final = KnownTemplate(
    frozenset({"39512cc06675782d20143d1d521d790b"}),
    tuple(map(_users_message, ("runAsUser", "runAsGroup", "supplementalGroups", "fsGroup"))),
    (
        _judged(_ALL),
        *_users_variables(
            "runAsUser",
            f"{_field('runAsUser')}.optMap(user, variables.runAsUserRule == 'MustRunAsNonRoot' "
            "? user != 0 : variables.runAsUserRule == 'MustRunAs' && "
            f"{_in_range('runAsUser', 'user')})",
        ),
        *_users_variables(
            "runAsGroup",
            f"{_field('runAsGroup')}.optMap(group, {_BOUND.format('runAsGroup')}"
            f"{_in_range('runAsGroup', 'group')})",
        ),
        *_users_variables(
            "supplementalGroups",
            f"{_OF_POD}.?supplementalGroups.optMap(groups, groups.all(group, "
            f"{_BOUND.format('supplementalGroups')}{_in_range('supplementalGroups', 'group')}))",
        ),
        *_users_variables(
            "fsGroup",
            f"{_OF_POD}.?fsGroup.optMap(group, {_BOUND.format('fsGroup')}"
            f"{_in_range('fsGroup', 'group')})",
        ),
    ),
)

# --- Volumes -----------------------------------------------------------------

_MOUNTED: Final[Variable] = (
    "volumes",
    f"{rego_pod_security.VOLUMES}.filter(volume, variables.containers.exists(container, "
    "container.?volumeMounts.orValue([]).exists(mount, mount.name == volume.name)))",
)
_TYPES: Final = none_wrong(
    ("636c43dcdeac6511bab96af26bc2c7e3",),
    "wrong",
    "volume",
    f"'The volume type of ' + volume.name + ' is not allowed, pod: ' + {NAME} + "
    "'. Allowed volume types: ' + params.spec.volumes.join(', ')",
    _judged(_ALL, names=False, linux=False),
    _MOUNTED,
    (
        "wrong",
        "variables.volumes.filter(volume, !('*' in params.spec.volumes) && "
        "!dyn(volume).all(field, field == 'name' || field in params.spec.volumes))",
    ),
    needs=("volumes",),
)
_INNER: Final = ".find('[^/](.*[^/])?')"
"""A path without slashes at its ends."""
_BELOW: Final = (
    "(path.prefix == '/' || (path.inner == '' ? volume.inner == '' && volume.path != '/' "
    ": volume.inner == path.inner || volume.inner.startsWith(path.inner + '/')))"
)
_HOST_PATHS: Final = KnownTemplate(
    frozenset({"47ef36ccf5fbb8404408d46a797433ba"}),
    (
        none_of(
            "wrong",
            "volume",
            f"'HostPath volume ' + volume.name + ' is not allowed, pod: ' + {NAME}",
        ),
        none_of(
            "writable",
            "volume",
            "'HostPath volume ' + volume.name + ' does not meet the readonly requirement, pod: ' + "
            f"{NAME}",
        ),
    ),
    (
        _judged(_LONG),
        (
            "hostPaths",
            f"{rego_pod_security.VOLUMES}.filter(volume, has(volume.hostPath)).map(volume, "
            "{'name': dyn(volume.name), 'path': dyn(volume.hostPath.path), "
            f"'inner': dyn(volume.hostPath.path{_INNER})}})"
            ".filter(volume, variables.containers.exists(container, "
            "container.?volumeMounts.orValue([]).exists(mount, mount.name == volume.name)))",
        ),
        (
            "allowed",
            f"{of_list('allowedHostPaths')}.filter(path, has(path.pathPrefix)).map(path, "
            f"{{'prefix': dyn(path.pathPrefix), 'inner': dyn(path.pathPrefix{_INNER}), "
            "'isReadOnly': dyn(path.?readOnly.orValue(false))})",
        ),
        (
            "wrong",
            f"variables.hostPaths.filter(volume, !variables.allowed.exists(path, {_BELOW}))",
        ),
        (
            "writable",
            "variables.hostPaths.filter(volume, variables.allowed.exists(path, "
            f"path.isReadOnly && {_BELOW}) && variables.containers.exists(container, "
            "container.?volumeMounts.orValue([]).exists(mount, mount.name == volume.name && "
            "!mount.?readOnly.orValue(false))))",
        ),
    ),
)
_FLEX: Final = none_wrong(
    ("578defed12580a6b8dd9a6e2014314d1",),
    "wrong",
    "volume",
    f"'FlexVolume ' + volume.name + ' is not allowed, pod: ' + {NAME} + "
    "'. Allowed drivers: ' + params.spec.allowedFlexVolumeDrivers.join(', ')",
    (
        "wrong",
        f"{rego_pod_security.VOLUMES}.filter(volume, has(volume.flexVolume) && "
        "!(volume.flexVolume.driver in params.spec.allowedFlexVolumeDrivers))",
    ),
    needs=("allowedFlexVolumeDrivers",),
)
_DRIVERS: Final = whole(
    ("9571cbed62d6bca52ec40484b43e4063",),
    "!(object.?provisioner.orValue('') in ['kubernetes.io/azure-file', "
    "'kubernetes.io/azure-disk'])",
    f"'Storage class ' + {NAME} + ' use intree provisioner ' + object.provisioner + "
    "' is not allowed'",
)
_TOKEN_PATH: Final = "'/var/run/secrets/kubernetes.io/serviceaccount'"
_TOKEN_MESSAGE: Final = f"'Automounting service account token is disallowed, pod: ' + {NAME}"
_TOKENS: Final = (
    whole(
        ("2bbe813ffdbbc0568c671cb17d47bc42",),
        "!object.?spec.?automountServiceAccountToken.orValue(true)",
        _TOKEN_MESSAGE,
    ),
    whole(
        ("9f252d900632fc03effb04ba46d1055e",),
        "size(variables.containers) == 0 || !object.?spec.?automountServiceAccountToken.orValue("
        f"({' + '.join(_ALL)}).exists(container, container.?volumeMounts.orValue([])"
        f".exists(mount, mount.mountPath == {_TOKEN_PATH})))",
        _TOKEN_MESSAGE,
        _judged(_ALL, names=False, linux=False),
    ),
)

# --- Images, resources, probes -----------------------------------------------


def _images(digest: str, judged: Variable) -> KnownTemplate:
    return rego_pod_security.containers_template(
        (digest,),
        "!has(params.spec.imageRegex) || !has(container.image) || "
        "!container.image.matches(params.spec.imageRegex)",
        "'Container image ' + container.?image.orValue('') + ' for container ' + container.name + "
        "' has not been allowed.'",
        judged,
    )


_IMAGES: Final = (
    _images("c9db0d129f4aa6ffaafa93710700b67b", _EACH),
    _images("672061e5b4de15327342a1bec0014e8f", _judged(_ALL, images=False, linux=False)),
)
_PULL_POLICY: Final = rego_pod_security.containers_template(
    ("8e69f1348aac9f58be6cfe5a1a365a52",),
    "has(container.imagePullPolicy) && "
    "!(container.imagePullPolicy in params.spec.allowedPullPolicy)",
    "'Image pull policy ' + container.imagePullPolicy + ' for container ' + container.name + "
    "' is not been allowed. allowed policies: ' + params.spec.allowedPullPolicy.join(', ')",
    _judged(_ALL, names=False, linux=False),
    needs=("allowedPullPolicy",),
)
_PULL_SECRETS: Final = whole(
    ("c6275bfcc80cd64d7d0d552b1e696ade",),
    "size(variables.containers) == 0 || object.?spec.?imagePullSecrets.hasValue()",
    f"{NAME} + ' in ' + request.namespace + ' does not have imagePullSecrets. Unauthenticated "
    "image pulls are not recommended.'",
    _judged(_ALL, names=False, linux=False),
)


def _container_ports(digest: str, judged: Variable) -> KnownTemplate:
    ports = (
        "container.?ports.orValue([]).map(port, string(port.containerPort))"
        ".filter(port, !(port in params.spec.?allowedPorts.orValue([])))"
    )
    return rego_pod_security.containers_template(
        (digest,),
        f"size({ports}) > 0",
        f"'Container port ' + {ports}.join(', ') + ' for container ' + container.name + "
        "' has not been allowed.'",
        judged,
    )


_CONTAINER_PORTS: Final = (
    _container_ports("2c9e58012dcfc5942c11a88369336b68", _EACH),
    # Its schema does not have the names.
    _container_ports(
        "eb7028ebd11ef2b497bfe5e72109ae4b",
        (
            "containers",
            f"({' + '.join(_LONG)}).filter(container, "
            f"!({_NAME_EXCLUDED.replace('params.spec.', 'dyn(params.spec).')}))",
        ),
    ),
)
_PROBES: Final = rego_pod_security.containers_template(
    ("241db7c0158dfab76a8bc9a2bc8878b7",),
    "!params.spec.enforceProbes.all(probe, ['tcpSocket', 'httpGet', 'exec'].exists(type, "
    "type in dyn(container)[?probe].orValue({})))",
    f"'Container <' + container.name + '> in your Pod <' + {NAME} + '> has not all of the probes "
    "' + params.spec.enforceProbes.join(', ')",
    _judged((CONTAINERS,), linux=False),
    needs=("enforceProbes",),
)
_LIMITS: Final = rego_pod_security.limits_template(
    ("73efd55ad8d9308d88a3b830e2252294",), _judged(_LONG, linux=False)
)

# --- Services, Ingresses, Nodes and any object ---------------------------------

_EXTERNAL: Final = whole(
    ("1ec5f11512d3a960453e2cf31ea8ee41",),
    "size(variables.forbidden) == 0",
    """'service has forbidden external IPs: {"' + """
    """variables.forbidden.join('", "') + '"}'""",
    (
        "forbidden",
        "(request.kind.kind == 'Service' && request.kind.group == '' "
        "? object.?spec.?externalIPs.orValue([]) : [])"
        f".filter(ip, !(ip in {of_list('allowedExternalIPs')}))",
    ),
)
_LOAD_BALANCER: Final = whole(
    ("e4fb9aa60da763088452f6979e80e679",),
    "object.?spec.?type.orValue('LoadBalancer') != 'LoadBalancer' || has(object.spec.type) && "
    "object.metadata.?annotations[?'service.beta.kubernetes.io/azure-load-balancer-internal']"
    ".orValue('') == 'true'",
    "'Load Balancers should not have public IPs. azure-load-balancer-internal annotation is "
    f"required for ' + {NAME}",
)
_RANGE: Final = "'[0-9]+-[0-9]+'"


def _service_ports(digest: str, is_allowed: str) -> KnownTemplate:
    return none_wrong(
        (digest,),
        "wrong",
        "port",
        f"'Port ' + string(port.port) + ' for service ' + {NAME} + ' has not been allowed.'",
        (
            "isKubernetes",
            "object.metadata.?namespace.orValue('') == 'default' && "
            "object.metadata.name == 'kubernetes'",
        ),
        (
            "wrong",
            "(variables.isKubernetes ? [] : object.?spec.?ports.orValue([]))"
            f".filter(port, !{of_list('allowedPorts')}.exists(one, {is_allowed}))",
        ),
    )


_SERVICE_PORTS: Final = (
    _service_ports("3afd5fa222c717aeb81b9ae2e9831ec6", "one == string(port.port)"),
    _service_ports(
        "a653c838aa018f322e67d9b3a107921a",
        f"one.matches({_RANGE}) ? int(one.split('-')[0]) <= port.port && "
        "port.port <= int(one.split('-')[1]) : one == string(port.port)",
    ),
)
_LABELS: Final = whole(
    ("dcf91552576ca9f54293d08a3f7d55a2",),
    "size(variables.missing) == 0",
    """'you must provide labels: {"' + variables.missing.join('", "') + '"}'""",
    (
        "missing",
        f"{of_list('labels')}.filter(label, !(label in object.metadata.?labels.orValue({{}})))",
    ),
)
_SYSTEM_OBJECTS: Final = (
    "object.kind == 'ServiceAccount' && object.metadata.name == 'default' || "
    "object.kind == 'Secret' && "
    "dyn(object).?type.orValue('') == 'kubernetes.io/service-account-token' && "
    "object.metadata.?annotations[?'kubernetes.io/service-account.name'].orValue('') == 'default' "
    "|| object.kind == 'Service' && object.metadata.name == 'kubernetes'"
)
_ROOT_CA: Final = " || object.kind == 'ConfigMap' && object.metadata.name == 'kube-root-ca.crt'"


def _default_namespace(digest: str, allowed: str) -> KnownTemplate:
    return whole(
        (digest,),
        "object.metadata.?namespace.orValue('default') != 'default' || variables.isOfSystem",
        f"'Usage of the default namespace is not allowed, name: ' + {NAME} + ', kind: ' + "
        "object.kind",
        ("isOfSystem", allowed),
    )


_DEFAULT_NAMESPACE: Final = (
    _default_namespace("6835a1e4e636ee9220cb63ff26697f40", _SYSTEM_OBJECTS),
    _default_namespace("98866b2deb0d11dd4b0b154e4cf71c07", _SYSTEM_OBJECTS + _ROOT_CA),
)
_NO_RESOURCE: Final = whole(
    ("20973ac74865308230b442e57e20309c",),
    "!has(object.metadata.namespace) || variables.isOfSystem",
    "object.kind + ' resource except default in namespace ' + object.metadata.namespace + "
    f"' is not allowed, name: ' + {NAME}",
    ("isOfSystem", _SYSTEM_OBJECTS + _ROOT_CA),
)
_NAKED: Final = whole(
    ("22c9e3e0878deae5af8bb7d139859e61",),
    "has(object.metadata.ownerReferences)",
    f"'Naked pod is not allowed, pod: ' + {NAME}",
)
_AFFINITY: Final = whole(
    ("85007ef0cc1b7751c6d361d5c9e29e80",),
    "dyn(object).?spec.?replicas.orValue(0) <= 1 || "
    "!dyn(object).?spec.?template.?spec.hasValue() || "
    "dyn(object).?spec.?template.?spec.?affinity.?podAntiAffinity.hasValue()",
    "request.kind.kind + ' with ' + string(object.spec.replicas) + ' replicas should have pod "
    "anti-affinity rules set to avoid disruptions due to nodes crashing'",
)
_RESERVED_TAINTS: Final = whole(
    ("9b8ab685e670137fa16171d924d6adea",),
    "object.metadata.?labels[?'kubernetes.azure.com/mode'].orValue('') in ['system', 'System'] || "
    "size(variables.reserved) == 0",
    "'Taint with key <' + variables.reserved.map(taint, taint.key).join(', ') + '> is reserved for "
    "the system pool only'",
    (
        "reserved",
        "object.?spec.?taints.orValue([]).filter(taint, "
        f"{of_list('reservedTaints')}.exists(one, taint.key.matches(one)))",
    ),
)
_RESERVED_LABELS: Final = whole(
    ("dc75c26c85c0554306c255e30f2e8691",),
    "size(variables.reserved) == 0 || variables.isOfSystem",
    """'Label <{"' + variables.reserved.join('", "') + '"}> is reserved for AKS use only'""",
    (
        "reserved",
        f"{of_list('labels')}.filter(label, label in object.metadata.?labels.orValue({{}}))",
    ),
    (
        "isOfSystem",
        f"request.userInfo.username in {of_list('allowedUsers')} || "
        f"{of_list('allowedGroups')}.exists(group, "
        "group in request.userInfo.?groups.orValue([]))",
    ),
)
_ANNOTATION: Final = "object.metadata.?annotations[?'{0}']"
_IS_NGINX: Final = (
    "object.?spec.?ingressClassName.or("
    f"{_ANNOTATION.format('kubernetes.io/ingress.class')}).orValue('') == 'nginx'"
)
_INGRESS: Final = KnownTemplate(
    frozenset({"453bc73d64ae19c6166530d798fd3116"}),
    (
        (
            "!variables.isIngress || !variables.isGateway || variables.hasTls || "
            f"{_ANNOTATION.format('appgw.ingress.kubernetes.io/appgw-ssl-certificate')}.hasValue()",
            f"'Ingress should allow https only. tls configuration is required for ' + {NAME}",
        ),
        (
            "!variables.isIngress || !variables.isNginx || variables.redirects && "
            "(variables.hasTls || "
            f"{_ANNOTATION.format('nginx.ingress.kubernetes.io/auth-tls-secret')}.hasValue() || "
            f"{_ANNOTATION.format('nginx.ingress.kubernetes.io/ssl-passthrough')}.orValue('') "
            "== 'true')",
            "'Ingress should allow https only. tls configuration and annotation "
            "nginx.ingress.kubernetes.io/force-ssl-redirect=true are required for ' + "
            f"{NAME}",
        ),
    ),
    (
        (
            "isIngress",
            "request.kind.kind == 'Ingress' && "
            "request.kind.group in ['extensions', 'networking.k8s.io']",
        ),
        (
            "isGateway",
            f"{_ANNOTATION.format('kubernetes.io/ingress.class')}.orValue('') == "
            "'azure/application-gateway'",
        ),
        ("isNginx", _IS_NGINX),
        ("hasTls", "size(object.?spec.?tls.orValue([])) > 0"),
        (
            "redirects",
            f"{_ANNOTATION.format('nginx.ingress.kubernetes.io/force-ssl-redirect')}.orValue('') "
            f"== 'true' || {_ANNOTATION.format('nginx.ingress.kubernetes.io/ssl-redirect')}"
            ".orValue('') != 'false' && has(object.spec.rules) && "
            "object.spec.rules.all(rule, has(rule.host))",
        ),
    ),
)

KNOWN: Final[Mapping[str, tuple[KnownTemplate, ...]]] = {
    "K8sAzureAllowedCapabilities": _ALLOWED_CAPABILITIES,
    "K8sAzureAllowedUsersGroups": (_USERS,),
    "K8sAzureAntiAffinityRules": (_AFFINITY,),
    "K8sAzureBlockAutomountToken": _TOKENS,
    "K8sAzureBlockDefault": _DEFAULT_NAMESPACE,
    "K8sAzureBlockHostNamespace": _HOST_NAMESPACE,
    "K8sAzureBlockNakedPods": (_NAKED,),
    "K8sAzureBlockResource": (_NO_RESOURCE,),
    "K8sAzureContainerAllowedImages": _IMAGES,
    "K8sAzureContainerAllowedPorts": _CONTAINER_PORTS,
    "K8sAzureContainerAllowedPullPolicy": (_PULL_POLICY,),
    "K8sAzureContainerEnforceProbes": (_PROBES,),
    "K8sAzureContainerLimits": (_LIMITS,),
    "K8sAzureContainerNoPrivilege": _NO_PRIVILEGE,
    "K8sAzureContainerNoPrivilegeEscalation": _NO_ESCALATION,
    "K8sAzureContainerRestrictedImagePulls": (_PULL_SECRETS,),
    "K8sAzureDisallowedCapabilities": _DISALLOWED_CAPABILITIES,
    "K8sAzureEnforceAppArmor": _APPARMOR,
    "K8sAzureEnforceCSIDriver": (_DRIVERS,),
    "K8sAzureExternalIPs": (_EXTERNAL,),
    "K8sAzureFlexVolumes": (_FLEX,),
    "K8sAzureForbiddenSysctls": _FORBIDDEN_SYSCTLS,
    "K8sAzureHostFilesystem": (_HOST_PATHS,),
    "K8sAzureHostNetworkingPorts": _HOST_PORTS,
    "K8sAzureIngressHttpsOnly": (_INGRESS,),
    "K8sAzureLoadBalancerNoPublicIPs": (_LOAD_BALANCER,),
    "K8sAzurePodEnforceLabels": (_LABELS,),
    "K8sAzureProcMount": _PROC_MOUNT,
    "K8sAzureReadOnlyRootFilesystem": _READ_ONLY,
    "K8sAzureReservedTaints": (_RESERVED_TAINTS,),
    "K8sAzureRestrictedLabels": (_RESERVED_LABELS,),
    "K8sAzureSELinux": _SELINUX,
    "K8sAzureServiceAllowedPorts": _SERVICE_PORTS,
    "K8sAzureVolumeTypes": (_TYPES,),
}
"""The templates by their kinds, without the number of their version."""
