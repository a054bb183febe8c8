"""An event to the request that it tells of, or why that cannot be told.

Admission sees an object as it is stored: that is the answer's, where the event has it. Where it
only has the request's, it is filled in as `celadon check` does it. The old object is in no event.
What an event does not have is never made up: such a request is undecidable, and counted with the
reason.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from celadon.admission import Operation, Request, default_options
from celadon.admission.incomplete import Missing
from celadon.admission.webhooks import MUTATION
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import Chunk
from celadon.cli.reading.problems import Problem
from celadon.cli.replay.audit_logs import LoggedEvent
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User, metadata
from celadon.kube.resources import Catalog
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
_REFUSED: Final = 400
_TOO_LARGE: Final = "skipped-too-big-size-object"
"""What AKS has instead of an object."""
_OTHER_FORMS: Final = "meta.k8s.io/"
"""Of answers that are not the object: tables, and metadata alone."""
_CLOCKS: Final = timedelta(minutes=1)
"""By which those of two machines may differ."""


class Undecidable(enum.Enum):
    """This is why nothing can be said about a request that a policy may be about."""

    METADATA = "the log has no objects of it (level Metadata)"
    TRUNCATED = "its objects were too large for the log"
    NO_OBJECT = "the log does not have its object"
    PATCH = "a patch, whose object is not in the log (level Request)"
    APPLIED = "a patch that may have created its object: the log has no HTTP code"
    MUTATED = "a webhook has changed its object, and the log has it as it was sent"
    COLLECTION = "it deletes a collection, whose objects are not in the log"
    CONNECTION = "it opens a connection, whose options are not in the log"
    KIND = "nobody knows the kind of its resource"
    UNUSABLE = "its object cannot be read"
    MISSING = "it depends on what is not in the log (the old object, the user's groups, the roles)"


@dataclass(frozen=True, slots=True)
class Logged:
    """This is what an event says of its request without its objects."""

    event: JsonObject
    operation: Operation
    resource: GroupVersionResource
    subresource: str
    namespace: str
    name: str
    user: User
    missing: tuple[Missing, ...]
    may_create: bool = False
    """Whether an update may have been a creation just as well."""

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
        """Return whether nothing was to happen."""
        query = parse_qs(urlsplit(text(self.event.get("requestURI"))).query)
        return "All" in query.get("dryRun", ())


def mapping(value: object) -> JsonObject:
    """Empty for what is none."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """Empty for what is none."""
    return value if isinstance(value, str) else ""


def logged(found: LoggedEvent) -> Logged | None:
    """Return what is written, or connected to; None for what only reads."""
    event = found.value
    reference = mapping(event.get("objectRef"))
    subresource = text(reference.get("subresource"))
    verb = text(event.get("verb"))
    operation = _OPERATIONS.get(verb)
    if subresource in _CONNECTIONS:
        operation = Operation.CONNECT
    if operation is None or not reference.get("resource"):
        return None
    code = mapping(event.get("responseStatus")).get("code")
    if operation is Operation.UPDATE and code == _CREATED:
        operation = Operation.CREATE  # what was applied, or put, was not there
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
    may_create = verb == "patch" and not subresource and _may_create(event, code)
    lacks = tuple(missing)
    return Logged(event, operation, resource, subresource, namespace, name, user, lacks, may_create)


def _may_create(event: JsonObject, code: object) -> bool:
    """Return whether a patch (what is applied is one) may have created its object: of one that was
    refused nobody knows, of others the code tells, or that the object is much older."""
    if isinstance(code, int) and code:
        return code >= _REFUSED
    about = mapping(mapping(event.get("responseObject")).get("metadata"))
    try:
        begun = datetime.fromisoformat(text(about.get("creationTimestamp")))
        return begun + _CLOCKS > datetime.fromisoformat(text(event.get("stageTimestamp")))
    except (ValueError, TypeError):
        return True


def _user(given: JsonObject) -> User:
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
    """Return what admission sees there: as the catalogue knows it, or as the objects of the event
    say."""
    known = catalog.kind_of(one.resource, one.subresource)
    if known is not None:
        return known
    for name in ("responseObject", "requestObject"):
        kind = metadata.gvk(one.event.get(name))
        if kind.kind not in ("", "Status", "DeleteOptions") and kind.version:
            return kind
    return None


def target_requests(one: Logged, kind: GroupVersionKind) -> Iterator[Request]:
    """Yield what the request may be, without objects: enough to know which policies may be about
    it."""
    yield _target_request(one, kind, one.operation)
    if one.may_create:
        yield _target_request(one, kind, Operation.CREATE)


def _target_request(one: Logged, kind: GroupVersionKind, operation: Operation) -> Request:
    return Request(
        operation=operation,
        kind=kind,
        resource=one.resource,
        subresource=one.subresource,
        name=one.name,
        namespace=one.namespace,
        user=one.user,
        dry_run=one.dry_run,
        options=default_options(operation, dry_run=one.dry_run),
    )


def request_of_event(
    one: Logged, kind: GroupVersionKind, prepare: Prepare
) -> Request | Undecidable:
    """The request as admission has seen it, as far as the event tells."""
    event = one.event
    request = _target_request(one, kind, one.operation)
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
    answer, given = event.get("responseObject"), event.get("requestObject")
    if _TOO_LARGE in (answer, given):
        return Undecidable.TRUNCATED
    if isinstance(answer, dict) and answer and not _is_other(answer):
        if one.may_create:
            return Undecidable.APPLIED
        return {"apiVersion": kind.api_version, "kind": kind.kind, **answer}
    if event.get("verb") == "patch":
        return Undecidable.PATCH
    if not isinstance(given, dict) or not given:
        return Undecidable.NO_OBJECT
    if _is_mutated(event):
        return Undecidable.MUTATED
    return _filled_in({"apiVersion": kind.api_version, "kind": kind.kind, **given}, one, prepare)


def _is_other(answer: JsonObject) -> bool:
    """Return whether an answer is not the object, whatever the resource."""
    version = text(answer.get("apiVersion"))
    return answer.get("kind") == "Status" or version.startswith(_OTHER_FORMS)


def _is_mutated(event: JsonObject) -> bool:
    """Return whether a mutating webhook says so in the annotations."""
    return any(
        key.startswith(MUTATION) and '"mutated":true' in text(value)
        for key, value in mapping(event.get("annotations")).items()
    )


def _filled_in(
    value: dict[str, object], one: Logged, prepare: Prepare
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
