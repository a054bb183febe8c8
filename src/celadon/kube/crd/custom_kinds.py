"""One version of a custom kind: everything that happens to its objects because of the schema.

    kind = custom_kinds(definition)[gvk]
    kind.prepare(obj)                 nulls, defaults, pruning
    kind.validate(obj, before)        why it would be refused; `before` on updates

Metadata is no concern of the schema: it has its own type, and is validated like that of any kind.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

from celadon.kube import metadata
from celadon.kube.crd import embedded_resources, rule_validation
from celadon.kube.crd.cel_values import UNKNOWN, Unknown
from celadon.kube.crd.openapi_validation import value_errors
from celadon.kube.crd.structural_schemas import (
    Pruned,
    defaulted,
    has_long_defaults,
    pruned,
    without_refused_nulls,
)
from celadon.kube.fieldpath import (
    ROOT,
    ErrorType,
    FieldError,
    FieldPath,
    SpelledStep,
    duplicate,
    invalid,
)
from celadon.kube.go import go_text
from celadon.kube.go.go_json import as_written
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.library.environments import environment
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as, current_release, is_since
from celadon.kube.resources.api_resources import ScalePaths, scale_paths
from celadon.kube.schemas.definition_schemas import defined_kinds, definition_schemas
from celadon.kube.schemas.schema_packs import OPEN, Schema
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.validation.object_meta import (
    Naming,
    validate_object_meta,
    validate_object_meta_update,
)
from celadon.memoization import OnDemand
from celadon.records import dataclass

# --- List types --------------------------------------------------------------
#
# `x-kubernetes-list-type`: items of sets, and keys of maps, occur once.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/listtype/validation.go`: of an item
# that occurs more than once only the second occurrence is reported.


def repeated_items(value: object, schema: Schema, path: FieldPath = ROOT) -> list[FieldError]:
    """Return every repetition at or below a path."""
    if isinstance(value, dict):
        return _in_object(value, schema, path)
    if isinstance(value, list):
        return _in_list(value, schema, path)
    return []


def _in_object(value: JsonDict, schema: Schema, path: FieldPath) -> list[FieldError]:
    result = []
    if schema.additional_properties is not None:
        for key, member in value.items():
            result += repeated_items(member, schema.additional_properties, path.key(key))
    for key, member in value.items():
        if key in schema.properties:
            result += repeated_items(member, schema.properties[key], path.child(key))
    return result


def _in_list(value: list[Any], schema: Schema, path: FieldPath) -> list[FieldError]:
    result = []
    if schema.list_type == "set":
        again = _second_occurrences(value)
        result += [duplicate(path.index(i), go_text.json_value(value[i])) for i in again]
    elif schema.list_type == "map":
        result += _in_map_list(value, schema.list_map_keys, path)
    if schema.items is not None:
        for i, item in enumerate(value):
            result += repeated_items(item, schema.items, path.index(i))
    return result


def _in_map_list(value: list[Any], keys: tuple[str, ...], path: FieldPath) -> list[FieldError]:
    for i, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            detail = "must be an object for an array of list-type map"
            return [invalid(path.index(i), go_text.json_value(item), detail)]
    named = [
        {key: member[key] for key in sorted(keys) if key in member}
        for member in (x or {} for x in value)
    ]
    return [
        duplicate(path.index(i), go_text.GoValue(named[i], "")) for i in _second_occurrences(named)
    ]


def _second_occurrences(values: Iterable[Any]) -> list[int]:
    counts: dict[Hashable, int] = {}
    result = []
    for i, value in enumerate(values):
        identity = _identity(value)
        counts[identity] = counts.get(identity, 0) + 1
        if counts[identity] == 2:
            result.append(i)
    return result


def _identity(value: object) -> Hashable:
    if isinstance(value, dict | list):
        return go_text.json_text(go_text.sorted_members(value))
    return value.__class__, value


# --- Scale validation --------------------------------------------------------
#
# The counts and the selector that the `scale` of a custom resource shows: what may stand there.
#
# As k8s.io/apiextensions-apiserver `pkg/registry/customresource/validator.go`, whatever the
# schema says of these places. A value of another type is refused without being shown: zero, or
# an empty text, stands in its place.

_MOST: Final = 2**31 - 1


def wanted_count_errors(obj: JsonDict, scale: ScalePaths | None) -> Iterable[FieldError]:
    """Yield what is wrong with the count of replicas in the spec."""
    return () if scale is None else _count_errors(obj, scale.spec_replicas)


def scale_status_errors(obj: JsonDict, scale: ScalePaths | None) -> Iterable[FieldError]:
    """Yield what is wrong with the count in the status, and with the selector."""
    if scale is None:
        return
    yield from _count_errors(obj, scale.status_replicas)
    if scale.selector:
        lookup = scale_part(obj, scale.selector, "string")
        if lookup.trouble:
            yield invalid(_path(scale.selector), "", lookup.trouble)


def _count_errors(obj: JsonDict, names: tuple[str, ...]) -> Iterable[FieldError]:
    lookup = scale_part(obj, names, "int64")
    if lookup.trouble:
        yield invalid(_path(names), 0, lookup.trouble)
    elif lookup.value is not None and lookup.value < 0:
        yield invalid(_path(names), lookup.value, "should be a non-negative integer")
    elif lookup.value is not None and lookup.value > _MOST:
        detail = f"should be less than or equal to {_MOST}"
        yield invalid(_path(names), lookup.value, detail)


class _PathValue(NamedTuple):
    """The value at a place, None when there is none, or why nothing can be said of it."""

    value: Any = None
    trouble: str = ""


def scale_part(obj: JsonObject, names: tuple[str, ...], expected: str) -> _PathValue:
    """Return what a scale shows of an object, if it has Go's type `expected`."""
    value: Any = obj
    for i, name in enumerate(names):
        if value is None:
            return _PathValue()
        if not isinstance(value, dict):
            return _PathValue(trouble=_trouble(names[: i + 1], value, "map[string]interface{}"))
        if name not in value:
            return _PathValue()
        value = value[name]
    if go_text.type_text(value) != expected:
        return _PathValue(trouble=_trouble(names, value, expected))
    return _PathValue(value)


def _trouble(names: tuple[str, ...], value: object, expected: str) -> str:
    text, go_type = go_text.plain_text(value), go_text.type_text(value)
    return (
        f".{'.'.join(names)} accessor error: {text} is of the type {go_type}, expected {expected}"
    )


def _path(names: tuple[str, ...]) -> FieldPath:
    """Return the path as the definition writes it, with a dot in front."""
    return FieldPath(SpelledStep(names[0], f".{names[0]}"), *names[1:])


# --- Through storage ---------------------------------------------------------
#
# Custom resources on their way through the store, where all are kept in one version.
#
# A definition names one of its versions for storage. An object of another version is pruned by
# the schema of that one when it is stored and gets its defaults when it is read; then it is
# pruned by the schema of the version in which it is shown, which gives no defaults any more.
# What a server answers to a write, a dry run too, has gone all the way. As
# k8s.io/apiextensions-apiserver `pkg/apiserver/customresource_handler.go`, where nothing
# converts but the version's name.


def as_stored(obj: JsonDict, storage: Schema) -> JsonDict:
    """Return what the store gives back of an object, with `storage` the schema of its version."""
    result: JsonDict = defaulted(pruned(obj, storage).value, storage)
    return result


def as_shown(obj: JsonDict, schema: Schema) -> JsonDict:
    """Return an object that the store gave back, in another version, whose schema is `schema`. A
    null with a default stays, since nobody puts the default there."""
    result: JsonDict = without_refused_nulls(pruned(obj, schema).value, schema)
    return result


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
    """Does what a server does to objects of a custom kind, by its schema and the rules in it."""

    gvk: GroupVersionKind
    schema: Schema
    rules: OnDemand[rule_validation.RuleValidator | None] | None = None
    """Compiled when the first object is judged: that is the work of who writes it, and a server
    goes through all definitions whenever one of them changes."""
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
    converts: bool = False
    """Whether a webhook knows how its versions become each other. Then whoever reads or writes an
    object has it converted, and each version is read by its own schema."""
    versions: Mapping[str, Schema] = field(default_factory=dict)
    """The schemas of all versions by their names."""
    has_long_defaults: bool = False
    """Whether it may take long to fill in a small object, of some version."""

    def has_version(self, named: GroupVersionKind) -> bool:
        """Return whether a kind is this one, in any of its versions."""
        is_alike = named.group_kind == self.gvk.group_kind
        return is_alike and (named.version in self.versions or named == self.gvk)

    def reading(self, named: GroupVersionKind) -> CustomKind:
        """Return the kind by which a body is read that names one, perhaps not this one: by the
        schema of its version, which knows no field where there is no such version. Of another kind
        all is kept."""
        if named == self.gvk:
            return self
        is_alike = named.group_kind == self.gvk.group_kind
        schema = self.versions.get(named.version, Schema()) if is_alike else OPEN
        return replace(
            self, schema=schema, embeds=embedded_resources.has_embedded_resources(schema)
        )

    def prepare(self, obj: JsonDict) -> Pruned:
        """Return the object as it would be stored but for its metadata, and the fields it lost."""
        pruning = pruned(defaulted(obj, self.schema), self.schema)
        if not self.embeds:
            return pruning
        lost = embedded_resources.drop_unknown_metadata(pruning.value, self.schema)
        return Pruned(pruning.value, (*pruning.dropped, *lost))

    def mutated(self, obj: JsonDict) -> JsonDict:
        """Return an object that a mutator or an apply made: with defaults. What the schema does not
        know stays until it is stored, and nulls that it does not allow are refused."""
        result: JsonDict = defaulted(obj, self.schema, keeps_nulls=True)
        return result

    def require_readable(self, obj: JsonDict) -> None:
        """DecodeError for a prepared object with an embedded resource that cannot be read."""
        trouble = embedded_resources.unreadable_resource(obj, self.schema) if self.embeds else None
        if trouble is not None:
            raise DecodeError(str(trouble), trouble.path)

    def read_back(self, obj: JsonDict, *, is_mutated: bool = False) -> JsonDict:
        """Return the object as it comes from the store: numbers as they are written there, and
        defaults for what was taken away since `prepare`, such as a status. Where another version is
        stored, what that does not know is gone, and the defaults are its own; of a mutated object,
        what its own schema does not know is gone, too."""
        written = as_written(obj)
        if is_mutated:
            written = self._readable(as_stored(written, self.schema))
        if self.storage is not None:
            return written if self.converts else self.converted(written)
        result: JsonDict = written if is_mutated else defaulted(written, self.schema)
        return result

    def shown(self, obj: JsonObject) -> JsonObject:
        """Return a stored object as it is read in this version: pruned and with defaults, unless it
        was written in this version, and by this schema."""
        is_own = obj.get("apiVersion") == self.gvk.api_version
        is_current = is_own and _revision(obj) >= self.since
        return obj if is_current else self.converted(dict(obj))

    def converted(self, obj: JsonDict) -> JsonDict:
        """Return an object that was written in another version or by another schema, as it is
        read."""
        named = {**obj, "apiVersion": self.gvk.api_version}
        if self.storage is not None and not self.converts:
            return self.received(as_stored(named, self.storage))
        return self._readable(as_stored(named, self.schema))

    def stored(self, obj: JsonDict) -> JsonDict:
        """Return what is stored of an object that is in the storage version by name: without what
        that does not know, and with the defaults that upstream gives it when it is read."""
        return as_stored(obj, self.schema if self.storage is None else self.storage)

    def received(self, obj: JsonDict) -> JsonDict:
        """Return an object that was made from one of another version: pruned, without defaults."""
        return self._readable(as_shown(obj, self.schema))

    def _readable(self, obj: JsonDict) -> JsonDict:
        if self.embeds:
            embedded_resources.drop_unreadable(obj, self.schema)
            embedded_resources.drop_unknown_metadata(obj, self.schema)
        return obj

    def validate(
        self, obj: JsonDict, before: JsonDict | None = None
    ) -> rule_validation.RuleOutcome:
        """Return what is wrong with a prepared object, in the order of an API server, and what is
        forgiven because it did not change."""
        other = list(self._type_errors(obj))
        if other:
            return rule_validation.RuleOutcome(other)
        was: Any | Unknown = UNKNOWN if before is None else before
        errors = [*self._metadata_errors(obj, before), *value_errors(obj, self.schema, was)]
        errors += wanted_count_errors(obj, self.scale)
        errors += scale_status_errors(obj, self.scale)
        if self.embeds:
            errors += embedded_resources.embedded_resource_errors(obj, self.schema)
        errors += self._repetitions(obj, before)
        return self._with_rules(errors, obj, was)

    def asked_rules(
        self, obj: JsonDict, before: JsonDict | None = None
    ) -> list[rule_validation.EvaluatedRule]:
        """Return the rules that a prepared object is asked by, in their order."""
        evaluated: list[rule_validation.EvaluatedRule] = []
        rules = self._compiled_rules()
        if rules is not None:
            rules.errors(obj, UNKNOWN if before is None else before, evaluated)
        return evaluated

    def validate_status(self, obj: JsonDict, before: JsonDict) -> rule_validation.RuleOutcome:
        """Validate an object after a write to the status: of the schema only that of the status
        counts, and its texts do not know that it is one (before 1.31 its paths did not either, and
        nothing was forgiven). Lists and rules are those of the whole object. What the scale wants
        is not looked at, nor are embedded resources."""
        metadata_errors = list(self._metadata_errors(obj, before))
        schema = self.schema.properties.get("status")
        if schema is not None and "status" in obj:
            is_ratcheted = is_since("1.31")
            was = before.get("status", UNKNOWN) if is_ratcheted else UNKNOWN
            root = _STATUS if is_ratcheted else ROOT
            errors = value_errors(obj["status"], schema, was)
            metadata_errors += [replace(error, path=root.join(error.path)) for error in errors]
        metadata_errors += scale_status_errors(obj, self.scale)
        metadata_errors += self._repetitions(obj, before)
        return self._with_rules(metadata_errors, obj, before)

    def _repetitions(self, obj: JsonDict, before: JsonDict | None) -> Iterable[FieldError]:
        """Yield the repeated items of lists that are sets or maps; none where the object had some
        before an update."""
        if before is not None and repeated_items(before, self.schema):
            return ()
        return repeated_items(obj, self.schema)

    def _with_rules(
        self, errors: list[FieldError], obj: JsonDict, before: Any | Unknown
    ) -> rule_validation.RuleOutcome:
        rules = self._compiled_rules()
        if rules is None:
            return rule_validation.RuleOutcome(errors)
        if any(error.type in _BLOCKING for error in errors):
            return rule_validation.RuleOutcome(
                [*errors, invalid(ROOT, None, rule_validation.SKIPPED)]
            )
        outcome = rules.errors(obj, before)
        outcome.errors[:0] = errors
        return outcome

    def _compiled_rules(self) -> rule_validation.RuleValidator | None:
        return None if self.rules is None else self.rules.value

    def _type_errors(self, obj: JsonDict) -> Iterable[FieldError]:
        """Yield errors for a kind or `apiVersion` that a mutator has changed."""
        for member, text in (("kind", self.gvk.kind), ("apiVersion", self.gvk.api_version)):
            result = obj.get(member, text)
            if result != text:
                yield invalid(FieldPath(member), result, f"must be {text}")

    def _metadata_errors(self, obj: JsonDict, before: JsonDict | None) -> Iterable[FieldError]:
        meta = obj.get("metadata")
        if not isinstance(meta, dict):
            return ()
        if before is None:
            return validate_object_meta(meta, Naming(namespaced=self.namespaced))
        old = before.get("metadata")
        return validate_object_meta_update(meta, old if isinstance(old, dict) else {})


def custom_kinds(definition: JsonObject) -> dict[GroupVersionKind, CustomKind]:
    """Return the kinds of all versions of a CustomResourceDefinition, served or not, with the rules
    of the current release."""
    spec, since = definition["spec"], _revision(definition)
    rule_environment = environment(current_release())
    namespaced = {"Namespaced": True, "Cluster": False}.get(spec.get("scope"))
    versions = spec.get("versions") or ()
    offered = {version["name"]: version.get("subresources") for version in versions}
    stored = next((version["name"] for version in versions if version.get("storage")), "")
    schemas = definition_schemas(definition)
    by_version = {gvk.version: schema for gvk, schema in schemas.items()}
    storage = by_version.get(stored)
    long_defaults = any(map(has_long_defaults, by_version.values()))
    converts = (spec.get("conversion") or {}).get("strategy") == "Webhook"
    return {
        gvk: CustomKind(
            gvk,
            schema,
            OnDemand(
                functools.partial(
                    rule_validation.rule_validator,
                    schema,
                    rule_environment,
                    f"{gvk.kind}.{gvk.version}.{gvk.group}",
                )
            ),
            _member(offered, gvk.version, "status") is not None,
            namespaced,
            scale_paths(_member(offered, gvk.version, "scale")),
            embedded_resources.has_embedded_resources(schema),
            None if gvk.version == stored else storage,
            since,
            converts,
            by_version,
            long_defaults,
        )
        for gvk, schema in schemas.items()
    }


def _revision(obj: JsonObject) -> int:
    """Return the revision at which an object was read; 0 for one that no store has numbered."""
    return max(go_text.int_or(metadata.resource_version(obj), 0), 0)


def _member(version: JsonObject, *names: str) -> Any:
    result: Any = version
    for name in names:
        result = result.get(name) if isinstance(result, dict) else None
    return result


# --- Remembered kinds --------------------------------------------------------
#
# The kinds that definitions define, compiled once as long as a definition's spec stays.


class DefinedKinds:
    """The kinds of one definition, compiled when one of them is first wanted, in whatever thread:
    for thousands of properties that takes a second."""

    __slots__ = ("_definition", "_kinds", "_version", "spec")

    def __init__(self, definition: JsonObject, version: str) -> None:
        self.spec: JsonObject = definition["spec"]
        self._definition = definition
        self._version = version
        self._kinds: Mapping[GroupVersionKind, CustomKind] | None = None

    @property
    def names(self) -> list[GroupVersionKind]:
        """Return what they are called; nothing is compiled for that."""
        return defined_kinds(self._definition)

    @property
    def is_compiled(self) -> bool:
        """Return whether `compiled` is there already."""
        return self._kinds is not None

    @property
    def compiled(self) -> Mapping[GroupVersionKind, CustomKind]:
        """Return the kinds. Two threads that ask at once may both compile them."""
        if self._kinds is None:
            with answering_as(self._version):
                self._kinds = custom_kinds(self._definition)
        return self._kinds


def invalid_version(direction: str, api_version: str) -> str:
    """Say why nothing is converted `from` or `to` a version that the definition does not have, as
    k8s.io/apiextensions-apiserver `pkg/apiserver/conversion/converter.go`."""
    return f"request to convert CR {direction} an invalid group/version: {api_version}"


class KindsOnDemand(Mapping[GroupVersionKind, CustomKind]):
    """Makes the kinds of several definitions when they are first asked for."""

    __slots__ = ("_by_kind",)

    def __init__(self, definitions: Iterable[DefinedKinds] = ()) -> None:
        self._by_kind = {
            kind: definition for definition in definitions for kind in definition.names
        }

    def is_compiled(self, kind: GroupVersionKind) -> bool:
        """Return whether asking for the kind takes no time."""
        kinds = self._by_kind.get(kind)
        return kinds is None or kinds.is_compiled

    def definition(self, kind: GroupVersionKind) -> object:
        """Return what defines the kind: the same object for as long as that says the same. None for
        a kind that nothing defines."""
        return self._by_kind.get(kind)

    def __getitem__(self, kind: GroupVersionKind) -> CustomKind:
        return self._by_kind[kind].compiled[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._by_kind

    def __iter__(self) -> Iterator[GroupVersionKind]:
        return iter(self._by_kind)

    def __len__(self) -> int:
        return len(self._by_kind)


class RememberedKinds:
    """Makes the kinds of definitions, and remembers them. `version` is the release whose rules hold
    for the schemas."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._kinds: dict[str, DefinedKinds] = {}

    def of(self, definitions: Iterable[JsonObject]) -> KindsOnDemand:
        """Return the kinds of all these definitions together; those of others are forgotten."""
        self._kinds = {
            metadata.name(definition): self._kinds_of(definition) for definition in definitions
        }
        return KindsOnDemand(self._kinds.values())

    def _kinds_of(self, definition: JsonObject) -> DefinedKinds:
        kinds = self._kinds.get(metadata.name(definition))
        if kinds is not None and kinds.spec == definition["spec"]:
            return kinds
        return DefinedKinds(definition, self._version)


def unsuitable(gvk: GroupVersionKind, kind: GroupVersionKind) -> str:
    """Say that a custom resource of one group becomes none of another."""
    return f'{gvk} is unstructured and is not suitable for converting to "{kind.api_version}"'
