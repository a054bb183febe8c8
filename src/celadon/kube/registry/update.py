"""An update, step by step, from an object that was read to what is stored and answered.

    require_uid(uid, old, target)                        is it about the object that is there?
    begin_update(draft, target)                          its place and its name
    draft = draft.replaced(mutated)                      if mutators changed `draft.form()`,
    warnings = resume(draft, target)                     and what a server sets again after them
    require_state(draft.decoded, old, target)            is it about the state that is there?
    made = finish_update(draft, old, target)             what stays as it was, the generation
    strategy.write_errors(target, made, old, surroundings)     why it is refused with 422
    stored_update(draft, made, parent, target)           what is kept and answered

`old` is the object as the endpoint shows it (`target.shown`), `parent` the stored one. `updated`
does it for those who have no mutators. As k8s.io/apiserver `pkg/endpoints/handlers/update.go`,
`pkg/registry/rest/update.go` (BeforeUpdate) and `pkg/registry/generic/registry/store.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeAlias

from celadon.kube import fieldpath, metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.defaulting.defaulting_rules import update_rules
from celadon.kube.defaulting.dropped_fields import KIND_UPDATES, drop_unused, outlasts_keeping
from celadon.kube.defaulting.field_functions import count_templates
from celadon.kube.defaulting.workload_defaults import service_update
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue, parse_uint
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh, same
from celadon.kube.names import GroupKind, GroupResource, GroupVersionKind
from celadon.kube.registry.create import as_read, is_settled
from celadon.kube.registry.decoded_object import (
    Draft,
    Target,
    require_name,
    require_namespace,
    stored_object,
    without_link,
)
from celadon.kube.registry.request_bodies import draft_of
from celadon.kube.registry.scale import scaled
from celadon.kube.registry.strategy import (
    Strategy,
    repeated_owner_warnings,
    strategy_of,
    without_repeated_owners,
)
from celadon.kube.releases import is_since
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.struct_decoding import (
    EmptyValue,
    Steps,
    StructCodec,
    struct_codec,
    with_empty_values,
)
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.records import dataclass

SERVICE_KIND: Final = GroupVersionKind("", "v1", "Service")
DAEMON_SET_KIND: Final = GroupVersionKind("apps", "v1", "DaemonSet")


def updated(
    value: JsonObject, old: JsonObject, target: Target, context: DefaultingContext
) -> dict[str, object]:
    """Return the object as validating admission sees it: all steps from what was sent. DecodeError
    when a value does not fit the kind, StatusError as `begin_update`."""
    return finish_update(begin_update(draft_of(value, target, context), target), old, target)


# --- which object, and which state of it ---

_OWN_FOLDERS: Final[Mapping[tuple[str, str], str]] = {
    ("", "replicationcontrollers"): "controllers",
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "services"): "services/specs",
    ("networking.k8s.io", "ingresses"): "ingress",
}
"""Where upstream keeps what has a folder of its own. As k8s.io/kubernetes
`pkg/kubeapiserver/default_storage_factory_builder.go`."""
_GROUP_FOLDERS: Final = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
"""Groups of other servers than kube-apiserver's own, which keep theirs under their names."""


def require_uid(uid: str, old: JsonObject | None, target: Target, *, dry_run: bool = False) -> None:
    """Raise StatusError (409) when the client says with `uid` that the object is another. This is
    the first that is looked at, also of an object that there is not; a patch says nothing."""
    present = "" if old is None else metadata.uid(old)
    if uid and uid != present:
        reason = f"UID in precondition: {uid}, UID in object meta: {present}"
        raise failed_precondition(target, reason, dry_run=dry_run)


def failed_precondition(
    target: Target, reason: str, *, dry_run: bool = False
) -> status.StatusError:
    """Return the conflict (409) that the store itself finds."""
    return status.conflict(
        target.group_resource,
        target.name,
        f"StorageError: invalid object, Code: 4, Key: {storage_key(target, dry_run=dry_run)}, "
        f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {reason}",
    )


def require_state_of_scale(obj: JsonObject, old: JsonObject, target: Target) -> None:
    """Raise StatusError (409) when a scale is in another state than the one that there is, or that
    of a built-in kind is not that one; a patch can say so, too. `obj` is as mutating admission has
    left it."""
    uid, present = metadata.uid(obj), metadata.uid(old)
    if uid and uid != present and not target.is_scale_of_custom:
        group, resource = target.group_resource
        reason = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {present}"
        raise status.conflict(GroupResource(group, f"{resource}/scale"), target.name, reason)
    # That of a custom resource is passed on: 0 is none, and custom resources need one.
    is_given = target.is_scale_of_custom and bool(metadata.resource_version(obj))
    require_state(obj, old, target, needs_version=is_given)


def storage_key(target: Target, *, dry_run: bool = False) -> str:
    """Return where upstream keeps the object, as its messages show it; those of a dry run leave out
    the root."""
    group, folder = target.group_resource
    if target.resource.custom or group in _GROUP_FOLDERS:
        folder = f"{group}/{folder}"
    folder = _OWN_FOLDERS.get((group, folder), folder)
    space = f"{target.namespace}/" if target.is_namespaced else ""
    return f"{'' if dry_run else '/registry'}/{folder}/{space}{target.name}"


def require_state(obj: JsonObject, old: JsonObject, target: Target, *, needs_version: bool) -> None:
    """Raise StatusError (409) when the object is not in the state that the update was made for.
    `needs_version` says whether the kind refuses (422) an update that does not say so. `obj` is as
    mutating admission has left it."""
    resource, name = target.group_resource, target.name
    version = version_of(obj)
    if not version:
        if not needs_version:
            return
        required = fieldpath.invalid(
            FieldPath("metadata", "resourceVersion"),
            GoValue(0, "uint64"),
            "must be specified for an update",
        )
        raise status.invalid(GroupKind(resource.group, resource.resource), name, [required])
    if version != _number(metadata.resource_version(old)):
        raise status.modified(resource, name)


def version_of(obj: JsonObject) -> int:
    """Return the version that an update, also one that creates, is made for; 0 for none. Raises
    StatusError (500) for what is no number."""
    try:
        return _number(metadata.resource_version(obj))
    except ValueError as error:
        raise status.plain_error(str(error)) from None


def _number(version: str) -> int:
    """Return the resource version as a number, 0 for none. Raises ValueError."""
    return parse_uint(version) if version else 0


# --- mutating admission ---


def begin_update(draft: Draft, target: Target) -> Draft:
    """Return what mutating admission sees of a changed object. StatusError (400) when it belongs
    elsewhere."""
    require_namespace(draft, target)
    require_name(draft, target)
    return draft


def resume(draft: Draft, target: Target) -> list[str]:
    """Set again what a server sets, after a mutation, and return the warnings about it. StatusError
    (400) when the object belongs elsewhere now; the metadata of a scale is validated instead."""
    warnings = repeated_owner_warnings(draft.decoded, mutated=True)
    if target.subresource != "scale":
        require_namespace(draft, target)
    return warnings


# --- before validating admission ---


def finish_update(
    draft: Draft,
    old: JsonObject,
    target: Target,
    special: Mapping[GroupKind, Strategy] = {},
    empty_before: EmptyBytes = frozenset(),
) -> JsonDict:
    """Return the object as validating admission sees it; `old` is the object as the endpoint shows
    it, which came with empty bytes at `empty_before`. The draft is used up."""
    if target.subresource == "scale":
        return _changed_scale(draft, old)
    result = prepare_for_update(draft, old, empty_before, subresource=target.subresource)
    meta = result.get("metadata")
    if meta is not None and not strategy_of(target, special).needs_version:
        _fill_version(meta, old)
    custom = target.schema
    if custom is not None:
        _keep_custom(result, old, target.subresource, has_status=custom.has_status)
    return result


def _changed_scale(draft: Draft, old: JsonObject) -> dict[str, object]:
    """Return the old Scale with the new `spec`, and the managers that the draft has."""
    result: JsonDict = {**fresh(old), "spec": draft.form().get("spec", {})}
    managed = metadata.metadata(draft.decoded).get("managedFields")
    if managed:
        result["metadata"]["managedFields"] = managed
    return result


def _fill_version(meta: dict[str, object], old: JsonObject) -> None:
    """Fill in the version: an update that does not say which one it changes is about the present
    one."""
    if not meta.get("resourceVersion") and metadata.resource_version(old):
        meta["resourceVersion"] = metadata.resource_version(old)


EmptyBytes: TypeAlias = frozenset[Steps]
"""Where an object came with empty bytes."""

EMPTY_IS_NOT_NONE: Final = frozenset(
    {
        GroupKind("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        GroupKind("networking.k8s.io", "NetworkPolicy"),
    }
)
"""Kinds that upstream compares by `reflect.DeepEqual`: an empty list makes a new generation, since
stored objects have none."""

COUNTED_AS_SENT: Final = frozenset(
    {
        GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"),
        GroupKind("discovery.k8s.io", "EndpointSlice"),
        GroupKind("resource.k8s.io", "ResourceSlice"),
    }
)
"""Kinds of which what an update loses makes a new generation, too: it is counted before."""

_KEPT: Final = {"": "keep", "status": "statusKeep"}
"""By subresource: the rule of a kind that says what an update takes from the old object."""


def prepare_for_update(
    draft: Draft,
    old: JsonObject,
    empty_before: EmptyBytes = frozenset(),
    *,
    subresource: str = "",
) -> JsonDict:
    """Return the object of a draft after `PrepareForUpdate` of a built-in kind; the draft is used
    up."""
    result, rules, is_counted = draft.decoded, update_rules(draft.gvk), False
    draft.run.forget_changed()
    parts = PARTS.get((draft.gvk.kind, subresource), EVERYTHING)
    if parts.only is not None:
        result = only_parts(result, old, parts, draft.run.gates)
        draft.run.empties = [empty for empty in draft.run.empties if _is_below(empty, parts.only)]
        drop_unused(result, old, draft.gvk, draft.run, status=False)
    else:
        kept_fields = (
            rules.get(_KEPT[subresource], ()) if subresource in _KEPT else parts.kept_fields
        )
        _keep(result, old, kept_fields)
        draft.run.empties = [
            empty for empty in draft.run.empties if not _is_below(empty, kept_fields)
        ]
        if not subresource and draft.gvk == SERVICE_KIND:
            service_update(result.setdefault("spec", {}), old.get("spec") or {}, draft.run)
        if draft.gvk.group_kind in COUNTED_AS_SENT:
            draft.complete(result)
            is_counted = _differ(result, old, draft.codec, rules.get("bump", ()))
        _update_kind(draft, old, subresource)
    meta = result.get("metadata")
    if meta is not None:
        _carry_metadata(meta, metadata.metadata(old))
        without_repeated_owners(meta)
    draft.run.forget_changed()
    draft.complete(result)
    if draft.gvk == DAEMON_SET_KIND and meta is not None:
        is_same = not _differ(result, old, draft.codec, ("spec.template",))
        count_templates(meta, metadata.annotations(old), same=is_same or bool(subresource))
    counted = () if subresource == "status" else rules.get("bump", ())
    if meta is not None and (
        is_counted
        or _differ(result, old, draft.codec, counted)
        or _came_empty(draft, counted, empty_before)
    ):
        meta["generation"] = metadata.generation(old) + 1
    return result


def _update_kind(draft: Draft, old: JsonObject, subresource: str) -> None:
    """Do what is special about updates of the kind, and drop what gates do not allow."""
    kind_update = KIND_UPDATES.get((draft.gvk.group, draft.gvk.kind, subresource))
    drops_first = draft.gvk.kind == "PersistentVolumeClaim" or (
        draft.gvk.kind == "ResourceClaim" and is_since("1.35")
    )
    for is_drop in (drops_first, not drops_first):
        if is_drop and subresource in ("", "status"):
            drop_unused(draft.decoded, old, draft.gvk, draft.run, status=bool(subresource))
        elif not is_drop and kind_update is not None:
            kind_update(draft.decoded, old, draft.run.context.now)


def _carry_metadata(meta: dict[str, object], old: JsonObject) -> None:
    """Take from the old object what a client cannot touch. A deletion that the client made up
    stays, for validation to refuse."""
    _set_or_remove(meta, "creationTimestamp", old.get("creationTimestamp"))
    if old.get("deletionTimestamp"):
        meta["deletionTimestamp"] = old["deletionTimestamp"]
    for key in ("uid", "deletionGracePeriodSeconds"):
        if meta.get(key) in (None, ""):
            _set_or_remove(meta, key, old.get(key))
    _set_or_remove(meta, "generation", old.get("generation"))


def _set_or_remove(parent: JsonDict, key: str, value: object) -> None:
    if value is None:
        parent.pop(key, None)
    else:
        parent[key] = fresh(value)


def _keep(obj: JsonDict, old: JsonObject, paths: Iterable[str]) -> None:
    for path in paths:
        *parents, name = path.split(".")
        source, target = old, obj
        for parent in parents:
            source = source.get(parent) or {}
            target = target.setdefault(parent, {})
        managed = target.get(name, {}).get("managedFields") if name == "metadata" else None
        _set_or_remove(target, name, source.get(name))
        if name == "metadata":
            _set_or_remove(target[name], "managedFields", managed)


def _is_below(empty: EmptyValue, paths: Iterable[str]) -> bool:
    above = (tuple(path.split(".")) for path in paths)
    return any(empty.path[: len(names)] == names for names in above)


# --- did the object change? ---


def _differ(obj: JsonObject, old: JsonObject, codec: StructCodec, paths: Iterable[str]) -> bool:
    """Return whether one of the paths holds something else; empty lists and maps are as good as
    none."""
    return any(not _is_same_at(obj, old, codec, path) for path in paths)


def _is_same_at(obj: JsonObject, old: JsonObject, codec: StructCodec, path: str) -> bool:
    new, before = _value_at(obj, path), _value_at(old, path)
    if new == before:
        return True
    node: Any = {"ref": codec.name}
    for name in path.split("."):
        node = struct_codec(node["ref"]).field_nodes[name]
    if _is_struct(node):
        new, before = new or {}, before or {}
    return _is_same(new, before, node)


def _came_empty(draft: Draft, paths: Collection[str], empty_before: EmptyBytes) -> bool:
    """Return whether one of the paths came with an empty list or map in it that is empty still,
    where that counts, or with other empty bytes than before."""
    if draft.gvk.group_kind not in EMPTY_IS_NOT_NONE:
        return False
    if paths and empty_bytes(draft) != empty_before:
        return True
    empties = [empty for empty in draft.run.empties if empty.path[0] in paths and empty.value != ""]
    return with_empty_values(draft.decoded, empties) != draft.decoded


def empty_bytes(draft: Draft) -> EmptyBytes:
    """Return where a draft came with empty bytes, of the kinds for which that counts."""
    if draft.gvk.group_kind not in EMPTY_IS_NOT_NONE:
        return frozenset()
    return frozenset(empty.path for empty in draft.run.empties if empty.value == "")


def _value_at(obj: JsonObject, path: str) -> Json:
    """Return the value at a dotted path; None for what is absent or empty."""
    value: Json = obj
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value or None


_ABSENT: Final = object()


def _is_same(new: object, old: object, node: Json) -> bool:
    """Return whether two values of a field that differ are equal but for the empty lists and maps
    of typed fields, which the wire format cannot hold."""
    if not isinstance(node, dict):
        return False
    if isinstance(new, list) and isinstance(old, list) and "items" in node:
        pairs, items = zip(new, old, strict=False), node["items"]
        return len(new) == len(old) and all(
            pair == other or _is_same(pair, other, items) for pair, other in pairs
        )
    if not isinstance(new, dict) or not isinstance(old, dict):
        return False
    if "values" in node:
        values = node["values"]
        return new.keys() == old.keys() and all(
            value == old[key] or _is_same(value, old[key], values) for key, value in new.items()
        )
    return _is_struct(node) and _has_same_fields(new, old, struct_codec(node["ref"]))


def _is_struct(node: Json) -> bool:
    return isinstance(node, dict) and node.get("ref", "") not in _NO_STRUCTS


_NO_STRUCTS: Final = frozenset({"", *schema_packs.SPECIAL_COMPONENTS})


def _has_same_fields(new: JsonObject, old: JsonObject, codec: StructCodec) -> bool:
    nodes = codec.field_nodes
    for key in new.keys() | old.keys():
        mine, theirs = new.get(key, _ABSENT), old.get(key, _ABSENT)
        if mine == theirs:  # as most are: before anything is looked up
            continue
        node = nodes.get(key)
        if isinstance(node, dict) and ("items" in node or "values" in node):
            mine, theirs = mine or _ABSENT, theirs or _ABSENT
        if mine != theirs and not _is_same(mine, theirs, node):
            return False
    return True


# --- subresources ---


@dataclass(frozen=True, slots=True)
class Parts:
    """Holds what an update through a subresource may change of the object above it: with `only`,
    nothing else is taken from what was sent; without, everything is but `kept`.

    Paths are dotted; `[*]` stands for the items of a list, paired by their position. Of the lists
    `paired` in the spec, one with other names is taken as it was sent, and with another number of
    items the whole spec is, so that validation refuses it. A path of `gated` needs the gate that
    stands beside it.
    """

    only: tuple[str, ...] | None = None
    kept_fields: tuple[str, ...] = ()
    paired: tuple[str, ...] = ()
    gated: tuple[tuple[str, str], ...] = ()


EVERYTHING: Final = Parts()

MANAGERS: Final = "managedFields"
IDENTITY: Final = (
    *("name", "generateName", "namespace", "uid", "resourceVersion", "deletionGracePeriodSeconds"),
    MANAGERS,
)
"""The metadata that counts as sent even where nothing else does; the managers since 1.33."""

_CONTAINER_FIELDS: Final = ("resources", "resizePolicy")

PARTS: Final[Mapping[tuple[str, str], Parts]] = {
    ("Pod", "ephemeralcontainers"): Parts(only=("spec.ephemeralContainers",)),
    ("Pod", "resize"): Parts(
        only=(
            "spec.resources",
            *(f"spec.containers[*].{field}" for field in _CONTAINER_FIELDS),
            *(f"spec.initContainers[*].{field}" for field in _CONTAINER_FIELDS),
        ),
        paired=("containers", "initContainers"),
        gated=(("spec.resources", "InPlacePodLevelResourcesVerticalScaling"),),
    ),
    ("Namespace", "finalize"): Parts(kept_fields=("status",)),
    ("CertificateSigningRequest", "approval"): Parts(kept_fields=("spec", "status.certificate")),
}
"""By kind and subresource, as the strategies of k8s.io/kubernetes
`pkg/registry/{core/pod,core/namespace,certificates/certificates}`. Of an update to `status`, and of
what an ordinary one leaves of the status, the data pack speaks."""


def only_parts(sent: JsonObject, old: JsonObject, parts: Parts, gates: Collection[str]) -> JsonDict:
    """Return the old object with the parts that an update may change, and the sent identity. Before
    1.33 nobody came to own these parts."""
    result: dict[str, object] = fresh(old)
    sent_meta = sent.get("metadata") or {}
    meta = result.setdefault("metadata", {})
    for key in IDENTITY:
        if key != MANAGERS or is_since("1.33"):
            _take(meta, sent_meta, [key])
    for path in parts.only or ():
        if all(gate in gates for gated, gate in parts.gated if gated == path):
            _take(result, sent, path.split("."))
    if parts.paired and is_since("1.33"):
        result["spec"] = _with_unpaired(result, sent, parts.paired)
    return result


def _with_unpaired(obj: JsonObject, sent: JsonObject, paired: Iterable[str]) -> JsonDict:
    """Return the spec of an object with what was sent of lists that name other things."""
    spec, sent_spec = dict(obj.get("spec") or {}), sent.get("spec") or {}
    for key in paired:
        names, sent_names = (
            [item.get("name") for item in part.get(key) or ()] for part in (spec, sent_spec)
        )
        if len(names) != len(sent_names):
            whole: JsonDict = fresh(sent_spec)
            return whole
        if names != sent_names:
            spec[key] = fresh(sent_spec[key])
    return spec


def _take(obj: object, sent: object, names: list[str]) -> None:
    """Put into `obj` what `sent` has at a path."""
    if not isinstance(obj, dict) or not isinstance(sent, dict):
        return
    name, rest = names[0], names[1:]
    if name.endswith("[*]"):
        key = name.removesuffix("[*]")
        for mine, theirs in zip(obj.get(key) or (), sent.get(key) or (), strict=False):
            _take(mine, theirs, rest)
    elif rest:
        _take(obj.setdefault(name, {}), sent.get(name), rest)
    elif sent.get(name) is None:
        obj.pop(name, None)
    else:
        obj[name] = fresh(sent[name])


def _keep_custom(obj: JsonDict, old: JsonObject, subresource: str, *, has_status: bool) -> None:
    """Keep of a custom resource what belongs to the other endpoint; the generation follows."""
    if subresource == "status":
        managed = metadata.metadata(obj).get("managedFields")
        for key in [key for key in obj if key != "status" and key not in TYPE_FIELDS]:
            del obj[key]
        obj.update((key, fresh(old[key])) for key in old if key not in {"status", *TYPE_FIELDS})
        _set_or_remove(obj["metadata"], "managedFields", managed)
        return
    if has_status:
        obj.pop("status", None)
        if "status" in old:
            obj["status"] = fresh(old["status"])
    ignored = {"metadata", *TYPE_FIELDS, *(("status",) if has_status else ())}
    if not same(_without(obj, ignored), _without(old, ignored)):
        obj["metadata"]["generation"] = metadata.generation(old) + 1


def _without(obj: JsonObject, keys: set[str]) -> dict[str, Json]:
    return {key: value for key, value in obj.items() if key not in keys}


# --- the store ---


def stored_update(
    draft: Draft, obj: JsonDict, parent: JsonObject, target: Target, *, dry_run: bool = False
) -> JsonDict:
    """Return what is kept of a changed object, which `finish_update` made of the draft; `parent` is
    the stored one. A scale goes into it. It is `obj` itself, where reading it back would give it
    again. Only a dry run answers the link to itself that was sent."""
    if target.subresource == "scale":
        return scaled(parent, obj, target.scale_paths)
    if target.schema is None and _stays_settled(draft, target.subresource):
        return obj if dry_run else without_link(obj)
    result = stored_object(obj, target, draft.run.context, is_mutated=draft.is_mutated)
    return as_read(result if dry_run else without_link(result), target)


def _stays_settled(draft: Draft, subresource: str) -> bool:
    """Return whether `finish_update` has left a draft as it would be read back: what it takes from
    the old object was read back before."""
    kind = draft.gvk
    if subresource not in _KEPT or (kind.group, kind.kind, subresource) in KIND_UPDATES:
        return False
    result = tuple(update_rules(kind).get(_KEPT[subresource], ()))
    return (
        kind != SERVICE_KIND
        and is_settled(draft)
        and outlasts_keeping(kind, draft.run.gates, result)
    )
