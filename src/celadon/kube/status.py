"""`Status`, the object an API server answers with when there is no other, and the error form of it.

One constructor per reason, with the texts of k8s.io/apimachinery `pkg/api/errors`. `details.kind`
is the plural resource in most of them and the kind in `invalid`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeGuard

from celadon.kube import name_rules
from celadon.kube.errors import KubeError
from celadon.kube.fieldpath import FieldError, aggregate, as_many_as_fit
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.names import GroupKind, GroupResource
from celadon.records import dataclass, field

SUCCESS: Final = "Success"
FAILURE: Final = "Failure"

CODES: Final = {
    "BadRequest": 400,
    "Unauthorized": 401,
    "Forbidden": 403,
    "NotFound": 404,
    "MethodNotAllowed": 405,
    "NotAcceptable": 406,
    "AlreadyExists": 409,
    "Conflict": 409,
    "Gone": 410,
    "Expired": 410,
    "RequestEntityTooLarge": 413,
    "UnsupportedMediaType": 415,
    "Invalid": 422,
    "TooManyRequests": 429,
    "InternalError": 500,
    "ServerTimeout": 500,
    "StoreReadError": 500,
    "ServiceUnavailable": 503,
    "Timeout": 504,
}
"""The reasons and the HTTP code each of them has by itself."""


@dataclass(frozen=True, slots=True)
class StatusCause:
    """Holds one of the reasons of a failure; `field` is the path that it is about, as text."""

    message: str = ""
    reason: str = ""
    field: str = ""

    def to_json(self) -> JsonDict:
        """Return what stands in `details.causes`; empty members are left out."""
        members = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in members.items() if value}


@dataclass(frozen=True, slots=True)
class StatusDetails:
    """Says what a failure is about. `kind` holds the resource's name in most failures, as upstream
    has it, and the kind in those of validation."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0

    def to_json(self) -> JsonDict:
        """Return what stands in `details`; empty members are left out, so it may be `{}`."""
        members = {
            "name": self.name,
            "group": self.group,
            "kind": self.kind,
            "uid": self.uid,
            "causes": [cause.to_json() for cause in self.causes],
            "retryAfterSeconds": self.retry_after_seconds,
        }
        return {key: value for key, value in members.items() if value}


def is_status(obj: object) -> TypeGuard[JsonObject]:
    """Return whether it is an answer without an object: custom kinds may have that name, too."""
    return isinstance(obj, dict) and (obj.get("apiVersion"), obj.get("kind")) == ("v1", "Status")


@dataclass(frozen=True, slots=True)
class Status:
    """Holds a Status, with which an API server answers where there is no other object. `code` 0, an
    empty `message`, `reason` and absent `details` are left out of the JSON."""

    status: str = FAILURE
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0
    metadata: JsonDict = field(default_factory=dict)

    def to_json(self) -> JsonDict:
        """Return the Status in the order in which a server writes it."""
        members: dict[str, object] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": dict(self.metadata),
            "status": self.status,
            "message": self.message,
            "reason": self.reason,
        }
        members = {key: value for key, value in members.items() if value or key == "metadata"}
        if self.details is not None:
            members["details"] = self.details.to_json()
        if self.code:
            members["code"] = self.code
        return members


class StatusError(KubeError):
    """Ends a request with an outcome that the client of an API server gets as a `Status`. `errors`
    are what is wrong with fields of the object, where that is what it is about."""

    def __init__(self, status: Status, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(status.message)
        self.status = status
        self.errors = tuple(errors)

    @property
    def code(self) -> int:
        """Return the HTTP status."""
        return self.status.code

    @property
    def reason(self) -> str:
        """Return the reason, one of the keys of `CODES`, or empty."""
        return self.status.reason


def _failure(reason: str, message: str, details: StatusDetails | None = None) -> StatusError:
    return StatusError(Status(FAILURE, message, reason, details, CODES[reason]))


def _of(resource: GroupResource, name: str, **more: Any) -> StatusDetails:  # noqa: ANN401 - members of a dataclass
    return StatusDetails(name=name, group=resource.group, kind=resource.resource, **more)


def bad_request(message: str) -> StatusError:
    """400: the request itself cannot be understood; the message is sent as it is."""
    return _failure("BadRequest", message)


def require_name(name: str) -> None:
    """Check a name. Raises StatusError (400) for a name that no object can have, before it is
    looked for."""
    if not name:
        raise bad_request("Name parameter required.")
    faults = name_rules.path_segment_name(name)
    if faults:
        raise bad_request(f"Name parameter invalid: {quote(name)}: {';'.join(faults)}")


def unauthorized(message: str = "Unauthorized") -> StatusError:
    """Return a 401: nobody knows who asks."""
    return _failure("Unauthorized", message)


def forbidden_message(resource: GroupResource, name: str, reason: str) -> str:
    """Return the text of a refusal; a name or a resource that is not known is left out of it."""
    if not resource.resource:
        return f"forbidden: {reason}"
    if not name:
        return f"{resource} is forbidden: {reason}"
    return f"{resource} {quote(name)} is forbidden: {reason}"


def forbidden(resource: GroupResource, name: str, reason: str) -> StatusError:
    """403; `reason` follows `pods "x" is forbidden: `."""
    return _failure("Forbidden", forbidden_message(resource, name, reason), _of(resource, name))


def not_found(resource: GroupResource, name: str) -> StatusError:
    """Return a 404 for an object."""
    return _failure("NotFound", f"{resource} {quote(name)} not found", _of(resource, name))


def namespace_required() -> StatusError:
    """Return the refusal of what is kept in a namespace where none is named."""
    return bad_request("Namespace parameter required.")


def route_not_found() -> StatusError:
    """Return a 404 where there is no such resource or path."""
    message = "the server could not find the requested resource"
    return _failure("NotFound", message, StatusDetails())


def method_not_allowed() -> StatusError:
    """Return a path that exists, with a method it does not have."""
    message = "the server does not allow this method on the requested resource"
    return _failure("MethodNotAllowed", message, StatusDetails())


def verb_not_supported(resource: GroupResource, verb: str) -> StatusError:
    """Return a 405 for a resource without this verb."""
    message = f"{verb} is not supported on resources of kind {quote(str(resource))}"
    return _failure("MethodNotAllowed", message, _of(resource, ""))


def not_acceptable(media_types: Sequence[str]) -> StatusError:
    """406; `media_types` are those that the endpoint can answer in."""
    message = f"only the following media types are accepted: {', '.join(media_types)}"
    return _failure("NotAcceptable", message)


def already_exists(
    resource: GroupResource, name: str, *, being_deleted: bool = False, generates: bool = False
) -> StatusError:
    """409 for a create; `being_deleted` if the object only waits for its finalizers. What
    `generates` has a `generateName`, perhaps beside a name: try again in a second."""
    prefix = "object is being deleted: " if being_deleted else ""
    reason = (
        ", the server was not able to generate a unique name for the object" if generates else ""
    )
    message = f"{prefix}{resource} {quote(name)} already exists{reason}"
    details = _of(resource, name, retry_after_seconds=1) if generates else _of(resource, name)
    return _failure("AlreadyExists", message, details)


def conflict(resource: GroupResource, name: str, reason: str) -> StatusError:
    """Return the error about a conflict; for delete preconditions upstream passes the kind in place
    of the resource."""
    message = f"Operation cannot be fulfilled on {resource} {quote(name)}: {reason}"
    return _failure("Conflict", message, _of(resource, name))


def modified(resource: GroupResource, name: str) -> StatusError:
    """Return a 409 for a stale `metadata.resourceVersion`."""
    reason = (
        "the object has been modified; please apply your changes to the latest version and try "
        "again"
    )
    return conflict(resource, name, reason)


def expired(message: str) -> StatusError:
    """410: the revision or the continue token is too old."""
    return _failure("Expired", message)


def request_entity_too_large(reason: str) -> StatusError:
    """Return a 413; `reason` names the limit."""
    return _failure("RequestEntityTooLarge", f"Request entity too large: {reason}")


class Unroutable(StatusError):
    """A refusal of the router, which comes before anything is known of the resource."""


def no_route_reads() -> StatusError:
    """415 of the router, for a type of bodies that no route of the path reads."""
    return _unroutable(415, "UnsupportedMediaType", "415: Unsupported Media Type")


def no_route_answers(media_types: Sequence[str]) -> StatusError:
    """406 of the router; `media_types` are those that the routes answer in which are left."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(media_types)}"
    return _unroutable(406, "NotAcceptable", message)


def _unroutable(code: int, reason: str, message: str) -> StatusError:
    failed = Status(message=message, reason=reason, details=StatusDetails(), code=code)
    return Unroutable(failed)


def unsupported_media_type(media_types: Sequence[str]) -> StatusError:
    """415; `media_types` are those that can be read."""
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(media_types)
    )
    return _failure("UnsupportedMediaType", message)


_OUTER_EVENT: Final = GroupKind("events.k8s.io", "Event")


def invalid(kind: GroupKind, name: str, errors: Sequence[FieldError]) -> StatusError:
    """422 with one cause per error; the message names repeated errors once. It is about the kind
    that a server has inside: there are only Events of the core group there. Errors are left out
    behind `MOST_ERROR_TEXT`: each of a hundred thousand may show the value of all."""
    if kind == _OUTER_EVENT:
        kind = GroupKind("", kind.kind)
    errors = as_many_as_fit(errors, few=2)  # one shows no more than was sent
    message = f"{kind} {quote(name)} is invalid"
    if errors:
        message = f"{message}: {aggregate(errors)}"
    causes = tuple(StatusCause(error.body, error.type.value, error.field) for error in errors)
    details = StatusDetails(name=name, group=kind.group, kind=kind.kind, causes=causes)
    return StatusError(Status(FAILURE, message, "Invalid", details, CODES["Invalid"]), errors)


def too_many_requests(reason: str, retry_after_seconds: int = 0) -> StatusError:
    """429, with the seconds to wait, if they are known."""
    waiting = StatusDetails(retry_after_seconds=retry_after_seconds)
    details = waiting if retry_after_seconds else None
    return _failure("TooManyRequests", f"Too many requests: {reason}", details)


def internal_error(reason: str) -> StatusError:
    """500; `reason` follows `Internal error occurred: `."""
    details = StatusDetails(causes=(StatusCause(reason),))
    return _failure("InternalError", f"Internal error occurred: {reason}", details)


def plain_error(message: str) -> StatusError:
    """500 without a reason: what becomes of an error that is not a Status."""
    return StatusError(Status(FAILURE, message, code=500))


def service_unavailable(message: str) -> StatusError:
    """Return a 503; the message is sent as it is."""
    return _failure("ServiceUnavailable", message)


def timeout(reason: str, retry_after_seconds: int = 0) -> StatusError:
    """504 for a request that took too long; 0 seconds: do not try again."""
    details = StatusDetails(retry_after_seconds=retry_after_seconds)
    return _failure("Timeout", f"Timeout: {reason}", details)
