"""A create, step by step, from an object that was read to what is stored and answered.

    draft = begin_create(draft, target)          its place, wiped metadata, the built-in plugins
    draft = draft.replaced(mutated)              if other mutators changed `draft.form()`,
    warnings = resume(draft, target)             and what a server sets again after them
    made = finish_create(draft)                  identity, name, status, allocated fields
    strategy.write_errors(target, made, None, surroundings)     why it is refused with 422
    drop_version(made)                           when it reaches the store
    stored_new(draft, made, target)              what is kept and answered

`created` does the first and the last half at once, for those who have no other mutators;
`admit_form` does it for an object of which only the kind is known. Time, uid and random text are in
the `DefaultingContext`; the cluster is asked through its `Lookups`. As k8s.io/apiserver
`pkg/endpoints/handlers/create.go`, `pkg/registry/rest/create.go` (BeforeCreate) and
`pkg/registry/generic/registry/store.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.defaulting.defaulting_rules import compiled, listed_rules
from celadon.kube.defaulting.dropped_fields import drop_empties, outlasts_creation
from celadon.kube.go.go_text import parse_uint
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.registry.decoded_object import (
    CONVERT,
    Draft,
    Target,
    apply_phase,
    drafted,
    has_identity,
    require_namespace,
    stored_object,
    without_link,
)
from celadon.kube.registry.request_bodies import draft_of
from celadon.kube.registry.strategy import repeated_owner_warnings, without_repeated_owners
from celadon.kube.schemas.struct_decoding import codec_for
from celadon.kube.warnings import warnings_before

PLUGINS: Final = "plugins"
"""The phase of mutating admission plugins."""
CREATE: Final = "create"
"""The phase in which a resource prepares new objects (`PrepareForCreate`)."""

SERVER_OWNED: Final = (
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)
"""Metadata that a create wipes, whatever the client sent."""

MAX_GENERATED_BASE: Final = 58
"""Bytes of a `generateName` that are kept before the five random characters."""

_PLAIN: Final = DefaultingContext()


def created(value: JsonObject, target: Target, context: DefaultingContext) -> JsonDict:
    """Return the object as validating admission sees it: all steps from what was sent. DecodeError
    when a value does not fit the kind, StatusError as `begin_create`."""
    return finish_create(begin_create(draft_of(value, target, context), target))


def admit_form(
    obj: JsonObject,
    gvk: GroupVersionKind,
    context: DefaultingContext = _PLAIN,
    *,
    namespace: str | None = None,
) -> JsonDict:
    """Return the same, in the version of `gvk`, for an object that no URL says the place of.
    `namespace` is the one it shall have, empty for none; None leaves its own.

    Options of connect requests (kinds of the core group that are not built in) stay as they are.
    DecodeError when a value does not fit the kind.
    """
    if not gvk.group and codec_for(gvk) is None:
        return dict(obj)
    draft = drafted(obj, gvk, context)
    wipe_metadata(draft, namespace)
    run_plugins(draft)
    return finish_create(draft)


# --- before mutating admission ---


def begin_create(draft: Draft, target: Target) -> Draft:
    """Return what mutating admission sees of a new object, the built-in plugins behind it.
    StatusError (400) when it belongs elsewhere."""
    prepare_create(draft, target)
    run_plugins(draft)
    return draft


def prepare_create(draft: Draft, target: Target, *, is_update: bool = False) -> None:
    """`begin_create` without the plugins, for those who ask them one by one. A new object that an
    update or a patch creates keeps its link to itself until it is stored."""
    _put_in_place(draft, target)
    meta = draft.meta or {}
    link = {"selfLink": meta["selfLink"]} if is_update and "selfLink" in meta else {}
    wipe_metadata(draft)
    meta.update(link)


def _put_in_place(draft: Draft, target: Target) -> None:
    require_namespace(draft, target)
    if target.schema is not None and target.schema.has_status:
        draft.decoded.pop("status", None)


def wipe_metadata(draft: Draft, namespace: str | None = None) -> None:
    """Take away what a new object may not say of itself, and give it its namespace: none, where
    that is empty, and its own, where it is None."""
    meta = draft.meta
    if meta is None:
        return
    for key in SERVER_OWNED:
        meta.pop(key, None)
    if namespace:
        meta["namespace"] = namespace
    elif namespace is not None:
        meta.pop("namespace", None)
    without_repeated_owners(meta)


# --- mutating admission ---


def run_plugins(draft: Draft) -> None:
    """Lets the built-in mutating plugins change the draft, in their order."""
    run = draft.run
    rules = compiled(draft.gvk, PLUGINS, run.gates, run.context.plugins)
    if not rules:
        return
    run.is_disturbed = True
    for rule in rules:
        rule(run.root, run)
    settle_plugins(draft)


def plugin_rules(gvk: GroupVersionKind, name: str) -> bool:
    """Return whether a plugin has something to do with objects of a kind that rules can say."""
    return any(rule["plugin"] == name for rule in listed_rules(gvk, PLUGINS))


def run_plugin(draft: Draft, name: str) -> None:
    """Apply the rules of one plugin. `settle_plugins` comes after the last one."""
    run = draft.run
    run.is_disturbed = True
    for rule in compiled(draft.gvk, PLUGINS, run.gates, frozenset({name})):
        rule(run.root, run)


def settle_plugins(draft: Draft) -> None:
    """Convert again, which follows from the changes that plugins have made."""
    apply_phase(draft.run, draft.gvk, CONVERT)


def resume(draft: Draft, target: Target) -> list[str]:
    """Set again what a server sets, after somebody else's mutation, and return the warnings about
    it. What a client may not say of a new object, mutators may. StatusError (400) when the object
    belongs elsewhere now."""
    warnings = repeated_owner_warnings(draft.decoded, mutated=True)
    _put_in_place(draft, target)
    if draft.meta is not None:
        without_repeated_owners(draft.meta)
    return warnings


# --- before validating admission ---


def conversion_warnings(mutated: JsonObject, target: Target) -> list[str]:
    """Return the warnings about what `finish_create` is going to convert of a new object; also
    where the object is refused."""
    return [] if target.subresource else warnings_before(target.group_kind, mutated)


def finish_create(draft: Draft) -> JsonDict:
    """Return the object as validating admission sees it; the draft is used up."""
    _identify(draft)
    apply_phase(draft.run, draft.gvk, CREATE)
    drop_empties(draft.gvk, draft.run)
    if not is_settled(draft):
        apply_phase(draft.run, draft.gvk, CONVERT)
    draft.complete()
    return draft.decoded


def _identify(draft: Draft) -> None:
    """Give the object its uid, time, name and first generation."""
    meta, context = draft.meta, draft.run.context
    if meta is None or not has_identity(draft.gvk):
        return
    meta["uid"] = context.uid
    meta["creationTimestamp"] = context.now
    if not meta.get("name") and meta.get("generateName"):
        base = meta["generateName"]
        is_whole = draft.gvk.group_kind == IP_ADDRESS
        meta["name"] = base if is_whole else generated_name(base, context.suffix)
    if draft.is_custom:
        meta["generation"] = 1


IP_ADDRESS: Final = GroupKind("networking.k8s.io", "IPAddress")
"""The kind whose names are addresses: what is generated is the base alone."""


def generated_name(base: str, suffix: str) -> str:
    """Return the base, cut if it is too long, and the random characters."""
    cut = base.encode("utf-8", "surrogatepass")[:MAX_GENERATED_BASE]
    return cut.decode("utf-8", "replace") + suffix


# --- the store ---


def drop_version(obj: JsonDict, *, is_update: bool = False) -> None:
    """Take the version from a new object. Raises StatusError (500) for one that has a version,
    unless an update creates it; what is no number goes unnoticed."""
    version = obj["metadata"].pop("resourceVersion", None)
    if is_update:
        return
    try:
        is_versioned = bool(version) and bool(parse_uint(version))
    except ValueError:
        return
    if is_versioned:
        raise status.plain_error("resourceVersion should not be set on objects to be created")


def stored_new(
    draft: Draft, obj: dict[str, Json], target: Target, *, dry_run: bool = False
) -> JsonDict:
    """Return what is kept and answered of the new object `obj`, which `finish_create` made of the
    draft: `obj` itself, where reading it back would give it again. Only a dry run answers a link to
    itself."""
    result = obj
    if target.schema is not None or not is_settled(draft):
        result = stored_object(obj, target, draft.run.context, is_mutated=draft.is_mutated)
    return as_read(result if dry_run else without_link(result), target)


_SERVICE: Final = GroupKind("", "Service")


def as_read(obj: JsonDict, target: Target) -> JsonDict:
    """Return the object as a server shows what it has stored: Services that are only a name have no
    policy for traffic inside of the cluster, and the list of addresses has the one that they
    say."""
    # As `defaultOnReadService` of `pkg/registry/core/service/storage`.
    spec = obj.get("spec") or {}
    if target.group_kind == _SERVICE and spec.get("type") == "ExternalName":
        spec.pop("internalTrafficPolicy", None)
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
    return obj


def is_settled(draft: Draft) -> bool:
    """Return whether a new object that `finish_create` has finished is as it would be read back
    after it was stored. Defaulting of what is defaulted changes nothing, so it is, unless something
    has happened since then that defaulting looks at."""
    run = draft.run
    return draft.is_exact and not run.is_disturbed and outlasts_creation(draft.gvk, run.gates)
