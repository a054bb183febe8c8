"""Documents to requests: what a client would ask of the API server with this object.

The endpoint follows from the kind (or from `--subresource`), the namespace from the object or from
`--namespace`, the operation from `--operation` or, with `--apply`, from what is there. What cannot
be asked becomes a `Problem`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from celadon.admission import (
    ADMIN,
    Operation,
    Request,
)
from celadon.admission.writing import request_of, write_options
from celadon.cli.checking.object_preparation import Made, Prepare
from celadon.cli.checking.sending.endpoints import Endpoint, endpoint_of
from celadon.cli.checking.sending.field_validation import StrayFields
from celadon.cli.crashes import crash
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject, User, metadata
from celadon.kube.catalogue import Catalog
from celadon.kube.registry import Target, WriteOptions, request_options
from celadon.kube.schemas import EmptyValue
from celadon.kube.well_known_values import (
    ANONYMOUS,
    AUTHENTICATED,
    SERVICE_ACCOUNT_PREFIX,
    UNAUTHENTICATED,
)
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.checking.server_plugins.plugin_desk import PluginAnswer

_MANAGERS: Final = {Operation.CREATE: "kubectl-create", Operation.UPDATE: "kubectl-replace"}
"""Whom `kubectl create` and `kubectl replace` name as the field manager of what they send."""
_UNDRAFTED: Final = frozenset({Operation.DELETE, Operation.CONNECT})
"""Operations without an object that a plugin could change."""
_APPLIER: Final = "kubectl-client-side-apply"
"""The same of `kubectl apply`."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line says about every request. With `applies`, objects that are there are
    updated and others created, whatever the `operation`."""

    operation: Operation = Operation.CREATE
    applies: bool = False
    subresource: str = ""
    namespace: str = "default"
    user: User = ADMIN
    dry_run: bool = False
    field_validation: str = request_options.STRICT
    """What kubectl asks for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and the document it comes from; `stray` are fields of it that the object lacks,
    `said` is what plugins say of it before policies see it. One that is `unchanged` is not sent.
    `forgiven` is what validation lets pass, for it was so before; `empties` are the values that it
    sees besides the object's."""

    document: Document
    request: Request
    endpoint: Endpoint
    target: Target
    stray: StrayFields | None = None
    unchanged: bool = False
    forgiven: list[str] = field(default_factory=list)
    said: PluginAnswer | None = None
    empties: Sequence[EmptyValue] = ()

    @property
    def title(self) -> str:
        """`Deployment shop/web`."""
        namespace = self.request.namespace if self.endpoint.namespaced else ""
        name = f"{namespace}/{self.request.name}" if namespace else self.request.name
        return f"{self.request.kind.kind} {name}"

    def crash(self, error: Exception) -> Problem:
        """What to say of an error of our own that this object brings about."""
        return crash(self.document.file, self.document.line(), f"judging {self.title}", error)


def user_info(name: str, groups: Sequence[str]) -> User:
    """The user as impersonation makes it: with the groups that come by themselves."""
    found = list(groups)
    if name.startswith(SERVICE_ACCOUNT_PREFIX) and not found:
        namespace = name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")[0]
        found = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    own = UNAUTHENTICATED if name == ANONYMOUS else AUTHENTICATED
    if own not in found and UNAUTHENTICATED not in found:
        found.append(own)
    return User(name, tuple(found))


def ask(
    document: Document,
    question: Question,
    catalog: Catalog,
    olds: Mapping[tuple[str, str, str, str], Document],
    prepare: Prepare,
) -> Asked | Problem:
    """The request about one document."""
    endpoint = endpoint_of(document, question.subresource, catalog)
    if isinstance(endpoint, Problem):
        return endpoint
    if endpoint.stored and not _is_named(document):
        text = "resource name may not be empty"
        return Problem(document.file, document.line(("metadata",)), text)
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


def _is_named(document: Document) -> bool:
    return bool(metadata.name(document.value) or metadata.generate_name(document.value))


def identity(document: Document, namespace: str) -> tuple[str, str, str, str]:
    """What makes two documents the same object; versions do not count.

    `namespace` stands in where a document says none, also for kinds that have none.
    """
    kind = metadata.gvk(document.value)
    own = metadata.namespace(document.value) or namespace
    return kind.group, kind.kind, own, metadata.name(document.value)


class _Sent(NamedTuple):
    """What is sent, and what is there; `document` is what the server has of it."""

    operation: Operation
    document: Document
    new: Any = None
    stored: Any = None
    stray: StrayFields | None = None
    unchanged: bool = False
    said: PluginAnswer | None = None
    empties: Sequence[EmptyValue] = ()


def _asked(
    document: Document,
    question: Question,
    endpoint: Endpoint,
    namespace: str,
    old: Document | None,
    prepare: Prepare,
) -> Asked | Problem:
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
    found = sent.new if sent.new is not None else sent.stored
    request = request_of(
        target,
        sent.operation,
        sent.new,
        sent.stored,
        question.user,
        _options(question, sent.operation),
        name=metadata.name(found) or metadata.name(value),
        dry_run=question.dry_run,
    )
    said = sent.said
    if sent.operation in _UNDRAFTED and prepare.plugins is not None:
        said = prepare.plugins.mutated(None, request)
    return Asked(
        sent.document,
        request,
        endpoint,
        target,
        sent.stray,
        sent.unchanged,
        said=said,
        empties=sent.empties,
    )


def _sent(
    document: Document,
    operation: Operation,
    old: Document | None,
    endpoint: Endpoint,
    target: Target,
    prepare: Prepare,
) -> _Sent | Problem:
    if operation is Operation.CONNECT:
        return _Sent(operation, document, _connect_options(document.value, endpoint))
    stored: Any = None
    if operation is not Operation.CREATE:
        stored = prepare.stored(document if old is None else old, target)
        if isinstance(stored, Problem):
            return stored
        if operation is Operation.DELETE:
            return _Sent(operation, document, None, stored)
    if stored is None:
        made = prepare.created(document, target)
    else:
        made = prepare.updated(document, target, stored)
    if isinstance(made, Problem):
        return made
    return _made(operation, document, made, stored)


def _applied(
    document: Document, old: Document | None, target: Target, prepare: Prepare
) -> _Sent | Problem:
    from celadon.cli.checking.client_side_apply import Unchanged, applied

    operation = Operation.CREATE if old is None else Operation.UPDATE
    found = applied(document, old, target, prepare)
    if isinstance(found, Problem):
        return found
    if isinstance(found, Unchanged):
        return _Sent(operation, document, found.stored, found.stored, unchanged=True)
    return _made(operation, found.document, found.made, found.stored)


def _made(operation: Operation, document: Document, made: Made, stored: JsonObject | None) -> _Sent:
    value, stray, said, empties = made
    return _Sent(operation, document, value, stored, stray, said=said, empties=empties)


def _options(question: Question, operation: Operation) -> dict[str, Any] | None:
    """The options object of the request as kubectl would send it; None for what has none of its
    own."""
    manager = _APPLIER if question.applies else _MANAGERS.get(operation)
    if manager is None:
        return None
    dry_run = ("All",) if question.dry_run else ()
    options = WriteOptions(dry_run, manager, question.field_validation)
    return write_options(operation, options)


def _connect_options(value: dict[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """The options object of a connection: the document, or an empty one for a document's object."""
    if value.get("kind") == endpoint.kind.kind:
        return {key: item for key, item in value.items() if key != "metadata"}
    return {"kind": endpoint.kind.kind, "apiVersion": endpoint.kind.api_version}


def _no_old(document: Document, namespace: str) -> Problem:
    name = metadata.name(document.value)
    where = f"{namespace}/{name}" if namespace else name
    return Problem(
        document.file,
        document.line(),
        f"no old object for {document.value['kind']} `{where}`",
        "`--operation UPDATE` needs the objects as they are now: give them with `--old`",
    )
