"""One version of a custom kind: everything that happens to its objects because of the schema.

    kind = custom_kinds(definition)[gvk]
    kind.prepare(obj)                 nulls, defaults, pruning
    kind.validate(obj, before)        why it would be refused; `before` on updates

Metadata is no concern of the schema: it has its own type, and is validated like that of any kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.catalogue.scale_paths import ScalePaths, scale_paths
from celadon.kube.custom.custom_defaults import defaulted
from celadon.kube.custom.embedded_resources import (
    drop_unknown_metadata,
    drop_unreadable,
    embedded_resource_errors,
    has_embedded_resources,
    unreadable_resource,
)
from celadon.kube.custom.list_types import repeated_items
from celadon.kube.custom.openapi_validation import value_errors
from celadon.kube.custom.pruning import Pruned, pruned
from celadon.kube.custom.rules.correlation import UNKNOWN, Unknown
from celadon.kube.custom.rules.rule_texts import SKIPPED
from celadon.kube.custom.rules.rule_validation import (
    AskedRule,
    RuleOutcome,
    RulesOnDemand,
    RuleValidator,
)
from celadon.kube.custom.scale_validation import scale_status_errors, wanted_count_errors
from celadon.kube.custom.through_storage import as_shown, as_stored
from celadon.kube.fieldpath import ROOT, ErrorType, FieldError, FieldPath, invalid
from celadon.kube.go.untyped_numbers import as_written
from celadon.kube.json_types import JsonObject
from celadon.kube.library.releases import DEFAULT, environment
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.definition_schemas import definition_schemas
from celadon.kube.schemas.schema_model import Schema
from celadon.kube.schemas.typed_values import DecodeError
from celadon.kube.validation.object_meta import (
    Naming,
    validate_object_meta,
    validate_object_meta_update,
)
from celadon.records import dataclass

_STATUS: Final = FieldPath("status")
_BLOCKING: Final = frozenset(
    {
        ErrorType.NOT_SUPPORTED,
        ErrorType.REQUIRED,
        ErrorType.TOO_LONG,
        ErrorType.TOO_MANY,
        ErrorType.TYPE_INVALID,
    }
)
"""After an error of these types validation rules are not evaluated."""


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind with its schema, and the rules of the schema."""

    gvk: GroupVersionKind
    schema: Schema
    rules: RulesOnDemand | None = None
    has_status: bool = False
    namespaced: bool | None = None
    """None: nobody says, and nobody looks at the namespace."""
    scale: ScalePaths | None = None
    embeds: bool = False
    """Whether the schema has embedded resources below its root."""
    storage: Schema | None = None
    """The schema of the version in which objects are stored, where that is another one."""
    since: int = 0
    """The revision of the definition that brought the schema: an object that was written before it
    was judged by another one."""

    def prepare(self, obj: dict[str, Any], *, keeps_nulls: bool = False) -> Pruned:
        """The object as it would be stored but for its metadata, and the fields it lost. With
        `keeps_nulls` it is one that was applied, whose nulls are validated."""
        found = pruned(defaulted(obj, self.schema, keeps_nulls=keeps_nulls), self.schema)
        if not self.embeds:
            return found
        lost = drop_unknown_metadata(found.value, self.schema)
        return Pruned(found.value, (*found.dropped, *lost))

    def require_readable(self, obj: dict[str, Any]) -> None:
        """DecodeError for a prepared object with an embedded resource that cannot be read."""
        trouble = unreadable_resource(obj, self.schema) if self.embeds else None
        if trouble is not None:
            raise DecodeError(str(trouble), trouble.path)

    def read_back(self, obj: dict[str, Any]) -> dict[str, Any]:
        """The object as it comes from the store: numbers as they are written there, and defaults
        for what was taken away since `prepare`, such as a status. Where another version is stored,
        what that does not know is gone, and the defaults are its own."""
        if self.storage is not None:
            return self.converted(as_written(obj))
        found: dict[str, Any] = defaulted(as_written(obj), self.schema)
        return found

    def shown(self, obj: JsonObject) -> JsonObject:
        """A stored object as it is read in this version: pruned and with defaults, unless it was
        written in this version, and by this schema."""
        is_own = obj.get("apiVersion") == self.gvk.api_version
        is_current = is_own and _revision(obj) >= self.since
        return obj if is_current else self.converted(dict(obj))

    def converted(self, obj: dict[str, Any]) -> dict[str, Any]:
        """An object that was written in another version or by another schema, as it is read."""
        named = {**obj, "apiVersion": self.gvk.api_version}
        if self.storage is None:
            found = as_stored(named, self.schema)
        else:
            found = as_shown(as_stored(named, self.storage), self.schema)
        if self.embeds:
            drop_unreadable(found, self.schema)
            drop_unknown_metadata(found, self.schema)
        return found

    def validate(self, obj: dict[str, Any], before: dict[str, Any] | None = None) -> RuleOutcome:
        """What is wrong with a prepared object, in the order of an API server, and what is
        forgiven because it did not change."""
        other = list(self._type_errors(obj))
        if other:
            return RuleOutcome(other)
        was: Any | Unknown = UNKNOWN if before is None else before
        found = [*self._metadata_errors(obj, before), *value_errors(obj, self.schema, was)]
        found += wanted_count_errors(obj, self.scale)
        found += scale_status_errors(obj, self.scale)
        if self.embeds:
            found += embedded_resource_errors(obj, self.schema)
        found += self._repetitions(obj, before)
        return self._with_rules(found, obj, was)

    def asked_rules(
        self, obj: dict[str, Any], before: dict[str, Any] | None = None
    ) -> list[AskedRule]:
        """The rules that a prepared object is asked by, in their order."""
        asked: list[AskedRule] = []
        rules = self._compiled_rules()
        if rules is not None:
            rules.errors(obj, UNKNOWN if before is None else before, asked)
        return asked

    def validate_status(self, obj: dict[str, Any], before: dict[str, Any]) -> RuleOutcome:
        """The same for a write to the status: of the schema only that of the status counts, and
        its texts do not know that it is one. Lists and rules are those of the whole object. What
        the scale wants is not looked at, nor are embedded resources."""
        found = list(self._metadata_errors(obj, before))
        schema = self.schema.properties.get("status")
        if schema is not None and "status" in obj:
            errors = value_errors(obj["status"], schema, before.get("status", UNKNOWN))
            found += [replace(error, path=_STATUS.join(error.path)) for error in errors]
        found += scale_status_errors(obj, self.scale)
        found += self._repetitions(obj, before)
        return self._with_rules(found, obj, before)

    def _repetitions(
        self, obj: dict[str, Any], before: dict[str, Any] | None
    ) -> Iterable[FieldError]:
        """Of an object that had some before an update, nothing is said."""
        if before is not None and repeated_items(before, self.schema):
            return ()
        return repeated_items(obj, self.schema)

    def _with_rules(
        self, found: list[FieldError], obj: dict[str, Any], before: Any | Unknown
    ) -> RuleOutcome:
        rules = self._compiled_rules()
        if rules is None:
            return RuleOutcome(found)
        if any(error.type in _BLOCKING for error in found):
            return RuleOutcome([*found, invalid(ROOT, None, SKIPPED)])
        outcome = rules.errors(obj, before)
        outcome.errors[:0] = found
        return outcome

    def _compiled_rules(self) -> RuleValidator | None:
        return None if self.rules is None else self.rules.compiled()

    def _type_errors(self, obj: dict[str, Any]) -> Iterable[FieldError]:
        """A mutator may have made something else of it."""
        for member, wanted in (("kind", self.gvk.kind), ("apiVersion", self.gvk.api_version)):
            found = obj.get(member, wanted)
            if found != wanted:
                yield invalid(FieldPath(member), found, f"must be {wanted}")

    def _metadata_errors(
        self, obj: dict[str, Any], before: dict[str, Any] | None
    ) -> Iterable[FieldError]:
        meta = obj.get("metadata")
        if not isinstance(meta, dict):
            return ()
        if before is None:
            return validate_object_meta(meta, Naming(namespaced=self.namespaced))
        old = before.get("metadata")
        return validate_object_meta_update(meta, old if isinstance(old, dict) else {})


def custom_kinds(
    definition: Mapping[str, Any], version: str = DEFAULT
) -> dict[GroupVersionKind, CustomKind]:
    """The kinds of all versions of a CustomResourceDefinition, served or not. `version` is the
    Kubernetes release."""
    spec, since = definition["spec"], _revision(definition)
    rules_of = environment(version)
    namespaced = {"Namespaced": True, "Cluster": False}.get(spec.get("scope"))
    versions = spec.get("versions") or ()
    offered = {one["name"]: one.get("subresources") for one in versions}
    stored = next((one["name"] for one in versions if one.get("storage")), "")
    schemas = definition_schemas(definition)
    storage = {gvk.version: schema for gvk, schema in schemas.items()}.get(stored)
    return {
        gvk: CustomKind(
            gvk,
            schema,
            RulesOnDemand(schema, rules_of, f"{gvk.kind}.{gvk.version}.{gvk.group}"),
            _member(offered, gvk.version, "status") is not None,
            namespaced,
            scale_paths(_member(offered, gvk.version, "scale")),
            has_embedded_resources(schema),
            None if gvk.version == stored else storage,
            since,
        )
        for gvk, schema in schemas.items()
    }


def _revision(obj: JsonObject) -> int:
    """At which an object was read; 0 for one that no store has numbered."""
    version = metadata.resource_version(obj)
    return int(version) if version.isdecimal() else 0


def _member(version: Mapping[str, Any], *names: str) -> Any:
    found: Any = version
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found
