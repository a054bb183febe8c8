"""An event to the request that it tells of, or why that cannot be told.

Admission sees an object as it is stored: that is the answer's, where the event has it. Where it
only has the request's, it is filled in as `celadon check` does it. The old object is in no event.
What an event does not have is never made up: such a request is undecidable, and counted with the
reason.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from celadon.admission import Operation, Request, default_options
from celadon.admission.incomplete import Missing
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import Chunk
from celadon.cli.reading.problems import Problem
from celadon.cli.replaying.cloud_wrappers import LoggedEvent
from celadon.kube import GroupVersionKind, GroupVersionResource, User, metadata
from celadon.kube.catalogue import Catalog
from celadon.kube.well_known_values import NAMESPACES
from celadon.records import dataclass

_TRUNCATED: Final = "audit.k8s.io/truncated"
_WITH_OBJECTS: Final = frozenset({"Request", "RequestResponse"})
_CONNECTIONS: Final = ("exec", "attach", "portforward", "proxy")
_OPERATIONS: Final = {
    "create": Operation.CREATE,
    "update": Operation.UPDATE,
    "patch": Operation.UPDATE,
    "delete": Operation.DELETE,
    "deletecollection": Operation.DELETE,
}
_CREATED: Final = 201


class Undecidable(enum.Enum):
    """Why nothing can be said about a request that a policy may be about."""

    METADATA = "the log has no objects of it (level Metadata)"
    TRUNCATED = "its objects were too large for the log"
    NO_OBJECT = "the log does not have its object"
    PATCH = "a patch, whose object is not in the log (level Request)"
    COLLECTION = "it deletes a collection, whose objects are not in the log"
    CONNECTION = "it opens a connection, whose options are not in the log"
    KIND = "nobody knows the kind of its resource"
    UNUSABLE = "its object cannot be read"
    MISSING = "it depends on what is not in the log (the old object, the user's groups)"


@dataclass(frozen=True, slots=True)
class Logged:
    """What an event says of its request without its objects."""

    event: Mapping[str, Any]
    operation: Operation
    resource: GroupVersionResource
    subresource: str
    namespace: str
    name: str
    user: User
    missing: tuple[Missing, ...]

    @property
    def code(self) -> int:
        """The HTTP code of the answer; 0 where there is none."""
        code = mapping(self.event.get("responseStatus")).get("code")
        return code if isinstance(code, int) else 0

    @property
    def time(self) -> str:
        """When the request came."""
        event = self.event
        return text(event.get("requestReceivedTimestamp") or event.get("stageTimestamp"))

    @property
    def dry_run(self) -> bool:
        """Whether nothing was to happen."""
        query = parse_qs(urlsplit(text(self.event.get("requestURI"))).query)
        return "All" in query.get("dryRun", ())


def mapping(value: object) -> dict[str, Any]:
    """Empty for what is none."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """Empty for what is none."""
    return value if isinstance(value, str) else ""


def logged(found: LoggedEvent) -> Logged | None:
    """What is written, or connected to; None for what only reads."""
    event = found.value
    reference = mapping(event.get("objectRef"))
    subresource = text(reference.get("subresource"))
    operation = _OPERATIONS.get(text(event.get("verb")))
    if subresource in _CONNECTIONS and event.get("verb") in ("create", "get"):
        operation = Operation.CONNECT
    if operation is None or not reference.get("resource"):
        return None
    code = mapping(event.get("responseStatus")).get("code")
    if event.get("verb") == "patch" and code == _CREATED:
        operation = Operation.CREATE  # server-side apply of what was not there
    missing = [] if found.knows_groups else [Missing.GROUPS]
    if operation in (Operation.UPDATE, Operation.DELETE):
        missing.append(Missing.OLD_OBJECT)
    resource = GroupVersionResource(
        text(reference.get("apiGroup")),
        text(reference.get("apiVersion")),
        text(reference.get("resource")),
    )
    name = text(reference.get("name"))
    namespace = text(reference.get("namespace"))
    if resource == NAMESPACES:
        namespace = name
    user = _user(mapping(event.get("impersonatedUser")) or mapping(event.get("user")))
    return Logged(event, operation, resource, subresource, namespace, name, user, tuple(missing))


def _user(given: Mapping[str, Any]) -> User:
    groups, extra = given.get("groups"), given.get("extra")
    return User(
        text(given.get("username")),
        tuple(filter(None, map(text, groups))) if isinstance(groups, list) else (),
        text(given.get("uid")),
        {
            key: tuple(map(text, values))
            for key, values in mapping(extra).items()
            if isinstance(values, list)
        },
    )


def kind_of(one: Logged, catalog: Catalog) -> GroupVersionKind | None:
    """What admission sees there: as the catalogue knows it, or as the objects of the event say."""
    known = catalog.kind_of(one.resource, one.subresource)
    if known is not None:
        return known
    for name in ("responseObject", "requestObject"):
        kind = metadata.gvk(one.event.get(name))
        if kind.kind not in ("", "Status", "DeleteOptions") and kind.version:
            return kind
    return None


def target_request(one: Logged, kind: GroupVersionKind) -> Request:
    """The request without objects: enough to know which policies may be about it."""
    return Request(
        operation=one.operation,
        kind=kind,
        resource=one.resource,
        subresource=one.subresource,
        name=one.name,
        namespace=one.namespace,
        user=one.user,
        dry_run=one.dry_run,
        options=default_options(one.operation, dry_run=one.dry_run),
    )


def request_of_event(
    one: Logged, kind: GroupVersionKind, prepare: Prepare
) -> Request | Undecidable:
    """The request as admission has seen it, as far as the event tells."""
    event = one.event
    request = target_request(one, kind)
    if one.operation is Operation.DELETE:
        collection = event.get("verb") == "deletecollection" or not one.name
        return Undecidable.COLLECTION if collection else request
    if one.operation is Operation.CONNECT:
        return Undecidable.CONNECTION
    found = _object(one, kind, prepare)
    if isinstance(found, Undecidable):
        return found
    request.object = found
    request.name = one.name or metadata.name(found)
    if one.resource == NAMESPACES:
        request.namespace = request.name
    return request


def _object(one: Logged, kind: GroupVersionKind, prepare: Prepare) -> dict[str, Any] | Undecidable:
    event = one.event
    if mapping(event.get("annotations")).get(_TRUNCATED) == "true":
        return Undecidable.TRUNCATED
    if event.get("level") not in _WITH_OBJECTS:
        return Undecidable.METADATA
    answer = event.get("responseObject")
    if isinstance(answer, dict) and answer and answer.get("kind") != "Status":
        return {"apiVersion": kind.api_version, "kind": kind.kind, **answer}
    if event.get("verb") == "patch":
        return Undecidable.PATCH
    given = event.get("requestObject")
    if not isinstance(given, dict) or not given:
        return Undecidable.NO_OBJECT
    return _filled_in({"apiVersion": kind.api_version, "kind": kind.kind, **given}, one, prepare)


def _filled_in(
    value: dict[str, Any], one: Logged, prepare: Prepare
) -> dict[str, Any] | Undecidable:
    """With its defaults, as if it were created now; what goes to a subresource is as it is."""
    if one.subresource:
        return value
    namespace = "" if one.resource == NAMESPACES else one.namespace
    document = Document(Chunk("", "{}", 1, 0, is_json=True), (), value)
    target = prepare.target(metadata.gvk(value), namespace)
    made = prepare.created(document, target)
    if isinstance(made, Problem):
        return Undecidable.UNUSABLE
    return made.value
