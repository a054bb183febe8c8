"""Reads the body of a request, from text to a draft, and the options in its query or body.

A body is JSON text, or a `Document` that was read from another format. `interpret` finds out what
it claims to be; `undecodable` and `unrecognized` are the two forms of the answer when it cannot be
read as the kind an endpoint expects. `draft_of` makes a draft of it, or refuses it with 400. As
k8s.io/apiserver `pkg/endpoints/handlers` and k8s.io/apimachinery `pkg/runtime/serializer/json`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from celadon.kube import fieldpath, metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_json import Document, JsonSyntaxError, as_read, read_json, without_double
from celadon.kube.go.go_text import EACH_BYTE, json_text, parse_uint, quote, sorted_members
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.names import ApiVersionError, GroupKind, GroupVersionKind, parse_api_version
from celadon.kube.registry.decoded_object import (
    Draft,
    Target,
    drafted,
    mutated_custom,
    with_sound_metadata,
)
from celadon.kube.releases import Wording, wording
from celadon.kube.resources.api_resources import known_resources
from celadon.kube.schemas import struct_decoding
from celadon.kube.schemas.schema_packs import OBJECT_META, keep_raw_of
from celadon.kube.schemas.value_decoding import DecodeError, json_kind
from celadon.kube.status import StatusError
from celadon.kube.validation.object_meta import field_manager_errors
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.kube.crd.custom_kinds import CustomKind


# --- Bodies ------------------------------------------------------------------

SUMMARY_BYTES: Final = 30
"""Of a body that cannot be read, an answer shows this much."""

SCHEME: Final = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"
_OF_EXTENSIONS: Final = "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go"
_SCHEMES: Final[Mapping[str, Wording]] = {
    "apiextensions.k8s.io": wording(
        f"{_OF_EXTENSIONS}:55", v1_31=f"{_OF_EXTENSIONS}:54", v1_33=f"{_OF_EXTENSIONS}:53"
    ),
    "apiregistration.k8s.io": wording("k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"),
}
"""Where the kinds of groups are registered that servers of their own have."""

UNVERSIONED: Final = frozenset(
    {"Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"}
)
"""Kinds that any version of any group has, as if they were of `v1`."""
_OF_VERSIONS: Final = frozenset(
    {
        *("WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions"),
        *("UpdateOptions", "PatchOptions"),
    }
)
"""Kinds that every version of a group has in which there is any."""
_OF_CORE: Final = frozenset(
    {
        *("List", "SerializedReference", "RangeAllocation", "PodStatusResult", "NodeProxyOptions"),
        *("PodLogOptions", "PodExecOptions", "PodAttachOptions", "PodPortForwardOptions"),
        *("PodProxyOptions", "ServiceProxyOptions"),
    }
)
"""Further kinds of `v1` that no endpoint shows."""
_PIECE: Final = 1 << 16
_TIMES: Final = ("creationTimestamp", "deletionTimestamp")
_UNREADABLE: Final = "couldn't get version/kind; json parse error: "
_SAYS: Final = {key.casefold(): key for key in TYPE_FIELDS}
_LENGTHS: Final = frozenset(map(len, _SAYS))
_TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


class Uninterpretable(MalformedText):
    """A body that does not say what it is; the message is the decoder's."""


def interpret(
    body: bytes | Document,
    expected: GroupVersionKind,
    sent: bytes = b"",
    *,
    is_custom: bool = False,
) -> tuple[GroupVersionKind, Document]:
    """Return what the document is, with the parts that it does not say taken from `expected`.
    `sent` are the bytes that came, of another format than JSON. Custom resources are read once
    more, as they are. StatusError for no JSON object with a readable kind and version."""
    try:
        return interpreted(body, expected, is_custom=is_custom)
    except Uninterpretable as error:
        raw = sent if sent or isinstance(body, Document) else body
        raise unrecognized(expected.kind, str(error), raw) from None


def interpreted(
    body: bytes | Document, expected: GroupVersionKind, *, is_custom: bool = False
) -> tuple[GroupVersionKind, Document]:
    """Return the kind and the document of a body. Raises Uninterpretable."""
    document = body if isinstance(body, Document) else _document(body)
    value = document.value
    if value is None:
        return expected, Document({})
    if not isinstance(value, dict):
        raise Uninterpretable(not_an_object(value))
    kind = _kind(*_said(value), expected)
    if is_custom:
        kind = _kind(value.get("apiVersion") or "", value.get("kind") or "", expected)
    return kind, document


def _kind(api_version: str, kind: str, expected: GroupVersionKind) -> GroupVersionKind:
    """Return the kind of a body. Raises Uninterpretable."""
    try:
        group, version = parse_api_version(api_version)
    except ApiVersionError as error:
        raise Uninterpretable(str(error)) from None
    if not version and group in ("", expected.group):
        group, version = expected.group, expected.version
    return GroupVersionKind(group, version, kind or expected.kind)


def _document(body: bytes) -> Document:
    try:
        return read_json(_decoded(body), merge=True, data=body)
    except JsonSyntaxError as error:
        raise Uninterpretable(f"{_UNREADABLE}{error}") from None


def too_large(number: str, target_type: str = "Go value") -> str:
    """Return the decoder's words for a number that no double is large enough for."""
    return f"json: cannot unmarshal number {number} into {target_type} of type float64"


def _decoded(body: bytes) -> str:
    """Replace what is no UTF-8, in pieces: no other thread has its turn within one of them."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        decoder = codecs.getincrementaldecoder("utf-8")(EACH_BYTE)
        starts = range(0, len(body), _PIECE)
        pieces = [decoder.decode(body[start : start + _PIECE]) for start in starts]
        return "".join((*pieces, decoder.decode(b"", final=True)))


def not_an_object(value: object) -> str:
    """Return the decoder's words for a list or a scalar."""
    reason = f"json: cannot unmarshal {json_kind(value)} into Go value of type {_TYPE_META}"
    return _UNREADABLE + reason


def _said(value: dict[str, Json]) -> tuple[str, str]:
    """Return the `apiVersion` and the `kind` of an object. Whoever looks what a body is takes names
    of members in any case, and of several the last; to read it as its kind takes them as they
    are."""
    type_meta = {"apiVersion": "", "kind": ""}
    for name, entry in value.items():
        key = _SAYS.get(name.casefold()) if len(name) in _LENGTHS else None
        if key is None or entry is None:
            continue
        if not isinstance(entry, str):
            kind = json_kind(entry)
            reason = f"json: cannot unmarshal {kind} into Go struct field .{key} of type string"
            raise Uninterpretable(_UNREADABLE + reason)
        type_meta[key] = entry
    return type_meta["apiVersion"], type_meta["kind"]


def unrecognized(kind: str, reason: str, body: bytes) -> StatusError:
    """Return the error about bodies that do not even say what they are."""
    message = f"the object provided is unrecognized (must be of type {kind}): {reason}"
    return status.bad_request(f"{message} ({_summary(body)})")


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    readable = body.startswith(b"{")
    head = body[:SUMMARY_BYTES]
    text = head.decode("utf-8", EACH_BYTE) if readable else head.hex()
    return f"{text} ..." if len(body) > SUMMARY_BYTES else text


def undecodable(sent_kind: GroupVersionKind, kind: str, reason: str) -> StatusError:
    """Return the error about bodies that are of a kind, which cannot be read as `kind`."""
    version = quote(sent_kind.version)
    return status.bad_request(
        f"{sent_kind.kind} in version {version} cannot be handled as a {kind}: {reason}"
    )


def not_registered(sent_kind: GroupVersionKind, expected: GroupVersionKind) -> StatusError:
    """No such kind in the version that the body names."""
    return undecodable(sent_kind, expected.kind, unregistered(sent_kind, expected.group))


def unregistered(sent_kind: GroupVersionKind, group: str = "", scheme: str = "") -> str:
    """Say that the server has no such kind in this group, or in a scheme."""
    if not scheme:
        scheme = _SCHEMES[group].text if group in _SCHEMES else SCHEME
    named, version = quote(sent_kind.kind), quote(sent_kind.api_version)
    return f'no kind {named} is registered for version {version} in scheme "{scheme}"'


_SCHEME_OF_CUSTOM: Final = wording(
    "customresource_handler.go:781",
    v1_31="customresource_handler.go:719",
    v1_32="customresource_handler.go:721",
    v1_34="customresource_handler.go:725",
    v1_35="customresource_handler.go:730",
)


def unknown_scale() -> StatusError:
    """Return the error about any body that cannot be read as the scale of a custom resource: who
    wants to name its kind does not find it among those of custom resources."""
    return status.bad_request(
        'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/'
        f'apiserver/{_SCHEME_OF_CUSTOM.text}"'
    )


def other_version(sent_kind: GroupVersionKind, expected: GroupVersionKind) -> StatusError:
    """Return the refusal of a body that is of another version than the endpoint."""
    message = (
        f"the API version in the data ({sent_kind.api_version}) does not match the expected API "
        f"version ({expected.api_version})"
    )
    return status.bad_request(message)


def strict_decoding_error(errors: list[str]) -> str:
    """Return the text of 400 for unknown and repeated fields."""
    return f"strict decoding error: {', '.join(errors)}"


# --- Options -----------------------------------------------------------------
#
# The options of a request, as they come in a query or a body.
#
# Of a write or a deletion: what is wrong with them, as k8s.io/apimachinery
# `pkg/apis/meta/v1/validation`. A server answers with `invalid_options` before it looks at the
# body.
#
# Of a connection (`pods/exec`, `services/proxy`, …): what admission sees of it. They come in the
# query, or are what follows the subresource in the path. Flags that are off are left out. As
# k8s.io/kubernetes `pkg/apis/core/v1/zz_generated.conversion.go` and k8s.io/apimachinery
# `pkg/apis/meta/v1/conversion.go`.

DRY_RUN_VALUES: Final = ("All",)

IGNORE: Final = "Ignore"
WARN: Final = "Warn"
STRICT: Final = "Strict"
FIELD_VALIDATIONS: Final = ("", IGNORE, STRICT, WARN)
"""What becomes of unknown and repeated fields; empty is `WARN`."""

PROPAGATION_POLICIES: Final = ("Foreground", "Background", "Orphan")

CREATE: Final = "CreateOptions"
UPDATE: Final = "UpdateOptions"
PATCH: Final = "PatchOptions"
DELETE: Final = "DeleteOptions"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Holds options of a write. `force` is None if not given; `apply` tells an apply patch."""

    dry_run: tuple[str, ...] = ()
    field_manager: str = ""
    field_validation: str = ""
    force: bool | None = None
    apply: bool = False


def write_option_errors(options: WriteOptions, kind: str) -> list[FieldError]:
    """`kind` is `CREATE`, `UPDATE` or `PATCH`."""
    errors: list[FieldError] = []
    if kind == PATCH and options.apply and not options.field_manager:
        path = FieldPath("fieldManager")
        errors.append(fieldpath.required(path, "is required for apply patch"))
    if kind == PATCH and not options.apply and options.force is not None:
        path = FieldPath("force")
        errors.append(fieldpath.forbidden(path, "may not be specified for non-apply patch"))
    errors += field_manager_errors(options.field_manager, FieldPath("fieldManager"))
    errors += _dry_run(options.dry_run)
    if options.field_validation not in FIELD_VALIDATIONS:
        path = FieldPath("fieldValidation")
        errors.append(fieldpath.not_supported(path, options.field_validation, FIELD_VALIDATIONS))
    return errors


def delete_option_errors(
    dry_run: Sequence[str], propagation_policy: str | None, *, orphan_dependents: bool | None
) -> list[FieldError]:
    """`dryRun`, and the two ways to say what happens to dependents, of which one may be given."""
    path = FieldPath("propagationPolicy")
    errors: list[FieldError] = []
    if propagation_policy is not None:
        value = fieldpath.NamedText(propagation_policy)
        if orphan_dependents is not None:
            detail = "orphanDependents and deletionPropagation cannot be both set"
            errors.append(fieldpath.invalid(path, value, detail))
        if propagation_policy not in PROPAGATION_POLICIES:
            errors.append(fieldpath.not_supported(path, value, (*PROPAGATION_POLICIES, "nil")))
    return errors + _dry_run(dry_run)


def _dry_run(values: Sequence[str]) -> list[FieldError]:
    if all(value in DRY_RUN_VALUES for value in values):
        return []
    return [fieldpath.not_supported(FieldPath("dryRun"), list(values), DRY_RUN_VALUES)]


def invalid_options(kind: str, errors: Sequence[FieldError]) -> StatusError:
    """Return a 422 for options of this kind."""
    return status.invalid(GroupKind("meta.k8s.io", kind), "", errors)


# --- connections ---

_PORT_BITS: Final = 16


@dataclass(frozen=True, slots=True)
class OptionFields:
    """The members of an options kind, by how their values are read."""

    flags: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    has_path: bool = False


_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
_PROXY: Final = OptionFields(has_path=True)

OPTIONS: Final[Mapping[str, OptionFields]] = {
    "PodAttachOptions": OptionFields(flags=_STREAMS, texts=("container",)),
    "PodExecOptions": OptionFields(flags=_STREAMS, texts=("container",), lists=("command",)),
    "PodPortForwardOptions": OptionFields(ports=("ports",)),
    "NodeProxyOptions": _PROXY,
    "PodProxyOptions": _PROXY,
    "ServiceProxyOptions": _PROXY,
}


def connect_options(
    kind: GroupVersionKind, query: Mapping[str, Sequence[str]], path: str = ""
) -> dict[str, Json]:
    """Return the object of a connection's options; a command that is not given is null. `path` is
    what follows the subresource, with the slash before it. Raises ValueError for ports that are
    none, with upstream's text."""
    fields = OPTIONS.get(kind.kind, OptionFields())
    options: dict[str, Json] = {"kind": kind.kind, "apiVersion": kind.api_version}
    for name in fields.flags:
        if query.get(name) and flag(query[name][0]):
            options[name] = True
    for name in fields.texts:
        if query.get(name) and query[name][0]:
            options[name] = query[name][0]
    for name in fields.lists:
        options[name] = list(query[name]) if query.get(name) else None
    for name in fields.ports:
        if query.get(name):
            options[name] = [_port(part) for text in query[name] for part in text.split(",")]
    if fields.has_path and path:
        options["path"] = path
    return options


def flag(text: str) -> bool:
    """Go's reading of a boolean parameter that is there: neither `0` nor a form of `false`."""
    return text != "0" and text.lower() != "false"


def _port(text: str) -> int:
    try:
        return parse_uint(text, _PORT_BITS)
    except ValueError as error:
        raise ValueError(f"cannot convert to []int32: {error}") from None


# --- Bodies to drafts --------------------------------------------------------
#
# Bodies to drafts: what an endpoint reads, complains about and refuses with 400.
#
# The order of complaints is a server's: unreadable text, unknown kind, values of wrong types,
# strict decoding, another kind; then, as a step of its own since the client keeps the warnings,
# another version. As the handlers of k8s.io/apiserver; for custom resources as
# k8s.io/apiextensions-apiserver `pkg/apiserver/customresource_handler.go`.
#
# `read_mutated` reads again what somebody else's mutation has made, as the decoding in
# k8s.io/apiserver `pkg/admission/plugin/webhook/mutating/dispatcher.go`: unknown fields go, what
# does not fit is the mutator's fault and so a 500.

_FORMER_KINDS: Final = {
    "admissionregistration.k8s.io/v1alpha1": (
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"
    ),
    "admissionregistration.k8s.io/v1beta1": (
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "ValidatingWebhookConfiguration"
    ),
    "apiextensions.k8s.io/v1beta1": "CustomResourceDefinition",
    "apiregistration.k8s.io/v1beta1": "APIService",
    "apps/v1beta1": "ControllerRevision Deployment Scale StatefulSet",
    "apps/v1beta2": "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
    "authentication.k8s.io/v1alpha1": "SelfSubjectReview",
    "authentication.k8s.io/v1beta1": "SelfSubjectReview TokenReview",
    "authorization.k8s.io/v1beta1": (
        "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview "
        "SubjectAccessReview"
    ),
    "batch/v1beta1": "CronJob",
    "certificates.k8s.io/v1beta1": "CertificateSigningRequest",
    "coordination.k8s.io/v1beta1": "Lease",
    "discovery.k8s.io/v1beta1": "EndpointSlice",
    "events.k8s.io/v1beta1": "Event",
    "extensions/v1beta1": "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet Scale",
    "flowcontrol.apiserver.k8s.io/v1beta1": "FlowSchema PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta2": "FlowSchema PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta3": "FlowSchema PriorityLevelConfiguration",
    "networking.k8s.io/v1beta1": "Ingress IngressClass",
    "node.k8s.io/v1alpha1": "RuntimeClass",
    "node.k8s.io/v1beta1": "RuntimeClass",
    "policy/v1beta1": "Eviction PodDisruptionBudget",
    "rbac.authorization.k8s.io/v1alpha1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "rbac.authorization.k8s.io/v1beta1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "scheduling.k8s.io/v1beta1": "PriorityClass",
    "storage.k8s.io/v1alpha1": "CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
    "storage.k8s.io/v1beta1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment",
}
"""Kinds of versions that a server can still read where its release no longer serves them, as it can
their lists: their fields are taken for those of v1, which is nearly so."""
NULL_VERSION: Final = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
_UNLIKE_V1: Final = "apiextensions.k8s.io/v1beta1"
"""The version whose fields are others: none is called unknown."""
_MOVED: Final = {
    **dict.fromkeys(("DaemonSet", "Deployment", "ReplicaSet"), "apps"),
    **dict.fromkeys(("Ingress", "NetworkPolicy"), "networking.k8s.io"),
    "Scale": "autoscaling",
}
"""The groups of kinds that had another one before."""
_FORMER: Final = {version: frozenset(kinds.split()) for version, kinds in _FORMER_KINDS.items()}


@dataclass(frozen=True, slots=True)
class Incoming:
    """Holds an object that was read from a body. `found` is what it says it is, perhaps in another
    version than the endpoint's; `sent` is the document before anything was dropped or defaulted."""

    stated_kind: GroupVersionKind
    draft: Draft
    body: JsonDict
    warnings: tuple[str, ...] = ()


def read_object(
    body: bytes | Document,
    target: Target,
    context: DefaultingContext,
    field_validation: str = WARN,
    noticed: Sequence[str] = (),
    sent: bytes = b"",
) -> Incoming:
    """Return the object in a body: JSON text, or what was read from another format, of which `sent`
    are the bytes that came and `noticed` what its reader had to complain about. StatusError (400)
    when it is not an object of the endpoint's kind; its version is for `require_version`."""
    sent = sent if sent or isinstance(body, Document) else body
    is_custom = target.schema is not None
    sent_kind, document = interpret(body, target.kind, sent, is_custom=is_custom)
    if target.schema is not None:
        if isinstance(body, bytes) and (number := without_double(_decoded(body))):
            raise undecodable(sent_kind, target.kind.kind, too_large(number))
        sent_kind = _custom_kind(document, sent_kind, target, field_validation, sent)
        if sent_kind != target.kind:
            target = replace(target, custom=target.schema.reading(sent_kind))
    elif not sent_kind.version:
        reason = f"Object 'apiVersion' is missing in '{sent.decode(errors=EACH_BYTE)}'"
        raise undecodable(sent_kind, target.kind.kind, reason)
    elif (other := internal_kind(sent_kind, target.kind.group)) is not None:
        raise _other_kind(document, sent_kind, other, target.kind)
    elif sent_kind != target.kind:
        _require_kind(document, sent_kind, target)
    if isinstance(body, bytes):
        keep_raw_of(structure_of(sent_kind), document.value, body)
    return read_document(document, sent_kind, target, context, field_validation, noticed)


def _require_kind(document: Document, sent_kind: GroupVersionKind, target: Target) -> None:
    """Work as `read_object` for a built-in kind; another version of it passes."""
    if not _is_registered(sent_kind) or _is_elsewhere(sent_kind, target.kind.group):
        raise not_registered(sent_kind, target.kind)
    if _internal(sent_kind) != _internal(target.kind):
        raise _other_kind(document, sent_kind, sent_kind, target.kind)


def _internal(kind: GroupVersionKind) -> GroupKind:
    """Return the kind without a version that this one becomes: events of both groups the same."""
    internal = structure_of(kind).group_kind
    return GroupKind("", "Event") if internal == ("events.k8s.io", "Event") else internal


def internal_kind(sent_kind: GroupVersionKind, group: str) -> GroupVersionKind | None:
    """Return what upstream takes the kind for, if it is one that all versions have, or one that
    only the server itself uses which has the group."""
    if sent_kind.kind in UNVERSIONED:
        return sent_kind._replace(version="v1")
    if _is_elsewhere(sent_kind, group):
        is_known = sent_kind.kind in _OF_VERSIONS and sent_kind.api_version == "v1"
        return sent_kind if is_known else None
    if sent_kind.kind in _OF_VERSIONS and _has_kinds(sent_kind):
        return sent_kind._replace(version="v1")
    return sent_kind if sent_kind.kind in _OF_CORE and sent_kind.api_version == "v1" else None


_SCALE_KINDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "autoscaling/v1": frozenset({"Scale"}),
        "apps/v1beta1": frozenset({"Scale", "DeploymentRollback"}),
        "apps/v1beta2": frozenset({"Scale"}),
        "extensions/v1beta1": frozenset({"Scale", "DeploymentRollback"}),
    }
)
"""By group and version, the kinds of the scheme that reads scales of custom resources, besides
those that every version has (k8s.io/client-go `scale/scheme`)."""


def kind_among_scales(sent_kind: GroupVersionKind) -> GroupVersionKind | None:
    """Return what upstream takes a kind for that a scale of a custom resource names; None if it
    knows none of that name there."""
    kinds = _SCALE_KINDS.get(sent_kind.api_version)
    if sent_kind.kind in UNVERSIONED or (kinds and sent_kind.kind in _OF_VERSIONS):
        return sent_kind._replace(version="v1")
    return sent_kind if kinds and sent_kind.kind in kinds else None


def _is_elsewhere(sent_kind: GroupVersionKind, group: str) -> bool:
    """Return whether the group has a server of its own, which knows no kinds of this one."""
    return group in _SCHEMES and sent_kind.group != group


def _has_kinds(sent_kind: GroupVersionKind) -> bool:
    if sent_kind.api_version in _FORMER:
        return True
    resources = known_resources(all_versions=True)
    return any(resource.gvr.group_version == sent_kind.group_version for resource in resources)


def require_version(incoming: Incoming, target: Target) -> None:
    """Raise StatusError (400) for an object of another version than the endpoint's."""
    if incoming.stated_kind.group_version != target.kind.group_version:
        raise other_version(incoming.stated_kind, target.kind)


def read_document(
    document: Document,
    sent_kind: GroupVersionKind,
    target: Target,
    context: DefaultingContext,
    field_validation: str = WARN,
    warnings: Sequence[str] = (),
) -> Incoming:
    """Return the same for a document that is known to be of the kind, such as a patched one.
    `warnings` are what has been noticed about it before."""
    try:
        draft = draft_of(document.value, target, context, sent_kind)
    except DecodeError as error:
        raise undecodable(sent_kind, target.kind.kind, str(error)) from error
    complaints: list[str] = []
    if field_validation != IGNORE:
        complaints += warnings
        if document.repeated or not (draft.is_exact or sent_kind.api_version == _UNLIKE_V1):
            complaints += [
                stray_field.text for stray_field in stray_fields(document, sent_kind, target)
            ]
    if complaints and field_validation == STRICT:
        reason = strict_decoding_error(complaints)
        raise undecodable(sent_kind, sent_kind.kind, reason)
    return Incoming(sent_kind, draft, document.value, tuple(complaints))


def draft_of(
    value: JsonObject,
    target: Target,
    context: DefaultingContext,
    sent_kind: GroupVersionKind | None = None,
    *,
    is_applied: bool = False,
    stored: JsonObject | None = None,
) -> Draft:
    """Return a JSON object decoded, with defaults, and for custom resources without what their
    schema does not know, nor nulls that it does not allow. Custom resources that an apply made
    (`is_applied`) stay as they are. Raises DecodeError as `drafted`, which takes `stored`, too."""
    custom = target.schema
    if custom is None:
        return drafted(value, structure_of(sent_kind or target.kind), context, stored)
    read = as_read(dict(value))
    mutated = with_sound_metadata(read, _TIMES) if is_applied else custom.prepare(read).value
    kind = sent_kind or target.kind
    try:
        draft = drafted(mutated, target.kind, context)
    except DecodeError:
        # Upstream reads the metadata from what was written of a map: the first fault by name.
        by_name = {**mutated, "metadata": sorted_members(mutated.get("metadata"))}
        drafted(by_name, target.kind, context)
        raise
    draft = replace(draft, gvk=kind, is_mutated=is_applied)
    if not is_applied:
        custom.require_readable(mutated)
    return draft


def structure_of(kind: GroupVersionKind) -> GroupVersionKind:
    """Return the kind by whose structure it is read: that of v1 for versions no longer served."""
    item = kind.kind.removesuffix("List")
    is_former = item in _FORMER.get(kind.api_version, ())
    if not is_former or struct_decoding.codec_for(kind) is not None:
        return kind
    is_moved = kind.group == "extensions" or kind.kind == "Scale"
    group = _MOVED[item] if is_moved else kind.group
    return GroupVersionKind(group, "v1", kind.kind)


def stray_fields(
    document: Document, sent_kind: GroupVersionKind, target: Target
) -> list[struct_decoding.StrayField]:
    """Unknown and repeated fields, in the order of strict decoding."""
    custom = target.schema
    if custom is None:
        return struct_decoding.strict_field_errors(document, structure_of(sent_kind))
    dropped = custom.prepare(document.value).dropped
    return [
        *struct_decoding.repeated_fields(document),
        *struct_decoding.struct_field_errors(document.value, "metadata", OBJECT_META),
        *dropped,
    ]


def _is_registered(kind: GroupVersionKind) -> bool:
    return struct_decoding.codec_for(structure_of(kind)) is not None


def _other_kind(
    document: Document,
    sent_kind: GroupVersionKind,
    other: GroupVersionKind,
    expected: GroupVersionKind,
) -> StatusError:
    """Values that do not fit the `other` kind, which the one that was sent is taken for, are found
    before it is known to be another."""
    reason = misfit_of(document.value, other) or unknown_conversion(other, expected)
    return undecodable(sent_kind, expected.kind, reason)


def misfit_of(value: JsonObject, kind: GroupVersionKind) -> str:
    """Return why an object cannot be read as the kind that it says, empty if it can."""
    structure = structure_of(kind)
    if kind.kind in UNVERSIONED:
        structure = GroupVersionKind("", "v1", kind.kind)
    try:
        struct_decoding.round_trip(value, structure)
    except DecodeError as error:
        return str(error)
    return ""


def _custom_kind(
    document: Document,
    sent_kind: GroupVersionKind,
    target: Target,
    field_validation: str,
    body: bytes,
) -> GroupVersionKind:
    """Return the kind that the body of a custom resource names, by which it is read. StatusError
    where it names none."""
    if not document.value.get("kind"):
        reason = f"Object 'Kind' is missing in '{body.decode('utf-8', EACH_BYTE)}'"
        if field_validation == IGNORE:
            raise undecodable(sent_kind._replace(kind=target.kind.kind), target.kind.kind, reason)
        raise unrecognized(target.kind.kind, reason, body)
    if has_null_version(document.value):
        raise undecodable(sent_kind._replace(group="", version=""), target.kind.kind, NULL_VERSION)
    return GroupVersionKind(*_said_version(document.value, sent_kind), sent_kind.kind)


def has_null_version(value: JsonObject) -> bool:
    """Return whether an object names its `apiVersion` as null, which a custom resource may not."""
    return "apiVersion" in value and value["apiVersion"] is None


def _said_version(value: JsonObject, sent_kind: GroupVersionKind) -> tuple[str, str]:
    """Return the group and version of a body; empty ones where it names no `apiVersion`."""
    return (sent_kind.group, sent_kind.version) if value.get("apiVersion") else ("", "")


# --- objects that mutating webhooks and policies have made ---


class NotConverted(StatusError):
    """Says that an object was read, but does not become one of the kind of the endpoint."""

    def __init__(self, reason: str) -> None:
        super().__init__(status.plain_error(reason).status)


def unknown_conversion(sent_kind: GroupVersionKind, kind: GroupVersionKind) -> str:
    """Say that one kind does not become another's internal form."""
    package = _internal(kind).go_package
    text = f"converting ({sent_kind.version}.{sent_kind.kind}) to ({package}.{kind.kind})"
    return f"{text}: unknown conversion"


def read_mutated(
    document: Any, kind: GroupVersionKind, custom: CustomKind | None, context: DefaultingContext
) -> tuple[JsonObject, Draft]:
    """Return the object as it was decoded, and with its defaults. StatusError (500) for what is no
    such object. Options of connections, which have no struct here, stay what they are."""
    require_object(document, kind)
    try:
        if custom is not None:
            require_kind(document)
            return document, mutated_custom(custom.mutated(document), kind, context)
        _require_same(document, kind)
        decoded = struct_decoding.round_trip(document, kind)
        return document if decoded is None else decoded, drafted(document, kind, context)
    except DecodeError as error:
        raise status.internal_error(str(error)) from None


def require_object(document: object, kind: GroupVersionKind) -> None:
    """Raise StatusError (500) for what is no JSON object, or does not say legibly what it is."""
    if not isinstance(document, dict):
        raise status.internal_error(
            f"json: cannot unmarshal {json_kind(document)} into Go value of type "
            f"{kind.version}.{kind.kind}"
        )
    try:
        _kind(*_said(dict(sorted(document.items()))), kind)  # its members were written by name
    except Uninterpretable as error:
        raise status.internal_error(str(error)) from None


def require_kind(document: JsonObject) -> None:
    """Raise StatusError (500) for a custom resource that does not say its kind."""
    if not document.get("kind"):
        raise _kind_missing(sorted_members(document))


def require_kind_of_scale(document: JsonObject) -> None:
    """Raise StatusError (500) for a scale of a custom resource that does not say its kind. It was
    written in Go's order, but for the names at its top: they are in what was patched."""
    if not document.get("kind"):
        raise _kind_missing(dict(sorted(document.items())))


def _kind_missing(document: JsonObject) -> StatusError:
    return status.internal_error(f"Object 'Kind' is missing in '{json_text(document)}'")


def built_in_kind(document: JsonObject, kind: GroupVersionKind) -> GroupVersionKind:
    """Return what the document says it is, and `kind` where it says nothing. StatusError (500) for
    a kind that there is not."""
    gvk = metadata.gvk(document)
    group, version = gvk[:2] if document.get("apiVersion") else kind[:2]
    group_version_kind = GroupVersionKind(group, version, gvk.kind or kind.kind)
    if group_version_kind != kind and struct_decoding.codec_for(group_version_kind) is None:
        raise status.internal_error(unregistered(group_version_kind, scheme=SCHEME))
    return group_version_kind


def _require_same(document: JsonObject, kind: GroupVersionKind) -> None:
    """Require the kind of the endpoint. A built-in object may leave out what it is, but not be
    something else."""
    sent_kind = built_in_kind(document, kind)
    if sent_kind != kind:
        struct_decoding.round_trip(document, sent_kind)
        raise NotConverted(unknown_conversion(sent_kind, kind))
