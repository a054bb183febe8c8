"""What a CRD says besides its schemas: deprecations, conversion, printed columns, scale, selectable
fields, and whether it may be in its group.

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`. Paths are those
of upstream's internal type: what all versions share stands at the definition, and the webhook of a
conversion has another name there.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.cel import Environment
from celadon.kube import fieldpath, name_rules
from celadon.kube.crd.compiled_rules import FieldPathError, find_field
from celadon.kube.crd.internal_definitions import InternalDefinition, internal_definition
from celadon.kube.crd.structural_schemas import (
    every_schema,
    has_unpruned_defaults,
    structural_errors,
    unreadable,
)
from celadon.kube.fieldpath import ROOT, FieldError, FieldPath
from celadon.kube.go import go_url
from celadon.kube.go.go_syntax import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.library.environments import environment
from celadon.kube.releases import current_release, is_since, previous_minor
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.validation.cluster_rules import webhook_service_errors, webhook_url_errors
from celadon.kube.x509 import bundle_fault
from celadon.records import dataclass

# --- Definition demands ------------------------------------------------------
#
# What is demanded of a definition that is written. Of an update less is: where the stored
# definition does not meet a demand, the new one need not, so that nobody is kept from repairing
# something else.
#
# As `validationOptions` in k8s.io/apiextensions-apiserver
# `pkg/apis/apiextensions/validation/validation.go`.


MAX_SELECTABLE_FIELDS: Final = 8
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
LIST_TYPE: Final = "x-kubernetes-list-type"
LIST_KEYS: Final = "x-kubernetes-list-map-keys"
MAP_TYPE: Final = "x-kubernetes-map-type"


@dataclass(frozen=True, slots=True)
class Demands:
    """All of them hold for a new definition; `stored_rules` and the sets that follow are of what
    an update found."""

    schemas: bool = True
    valid_types: bool = True
    structural: bool = True
    pruned_defaults: bool = True
    atomic_sets: bool = True
    keyed_items: bool = True
    known_reviews: bool = True
    stored_rules: frozenset[str] = frozenset()
    """Expressions that may use what a newer release brings: they are there already."""
    stored_messages: frozenset[str] = frozenset()
    unchanged_schemas: frozenset[str] = frozenset()
    """Versions whose rules may cost what they like."""
    usable_bundle: bool = False
    """Whether what a webhook is trusted by has to be certificates."""
    many_fields: frozenset[str] = frozenset()
    """Versions that may have too many selectable fields; empty is the whole definition."""

    def rule_environment(self, text: str) -> Environment:
        """What a rule may use."""
        return self._environment(is_stored=text in self.stored_rules)

    def message_environment(self, text: str) -> Environment:
        """What a message expression may use."""
        return self._environment(is_stored=text in self.stored_messages)

    def _environment(self, *, is_stored: bool) -> Environment:
        release = current_release()
        return environment(release if is_stored else previous_minor(release))


def demands_of_update(spec: JsonObject, old: JsonObject, *, established: bool) -> Demands:
    """What is demanded of a spec in place of the old one, whose objects may be `established`."""
    before, now = internal_definition(old), internal_definition(spec)
    schemas = [given for _, given in before.schemas()]
    nodes = [node for given in schemas for node in every_schema(given)]
    rules = [rule for node in nodes for rule in node.get("x-kubernetes-validations") or ()]
    webhook = (old.get("conversion") or {}).get("webhook") or {}
    reviews = webhook.get("conversionReviewVersions")
    had_usable = not _bundle_fault(webhook.get("clientConfig") or {})
    return Demands(
        schemas=all(before.schema_of(i) is not None for i in range(len(before.versions))),
        valid_types=not any((node.get("type") or "string") not in TYPES for node in nodes),
        structural=not any(map(_is_not_structural, schemas)),
        pruned_defaults=not any(map(has_unpruned_defaults, schemas)),
        atomic_sets=not any(map(has_divided_items, nodes)),
        keyed_items=not any(map(has_loose_keys, nodes)),
        known_reviews=not reviews or any(one in REVIEW_VERSIONS for one in reviews),
        stored_rules=frozenset(rule.get("rule") or "" for rule in rules),
        stored_messages=_stored_messages(rules),
        unchanged_schemas=_unchanged_schemas(now, before),
        usable_bundle=established and had_usable and is_since("1.31"),
        many_fields=_many_fields(now, before) if is_since("1.35") else frozenset(),
    )


def _stored_messages(rules: Iterable[JsonObject]) -> frozenset[str]:
    """The message expressions that were there; upstream took the rules for them until 1.31."""
    member = "messageExpression" if is_since("1.31") else "rule"
    return frozenset(rule[member] for rule in rules if rule.get("messageExpression"))


def _is_not_structural(given: JsonObject) -> bool:
    return unreadable(given) is not None or bool(structural_errors(given, ROOT))


def _unchanged_schemas(now: InternalDefinition, before: InternalDefinition) -> frozenset[str]:
    old = {
        one.get("name") or "": before.schema_of(i)
        for i, one in reversed([*enumerate(before.versions)])
    }
    return frozenset(
        name
        for i, one in enumerate(now.versions)
        if (name := one.get("name") or "") in old and now.schema_of(i) == old[name]
    )


def _many_fields(now: InternalDefinition, before: InternalDefinition) -> frozenset[str]:
    old = {one.get("name") or "": one for one in before.versions}
    places = [("", now.shared, before.shared)]
    places += [
        (name, one, old[name]) for one in now.versions if (name := one.get("name") or "") in old
    ]
    return frozenset(
        name
        for name, new, was in places
        if len(was.get("selectableFields") or ()) > MAX_SELECTABLE_FIELDS
        and new.get("selectableFields") == was["selectableFields"]
    )


def has_divided_items(node: JsonObject) -> bool:
    """Whether items of a set can be written in parts. Lists as items are wholes unless they say
    otherwise."""
    items = node.get("items")
    if node.get(LIST_TYPE) != "set" or not isinstance(items, dict):
        return False
    if items.get("type") == "array":
        return items.get(LIST_TYPE) not in (None, "atomic")
    return items.get("type") == "object" and items.get(MAP_TYPE) != "atomic"


def has_loose_keys(node: JsonObject) -> bool:
    """Whether items of a set or map list may be null, or their keys may be absent or null."""
    return next(loose_keys(node), None) is not None


def loose_keys(node: JsonObject) -> Iterator[tuple[str, str]]:
    """What is wrong: the key that it is about, empty for the item, and `default` or `nullable`."""
    items = node.get("items")
    if node.get(LIST_TYPE) not in ("set", "map") or not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield "", "nullable"
    if node[LIST_TYPE] == "set":
        return
    known: Any = items.get("properties") or {}
    for key in node.get(LIST_KEYS) or ():
        if key not in known:
            continue
        if known[key].get("default") is None and key not in (items.get("required") or ()):
            yield key, "default"
        if known[key].get("nullable"):
            yield key, "nullable"


Errors = Iterator[FieldError]

MAX_WARNING_BYTES: Final = 256
APPROVAL: Final = "api-approved.kubernetes.io"
"""Annotation that says where a definition was approved."""
APPROVAL_PLACE: Final = "https://github.com/kubernetes/enhancements/pull/1111"
"""Where people read what that is about."""

_SPEC: Final = FieldPath("spec")
_STRATEGIES: Final = ("None", "Webhook")
_COLUMN_TYPES: Final = "boolean,date,integer,number,string"
_COLUMN_FORMATS: Final = "byte,date,date-time,double,float,int32,int64,password"
_SELECTABLE: Final = frozenset({"string", "boolean", "integer"})
_NOT_SELECTABLE: Final = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with "
    "formats are allowed."
)
_ONLY_WEBHOOK: Final = "should not be set when strategy is not set to Webhook"
_SCALE_PATHS: Final = (
    ("specReplicasPath", (".spec.",), "should be a json path under .spec"),
    ("statusReplicasPath", (".status.",), "should be a json path under .status"),
    (
        "labelSelectorPath",
        (".spec.", ".status."),
        "should be a json path under either .spec or .status",
    ),
)


def approval_errors(group: str, annotations: Mapping[str, str]) -> Errors:
    """The groups of Kubernetes' community are for what it has approved (`pkg/apihelpers`)."""
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return
    said = annotations.get(APPROVAL, "")
    at = FieldPath("metadata").child("annotations").key(APPROVAL)
    needs = f'protected groups must have approval annotation "{APPROVAL}"'
    if not said:
        yield fieldpath.required(at, f"{needs}, see {APPROVAL_PLACE}")
    elif not said.startswith("unapproved") and not _is_link(said):
        either = 'with either a URL or a reason starting with "unapproved"'
        yield fieldpath.invalid(at, said, f"{needs} {either}, see {APPROVAL_PLACE}")


def approval_state(annotations: Mapping[str, str]) -> str:
    """Whether a definition of the community's is approved, bypassed, missing or wrong."""
    said = annotations.get(APPROVAL, "")
    if not said:
        return "missing"
    if said.startswith("unapproved"):
        return "bypassed"
    return "approved" if _is_link(said) else "invalid"


def _is_link(text: str) -> bool:
    try:
        found = go_url.parse_request_uri(text)
    except go_url.URLError:
        return False
    return bool(found.host and found.scheme)


def deprecation_errors(version: JsonObject, at: FieldPath) -> Errors:
    """What is wrong with the warning of a deprecated version."""
    text = version.get("deprecationWarning")
    if text is None:
        return
    if not version.get("deprecated"):
        yield fieldpath.invalid(at, text, "can only be set for deprecated versions")
        return
    if len(text.encode()) > MAX_WARNING_BYTES:
        detail = f"must be <= {MAX_WARNING_BYTES} characters long"
        yield fieldpath.invalid(at, text, detail)
    if not text:
        yield fieldpath.invalid(at, text, "must not be an empty string")
    for i, character in enumerate(text):
        if not character.isprintable():
            offset = len(text[:i].encode())
            detail = (
                "must only contain printable UTF-8 characters; non-printable character found at "
                f"index {offset}"
            )
            yield fieldpath.invalid(at, text, detail)
            return


def column_errors(columns: Sequence[JsonObject], at: FieldPath) -> Errors:
    """What is wrong with the columns that tables show."""
    for i, column in enumerate(columns):
        place = at.index(i)
        type_, format_ = column.get("type") or "", column.get("format") or ""
        if not column.get("name"):
            yield fieldpath.required(place.child("name"))
        if not type_:
            yield fieldpath.required(place.child("type"), f"must be one of {_COLUMN_TYPES}")
        elif type_ not in _COLUMN_TYPES.split(","):
            detail = f"must be one of {_COLUMN_TYPES}"
            yield fieldpath.invalid(place.child("type"), type_, detail)
        if format_ and format_ not in _COLUMN_FORMATS.split(","):
            detail = f"must be one of {_COLUMN_FORMATS}"
            yield fieldpath.invalid(place.child("format"), format_, detail)
        path = column.get("jsonPath") or ""
        if not path:
            yield fieldpath.required(place.child("JSONPath"))
        else:
            yield from _simple_path(path, place.child("JSONPath"))


def _simple_path(path: str, at: FieldPath) -> Errors:
    if not path.startswith("."):
        yield fieldpath.invalid(at, path, "must be a simple json path starting with .")


def subresource_errors(given: JsonObject, at: FieldPath) -> Errors:
    """What is wrong with the paths of the scale subresource."""
    scale = given.get("scale")
    if scale is None:
        return
    for name, roots, detail in _SCALE_PATHS:
        path, place = scale.get(name) or "", at.child("scale", name)
        if not path:
            if name != "labelSelectorPath":
                yield fieldpath.required(place)
        elif not path.startswith("."):
            yield from _simple_path(path, place)
        elif not path.startswith(roots):
            yield fieldpath.invalid(place, path, detail)


def selectable_errors(
    fields: Sequence[JsonObject], schema: JsonObject, at: FieldPath, *, many: bool = False
) -> Errors:
    """What is wrong with fields that lists can be filtered by. With `many` their number does not
    count."""
    seen: set[FieldPath] = set()
    root = decode_schema(schema)
    for i, one in enumerate(fields):
        place, path = at.index(i).child("jsonPath"), one.get("jsonPath") or ""
        if not path:
            yield fieldpath.required(place)
            continue
        try:
            found, found_schema = find_field(path, root, arrays=False)
        except FieldPathError as error:
            yield fieldpath.invalid(place, path, f"is an invalid path: {error}")
            continue
        if found.steps and str(found.steps[0]) == "metadata":
            yield fieldpath.invalid(place, path, "must not point to fields in metadata")
        if found_schema is None or found_schema.type not in _SELECTABLE:
            yield fieldpath.invalid(place, path, _NOT_SELECTABLE)
        if found in seen:
            yield fieldpath.duplicate(place, path)
        seen.add(found)
    if len(seen) > MAX_SELECTABLE_FIELDS and not many:
        yield fieldpath.too_many(at, len(seen), MAX_SELECTABLE_FIELDS)


def preserving_errors(spec: JsonObject) -> Errors:
    """Definitions keep unknown fields by their schemas only."""
    if spec.get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
            "spec.versions[*].schema instead"
        )
        yield fieldpath.invalid(_SPEC.child("preserveUnknownFields"), True, detail)


def conversion_errors(given: JsonObject, at: FieldPath, demands: Demands) -> Errors:
    """What is wrong with how objects get from one version to another."""
    strategy = given.get("strategy") or ""
    webhook = given.get("webhook") or {}
    config, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if not strategy:
        yield fieldpath.required(at.child("strategy"))
    elif strategy not in _STRATEGIES:
        yield fieldpath.not_supported(at.child("strategy"), strategy, _STRATEGIES)
    if strategy == "Webhook":
        place = at.child("webhookClientConfig")
        if config is None:
            yield fieldpath.required(place, "required when strategy is set to Webhook")
        elif (config.get("url") is None) == (config.get("service") is None):
            yield fieldpath.required(place, "exactly one of url or service is required")
        elif config.get("url") is not None:
            yield from webhook_url_errors(config["url"], place.child("url"))
        else:
            yield from webhook_service_errors(config["service"], place.child("service"))
        if demands.usable_bundle and (fault := _bundle_fault(config or {})):
            shown = GoValue((config or {})["caBundle"], "[]byte")
            yield fieldpath.invalid(place.child("caBundle"), shown, fault)
        place = at.child("conversionReviewVersions")
        yield from _review_versions(versions, place, known=demands.known_reviews)
        return
    if config is not None:
        yield fieldpath.forbidden(at.child("webhookClientConfig"), _ONLY_WEBHOOK)
    if versions:
        yield fieldpath.forbidden(at.child("conversionReviewVersions"), _ONLY_WEBHOOK)


def trusts_nobody(definition: JsonObject) -> bool:
    """Whether the webhook of a definition is trusted by what is no certificate; before 1.31 nobody
    looked."""
    webhook = (definition["spec"].get("conversion") or {}).get("webhook") or {}
    return is_since("1.31") and bool(_bundle_fault(webhook.get("clientConfig") or {}))


def _bundle_fault(config: JsonObject) -> str:
    bundle = config.get("caBundle")
    return bundle_fault(base64.b64decode(bundle)) if bundle else ""


def _review_versions(versions: Sequence[str], at: FieldPath, *, known: bool) -> Errors:
    if not versions:
        yield fieldpath.required(at)
        return
    seen = set[str]()
    for i, one in enumerate(versions):
        if one in seen:
            yield fieldpath.invalid(at.index(i), one, "duplicate version")
            continue
        seen.add(one)
        for wrong in name_rules.dns1035_label(one):
            yield fieldpath.invalid(at.index(i), one, wrong)
    if known and not set(versions) & set(REVIEW_VERSIONS):
        detail = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        yield fieldpath.invalid(at, versions, detail)
