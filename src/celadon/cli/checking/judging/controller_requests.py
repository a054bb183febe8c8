"""What the controller of a workload would send, as a document beside that of the workload.

Its fields stand where the template stands that they were copied from, so that what is wrong with a
pod is shown at its line of the workload.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from celadon.admission import Operation, Request
from celadon.cli.checking.check_report import Creator, ObjectResult
from celadon.cli.checking.object_preparation import PLACEHOLDER_UID
from celadon.cli.checking.questions import Asked
from celadon.cli.reading.documents import Document
from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import known_resources
from celadon.kube.workload_controllers import CreatedObject, created_object
from celadon.records import dataclass

_WRITES: Final = frozenset({Operation.CREATE, Operation.UPDATE})
_BETWEEN: Final = "ReplicaSet"
"""As valid as the Deployment that it is made of."""


@dataclass(frozen=True, slots=True)
class SentByController:
    """An object that a controller creates; `count` is how many of them are wanted. `request` is
    about the object as it is sent."""

    document: Document
    creator: Creator
    request: Request
    count: int

    @property
    def is_between(self) -> bool:
        """Whether it is only on the way to a Pod, and cannot be invalid."""
        return self.request.kind.kind == _BETWEEN

    def next(self) -> SentByController | None:
        """What is created of it, if it is admitted as it is."""
        found = created_object(as_stored(self.document.value))
        return None if found is None else _sent(found, self.document, self.creator, self.count)


def as_stored(value: JsonObject) -> JsonObject:
    """An object that is passed over, with what those that it owns need of it."""
    return {**value, "metadata": {**value["metadata"], "uid": PLACEHOLDER_UID}}


def sent_by_controller(
    one: Asked, result: ObjectResult, sender: SentByController | None
) -> SentByController | None:
    """For a workload that was admitted, as it was stored; None for what no controller looks at.
    `sender` is what has created the workload itself."""
    request = one.request
    if request.operation not in _WRITES or request.subresource or request.object is None:
        return None
    found = created_object(request.object)
    if found is None:
        return None
    if sender is None:
        return _sent(found, one.document, Creator(one.title, result.place, "", 1), 1)
    creator = replace(sender.creator, depth=sender.creator.depth + 1)
    return _sent(found, one.document, creator, sender.count)


def _sent(found: CreatedObject, owner: Document, creator: Creator, count: int) -> SentByController:
    value = found.value
    document = Document(owner.chunk, (*owner.path, *found.template), value)
    return SentByController(
        document,
        replace(creator, user=found.user.name),
        _request(found, value),
        count * found.count,
    )


def _request(found: CreatedObject, value: JsonObject) -> Request:
    kind = metadata.gvk(value)
    resource = known_resources().by_gvk(kind)
    assert resource is not None, "controllers create what every server knows"
    return Request(
        Operation.CREATE,
        kind,
        resource.gvr,
        "",
        metadata.name(value),
        metadata.namespace(value),
        value,
        user=found.user,
    )
