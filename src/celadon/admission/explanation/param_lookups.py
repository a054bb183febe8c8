"""Where the params of a binding were looked for, and which were found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.admission.policy.params import ParamError, looked_in, resolve
from celadon.admission.registration.registration_types import ParamKind, ParamRef
from celadon.kube import GroupVersionResource
from celadon.kube.catalogue import Catalog
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class ParamLookup:
    """Params of a kind: in `namespace` (empty for kinds that are in none) by name, or by labels.
    `resource` is None for a kind that is not known; `found` are names, `error` says why nothing
    could be looked for, `action` is `parameterNotFoundAction`."""

    kind: ParamKind
    resource: GroupVersionResource | None
    namespace: str
    name: str
    selector: Mapping[str, Any] | None
    action: str
    found: tuple[str, ...]
    error: str = ""


def param_lookup(
    kind: ParamKind | None,
    ref: ParamRef | None,
    namespace: str,
    catalog: Catalog,
    found: tuple[str, ...],
) -> ParamLookup | None:
    """For a request in `namespace`, with what was found; None where the policy or the binding has
    no params."""
    if kind is None or ref is None:
        return None
    resource, where, wrong = None, "", ""
    try:
        source = resolve(kind, catalog)
        if source is not None:
            resource = source.resource
            where = looked_in(source, ref, namespace)
    except ParamError as error:
        wrong = str(error)
    return ParamLookup(
        kind,
        resource,
        where,
        ref.name,
        ref.selector,
        ref.parameter_not_found_action or "",
        found,
        wrong,
    )
