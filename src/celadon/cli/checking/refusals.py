"""What the API server refuses before it asks any policy.

In its order: validation of the kind (422), then the LimitRanges of the namespace (403), unless all
plugins are asked. Objects of subresources are not validated, except that a scale must not be
negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from celadon.admission import Operation, Request
from celadon.admission.writing import errors_of
from celadon.cli.checking.check_report import Fault, Place
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.questions import Asked
from celadon.cli.reading.problems import Problem
from celadon.kube import FieldError, Status, StatusError, metadata, status
from celadon.kube.catalogue import Lookups
from celadon.kube.defaulting import LIMIT_RANGES, with_empty_values
from celadon.records import dataclass

COMPLETED_BY_THE_SERVER: Final = frozenset({"Job", "PersistentVolumeClaim", "Pod"})
"""Kinds of which a stored object has more than its manifest, all of it immutable."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer of the server; `faults` when it is about the object itself, `plugin` when a
    built-in plugin has something against it."""

    status: Status
    faults: tuple[Fault, ...] = ()
    plugin: str = ""


def refusal(asked: Asked, prepare: Prepare) -> Refusal | None:
    """None for what reaches the policies."""
    request = asked.request
    if request.operation not in {Operation.CREATE, Operation.UPDATE}:
        return None
    if request.subresource not in {"", "scale"} or request.object is None:
        return None
    errors = _errors(asked, prepare)
    if errors:
        found = status.invalid(request.kind.group_kind, request.name, errors).status
        return Refusal(found, tuple(_faults(asked, errors)))
    if request.subresource or prepare.plugins is not None:
        return None
    refused = _limited(request, prepare.surroundings.lookups)
    return None if refused is None else Refusal(refused.status)


def refusal_of(error: StatusError, asked: Asked) -> Refusal:
    """That of whatever refuses an object while it is completed."""
    return Refusal(error.status, tuple(_faults(asked, error.errors)))


def strictly_refused(asked: Asked) -> Refusal | None:
    """The first of all refusals: of a document with fields that its kind does not have."""
    stray = asked.stray
    if stray is None or not stray.is_refused:
        return None
    return Refusal(stray.refusal().status, tuple(stray.faults()))


def _limited(request: Request, lookups: Lookups) -> StatusError | None:
    """What the LimitRanges of the namespace say."""
    if not lookups.list(LIMIT_RANGES, request.namespace):
        return None
    from celadon.admission.plugins import within_limits  # late: few inputs have LimitRanges

    return within_limits(request, lookups)


def _errors(asked: Asked, prepare: Prepare) -> Sequence[FieldError]:
    request, target = asked.request, asked.target
    old = request.old_object if request.operation is Operation.UPDATE else None
    new = request.object
    empties = asked.empties
    completed = request.kind.kind in COMPLETED_BY_THE_SERVER and not request.subresource
    if old is not None and completed and not metadata.uid(asked.document.value):
        made = prepare.created(asked.document, replace(target, name=""))
        if isinstance(made, Problem):
            return ()
        new, old, empties = made.value, None, made.empties
    if new is None:
        return ()
    surroundings = replace(prepare.surroundings, forgiven=asked.forgiven)
    if empties:
        new = with_empty_values(new, empties)
        old = None if old is None else with_empty_values(old, empties)
    return errors_of(target, new, old, surroundings)


def _faults(asked: Asked, errors: Sequence[FieldError]) -> list[Fault]:
    document = asked.document
    return [
        Fault(Place(document.file, document.line(error.path.steps)), error.field, error.body)
        for error in errors
    ]
