"""Helps those who let objects in: makes the request that admission judges, and the refusal of what
validation has found."""

from __future__ import annotations

from collections.abc import Iterable

from celadon.admission.registration.registration_strategies import STRATEGIES
from celadon.admission.request import Operation, Request, default_options
from celadon.kube import FieldError, Json, JsonObject, StatusError, User, metadata, status
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import Surroundings, Target, WriteOptions, delete, write_errors
from celadon.kube.well_known_values import NAMESPACES

__all__ = ["deletion_options", "errors_of", "refusal", "request_of", "write_options"]


# --- Write requests ----------------------------------------------------------
#
# What validating admission is asked about a write: the end of the path that leads to policies.
#
# `refusal` is everything that is said against an object before a policy sees it, `request_of`
# the `Request` that policies get.


def errors_of(
    target: Target, new: JsonObject, old: JsonObject | None, surroundings: Surroundings
) -> list[FieldError]:
    """Return why an object is invalid, whatever its kind; `old` is None for a new one."""
    return write_errors(target, new, old, surroundings, STRATEGIES)


def refusal(
    target: Target,
    new: JsonObject,
    old: JsonObject | None,
    surroundings: Surroundings,
    earlier: Iterable[FieldError] = (),
) -> StatusError | None:
    """Return the refusal by validation (422); `earlier` is what was found before it."""
    errors = [*earlier, *errors_of(target, new, old, surroundings)]
    if not errors:
        return None
    kind = target.group_kind._replace(kind=str(new.get("kind") or target.group_kind.kind))
    name = target.name if target.subresource == "scale" else metadata.name(new)
    return status.invalid(kind, name, errors)


def request_of(
    target: Target,
    operation: Operation,
    new: JsonObject | None,
    old: JsonObject | None,
    user: User,
    options: JsonObject | None = None,
    *,
    name: str | None = None,
    dry_run: bool = False,
) -> Request:
    """Return the request of a write. `new` and `old` are as the write path leaves them. The name is
    that of the URL or, of a new object, its own; `name` says another. Without one, a new object has
    that which was made up for it; a namespace is then in none, not in itself."""
    named = name
    if named is None:
        named = target.name or metadata.name(new if new is not None else old)
    result = named or (metadata.name(new) if new is not None else "")
    is_namespace = target.resource.gvr == NAMESPACES
    return Request(
        operation=operation,
        kind=target.kind,
        resource=target.resource.gvr,
        subresource=target.subresource,
        name=result,
        namespace=named if is_namespace else target.namespace,
        object=new,
        old_object=old,
        user=user,
        dry_run=dry_run,
        options=default_options(operation, dry_run=dry_run) if options is None else options,
    )


def write_options(operation: Operation, client_options: WriteOptions) -> JsonDict | None:
    """Return the options object of a create or an update; None for a connection."""
    options = default_options(operation)
    if options is None:
        return None
    if client_options.dry_run:
        options["dryRun"] = list(client_options.dry_run)
    for key, value in (
        ("fieldManager", client_options.field_manager),
        ("fieldValidation", client_options.field_validation),
    ):
        if value:
            options[key] = value
    return options


def deletion_options(client_options: delete.DeleteOptions) -> dict[str, Json]:
    """Return the options object of a deletion."""
    options: dict[str, Json] = default_options(Operation.DELETE) or {}
    preconditions = client_options.preconditions
    members: dict[str, Json] = {
        "gracePeriodSeconds": client_options.grace,
        "preconditions": preconditions if preconditions is None else dict(preconditions),
        "orphanDependents": client_options.orphan,
        "propagationPolicy": client_options.propagation,
        "dryRun": list(client_options.dry_run) or None,
    }
    options.update((key, value) for key, value in members.items() if value is not None)
    return options
