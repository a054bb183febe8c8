"""The containers of a pod: regular, init and ephemeral ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since, until, wording
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import (
    RESTART_ALL,
    RESTART_RULES,
    ZERO_SLEEP,
    Errors,
    broken_rules,
    by_gate,
    choice_in,
    each,
    items,
    once_sound,
    only_with,
    port_number,
    required_choice,
    required_name,
    supported,
)
from celadon.kube.validation.pods.env_vars import descending_path, environment
from celadon.kube.validation.pods.resource_lists import requirements
from celadon.kube.validation.pods.security_contexts import container_security_context
from celadon.kube.validation.pods.volumes import PULL_POLICIES
from celadon.kube.well_known_values import PROBE_HANDLERS, PROBES
from celadon.records import dataclass

# --- Probes ------------------------------------------------------------------
#
# What a kubelet does with a running container: probes and lifecycle handlers.

SCHEMES: Final = ("HTTP", "HTTPS")
_ZERO_SLEEP: Final = wording(
    ". Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.", v1_32=""
)
LIFECYCLE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")


def port_or_name(path: FieldPath, value: int | str) -> Errors:
    """Validate a port number, or the name of a port."""
    if isinstance(value, str):
        return each(path, value, format_checks.port_name(value))
    return each(path, value, name_rules.port_number(value))


def lifecycle_and_probes(path: FieldPath, container: JsonObject, around: Surroundings) -> Errors:
    lifecycle = container.get("lifecycle") or {}
    for event in ("postStart", "preStop"):
        if lifecycle.get(event) is not None:
            field_path = path.child("lifecycle", event)
            yield from _handler(
                field_path, lifecycle[event], LIFECYCLE_HANDLERS, around.grace_period
            )
    if lifecycle.get("stopSignal") is not None:
        field_path = path.child("lifecycle", "stopSignal")
        yield from _stop_signal(field_path, lifecycle["stopSignal"], around.os)
    for name in PROBES:
        if container.get(name) is not None:
            yield from _probe(path.child(name), container[name], name)


_LAST: Final = "SIGRTMAX"
STOP_SIGNALS: Final[Mapping[str, tuple[str, ...]]] = {
    "linux": tuple(
        sorted(
            (
                *("SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE"),
                *("SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE"),
                *("SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGSEGV", "SIGSTKFLT", "SIGSTOP"),
                *("SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG"),
                *("SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ"),
                *("SIGRTMIN", *(f"SIGRTMIN+{number}" for number in range(1, 16))),
                *(_LAST, *(f"{_LAST}-{number}" for number in range(1, 15))),
            )
        )
    ),
    "windows": ("SIGKILL", "SIGTERM"),
}
"""What containers can be stopped with, by operating system."""


def _stop_signal(path: FieldPath, signal: str, os: JsonObject | None) -> Errors:
    # As `validateStopSignal` of `pkg/apis/core/validation`.
    if os is None:
        detail = "may not be set for containers with empty `spec.os.name`"
        yield fieldpath.forbidden(path, detail)
    elif os.get("name") in STOP_SIGNALS:
        yield from supported(path, signal, STOP_SIGNALS[os["name"]])


@once_sound
def _probe(path: FieldPath, probe: JsonObject, name: str) -> Errors:
    # As `validateProbe` of `pkg/apis/core/validation`.
    yield from _handler(path, probe, PROBE_HANDLERS, 0)
    yield from broken_rules("core.v1.Probe", probe, path)
    seconds = probe.get("terminationGracePeriodSeconds")
    termination_grace_period_seconds_path = path.child("terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        yield fieldpath.invalid(
            termination_grace_period_seconds_path, seconds, "must be greater than 0"
        )
    if name == "readinessProbe":
        if seconds is not None:
            yield fieldpath.invalid(
                termination_grace_period_seconds_path,
                seconds,
                "must not be set for readinessProbes",
            )
    elif probe.get("successThreshold", 0) != 1:
        threshold = probe.get("successThreshold", 0)
        yield fieldpath.invalid(path.child("successThreshold"), threshold, "must be 1")


def _handler(
    path: FieldPath, handler: JsonObject, kinds: tuple[str, ...], grace_period: int
) -> Errors:
    """Check a handler. The first kind that is given counts; others are too many."""
    # As `validateHandler` of `pkg/apis/core/validation`.
    present = [kind for kind in kinds if handler.get(kind) is not None]
    if not present:
        yield fieldpath.required(path, "must specify a handler type")
        return
    yield from _action(path.child(present[0]), handler[present[0]], present[0], grace_period)
    for kind in present[1:]:
        yield fieldpath.forbidden(path.child(kind), "may not specify more than 1 handler type")


def _action(path: FieldPath, action: JsonObject, kind: str, grace_period: int) -> Errors:
    if kind == "exec":
        if not action.get("command"):
            yield fieldpath.required(path.child("command"))
    elif kind == "httpGet":
        yield from _http(path, action)
    elif kind == "tcpSocket":
        yield from port_or_name(path.child("port"), action.get("port", 0))
    elif kind == "grpc":
        yield from port_number(path.child("port"), action.get("port", 0))
    else:
        seconds = action.get("seconds", 0)
        yield from _sleep(path, seconds, grace_period)


def _sleep(path: FieldPath, seconds: int, grace_period: int) -> Errors:
    """No time at all is time enough while a gate is on."""
    # As `validateSleepAction` of `pkg/apis/core/validation`.
    limit = f"less than terminationGracePeriodSeconds ({grace_period})"
    if seconds == 0 or not 0 <= seconds <= grace_period:
        positive = f"must be greater than 0 and {limit}{_ZERO_SLEEP.text}"
        yield from only_with(f"!{ZERO_SLEEP}", [fieldpath.invalid(path, seconds, positive)])
    if not 0 <= seconds <= grace_period:
        error = fieldpath.invalid(path, seconds, f"must be non-negative and {limit}")
        yield from only_with(ZERO_SLEEP, [error])


def _http(path: FieldPath, action: JsonObject) -> Errors:
    if not action.get("path"):
        yield fieldpath.required(path.child("path"))
    yield from port_or_name(path.child("port"), action.get("port", 0))
    yield from supported(path.child("scheme"), action.get("scheme") or "", SCHEMES)
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        yield from each(path.child("httpHeaders"), name, format_checks.http_header(name))


# --- Volume mounts -----------------------------------------------------------
#
# Where the volumes of a pod appear in a container.

PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
RECURSIVE_READ_ONLY: Final = ("Disabled", "Enabled", "IfPossible")


def mounts_and_devices(
    path: FieldPath, container: JsonObject, volumes: Mapping[str, JsonObject]
) -> Errors:
    """Validate `volumeMounts` and `volumeDevices`; `volumes` are the pod's."""
    yield from _mounts(path, container, volumes)
    yield from _devices(path, container, volumes)


def _mounts(path: FieldPath, container: JsonObject, volumes: Mapping[str, JsonObject]) -> Errors:
    # As `ValidateVolumeMounts` of `pkg/apis/core/validation`.
    devices = container.get("volumeDevices") or ()
    device_names = {device.get("name") for device in devices}
    device_paths = {device.get("devicePath") for device in devices}
    taken: set[str] = set()
    for volume_mount_path, mount in items(container, "volumeMounts", path):
        name, mount_point = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            yield fieldpath.required(volume_mount_path.child("name"))
        if name not in volumes:
            yield fieldpath.not_found(volume_mount_path.child("name"), name)
        if not mount_point:
            yield fieldpath.required(volume_mount_path.child("mountPath"))
        if mount_point in taken:
            yield fieldpath.invalid(
                volume_mount_path.child("mountPath"), mount_point, "must be unique"
            )
        taken.add(mount_point)
        if name in device_names:
            detail = "must not already exist in volumeDevices"
            yield fieldpath.invalid(volume_mount_path.child("name"), name, detail)
        if mount_point in device_paths:
            detail = "must not already exist as a path in volumeDevices"
            yield fieldpath.invalid(volume_mount_path.child("mountPath"), mount_point, detail)
        if (volumes.get(name) or {}).get("image") is not None:
            yield from _image_parts(volume_mount_path, mount)
        yield from _sub_paths(volume_mount_path, path.child("volumeMounts"), mount)
        yield from _propagation(path.child("volumeMounts"), mount, container)


@until("1.33")
def _image_parts(path: FieldPath, mount: JsonObject) -> Errors:
    """Yield an error where a volume of an image has a path, which releases that mount images whole
    do not know."""
    for field in ("subPath", "subPathExpr"):
        if mount.get(field):
            yield fieldpath.invalid(
                path.child(field), mount[field], "not allowed in image volume sources"
            )


def _sub_paths(path: FieldPath, whole: FieldPath, mount: JsonObject) -> Errors:
    """Complaints about a path itself name the list, not the mount, as upstream does."""
    sub_path, expression = mount.get("subPath") or "", mount.get("subPathExpr") or ""
    if sub_path:
        yield from descending_path(whole.child("subPath"), sub_path)
    if expression:
        if sub_path:
            detail = "subPathExpr and subPath are mutually exclusive"
            yield fieldpath.invalid(path.child("subPathExpr"), expression, detail)
        yield from descending_path(whole.child("subPathExpr"), expression)


def _propagation(path: FieldPath, mount: JsonObject, container: JsonObject) -> Errors:
    # As `validateMountPropagation` of `pkg/apis/core/validation`.
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        mount_propagation_path = path.child("mountPropagation")
        yield from supported(mount_propagation_path, propagation, PROPAGATIONS)
        privileged = (container.get("securityContext") or {}).get("privileged")
        if propagation == "Bidirectional" and not privileged:
            detail = "Bidirectional mount propagation is available only to privileged containers"
            yield fieldpath.forbidden(mount_propagation_path, detail)
    recursive = mount.get("recursiveReadOnly")
    if recursive is None or recursive == "Disabled":
        return
    mount_propagation_path = path.child("recursiveReadOnly")
    if recursive not in RECURSIVE_READ_ONLY:
        yield from supported(mount_propagation_path, recursive, RECURSIVE_READ_ONLY)
        return
    if not mount.get("readOnly"):
        yield fieldpath.forbidden(
            mount_propagation_path, "may only be specified when readOnly is true"
        )
    if propagation not in {None, "None"}:
        detail = "may only be specified when mountPropagation is None or not specified"
        yield fieldpath.forbidden(mount_propagation_path, detail)


def _devices(path: FieldPath, container: JsonObject, volumes: Mapping[str, JsonObject]) -> Errors:
    # As `ValidateVolumeDevices` of `pkg/apis/core/validation`.
    mounts = container.get("volumeMounts") or ()
    mount_names = {mount.get("name") for mount in mounts}
    mount_paths = {mount.get("mountPath") for mount in mounts}
    names: set[str] = set()
    paths: set[str] = set()
    for volume_device_path, device in items(container, "volumeDevices", path):
        name, device_point = device.get("name") or "", device.get("devicePath") or ""
        yield from _device_volume(volume_device_path.child("name"), name, names, volumes)
        where_at = volume_device_path.child("devicePath")
        if not device_point:
            yield fieldpath.required(where_at)
        if device_point in paths:
            yield fieldpath.invalid(where_at, device_point, "must be unique")
        if ".." in device_point.split("/"):
            yield fieldpath.invalid(where_at, device_point, "can not contain backsteps ('..')")
        else:
            paths.add(device_point)
        if name in mount_names:
            detail = "must not already exist in volumeMounts"
            yield fieldpath.invalid(volume_device_path.child("name"), name, detail)
        if device_point in mount_paths:
            detail = "must not already exist as a path in volumeMounts"
            yield fieldpath.invalid(where_at, device_point, detail)
        if name:
            names.add(name)


def _device_volume(
    path: FieldPath, name: str, taken: set[str], volumes: Mapping[str, JsonObject]
) -> Errors:
    if not name:
        yield fieldpath.required(path)
    if name in taken:
        yield fieldpath.invalid(path, name, "must be unique")
    volume = volumes.get(name)
    if volume is None:
        yield fieldpath.not_found(path, name)
    elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        detail = (
            "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        )
        yield fieldpath.invalid(path, name, detail)


PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
RESIZED: Final = ("cpu", "memory")
RESIZE_POLICIES: Final = ("NotRequired", "RestartContainer")
RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
MAX_RESTART_RULES: Final = 20
RESTART_ACTIONS: Final = ("Restart", "RestartAllContainers")
EXIT_CODE_OPERATORS: Final = ("In", "NotIn")
MAX_EXIT_CODES: Final = 255
NO_RESTART_POLICY: Final = "must specify restartPolicy when restart rules are used"
SIDECARS_ONLY: Final = "may not be set for init containers without restartPolicy=Always"
NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"
UNFIT_FOR_EPHEMERAL: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Holds what the containers of a pod share."""

    volumes: Mapping[str, JsonObject]
    claims: Collection[str]
    grace_period: int
    restart_policy: str
    host_users: bool
    os: JsonObject | None = None
    may_restart: bool = False
    """Whether a resize may restart an init container that has ended: an older pod may say so."""


def containers(path: FieldPath, spec: JsonObject, around: Surroundings) -> Errors:
    """Validate all three lists; `path` is that of the pod's spec."""
    # As `validateContainers` of `pkg/apis/core/validation`.
    if spec.get("containers"):
        yield from _regular(path, spec, around)
    else:
        yield fieldpath.required(path.child("containers"))
    if spec.get("initContainers"):
        yield from _init(path, spec, around)
    if spec.get("ephemeralContainers"):
        yield from _ephemeral(path, spec, around)


def _regular(path: FieldPath, spec: JsonObject, around: Surroundings) -> Errors:
    names: set[str] = set()
    for container_path, container in items(spec, "containers", path):
        yield from _any(container_path, container, around)
        name = container.get("name") or ""
        if name in names:
            yield fieldpath.duplicate(container_path.child("name"), name)
        names.add(name)
        yield from lifecycle_and_probes(container_path, container, around)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            yield from _gated_restart_policy(container_path, container)
    yield from _host_ports(path.child("containers"), spec["containers"])


def _gated_restart_policy(path: FieldPath, container: JsonObject) -> Errors:
    """Yield what is wrong with the restart policy of a regular container, which could have none
    before it got rules of its own."""
    only_init = []
    if container.get("restartPolicy") is not None:
        detail = "may not be set for non-init containers"
        only_init = [fieldpath.forbidden(path.child("restartPolicy"), detail)]
    yield from by_gate(RESTART_RULES, _restart_policy(path, container), only_init)


def _init_restart_policy(path: FieldPath, container: JsonObject) -> Errors:
    """Sidecars always restart, and without further rules at first."""
    # As `validateInitContainerRestartPolicy` of `pkg/apis/core/validation`.
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules")
    restart_policy_path = path.child("restartPolicy")
    if policy is None:
        if rules and is_since("1.35"):
            yield fieldpath.required(restart_policy_path, NO_RESTART_POLICY)
    elif policy != "Always":
        sidecars = [fieldpath.not_supported(restart_policy_path, NamedText(policy), ["Always"])]
        yield from by_gate(RESTART_RULES, _restart_policy(path, container), sidecars)
    elif rules:
        detail = "restartPolicyRules are not allowed for init containers with restart policy Always"
        errors = [fieldpath.forbidden(path.child("restartPolicyRules"), detail)]
        yield from by_gate(RESTART_ALL, _restart_policy(path, container), errors)


def _restart_policy(path: FieldPath, container: JsonObject) -> Errors:
    # As `validateContainerRestartPolicy` of `pkg/apis/core/validation`.
    policy = container.get("restartPolicy")
    if policy is not None:
        yield from supported(path.child("restartPolicy"), policy, RESTART_POLICIES)
    rules = container.get("restartPolicyRules") or ()
    restart_policy_rules_path = path.child("restartPolicyRules")
    if rules and policy is None:
        yield fieldpath.required(path.child("restartPolicy"), NO_RESTART_POLICY)
    yield from _at_most(restart_policy_rules_path, rules, MAX_RESTART_RULES)
    for index, rule in enumerate(rules):
        yield from _restart_rule(restart_policy_rules_path.index(index), rule)


def _at_most(path: FieldPath, listed: Sequence[object], limit: int) -> Errors:
    """Yield an error for a list of rules that is too long; before 1.36 it was that of a text."""
    if len(listed) <= limit:
        return
    if is_since("1.36"):
        yield fieldpath.too_many(path, len(listed), limit)
    else:
        yield fieldpath.too_long(path, limit)


def _restart_rule(path: FieldPath, rule: JsonObject) -> Errors:
    action, action_path = rule.get("action") or "", path.child("action")
    if action not in RESTART_ACTIONS[:1]:
        only_one = [fieldpath.not_supported(action_path, NamedText(action), RESTART_ACTIONS[:1])]
        actions = RESTART_ACTIONS if is_since("1.36") else RESTART_ACTIONS[:1]
        either = [fieldpath.not_supported(action_path, NamedText(action), actions)]
        yield from by_gate(RESTART_ALL, () if action in RESTART_ACTIONS else either, only_one)
    codes, action_path = rule.get("exitCodes"), path.child("exitCodes")
    if codes is None:
        yield fieldpath.required(action_path, "must be specified")
        return
    yield from supported(
        action_path.child("operator"), codes.get("operator") or "", EXIT_CODE_OPERATORS
    )
    yield from _at_most(action_path.child("values"), codes.get("values") or (), MAX_EXIT_CODES)


def _init(path: FieldPath, spec: JsonObject, around: Surroundings) -> Errors:
    # As `validateInitContainers` of `pkg/apis/core/validation`.
    names = {container.get("name") for container in spec.get("containers") or ()}
    for init_container_path, container in items(spec, "initContainers", path):
        yield from _any(init_container_path, container, around)
        yield from _init_restart_policy(init_container_path, container)
        name = container.get("name") or ""
        if name in names:
            yield fieldpath.duplicate(init_container_path.child("name"), name)
        elif name:
            names.add(name)
        yield from _host_ports(path.child("initContainers"), [container])
        if container.get("restartPolicy") == "Always":
            yield from lifecycle_and_probes(init_container_path, container, around)
        else:
            for field in ("lifecycle", *PROBES):
                if container.get(field) is not None:
                    yield fieldpath.forbidden(init_container_path.child(field), SIDECARS_ONLY)
        yield from _init_resize(init_container_path, container, around)


def _init_resize(path: FieldPath, container: JsonObject, around: Surroundings) -> Errors:
    """Policies for other amounts came to init containers later than to regular ones, and containers
    that end are not to be restarted for them."""
    policies = container.get("resizePolicy")
    if policies and not is_since("1.33"):
        go_value = GoValue(policies, "[]core.ContainerResizePolicy")
        detail = "must not be set for init containers"
        yield fieldpath.invalid(path.child("resizePolicy"), go_value, detail)
    if is_since("1.36") and not around.may_restart and restarts_for_good(container):
        yield from _no_restarts(path, container)


def restarts_for_good(container: JsonObject) -> bool:
    """Return whether a resize would restart an init container that ends."""
    policies = container.get("resizePolicy") or ()
    restarts = any(policy.get("restartPolicy") == "RestartContainer" for policy in policies)
    return restarts and container.get("restartPolicy") != "Always"


def _no_restarts(path: FieldPath, container: JsonObject) -> Errors:
    for policy_path, policy in items(container, "resizePolicy", path):
        restart = policy.get("restartPolicy")
        if restart == "RestartContainer":
            detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield fieldpath.invalid(policy_path.child("restartPolicy"), NamedText(restart), detail)


def _ephemeral(path: FieldPath, spec: JsonObject, around: Surroundings) -> Errors:
    # As `validateEphemeralContainers` of `pkg/apis/core/validation`.
    others = {
        container.get("name")
        for field in ("containers", "initContainers")
        for container in spec.get(field) or ()
    }
    names = set(others)
    for ephemeral_container_path, container in items(spec, "ephemeralContainers", path):
        yield from _any(ephemeral_container_path, container, around)
        yield from trimmed_image(ephemeral_container_path, container)
        name, target = container.get("name") or "", container.get("targetContainerName")
        if name in names:
            yield fieldpath.duplicate(ephemeral_container_path.child("name"), name)
        names.add(name)
        if target and target not in others:
            yield fieldpath.not_found(ephemeral_container_path.child("targetContainerName"), target)
        for field in UNFIT_FOR_EPHEMERAL:
            # An empty list was set, too; resources are a struct, and nothing in it is nothing.
            value = container.get(field)
            if value or (value is not None and field != "resources"):
                yield fieldpath.forbidden(ephemeral_container_path.child(field), NOT_EPHEMERAL)
        for mount_path, mount in items(container, "volumeMounts", ephemeral_container_path):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    yield fieldpath.forbidden(mount_path.child(field), NOT_EPHEMERAL)


def trimmed_image(path: FieldPath, container: JsonObject) -> Errors:
    """Yield an error for white space around the image, which templates may have and pods may
    not."""
    image = container.get("image") or ""
    if image != image.strip():
        detail = "must not have leading or trailing whitespace"
        yield fieldpath.invalid(path.child("image"), image, detail)


def _any(path: FieldPath, container: JsonObject, around: Surroundings) -> Errors:
    """Yield what is wrong with a container by the rules for containers of all sorts."""
    # As `validateContainerCommon` of `pkg/apis/core/validation`.
    name = container.get("name") or ""
    yield from required_name(path.child("name"), name, name_rules.dns1123_label)
    if not container.get("image"):
        yield fieldpath.required(path.child("image"))
    yield from choice_in(container, "terminationMessagePolicy", MESSAGE_POLICIES, path)
    yield from _ports(path, container)
    if "env" in container or "envFrom" in container:
        yield from environment(path, container)
    if "volumeMounts" in container or "volumeDevices" in container:
        yield from mounts_and_devices(path, container, around.volumes)
    yield from choice_in(container, "imagePullPolicy", PULL_POLICIES, path)
    if container.get("resources"):
        yield from requirements(path.child("resources"), container["resources"], around.claims)
    if "resizePolicy" in container:
        yield from _resize(path.child("resizePolicy"), container, around.restart_policy)
    context = container.get("securityContext")
    if context is not None:
        security_context_path = path.child("securityContext")
        yield from container_security_context(
            security_context_path, context, host_users=around.host_users
        )


def _ports(path: FieldPath, container: JsonObject) -> Errors:
    # As `validateContainerPorts` of `pkg/apis/core/validation`.
    names: set[str] = set()
    for port_path, port in items(container, "ports", path):
        name = port.get("name") or ""
        messages = format_checks.port_name(name) if name else []
        if messages:
            yield from each(port_path.child("name"), name, messages)
        elif name:
            if name in names:
                yield fieldpath.duplicate(port_path.child("name"), name)
            names.add(name)
        if port.get("containerPort"):
            yield from port_number(port_path.child("containerPort"), port["containerPort"])
        else:
            yield fieldpath.required(port_path.child("containerPort"))
        if port.get("hostPort"):
            yield from port_number(port_path.child("hostPort"), port["hostPort"])
        yield from choice_in(port, "protocol", PROTOCOLS, port_path)


def _host_ports(path: FieldPath, group: Iterable[Any]) -> Errors:
    """Yield an error for each port of the node that two containers take."""
    taken: set[str] = set()
    for index, container in enumerate(group):
        for port_path, port in items(container, "ports", path.index(index)):
            if not port.get("hostPort"):
                continue
            host_port = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if host_port in taken:
                yield fieldpath.duplicate(port_path.child("hostPort"), host_port)
            taken.add(host_port)


_WHOSE_POLICY: Final = wording("pod `restartPolicy`", v1_36="`restartPolicy`")


def _resize(path: FieldPath, container: JsonObject, restart_policy: str) -> Errors:
    # As `validateResizePolicy` of `pkg/apis/core/validation`.
    seen: set[str] = set()
    for index, policy in enumerate(container.get("resizePolicy") or ()):
        resource, restart = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        shown = GoValue(resource, "core.ResourceName")
        if resource in seen:
            yield fieldpath.duplicate(path.index(index), shown)
        seen.add(resource)
        if not resource:
            yield fieldpath.required(path)
        elif resource not in RESIZED:
            yield fieldpath.not_supported(path, shown, RESIZED)
        yield from required_choice(path, restart, RESIZE_POLICIES)
        if restart_policy == "Never" and restart != "NotRequired":
            detail = f"must be 'NotRequired' when {_WHOSE_POLICY.text} is 'Never'"
            yield fieldpath.invalid(path, NamedText(restart), detail)
