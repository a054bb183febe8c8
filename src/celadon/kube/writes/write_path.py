"""The path of a write: from an object that was read to what validating admission judges.

    draft = begin_create(incoming.draft, target)      names, wiped metadata, built-in plugins
    draft = draft.replaced(mutated)                   if other mutators changed `draft.form()`
    made  = finish_create(draft, target)              identity, status, allocated fields
    write_errors(target, made, None, surroundings)    why it is refused with 422
    stored_object(made, target)                       what is kept and answered

and for an update `begin_update`, `finish_update(draft, old, target)`, `stored_update`. `created`
and `updated` are the same in one go, for those who have no other mutators. Time, uid and random
text are in the `DefaultingContext`; the cluster is asked through its `Lookups`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.kube import metadata
from celadon.kube.defaulting import write_stages
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.defaulting.write_stages import Draft, stored_form
from celadon.kube.json_copies import fresh
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind
from celadon.kube.warnings.warned_kinds import kind_warnings, warnings_before
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.kube.writes import scales, warning_texts
from celadon.kube.writes.intake.incoming_objects import draft_of
from celadon.kube.writes.object_places import name_below, require_name, require_namespace
from celadon.kube.writes.write_strategies import Strategy, strategy_of
from celadon.kube.writes.write_targets import Target


def begin_create(draft: Draft, target: Target) -> Draft:
    """What mutating admission sees of a new object, the built-in plugins behind it. StatusError
    (400) when it belongs elsewhere."""
    prepare_create(draft, target)
    write_stages.run_plugins(draft)
    return draft


def prepare_create(draft: Draft, target: Target) -> None:
    """`begin_create` without the plugins, for those who ask them one by one."""
    _put_in_place(draft, target)
    write_stages.begin_create(draft, None)


def _put_in_place(draft: Draft, target: Target) -> None:
    require_namespace(draft, target)
    if target.subresource:
        name_below(draft, target)
    custom = target.schema
    if custom is not None and custom.has_status:
        draft.made.pop("status", None)


def resume(draft: Draft, target: Target, *, creates: bool) -> list[str]:
    """After somebody else's mutation: what a server sets again, and what it warns about. What a
    client may not say of a new object, others may. StatusError (400) when the object belongs
    elsewhere now."""
    repeated = _repeated_owners(draft.made)
    if creates:
        _put_in_place(draft, target)
        write_stages.settle_owners(draft)
    else:
        require_namespace(draft, target)
    return [warning_texts.duplicate_owners(repeated, mutated=True)] if repeated else []


def finish_create(draft: Draft) -> dict[str, Any]:
    """What validating admission sees of it; the draft is used up."""
    return write_stages.finish_create(draft)


def created(value: JsonObject, target: Target, context: DefaultingContext) -> dict[str, Any]:
    """All of it. DecodeError when a value does not fit the kind, StatusError as `begin_create`."""
    return finish_create(begin_create(draft_of(value, target, context), target))


def begin_update(draft: Draft, target: Target) -> Draft:
    """What mutating admission sees of a changed object. StatusError (400) when it belongs
    elsewhere."""
    require_namespace(draft, target)
    require_name(draft, target)
    return draft


def finish_update(
    draft: Draft,
    old: JsonObject,
    target: Target,
    sent: JsonObject | None = None,
    special: Mapping[GroupKind, Strategy] = {},
) -> dict[str, Any]:
    """What validating admission sees of it; `old` is the object as the endpoint shows it, `sent`
    the document as it was written. The draft is used up."""
    made: dict[str, Any]
    if target.subresource == "scale":
        made = {**fresh(old), "spec": draft.form().get("spec", {})}
        managed = metadata.metadata(draft.made).get("managedFields")
        if managed:
            made["metadata"]["managedFields"] = managed
        return made
    made = write_stages.finish_update(draft, old, subresource=target.subresource)
    meta = made.get("metadata")
    strategy = strategy_of(target, special)
    if meta is not None and not strategy.needs_version:
        _fill_version(meta, old)
    custom = target.schema
    if custom is not None:
        _keep_custom(made, old, target.subresource, has_status=custom.has_status)
    before = metadata.generation(old)
    unchanged = not target.subresource and metadata.generation(made) == before
    if unchanged and strategy.sent_change(sent or {}):
        made["metadata"]["generation"] = before + 1
    return made


def _fill_version(meta: dict[str, Any], old: JsonObject) -> None:
    """An update that does not say which version it changes is about the present one."""
    if not meta.get("resourceVersion") and metadata.resource_version(old):
        meta["resourceVersion"] = metadata.resource_version(old)


def updated(
    value: JsonObject, old: JsonObject, target: Target, context: DefaultingContext
) -> dict[str, Any]:
    """All of it. DecodeError when a value does not fit the kind, StatusError as `begin_update`."""
    return finish_update(begin_update(draft_of(value, target, context), target), old, target, value)


def _keep_custom(
    made: dict[str, Any], old: JsonObject, subresource: str, *, has_status: bool
) -> None:
    """Of custom resources: an update through one endpoint leaves what belongs to the other; the
    generation follows."""
    if subresource == "status":
        managed = metadata.metadata(made).get("managedFields")
        for key in [key for key in made if key != "status" and key not in TYPE_FIELDS]:
            del made[key]
        made.update((key, fresh(old[key])) for key in old if key not in {"status", *TYPE_FIELDS})
        if managed is not None:
            made["metadata"]["managedFields"] = managed
        return
    if has_status:
        made.pop("status", None)
        if "status" in old:
            made["status"] = fresh(old["status"])
    ignored = {"metadata", *TYPE_FIELDS, *(("status",) if has_status else ())}
    if _without(made, ignored) != _without(old, ignored):
        made["metadata"]["generation"] = metadata.generation(old) + 1


def _without(obj: JsonObject, keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key not in keys}


def shown(obj: JsonObject, target: Target) -> dict[str, Any]:
    """A stored object, in the endpoint's version, as the endpoint shows it."""
    if target.subresource != "scale":
        return {**obj, "apiVersion": target.kind.api_version, "kind": target.kind.kind}
    custom = target.custom
    paths = None if custom is None else custom.scale
    return scales.scale_of(obj, paths or scales.BUILT_IN)


def stored_object(made: JsonObject, target: Target, context: DefaultingContext) -> dict[str, Any]:
    """What is kept of an object that was admitted, and answered."""
    kind = target.kind
    kept = stored_form(made, kind, context)
    if target.schema is not None:
        kept = target.schema.read_back(kept)
    return {**kept, "apiVersion": kind.api_version, "kind": kind.kind}


def stored_new(draft: Draft, made: dict[str, Any], target: Target) -> dict[str, Any]:
    """The same of a new object that `finish_create` made of the draft; `made` itself, where reading
    it back would give it again."""
    if target.schema is None and write_stages.is_settled(draft):
        return made
    return stored_object(made, target, draft.run.context)


def stored_update(
    made: JsonObject, parent: JsonObject, target: Target, context: DefaultingContext
) -> dict[str, Any]:
    """The same for an update; `parent` is the stored object. A scale goes into it."""
    if target.subresource != "scale":
        return stored_object(made, target, context)
    custom = target.custom
    paths = None if custom is None else custom.scale
    return scales.scaled(parent, made, paths or scales.BUILT_IN)


def write_warnings(
    decoded: JsonObject,
    target: Target,
    special: Mapping[GroupKind, Strategy] = {},
    *,
    creates: bool = False,
) -> list[str]:
    """`decoded` as `Draft.form` shows it before anything was done with it."""
    found = []
    repeated = _repeated_owners(decoded)
    if repeated:
        found.append(warning_texts.duplicate_owners(repeated))
    if creates and not target.subresource:
        found += warnings_before(target.group_kind, decoded)
    return [*found, *strategy_of(target, special).warnings(decoded)]


def made_warnings(made: JsonObject, old: JsonObject | None, target: Target) -> list[str]:
    """What is said of an object that is valid; both as validation sees them, `old` None for a new
    one. These follow what `write_warnings` says."""
    custom = target.schema is not None
    kind = target.group_kind
    return kind_warnings(kind, made, old, subresource=target.subresource, custom=custom)


def _repeated_owners(decoded: JsonObject) -> list[str]:
    owners = metadata.metadata(decoded).get("ownerReferences") or ()
    seen, repeated = set(), dict[str, None]()
    for owner in owners:
        key = metadata.owner_key(owner)
        if key in seen:
            repeated[owner.get("uid", "")] = None
        seen.add(key)
    return list(repeated)
