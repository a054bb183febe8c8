"""The kinds whose objects may be unknown: those that are built in, and those of definitions.

Policies see a custom resource as it is written, with all of its metadata, and its numbers as JSON
has them; rules of its definition see it otherwise (`celadon.prove.definitions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from celadon.admission.registration import Rule
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject
from celadon.kube.crd import CustomKind, custom_kinds
from celadon.kube.registry import create
from celadon.kube.resources import Catalog, Resource, custom_resources, known_resources
from celadon.kube.schemas import DecodeError, Schema, component, schema_for
from celadon.prove.symbolic_objects import Inputs
from celadon.prove.symbolic_values import Outcome, Unshaped, certain

_TEXT: Final = Schema(type="string")
_METADATA: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


@dataclass(frozen=True, slots=True)
class KnownKinds:
    """Built-in kinds, and these custom ones."""

    custom: Mapping[GroupVersionKind, CustomKind] = field(default_factory=dict)
    resources: tuple[Resource, ...] = ()
    """Those of the custom ones."""

    @classmethod
    def of(cls, definitions: Iterable[JsonObject]) -> KnownKinds:
        """The kinds of definitions; of two definitions of one kind the later one counts."""
        result: dict[GroupVersionKind, CustomKind] = {}
        resources: dict[GroupVersionResource, Resource] = {}
        for definition in definitions:
            result |= custom_kinds(definition)
            resources |= {resource.gvr: resource for resource in custom_resources(definition)}
        return cls(result, tuple(resources.values()))

    @property
    def catalog(self) -> Catalog:
        """All of them, as the server of the current release has them."""
        catalog = known_resources()
        return catalog.with_resources(self.resources) if self.resources else catalog

    def has_all(self, rule: Rule) -> bool:
        """Return whether all that a rule may be about is built in or defined. Of built-in groups
        all kinds are known."""
        built_in = {resource.gvr.group for resource in known_resources()}
        defined = {(resource.gvr.group, resource.gvr.resource) for resource in self.resources}
        names = [pattern.partition("/")[0] for pattern in rule.resources]
        return all(
            group in built_in or (group, name) in defined
            for group in rule.api_groups
            for name in names
        )

    def unknown(
        self, inputs: Inputs, kind: GroupVersionKind, path: str, *, is_stored: bool = False
    ) -> Outcome:
        """Any object of a kind, as it is before or after it was stored."""
        custom = self.custom.get(kind)
        if custom is not None:
            about = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": component(_METADATA)}
            schema = replace(custom.schema, properties={**custom.schema.properties, **about})
            fields = inputs.kind(kind, schema, path, is_custom=True, is_stored=is_stored)
            return certain(fields)
        built_in = schema_for(kind)
        return certain(Unshaped(path) if built_in is None else inputs.kind(kind, built_in, path))

    def completed(self, value: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """An object as the server completes it. Raises DecodeError or StatusError for what it does
        not take."""
        custom = self.custom.get(kind)
        if custom is not None:
            value = custom.prepare(dict(value)).value
            if custom.validate(dict(value)).errors:
                raise DecodeError("what the definition does not admit")
        return create.admit_form(value, kind)


BUILT_IN: Final = KnownKinds()
"""No custom kinds."""
