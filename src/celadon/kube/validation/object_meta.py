"""Validation of `metadata`: by the strategy of a kind, and by the server for all kinds; and the row
of a kind, which says how both go about it.

`validate_object_meta` is what a strategy does first with a new object, and some again with a
changed one. `validate_object_meta_update` compares a changed object with the stored one; the server
does it before the strategy does (`validate_meta_of_update`), so that a complaint may come several
times. As k8s.io/apimachinery `pkg/api/validation/objectmeta.go`. Owner references are complained
about without their index, and a label's value without its key.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonObject
from celadon.kube.names import ApiVersionError, parse_api_version
from celadon.kube.releases import is_since, wording
from celadon.kube.validation.field_checks import (
    METADATA,
    RELAXED_SERVICE_NAMES,
    Errors,
    Messages,
    dns_label,
    each,
    items,
    not_negative,
    only_with,
)
from celadon.kube.validation.format_checks import labels
from celadon.kube.well_known_values import FOREGROUND, ORPHAN
from celadon.records import dataclass

ANNOTATIONS_BYTES: Final = 256 * 1024
"""Keys and values of all annotations together."""

STANDARD_FINALIZERS: Final = frozenset({"kubernetes", ORPHAN, FOREGROUND})
"""The finalizers that need no domain."""

FIXED: Final = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_TEXTS: Final = ("name", "namespace")
_MANAGER_BYTES: Final = 128
_SUBRESOURCE_BYTES: Final = 256
_OPERATIONS: Final = ("Apply", "Update")
_FIELDS_TYPES: Final = ("FieldsV1", "", None)
_UTF_8_BYTES: Final = 4
"""What a character takes at most."""
_OWNER_FIELDS: Final = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_EVENT: Final = ("v1", "Event")


@dataclass(frozen=True, slots=True)
class Naming:
    """Says what the names of a kind may look like, and whether its objects live in namespaces.

    `prefix_rule` is for `generateName`; without it, the prefix is checked as if it were followed by
    something, and since the release `unread_prefix_since` not at all: what is generated must be
    right. `namespaced` None: nobody looks at the namespace. `gate` must be on for these names;
    while it is off, they are those of `otherwise`. `any_finalizers`: those without a domain need
    not be Kubernetes' own.
    """

    rule: Messages = name_rules.dns1123_subdomain
    namespaced: bool | None = True
    prefix_rule: Messages | None = None
    unread_prefix_since: str = ""
    gate: str = ""
    otherwise: Messages | None = None
    any_finalizers: bool = False

    def of_prefix(self, prefix: str) -> list[str]:
        if self.unread_prefix_since and is_since(self.unread_prefix_since):
            return []
        if self.prefix_rule is not None:
            return self.prefix_rule(prefix)
        return self.rule(name_rules.prefix_as_name(prefix))


def _path_prefix(prefix: str) -> list[str]:
    """Return what is wrong with the prefix of a name. It may be a dot, since more may follow."""
    path_segment_name = name_rules.path_segment_name(prefix)
    return [message for message in path_segment_name if not message.startswith("may not be")]


IN_PATHS: Final = Naming(name_rules.path_segment_name, None, _path_prefix)


def validate_object_meta(meta: JsonObject, naming: Naming) -> Errors:
    """Yield what is wrong with the metadata of a new object, in upstream's order."""
    yield from validate_place(meta, naming)
    yield from not_negative(meta, METADATA, "generation")
    yield from labels(METADATA.child("labels"), meta.get("labels"))
    yield from validate_annotations(METADATA.child("annotations"), meta.get("annotations"))
    yield from _owners(meta.get("ownerReferences") or ())
    yield from _finalizers(meta)
    yield from _managed_fields(meta)


def validate_place(meta: JsonObject, naming: Naming) -> Errors:
    """Yield what is wrong with the name and the namespace, of which each kind has its own rules."""
    yield from _names(meta, naming)
    if naming.namespaced:
        namespace = meta.get("namespace")
        if namespace:
            yield from dns_label(METADATA.child("namespace"), namespace)
        else:
            yield fieldpath.required(METADATA.child("namespace"))


def validate_meta_of_update(
    meta: JsonObject, old: JsonObject, *, unconditional: bool = True
) -> Errors:
    """Yield what a server checks for all kinds: the name fits into a path, some fields do not
    change."""
    yield from validate_object_meta(meta, IN_PATHS)
    yield from validate_object_meta_update(meta, old, unconditional=unconditional)


def validate_object_meta_update(
    meta: JsonObject, old: JsonObject, *, unconditional: bool = True
) -> Errors:
    """Validate the metadata of an update. `unconditional`: the client need not say which version it
    changes."""
    if old.get("deletionTimestamp"):
        yield from _no_new_finalizers(meta, old)
    if not unconditional and not meta.get("resourceVersion"):
        path = METADATA.child("resourceVersion")
        yield fieldpath.invalid(path, "", "must be specified for an update")
    generation = meta.get("generation") or 0
    if generation < (old.get("generation") or 0):
        path = METADATA.child("generation")
        yield fieldpath.invalid(path, generation, "must not be decremented")
    for field in FIXED:
        value = meta.get(field)
        if value != old.get(field):
            printed: object = NamedText(value or "") if field == "uid" else value
            if value is None and field in _TEXTS:
                printed = ""
            if field == "deletionTimestamp" and value:
                printed = GoValue(value, "v1.Time")
            yield fieldpath.invalid(METADATA.child(field), printed, "field is immutable")
    yield from labels(METADATA.child("labels"), meta.get("labels"))
    yield from validate_annotations(METADATA.child("annotations"), meta.get("annotations"))
    yield from _owners(meta.get("ownerReferences") or ())
    yield from _managed_fields(meta)


def _no_new_finalizers(meta: JsonObject, old: JsonObject) -> Errors:
    finalizers = set(old.get("finalizers") or ())
    added = sorted(set(meta.get("finalizers") or ()) - finalizers)
    if added:
        text = ", ".join(map(quote, added))
        detail = (
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{text}}}"
        )
        yield fieldpath.forbidden(METADATA.child("finalizers"), detail)


def _names(meta: JsonObject, naming: Naming) -> Errors:
    if naming.otherwise is None:
        return _names_by(meta, naming)
    other = replace(naming, rule=naming.otherwise, gate="", otherwise=None)
    wrong, else_wrong = list(_names_by(meta, naming)), list(_names_by(meta, other))
    if wrong == else_wrong:
        return iter(wrong)
    return itertools.chain(only_with(naming.gate, wrong), only_with(f"!{naming.gate}", else_wrong))


def _names_by(meta: JsonObject, naming: Naming) -> Errors:
    generate, name = meta.get("generateName") or "", meta.get("name") or ""
    if generate:
        yield from each(METADATA.child("generateName"), generate, naming.of_prefix(generate))
    if name:
        yield from each(METADATA.child("name"), name, naming.rule(name))
    else:
        yield fieldpath.required(METADATA.child("name"), "name or generateName is required")


def validate_annotations(path: FieldPath, data: Mapping[str, str] | None) -> Errors:
    """Validate annotations: keys one by one, and the size of all."""
    total = 0
    for key, value in sorted((data or {}).items()):
        yield from each(path, key, name_rules.qualified_name(key.lower()))
        total += sum(len(text.encode("utf-8", "surrogatepass")) for text in (key, value))
    if total > ANNOTATIONS_BYTES:
        yield fieldpath.too_long(path, ANNOTATIONS_BYTES)


def _owners(owners: Sequence[JsonObject]) -> Errors:
    path = METADATA.child("ownerReferences")
    first = ""
    printed: list[JsonObject] = []
    for owner in owners:
        yield from _owner(owner, path)
        if not owner.get("controller"):
            continue
        named = f"{owner['kind']}/{owner['name']}"
        if first:
            detail = (
                'Only one reference can have Controller set to true. Found "true" in references '
                f"for {first} and {named}"
            )
            printed = printed or list(map(_printed_owner, owners))  # once for all errors
            go_value = GoValue(printed, "[]v1.OwnerReference")
            yield fieldpath.invalid(path, go_value, detail)
        first = first or named


_EMPTY_MEMBERS: Final = {
    member: wording("must not be empty", v1_34=f"{member} must not be empty")
    for member in ("kind", "name", "uid")
}


def _owner(owner: JsonObject, path: FieldPath) -> Errors:
    version: str = owner["apiVersion"]
    if not _version(version):
        yield fieldpath.invalid(path.child("apiVersion"), version, "version must not be empty")
    for member in ("kind", "name"):
        if not owner[member]:
            yield fieldpath.invalid(path.child(member), "", _EMPTY_MEMBERS[member].text)
    if not owner["uid"]:
        yield fieldpath.invalid(path.child("uid"), NamedText(""), _EMPTY_MEMBERS["uid"].text)
    if (version, owner["kind"]) == _EVENT:
        detail = "/v1, Kind=Event is disallowed from being an owner"
        go_value = GoValue(_printed_owner(owner), "v1.OwnerReference")
        yield fieldpath.invalid(path, go_value, detail)


def _printed_owner(owner: JsonObject) -> JsonObject:
    return {field: owner[field] for field in _OWNER_FIELDS if field in owner}


def _version(api_version: str) -> str:
    """Return the version; empty for what is no API version at all."""
    try:
        return parse_api_version(api_version).version
    except ApiVersionError:
        return ""


def _finalizers(meta: JsonObject) -> Errors:
    path = METADATA.child("finalizers")
    finalizers = list(meta.get("finalizers") or ())
    for finalizer in finalizers:
        yield from each(path, finalizer, name_rules.qualified_name(finalizer))
    if FOREGROUND in finalizers and ORPHAN in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        yield fieldpath.invalid(path, finalizers, detail)


def field_manager_errors(manager: str, path: FieldPath) -> Errors:
    """Yield what is wrong with the name of a field manager: too long, or characters that cannot be
    printed; positions count bytes."""
    encoded = manager.encode("utf-8", "surrogatepass")
    if len(encoded) > _MANAGER_BYTES:
        yield fieldpath.too_long(path, _MANAGER_BYTES)
    position = 0
    for char in manager:
        if not char.isprintable():
            detail = f"invalid character U+{ord(char):04X} (at position {position})"
            yield fieldpath.invalid(path, manager, detail)
        position += len(char.encode("utf-8", "surrogatepass"))


def _managed_fields(meta: JsonObject) -> Errors:
    """Yield what is wrong with the managers of an object. Only those of an embedded resource can be
    of no operation or type: of others the fields were read before."""
    path = METADATA.child("managedFields")
    for index, entry in enumerate(meta.get("managedFields") or ()):
        if entry.get("operation") not in _OPERATIONS:
            operation = NamedText(entry.get("operation") or "")
            detail = "must be `Apply` or `Update`"
            yield fieldpath.invalid(path.index(index).child("operation"), operation, detail)
        if entry.get("fieldsType") not in _FIELDS_TYPES:
            fields_type = entry["fieldsType"]
            detail = "must be `FieldsV1`"
            yield fieldpath.invalid(path.index(index).child("fieldsType"), fields_type, detail)
        manager, subresource = entry.get("manager", ""), entry.get("subresource", "")
        if not manager.isprintable() or len(manager) * _UTF_8_BYTES > _MANAGER_BYTES:
            yield from field_manager_errors(manager, path.index(index).child("manager"))
        if len(subresource.encode("utf-8", "surrogatepass")) > _SUBRESOURCE_BYTES:
            yield fieldpath.too_long(path.index(index).child("subresource"), _SUBRESOURCE_BYTES)


def standard_finalizers(meta: JsonObject, naming: Naming) -> Errors:
    """Yield what breaks the additional rule of built-in kinds."""
    if naming.any_finalizers:
        return
    for path, finalizer in items(meta, "finalizers", METADATA):
        yield from standard_finalizer(path, finalizer)


def new_object_meta(meta: JsonObject, naming: Naming) -> Errors:
    """Yield what is wrong with the metadata of a new object of a built-in kind."""
    yield from validate_object_meta(meta, naming)
    yield from standard_finalizers(meta, naming)


def standard_finalizer(path: FieldPath, finalizer: str) -> Errors:
    """Validate a finalizer: one without a domain must be one of Kubernetes' own."""
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        detail = "name is neither a standard finalizer name nor is it fully qualified"
        yield fieldpath.invalid(path, finalizer, detail)


OF_NO_TEMPLATE: Final = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("ownerReferences", "finalizers", "managedFields"),
)
"""Metadata that only an object can have, in upstream's order."""


def inherited_metadata(path: FieldPath, meta: JsonObject) -> Errors:
    """Yield what is wrong with the metadata that claims which are made from a template inherit."""
    # As `ValidateTemplateObjectMeta` of `pkg/apis/core/validation`.
    yield from validate_annotations(path.child("annotations"), meta.get("annotations"))
    yield from labels(path.child("labels"), meta.get("labels"))
    for field in OF_NO_TEMPLATE:
        if meta.get(field) not in (None, "", 0):
            # Upstream has the field's name from the struct and makes its first letter small.
            text = "uID" if field == "uid" else field
            yield fieldpath.forbidden(path.child(text), "cannot be set")


# --- Rows of the table of kinds ----------------------------------------------
#
# What a kind is validated by: the names its objects may have, and its own rules for each write.

Create = Callable[[JsonObject], Errors]
Update = Callable[[JsonObject, JsonObject], Errors]


def nothing(_: JsonObject) -> Errors:
    """Find nothing wrong: the kind has no rules of its own."""
    return iter(())


def no_changes(_: JsonObject, __: JsonObject) -> Errors:
    """Yield nothing: whatever is right may change."""
    return iter(())


SUBDOMAIN: Final = Naming()
GENERATED: Final = Naming(name_rules.long_name, unread_prefix_since="1.35")
ANY_FINALIZERS: Final = Naming(any_finalizers=True)
LABEL: Final = Naming(name_rules.dns1123_label)
SERVICE: Final = Naming(
    name_rules.dns1123_label, gate=RELAXED_SERVICE_NAMES, otherwise=name_rules.dns1035_label
)
ANY_SEGMENT: Final = Naming(name_rules.path_segment_name, prefix_rule=name_rules.path_segment_name)
CLUSTER: Final = Naming(namespaced=False)
CLUSTER_LABEL: Final = Naming(name_rules.dns1123_label, namespaced=False)
CLUSTER_ANY: Final = Naming(lambda _: [], namespaced=False)
CLUSTER_GENERATED: Final = replace(GENERATED, namespaced=False)
CLUSTER_SEGMENT: Final = replace(ANY_SEGMENT, namespaced=False)


class Revisit(enum.Flag):
    """The ways in which the rules of a kind look at the metadata of a changed object, besides what
    a server does for all kinds; as a changed one first, or as a new one."""

    NEVER = 0
    AS_NEW = enum.auto()
    AS_CHANGED = enum.auto()
    BOTH = AS_NEW | AS_CHANGED
    _FIRST = enum.auto()
    NEW_FIRST = BOTH | _FIRST


@dataclass(frozen=True, slots=True)
class Validation:
    """The rules of a kind, besides those for metadata.

    Without `update`, a changed object must be what a new one must be. `status` is about an update
    of the status; where it is the rule for updates itself, it looks at metadata as that does.
    `changes` instead of `update`: a changed object is judged as a new one, its metadata first, and
    then compared, its metadata first. `as_new` does the former where that is not as `create` does.
    `fixed` is what may not change of kinds that say so between both looks at metadata; `update`
    (or `create`) follows.
    `naming` is made for an object where its names depend on what is in it; None: the kind's own
    rules say nothing about metadata. `revisit` is how an update looks at metadata again,
    `status_revisit` how one of the status does: as one that was changed where an update does, if
    there are rules for a status. Before the release `repeated_until`, a changed object was also
    looked at as a new one, so that what was wrong was said twice.
    """

    create: Create = nothing
    naming: Naming | Callable[[JsonObject], Naming] | None = SUBDOMAIN
    update: Update | None = None
    status: Update | None = None
    revisit: Revisit = Revisit.BOTH
    status_revisit: Revisit | None = None
    fixed: Update | None = None
    status_first: Update | None = None
    """What is said of a changed status before its metadata are looked at again."""
    changes: Update | None = None
    as_new: Update | None = None
    named_once_since: str = ""
    """The release since which the metadata of a changed object are not looked at as new ones."""
    named_again_since: str = ""
    """The release since which they are."""
    repeated_until: str = ""
    says_once: bool = False
    """Whether its rules say the same of the same only once, whatever it is said of."""

    @property
    def revisits(self) -> Revisit:
        """Return how metadata are revisited in the current release."""
        once = (self.named_once_since and is_since(self.named_once_since)) or (
            self.named_again_since and not is_since(self.named_again_since)
        )
        return self.revisit & ~Revisit.AS_NEW if once else self.revisit

    @property
    def revisit_of_status(self) -> Revisit:
        """Return how an update of the status looks at metadata again."""
        if self.status_revisit is not None:
            return self.status_revisit
        return Revisit.NEVER if self.status is None else self.revisit & Revisit.AS_CHANGED

    def of_update(self, obj: JsonObject, old: JsonObject) -> Errors:
        """Yield what is wrong with an update, metadata included."""
        return self.create(obj) if self.update is None else self.update(obj, old)

    def naming_of(self, obj: JsonObject) -> Naming | None:
        """Return the rule for the name of an object; None if its kind has none."""
        return self.naming(obj) if callable(self.naming) else self.naming
