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
    default_options,
)
from celadon.cli.prepare import Prepare, Target
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import (
    ApiVersionError,
    Catalog,
    GroupVersionKind,
    GroupVersionResource,
    Resource,
    Subresource,
    User,
    guess_resource,
    metadata,
    parse_api_version,
)

_NAMESPACES: Final = GroupVersionResource("", "v1", "namespaces")
_AUTHENTICATED: Final = "system:authenticated"
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line says about every request."""

    operation: Operation = Operation.CREATE
    subresource: str = ""
    namespace: str = "default"
    user: User = ADMIN
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an object is sent. `is_guessed` says that nobody has defined its kind."""

    resource: GroupVersionResource
    kind: GroupVersionKind
    namespaced: bool
    subresource: str = ""
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and the document it comes from."""

    document: Document
    request: Request
    endpoint: Endpoint

    @property
    def title(self) -> str:
        """`Deployment shop/web`."""
        namespace = self.request.namespace if self.endpoint.namespaced else ""
        name = f"{namespace}/{self.request.name}" if namespace else self.request.name
        return f"{self.request.kind.kind} {name}"


def user_info(name: str, groups: Sequence[str]) -> User:
    """The user as impersonation makes it: with the groups that come by themselves."""
    found = list(groups)
    if name.startswith(_SERVICE_ACCOUNT) and not found:
        namespace = name.removeprefix(_SERVICE_ACCOUNT).partition(":")[0]
        found = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    if name != "system:anonymous" and _AUTHENTICATED not in found:
        found.append(_AUTHENTICATED)
    return User(name, tuple(found))


def ask(
    document: Document,
    question: Question,
    catalog: Catalog,
    olds: Mapping[tuple[str, str, str, str], Document],
    prepare: Prepare,
) -> Asked | Problem:
    """The request about one document."""
    endpoint = _endpoint(document, question, catalog)
    if isinstance(endpoint, Problem):
        return endpoint
    value = document.value
    namespace = ""
    if endpoint.namespaced:
        namespace = metadata.namespace(value) or question.namespace
    old: Document | None = None
    if question.operation is Operation.UPDATE:
        old = olds.get(identity(document, namespace))
        if old is None:
            return _no_old(document, namespace)
    request = _request(document, question, endpoint, namespace, old, prepare)
    return request if isinstance(request, Problem) else Asked(document, request, endpoint)


def identity(document: Document, namespace: str) -> tuple[str, str, str, str]:
    """What makes two documents the same object; versions do not count."""
    kind = metadata.gvk(document.value)
    own = metadata.namespace(document.value) or namespace
    return kind.group, kind.kind, own, metadata.name(document.value)


def _request(
    document: Document,
    question: Question,
    endpoint: Endpoint,
    namespace: str,
    old: Document | None,
    prepare: Prepare,
) -> Request | Problem:
    operation = question.operation
    value = document.value
    target = Target(endpoint.kind, namespace, endpoint.subresource)
    new: Any = None
    stored: Any = None
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
    name = metadata.name(new if new is not None else stored) or metadata.name(value)
    own_namespace = name if endpoint.resource == _NAMESPACES else namespace
    return Request(
        operation=operation,
        kind=endpoint.kind,
        resource=endpoint.resource,
        subresource=endpoint.subresource,
        name=name,
        namespace=own_namespace,
        object=new,
        old_object=stored,
        user=question.user,
        dry_run=question.dry_run,
        options=default_options(operation, question.dry_run),
    )


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


def _endpoint(document: Document, question: Question, catalog: Catalog) -> Endpoint | Problem:
    try:
        group, version = parse_api_version(str(document.value["apiVersion"]))
    except ApiVersionError as error:
        return Problem(document.file, document.line(("apiVersion",)), str(error))
    kind = GroupVersionKind(group, version, str(document.value["kind"]))
    parent, slash, wanted = question.subresource.rpartition("/")
    resource = catalog.by_gvk(kind)
    if resource is not None and not wanted:
        return Endpoint(resource.gvr, kind, resource.namespaced)
    found = [
        (candidate, sub)
        for candidate in catalog
        for sub in candidate.subresources
        if (not wanted or sub.name == wanted)
        and (not slash or candidate.gvr.resource == parent)
        and (candidate is resource or sub.gvk == kind)
    ]
    if resource is not None:
        found = [(one, sub) for one, sub in found if one is resource] or found
    if len(found) == 1:
        return _below(*found[0])
    if found or wanted:
        return _which(document, question.subresource, kind, found)
    guessed = guess_resource(kind)
    return Endpoint(guessed, kind, namespaced=True, is_guessed=True)


def _below(resource: Resource, subresource: Subresource) -> Endpoint:
    return Endpoint(resource.gvr, subresource.gvk, resource.namespaced, subresource.name)


def _which(
    document: Document,
    subresource: str,
    kind: GroupVersionKind,
    found: Sequence[tuple[Resource, Subresource]],
) -> Problem:
    line = document.line(("kind",))
    if not found:
        text = f"kind `{kind.kind}` has no subresource `{subresource}`"
        return Problem(document.file, line, text)
    names = sorted({f"{one.gvr.resource}/{sub.name}" for one, sub in found})
    return Problem(
        document.file,
        line,
        f"kind `{kind.kind}` belongs to several subresources: {', '.join(names)}",
        f"say which: `--subresource {names[0]}`",
    )
