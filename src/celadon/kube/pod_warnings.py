"""Warnings about a pod, or a template of one.

`pod_spec_warnings` has the order of k8s.io/kubernetes `pkg/api/pod/warnings.go`,
`warningsForPodSpecAndMeta`; each part of it is a function of its own. `path` is where the pod is:
nowhere for a pod itself, `spec.template` and the like for templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from celadon.cel.value_functions import netaddr
from celadon.kube import metadata, name_rules, well_known_values
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import EXACT, Quantity, QuantityError, parse
from celadon.kube.releases import Wording, is_since, since, wording
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import once_sound_as, without_images
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Addresses ---------------------------------------------------------------
#
# Addresses and ranges that are valid today but not written as they should be.
#
# As k8s.io/apimachinery `pkg/util/validation/ip.go`. What is no address at all is validation's
# concern: nothing is said of it here, but before 1.33.

_NON_STANDARD: Final = wording(
    "is invalid", v1_36="will be considered invalid in a future Kubernetes release"
)


def address_warnings(path: FieldPath, text: str, *, of_service: bool = False) -> Iterator[str]:
    """Yield the warnings about an IP address, leading zeros and IPv4 in IPv6 included."""
    if not is_since("1.33"):
        yield from _older_warnings(path, text, netaddr.parse_addr) if of_service else ()
        return
    addr = format_checks.address(text)
    if addr is None:
        return
    strict = _strict_address(text)
    if strict is None or strict.is_v4_mapped:
        yield (
            f"{path}: non-standard IP address {quote(text)} {_NON_STANDARD.text}: use "
            f"{quote(format_checks.unmapped(addr))}"
        )
    elif not strict.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 address {quote(text)} should be in RFC 5952 canonical format "
            f"({quote(str(strict))})"
        )


def range_warnings(path: FieldPath, text: str, *, of_service: bool = False) -> Iterator[str]:
    """Yield the warnings about a range in CIDR notation."""
    if not is_since("1.33"):
        yield from _older_warnings(path, text, netaddr.parse_prefix) if of_service else ()
        return
    prefix = format_checks.network(text)
    if prefix is None:
        return
    usual = _range_text(prefix)
    ambiguous = prefix.masked() != prefix
    if ambiguous:
        single = f"{format_checks.unmapped(prefix.addr)}/{32 if prefix.addr.is_v4 else 128}"
        yield (
            f"{path}: CIDR value {quote(text)} is ambiguous in this context (should be "
            f"{quote(usual)} or {quote(single)}?)"
        )
    strict = _strict_range(text)
    if strict is None or strict.addr.is_v4_mapped:
        yield (
            f"{path}: non-standard CIDR value {quote(text)} {_NON_STANDARD.text}: "
            f"use {quote(usual)}"
        )
    elif not ambiguous and not strict.addr.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format "
            f"({quote(str(strict))})"
        )


_Parsed = netaddr.Addr | netaddr.Prefix


def _older_warnings(path: FieldPath, text: str, parse: Callable[[str], _Parsed]) -> Iterator[str]:
    """Yield what releases before 1.33 said, of Services alone."""
    is_prefix = parse is netaddr.parse_prefix
    name = "IP prefix" if is_prefix else "IP address"
    try:
        strict = parse(text)
    except netaddr.AddrError as error:
        future = "will be invalid in a future Kubernetes release"
        yield f"{path}: {name} was accepted, but {future}: {error}"
        return
    addr = strict.addr if isinstance(strict, netaddr.Prefix) else strict
    if not addr.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 {'prefix' if is_prefix else 'address'} {quote(text)} is not in RFC 5952 "
            f"canonical format ({quote(str(strict))}), which may cause controller apply-loops"
        )


def _strict_address(text: str) -> netaddr.Addr | None:
    try:
        return netaddr.parse_addr(text)
    except netaddr.AddrError:
        return None


def _strict_range(text: str) -> netaddr.Prefix | None:
    try:
        return netaddr.parse_prefix(text)
    except netaddr.AddrError:
        return None


def _range_text(prefix: netaddr.Prefix) -> str:
    """Return the range without the bits behind its length, as Go's older type prints it."""
    masked = prefix.masked()
    length = masked.length - 96 if masked.addr.is_v4_mapped else masked.length
    return f"{format_checks.unmapped(masked.addr)}/{length}"


# --- Fractional bytes --------------------------------------------------------
#
# Amounts of memory and storage that are no whole number of bytes.
#
# As k8s.io/kubernetes `pkg/api/{pod/warnings,persistentvolumeclaim/util}.go`.

_WHOLE: Final = late_pattern(r"[0-9]{1,12}(?:[KMGTPE]i|[kMGTPE])?")
"""Most amounts, which are seen to be whole without being read."""


def fractional_bytes(amounts: JsonObject | None, name: str, path: FieldPath) -> Iterator[str]:
    """Yield the warning about one resource in a list of them; `path` is that of the list."""
    text = (amounts or {}).get(name)
    if text is None or _WHOLE.fullmatch(str(text)):
        return
    try:
        quantity = parse(str(text))
    except QuantityError:
        return
    if not _is_whole(quantity):
        yield (
            f"{path.key(name)}: fractional byte value {quote(str(quantity))} is invalid, must be "
            "an integer"
        )


def _is_whole(quantity: Quantity) -> bool:
    """Without an int: a million digits take half a minute to become one, and no thread runs."""
    value = quantity.round_up(-3).as_decimal()
    return value == value.to_integral_value(context=EXACT)


def claim_spec_warnings(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    """Yield the warnings about the spec of a PersistentVolumeClaim, wherever there is one."""
    resources, resources_path = spec.get("resources") or {}, path.child("resources")
    for field in ("requests", "limits"):
        yield from fractional_bytes(resources.get(field), "storage", resources_path.child(field))


# --- Container warnings ------------------------------------------------------
#
# What an API server remarks about the containers of a pod: variables, ports, amounts.
#
# Containers are visited as k8s.io/kubernetes `pkg/apis/core/pods/helpers.go` does: those for
# initialization first, then the usual ones, then the ephemeral ones.

Located = tuple[FieldPath, JsonObject]

AMOUNTS: Final = (
    ("limits", "memory"),
    ("requests", "memory"),
    ("limits", "ephemeral-storage"),
    ("requests", "ephemeral-storage"),
)


def containers(spec: JsonObject, path: FieldPath) -> Iterator[Located]:
    """Yield all containers of a pod; `path` is that of its spec."""
    for field in well_known_values.CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            yield path.child(field).index(index), container


def amount_warnings(container: JsonObject, path: FieldPath) -> Iterator[str]:
    """Fractions of bytes."""
    resources, resources_path = container.get("resources") or {}, path.child("resources")
    for field, name in AMOUNTS:
        amounts = resources.get(field)
        if amounts and name in amounts:
            yield from fractional_bytes(amounts, name, resources_path.child(field))


def variable_warnings(container: JsonObject, path: FieldPath) -> Iterator[str]:
    """Variables that come twice, unless the later one is made of the earlier."""
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name", ""), variable.get("value") or ""
        if name not in seen:
            seen.add(name)
            continue
        reference = f"$({name})"
        hides = reference not in value or value == reference
        if hides or variable.get("valueFrom") is not None:
            yield (
                f"{path.child('env').index(index)}: hides previous definition of {quote(name)}, "
                "which may be dropped when using apply"
            )


def port_warnings(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    """Ports of all containers that get into each other's way; then their names."""
    ports = list(_ports(spec, path))
    yield from _clashes(ports)
    yield from _repeated_names(ports)


def _clashes(ports: Iterable[Located]) -> Iterator[str]:
    by_port: dict[tuple[int, str], list[Located]] = {}
    for path, port in ports:
        if port.get("hostIP") and not port.get("hostPort"):
            yield f"{path}: hostIP set without hostPort: {_printed(port)}"
        key = port.get("containerPort", 0), port.get("protocol", "")
        same_port = by_port.setdefault(key, [])
        for other_path, other in same_port:
            conflict = _conflict(port, other)
            if conflict:
                yield f"{path}: {conflict} port definition with {other_path}"
        same_port.append((path, port))


@since("1.33")
def _repeated_names(ports: Iterable[Located]) -> Iterator[str]:
    """Names of ports that more than one container has."""
    paths: dict[str, FieldPath] = {}
    for path, port in ports:
        name = port.get("name")
        if not name:
            continue
        other = paths.setdefault(name, path)
        if other is not path:
            yield (
                f"{path}: duplicate port name {quote(name)} with {other}, services and probes that "
                f"select ports by name will use {other}"
            )


def _ports(spec: JsonObject, path: FieldPath) -> Iterator[Located]:
    for container_path, container in containers(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            yield container_path.child("ports").index(index), port


def _conflict(port: JsonObject, other: JsonObject) -> str:
    """Return how two ports with the same number and protocol conflict; empty where both can be."""
    address, others_address = port.get("hostIP") or "", other.get("hostIP") or ""
    number, others_number = port.get("hostPort") or 0, other.get("hostPort") or 0
    if (address, number) == (others_address, others_number):
        return "duplicate"
    if not number or not others_number:
        return "overlapping"
    if number == others_number and bool(address) != bool(others_address):
        return "dangerously ambiguous"
    return ""


def _printed(port: JsonObject) -> str:
    """Write a port as Go's `%+v` prints it."""
    return (
        f"{{Name:{port.get('name', '')} HostPort:{port.get('hostPort', 0)} "
        f"ContainerPort:{port.get('containerPort', 0)} Protocol:{port.get('protocol', '')} "
        f"HostIP:{port.get('hostIP', '')}}}"
    )


# --- Deprecated node labels --------------------------------------------------
#
# Labels of nodes that have been replaced, where selectors still ask for them.
#
# As k8s.io/kubernetes `pkg/api/node/util.go`.

_DEPRECATED: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
}
"""What is said of each."""

_DEPRECATED_SINCE_1_31: Final = {
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": (
        "deprecated since v1.22; use Taints and Tolerations instead"
    ),
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def label_deprecation(key: str) -> str | None:
    """Return what is said of a label, or None of one that was not replaced."""
    deprecated = _DEPRECATED.get(key)
    if deprecated is None and key in _DEPRECATED_SINCE_1_31 and is_since("1.31"):
        return _DEPRECATED_SINCE_1_31[key]
    return deprecated


def deprecated_key(path: FieldPath, key: str) -> Iterator[str]:
    """Yield the warning about a field whose value is the name of a label."""
    reason = label_deprecation(key)
    if reason is not None:
        yield f"{path}: {key} is {reason}"


def term_warnings(
    term: JsonObject, path: FieldPath, *, check_values: bool = False
) -> Iterator[str]:
    """Yield the warnings about a NodeSelectorTerm; with `check_values`, also of values that no
    label can have, since 1.33."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        field_path = path.child("matchExpressions").index(index)
        yield from deprecated_key(field_path.child("key"), expression.get("key", ""))
        if not check_values or not is_since("1.33"):
            continue
        for number, value in enumerate(expression.get("values") or ()):
            for reason in name_rules.label_value(value):
                yield f"{field_path.child('values').index(number)}: {value} is invalid, {reason}"


def selector_warnings(selector: JsonObject | None, path: FieldPath) -> Iterator[str]:
    """Yield the warnings about a LabelSelector that chooses nodes."""
    if selector is None:
        return
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        field_path = path.child("matchExpressions").index(index)
        yield from deprecated_key(field_path.child("key"), expression.get("key", ""))
    for key in sorted(selector.get("matchLabels") or ()):
        reason = label_deprecation(key)
        if reason is not None:
            yield f"{path.child('matchLabels').child(key)}: {reason}"


# --- Overlapping paths -------------------------------------------------------
#
# Files of one volume that would lie over each other.
#
# A volume made of a ConfigMap, a Secret or the downward API, or of several of them, puts items
# at paths: the same path twice, or one below another. As k8s.io/kubernetes
# `pkg/api/pod/warnings.go`, `warningsForOverlappingVirtualPaths`.

_CERTIFICATE_PATHS: Final = (
    ("certificateChainPath", "PodCertificate chain"),
    ("keyPath", "PodCertificate key"),
    ("credentialBundlePath", "PodCertificate credential bundle"),
)
_SOURCES: Final = (
    "secret",
    "downwardAPI",
    "configMap",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A path, and where it comes from if that is not clear."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


@since("1.32")
def overlapping_paths(volumes: Iterable[JsonObject]) -> Iterator[str]:
    """Yield the overlaps among all volumes of a pod, in their order."""
    for volume in volumes:
        yield from _of_volume(volume, volume.get("name", ""))


def _of_volume(volume: JsonObject, name: str) -> Iterator[str]:
    maps, secret = volume.get("configMap"), volume.get("secret")
    if maps is not None:
        source = f"ConfigMap {quote(maps.get('name', ''))}"
        yield from _overlaps(_items(maps), name, source)
    if secret is not None:
        source = f"Secret {quote(secret.get('secretName', ''))}"
        yield from _overlaps(_items(secret), name, source)
    if volume.get("downwardAPI") is not None:
        yield from _overlaps(_items(volume["downwardAPI"]), name, "DownwardAPI")
    if volume.get("projected") is not None:
        yield from _of_projected(volume["projected"], name)


def _items(source: JsonObject, named: str = "") -> list[_Place]:
    return [_Place(item.get("path", ""), named) for item in source.get("items") or ()]


_Places = dict[str, list[_Place]]
"""By the first part of their paths: only places that share it can meet."""


def _of_projected(projected: JsonObject, name: str) -> Iterator[str]:
    """Before 1.34 a source that names no paths was taken for the one before it."""
    places: _Places = {}
    added: list[_Place] = []
    for source in projected.get("sources") or ():
        if any(source.get(kind) is not None for kind in _SOURCES):
            projected_places = _projected_places(source)
            added = projected_places if projected_places or is_since("1.34") else added
            yield from _overlaps(added, name, "Projected", places)
        else:
            yield f"volume {quote(name)} (Projected) has no sources provided"


def _projected_places(source: JsonObject) -> list[_Place]:
    maps, secret = source.get("configMap"), source.get("secret")
    if maps is not None and maps.get("items"):
        return _items(maps, f"ConfigMap {quote(maps.get('name', ''))}")
    if secret is not None and secret.get("items"):
        return _items(secret, f"Secret {quote(secret.get('name', ''))}")
    if source.get("downwardAPI") is not None and source["downwardAPI"].get("items"):
        return _items(source["downwardAPI"], "DownwardAPI")
    token, bundle = source.get("serviceAccountToken"), source.get("clusterTrustBundle")
    if token is not None:
        return [_Place(token.get("path", ""), "ServiceAccountToken")]
    if bundle is not None:
        named = bundle.get("name") or bundle.get("signerName") or ""
        return [_Place(bundle.get("path", ""), f"ClusterTrustBundle {quote(named)}")]
    certificate = source.get("podCertificate") or {}
    return [
        _Place(certificate[field], certificate_path)
        for field, certificate_path in _CERTIFICATE_PATHS
        if certificate.get(field)
    ]


def _overlaps(
    added: Iterable[_Place], volume: str, source: str, places: _Places | None = None
) -> Iterator[str]:
    """`places` are those that were there before; it gets the new ones, too."""
    places = {} if places is None else places
    for item in added:
        place = _Place(item.path.rstrip("/"), item.source)
        near = places.setdefault(place.path.partition("/")[0], [])
        for other in near:
            if _meet(place.path, other.path):
                yield f"volume {quote(volume)} ({source}): overlapping paths: {place} with {other}"
        near.append(place)


def _meet(first: str, second: str) -> bool:
    if not first or not second:
        return False
    return f"{first}/".startswith(f"{second}/") or f"{second}/".startswith(f"{first}/")


DEPRECATED_ANNOTATIONS: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
_GIT_REPOSITORIES: Final = wording("v1.11, and disabled by default in v1.33+", v1_33="v1.11")
DEPRECATED_VOLUMES: Final = (
    ("photonPersistentDisk", "photonPersistentDisk", "v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", _GIT_REPOSITORIES),
    ("scaleIO", "scaleIO", "v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "v1.25, non-functional in v1.26+"),
    ("ephemeral", "ephemeral", ""),
    ("cephfs", "cephfs", "v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "v1.28, non-functional in v1.31+"),
)
"""Fields of volumes, their names in warnings, and since when they are deprecated. The claim of an
ephemeral volume is looked at in its turn."""

_BEFORE_CONTAINERS: Final = frozenset(
    {
        *("affinity", "hostAliases", "imagePullSecrets", "nodeSelector", "overhead"),
        *("topologySpreadConstraints", "volumes"),
    }
)
"""Fields that are remarked upon before the containers, besides annotations."""

_NO_SECCOMP: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_OLD_APPARMOR: Final = 'deprecated since v1.30; use the "appArmorProfile" field instead'


def pod_warnings(pod: JsonObject) -> Iterator[str]:
    """Yield the warnings about a new pod."""
    faults = name_rules.dns1123_label(metadata.name(pod))
    if faults:
        yield (
            "metadata.name: this is used in the Pod's hostname, which can result in surprising "
            f"behavior; a DNS label is recommended: [{' '.join(faults)}]"
        )
    yield from pod_spec_warnings(pod, FieldPath(), is_template=False)


def template_warnings(template: JsonObject | None, path: FieldPath) -> Iterator[str]:
    """Yield the warnings about a PodTemplateSpec, if there is one."""
    if template is not None:
        yield from _template_warnings(path, template)


def _looked_at(template: JsonObject) -> JsonObject:
    spec = without_images(template.get("spec") or {})
    return {"spec": spec, "annotations": metadata.annotations(template)}


@once_sound_as(_looked_at)
def _template_warnings(path: FieldPath, template: JsonObject) -> Iterator[str]:
    return pod_spec_warnings(template, path, is_template=True)


def pod_spec_warnings(pod: JsonObject, path: FieldPath, *, is_template: bool) -> Iterator[str]:
    """Yield the warnings about the spec and the annotations of a pod or a template."""
    spec, notes = pod.get("spec") or {}, metadata.annotations(pod)
    spec_path, at_notes = path.child("spec"), path.child("metadata", "annotations")
    if not _BEFORE_CONTAINERS.isdisjoint(spec) or notes:
        yield from _before_containers(spec, notes, spec_path, at_notes)
    if well_known_values.SECCOMP_OF_POD in notes and not _has_profile(spec, "seccompProfile"):
        yield f"{at_notes.key(well_known_values.SECCOMP_OF_POD)}: {_NO_SECCOMP}"
    for container_path, container in containers(spec, spec_path):
        if notes:
            yield from _old_profiles(container, spec, notes, at_notes, is_template=is_template)
        if "resources" in container:
            yield from amount_warnings(container, container_path)
        if "env" in container:
            yield from variable_warnings(container, container_path)
    yield from port_warnings(spec, spec_path)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        field = spec_path.child("terminationGracePeriodSeconds")
        yield f"{field}: must be >= 0; negative values are invalid and will be treated as 1"
    if "affinity" in spec:
        yield from _pod_affinity(spec, spec_path.child("affinity"))
    yield from _addresses(spec, spec_path)


def _before_containers(
    spec: JsonObject, notes: Mapping[str, str], path: FieldPath, at_notes: FieldPath
) -> Iterator[str]:
    """Yield what most pods have nothing of."""
    yield from _node_selection(spec, path)
    yield from _topology(spec, path)
    for key, reason in DEPRECATED_ANNOTATIONS.items():
        if key in notes:
            yield f"{at_notes.key(key)}: {reason}"
    yield from _volumes(spec, path.child("volumes"))
    yield from overlapping_paths(spec.get("volumes") or ())
    yield from _repeated(spec, path, "hostAliases", "ip")
    yield from _repeated(spec, path, "imagePullSecrets", "name")
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            name_path = path.child("imagePullSecrets").index(index).child("name")
            yield f'{name_path}: invalid empty name ""'
    for name in ("memory", "ephemeral-storage"):
        yield from fractional_bytes(spec.get("overhead"), name, path.child("overhead"))


def _node_selection(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    for key in sorted(spec.get("nodeSelector") or ()):
        reason = label_deprecation(key)
        if reason is not None:
            yield f"{path.child('nodeSelector').key(key)}: {reason}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    node_affinity_path = path.child("affinity", "nodeAffinity")
    required = affinity.get(well_known_values.REQUIRED_TERMS) or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        where = node_affinity_path.child(
            well_known_values.REQUIRED_TERMS, "nodeSelectorTerms"
        ).index(index)
        yield from term_warnings(term, where)
    for index, term in enumerate(affinity.get(well_known_values.PREFERRED_TERMS) or ()):
        where = (
            node_affinity_path.child(well_known_values.PREFERRED_TERMS)
            .index(index)
            .child("preference")
        )
        yield from term_warnings(term.get("preference") or {}, where, check_values=True)


def _topology(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        field_path = path.child("topologySpreadConstraints").index(index)
        yield from deprecated_key(
            field_path.child("topologyKey"), constraint.get("topologyKey", "")
        )
        yield from _null_selector(constraint, field_path)


def _null_selector(obj: JsonObject, path: FieldPath) -> Iterator[str]:
    if obj.get("labelSelector") is None:
        yield f"{path.child('labelSelector')}: a null labelSelector results in matching no pod"


def _volumes(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        field_path = path.index(index)
        for field, deprecated_volume, release in DEPRECATED_VOLUMES:
            if volume.get(field) is None:
                continue
            if release:
                text = release.text if isinstance(release, Wording) else release
                yield f"{field_path.child(deprecated_volume)}: deprecated in {text}"
                continue
            template = volume[field].get("volumeClaimTemplate")
            if template is not None:
                spec_path = field_path.child("ephemeral", "volumeClaimTemplate", "spec")
                yield from claim_spec_warnings(template.get("spec") or {}, spec_path)


def _repeated(spec: JsonObject, path: FieldPath, field: str, member: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(spec.get(field) or ()):
        value = item.get(member, "")
        if value in seen:
            field_path = path.child(field).index(index).child(member)
            yield f"{field_path}: duplicate {member} {quote(value)}"
        seen.add(value)


def _has_profile(obj: JsonObject, field: str) -> bool:
    return (obj.get("securityContext") or {}).get(field) is not None


def _old_profiles(
    container: JsonObject,
    spec: JsonObject,
    notes: Mapping[str, str],
    path: FieldPath,
    *,
    is_template: bool,
) -> Iterator[str]:
    """Annotations about a container that has no field instead. `path` is that of annotations; those
    of pods about AppArmor become fields, and are spoken of there."""
    seccomp = well_known_values.SECCOMP_OF_CONTAINER + container.get("name", "")
    if seccomp in notes and not _has_profile(container, "seccompProfile"):
        yield f"{path.key(seccomp)}: {_NO_SECCOMP}"
    apparmor = well_known_values.APPARMOR_OF_CONTAINER + container.get("name", "")
    if not is_template or apparmor not in notes or _has_profile(container, "appArmorProfile"):
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    if of_pod is None or (is_since("1.34") and not _names_profile(notes[apparmor], of_pod)):
        yield f"{path.key(apparmor)}: {_OLD_APPARMOR}"


def _pod_affinity(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    affinity = spec.get("affinity") or {}
    for field in ("podAffinity", "podAntiAffinity"):
        terms, field_path = affinity.get(field) or {}, path.child(field)
        for index, term in enumerate(terms.get(well_known_values.REQUIRED_TERMS) or ()):
            yield from _null_selector(
                term, field_path.child(well_known_values.REQUIRED_TERMS).index(index)
            )
        for index, weighted in enumerate(terms.get(well_known_values.PREFERRED_TERMS) or ()):
            pod_affinity_term_path = (
                field_path.child(well_known_values.PREFERRED_TERMS)
                .index(index)
                .child("podAffinityTerm")
            )
            yield from _null_selector(weighted.get("podAffinityTerm") or {}, pod_affinity_term_path)


def _addresses(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    servers = (spec.get("dnsConfig") or {}).get("nameservers") or ()
    for index, server in enumerate(servers):
        field_path = path.child("dnsConfig", "nameservers").index(index)
        yield from address_warnings(field_path, server)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        field_path = path.child("hostAliases").index(index).child("ip")
        yield from address_warnings(field_path, alias.get("ip", ""))


def converted_apparmor(pod: JsonObject) -> Iterator[str]:
    """Yield what becomes of a new pod as it was sent, whose annotations about AppArmor will become
    fields, unless they cannot or need not. As `pkg/registry/core/pod/strategy.go`,
    `applyAppArmorVersionSkew`."""
    spec, notes = pod.get("spec") or {}, metadata.annotations(pod)
    if (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for _, container in containers(spec, FieldPath("spec")):
        key = well_known_values.APPARMOR_OF_CONTAINER + container.get("name", "")
        if key not in notes or _has_profile(container, "appArmorProfile"):
            continue
        if of_pod is None or not _names_profile(notes[key], of_pod):
            yield f"{FieldPath('metadata', 'annotations').key(key)}: {_OLD_APPARMOR}"


def _names_profile(note: str, profile: JsonObject) -> bool:
    """Return whether an annotation says what a field says."""
    kinds = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
    if note in kinds:
        return dict(profile) == {"type": kinds[note]}
    local = note.removeprefix("localhost/")
    return local != note and dict(profile) == {"type": "Localhost", "localhostProfile": local}
