"""What an API server remarks about a pod, or a template of one.

`pod_spec_warnings` has the order of k8s.io/kubernetes `pkg/api/pod/warnings.go`,
`warningsForPodSpecAndMeta`; each part of it is a function of its own. `path` is where the pod is:
nowhere for a pod itself, `spec.template` and the like for templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from celadon.kube import metadata, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.warnings.container_warnings import (
    amount_warnings,
    containers,
    port_warnings,
    variable_warnings,
)
from celadon.kube.warnings.deprecated_node_labels import (
    DEPRECATED,
    deprecated_key,
    term_warnings,
)
from celadon.kube.warnings.fractional_bytes import claim_spec_warnings, fractional_bytes
from celadon.kube.warnings.overlapping_paths import overlapping_paths
from celadon.kube.warnings.warned_addresses import address_warnings
from celadon.kube.well_known_values import (
    APPARMOR_OF_CONTAINER,
    PREFERRED_TERMS,
    REQUIRED_TERMS,
    SECCOMP_OF_CONTAINER,
    SECCOMP_OF_POD,
)

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
DEPRECATED_VOLUMES: Final = (
    ("photonPersistentDisk", "photonPersistentDisk", "v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "v1.11, and disabled by default in v1.33+"),
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
    """Of a new pod."""
    why = name_rules.dns1123_label(metadata.name(pod))
    if why:
        yield (
            "metadata.name: this is used in the Pod's hostname, which can result in surprising "
            f"behavior; a DNS label is recommended: [{' '.join(why)}]"
        )
    yield from pod_spec_warnings(pod, FieldPath(), is_template=False)


def template_warnings(template: JsonObject | None, path: FieldPath) -> Iterator[str]:
    """Of a PodTemplateSpec, if there is one."""
    if template is not None:
        yield from pod_spec_warnings(template, path, is_template=True)


def pod_spec_warnings(pod: JsonObject, path: FieldPath, *, is_template: bool) -> Iterator[str]:
    """Of the spec and the annotations of a pod or a template."""
    spec, notes = pod.get("spec") or {}, metadata.annotations(pod)
    at, at_notes = path.child("spec"), path.child("metadata", "annotations")
    if not _BEFORE_CONTAINERS.isdisjoint(spec) or notes:
        yield from _before_containers(spec, notes, at, at_notes)
    if SECCOMP_OF_POD in notes and not _has_profile(spec, "seccompProfile"):
        yield f"{at_notes.key(SECCOMP_OF_POD)}: {_NO_SECCOMP}"
    for where, container in containers(spec, at):
        if notes:
            yield from _old_profiles(container, spec, notes, at_notes, is_template=is_template)
        if "resources" in container:
            yield from amount_warnings(container, where)
        if "env" in container:
            yield from variable_warnings(container, where)
    yield from port_warnings(spec, at)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        field = at.child("terminationGracePeriodSeconds")
        yield f"{field}: must be >= 0; negative values are invalid and will be treated as 1"
    if "affinity" in spec:
        yield from _pod_affinity(spec, at.child("affinity"))
    yield from _addresses(spec, at)


def _before_containers(
    spec: JsonObject, notes: Mapping[str, str], at: FieldPath, at_notes: FieldPath
) -> Iterator[str]:
    """What most pods have nothing of."""
    yield from _node_selection(spec, at)
    yield from _topology(spec, at)
    for key, why in DEPRECATED_ANNOTATIONS.items():
        if key in notes:
            yield f"{at_notes.key(key)}: {why}"
    yield from _volumes(spec, at.child("volumes"))
    yield from overlapping_paths(spec.get("volumes") or ())
    yield from _repeated(spec, at, "hostAliases", "ip")
    yield from _repeated(spec, at, "imagePullSecrets", "name")
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            where = at.child("imagePullSecrets").index(index).child("name")
            yield f'{where}: invalid empty name ""'
    for name in ("memory", "ephemeral-storage"):
        yield from fractional_bytes(spec.get("overhead"), name, at.child("overhead"))


def _node_selection(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    for key in sorted(spec.get("nodeSelector") or ()):
        if key in DEPRECATED:
            yield f"{path.child('nodeSelector').key(key)}: {DEPRECATED[key]}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    at = path.child("affinity", "nodeAffinity")
    required = affinity.get(REQUIRED_TERMS) or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        where = at.child(REQUIRED_TERMS, "nodeSelectorTerms").index(index)
        yield from term_warnings(term, where)
    for index, term in enumerate(affinity.get(PREFERRED_TERMS) or ()):
        where = at.child(PREFERRED_TERMS).index(index).child("preference")
        yield from term_warnings(term.get("preference") or {}, where, check_values=True)


def _topology(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        at = path.child("topologySpreadConstraints").index(index)
        yield from deprecated_key(at.child("topologyKey"), constraint.get("topologyKey", ""))
        yield from _null_selector(constraint, at)


def _null_selector(obj: JsonObject, path: FieldPath) -> Iterator[str]:
    if obj.get("labelSelector") is None:
        yield f"{path.child('labelSelector')}: a null labelSelector results in matching no pod"


def _volumes(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        at = path.index(index)
        for field, shown, since in DEPRECATED_VOLUMES:
            if volume.get(field) is None:
                continue
            if since:
                yield f"{at.child(shown)}: deprecated in {since}"
                continue
            template = volume[field].get("volumeClaimTemplate")
            if template is not None:
                where = at.child("ephemeral", "volumeClaimTemplate", "spec")
                yield from claim_spec_warnings(template.get("spec") or {}, where)


def _repeated(spec: JsonObject, path: FieldPath, field: str, member: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(spec.get(field) or ()):
        value = item.get(member, "")
        if value in seen:
            at = path.child(field).index(index).child(member)
            yield f"{at}: duplicate {member} {quote(value)}"
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
    seccomp = SECCOMP_OF_CONTAINER + container.get("name", "")
    if seccomp in notes and not _has_profile(container, "seccompProfile"):
        yield f"{path.key(seccomp)}: {_NO_SECCOMP}"
    apparmor = APPARMOR_OF_CONTAINER + container.get("name", "")
    has_field = any(_has_profile(one, "appArmorProfile") for one in (spec, container))
    if is_template and apparmor in notes and not has_field:
        yield f"{path.key(apparmor)}: {_OLD_APPARMOR}"


def _pod_affinity(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    affinity = spec.get("affinity") or {}
    for field in ("podAffinity", "podAntiAffinity"):
        terms, at = affinity.get(field) or {}, path.child(field)
        for index, term in enumerate(terms.get(REQUIRED_TERMS) or ()):
            yield from _null_selector(term, at.child(REQUIRED_TERMS).index(index))
        for index, weighted in enumerate(terms.get(PREFERRED_TERMS) or ()):
            where = at.child(PREFERRED_TERMS).index(index).child("podAffinityTerm")
            yield from _null_selector(weighted.get("podAffinityTerm") or {}, where)


def _addresses(spec: JsonObject, path: FieldPath) -> Iterator[str]:
    servers = (spec.get("dnsConfig") or {}).get("nameservers") or ()
    for index, server in enumerate(servers):
        at = path.child("dnsConfig", "nameservers").index(index)
        yield from address_warnings(at, server)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        at = path.child("hostAliases").index(index).child("ip")
        yield from address_warnings(at, alias.get("ip", ""))


def converted_apparmor(pod: JsonObject) -> Iterator[str]:
    """Of a new pod as it was sent, whose annotations about AppArmor will become fields, unless they
    cannot or need not. As `pkg/registry/core/pod/strategy.go`, `applyAppArmorVersionSkew`."""
    spec, notes = pod.get("spec") or {}, metadata.annotations(pod)
    if (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for _, container in containers(spec, FieldPath("spec")):
        key = APPARMOR_OF_CONTAINER + container.get("name", "")
        if key not in notes or _has_profile(container, "appArmorProfile"):
            continue
        if of_pod is None or not _names_profile(notes[key], of_pod):
            yield f"{FieldPath('metadata', 'annotations').key(key)}: {_OLD_APPARMOR}"


def _names_profile(note: str, profile: JsonObject) -> bool:
    """Whether an annotation says what a field says."""
    kinds = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
    if note in kinds:
        return dict(profile) == {"type": kinds[note]}
    local = note.removeprefix("localhost/")
    return local != note and dict(profile) == {"type": "Localhost", "localhostProfile": local}
