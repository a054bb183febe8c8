"""What is demanded of a definition that is written. Of an update less is: where the stored
definition does not meet a demand, the new one need not, so that nobody is kept from repairing
something else.

As `validationOptions` in k8s.io/apiextensions-apiserver
`pkg/apis/apiextensions/validation/validation.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.cel import Environment
from celadon.kube.custom.definitions.internal_definitions import (
    InternalDefinition,
    internal_definition,
)
from celadon.kube.custom.definitions.schema_defaults import has_unpruned_defaults
from celadon.kube.custom.definitions.schema_tree import every_schema
from celadon.kube.custom.definitions.structural_schemas import structural_errors, unreadable
from celadon.kube.fieldpath import ROOT
from celadon.kube.json_types import JsonObject
from celadon.kube.library.releases import DEFAULT, environment, previous_minor
from celadon.records import dataclass

MAX_SELECTABLE_FIELDS: Final = 8
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
LIST_TYPE: Final = "x-kubernetes-list-type"
LIST_KEYS: Final = "x-kubernetes-list-map-keys"
MAP_TYPE: Final = "x-kubernetes-map-type"


@dataclass(frozen=True, slots=True)
class Demands:
    """All of them hold for a new definition; `stored_rules` and the sets that follow are of what
    an update found."""

    version: str = DEFAULT
    schemas: bool = True
    valid_types: bool = True
    structural: bool = True
    pruned_defaults: bool = True
    atomic_sets: bool = True
    keyed_items: bool = True
    known_reviews: bool = True
    stored_rules: frozenset[str] = frozenset()
    """Expressions that may use what a newer release brings: they are there already."""
    stored_messages: frozenset[str] = frozenset()
    unchanged_schemas: frozenset[str] = frozenset()
    """Versions whose rules may cost what they like."""
    many_fields: frozenset[str] = frozenset()
    """Versions that may have too many selectable fields; empty is the whole definition."""

    def rule_environment(self, text: str) -> Environment:
        """What a rule may use."""
        return self._environment(is_stored=text in self.stored_rules)

    def message_environment(self, text: str) -> Environment:
        """What a message expression may use."""
        return self._environment(is_stored=text in self.stored_messages)

    def _environment(self, *, is_stored: bool) -> Environment:
        return environment(self.version if is_stored else previous_minor(self.version))


def demands_of_update(spec: JsonObject, old: JsonObject, version: str) -> Demands:
    """What is demanded of a spec in place of the old one."""
    before, now = internal_definition(old), internal_definition(spec)
    schemas = [given for _, given in before.schemas()]
    nodes = [node for given in schemas for node in every_schema(given)]
    rules = [rule for node in nodes for rule in node.get("x-kubernetes-validations") or ()]
    reviews = ((old.get("conversion") or {}).get("webhook") or {}).get("conversionReviewVersions")
    return Demands(
        version=version,
        schemas=all(before.schema_of(i) is not None for i in range(len(before.versions))),
        valid_types=not any((node.get("type") or "string") not in TYPES for node in nodes),
        structural=not any(map(_is_not_structural, schemas)),
        pruned_defaults=not any(map(has_unpruned_defaults, schemas)),
        atomic_sets=not any(map(has_divided_items, nodes)),
        keyed_items=not any(map(has_loose_keys, nodes)),
        known_reviews=not reviews or any(one in REVIEW_VERSIONS for one in reviews),
        stored_rules=frozenset(rule.get("rule") or "" for rule in rules),
        stored_messages=frozenset(
            rule["messageExpression"] for rule in rules if rule.get("messageExpression")
        ),
        unchanged_schemas=_unchanged_schemas(now, before),
        many_fields=_many_fields(now, before),
    )


def _is_not_structural(given: JsonObject) -> bool:
    return unreadable(given) is not None or bool(structural_errors(given, ROOT))


def _unchanged_schemas(now: InternalDefinition, before: InternalDefinition) -> frozenset[str]:
    old = {
        one.get("name") or "": before.schema_of(i)
        for i, one in reversed([*enumerate(before.versions)])
    }
    return frozenset(
        name
        for i, one in enumerate(now.versions)
        if (name := one.get("name") or "") in old and now.schema_of(i) == old[name]
    )


def _many_fields(now: InternalDefinition, before: InternalDefinition) -> frozenset[str]:
    old = {one.get("name") or "": one for one in before.versions}
    places = [("", now.shared, before.shared)]
    places += [
        (name, one, old[name]) for one in now.versions if (name := one.get("name") or "") in old
    ]
    return frozenset(
        name
        for name, new, was in places
        if len(was.get("selectableFields") or ()) > MAX_SELECTABLE_FIELDS
        and new.get("selectableFields") == was["selectableFields"]
    )


def has_divided_items(node: JsonObject) -> bool:
    """Whether items of a set can be written in parts. Lists as items are wholes unless they say
    otherwise."""
    items = node.get("items")
    if node.get(LIST_TYPE) != "set" or not isinstance(items, dict):
        return False
    if items.get("type") == "array":
        return items.get(LIST_TYPE) not in (None, "atomic")
    return items.get("type") == "object" and items.get(MAP_TYPE) != "atomic"


def has_loose_keys(node: JsonObject) -> bool:
    """Whether items of a set or map list may be null, or their keys may be absent or null."""
    return next(loose_keys(node), None) is not None


def loose_keys(node: JsonObject) -> Iterator[tuple[str, str]]:
    """What is wrong: the key that it is about, empty for the item, and `default` or `nullable`."""
    items = node.get("items")
    if node.get(LIST_TYPE) not in ("set", "map") or not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield "", "nullable"
    if node[LIST_TYPE] == "set":
        return
    known: Any = items.get("properties") or {}
    for key in node.get(LIST_KEYS) or ():
        if key not in known:
            continue
        if known[key].get("default") is None and key not in (items.get("required") or ()):
            yield key, "default"
        if known[key].get("nullable"):
            yield key, "nullable"
