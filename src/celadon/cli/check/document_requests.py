"""Documents to requests: what a client would ask of the API server with this object.

The endpoint follows from the kind (or from `--subresource`), the namespace from the object or from
`--namespace`, the operation from `--operation` or, with `--apply`, from what is there. What cannot
be asked becomes a `Problem`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

from celadon.admission import ADMIN, Operation, Request
from celadon.admission.write_requests import errors_of, request_of, write_options
from celadon.cli.check.check_report import Fault, Place
from celadon.cli.check.object_preparation import Begun, Endpoint, Prepare, StrayFields, endpoint_of
from celadon.cli.reading.documents import BUILD_FIRST, Document, Problem, crash
from celadon.kube import (
    FieldError,
    Json,
    JsonObject,
    Status,
    StatusError,
    User,
    fieldpath,
    metadata,
    status,
    well_known_values,
)
from celadon.kube.defaulting import LIMIT_RANGES, with_empty_values
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import Target, WriteOptions, patch, request_bodies
from celadon.kube.resources import Catalog, Lookups
from celadon.kube.schemas import DecodeError, EmptyValue
from celadon.records import dataclass

# --- What `kubectl apply` sends ----------------------------------------------
#
# What `kubectl apply` sends: a new object, or a patch of the one that is there.
#
# An object goes with its configuration in an annotation. If it is there already, what was in that
# annotation, what is in the file and what is in the cluster make a patch; where that is empty,
# nothing is sent. An existing object without a uid is a manifest, not something read from a
# cluster: it counts as applied in the same way.


class Applied(NamedTuple):
    """Holds what arrives at the server, and the object that is there."""

    begun: Begun
    stored_object: JsonDict | None = None


class Unchanged(NamedTuple):
    """Nothing does: the object is there as it should be."""

    stored_object: dict[str, object]


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
        patch.read_patched(result, target, prepare.context, request_bodies.IGNORE)
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
    """Return the document with the namespace that kubectl puts in, and the annotation."""
    from celadon.kube.fieldmanager import configured  # late: only `--old` and applies need it

    value = document.value
    if target.namespace and not metadata.namespace(value):
        value = {**value, "metadata": {**metadata.metadata(value), "namespace": target.namespace}}
    return replace(document, value=configured(value))


def _patched(expected: JsonObject, stored: JsonObject, target: Target) -> patch.Patched | None:
    from celadon.kube.fieldmanager import applied_configuration  # late: see `_configured`

    kind = target.kind
    live = {**stored, "apiVersion": kind.api_version, "kind": kind.kind}
    return patch.three_way_patched(live, applied_configuration(live), expected, target)


def _steps(error: StatusError) -> tuple[str | int, ...]:
    """Return where the value is that does not fit the kind."""
    cause = error.__cause__
    return cause.path.steps if isinstance(cause, DecodeError) else ()


_MANAGERS: Final = {Operation.CREATE: "kubectl-create", Operation.UPDATE: "kubectl-replace"}
"""Whom `kubectl create` and `kubectl replace` name as the field manager of what they send."""
_APPLIER: Final = "kubectl-client-side-apply"
"""The same of `kubectl apply`."""


@dataclass(frozen=True, slots=True)
class Question:
    """Holds what the command line says about every request. With `applies`, objects that are
    there are updated and others created, whatever the `operation`."""

    operation: Operation = Operation.CREATE
    applies: bool = False
    subresource: str = ""
    namespace: str = "default"
    user: User = ADMIN
    dry_run: bool = False
    field_validation: str = request_bodies.STRICT
    """What kubectl asks for."""


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """A request and the document it comes from; `stray` are fields of it that the object lacks. One
    that is `unchanged` is not sent. `begun` is the object where plugins, policies and webhooks have
    not changed it yet, who see it as the request has it. `forgiven` is what validation lets pass,
    for it was so before; `empties` are the values that it sees besides the object's."""

    document: Document
    request: Request
    endpoint: Endpoint
    target: Target
    stray: StrayFields | None = None
    unchanged: bool = False
    begun: Begun | None = None
    forgiven: list[str] = field(default_factory=list)
    empties: Sequence[EmptyValue] = ()

    def with_object(self, obj: JsonObject, empties: Sequence[EmptyValue] = ()) -> DocumentRequest:
        """Return the same question with what became of the object, which may have got a name on the
        way. Only who had none is asked about under that."""
        previous = self.request
        request = request_of(
            self.target,
            previous.operation,
            obj,
            previous.old_object,
            previous.user,
            previous.options,
            name=previous.name or metadata.name(obj),
            dry_run=previous.dry_run,
        )
        return replace(self, request=request, empties=empties)

    @property
    def title(self) -> str:
        """Return `Deployment shop/web`."""
        namespace = self.request.namespace if self.endpoint.namespaced else ""
        name = f"{namespace}/{self.request.name}" if namespace else self.request.name
        return f"{self.request.kind.kind} {name}"

    def crash(self, error: Exception) -> Problem:
        """Return what to say of an error of our own that this object brings about."""
        return crash(self.document.file, self.document.line(), f"judging {self.title}", error)


def user_info(name: str, groups: Sequence[str]) -> User:
    """Return the user as impersonation makes it: with the groups that come by themselves."""
    result = list(groups)
    if name.startswith(well_known_values.SERVICE_ACCOUNT_PREFIX) and not result:
        namespace = name.removeprefix(well_known_values.SERVICE_ACCOUNT_PREFIX).partition(":")[0]
        result = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    unauthenticated = (
        well_known_values.UNAUTHENTICATED
        if name == well_known_values.ANONYMOUS
        else well_known_values.AUTHENTICATED
    )
    if unauthenticated not in result and well_known_values.UNAUTHENTICATED not in result:
        result.append(unauthenticated)
    return User(name, tuple(result))


def ask(
    document: Document,
    question: Question,
    catalog: Catalog,
    olds: Mapping[tuple[str, str, str, str], Document],
    prepare: Prepare,
) -> DocumentRequest | Problem:
    """Return the request about one document."""
    endpoint = endpoint_of(document, question.subresource, catalog)
    if isinstance(endpoint, Problem):
        return endpoint
    if endpoint.is_stored and not _is_named(document):
        text = "resource name may not be empty"
        help = BUILD_FIRST if metadata.gvk(document.value).group == _KUSTOMIZE else ""
        return Problem(document.file, document.line(("metadata",)), text, help)
    value = document.value
    if prepare.is_without_definition(metadata.gvk(value).group_kind):
        return Problem(document.file, document.line(), _REFUSED_DEFINITION)
    namespace = ""
    if endpoint.namespaced:
        namespace = metadata.namespace(value) or question.namespace
    old: Document | None = None
    if question.applies or question.operation is Operation.UPDATE:
        old = olds.get(identity(document, question.namespace))
        if old is None and not question.applies:
            return _no_old(document, namespace)
    return _asked(document, question, endpoint, namespace, old, prepare)


_REFUSED_DEFINITION: Final = (
    "not judged: the CustomResourceDefinition of this kind is refused, so there is no such kind"
)

_KUSTOMIZE: Final = "kustomize.config.k8s.io"


def _is_named(document: Document) -> bool:
    return bool(metadata.name(document.value) or metadata.generate_name(document.value))


def identity(document: Document, namespace: str) -> tuple[str, str, str, str]:
    """Return what makes two documents the same object; versions do not count.

    `namespace` stands in where a document says none, also for kinds that have none.
    """
    kind = metadata.gvk(document.value)
    own_namespace = metadata.namespace(document.value) or namespace
    return kind.group, kind.kind, own_namespace, metadata.name(document.value)


class _Submission(NamedTuple):
    """Holds what is sent, and what is there; `document` is what the server has of it."""

    operation: Operation
    document: Document
    new: Any = None
    stored_object: Any = None
    begun: Begun | None = None
    unchanged: bool = False


def _asked(
    document: Document,
    question: Question,
    endpoint: Endpoint,
    namespace: str,
    old: Document | None,
    prepare: Prepare,
) -> DocumentRequest | Problem:
    value = document.value
    creates = old is None if question.applies else question.operation is Operation.CREATE
    target = Target(
        endpoint.entry,
        namespace,
        "" if creates and not endpoint.subresource else metadata.name(value),
        endpoint.subresource,
        prepare.custom_kind(endpoint.entry.gvk),
    )
    if question.applies:
        sent = _applied(document, old, target, prepare)
    else:
        sent = _sent(document, question.operation, old, endpoint, target, prepare)
    if isinstance(sent, Problem):
        return sent
    new = sent.new if sent.new is not None else sent.stored_object
    request = request_of(
        target,
        sent.operation,
        sent.new,
        sent.stored_object,
        question.user,
        _options(question, sent.operation),
        name=metadata.name(new) or metadata.name(value),
        dry_run=question.dry_run,
    )
    stray = None if sent.begun is None else sent.begun.stray
    return DocumentRequest(
        sent.document, request, endpoint, target, stray, sent.unchanged, sent.begun
    )


def _sent(
    document: Document,
    operation: Operation,
    old: Document | None,
    endpoint: Endpoint,
    target: Target,
    prepare: Prepare,
) -> _Submission | Problem:
    if operation is Operation.CONNECT:
        return _Submission(operation, document, _connect_options(document.value, endpoint))
    stored: Any = None
    if operation is not Operation.CREATE:
        stored = prepare.stored(document if old is None else old, target)
        if isinstance(stored, Problem):
            return stored
        if operation is Operation.DELETE:
            return _Submission(operation, document, None, stored)
    begun = prepare.begun(document, target, stored)
    if isinstance(begun, Problem):
        return begun
    return _begun(operation, begun, stored)


def _applied(
    document: Document, old: Document | None, target: Target, prepare: Prepare
) -> _Submission | Problem:
    operation = Operation.CREATE if old is None else Operation.UPDATE
    application = applied(document, old, target, prepare)
    if isinstance(application, Problem):
        return application
    if isinstance(application, Unchanged):
        return _Submission(
            operation,
            document,
            application.stored_object,
            application.stored_object,
            unchanged=True,
        )
    return _begun(operation, application.begun, application.stored_object)


def _begun(operation: Operation, begun: Begun, stored: JsonObject | None) -> _Submission:
    return _Submission(operation, begun.document, begun.value, stored, begun)


def _options(question: Question, operation: Operation) -> JsonDict | None:
    """Return the options object of the request as kubectl would send it; None for what has none of
    its own."""
    manager = _APPLIER if question.applies else _MANAGERS.get(operation)
    if manager is None:
        return None
    dry_run = ("All",) if question.dry_run else ()
    options = WriteOptions(dry_run, manager, question.field_validation)
    return write_options(operation, options)


def _connect_options(value: JsonObject, endpoint: Endpoint) -> dict[str, Json]:
    """Return the options object of a connection: the document, or an empty one for a document's
    object."""
    empty = request_bodies.connect_options(endpoint.kind, {})
    if value.get("kind") != endpoint.kind.kind:
        return empty
    return {**empty, **{key: item for key, item in value.items() if key != "metadata"}}


def _no_old(document: Document, namespace: str) -> Problem:
    name = metadata.name(document.value)
    where = f"{namespace}/{name}" if namespace else name
    return Problem(
        document.file,
        document.line(),
        f"no old object for {document.value['kind']} `{where}`",
        "none of those that `--old` gives has this kind and name; `--operation UPDATE` needs it",
    )


# --- Refusals ----------------------------------------------------------------
#
# What the API server refuses before it asks any policy.
#
# In its order: validation of the kind (422), then the LimitRanges of the namespace (403),
# unless all plugins are asked. Of subresources, only a changed status and a scale are validated.

COMPLETED_BY_THE_SERVER: Final = frozenset({"Job", "PersistentVolumeClaim", "Pod"})
"""Kinds of which a stored object has more than its manifest, all of it immutable."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer of the server; `faults` when it is about the object itself, `plugin` when a
    built-in plugin has something against it."""

    status: Status
    faults: tuple[Fault, ...] = ()
    plugin: str = ""


def refusal(document_request: DocumentRequest, prepare: Prepare) -> Refusal | None:
    """Return why it is refused before; None for what reaches the policies."""
    request = document_request.request
    if request.operation not in {Operation.CREATE, Operation.UPDATE}:
        return None
    validated = request.subresource in {"", "scale"} or (
        request.subresource == "status" and request.operation is Operation.UPDATE
    )
    if not validated or request.object is None:
        return None
    errors = _errors(document_request, prepare)
    if errors:
        invalid = status.invalid(request.kind.group_kind, request.name, errors).status
        return Refusal(invalid, tuple(_faults(document_request, errors)))
    if request.subresource or prepare.plugins is not None:
        return None
    refused = _limited(request, prepare.surroundings.lookups)
    return None if refused is None else Refusal(refused.status)


def refusal_of(error: StatusError, document_request: DocumentRequest) -> Refusal:
    """Return the refusal of whatever refuses an object while it is completed."""
    return Refusal(error.status, tuple(_faults(document_request, error.errors)))


def strictly_refused(document_request: DocumentRequest) -> Refusal | None:
    """Return the first of all refusals: of a document with fields that its kind does not have."""
    stray = document_request.stray
    if stray is None or not stray.is_refused:
        return None
    return Refusal(stray.refusal().status, tuple(stray.faults()))


def _limited(request: Request, lookups: Lookups) -> StatusError | None:
    """Return what the LimitRanges of the namespace say."""
    if not lookups.list(LIMIT_RANGES, request.namespace):
        return None
    from celadon.admission.plugins import within_limits  # late: few inputs have LimitRanges

    return within_limits(request, lookups)


def _errors(document_request: DocumentRequest, prepare: Prepare) -> Sequence[FieldError]:
    request, target = document_request.request, document_request.target
    old = request.old_object if request.operation is Operation.UPDATE else None
    new = request.object
    empties = document_request.empties
    completed = request.kind.kind in COMPLETED_BY_THE_SERVER and not request.subresource
    if old is not None and completed and not metadata.uid(document_request.document.value):
        created = prepare.created(document_request.document, replace(target, name=""))
        if isinstance(created, Problem):
            return ()
        new, old, empties = created.value, None, created.empties
    if new is None:
        return ()
    surroundings = replace(prepare.surroundings, forgiven=document_request.forgiven)
    if empties:
        new = with_empty_values(new, empties)
        old = None if old is None else with_empty_values(old, empties)
    return errors_of(target, new, old, surroundings)


def _faults(document_request: DocumentRequest, errors: Sequence[FieldError]) -> list[Fault]:
    document = document_request.document
    return [
        Fault(Place(document.file, document.line(error.path.steps)), error.field, error.body)
        for error in fieldpath.as_many_as_fit(errors, few=2)
    ]
