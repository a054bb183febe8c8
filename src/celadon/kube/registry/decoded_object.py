"""A `Draft` is an object on its way in: decoded, defaulted, converted; a `Target` is where it goes.

`drafted` makes one of what a client sent. Every stored object has been through these three, so
`stored_form` repeats them for an object that is read back. What comes after them differs between a
create (`create`) and an update (`update`). Whoever mutates objects besides the built-in plugins is
shown `form` and gives back what `replaced` takes. Objects given in are never changed.

The rules themselves stand in `celadon.kube.defaulting`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from celadon.kube import metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext, Run
from celadon.kube.defaulting.defaulting_rules import (
    SharingRules,
    Triggers,
    compiled,
    enabled_gates,
    sharing_rules,
    triggers,
)
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonDict, JsonObject, SharedParts, fresh
from celadon.kube.names import GroupKind, GroupResource, GroupVersionKind
from celadon.kube.registry.scale import BUILT_IN, scale_of
from celadon.kube.releases import per_release
from celadon.kube.resources.api_resources import Resource, ScalePaths, known_resources
from celadon.kube.resources.autoscaler_conversion import to_v1, to_v2
from celadon.kube.schemas import schema_packs, struct_decoding
from celadon.kube.schemas.value_decoding import DecodeError, Mismatch, json_kind, locate
from celadon.kube.status import StatusError
from celadon.kube.well_known_values import META_FIELDS
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.kube.crd.custom_kinds import CustomKind

DEFAULT: Final = "default"
"""The phase in which absent fields get their values, as the scheme does."""
CONVERT: Final = "convert"

TOKEN_REQUEST: Final = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")

_PLAIN: Final = DefaultingContext()
_SERVERS_OWN: Final = frozenset(
    {"creationTimestamp", "generation", "namespace", "resourceVersion", "selfLink", "uid"}
)
"""Members of the metadata that no mutator can set."""


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class Draft:
    """Holds an object on its way in. `made` belongs to the draft: the steps change it in place."""

    gvk: GroupVersionKind
    decoded: JsonDict
    codec: struct_decoding.StructCodec
    run: Run
    is_exact: bool = False
    """Whether all fields that were sent are fields of the kind, and none was empty; no says that
    nobody knows."""
    is_mutated: bool = False
    """Whether somebody else has left it, or an apply has made it."""
    unsound: JsonObject = field(default_factory=dict)
    """What mutators have left in the metadata of a custom resource that is read as something else,
    or not at all: they go on seeing it, the store does not."""

    @property
    def meta(self) -> JsonDict | None:
        """Return the metadata; None for kinds without metadata."""
        meta = self.decoded.get("metadata")
        return meta if isinstance(meta, dict) else None

    @property
    def is_custom(self) -> bool:
        """Return whether only a CustomResourceDefinition can define the kind."""
        return self.codec.name == schema_packs.OBJECT_META

    def complete(self, obj: dict[str, object] | None = None) -> None:
        """Add the fields that are always written to the draft, or to an object of its kind: they
        are zero, and so as good as absent."""
        _complete(self.decoded if obj is None else obj, self.codec, self.run.shared)

    def form(self) -> JsonDict:
        """Return what the object looks like at this point, as a copy that belongs to the caller."""
        completed: JsonDict = fresh(self.decoded)
        _complete(completed, self.codec)
        if self.unsound:
            completed["metadata"].update(fresh(self.unsound))
        return completed

    def validated(self, obj: JsonDict) -> JsonObject:
        """Return what validation sees of `obj`, the object that `finish_create` or `finish_update`
        made of the draft: besides what is encoded, lists, maps and bytes that came empty. A server
        validates its structs; admission and the store get them encoded. Of the object before an
        update it sees the same, as upstream takes empty and absent for equal."""
        if self.has_null_managers:
            meta = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
            return {**obj, "metadata": meta}
        return struct_decoding.with_empty_values(obj, self.run.empties) if self.run.empties else obj

    @property
    def has_null_managers(self) -> bool:
        """Return whether a mutator has left managed fields of a custom resource of which nobody
        sees any, for an entry that is null; they are written, as empty entries."""
        entries = self.unsound.get("managedFields")
        return isinstance(entries, list) and None in entries

    def unwritable(self, target: Target) -> str:
        """Return why metadata that mutators have spoiled cannot be written in another version;
        empty where it can. What the server sets, and all but one member of a status, is
        overwritten."""
        fault = struct_decoding.first_fault(_meta_codec(), self._kept_unsound(target))
        return "" if fault is None else str(fault)

    def admitted(self, obj: JsonDict, target: Target) -> JsonObject:
        """Return what validating admission sees of `obj`, the object that was made of the draft:
        metadata that mutators have spoiled, too."""
        kept = self._kept_unsound(target) if self.unsound else {}
        return {**obj, "metadata": {**obj["metadata"], **fresh(kept)}} if kept else obj

    def _kept_unsound(self, target: Target) -> JsonObject:
        """Return what nobody overwrites of what mutators have spoiled."""
        written = {"managedFields"}
        if target.subresource != "status":
            written = self.unsound.keys() - _SERVERS_OWN
        return {key: value for key, value in self.unsound.items() if key in written}

    def replaced(self, obj: JsonObject) -> Draft:
        """Return the draft as somebody has left it who was shown `form`: defaulted once more."""
        if self.is_custom:
            draft = mutated_custom(obj, self.gvk, self.run.context)
            draft.is_mutated = True
            return draft
        result, codec, run, is_exact = _drafted(obj, self.gvk, self.run.context)
        return Draft(self.gvk, result, codec, run, is_exact, is_mutated=True)


def drafted(
    obj: JsonObject,
    gvk: GroupVersionKind,
    context: DefaultingContext = _PLAIN,
    stored: JsonObject | None = None,
) -> Draft:
    """Return the object decoded, defaulted and converted. DecodeError when a value does not fit.
    `stored` is an object of the kind that reads back as it is, of which it may have parts."""
    draft = None if stored is None else _drafted_beside(obj, gvk, context, stored)
    return Draft(gvk, *_drafted(obj, gvk, context)) if draft is None else draft


# Upstream holds custom resources as maps, of which no mutator has to leave anything that fits.
def mutated_custom(obj: JsonObject, gvk: GroupVersionKind, context: DefaultingContext) -> Draft:
    """Return a custom resource as a mutator has left it, decoded and with defaults."""
    draft = drafted(with_sound_metadata(dict(obj)), gvk, context)
    meta = obj.get("metadata")
    if isinstance(meta, dict):
        read = draft.meta or {}
        draft.unsound = {
            key: meta[key] for key in sorted(meta) if key not in read or read[key] != meta[key]
        }
    return draft


def with_sound_metadata(obj: JsonDict, names: Container[str] = META_FIELDS) -> JsonDict:
    """Return a custom resource without what cannot be read of these members of its metadata."""
    meta = obj.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        return {**obj, "metadata": {}}
    members = (meta or {}).items()
    sound = {key: value for key, value in members if key not in names or _is_sound(key, value)}
    return obj if sound == meta else {**obj, "metadata": sound}


def _is_sound(key: str, value: object) -> bool:
    return struct_decoding.first_fault(_meta_codec(), {key: value}) is None


def _meta_codec() -> struct_decoding.StructCodec:
    return struct_decoding.struct_codec(schema_packs.OBJECT_META)


# To read, default and complete again what a patch has left alone took a seventh of the steps of a
# merge patch of a Deployment.
def _drafted_beside(
    obj: JsonObject, gvk: GroupVersionKind, context: DefaultingContext, stored: JsonObject
) -> Draft | None:
    """Return what `drafted` does, past the parts that the object has of a stored one; None where
    all has to be looked at. The metadata, which each write changes, is nothing that they share."""
    gates = gates_of(context)
    rules, codec = sharing_rules(gvk, gates), struct_decoding.codec_for(gvk)
    exact = struct_decoding.codec_for(gvk, struct_decoding.Reading.EXACT)
    if rules is None or codec is None or exact is None:
        return None
    before = {key: part for key, part in stored.items() if key != "metadata"}
    shared: SharedParts = {}
    try:
        decoded = exact.decode_changed(obj, before, shared)
    except (struct_decoding.Inexact, DecodeError, Mismatch, RecursionError):
        return None  # what is wrong with it is told of the whole
    if not shared or not rules.are_settled(decoded, stored):
        return None
    decoded["apiVersion"], decoded["kind"] = gvk.api_version, gvk.kind
    run = Run(decoded, context, gates, settled=shared, shared=shared)
    for rule in rules.rules:
        rule(decoded, run)
    return Draft(gvk, decoded, codec, run, is_exact=True)


def _drafted(
    obj: JsonObject, gvk: GroupVersionKind, context: DefaultingContext
) -> tuple[JsonDict, struct_decoding.StructCodec, Run, bool]:
    result, codec, is_exact, empties = _decoded(obj, gvk)
    run = Run(result, context, gates_of(context), empties=empties)
    _default(run, gvk)
    return result, codec, run, is_exact


def defaulted(
    obj: JsonObject, gvk: GroupVersionKind, context: DefaultingContext = _PLAIN
) -> JsonDict:
    """Return the object decoded and defaulted, with everything else as it was sent."""
    draft = drafted(obj, gvk, context)
    draft.complete()
    return draft.decoded


_OLD_AUTOSCALER: Final = GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler")


def stored_form(
    obj: JsonObject, gvk: GroupVersionKind, context: DefaultingContext = _PLAIN
) -> JsonDict:
    """Return the object as it is read back after a write: without empty lists, defaulted once more.

    For kinds that are not built in: as it is. The storage version is taken to be that of `gvk`,
    but of autoscalers, whose behavior has defaults in the newer version only.
    """
    if gvk == _OLD_AUTOSCALER:
        result = stored_form(to_v2(obj), gvk._replace(version="v2"), context)
        return {**to_v1(result), "apiVersion": gvk.api_version}
    codec, stored = (
        struct_decoding.codec_for(gvk),
        struct_decoding.codec_for(gvk, struct_decoding.Reading.STORED),
    )
    if codec is None or stored is None:
        return dict(obj)
    decoded = struct_decoding.decode(stored, obj)
    decoded["apiVersion"], decoded["kind"] = gvk.api_version, gvk.kind
    _default(Run(decoded, context, gates_of(context)), gvk)
    _complete(decoded, codec)
    return decoded


def _default(run: Run, gvk: GroupVersionKind) -> None:
    apply_phase(run, gvk, DEFAULT)
    apply_phase(run, gvk, CONVERT)


def apply_phase(run: Run, gvk: GroupVersionKind, phase: str) -> None:
    """Lets the rules of one phase change the object of the run in place."""
    for rule in compiled(gvk, phase, run.gates, run.context.plugins):
        rule(run.root, run)


def gates_of(context: DefaultingContext) -> frozenset[str]:
    """Return the feature gates that are on, by default or because the context says so."""
    return _gates(tuple(sorted(context.gates.items())))


@per_release(maxsize=64)
def _gates(overrides: tuple[tuple[str, bool], ...]) -> frozenset[str]:
    return enabled_gates(dict(overrides))


@per_release(maxsize=1024)
def has_identity(gvk: GroupVersionKind) -> bool:
    """Return whether created objects get a uid and a time: those that are stored, and token
    requests."""
    resource = known_resources(all_versions=True).by_gvk(gvk)
    is_builtin = struct_decoding.codec_for(gvk) is not None
    is_stored = resource is not None and resource.storage_version != ""
    return is_stored or not is_builtin or gvk == TOKEN_REQUEST


# --- decoding ---


def _decoded(
    obj: JsonObject, gvk: GroupVersionKind
) -> tuple[JsonDict, struct_decoding.StructCodec, bool, tuple[struct_decoding.EmptyValue, ...]]:
    """Decode an object. The third says that no field is unknown, and none empty; of custom
    resources that is not known. The last are the values that came empty and are left out."""
    read = struct_decoding.decode_kind(obj, gvk)
    if read is None:
        return *_decoded_custom(obj), False, ()
    result, codec, is_exact = read
    empties = () if is_exact else struct_decoding.empty_values(codec, obj)
    result["apiVersion"], result["kind"] = gvk.api_version, gvk.kind
    return result, codec, is_exact, empties


def _decoded_custom(obj: JsonObject) -> tuple[dict[str, object], struct_decoding.StructCodec]:
    """Decode a custom resource, of which only the metadata has a type; the rest is JSON and stays
    as it is.

    It is shared with the object given in: nothing changes it afterwards.
    """
    codec = _meta_codec()
    result = {key: value for key, value in obj.items() if key != "metadata"}
    meta = obj.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        raise DecodeError(_no_metadata(meta), FieldPath("metadata"))
    try:
        result["metadata"] = struct_decoding.decode(codec, meta or {})
    except DecodeError as error:
        locate(error, "metadata")
        raise
    return result, codec


def _no_metadata(value: object) -> str:
    return f"json: cannot unmarshal {json_kind(value)} into Go value of type v1.ObjectMeta"


def _complete(
    obj: JsonDict, codec: struct_decoding.StructCodec, settled: Container[int] = frozenset()
) -> None:
    """Add the fields that are always written, but not to parts with these identities. A custom
    resource has a struct for its metadata alone, and leaves out a time that is not set in all
    releases."""
    if codec.name != schema_packs.OBJECT_META:
        codec.complete(obj, settled)
        return
    meta = obj["metadata"]
    codec.complete(meta)
    if "creationTimestamp" in meta and meta["creationTimestamp"] is None:
        del meta["creationTimestamp"]


# --- defaulting again ---


class ChangedDefaulting(NamedTuple):
    """Defaulting an object of a kind again, where little was changed. `triggers` say by component
    what changes may have consequences."""

    gvk: GroupVersionKind
    context: DefaultingContext
    gates: frozenset[str]
    rules: SharingRules
    triggers: Mapping[str, Triggers]

    def run(self, obj: JsonDict) -> Run:
        """Return the object on its way through the rules."""
        return Run(obj, self.context, self.gates)

    def default(self, run: Run, settled: Container[int]) -> None:
        """Default what was changed; parts with these identities are left alone."""
        codec = struct_decoding.codec_for(self.gvk)
        assert codec is not None, f"{self.gvk} is built in"
        run.settled = settled
        for rule in self.rules.rules:
            rule(run.root, run)
        codec.complete(run.root, settled)


def changed_defaulting(
    gvk: GroupVersionKind, context: DefaultingContext
) -> ChangedDefaulting | None:
    """Return how changed parts are defaulted; None for a built-in kind of which all must be
    defaulted again whatever was changed."""
    gates = gates_of(context)
    rules = sharing_rules(gvk, gates)
    if rules is None:
        return None
    return ChangedDefaulting(gvk, context, gates, rules, triggers(gvk, gates))


# --- Where a write goes ------------------------------------------------------
#
# Where a write goes, whether an object belongs there, and what is kept and shown of it.
#
# A `Target` is a resource or what is below it, a namespace and a name. `require_namespace` and
# `require_name` compare an object with it, as k8s.io/apiserver `pkg/registry/rest/meta.go` and
# `pkg/endpoints/handlers`. `stored_object` is what a store gets of it, `shown_object` what clients
# get. `scale_of` and `scaled` are the `scale` of an object, made from it and written back into it:
# built-in kinds keep their counts in `spec.replicas` and `status.replicas`, a custom kind where its
# CustomResourceDefinition says. As k8s.io/kubernetes `pkg/registry/apps/*/storage/storage.go` and
# k8s.io/apiextensions-apiserver `pkg/registry/customresource/etcd.go`.


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long. What follows from the fields is worked out at once, since a
# create asks for it 40 times, and a property takes Python 3.11 a thousand instructions.
@dataclass(slots=True)
class Target:
    """Says where an object goes. `namespace` and `name` are those of the URL: the name is empty for
    a create in a collection, the namespace for cluster-scoped resources. `custom` is what the
    resource's CustomResourceDefinition says about its kind, if there is one. `kind` is what the
    endpoint reads and shows, `schema` the custom kind whose schema holds for that: not for its
    scale."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    custom: CustomKind | None = None
    kind: GroupVersionKind = field(init=False, repr=False, compare=False)
    group_kind: GroupKind = field(init=False, repr=False, compare=False)
    schema: CustomKind | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kind = self.resource.kind_of(self.subresource)
        assert kind is not None, f"{self.resource.gvr} has no {self.subresource}"
        self.kind = kind
        self.group_kind = kind.group_kind
        self.schema = None if self.subresource == "scale" else self.custom

    @property
    def group_resource(self) -> GroupResource:
        return self.resource.gvr.group_resource

    @property
    def is_scale_of_custom(self) -> bool:
        """Return whether it is the scale of a custom resource."""
        return self.subresource == "scale" and self.custom is not None

    @property
    def is_namespaced(self) -> bool:
        return self.resource.namespaced

    @property
    def scale_paths(self) -> ScalePaths:
        """Return where the counts are that the scale of the object shows."""
        custom = self.custom
        return (None if custom is None else custom.scale) or BUILT_IN


# --- does an object belong there? ---


def require_namespace(draft: Draft, target: Target) -> None:
    """Give an object without a namespace that of the URL, and take it from one of a cluster-scoped
    kind, or where the URL has none. StatusError (400) when the object names another."""
    meta = draft.meta
    if meta is None:
        return
    namespace = metadata.namespace(draft.decoded)
    if not target.is_namespaced or not target.namespace:
        meta.pop("namespace", None)
    elif namespace and namespace != target.namespace:
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    else:
        meta["namespace"] = target.namespace


def require_name(draft: Draft, target: Target) -> None:
    """Raise StatusError (400) unless the object of an update has the name of the URL."""
    if draft.meta is None:
        return
    name = metadata.name(draft.decoded)
    if not name:
        raise undeterminable(target)
    if name != target.name:
        raise status.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )


def undeterminable(target: Target) -> StatusError:
    """400 for an object without a name."""
    return status.bad_request(
        f"the name of the object ({target.name} based on URL) was undeterminable: name must be "
        "provided"
    )


# --- what is kept and shown ---


def stored_object(
    obj: JsonObject, target: Target, context: DefaultingContext, *, is_mutated: bool = False
) -> JsonDict:
    """Return what is read back of an object that was admitted."""
    kind = target.kind
    stored = stored_form(obj, kind, context)
    if target.schema is not None:
        stored = target.schema.read_back(stored, is_mutated=is_mutated)
    return {**stored, "apiVersion": kind.api_version, "kind": kind.kind}


def without_link(obj: JsonDict) -> JsonDict:
    """Return the object, or one like it, without a link to itself, which no store keeps."""
    meta = metadata.metadata(obj)
    if "selfLink" not in meta:
        return obj
    return {**obj, "metadata": {key: meta[key] for key in meta if key != "selfLink"}}


def shown_object(
    obj: JsonObject, target: Target, *, no_count: int | None = None
) -> dict[str, object]:
    """Return a stored object, in the endpoint's version, as the endpoint shows it. A scale has
    `no_count` where a custom resource has no count; None: StatusError (500), for who wants to read
    it."""
    if target.subresource == "scale":
        return scale_of(obj, target.scale_paths, no_count)
    return {**obj, "apiVersion": target.kind.api_version, "kind": target.kind.kind}
