"""`Request`: one write (or connection) that admission has to judge.

A `Request` carries the attributes admission sees, not an HTTP request: the objects are already
decoded, defaulted and, on creation, named. `Request.of` builds one from an object and a verb.
`resource` and `kind` are the endpoint's; `request_resource` and `request_kind` differ from them
only where somebody converted the object on the way here, as a webhook's caller may.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from typing import Final

from celadon.kube import GroupVersionKind, GroupVersionResource, Json, JsonObject, User
from celadon.records import dataclass


class Operation(enum.Enum):
    """Says what a request does, spelled as in policies."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"

    __hash__ = object.__hash__
    """Members are the same only as themselves; the enum's own hash is a call of Python."""


_OPTIONS_KINDS: Final = {
    Operation.CREATE: "CreateOptions",
    Operation.UPDATE: "UpdateOptions",
    Operation.DELETE: "DeleteOptions",
}

ADMIN: Final = User("admin", ("system:masters", "system:authenticated"))
"""A user to judge requests for when nobody in particular asks."""


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class Request:
    """Describes one write or connection that admission judges, as upstream's
    `admission.Attributes`. `namespace` is a Namespace's own name when the resource is `namespaces`.

    `object` is None for DELETE, `old_object` None for CREATE and CONNECT, `options` None for
    CONNECT. `name` is empty for each item of a collection's deletion. `size` is a known upper
    bound of the JSON text of both objects in bytes, for instance that of the body they came in.
    """

    operation: Operation
    kind: GroupVersionKind
    resource: GroupVersionResource
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    object: JsonObject | None = None
    old_object: JsonObject | None = None
    user: User = ADMIN
    dry_run: bool = False
    options: JsonObject | None = None
    request_kind: GroupVersionKind | None = None
    request_resource: GroupVersionResource | None = None
    request_subresource: str | None = None
    uid: str = ""
    size: int | None = None

    @property
    def original_kind(self) -> GroupVersionKind:
        """Return the kind of the request before it was converted for a rule."""
        return self.request_kind or self.kind

    @property
    def original_resource(self) -> GroupVersionResource:
        """Return the resource of the request before it was converted for a rule."""
        return self.request_resource or self.resource

    @property
    def original_subresource(self) -> str:
        """Return the subresource of the request before it was converted for a rule."""
        return self.subresource if self.request_subresource is None else self.request_subresource


def default_options(operation: Operation, *, dry_run: bool = False) -> dict[str, Json] | None:
    """Return the options object of a request that sets none; None for CONNECT."""
    kind = _OPTIONS_KINDS.get(operation)
    if kind is None:
        return None
    options: dict[str, Json] = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    if dry_run:
        options["dryRun"] = ["All"]
    return options


def error_name(request: Request) -> str:
    """Return the name in `<resource> "<name>" is forbidden`."""
    if request.name:
        return request.name
    if request.object is None:
        return "Unknown"
    if request.operation is Operation.CONNECT:  # options objects have no metadata
        return "Unknown/errorGettingName"
    metadata = request.object.get("metadata")
    if not isinstance(metadata, dict):
        return "Unknown"
    return str(metadata.get("name") or metadata.get("generateName") or "Unknown")


# --- Reinvocation ------------------------------------------------------------
#
# Who is asked again in a second round of mutation.
#
# The same book-keeping for policies and webhooks: whoever wants to be asked again when others
# change the object after it. As k8s.io/apiserver
# `pkg/admission/plugin/{policy,webhook}/mutating/ reinvocationcontext.go`.


@dataclass(slots=True)
class Reinvocation:
    """Says by key who was asked and wants to be again (IfNeeded), and whom the second round has to
    ask. `last` is the object as the first round has left it."""

    last: JsonObject | None = None
    called_keys: frozenset[Hashable] = frozenset()
    reinvoked_keys: frozenset[Hashable] = frozenset()

    def changed(self) -> None:
        """Note that something has changed the object after those that were asked: they are asked
        again."""
        self.reinvoked_keys |= self.called_keys
        self.called_keys = frozenset()
