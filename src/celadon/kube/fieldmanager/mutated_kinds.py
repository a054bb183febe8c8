"""Changes objects for mutating policies: merges or patches them, reads the result, and gives it
defaults.

    kinds.merged(live, config, kind)     an apply configuration on top of the object
    kinds.patched(document, kind)        what a JSON patch has made of it

Both give the object as the next one sees it. Nobody owns what a policy sets. Errors of a policy
are `MutationRefused`; a `StatusError` is an answer that no failure policy changes. As
k8s.io/apiserver `pkg/admission/plugin/policy/mutating/{dispatcher,patch/smd,patch/json_patch}.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.kube import metadata, status
from celadon.kube.crd.custom_kinds import CustomKind, invalid_version, unsuitable
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.defaulting.defaulting_rules import NO_TRIGGERS, Triggers
from celadon.kube.errors import KubeError
from celadon.kube.fieldmanager import merge_types
from celadon.kube.fieldmanager.compiled_merge import EveryItem, Plan, merge_plan
from celadon.kube.fieldmanager.structured_merge import joined, merged, misfits
from celadon.kube.go.go_json import Document, as_written, with_raw
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.library.json_patches import PatchObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry import request_bodies
from celadon.kube.registry.decoded_object import (
    ChangedDefaulting,
    changed_defaulting,
    drafted,
    mutated_custom,
)
from celadon.kube.releases import is_since, per_release
from celadon.kube.resources.api_resources import known_resources
from celadon.kube.schemas.schema_packs import Schema, raw_ways
from celadon.kube.schemas.struct_decoding import (
    codec_for,
    decode,
    strict_field_errors,
    struct_codec,
)
from celadon.kube.schemas.unstructured_conversion import with_go_numbers
from celadon.kube.schemas.value_decoding import DROPPED, DecodeError, Mismatch
from celadon.kube.status import StatusError
from celadon.records import dataclass, field

# --- Merged parts ------------------------------------------------------------
#
# What a merge puts into an object of Go's types, read into them as it comes.
#
# What was there before was read before: it stays, and so do its defaults. So only what a
# configuration says has to be read, and defaulted only if it has consequences
# (triggers, in `defaulting_rules`), which few configurations have.

_CONTAINERS: Final = (dict, list)
_DUPLICATES_SINCE: Final = "1.35"
"""Since when the object that is merged into may have items that occur twice."""


class MergedParts:
    """A `Joiner` for one merge into a defaulted object, with the triggers of its kind. Raises
    DecodeError and Mismatch where a value does not fit; their paths are not those of the object."""

    __slots__ = ("_added", "_is_stirred", "_live_parts", "_triggers")

    def __init__(self, triggers: Mapping[str, Triggers]) -> None:
        self._triggers = triggers
        self._is_stirred = False
        self._added: list[tuple[str, JsonDict]] = []
        self._live_parts: list[JsonObject | Sequence[Any]] = []

    def joined(
        self, type_: merge_types.MergeType, live: JsonObject, obj: JsonDict, config: JsonObject
    ) -> None:
        """Read what was taken over into a struct; a map is read with the struct it is in."""
        self._live_parts.append(live)
        codec = type_.codec
        if codec is None:
            return
        triggers, entered = self._triggers.get(codec.name, NO_TRIGGERS), codec.entered
        for name, member in config.items():
            value = obj[name]
            inner = entered.get(name, "")
            if inner and value is not member:
                continue
            read = codec.read_field(name, value)
            if read is DROPPED:
                del obj[name]
            else:
                obj[name] = read
                if read.__class__ in _CONTAINERS:
                    self._take(inner, codec.field_nodes[name], read)
            if (not read or read is DROPPED) and triggers.of_emptied(obj, name):
                self._is_stirred = True
        if triggers is not NO_TRIGGERS and triggers.of_set(obj, config):
            self._is_stirred = True

    def added(self, type_: merge_types.MergeType, item: object) -> Any:
        """Read an item that is a struct; lists of others are read with the struct they are in."""
        codec = type_.codec
        if codec is None:
            return item
        read = codec.decode(item)
        self._added.append((codec.name, read))
        return read

    def passed(self, live: Sequence[object]) -> None:
        self._live_parts.append(live)

    def _take(self, component: str, node: Any, value: Any) -> None:
        """Remembers the structs that were read, of a component or a list of it; deeper ones are
        not looked for, but taken for a reason to ask the rules."""
        if component:
            structs = value if value.__class__ is list else (value,)
            self._added += [(component, struct) for struct in structs]
        else:
            inner = node.get("items") or node.get("values")
            self._is_stirred |= isinstance(inner, dict)

    def finish(self, obj: JsonDict, defaulting: ChangedDefaulting) -> None:
        """Completes the object, and defaults it if there may be something to do. Changes `obj`
        where it is new."""
        if not self._is_stirred and not self._added:
            return
        run, triggers = defaulting.run(obj), self._triggers
        if self._is_stirred or any(
            triggers.get(component, NO_TRIGGERS).of_new(struct, run)
            for component, struct in self._added
        ):
            defaulting.default(run, self._settled())
            return
        for component, struct in self._added:
            struct_codec(component).complete(struct)

    def _settled(self) -> set[int]:
        """Return the identities of all that the object shares with the one before, and of more that
        is scalar."""
        result: set[int] = set()
        for was in self._live_parts:
            result.update(map(id, was.values() if isinstance(was, Mapping) else was))
        return result


# --- Atomic parts ------------------------------------------------------------
#
# The parts of a configuration that are atomic: setting one would drop all that it does not say.
#
# As k8s.io/apiserver `pkg/admission/plugin/policy/mutating/patch/smd.go`.


def atomic_parts(type_: merge_types.MergeType, value: object, path: str = "") -> Iterator[str]:
    """Their paths, with the indices of items: `.spec.containers[0].args`. Those inside an atomic
    part too, but none of the values of a map that are not declared."""
    rule, list_rule = type_.map, type_.list
    if rule is not None and value.__class__ is dict:
        if rule.atomic:
            yield path
        members: Any = value
        for name, member in members.items():
            child = rule.child(name) if rule.declares(name) else None
            if child is not None:
                yield from atomic_parts(child, member, f"{path}.{name}")
    elif list_rule is not None and value.__class__ is list:
        if list_rule.atomic:
            yield path
        items: Any = value
        for i, item in enumerate(items):
            yield from atomic_parts(list_rule.item, item, f"{path}[{i}]")


# --- Fitting objects ---------------------------------------------------------
#
# Objects that expressions construct, if there is nothing to be said against them.
#
# An object that is all texts, integers and booleans, in fields that its kind has and objects
# whose types are named after their places, becomes a configuration in one walk. Where anything
# is odd, or only unusual, it is given up (`Unusual`), and the longer way decides, which knows
# every text that could be due: `patchers` in `admission.policies`, then
# `typed.conformity`.

_ALLOWED: Final[Mapping[type, frozenset[str]]] = {
    str: frozenset({merge_types.STRING, merge_types.UNTYPED}),
    int: frozenset({merge_types.NUMERIC, merge_types.UNTYPED}),
    bool: frozenset({merge_types.BOOLEAN, merge_types.UNTYPED}),
}
_NOTHING: Final = frozenset[str]()


class Unusual(KubeError):
    """An object that has to be looked at more closely."""


def fitting_object(
    type_: merge_types.MergeType, value: PatchObject, path: str = "Object"
) -> JsonDict:
    """Return a new configuration of that type, without misfits and without anything atomic; `path`
    is what the object's own type has to be called. Unusual."""
    rule = type_.map
    if rule is None or rule.atomic or value.cel_type.name != path:
        raise Unusual
    result = {}
    for name, member in value.fields.items():
        child = rule.child(name)
        if child is None:
            raise Unusual
        if child.scalar in _ALLOWED.get(member.__class__, _NOTHING):
            result[name] = member
        elif member.__class__ is PatchObject:
            result[name] = fitting_object(child, member, f"{path}.{name}")
        elif member.__class__ is list:
            result[name] = _fitting_items(child, member, f"{path}.{name}")
        elif member.__class__ is dict:
            result[name] = _fitting_texts(child, member)
        else:
            raise Unusual
    return result


def _fitting_items(type_: merge_types.MergeType, items: Sequence[Any], path: str) -> list[Any]:
    rule = type_.list
    if rule is None or rule.atomic or not items:  # an empty list may be `NIL_LIST`
        raise Unusual
    item_type, result = rule.item, []
    for item in items:
        if item.__class__ is PatchObject:
            result.append(fitting_object(item_type, item, path))
        elif item_type.scalar in _ALLOWED.get(item.__class__, _NOTHING):
            result.append(item)
        else:
            raise Unusual
    try:
        elements = set(rule.elements(result))
    except merge_types.ItemError:
        raise Unusual from None
    if len(elements) != len(result):
        raise Unusual
    return result


def _fitting_texts(type_: merge_types.MergeType, members: Mapping[Any, Any]) -> JsonDict:
    rule = type_.map
    if rule is None or rule.atomic:
        raise Unusual
    for name, member in members.items():
        child = rule.child(name) if name.__class__ is str else None
        if child is None or member.__class__ is not str or child.scalar not in _ALLOWED[str]:
            raise Unusual
    return dict(members)


# Upstream writes them as null, which the store of custom resources takes away where the schema does
# not allow it; a struct has no list there.
def _without_nils(value: Any, schema: Schema | None, *, drops: bool = False) -> Any:
    """Return a merged value without `NIL_LIST`. With `drops` nothing comes in its place."""
    if isinstance(value, list):
        items = None if schema is None else schema.items
        return [_without_nils(item, items, drops=drops) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, member in value.items():
        known = None if schema is None else schema.properties.get(key, schema.additional_properties)
        if member is not merge_types.NIL_LIST:
            result[key] = _without_nils(member, known, drops=drops)
        elif not drops and (known is None or known.nullable):
            result[key] = None
    return result


def _has_nil(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nil, value.values()))
    return value is merge_types.NIL_LIST or (isinstance(value, list) and any(map(_has_nil, value)))


class MutationRefused(KubeError):
    """Says that a change cannot be made: an error of the policy that asked for it."""


class Patched(NamedTuple):
    """Holds an object after a patch. `spoiled` is why it is not one of its kind any more, which
    matters only if it stays like that."""

    object: JsonObject
    spoiled: StatusError | None = None


def _no_custom_kind(_: GroupVersionKind) -> CustomKind | None:
    return None


class MergePlanner:
    """Makes plans for merges into objects of one kind. There is one for each set of feature gates;
    what it has made stays right."""

    __slots__ = ("_defaulting", "_type", "kind")

    def __init__(
        self, kind: GroupVersionKind, type_: merge_types.MergeType, defaulting: ChangedDefaulting
    ) -> None:
        self.kind = kind
        self._type = type_
        self._defaulting = defaulting

    def plan(self, value: PatchObject, every: Mapping[tuple[str, ...], EveryItem]) -> Plan | None:
        """Return the plan for a configuration as an expression has constructed it (see
        `merge_plan`). None if it has to be merged the long way."""
        try:
            config = fitting_object(self._type, value)
        except Unusual:
            return None
        return merge_plan(self._type, config, self._defaulting, every)


@per_release(maxsize=256)
def _planner(kind: GroupVersionKind, gates: tuple[tuple[str, bool], ...]) -> MergePlanner | None:
    """Return the planner for a built-in kind. The rules by which parts are defaulted look at no
    more than gates."""
    defaulting = changed_defaulting(kind, DefaultingContext(gates=dict(gates)))
    return (
        None
        if defaulting is None
        else MergePlanner(kind, merge_types.type_of(kind, None), defaulting)
    )


class _MergedKind(NamedTuple):
    """Holds what is known of a kind. `defaulting` is for built-in kinds of which not all must be
    read and defaulted again."""

    type: merge_types.MergeType
    custom: CustomKind | None
    defaulting: ChangedDefaulting | None
    planner: MergePlanner | None


@dataclass(frozen=True, slots=True)
class MutatedKinds:
    """Changes objects of the kinds of a server, for one request. `custom` are those that
    definitions define."""

    context: DefaultingContext = field(default_factory=DefaultingContext)
    custom: Callable[[GroupVersionKind], CustomKind | None] = _no_custom_kind
    _merged: dict[GroupVersionKind, _MergedKind] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def _merged_kind(self, kind: GroupVersionKind) -> _MergedKind:
        """Return what is known of a kind whose objects are merged, once compiled. Raises
        MutationRefused."""
        merged_kind = self._merged.get(kind)
        if merged_kind is None:
            custom = self.custom(kind)
            type_ = _type_of(kind, custom)
            if custom is None:
                gates = tuple(sorted(self.context.gates.items()))
                defaulting = changed_defaulting(kind, self.context)
                merged_kind = _MergedKind(type_, None, defaulting, _planner(kind, gates))
            else:
                merged_kind = _MergedKind(type_, custom, None, None)
            self._merged[kind] = merged_kind
        return merged_kind

    def planner(self, kind: GroupVersionKind) -> MergePlanner | None:
        """Return who makes plans for the kind. None for kinds of definitions, which may change, and
        others that have to be merged the long way: with raw JSON, which is written anew, and all
        before duplicates were allowed."""
        if raw_ways(kind):
            return None
        try:
            return self._merged_kind(kind).planner if is_since(_DUPLICATES_SINCE) else None
        except MutationRefused:
            return None

    def fitting(self, value: PatchObject, kind: GroupVersionKind) -> JsonObject | None:
        """Return a configuration of the kind as an expression has constructed it. None if it has to
        be looked at more closely: as if it had values that JSON does not have, or did not fit."""
        try:
            return fitting_object(self._merged_kind(kind).type, value)
        except (Unusual, MutationRefused):
            return None

    def merged(
        self,
        live: JsonObject,
        config: JsonObject,
        kind: GroupVersionKind,
        expected: GroupVersionKind,
        *,
        fits: bool = False,
    ) -> JsonObject:
        """Return the object with a configuration of the same kind in it; values of that may be
        foreign, unless it is known that it `fits`. `expected` is the request's kind.
        MutationRefused."""
        merged_kind = self._merged_kind(kind)
        try:
            if not fits:
                _refuse_misfits(merged_kind.type, config)
            custom = merged_kind.custom
            if custom is not None or not is_since(_DUPLICATES_SINCE):
                _refuse_original(merged_kind.type, live)
            if custom is not None:
                together = merged(merged_kind.type, live, config)
                if _has_nil(config):
                    meta = _without_nils(together["metadata"], None, drops=True)
                    together = {**_without_nils(together, custom.schema), "metadata": meta}
                together = custom.mutated(together)
                return mutated_custom(together, kind, self.context).form()
            result = self._merged_built_in(merged_kind, live, config, kind)
        except merge_types.ItemError as error:
            text = f"failed to convert original object to typed object: {error}"
            raise _not_applied(text) from None
        except DecodeError as error:
            text = f"unable to convert unstructured object to {kind}: {error.alone}"
            raise MutationRefused(text) from None
        if kind != expected:
            _require_version(kind, expected)
        return result

    def _merged_built_in(
        self, merged_kind: _MergedKind, live: JsonObject, config: JsonObject, kind: GroupVersionKind
    ) -> JsonObject:
        """Merge with defaults. What it shares with the one before has them. DecodeError."""
        type_, defaulting, has_nil = merged_kind.type, merged_kind.defaulting, _has_nil(config)
        if ways := raw_ways(kind):
            live = with_raw(live, ways, dict)
        elif defaulting is not None and not has_nil:
            parts = MergedParts(defaulting.triggers)
            try:
                result: JsonDict = merged(type_, live, config, parts)
                if defaulting.rules.are_settled(result, live):
                    parts.finish(result, defaulting)
                    return result
            except (DecodeError, Mismatch):
                pass  # what does not fit is told of the whole
        together = merged(type_, live, config)
        if has_nil:
            together = _without_nils(together, None, drops=True)
        together = with_go_numbers(together, kind)
        return drafted(together, kind, self.context).form()

    def patched(self, document: Any, kind: GroupVersionKind, expected: GroupVersionKind) -> Patched:
        """Return the object of a document that a JSON patch has made. MutationRefused, and
        StatusError (500) for what cannot be read at all."""
        request_bodies.require_object(document, kind)
        custom = self.custom(kind)
        if custom is not None:
            return self._patched_custom(document, custom, kind)
        document_kind = request_bodies.built_in_kind(document, kind)
        codec = codec_for(document_kind)
        if codec is None:
            return Patched(mutated_options(document, document_kind))
        try:
            decode(codec, document)
            strange = strict_field_errors(Document(document), document_kind)
            if strange:
                raise status.internal_error(
                    request_bodies.strict_decoding_error([item.text for item in strange])
                )
            _require_version(document_kind, expected)
            form = drafted(document, document_kind, self.context).form()
        except DecodeError as error:
            raise status.internal_error(str(error)) from None
        spoiled = (
            None
            if document_kind == kind
            else _not_converted(request_bodies.unknown_conversion(document_kind, kind))
        )
        return Patched(form, spoiled)

    def _patched_custom(
        self, document: JsonDict, custom: CustomKind, kind: GroupVersionKind
    ) -> Patched:
        request_bodies.require_kind(document)
        form = mutated_custom(custom.mutated(as_written(document)), kind, self.context).form()
        gvk = metadata.gvk(form)
        if gvk.api_version == kind.api_version:
            return Patched(form)
        if gvk.group != kind.group:
            reason = unsuitable(gvk, kind)
        elif self.custom(gvk) is None:
            reason = f"request to convert CR from an invalid group/version: {gvk.api_version}"
        else:
            return Patched({**form, "apiVersion": kind.api_version})
        return Patched(form, _not_converted(reason))


class CustomScaleKinds(MutatedKinds):
    """Changes the scale of a custom resource, which upstream reads as if it were the custom
    resource, and never converts back."""

    def patched(self, document: Any, kind: GroupVersionKind, expected: GroupVersionKind) -> Patched:
        """Raise MutationRefused, or StatusError (500) for what has no kind."""
        request_bodies.require_object(document, kind)
        request_bodies.require_kind_of_scale(document)
        gvk = metadata.gvk(document)
        if gvk.group != expected.group:
            raise MutationRefused(unsuitable(gvk, expected))
        raise MutationRefused(invalid_version("to", expected.api_version))


def mutated_options(document: JsonDict, kind: GroupVersionKind) -> JsonDict:
    """Return the options of a connection as they are written anew after a mutation. StatusError
    (500) for unknown fields."""
    fields = request_bodies.OPTIONS.get(kind.kind)
    if fields is None:
        return document
    names = (*fields.flags, *fields.texts, *fields.lists, *fields.ports, "apiVersion", "kind")
    unknown = set(document).difference(names, ("path",) if fields.has_path else ())
    if unknown:
        texts = [f'unknown field "{name}"' for name in document if name in unknown]
        raise status.internal_error(request_bodies.strict_decoding_error(texts))
    members = {name: document.get(name) for name in fields.lists}
    return {**{name: value for name, value in document.items() if value}, **members}


def _not_converted(reason: str) -> StatusError:
    return status.internal_error(f"failed to convert object: {reason}")


def _require_version(document_kind: GroupVersionKind, expected: GroupVersionKind) -> None:
    """Objects have to be of the request's version: nothing converts between two versions."""
    if document_kind.group_version == expected.group_version:
        return
    same = document_kind._replace(group=expected.group, version=expected.version)
    if codec_for(same) is None:
        raise MutationRefused(
            f"{document_kind.version}.{document_kind.kind} is not suitable for converting to "
            f'"{expected.api_version}" in scheme "{request_bodies.SCHEME}"'
        )
    text = (
        f"converting ({document_kind.version}.{document_kind.kind}) to ({same.version}.{same.kind})"
    )
    raise MutationRefused(f"{text}: unknown conversion")


def _type_of(kind: GroupVersionKind, custom: CustomKind | None) -> merge_types.MergeType:
    """Kinds that only subresources have are not known to those who merge."""
    if custom is None and known_resources(all_versions=True).by_gvk(kind) is None:
        text = f"failed to convert patch object to typed object: no corresponding type for {kind}"
        raise _not_applied(text)
    return merge_types.type_of(kind, custom)


def _refuse_misfits(type_: merge_types.MergeType, config: JsonObject) -> None:
    errors = misfits(type_, config)
    if errors:
        raise _not_applied(f"failed to convert patch object to typed object: {joined(errors)}")
    atomic = list(atomic_parts(type_, config))
    if atomic:
        raise _not_applied(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
            + ", ".join(atomic)
        )


def _refuse_original(type_: merge_types.MergeType, live: JsonObject) -> None:
    """Raise MutationRefused for an object that does not fit its type: what was decoded into a Go
    type does, but for duplicates; a custom resource need not."""
    errors = misfits(type_, live, duplicates=is_since(_DUPLICATES_SINCE))
    if errors:
        raise _not_applied(f"failed to convert original object to typed object: {joined(errors)}")


def _not_applied(reason: str) -> MutationRefused:
    return MutationRefused(f"error applying patch: {reason}")
