"""Documents to requests: what a client would ask of the API server with this object.

The endpoint follows from the kind (or from `--subresource`), the namespace from the object or from
`--namespace`, the operation from `--operation`. What cannot be asked becomes a `Problem`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
from celadon.kube import User, metadata
from celadon.kube.catalogue import Catalog
from celadon.kube.well_known_values import (
    ANONYMOUS,
    AUTHENTICATED,
    SERVICE_ACCOUNT_PREFIX,
    UNAUTHENTICATED,
)
from celadon.kube.writes import Target, WriteOptions, request_options

_MANAGERS: Final = {Operation.CREATE: "kubectl-create", Operation.UPDATE: "kubectl-replace"}
"""Whom `kubectl create` and `kubectl replace` name as the field manager of what they send."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line says about every request."""

    operation: Operation = Operation.CREATE
    subresource: str = ""
    namespace: str = "default"
    user: User = ADMIN
    dry_run: bool = False
    field_validation: str = request_options.STRICT
    """What kubectl asks for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and the document it comes from; `stray` are fields of it that the object lacks."""

    document: Document
    request: Request
    endpoint: Endpoint
    target: Target
    stray: StrayFields | None = None

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
    namespace = ""
    if endpoint.namespaced:
        namespace = metadata.namespace(value) or question.namespace
    old: Document | None = None
    if question.operation is Operation.UPDATE:
        old = olds.get(identity(document, question.namespace))
        if old is None:
            return _no_old(document, namespace)
    return _asked(document, question, endpoint, namespace, old, prepare)


def _is_named(document: Document) -> bool:
    return bool(metadata.name(document.value) or metadata.generate_name(document.value))


def identity(document: Document, namespace: str) -> tuple[str, str, str, str]:
    """What makes two documents the same object; versions do not count.

    `namespace` stands in where a document says none, also for kinds that have none.
    """
    kind = metadata.gvk(document.value)
    own = metadata.namespace(document.value) or namespace
    return kind.group, kind.kind, own, metadata.name(document.value)


def _asked(
    document: Document,
    question: Question,
    endpoint: Endpoint,
    namespace: str,
    old: Document | None,
    prepare: Prepare,
) -> Asked | Problem:
    operation = question.operation
    value = document.value
    named = operation is not Operation.CREATE or endpoint.subresource
    target = Target(
        endpoint.entry,
        namespace,
        metadata.name(value) if named else "",
        endpoint.subresource,
        prepare.custom_kind(endpoint.entry.gvk),
    )
    new: Any = None
    stored: Any = None
    stray = None
    if operation is Operation.CONNECT:
        new = _connect_options(value, endpoint)
    elif operation is Operation.DELETE:
        stored = prepare.stored(document, target)
    elif old is None:
        new = prepare.created(document, target)
    else:
        stored = prepare.stored(old, target)
        if isinstance(stored, dict):
            new = prepare.updated(document, target, stored)
    for prepared in (new, stored):
        if isinstance(prepared, Problem):
            return prepared
    if isinstance(new, Made):
        new, stray = new
    request = request_of(
        target,
        operation,
        new,
        stored,
        question.user,
        _options(question),
        name=metadata.name(new if new is not None else stored) or metadata.name(value),
        dry_run=question.dry_run,
    )
    return Asked(document, request, endpoint, target, stray)


def _options(question: Question) -> dict[str, Any] | None:
    """The options object of the request as kubectl would send it; None for what has none of its
    own."""
    manager = _MANAGERS.get(question.operation)
    if manager is None:
        return None
    dry_run = ("All",) if question.dry_run else ()
    options = WriteOptions(dry_run, manager, question.field_validation)
    return write_options(question.operation, options)


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
