"""What `kubectl apply` sends: a new object, or a patch of the one that is there.

An object goes with its configuration in an annotation. If it is there already, what was in that
annotation, what is in the file and what is in the cluster make a patch; where that is empty,
nothing is sent. An existing object without a uid is a manifest, not something read from a cluster:
it counts as applied in the same way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from celadon.cli.check.object_preparation import Begun, Prepare
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject, StatusError, metadata
from celadon.kube.fieldmanager import applied_configuration, configured
from celadon.kube.registry import Target, patch, request_options
from celadon.kube.schemas import DecodeError


class Applied(NamedTuple):
    """This is what arrives at the server, and the object that is there."""

    begun: Begun
    stored: dict[str, Any] | None = None


class Unchanged(NamedTuple):
    """Nothing does: the object is there as it should be."""

    stored: dict[str, object]


def applied(
    document: Document, old: Document | None, target: Target, prepare: Prepare
) -> Applied | Unchanged | Problem:
    """`old` is the object as it is now, if it is there."""
    if not metadata.name(document.value):
        text = "cannot use generate name with apply"
        return Problem(document.file, document.line(("metadata",)), text)
    sent = _configured(document, target)
    if old is None:
        begun = prepare.begun(sent, replace(target, name=""))
        return begun if isinstance(begun, Problem) else Applied(begun)
    stored = prepare.stored(old if metadata.uid(old.value) else _configured(old, target), target)
    if isinstance(stored, Problem):
        return stored
    try:
        result = _patched(sent.value, stored, target)
        if result is None:
            return Unchanged(stored)
        patch.read_patched(result, target, prepare.context, request_options.IGNORE)
    except StatusError as error:
        return Problem(document.file, document.line(_steps(error)), str(error))
    return _updated(replace(document, value=result.document), result, target, stored, prepare)


def _updated(
    document: Document,
    result: patch.Patched,
    target: Target,
    stored: dict[str, object],
    prepare: Prepare,
) -> Applied | Problem:
    begun = prepare.begun(document, target, stored)
    if isinstance(begun, Problem):
        return begun
    stray = None if begun.stray is None else replace(begun.stray, patched=result)
    return Applied(begun._replace(stray=stray), stored)


def _configured(document: Document, target: Target) -> Document:
    """With the namespace that kubectl puts in, and the annotation."""
    value = document.value
    if target.namespace and not metadata.namespace(value):
        value = {**value, "metadata": {**metadata.metadata(value), "namespace": target.namespace}}
    return replace(document, value=configured(value))


def _patched(wanted: JsonObject, stored: JsonObject, target: Target) -> patch.Patched | None:
    kind = target.kind
    live = {**stored, "apiVersion": kind.api_version, "kind": kind.kind}
    return patch.three_way_patched(live, applied_configuration(live), wanted, target)


def _steps(error: StatusError) -> tuple[str | int, ...]:
    """Return where the value is that does not fit the kind."""
    cause = error.__cause__
    return cause.path.steps if isinstance(cause, DecodeError) else ()
