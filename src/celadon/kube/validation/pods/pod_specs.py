"""Pods and the templates they are made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from celadon.kube import fieldpath, metadata, well_known_values
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since, wording
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import (
    HOST_NETWORK_OF_OWN_USERS,
    METADATA,
    RELAXED_SEARCHES,
    SPEC,
    Errors,
    by_gate,
    choice_in,
    containers_of,
    dns_label,
    dns_subdomain,
    each,
    in_range,
    items,
    once_sound_as,
    only_with,
    qualified_name,
    required_choice,
    without_images,
)
from celadon.kube.validation.object_meta import validate_annotations
from celadon.kube.validation.pods import security_contexts
from celadon.kube.validation.pods.containers import (
    Surroundings,
    containers,
    restarts_for_good,
    trimmed_image,
)
from celadon.kube.validation.pods.env_vars import files_are_in_empty_dirs
from celadon.kube.validation.pods.pod_placement import affinity, spread_constraints, tolerations
from celadon.kube.validation.pods.resource_lists import pod_requirements, requirements
from celadon.kube.validation.pods.volumes import volumes
from celadon.late_patterns import late_pattern

# --- Annotations -------------------------------------------------------------
#
# Annotations of pods that mean something: static pods, the price of deletion, old profiles.
#
# As k8s.io/kubernetes `pkg/apis/core/validation`. Profiles of seccomp and AppArmor have fields now;
# an annotation that stands beside its field must say the same.

_OF_PROFILES: Final = (
    well_known_values.SECCOMP_OF_POD,
    well_known_values.SECCOMP_OF_CONTAINER,
    well_known_values.APPARMOR_OF_CONTAINER,
)
LOCALHOST: Final = "localhost/"
RUNTIME_DEFAULT: Final = "runtime/default"
UNCONFINED: Final = "unconfined"
DOCKER_DEFAULT: Final = "docker/default"
_NOTES: Final = METADATA.child("annotations")
_INT32: Final = late_pattern("0|-[0-9]+|[1-9][0-9]*")


class ProfileKind(NamedTuple):
    """A kind of profile: its name, its field, its annotations, and what they say for each type of
    profile but those of files."""

    name: str
    field: str
    of_container: str
    types: Mapping[str, tuple[str, ...]]


SECCOMP: Final = ProfileKind(
    "seccomp",
    "seccompProfile",
    well_known_values.SECCOMP_OF_CONTAINER,
    {"Unconfined": (UNCONFINED,), "RuntimeDefault": (RUNTIME_DEFAULT, DOCKER_DEFAULT)},
)
APPARMOR: Final = ProfileKind(
    "apparmor",
    "appArmorProfile",
    well_known_values.APPARMOR_OF_CONTAINER,
    {"Unconfined": (UNCONFINED,), "RuntimeDefault": (RUNTIME_DEFAULT,)},
)


def pod_annotations(path: FieldPath, notes: Mapping[str, str], spec: JsonObject) -> Errors:
    """Yield what is wrong with the annotations of a pod or a template; `path` is where they are."""
    # As `ValidatePodSpecificAnnotations` of `pkg/apis/core/validation`.
    if well_known_values.MIRROR_POD in notes and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        yield fieldpath.invalid(
            path.key(well_known_values.MIRROR_POD), notes[well_known_values.MIRROR_POD], detail
        )
    try:
        tolerated = format_checks.annotated_tolerations(notes)
    except format_checks.AnnotationError as error:
        yield fieldpath.invalid(path, format_checks.TOLERATIONS, str(error))
    else:
        yield from tolerations(
            path, {format_checks.TOLERATIONS: tolerated}, format_checks.TOLERATIONS
        )
    cost = notes.get(well_known_values.DELETION_COST)
    if cost is not None and not _is_int32(cost):
        yield fieldpath.invalid(
            path.key(well_known_values.DELETION_COST), cost, "must be a 32bit integer"
        )
    if well_known_values.SECCOMP_OF_POD in notes:
        yield from _seccomp(
            path.child(well_known_values.SECCOMP_OF_POD), notes[well_known_values.SECCOMP_OF_POD]
        )
    for key in sorted(notes):
        if key.startswith(well_known_values.SECCOMP_OF_CONTAINER):
            yield from _seccomp(path.child(key), notes[key])
    for key in sorted(notes):
        if key.startswith(well_known_values.APPARMOR_OF_CONTAINER):
            yield from _apparmor(path.key(key), key, notes[key], spec)


def _is_int32(text: str) -> bool:
    return _INT32.fullmatch(text) is not None and -(2**31) <= int(text[:12]) < 2**31


def _seccomp(path: FieldPath, profile: str) -> Errors:
    # As `ValidateSeccompProfile` of `pkg/apis/core/validation`.
    if profile.startswith(LOCALHOST):
        file = profile.removeprefix(LOCALHOST)
        if file.startswith("/"):
            yield fieldpath.invalid(path, file, "must be a relative path")
        if ".." in file.split("/"):
            yield fieldpath.invalid(path, file, "must not contain '..'")
    elif profile not in {RUNTIME_DEFAULT, DOCKER_DEFAULT, UNCONFINED}:
        yield fieldpath.invalid(path, profile, "must be a valid seccomp profile")


def _apparmor(path: FieldPath, key: str, profile: str, spec: JsonObject) -> Errors:
    # As `ValidateAppArmorPodAnnotations` of `pkg/apis/core/validation`.
    name = key.removeprefix(well_known_values.APPARMOR_OF_CONTAINER)
    if all(container.get("name") != name for _, container in _containers(FieldPath(), spec)):
        yield fieldpath.invalid(path, name, "container not found")
    is_known = profile in {"", RUNTIME_DEFAULT, UNCONFINED} or profile.startswith(LOCALHOST)
    if not is_known:
        detail = f"invalid AppArmor profile name: {quote(profile)}"
        yield fieldpath.invalid(path, profile, detail)


def _containers(path: FieldPath, spec: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    for field in well_known_values.CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            yield path.child(field).index(index), container


def profiles_match(path: FieldPath, notes: Mapping[str, str], spec: JsonObject) -> Errors:
    """Validate that profiles agree: fields of a new pod or a template and the annotations beside
    them; `path` is the spec's."""
    if not any(key.startswith(_OF_PROFILES) for key in notes):
        return
    of_pod = (spec.get("securityContext") or {}).get(SECCOMP.field)
    if of_pod is not None and well_known_values.SECCOMP_OF_POD in notes:
        field_path = path.child("securityContext", SECCOMP.field)
        yield from _match(field_path, SECCOMP, notes[well_known_values.SECCOMP_OF_POD], of_pod)
    yield from _containers_match(path, SECCOMP, notes, spec)
    if (spec.get("os") or {}).get("name") != "windows":
        yield from _containers_match(path, APPARMOR, notes, spec)


def _containers_match(
    path: FieldPath, kind: ProfileKind, notes: Mapping[str, str], spec: JsonObject
) -> Errors:
    """Check that the profile of AppArmor that a pod has is that of containers without one."""
    of_pod = (spec.get("securityContext") or {}).get(kind.field) if kind is APPARMOR else None
    for container_path, container in _containers(path, spec):
        profile = (container.get("securityContext") or {}).get(kind.field) or of_pod
        note = notes.get(kind.of_container + (container.get("name") or ""))
        if profile is not None and note is not None:
            yield from _match(
                container_path.child("securityContext", kind.field), kind, note, profile
            )


def _match(path: FieldPath, kind: ProfileKind, note: str, profile: JsonObject) -> Errors:
    profile_type = profile.get("type") or ""
    if profile_type == "Localhost":
        same = note.startswith(LOCALHOST)
    else:
        same = note in kind.types.get(profile_type, (note,))
    if not same:
        detail = f"{kind.name} type in annotation and field must match"
        yield fieldpath.forbidden(path.child("type"), detail)
    elif profile_type == "Localhost" and note.removeprefix(LOCALHOST) != profile.get(
        "localhostProfile"
    ):
        detail = f"{kind.name} profile in annotation and field must match"
        yield fieldpath.forbidden(path.child("localhostProfile"), detail)


def annotation_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with changed annotations: those a pod was made with stay, and all are
    looked at once more."""
    # As `ValidatePodSpecificAnnotationUpdates` of `pkg/apis/core/validation`.
    notes, before = ((item.get("metadata") or {}).get("annotations") or {} for item in (obj, old))
    if notes != before:
        for key in sorted(before):
            if notes.get(key) != before[key]:
                yield from _fixed(key, "remove or update")
        for key in sorted(notes):
            if key not in before:
                yield from _fixed(key, "add")
    yield from pod_annotations(_NOTES, notes, obj.get("spec") or {})


def _fixed(key: str, verb: str) -> Errors:
    if key.startswith(well_known_values.APPARMOR_OF_CONTAINER):
        yield fieldpath.forbidden(_NOTES.key(key), f"may not {verb} AppArmor annotations")
    if key == well_known_values.MIRROR_POD:
        yield fieldpath.forbidden(_NOTES.key(key), f"may not {verb} mirror pod annotation")


RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
OPERATING_SYSTEMS: Final = ("linux", "windows")
MAX_NAMESERVERS: Final = 3
MAX_SEARCHES: Final = 32
MAX_SEARCH_CHARACTERS: Final = 2048
MAX_HOSTNAME_BYTES: Final = 64
_NO_SYSTEM: Final = wording("", v1_34="cannot be empty")
NO_HOST_USERS: Final = wording(
    "when `hostUsers` is false", v1_34="when `pod.Spec.HostUsers` is false"
)
HOST_NAMESPACES: Final = (
    ("hostNetwork", "hostNetwork"),
    ("hostPID", "HostPID"),
    ("hostIPC", "HostIPC"),
)


def pod(obj: JsonObject) -> Errors:
    """Validate a new pod, without its metadata."""
    # As `ValidatePodCreate` of `pkg/apis/core/validation`.
    spec = obj.get("spec") or {}
    yield from pod_in_general(obj)
    if spec.get("ephemeralContainers"):
        yield fieldpath.forbidden(SPEC.child("ephemeralContainers"), "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        detail = "cannot be set until all schedulingGates have been cleared"
        yield fieldpath.forbidden(SPEC.child("nodeName"), detail)
    yield from profiles_match(SPEC, metadata.annotations(obj), spec)


def pod_in_general(obj: JsonObject, old: JsonObject | None = None) -> Errors:
    """Yield what is wrong with a new or a changed pod by the rules for both; `old` is what was
    changed, and some of its faults may stay."""
    # As `validatePodMetadataAndSpec` of `pkg/apis/core/validation`.
    spec = obj.get("spec") or {}
    meta = obj.get("metadata") or {}
    notes = FieldPath("metadata", "annotations")
    yield from pod_annotations(notes, meta.get("annotations") or {}, spec)
    is_static = well_known_values.MIRROR_POD in (meta.get("annotations") or {})
    name = meta.get("name") or ""
    before = (old or {}).get("spec")
    yield from pod_spec(SPEC, spec, before, pod_name=name, in_pod=True, is_static=is_static)
    if not spec.get("serviceAccountName"):
        yield from _tokens_without_account(spec)
    for field in ("containers", "initContainers"):
        for path, container in items(spec, field, SPEC):
            yield from trimmed_image(path, container)


def _tokens_without_account(spec: JsonObject) -> Errors:
    for path, volume in items(spec, "volumes", SPEC):
        projected = volume.get("projected") or {}
        for source_path, source in items(projected, "sources", path.child("projected")):
            if source.get("serviceAccountToken") is not None:
                detail = "must not be specified when serviceAccountName is not set"
                yield fieldpath.forbidden(source_path.child("serviceAccountToken"), detail)


def pod_template(path: FieldPath, template: JsonObject) -> Errors:
    # As `ValidatePodTemplateSpec` of `pkg/apis/core/validation`.
    spec, annotations = template.get("spec") or {}, metadata.annotations(template)
    yield from template_metadata(path, template)
    yield from _template_spec(path.child("spec"), spec)
    yield from profiles_match(path.child("spec"), annotations, spec)
    if spec.get("ephemeralContainers"):
        ephemeral_containers_path = path.child("spec", "ephemeralContainers")
        yield fieldpath.forbidden(
            ephemeral_containers_path, "ephemeral containers not allowed in pod template"
        )


@once_sound_as(without_images)
def _template_spec(path: FieldPath, spec: JsonObject) -> Errors:
    return pod_spec(path, spec)


def template_metadata(path: FieldPath, template: JsonObject) -> Errors:
    """Validate the metadata of a template; complaints are without `metadata` in the path, as
    upstream does."""
    meta, annotations_path = template.get("metadata") or {}, path.child("annotations")
    yield from format_checks.labels(path.child("labels"), meta.get("labels"))
    yield from validate_annotations(annotations_path, meta.get("annotations"))
    yield from pod_annotations(
        annotations_path, meta.get("annotations") or {}, template.get("spec") or {}
    )


_SELDOM: Final = frozenset(
    {
        *("activeDeadlineSeconds", "affinity", "dnsConfig", "hostAliases", "hostUsers"),
        *("hostname", "nodeName", "os", "overhead", "preemptionPolicy", "priorityClassName"),
        *("hostnameOverride", "readinessGates", "runtimeClassName", "schedulingGates"),
        *("schedulingGroup", "serviceAccountName", "subdomain", "tolerations"),
        *("topologySpreadConstraints", "workloadRef"),
    }
)
"""Fields of `_seldom`, which is not asked where there is none of them."""


def pod_spec(
    path: FieldPath,
    spec: JsonObject,
    stored: JsonObject | None = None,
    *,
    pod_name: str = "",
    in_pod: bool = False,
    is_static: bool = False,
) -> Errors:
    """Validate the spec of a pod or of a template; `stored` is what it was before. `is_static`: the
    pod is a mirror of one that a kubelet has from a file."""
    # As `ValidatePodSpec` of `pkg/apis/core/validation`.
    before = stored or {}
    grace_period = spec.get("terminationGracePeriodSeconds")
    if grace_period is None:
        yield fieldpath.required(path.child("terminationGracePeriodSeconds"))
    usable, errors = volumes(path, spec, pod_name, in_pod=in_pod)
    yield from errors
    if "resourceClaims" in spec:
        yield from _resource_claims(path, spec, is_static=is_static)
    around = Surroundings(
        volumes=usable,
        claims=frozenset(
            resource_claim["name"]
            for resource_claim in spec.get("resourceClaims") or ()
            if resource_claim.get("name")
        ),
        grace_period=grace_period or 0,
        restart_policy=spec.get("restartPolicy") or "",
        host_users=spec.get("hostUsers") is not False,
        os=spec.get("os"),
        may_restart=any(
            restarts_for_good(init_container)
            for init_container in before.get("initContainers") or ()
        ),
    )
    yield from containers(path, spec, around)
    if "resources" in spec:
        yield from pod_requirements(path.child("resources"), spec, around.claims)
    yield from _host_network(path, spec, in_pod=in_pod)
    yield from choice_in(spec, "restartPolicy", RESTART_POLICIES, path)
    yield from choice_in(spec, "dnsPolicy", DNS_POLICIES, path)
    if spec.get("nodeSelector"):
        yield from format_checks.labels(path.child("nodeSelector"), spec["nodeSelector"])
    yield from security_contexts.pod_security_context(path.child("securityContext"), spec, before)
    if not _SELDOM.isdisjoint(spec) or spec.get("dnsPolicy") == "None":
        yield from _seldom(path, spec, before)
    else:
        yield from security_contexts.host_processes(path, spec)
    yield from files_are_in_empty_dirs(path, spec)


def _seldom(path: FieldPath, spec: JsonObject, before: JsonObject) -> Errors:
    """Yield what is wrong with the fields that most pods have not; upstream looks at them last."""
    yield from affinity(path.child("affinity"), spec.get("affinity"), before.get("affinity"))
    yield from _dns(path.child("dnsConfig"), spec)
    yield from _gates(path, spec)
    yield from spread_constraints(path, spec)
    yield from security_contexts.host_processes(path, spec)
    yield from _host_users(path, spec, before)
    yield from _hostname_override(path.child("hostnameOverride"), spec)
    yield from _placement(path, spec)


def _hostname_override(path: FieldPath, spec: JsonObject) -> Errors:
    name = spec.get("hostnameOverride")
    if name is None:
        return
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(field):
            yield fieldpath.forbidden(path, f"may not be specified when {field} is true")
    if len(name.encode()) > MAX_HOSTNAME_BYTES:
        yield fieldpath.too_long(path, MAX_HOSTNAME_BYTES)
    yield from dns_subdomain(path, name)


def _placement(path: FieldPath, spec: JsonObject) -> Errors:
    """Check the fields that come last: names of other objects, and what the scheduler looks at."""
    for field in ("serviceAccountName", "nodeName"):
        if spec.get(field):
            yield from dns_subdomain(path.child(field), spec[field])
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None:
        active_deadline_seconds_path = path.child("activeDeadlineSeconds")
        yield from in_range(active_deadline_seconds_path, deadline, 1, format_checks.MAX_ID)
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            yield from dns_label(path.child(field), spec[field])
    yield from tolerations(path, spec)
    for active_deadline_seconds_path, alias in items(spec, "hostAliases", path):
        address = alias.get("ip") or ""
        yield from format_checks.older_address(active_deadline_seconds_path.child("ip"), address)
        for hostname_path, hostname in items(alias, "hostnames", active_deadline_seconds_path):
            yield from dns_subdomain(hostname_path, hostname)
    if spec.get("priorityClassName"):
        yield from dns_subdomain(path.child("priorityClassName"), spec["priorityClassName"])
    if spec.get("runtimeClassName") is not None:
        yield from dns_subdomain(path.child("runtimeClassName"), spec["runtimeClassName"])
    policy = spec.get("preemptionPolicy")
    if policy is not None:
        active_deadline_seconds_path = path.child("preemptionPolicy")
        yield from required_choice(
            active_deadline_seconds_path, policy, well_known_values.PREEMPTION_POLICIES
        )
    if spec.get("overhead"):
        yield from requirements(path.child("overhead"), {"limits": spec["overhead"]}, ())
    yield from _operating_system(path, spec)
    yield from _group(path, spec)


def _group(path: FieldPath, spec: JsonObject) -> Errors:
    """Check the pods that a pod is scheduled with: a PodGroup, in 1.35 a part of a Workload."""
    group, workload = spec.get("schedulingGroup"), spec.get("workloadRef")
    if group is not None:
        name, pod_group_name_path = (
            group.get("podGroupName"),
            path.child("schedulingGroup", "podGroupName"),
        )
        if name is None:
            yield fieldpath.invalid(
                pod_group_name_path, None, "must specify one of: `podGroupName`"
            )
        else:
            yield from dns_subdomain(pod_group_name_path, name)
    if workload is not None:
        pod_group_name_path = path.child("workloadRef")
        yield from dns_subdomain(pod_group_name_path.child("name"), workload.get("name") or "")
        yield from dns_label(pod_group_name_path.child("podGroup"), workload.get("podGroup") or "")
        key = workload.get("podGroupReplicaKey")
        if key:
            yield from dns_label(pod_group_name_path.child("podGroupReplicaKey"), key)


def _operating_system(path: FieldPath, spec: JsonObject) -> Errors:
    if spec.get("os") is None:
        return
    name = spec["os"].get("name") or ""
    if not name:
        yield fieldpath.required(path.child("os", "name"), _NO_SYSTEM.text)
    elif name == "linux":
        yield from security_contexts.for_linux(path, spec)
    elif name == "windows":
        yield from security_contexts.for_windows(path, spec)
    else:
        yield fieldpath.not_supported(path.child("os"), NamedText(name), OPERATING_SYSTEMS)


def _resource_claims(path: FieldPath, spec: JsonObject, *, is_static: bool) -> Errors:
    # As `validatePodResourceClaims` of `pkg/apis/core/validation`.
    names: set[str] = set()
    if is_static:
        for _ in spec["resourceClaims"]:
            detail = "static pods do not support resource claims"
            yield fieldpath.forbidden(FieldPath(""), detail)
        return
    references = ("resourceClaimName", "resourceClaimTemplateName")
    for resource_claim_path, claim in items(spec, "resourceClaims", path):
        name = claim.get("name") or ""
        if not name:
            yield fieldpath.required(resource_claim_path.child("name"))
        elif name in names:
            yield fieldpath.duplicate(resource_claim_path.child("name"), name)
        else:
            yield from dns_label(resource_claim_path.child("name"), name)
            names.add(name)
        if not is_since("1.31"):  # what it refers to lay deeper then
            resource_claim_path = resource_claim_path.child("source")
            claim = claim.get("source") or {}
        present = [reference for reference in references if claim.get(reference) is not None]
        if len(present) != 1:
            detail = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                if present
                else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
            yield fieldpath.invalid(resource_claim_path, _printed_claim(claim), detail)
        for member in present:
            yield from dns_subdomain(resource_claim_path.child(member), claim[member])


def _printed_claim(claim: JsonObject) -> GoValue:
    printed = {
        "Name": claim.get("name") or "",
        "ResourceClaimName": claim.get("resourceClaimName"),
        "ResourceClaimTemplateName": claim.get("resourceClaimTemplateName"),
    }
    return GoValue(printed, "core.PodResourceClaim" if is_since("1.31") else "core.ClaimSource")


def _host_network(path: FieldPath, spec: JsonObject, *, in_pod: bool) -> Errors:
    # As `validatePodHostNetworkDeps` of `pkg/apis/core/validation`.
    if not spec.get("hostNetwork"):
        return
    for container_path, container in items(spec, "containers", path):
        for port_path, port in items(container, "ports", container_path):
            host = port.get("hostPort") or 0
            if (in_pod or host) and host != port.get("containerPort", 0):
                detail = "must match `containerPort` when `hostNetwork` is true"
                yield fieldpath.invalid(port_path.child("hostPort"), host, detail)


def _host_users(path: FieldPath, spec: JsonObject, before: JsonObject) -> Errors:
    # As `validateHostUsers` of `pkg/apis/core/validation`.
    if spec.get("hostUsers") is not False:
        return
    for field, host_namespace in HOST_NAMESPACES:
        if spec.get(field):
            refused = [fieldpath.forbidden(path.child(host_namespace), NO_HOST_USERS.text)]
            is_network = field == "hostNetwork"
            yield from (
                only_with(f"!{HOST_NETWORK_OF_OWN_USERS}", refused) if is_network else refused
            )
    if not is_since("1.34"):
        return
    had_devices = any(
        container.get("volumeDevices") for _, container in containers_of(path, before)
    )
    if before.get("hostUsers") is False and had_devices:
        return
    for container_path, container in containers_of(path, spec):
        if container.get("volumeDevices"):
            yield fieldpath.forbidden(container_path.child("volumeDevices"), NO_HOST_USERS.text)


def _gates(path: FieldPath, spec: JsonObject) -> Errors:
    for readiness_gate_path, gate in items(spec, "readinessGates", path):
        yield from qualified_name(
            readiness_gate_path.child("conditionType"), gate.get("conditionType") or ""
        )
    names: set[str] = set()
    for readiness_gate_path, gate in items(spec, "schedulingGates", path):
        name = gate.get("name") or ""
        yield from qualified_name(readiness_gate_path, name)
        if name in names:
            yield fieldpath.duplicate(readiness_gate_path, name)
        names.add(name)


def _dns(path: FieldPath, spec: JsonObject) -> Errors:
    # As `validatePodDNSConfig` of `pkg/apis/core/validation`.
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield fieldpath.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield fieldpath.required(path.child("nameservers"), detail)
            return
    if config is None:
        return
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > MAX_NAMESERVERS:
        detail = f"must not have more than {MAX_NAMESERVERS} nameservers"
        yield fieldpath.invalid(path.child("nameservers"), servers, detail)
    for nameserver_path, server in items(config, "nameservers", path):
        yield from format_checks.older_address(nameserver_path, server)
    yield from _searches(path.child("searches"), searches)
    for nameserver_path, option in items(config, "options", path):
        if not option.get("name"):
            yield fieldpath.required(nameserver_path, "must not be empty")


def _searches(path: FieldPath, searches: list[str]) -> Errors:
    if len(searches) > MAX_SEARCHES:
        detail = f"must not have more than {MAX_SEARCHES} search paths"
        yield fieldpath.invalid(path, searches, detail)
    if len(" ".join(searches)) > MAX_SEARCH_CHARACTERS:
        detail = (
            f"must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in "
            "the search list"
        )
        yield fieldpath.invalid(path, searches, detail)
    for index, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            free = each(path.index(index), name, format_checks.underscored_subdomain(name))
            yield from by_gate(RELAXED_SEARCHES, free, dns_subdomain(path.index(index), name))
        else:
            yield from only_with(f"!{RELAXED_SEARCHES}", dns_subdomain(path.index(index), ""))


def restart_always(path: FieldPath, template: JsonObject, owner: str) -> Errors:
    """Yield what the template of a pod that is to run for ever may not say."""
    spec = template.get("spec") or {}
    policy = spec.get("restartPolicy") or ""
    if policy != "Always":
        restart_policy_path = path.child("spec", "restartPolicy")
        yield fieldpath.not_supported(restart_policy_path, NamedText(policy), ["Always"])
    if spec.get("activeDeadlineSeconds") is not None:
        restart_policy_path = path.child("spec", "activeDeadlineSeconds")
        yield fieldpath.forbidden(
            restart_policy_path, f"activeDeadlineSeconds in {owner} is not Supported"
        )
