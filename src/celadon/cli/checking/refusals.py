"""What the API server refuses before it asks any policy.

In its order: validation of the kind (422), then the LimitRanges of the namespace (403). Objects of
subresources are not validated, except that a scale must not be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from celadon.admission import Operation
from celadon.cli.checking.check_report import Fault, Place
from celadon.cli.checking.object_preparation import Prepare, Target
from celadon.cli.checking.questions import Asked
from celadon.cli.reading.locations import parse_path
from celadon.kube import FieldError, GroupKind, Status, metadata, status
from celadon.kube.custom import definition_errors
from celadon.kube.validation import exceeded_limits, validate_create, validate_update

COMPLETED_BY_THE_SERVER: Final = frozenset({"Job", "PersistentVolumeClaim", "Pod"})
"""Kinds of which a stored object has more than its manifest, all of it immutable."""


_DEFINITION: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer of the server; `faults` when it is about the object itself."""

    status: Status
    faults: tuple[Fault, ...] = ()


def refusal(asked: Asked, prepare: Prepare) -> Refusal | None:
    """None for what reaches the policies."""
    request = asked.request
    if request.operation not in {Operation.CREATE, Operation.UPDATE}:
        return None
    if request.subresource not in {"", "scale"} or not isinstance(request.object, dict):
        return None
    errors = _errors(asked, prepare)
    if errors:
        found = status.invalid(request.kind.group_kind, request.name, errors).status
        return Refusal(found, tuple(_faults(asked, errors)))
    limits = prepare.limit_ranges(request.namespace)
    why = "" if request.subresource else exceeded_limits(request.object, limits)
    if why:
        resource = request.resource.group_resource
        return Refusal(status.forbidden(resource, request.name, why).status)
    return None


def _errors(asked: Asked, prepare: Prepare) -> Sequence[FieldError]:
    return [*_kind_errors(asked, prepare), *_schema_errors(asked, prepare)]


def _schema_errors(asked: Asked, prepare: Prepare) -> Sequence[FieldError]:
    """What a CustomResourceDefinition says against an object, or what is wrong with one."""
    request = asked.request
    if request.subresource or request.object is None:
        return ()
    if request.kind.group_kind == _DEFINITION and request.operation is Operation.CREATE:
        return definition_errors(request.object, prepare.version)
    custom = prepare.custom_kind(request.kind)
    if custom is None:
        return ()
    old = request.old_object if request.operation is Operation.UPDATE else None
    before = None if old is None else dict(old)
    return custom.validate(dict(request.object), before).errors


def _kind_errors(asked: Asked, prepare: Prepare) -> Sequence[FieldError]:
    request, document = asked.request, asked.document
    new: Any = request.object
    if request.operation is Operation.CREATE or request.subresource:
        return validate_create(new, request.kind)
    if request.kind.kind in COMPLETED_BY_THE_SERVER and not metadata.uid(document.value):
        as_new = prepare.created(document, Target(request.kind, request.namespace))
        return validate_create(as_new, request.kind) if isinstance(as_new, dict) else ()
    return validate_update(new, request.old_object or {}, request.kind)


def _faults(asked: Asked, errors: Sequence[FieldError]) -> list[Fault]:
    document = asked.document
    return [
        Fault(Place(document.file, document.line(parse_path(error.field))), error.field, error.body)
        for error in errors
    ]
