"""Annotations of pods that mean something: static pods, the price of deletion, old profiles.

As k8s.io/kubernetes `pkg/apis/core/validation`. Profiles of seccomp and AppArmor have fields now;
an annotation that stands beside its field must say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import METADATA, Errors
from celadon.kube.well_known_values import (
    APPARMOR_OF_CONTAINER,
    CONTAINER_LISTS,
    DELETION_COST,
    MIRROR_POD,
    SECCOMP_OF_CONTAINER,
    SECCOMP_OF_POD,
)
from celadon.patterns import late_pattern

_OF_PROFILES: Final = (SECCOMP_OF_POD, SECCOMP_OF_CONTAINER, APPARMOR_OF_CONTAINER)
LOCALHOST: Final = "localhost/"
RUNTIME_DEFAULT: Final = "runtime/default"
UNCONFINED: Final = "unconfined"
DOCKER_DEFAULT: Final = "docker/default"
_NOTES: Final = METADATA.child("annotations")
_INT32: Final = late_pattern("0|-[0-9]+|[1-9][0-9]*")


class ProfileKind(NamedTuple):
    """Where a kind of profile stands: its name, its field, its annotations, and what they say for
    each type of profile but those of files."""

    name: str
    field: str
    of_container: str
    types: Mapping[str, tuple[str, ...]]


SECCOMP: Final = ProfileKind(
    "seccomp",
    "seccompProfile",
    SECCOMP_OF_CONTAINER,
    {"Unconfined": (UNCONFINED,), "RuntimeDefault": (RUNTIME_DEFAULT, DOCKER_DEFAULT)},
)
APPARMOR: Final = ProfileKind(
    "apparmor",
    "appArmorProfile",
    APPARMOR_OF_CONTAINER,
    {"Unconfined": (UNCONFINED,), "RuntimeDefault": (RUNTIME_DEFAULT,)},
)


def pod_annotations(path: FieldPath, notes: Mapping[str, str], spec: JsonObject) -> Errors:
    """Of a pod or a template; `path` is that of its annotations."""
    if MIRROR_POD in notes and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        yield fieldpath.invalid(path.key(MIRROR_POD), notes[MIRROR_POD], detail)
    cost = notes.get(DELETION_COST)
    if cost is not None and not _is_int32(cost):
        yield fieldpath.invalid(path.key(DELETION_COST), cost, "must be a 32bit integer")
    if SECCOMP_OF_POD in notes:
        yield from _seccomp(path.child(SECCOMP_OF_POD), notes[SECCOMP_OF_POD])
    for key in sorted(notes):
        if key.startswith(SECCOMP_OF_CONTAINER):
            yield from _seccomp(path.child(key), notes[key])
    for key in sorted(notes):
        if key.startswith(APPARMOR_OF_CONTAINER):
            yield from _apparmor(path.key(key), key, notes[key], spec)


def _is_int32(text: str) -> bool:
    return _INT32.fullmatch(text) is not None and -(2**31) <= int(text[:12]) < 2**31


def _seccomp(path: FieldPath, profile: str) -> Errors:
    if profile.startswith(LOCALHOST):
        file = profile.removeprefix(LOCALHOST)
        if file.startswith("/"):
            yield fieldpath.invalid(path, file, "must be a relative path")
        if ".." in file.split("/"):
            yield fieldpath.invalid(path, file, "must not contain '..'")
    elif profile not in {RUNTIME_DEFAULT, DOCKER_DEFAULT, UNCONFINED}:
        yield fieldpath.invalid(path, profile, "must be a valid seccomp profile")


def _apparmor(path: FieldPath, key: str, profile: str, spec: JsonObject) -> Errors:
    name = key.removeprefix(APPARMOR_OF_CONTAINER)
    if all(one.get("name") != name for _, one in _containers(FieldPath(), spec)):
        yield fieldpath.invalid(path, name, "container not found")
    known = profile in {"", RUNTIME_DEFAULT, UNCONFINED} or profile.startswith(LOCALHOST)
    if not known:
        detail = f"invalid AppArmor profile name: {quote(profile)}"
        yield fieldpath.invalid(path, profile, detail)


def _containers(path: FieldPath, spec: JsonObject) -> Iterator[tuple[FieldPath, JsonObject]]:
    for field in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            yield path.child(field).index(index), container


def profiles_match(path: FieldPath, notes: Mapping[str, str], spec: JsonObject) -> Errors:
    """Fields of a new pod or a template and the annotations beside them; `path` is the spec's."""
    if not any(key.startswith(_OF_PROFILES) for key in notes):
        return
    of_pod = (spec.get("securityContext") or {}).get(SECCOMP.field)
    if of_pod is not None and SECCOMP_OF_POD in notes:
        at = path.child("securityContext", SECCOMP.field)
        yield from _match(at, SECCOMP, notes[SECCOMP_OF_POD], of_pod)
    yield from _containers_match(path, SECCOMP, notes, spec)
    if (spec.get("os") or {}).get("name") != "windows":
        yield from _containers_match(path, APPARMOR, notes, spec)


def _containers_match(
    path: FieldPath, kind: ProfileKind, notes: Mapping[str, str], spec: JsonObject
) -> Errors:
    """The profile of AppArmor that a pod has is that of containers without one."""
    of_pod = (spec.get("securityContext") or {}).get(kind.field) if kind is APPARMOR else None
    for at, container in _containers(path, spec):
        profile = (container.get("securityContext") or {}).get(kind.field) or of_pod
        note = notes.get(kind.of_container + (container.get("name") or ""))
        if profile is not None and note is not None:
            yield from _match(at.child("securityContext", kind.field), kind, note, profile)


def _match(path: FieldPath, kind: ProfileKind, note: str, profile: JsonObject) -> Errors:
    given = profile.get("type") or ""
    if given == "Localhost":
        same = note.startswith(LOCALHOST)
    else:
        same = note in kind.types.get(given, (note,))
    if not same:
        detail = f"{kind.name} type in annotation and field must match"
        yield fieldpath.forbidden(path.child("type"), detail)
    elif given == "Localhost" and note.removeprefix(LOCALHOST) != profile.get("localhostProfile"):
        detail = f"{kind.name} profile in annotation and field must match"
        yield fieldpath.forbidden(path.child("localhostProfile"), detail)


def annotation_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """What a pod was made with stays; all of its annotations are looked at once more."""
    notes, before = ((one.get("metadata") or {}).get("annotations") or {} for one in (obj, old))
    if notes != before:
        for key in sorted(before):
            if notes.get(key) != before[key]:
                yield from _fixed(key, "remove or update")
        for key in sorted(notes):
            if key not in before:
                yield from _fixed(key, "add")
    yield from pod_annotations(_NOTES, notes, obj.get("spec") or {})


def _fixed(key: str, verb: str) -> Errors:
    if key.startswith(APPARMOR_OF_CONTAINER):
        yield fieldpath.forbidden(_NOTES.key(key), f"may not {verb} AppArmor annotations")
    if key == MIRROR_POD:
        yield fieldpath.forbidden(_NOTES.key(key), f"may not {verb} mirror pod annotation")
