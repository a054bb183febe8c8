"""What the controller of a workload would send, as a document beside that of the workload.

Its fields stand where the template stands that they were copied from, so that what is wrong with a
pod is shown at its line of the workload.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from celadon.admission import Operation, Request
from celadon.cli.checking.check_report import Creator, ObjectResult
from celadon.cli.checking.object_preparation import PLACEHOLDER_UID
from celadon.cli.checking.questions import Asked
from celadon.cli.reading.documents import Document
from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import known_resources
from celadon.kube.workload_controllers import CLAIM, CreatedObject, created_objects
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

    @property
    def is_claim(self) -> bool:
        """Whether it is only created if there is none of its name."""
        return self.request.kind.kind == CLAIM

    def next(self) -> Sequence[SentByController]:
        """What is created of it, if it is admitted as it is."""
        owner = self.document
        found = created_objects(as_stored(owner.value))
        return [_sent(one, owner, self.creator, self.count) for one in found]


def as_stored(value: JsonObject) -> JsonObject:
    """An object that is passed over, with what those that it owns need of it."""
    return {**value, "metadata": {**value["metadata"], "uid": PLACEHOLDER_UID}}


def sent_by_controller(
    one: Asked, result: ObjectResult, sender: SentByController | None
) -> Sequence[SentByController]:
    """For a workload that was admitted, as it was stored; nothing for what no controller looks at.
    `sender` is what has created the workload itself. The last is only sent if all before it are
    admitted."""
    request = one.request
    if request.operation not in _WRITES or request.subresource or request.object is None:
        return ()
    found = created_objects(request.object)
    if sender is None:
        creator, count = Creator(one.title, result.place, "", 1), 1
    else:
        creator = replace(sender.creator, depth=sender.creator.depth + 1)
        count = sender.count
    return [_sent(each, one.document, creator, count) for each in found]


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
