"""Which documents are Gatekeeper's, and what becomes of those that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict, Needed, Shape
from celadon.kube.resources import Catalog
from celadon.migrate.gatekeeper.constraint_translation import translate_template
from celadon.migrate.gatekeeper.templates import (
    CONSTRAINT_SHAPE,
    TEMPLATE_SHAPE,
    Constraint,
    is_constraint,
    is_template,
    read_constraint,
    read_template,
)
from celadon.migrate.translations import Origin, Translation

_CONFIG_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str)}),
    "spec": {"match": [{"excludedNamespaces": [str], "processes": [str]}]},
}
_NAMED: Final[Shape] = {"metadata": Needed({"name": Needed(str)})}

_NO_EQUAL: Final = {
    "mutations.gatekeeper.sh": (
        "mutate",
        "it mutates objects",
        "Write a MutatingAdmissionPolicy.",
    ),
    "expansion.gatekeeper.sh": (
        "expand",
        "it expects Pods of their controllers",
        "Write a policy for the controllers' kinds.",
    ),
    "externaldata.gatekeeper.sh": (
        "provide",
        "it asks a service",
        "Policies see the request, its namespace and params: keep it in Gatekeeper.",
    ),
}


def _group(document: object) -> str:
    if not isinstance(document, Mapping):
        return ""
    return str(document.get("apiVersion", "")).partition("/")[0]


def gatekeeper_shape(document: object) -> Shape | None:
    """Return the shape that a document of Gatekeeper must have; None of what is none."""
    if is_template(document):
        return TEMPLATE_SHAPE
    if is_constraint(document):
        return CONSTRAINT_SHAPE
    if _group(document) == "config.gatekeeper.sh":
        return _CONFIG_SHAPE
    return _NAMED if _group(document) in _NO_EQUAL else None


def exempt_namespaces(documents: Sequence[JsonObject]) -> list[str]:
    """Return the namespaces that configurations exempt from the webhook."""
    return [
        name
        for one in documents
        if _group(one) == "config.gatekeeper.sh"
        for entry in (one.get("spec") or {}).get("match") or ()
        if {"*", "webhook"} & set(entry.get("processes") or ())
        for name in entry.get("excludedNamespaces") or ()
    ]


def translate_constraints(
    template: JsonObject,
    constraints: Sequence[JsonObject],
    catalog: Catalog,
    exempt: Sequence[str] = (),
) -> list[Translation]:
    """Return what becomes of each constraint of a template; of the template if it has none. All
    documents have their shapes."""
    read = [_exempting(read_constraint(one), exempt) for one in constraints]
    return translate_template(read_template(template), read, catalog)


def _exempting(constraint: Constraint, exempt: Sequence[str]) -> Constraint:
    if not exempt:
        return constraint
    excluded = dict.fromkeys([*(constraint.match.get("excludedNamespaces") or ()), *exempt])
    match: JsonDict = {**constraint.match, "excludedNamespaces": list(excluded)}
    return replace(constraint, match=match)


def left_behind(document: JsonObject) -> Iterator[Translation]:
    """Return why a document that stands alone is not translated: a constraint whose template is
    missing, or what has no equal."""
    name = document["metadata"]["name"]
    if is_constraint(document):
        origin = Origin(document["kind"].lower(), name, (), "validate")
        yield Translation(
            origin,
            reason="a constraint without its template",
            instead="Give the ConstraintTemplate along with it.",
        )
    elif _group(document) in _NO_EQUAL:
        does, reason, instead = _NO_EQUAL[_group(document)]
        yield Translation(Origin(name, "", (), does), reason=reason, instead=instead)
