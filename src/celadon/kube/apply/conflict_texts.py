"""What a client is told when an apply is refused.

As k8s.io/apimachinery `pkg/util/managedfields/internal/{conflict,structuredmerge}.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import metadata, status
from celadon.kube.apply.field_ownership import ConflictError
from celadon.kube.apply.field_sets import path_text
from celadon.kube.apply.managed_fields import UPDATE, ManagerId
from celadon.kube.go.go_text import quote
from celadon.kube.names import GroupVersionKind
from celadon.kube.status import Status, StatusCause, StatusDetails, StatusError

FIELD_MANAGER_CONFLICT: Final = "FieldManagerConflict"
"""The reason of each cause."""

MANAGED_FIELDS_GIVEN: Final = "metadata.managedFields must be nil"


def manager_text(manager: ManagerId) -> str:
    """`"m1" with subresource "status" using apps/v1`."""
    text = quote(manager.name)
    if manager.subresource:
        text += f" with subresource {quote(manager.subresource)}"
    return f"{text} using {manager.api_version}" if manager.operation == UPDATE else text


def conflict_status(error: ConflictError) -> StatusError:
    """409, with a cause for every field."""
    managers = sorted(error.conflicts, key=ManagerId.sort_text)
    found = {
        manager_text(manager): [path_text(path) for path in error.conflicts[manager].paths()]
        for manager in managers
    }
    causes = tuple(
        StatusCause(f"conflict with {manager}", FIELD_MANAGER_CONFLICT, path)
        for manager, paths in found.items()
        for path in paths
    )
    if len(causes) == 1:
        told = f"1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        lines: list[str] = []
        for manager, paths in found.items():
            lines += [f"conflicts with {manager}:", *(f"- {path}" for path in paths)]
        told = f"{len(causes)} conflicts: " + "\n".join(lines)
    details = StatusDetails(causes=causes)
    return StatusError(
        Status(message=f"Apply failed with {told}", reason="Conflict", details=details, code=409)
    )


def other_kind(found: GroupVersionKind) -> StatusError:
    """400: the body is of another kind or version than the endpoint."""
    return status.bad_request(f"invalid object type: {found}")


def not_typed(config: Mapping[str, Any], kind: GroupVersionKind, why: str) -> StatusError:
    """500: the body does not fit the schema."""
    return status.plain_error(
        f"failed to create typed patch object ({_named(config, kind)}): {why}"
    )


def not_converted(config: Mapping[str, Any], kind: GroupVersionKind, why: str) -> StatusError:
    """500: a value of the merged object does not fit Go's type."""
    return status.plain_error(
        f"failed to convert new object ({_named(config, kind)}) to proper version: "
        f"unable to convert unstructured object to {kind}: {why}"
    )


def _named(config: Mapping[str, Any], kind: GroupVersionKind) -> str:
    """Names as the body has them."""
    return f"{metadata.namespace(config)}/{metadata.name(config)}; {kind}"
