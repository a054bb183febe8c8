"""The stages of a write, from what a client sent to what admission sees.

    decode, default, convert     what every stored object has been through
    plugins                      what mutating admission sees (the metadata a server owns is wiped)
    create                       what validating admission sees: identity, time, generated name,
                                 allocated fields, status reset

A `Draft` is an object on this way: `drafted` makes one, `begin_create`, `run_plugins` and
`finish_create` take it through a create, `finish_update` through an update. Whoever mutates objects
besides the plugins is shown `form` and gives back what `replaced` takes. `admit_form` is
the whole way of a create at once; `stored_form` says what remains of an object that was
written and read back. Objects given in are never changed.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.kube import metadata
from celadon.kube.catalogue.resources import known_resources
from celadon.kube.defaulting.default_triggers import Triggers, triggers
from celadon.kube.defaulting.defaulting_context import DefaultingContext, Run
from celadon.kube.defaulting.defaulting_rules import (
    SharingRules,
    compiled,
    enabled_gates,
    sharing_rules,
    update_rules,
)
from celadon.kube.defaulting.field_functions import count_templates
from celadon.kube.defaulting.lasting_defaults import outlasts_creation
from celadon.kube.defaulting.service_rules.service_updates import service_update
from celadon.kube.defaulting.updates.dropped_fields import drop_empties, drop_unused
from celadon.kube.defaulting.updates.subresource_parts import EVERYTHING, PARTS, only_parts
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_copies import fresh
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import schema_model
from celadon.kube.schemas.typed_objects import (
    EmptyValue,
    Inexact,
    Reading,
    StructCodec,
    codec_for,
    decode,
    empty_values,
    struct_codec,
    with_empty_values,
)
from celadon.kube.schemas.typed_values import DecodeError, json_kind, locate
from celadon.records import dataclass

DEFAULT: Final = "default"
"""The phase in which absent fields get their values, as the scheme does."""
CONVERT: Final = "convert"
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

SERVICE_KIND: Final = GroupVersionKind("", "v1", "Service")
DAEMON_SET_KIND: Final = GroupVersionKind("apps", "v1", "DaemonSet")
TOKEN_REQUEST: Final = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
MAX_GENERATED_BASE: Final = 58
"""Bytes of a `generateName` that are kept before the five random characters."""

_PLAIN: Final = DefaultingContext()


@functools.lru_cache(maxsize=1024)
def has_identity(gvk: GroupVersionKind) -> bool:
    """Whether created objects get a uid and a time: those that are stored, and token requests."""
    resource = known_resources(all_versions=True).by_gvk(gvk)
    builtin = codec_for(gvk) is not None
    stored = resource is not None and resource.storage_version != ""
    return stored or not builtin or gvk == TOKEN_REQUEST


@functools.lru_cache(maxsize=64)
def _gates(overrides: tuple[tuple[str, bool], ...]) -> frozenset[str]:
    return enabled_gates(dict(overrides))


def _start(
    root: dict[str, Any], context: DefaultingContext, empties: Sequence[EmptyValue] = ()
) -> Run:
    gates = _gates(tuple(sorted(context.gates.items())))
    return Run(root, context, gates, empties=empties)


def _apply(run: Run, gvk: GroupVersionKind, phase: str) -> None:
    for rule in compiled(gvk, phase, run.gates, run.context.plugins):
        rule(run.root, run)


def _decoded(
    obj: Mapping[str, Any], gvk: GroupVersionKind
) -> tuple[dict[str, Any], StructCodec, bool, tuple[EmptyValue, ...]]:
    """The third says that no field is unknown, and none empty; of custom resources that is not
    known. The last are the values that came empty and are left out."""
    codec, exact = codec_for(gvk), codec_for(gvk, Reading.EXACT)
    if codec is None or exact is None:
        return *_decoded_custom(obj), False, ()
    empties: tuple[EmptyValue, ...] = ()
    try:
        made, is_exact = decode(exact, obj), True
    except Inexact:
        made, is_exact = decode(codec, obj), False
        empties = empty_values(codec, obj)
    made["apiVersion"], made["kind"] = gvk.api_version, gvk.kind
    return made, codec, is_exact, empties


def _decoded_custom(obj: Mapping[str, Any]) -> tuple[dict[str, Any], StructCodec]:
    """Of custom resources only the metadata has a type; the rest is JSON and stays as it is.

    It is shared with the object given in: nothing changes it afterwards.
    """
    codec = struct_codec(schema_model.OBJECT_META)
    made = {key: value for key, value in obj.items() if key != "metadata"}
    meta = obj.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        why = f"json: cannot unmarshal {json_kind(meta)} into Go value of type v1.ObjectMeta"
        raise DecodeError(why, FieldPath("metadata"))
    try:
        made["metadata"] = decode(codec, meta or {})
    except DecodeError as error:
        locate(error, "metadata")
        raise
    return made, codec


def _complete(made: dict[str, Any], codec: StructCodec) -> None:
    codec.complete(made["metadata"] if codec.name == schema_model.OBJECT_META else made)


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class Draft:
    """An object on its way in. `made` belongs to the draft: the stages change it in place."""

    gvk: GroupVersionKind
    made: dict[str, Any]
    codec: StructCodec
    run: Run
    is_exact: bool = False
    """Whether all fields that were sent are fields of the kind, and none was empty; no says that
    nobody knows."""

    @property
    def meta(self) -> dict[str, Any] | None:
        """None for kinds without metadata."""
        found = self.made.get("metadata")
        return found if isinstance(found, dict) else None

    @property
    def is_custom(self) -> bool:
        """Of a kind that only a CustomResourceDefinition can define."""
        return self.codec.name == schema_model.OBJECT_META

    def complete(self) -> None:
        """Adds the fields that are always written: they are zero, and so as good as absent."""
        _complete(self.made, self.codec)

    def form(self) -> dict[str, Any]:
        """What the object looks like at this point, as a copy that belongs to the caller."""
        shown: dict[str, Any] = fresh(self.made)
        _complete(shown, self.codec)
        return shown

    def validated(self, made: dict[str, Any]) -> dict[str, Any]:
        """What validation sees of `made`, the object that `finish_create` or `finish_update` made
        of the draft: besides what is encoded, lists, maps and bytes that came empty. A server
        validates its structs; admission and the store get them encoded. Of the object before an
        update it sees the same, as upstream takes empty and absent for equal."""
        return with_empty_values(made, self.run.empties) if self.run.empties else made

    def replaced(self, obj: Mapping[str, Any]) -> Draft:
        """The draft as somebody has left it who was shown `form`: defaulted once more."""
        return drafted(obj, self.gvk, self.run.context)


def drafted(
    obj: Mapping[str, Any], gvk: GroupVersionKind, context: DefaultingContext = _PLAIN
) -> Draft:
    """The object decoded, defaulted and converted. DecodeError when a value does not fit."""
    made, codec, is_exact, empties = _decoded(obj, gvk)
    draft = Draft(gvk, made, codec, _start(made, context, empties), is_exact)
    _default(draft)
    return draft


def _default(draft: Draft) -> None:
    _apply(draft.run, draft.gvk, DEFAULT)
    _apply(draft.run, draft.gvk, CONVERT)


class ChangedDefaulting(NamedTuple):
    """Defaulting an object of a kind again, where little was changed. `triggers` say by component
    what changes may have consequences."""

    gvk: GroupVersionKind
    context: DefaultingContext
    gates: frozenset[str]
    rules: SharingRules
    triggers: Mapping[str, Triggers]

    def run(self, made: dict[str, Any]) -> Run:
        """The object on its way through the rules."""
        return Run(made, self.context, self.gates)

    def default(self, run: Run, settled: Container[int]) -> None:
        """The defaults of what was changed; parts with these identities are left alone."""
        codec = codec_for(self.gvk)
        assert codec is not None, f"{self.gvk} is built in"
        run.settled = settled
        for rule in self.rules.rules:
            rule(run.root, run)
        codec.complete(run.root, settled)


def changed_defaulting(
    gvk: GroupVersionKind, context: DefaultingContext
) -> ChangedDefaulting | None:
    """None for a built-in kind of which all must be defaulted again whatever was changed."""
    gates = _gates(tuple(sorted(context.gates.items())))
    rules = sharing_rules(gvk, gates)
    if rules is None:
        return None
    return ChangedDefaulting(gvk, context, gates, rules, triggers(gvk, gates))


def begin_create(draft: Draft, namespace: str | None) -> None:
    """What a new object may not say of itself goes, its namespace comes. `namespace` is that of
    the URL, empty for cluster-scoped kinds; None leaves the object's own."""
    _prepare_metadata(draft.meta, namespace)


def settle_owners(draft: Draft) -> None:
    """Owners that are named twice are named once."""
    if draft.meta is not None:
        _make_owners_unique(draft.meta)


def run_plugins(draft: Draft) -> None:
    """The built-in mutating plugins, in their order."""
    run = draft.run
    rules = compiled(draft.gvk, PLUGINS, run.gates, run.context.plugins)
    if not rules:
        return
    run.is_disturbed = True
    for rule in rules:
        rule(run.root, run)
    settle_plugins(draft)


def plugin_rules(gvk: GroupVersionKind, name: str) -> bool:
    """Whether a plugin has something to do with objects of a kind that rules can say."""
    return bool(compiled(gvk, PLUGINS, _gates(()), frozenset({name})))


def run_plugin(draft: Draft, name: str) -> None:
    """What the rules say of one plugin. `settle_plugins` comes after the last one."""
    run = draft.run
    run.is_disturbed = True
    for rule in compiled(draft.gvk, PLUGINS, run.gates, frozenset({name})):
        rule(run.root, run)


def settle_plugins(draft: Draft) -> None:
    """What follows from the changes that plugins have made."""
    _apply(draft.run, draft.gvk, CONVERT)


def finish_create(draft: Draft) -> dict[str, Any]:
    """The object as validating admission sees it; the draft is used up."""
    _identify(draft.meta, draft.gvk, draft.run.context, custom=draft.is_custom)
    _apply(draft.run, draft.gvk, CREATE)
    drop_empties(draft.gvk, draft.run)
    if not is_settled(draft):
        _apply(draft.run, draft.gvk, CONVERT)
    _complete(draft.made, draft.codec)
    return draft.made


def is_settled(draft: Draft) -> bool:
    """Whether a new object that `finish_create` has finished is as it would be read back after it
    was stored. Defaulting of what is defaulted changes nothing, so it is, unless something has
    happened since then that defaulting looks at."""
    run = draft.run
    return draft.is_exact and not run.is_disturbed and outlasts_creation(draft.gvk, run.gates)


def admit_form(
    obj: Mapping[str, Any],
    gvk: GroupVersionKind,
    context: DefaultingContext = _PLAIN,
    *,
    namespace: str | None = None,
) -> dict[str, Any]:
    """The object as validating admission sees it on create, in the version of `gvk`: all stages.

    Options of connect requests (kinds of the core group that are not built in) stay as they are.
    DecodeError when a value does not fit the kind.
    """
    if not gvk.group and codec_for(gvk) is None:
        return dict(obj)
    draft = drafted(obj, gvk, context)
    begin_create(draft, namespace)
    run_plugins(draft)
    return finish_create(draft)


def defaulted(
    obj: Mapping[str, Any], gvk: GroupVersionKind, context: DefaultingContext = _PLAIN
) -> dict[str, Any]:
    """The object decoded and defaulted, with everything else as it was sent."""
    draft = drafted(obj, gvk, context)
    _complete(draft.made, draft.codec)
    return draft.made


def _prepare_metadata(meta: dict[str, Any] | None, namespace: str | None) -> None:
    if meta is None:
        return
    for key in SERVER_OWNED:
        meta.pop(key, None)
    if namespace == "":
        meta.pop("namespace", None)
    elif namespace is not None:
        meta["namespace"] = namespace
    _make_owners_unique(meta)


def _make_owners_unique(meta: dict[str, Any]) -> None:
    owners = meta.get("ownerReferences")
    if owners:
        meta["ownerReferences"] = list(
            {metadata.owner_key(owner): owner for owner in owners}.values()
        )


def _identify(
    meta: dict[str, Any] | None,
    gvk: GroupVersionKind,
    context: DefaultingContext,
    *,
    custom: bool,
) -> None:
    if meta is None or not has_identity(gvk):
        return
    meta["uid"] = context.uid
    meta["creationTimestamp"] = context.now
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = generated_name(meta["generateName"], context.suffix)
    if custom:
        meta["generation"] = 1


def generated_name(base: str, suffix: str) -> str:
    """The base, cut if it is too long, and the random characters."""
    cut = base.encode("utf-8", "surrogatepass")[:MAX_GENERATED_BASE]
    return cut.decode("utf-8", "replace") + suffix


_KEPT: Final = {"": "keep", "status": "statusKeep"}
"""By subresource: the rule of a kind that says what an update takes from the old object."""


def finish_update(draft: Draft, old: Mapping[str, Any], *, subresource: str = "") -> dict[str, Any]:
    """The new object as validating admission sees it; the draft is used up."""
    made, rules = draft.made, update_rules(draft.gvk)
    parts = PARTS.get((draft.gvk.kind, subresource), EVERYTHING)
    if parts.only is not None:
        made = only_parts(made, old, parts)
        draft.run.empties = ()
    else:
        kept = rules.get(_KEPT[subresource], ()) if subresource in _KEPT else parts.kept
        _keep(made, old, kept)
        draft.run.empties = [one for one in draft.run.empties if not _is_below(one, kept)]
        if not subresource and draft.gvk == SERVICE_KIND:
            service_update(made.setdefault("spec", {}), old.get("spec") or {}, draft.run)
    if subresource in ("", "status"):
        drop_unused(made, old, draft.gvk, draft.run, status=bool(subresource))
    meta = made.get("metadata")
    if meta is not None:
        _carry_metadata(meta, metadata.metadata(old))
        _make_owners_unique(meta)
    _complete(made, draft.codec)
    if draft.gvk == DAEMON_SET_KIND and meta is not None:
        same = not _differ(made, old, draft.codec, ("spec.template",))
        count_templates(meta, metadata.annotations(old), same=same or bool(subresource))
    counted = () if subresource == "status" else rules.get("bump", ())
    if meta is not None and _differ(made, old, draft.codec, counted):
        meta["generation"] = metadata.generation(old) + 1
    return made


def _carry_metadata(meta: dict[str, Any], old: Mapping[str, Any]) -> None:
    """What a client cannot touch. A deletion it made up stays, for validation to refuse."""
    _set_or_remove(meta, "creationTimestamp", old.get("creationTimestamp"))
    if old.get("deletionTimestamp"):
        meta["deletionTimestamp"] = old["deletionTimestamp"]
    for key in ("uid", "deletionGracePeriodSeconds"):
        if meta.get(key) in (None, ""):
            _set_or_remove(meta, key, old.get(key))
    _set_or_remove(meta, "generation", old.get("generation"))


def _set_or_remove(parent: dict[str, Any], key: str, value: object) -> None:
    if value is None:
        parent.pop(key, None)
    else:
        parent[key] = fresh(value)


def _differ(
    made: Mapping[str, Any], old: Mapping[str, Any], codec: StructCodec, paths: Iterable[str]
) -> bool:
    """Whether one of the paths holds something else; empty lists and maps are as good as none."""
    new_fields, old_fields = _without_empty(made, codec), _without_empty(old, codec)
    return any(_at(new_fields, path) != _at(old_fields, path) for path in paths)


def _at(obj: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path; None for what is absent or empty."""
    found: Any = obj
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found or None


def _is_below(empty: EmptyValue, paths: Iterable[str]) -> bool:
    above = (tuple(path.split(".")) for path in paths)
    return any(empty.path[: len(names)] == names for names in above)


def _keep(made: dict[str, Any], old: Mapping[str, Any], paths: Iterable[str]) -> None:
    for path in paths:
        *parents, name = path.split(".")
        source, target = old, made
        for parent in parents:
            source = source.get(parent) or {}
            target = target.setdefault(parent, {})
        managed = target.get(name, {}).get("managedFields") if name == "metadata" else None
        _set_or_remove(target, name, source.get(name))
        if name == "metadata":
            _set_or_remove(target[name], "managedFields", managed)


def stored_form(
    obj: Mapping[str, Any], gvk: GroupVersionKind, context: DefaultingContext = _PLAIN
) -> dict[str, Any]:
    """The object as it is read back after a write: without empty lists, defaulted once more.

    For kinds that are not built in: as it is. The storage version is taken to be that of `gvk`.
    """
    codec, stored = codec_for(gvk), codec_for(gvk, Reading.STORED)
    if codec is None or stored is None:
        return dict(obj)
    made = decode(stored, obj)
    made["apiVersion"], made["kind"] = gvk.api_version, gvk.kind
    run = _start(made, context)
    _apply(run, gvk, DEFAULT)
    _apply(run, gvk, CONVERT)
    _complete(made, codec)
    return made


def _without_empty(obj: Any, codec: StructCodec) -> Any:
    """Without the empty lists and maps of typed fields, which the wire format cannot hold."""
    made = {}
    for key, value in obj.items():
        node = codec.field_nodes.get(key)
        if isinstance(node, dict) and ("items" in node or "values" in node) and not value:
            continue
        made[key] = _pruned(value, node)
    return made


def _pruned(value: object, node: object) -> Any:
    if not isinstance(node, dict) or not value:
        return value
    if "items" in node and isinstance(value, list):
        return [_pruned(item, node["items"]) for item in value]
    if "values" in node and isinstance(value, dict):
        return {key: _pruned(item, node["values"]) for key, item in value.items()}
    name = node.get("ref", "")
    if isinstance(value, dict) and name not in schema_model.SPECIAL_COMPONENTS:
        return _without_empty(value, struct_codec(name))
    return value
