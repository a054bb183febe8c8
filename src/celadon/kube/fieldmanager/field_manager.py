"""Keeps `metadata.managedFields` of a server's objects, write by write.

    track_create(draft, target, writer)                      after the body was read
    track_update(draft, sent, live, target, writer)          the same, for updates and patches
    merged = applied(config, live, target, writer, force=…)  server-side apply: in place of a patch
    read_applied(merged, target, context)                    … which is then read as any object

All come before mutating admission: what that changes, and what a server fills in afterwards, is
nobody's. Before an object is stored, `with_old_times` makes a write of the same no write. The
writer's time is that of the server's clock. As k8s.io/apimachinery
`pkg/util/managedfields/fieldmanager.go` and the managers in its `internal`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from celadon.kube import metadata, status
from celadon.kube.crd.custom_kinds import CustomKind, invalid_version
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.fieldmanager import managed_fields
from celadon.kube.fieldmanager.field_ownership import ConflictError, KindVersion, Ownership
from celadon.kube.fieldmanager.field_sets import FieldSet, path_text
from celadon.kube.fieldmanager.merge_types import (
    ItemError,
    MergeType,
    UnshownVersion,
    built_in_type,
    type_of,
)
from celadon.kube.fieldmanager.structured_merge import (
    applied_set,
    compared,
    fitting_set,
    joined,
    misfits,
    same,
)
from celadon.kube.go.go_json import RawWays, with_raw
from celadon.kube.go.go_text import json_text, quote, sorted_members
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh
from celadon.kube.names import ApiVersionError, GroupVersionKind, parse_api_version
from celadon.kube.registry.create import SERVER_OWNED
from celadon.kube.registry.decoded_object import Draft, Target, shown_object
from celadon.kube.registry.request_bodies import Incoming, draft_of
from celadon.kube.releases import per_release
from celadon.kube.schemas.schema_packs import raw_ways
from celadon.kube.schemas.struct_decoding import codec_for, with_empty_values
from celadon.kube.schemas.unstructured_conversion import with_go_numbers
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.status import Status, StatusCause, StatusDetails, StatusError
from celadon.records import dataclass

# --- Conflict texts ----------------------------------------------------------
#
# What a client is told when an apply is refused.
#
# As k8s.io/apimachinery `pkg/util/managedfields/internal/{conflict,structuredmerge}.go`.

FIELD_MANAGER_CONFLICT: Final = "FieldManagerConflict"
"""The reason of each cause."""

MANAGED_FIELDS_GIVEN: Final = "metadata.managedFields must be nil"


def manager_text(manager: managed_fields.ManagerId) -> str:
    """`"m1" with subresource "status" using apps/v1`."""
    text = quote(manager.name)
    if manager.subresource:
        text += f" with subresource {quote(manager.subresource)}"
    return (
        f"{text} using {manager.api_version}"
        if manager.operation == managed_fields.UPDATE
        else text
    )


def conflict_status(error: ConflictError) -> StatusError:
    """409, with a cause for every field."""
    managers = sorted(error.conflicts, key=managed_fields.ManagerId.sort_text)
    result = {
        manager_text(manager): [path_text(path) for path in error.conflicts[manager].paths()]
        for manager in managers
    }
    causes = tuple(
        StatusCause(f"conflict with {manager}", FIELD_MANAGER_CONFLICT, path)
        for manager, paths in result.items()
        for path in paths
    )
    if len(causes) == 1:
        text = f"1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        lines: list[str] = []
        for manager, paths in result.items():
            lines += [f"conflicts with {manager}:", *(f"- {path}" for path in paths)]
        text = f"{len(causes)} conflicts: " + "\n".join(lines)
    details = StatusDetails(causes=causes)
    return StatusError(
        Status(message=f"Apply failed with {text}", reason="Conflict", details=details, code=409)
    )


def other_kind(kind: GroupVersionKind) -> StatusError:
    """400: the body is of another kind or version than the endpoint."""
    return status.bad_request(f"invalid object type: {kind}")


def not_typed(config: JsonObject, kind: GroupVersionKind, reason: str) -> StatusError:
    """500: the body does not fit the schema."""
    return status.plain_error(
        f"failed to create typed patch object ({_named(config, kind)}): {reason}"
    )


_NO_MANAGER: Final = "failed to create manager for existing fields"


def live_not_typed(live: JsonObject, kind: GroupVersionKind, reason: str) -> StatusError:
    """500: what is stored does not fit the schema."""
    return status.plain_error(
        f"failed to create typed live object ({_named(live, kind)}): {reason}"
    )


def not_managed(live: JsonObject, kind: GroupVersionKind, reason: str) -> StatusError:
    """500: the same, where nobody was known yet to own anything of it."""
    return status.plain_error(
        f"{_NO_MANAGER}: failed to convert new object ({_named(live, kind)}) to smd typed: {reason}"
    )


def no_custom_scale(subject: str, kind: GroupVersionKind) -> str:
    """Say why nothing can be applied to the scale of a custom resource: upstream converts it as if
    it were one."""
    reason = invalid_version("to", kind.api_version)
    return f"failed to convert {subject} to proper version: {reason}"


def not_converted(config: JsonObject, kind: GroupVersionKind, reason: str) -> StatusError:
    """500: a value of the merged object does not fit Go's type."""
    return status.plain_error(
        f"failed to convert new object ({_named(config, kind)}) to proper version: "
        f"unable to convert unstructured object to {kind}: {reason}"
    )


def _named(config: JsonObject, kind: GroupVersionKind) -> str:
    """Names as the body has them."""
    return f"{metadata.namespace(config)}/{metadata.name(config)}; {kind}"


# --- Last applied ------------------------------------------------------------
#
# The annotation of kubectl's client-side apply, which its server-side apply takes over from.
#
# As k8s.io/apimachinery `pkg/util/managedfields/internal/{lastapplied,lastappliedmanager,
# lastappliedupdater}.go`.

KUBECTL: Final = "kubectl"
"""The only manager that this is done for."""

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps what it was given."""
MAX_ANNOTATIONS: Final = 256 * 1024
"""Bytes of all annotations, keys and values."""


def applied_configuration(live: JsonObject) -> dict[str, Json]:
    """Return what was applied to the object last; empty where no annotation says so."""
    try:
        config = json.loads(metadata.annotations(live).get(LAST_APPLIED, ""))
    except (ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def configured(config: JsonObject) -> dict[str, Json]:
    """Return the configuration as `kubectl apply` sends it: with itself in the annotation."""
    meta = metadata.metadata(config)
    annotations = {
        key: annotation for key, annotation in _annotations(meta).items() if key != LAST_APPLIED
    }
    text = _text_of({**config, "metadata": {**meta, "annotations": annotations}})
    return {**config, "metadata": {**meta, "annotations": {**annotations, LAST_APPLIED: text}}}


def last_applied_set(type_: MergeType, live: JsonObject, api_version: str) -> FieldSet | None:
    """Return what the annotation says and the object still has: what kubectl may change although
    others own it. None when there is no readable annotation of that version."""
    config = applied_configuration(live)
    if config.get("apiVersion") != api_version:
        return None
    if misfits(type_, config):
        return None
    try:
        changes = compared(type_, config, live)
    except ItemError:
        return None
    field_set = applied_set(type_, config)
    return field_set - changes.modified - changes.added - changes.removed


def with_last_applied(obj: JsonObject, config: JsonObject) -> dict[str, object]:
    """Return the object with the annotation renewed, if it has it."""
    result = dict(obj)
    annotations = metadata.annotations(obj)
    if not annotations.get(LAST_APPLIED):
        return result
    annotations[LAST_APPLIED] = _text_of(config)
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > MAX_ANNOTATIONS:
        del annotations[LAST_APPLIED]
    result["metadata"] = {**metadata.metadata(obj), "annotations": annotations}
    return result


def _annotations(meta: JsonObject) -> JsonObject:
    """Return the annotations as they are given, so that they can be refused for what they are."""
    result = meta.get("annotations")
    return result if isinstance(result, dict) else {}


def _text_of(config: JsonObject) -> str:
    """Write the configuration as kubectl does: sorted, without the annotation itself, with a line
    end."""
    meta = dict(metadata.metadata(config))
    if isinstance(meta.get("annotations"), dict):
        value = meta["annotations"]
        meta["annotations"] = {key: value[key] for key in value if key != LAST_APPLIED}
    return json_text(sorted_members({**config, "metadata": meta})) + "\n"


BEFORE_FIRST_APPLY: Final = "before-first-apply"
"""The manager that owns what an object had before anybody was known to own anything."""

_SCALE: Final = "scale"


def _no_custom_kind(_: GroupVersionKind) -> CustomKind | None:
    return None


def _relabelled(obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
    return {**obj, "apiVersion": kind.api_version, "kind": kind.kind}


@dataclass(frozen=True, slots=True)
class Versions:
    """Says how a server knows the versions of a kind: the custom kinds, and an object of one
    version shown in another."""

    custom: Callable[[GroupVersionKind], CustomKind | None] = _no_custom_kind
    convert: Callable[[JsonObject, GroupVersionKind], JsonObject] = _relabelled


@dataclass(frozen=True, slots=True)
class FieldWriter:
    """Says who writes: the manager of the request (empty if it does not say), and when."""

    manager: str
    now: str
    versions: Versions = Versions()


# --- creates and updates ---


def track_create(draft: Draft, target: Target, writer: FieldWriter) -> None:
    """Give a new object its managers: the writer owns what is in it, and those in its body keep
    what is not. What is created below an object (a binding, an eviction) has managers, too, unless
    it was sent in another version."""
    meta = draft.meta
    if meta is None or draft.gvk != target.kind:
        return
    sent = {"metadata": {"managedFields": meta.pop("managedFields", None)}}
    draft.complete()
    client_meta = {key: value for key, value in meta.items() if key not in SERVER_OWNED}
    endpoint, new = _Endpoint(target, writer), {**draft.decoded, "metadata": client_meta}
    others = managed_fields.managers_of_update({}, sent, is_subresource=bool(target.subresource))
    if others.owned:
        _write(draft, endpoint.updated(endpoint.zero(), new, others))
        return
    entry = endpoint.created(new)
    if entry is not None:
        meta["managedFields"] = [entry]


def track_update(
    draft: Draft, sent: JsonObject, live: JsonObject, target: Target, writer: FieldWriter
) -> None:
    """Give a changed object its managers. `sent` is the document as it was read (or patched),
    `live` the stored object, of the object itself also where a subresource is written. A scale has
    managers of its own, see `parent_managers`."""
    meta = draft.meta
    if meta is None:
        return
    meta.pop("managedFields", None)
    endpoint = _Endpoint(target, writer)
    draft.complete()
    filled = _with_empties(draft, endpoint.type)
    if target.custom is not None and not metadata.metadata(sent).get("managedFields"):
        # the metadata of a custom resource is read on the way, which loses an empty list: it says
        # nothing, where that of a built-in kind takes all managers away.
        sent = {**sent, "metadata": _without_managers(sent)}
    parent = managed_fields.managers_of_update(live, sent, is_subresource=bool(target.subresource))
    if target.subresource != _SCALE:
        _write(draft, endpoint.updated(endpoint.shown(live), filled, parent))
        return
    managers = managed_fields.managers_of_scale(parent, endpoint.count_path)
    _write(draft, endpoint.updated(endpoint.shown(live), filled, managers))


def forget_managers(draft: Draft) -> None:
    """Take all managers from a changed object that says to be of another kind: upstream cannot
    convert it, and goes on without them."""
    if draft.meta is not None:
        draft.meta.pop("managedFields", None)


def _with_empties(draft: Draft, type_: MergeType) -> JsonDict:
    """Return the new object with what came empty inside of lists that are owned as a whole:
    upstream compares these as Go's structs, which tell empty from absent."""
    inside = [empty for empty in draft.run.empties if _is_in_atomic_list(empty.path, type_)]
    return with_empty_values(draft.decoded, inside) if inside else draft.decoded


def _is_in_atomic_list(path: Sequence[str | int], type_: MergeType | None) -> bool:
    for step in path:
        if type_ is None:
            return False
        if isinstance(step, str):
            type_ = None if type_.map is None else type_.map.child(step)
        elif type_.list is None or type_.list.atomic:
            return type_.list is not None
        else:
            type_ = type_.list.item
    return False


def _outside_atomic_lists(ways: RawWays, type_: MergeType) -> RawWays:
    """Return those of the ways that lead into no list which is owned as a whole."""
    result: dict[str, RawWays] = {}
    for name, below in ways.items():
        child = None if type_.map is None else type_.map.child(name)
        if child is not None and child.list is not None:
            child = None if child.list.atomic else child.list.item
        if child is not None and (not below or (below := _outside_atomic_lists(below, child))):
            result[name] = below
    return result


def scale_managers(live: JsonObject, target: Target, writer: FieldWriter) -> list[JsonDict]:
    """Return the entries of `managedFields` that the scale of a stored object has."""
    try:
        parent = managed_fields.managers_of(live)
    except managed_fields.EntryError:
        return []
    endpoint = _Endpoint(target, writer)
    return managed_fields.encoded(managed_fields.managers_of_scale(parent, endpoint.count_path))


def _without_managers(obj: JsonObject) -> dict[str, Json]:
    meta = metadata.metadata(obj)
    return {key: value for key, value in meta.items() if key != "managedFields"}


def parent_managers(
    scale: JsonObject, live: JsonObject, target: Target, writer: FieldWriter
) -> list[JsonDict]:
    """Return the entries of `managedFields` of a stored object after a write to its scale, which
    has entries of its own. Unreadable ones say nothing."""
    parent = managed_fields.managers_of_update(live, {}, is_subresource=True)
    try:
        managers = managed_fields.managers_of(scale)
    except managed_fields.EntryError:
        managers = managed_fields.Managers()
    return managed_fields.encoded(_Endpoint(target, writer).of_parent(parent, managers))


def _write(draft: Draft, managers: managed_fields.Managers) -> None:
    if managers.owned:
        draft.decoded["metadata"]["managedFields"] = managed_fields.encoded(managers)


# --- apply ---


def _is_malformed(config: JsonObject) -> bool:
    """Return whether the version is none at all, beside which upstream reads no kind."""
    version = config.get("apiVersion")
    try:
        parse_api_version(version if isinstance(version, str) else "")
    except ApiVersionError:
        return True
    return False


def applied(
    config: JsonObject,
    live: JsonObject | None,
    target: Target,
    writer: FieldWriter,
    *,
    force: bool = False,
) -> JsonDict:
    """Return the object that follows from an apply, with its managers, in the endpoint's version;
    `live` is None when there is none yet, and for a scale the object that it belongs to.

    StatusError: 400 for a body of another kind, 409 for conflicts, 500 for a body that does not fit
    the schema.
    """
    gvk = metadata.gvk(config)
    if gvk != target.kind:
        raise other_kind(GroupVersionKind("", "", "") if _is_malformed(config) else gvk)
    endpoint = _Endpoint(target, writer)
    result, managers = endpoint.applied(config, live, force=force)
    if live is None and metadata.uid(result):
        reason = (
            f"uid mismatch: the provided object specified uid {metadata.uid(result)}, and no "
            "existing object was found"
        )
        raise status.conflict(target.group_resource, target.name, reason)
    meta = dict(metadata.metadata(result))
    if managers.owned:
        meta["managedFields"] = managed_fields.encoded(managers)
    return {**result, "metadata": meta}


def read_applied(
    document: JsonObject, target: Target, context: DefaultingContext, config: JsonObject
) -> Incoming:
    """Return what `applied` made, read as any body. StatusError (500) when a value does not fit
    Go's type; `config` is the body, by whose names the object is called then."""
    try:
        try:
            draft = draft_of(document, target, context, is_applied=True)
        except DecodeError:  # mostly all numbers are Go's already: to look for others takes as long
            read = with_go_numbers(document, target.kind)
            draft = draft_of(read, target, context, is_applied=True)
    except DecodeError as error:
        raise not_converted(config, target.kind, error.alone) from error
    return Incoming(target.kind, draft, dict(document))


# --- what both need ---


def _fitting(obj: JsonObject, type_: MergeType) -> JsonObject:
    """Return an object that was converted. Raises UnshownVersion for one that its version does not
    know."""
    faults = misfits(type_, obj)
    if faults:
        raise UnshownVersion(joined(faults))
    return obj


class _Endpoint:
    """One write to one endpoint."""

    __slots__ = ("_ownership", "_target", "_writer", "type")

    def __init__(self, target: Target, writer: FieldWriter) -> None:
        self._target = target
        self._writer = writer
        self.type = type_of(target.kind, target.schema)
        is_scale = target.subresource == _SCALE
        limits = managed_fields.Writable() if is_scale else managed_fields.writable(target)
        self._ownership = Ownership(target.kind.api_version, self.type, limits, self._version)

    def _version(self, api_version: str) -> KindVersion | None:
        if self._target.subresource == _SCALE:
            return None
        versions, mine = self._writer.versions, self._target.kind
        group, version = parse_api_version(api_version)
        other = GroupVersionKind(group, version, mine.kind)
        custom = versions.custom(other) if group == mine.group else None
        if custom is None:
            if self._target.custom is not None:
                # another error upstream than for built-in kinds, which forget such managers
                raise UnshownVersion(invalid_version("to", api_version))
            if group != mine.group or built_in_type(other) is None:
                return None
            return KindVersion(
                type_of(other, None),
                lambda obj: versions.convert(obj, other),
                lambda obj: versions.convert(obj, mine),
            )
        type_ = type_of(other, custom)
        return KindVersion(
            type_,
            lambda obj: _fitting(versions.convert(obj, other), type_),
            lambda obj: _fitting(versions.convert(obj, mine), self.type),
        )

    def zero(self) -> JsonDict:
        """Return what a new object is compared with; a copy."""
        result: dict[str, object] = fresh(_zero(self._target.kind))
        return result

    def shown(self, live: JsonObject) -> JsonDict:
        """Return a stored object as the endpoint shows it, without its managers."""
        visible = shown_object(live, self._target, no_count=0)
        meta = {**metadata.metadata(visible)}
        meta.pop("managedFields", None)
        return {**visible, "metadata": meta}

    def created(self, new: JsonObject) -> dict[str, Json] | None:
        """Return the entry of the writer of a new object; None when nothing in it can be owned."""
        target = self._target
        if self._misfit(new):
            return None
        try:
            fields = self._ownership.new_fields(_zero(target.kind), new)
        except ItemError:
            return None
        version = target.kind.api_version
        writer = managed_fields.manager_id(
            self._writer.manager, managed_fields.UPDATE, version, target.subresource
        )
        return (
            managed_fields.entry_of(writer, version, fields, self._writer.now) if fields else None
        )

    def updated(
        self, live: JsonObject, new: JsonObject, managers: managed_fields.Managers
    ) -> managed_fields.Managers:
        """Return the managers after an update. The same when nobody owns anything of an object that
        is stored. None are left when the objects do not fit their schema or cannot be compared,
        since that is no reason to refuse a write, nor when one cannot be shown in a version in
        which somebody owns fields."""
        if not managers.owned and metadata.uid(live):
            return managers
        if self._misfit(new) or self._misfit(live):
            return managed_fields.Managers()
        return self._updated(live, new, managers, self._writer.manager)

    def _misfit(self, obj: JsonObject) -> str:
        """Return why a custom resource has no typed value; empty for those that have one. Its
        schema may be newer than itself, and takes a list of numbers for bytes. Built-in kinds were
        read by their types."""
        if self._target.schema is None:
            return ""
        errors = misfits(self.type, obj, duplicates=True)
        return joined(errors) if errors else ""

    def _updated(
        self, live: JsonObject, new: JsonObject, managers: managed_fields.Managers, name: str
    ) -> managed_fields.Managers:
        target = self._target
        writer = managed_fields.manager_id(
            name, managed_fields.UPDATE, target.kind.api_version, target.subresource
        )
        timeless = target.custom is not None and target.subresource == _SCALE
        now = "" if timeless else self._writer.now  # upstream loses it on the way
        # Within atomic lists upstream compares Go's structs, and so the texts of raw JSON.
        ways = _outside_atomic_lists(raw_ways(target.kind), self.type)
        before, after = with_raw(live, ways, dict), with_raw(new, ways, dict)
        try:
            updated = self._ownership.updated(before, after, managers, writer, now)
        except (ItemError, UnshownVersion):
            return managed_fields.Managers()
        managed_fields.limit_updaters(updated)
        return updated

    def applied(
        self, config: JsonObject, live: JsonObject | None, *, force: bool
    ) -> tuple[JsonDict, managed_fields.Managers]:
        """Return the object with the configuration in it, and its managers. StatusError on
        conflicts."""
        target = self._target
        parent = managed_fields.Managers() if live is None else _strict_managers(live)
        is_scale = target.subresource == _SCALE
        managers = managed_fields.managers_of_scale(parent, self.count_path) if is_scale else parent
        before = self.zero() if live is None else self.shown(live)
        misfit = "" if live is None else self._misfit(before)
        if not managers.owned and live is not None:
            if target.is_scale_of_custom:
                reason = no_custom_scale(f"live object (/; {target.kind})", target.kind)
                raise status.plain_error(f"{_NO_MANAGER}: {reason}")
            if misfit:
                raise not_managed(before, target.kind, misfit)
            managers = self._updated(self.zero(), before, managers, BEFORE_FIRST_APPLY)
        fields = self._fitting_fields(config)
        if misfit:
            raise live_not_typed(before, target.kind, misfit)
        result, updated = self._applied(config, fields, before, managers, force=force)
        if target.is_scale_of_custom and not same(result, before):
            named = f"new object ({_named(config, target.kind)})"
            raise status.plain_error(no_custom_scale(named, target.kind))
        return result, updated

    def _fitting_fields(self, config: JsonObject) -> FieldSet:
        """Return the fields of a configuration. StatusError for one that cannot be applied to
        anything."""
        if metadata.metadata(config).get("managedFields") is not None:
            raise status.bad_request(MANAGED_FIELDS_GIVEN)
        fields = fitting_set(self.type, config)
        if fields is None:
            raise not_typed(config, self._target.kind, joined(misfits(self.type, config)))
        return fields

    def _applied(
        self,
        config: JsonObject,
        fields: FieldSet,
        live: JsonObject,
        managers: managed_fields.Managers,
        *,
        force: bool,
    ) -> tuple[dict[str, Json], managed_fields.Managers]:
        target, manager, before = self._target, self._writer.manager, live
        live = with_raw(live, raw_ways(target.kind), dict)
        applier = managed_fields.manager_id(
            manager, managed_fields.APPLY, target.kind.api_version, target.subresource
        )

        def attempt(*, force: bool) -> tuple[JsonDict, managed_fields.Managers]:
            return self._ownership.applied(
                live, config, managers, applier, force=force, applied_fields=fields
            )

        try:
            result, updated = attempt(force=force)
        except ConflictError as error:
            if not self._only_last_applied(error, live):
                raise conflict_status(error) from None
            result, updated = attempt(force=True)
        except UnshownVersion as error:
            raise status.plain_error(str(error)) from None
        if result != live or not same(result, dict(live)):
            updated.times[applier] = self._writer.now
            if target.schema is not None:  # as upstream, nothing is defaulted where nothing changes
                result = target.schema.mutated(result)
        else:
            result = dict(before)
        if manager == KUBECTL:
            result = with_last_applied(result, config)
        return result, updated

    def _only_last_applied(self, error: ConflictError, live: JsonObject) -> bool:
        """Return whether kubectl may resolve the conflicts by force, since all are about what it
        once applied by its former means; else those are taken out of the error."""
        if self._writer.manager != KUBECTL:
            return False
        allowed = last_applied_set(self.type, live, self._target.kind.api_version)
        if allowed is None:
            return False
        rest = {manager: fields - allowed for manager, fields in error.conflicts.items()}
        error.conflicts = {manager: fields for manager, fields in rest.items() if fields}
        return not error.conflicts

    def count_path(self, api_version: str) -> managed_fields.Path | None:
        """Return where objects of that version have the count that a scale is about."""
        custom = self._target.custom
        if custom is None:
            return managed_fields.REPLICAS
        mine = self._target.resource.gvk
        group, version = parse_api_version(api_version)
        if (group, version) != (mine.group, mine.version):
            custom = self._writer.versions.custom(GroupVersionKind(group, version, mine.kind))
        if custom is None:
            return None
        return () if custom.scale is None else managed_fields.field_path(custom.scale.spec_replicas)

    def of_parent(
        self, parent: managed_fields.Managers, scale: managed_fields.Managers
    ) -> managed_fields.Managers:
        """Return the managers of the object after a write to its scale."""
        version = self._target.resource.gvk.api_version
        return managed_fields.managers_of_parent(parent, scale, self.count_path, version)


def _strict_managers(live: JsonObject) -> managed_fields.Managers:
    try:
        return managed_fields.managers_of(live)
    except managed_fields.EntryError as error:
        raise status.plain_error(f"failed to decode managed fields: {error}") from error


@per_release(maxsize=512)
def _zero(kind: GroupVersionKind) -> JsonObject:
    """Return an empty object: of a Go type, with the structs that are always there."""
    result: dict[str, object] = {}
    codec = codec_for(kind)
    if codec is not None:
        result = codec.empty()
        codec.complete(result)
    return {"apiVersion": kind.api_version, "kind": kind.kind, **result}
