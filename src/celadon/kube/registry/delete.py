"""A deletion, step by step: what its options say, and whether the object goes or is only marked.

    options = delete_options(read_delete_options(body), query)   from the body, else the query
    require_deletable(options.preconditions, old, target)        is it the object that is meant?
    settled(options, old)                                        the options as admission sees them
    marked(old, options, now)                                    as it waits for its finalizers
    goes_at_once(kept)                                           whether it waits for anything
    gone_answer(old, target)                                     what a client gets for it

An update that takes the last finalizer from a marked object ends it, too (`is_released`). As
k8s.io/apiserver `pkg/endpoints/handlers/delete.go`, `pkg/registry/rest/delete.go` (BeforeDelete)
and `pkg/registry/generic/registry/store.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from celadon.kube import metadata, status
from celadon.kube.go.go_json import Document
from celadon.kube.go.go_text import EACH_BYTE, parse_int
from celadon.kube.json_types import JsonDict, JsonObject, fresh
from celadon.kube.names import GroupKind, GroupResource, GroupVersionKind
from celadon.kube.registry import request_bodies
from celadon.kube.registry.decoded_object import Target
from celadon.kube.registry.request_bodies import flag
from celadon.kube.registry.update import DAEMON_SET_KIND
from celadon.kube.releases import is_since
from celadon.kube.resources.api_resources import Resource
from celadon.kube.schemas.struct_decoding import codec_for, decode, struct_codec
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.status import StatusError
from celadon.kube.well_known_values import FOREGROUND, ORPHAN, TEMPLATE_GENERATION
from celadon.records import dataclass

POD: Final = GroupVersionKind("", "v1", "Pod")

_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
DEFINITION_CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer of a CustomResourceDefinition until the last of its objects is gone."""
_WANTED: Final = {"Orphan": ORPHAN, "Foreground": FOREGROUND}

_EXPECTED: Final = GroupVersionKind("meta.k8s.io", "v1", "DeleteOptions")
_COMPONENT: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_SCHEME: Final = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"

SHOWN_WHEN_GONE: Final = frozenset(
    {
        "Namespace",
        "Pod",
        "Service",
        "ServiceAccount",
        "PodTemplate",
        "ResourceQuota",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "CSIDriver",
        "CSINode",
        "VolumeAttachment",
        "VolumeAttributesClass",
        "DeviceClass",
        "DeviceTaintRule",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourcePoolStatusRequest",
        "ResourceSlice",
        # until 1.31
        "PodSchedulingContext",
        # until 1.30
        "ResourceClaimParameters",
        "ResourceClass",
        "ResourceClassParameters",
    }
)
"""Kinds whose deletion is answered with the last state of the object, not with a Status."""

_JOB: Final = GroupVersionKind("batch", "v1", "Job")
_NAMESPACE: Final = GroupVersionKind("", "v1", "Namespace")
_PRESERVING: Final = frozenset({_JOB, GroupVersionKind("", "v1", "ReplicationController")})
"""Kinds whose dependents stay unless a deletion says otherwise."""
_UNCOLLECTED: Final = frozenset({GroupKind("", "Event"), GroupKind("events.k8s.io", "Event")})
"""Kinds that the garbage collector does not look at: no finalizer waits for it."""

_PRESERVED: Final = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning"
)


# --- options ---


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Holds the options of a deletion. `orphan` is `orphanDependents`, None when it was not given;
    so are `preconditions`, and `grace`, in seconds."""

    dry_run: tuple[str, ...] = ()
    propagation: str | None = None
    orphan: bool | None = None
    grace: int | None = None
    preconditions: Mapping[str, str] | None = None


def read_delete_options(body: bytes | Document, sent: bytes = b"") -> JsonObject:
    """Return the members of a body, which is not read strictly and may be of any group version; of
    a document, `sent` are the bytes that came. StatusError (400, or 500 before 1.35), in the words
    of the decoder alone, when it cannot be read as delete options."""
    try:
        sent_kind, document = request_bodies.interpreted(body, _EXPECTED)
    except request_bodies.Uninterpretable as error:
        raise unreadable(str(error)) from None
    if not sent_kind.version:
        text = (body if isinstance(body, bytes) else sent).decode(errors=EACH_BYTE)
        raise unreadable(f"Object 'apiVersion' is missing in '{text}'")
    if sent_kind.kind != _EXPECTED.kind:
        raise _not_registered(sent_kind)
    try:
        return decode(struct_codec(_COMPONENT), document.value)
    except DecodeError as error:
        raise unreadable(str(error)) from error


def unreadable(reason: str) -> StatusError:
    """400 for a body that cannot be read, or 500 before 1.35."""
    return status.bad_request(reason) if is_since("1.35") else status.plain_error(reason)


_ANYWHERE: Final = frozenset(
    {
        *("Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"),
        *("CreateOptions", "UpdateOptions"),
    }
)
"""Kinds that any group version has."""
_IN_META: Final[Mapping[str, frozenset[str]]] = {
    "meta.k8s.io/v1": frozenset(
        {
            *("ListOptions", "GetOptions", "PatchOptions", "WatchEvent", "Table", "TableOptions"),
            *("PartialObjectMetadata", "PartialObjectMetadataList"),
        }
    ),
    "meta.k8s.io/v1beta1": frozenset({"Table", "TableOptions", "PartialObjectMetadata"}),
}


def _not_registered(sent_kind: GroupVersionKind) -> StatusError:
    if sent_kind.kind in _ANYWHERE or sent_kind.kind in _IN_META.get(sent_kind.api_version, ()):
        return unreadable(
            f"converting (v1.{sent_kind.kind}) to (v1.DeleteOptions): unknown conversion"
        )
    return unreadable(request_bodies.unregistered(sent_kind, scheme=_SCHEME))


def delete_options(value: JsonObject | None, query: Mapping[str, Sequence[str]]) -> DeleteOptions:
    """Read the options from a body, or from the query when there is none. Raises StatusError when
    they are wrong."""
    if value is None:
        value = _members_of(query)
    grace = value.get("gracePeriodSeconds")
    options = DeleteOptions(
        dry_run=tuple(value.get("dryRun") or ()),
        propagation=value.get("propagationPolicy"),
        orphan=value.get("orphanDependents"),
        grace=None if grace is None else grace if grace >= 0 else 1,
        preconditions=value.get("preconditions"),
    )
    errors = request_bodies.delete_option_errors(
        options.dry_run, options.propagation, orphan_dependents=options.orphan
    )
    if errors:
        raise request_bodies.invalid_options(request_bodies.DELETE, errors)
    return options


def _members_of(query: Mapping[str, Sequence[str]]) -> JsonObject:
    """Return the members as a body would have them."""
    result: dict[str, object] = {"dryRun": query.get("dryRun")}
    for name, convert in _PARAMETERS.items():
        if query.get(name):
            result[name] = convert(query[name][0])
    pairs = ((name, next(iter(query.get(name) or ()), "")) for name in _PRECONDITIONS)
    preconditions = {name: value for name, value in pairs if value}
    return {**result, "preconditions": preconditions or None}


def _seconds(text: str) -> int:
    try:
        return parse_int(text)
    except ValueError as error:
        raise status.bad_request(str(error)) from None


_PARAMETERS: Final[Mapping[str, Callable[[str], object]]] = {
    "gracePeriodSeconds": _seconds,
    "orphanDependents": flag,
    "propagationPolicy": str,
}
_PRECONDITIONS: Final = ("uid", "resourceVersion")
"""Without a body these are preconditions, also where a collection is deleted, whose list options
have a `resourceVersion`, too."""


# --- before the store ---


def require_deletable(preconditions: JsonObject | None, old: JsonObject, target: Target) -> None:
    """Require the `preconditions` of DeleteOptions; the message names the kind, not the resource.
    Those of namespaces and definitions are looked at by somebody else, who has other words."""
    kind = target.resource.gvk
    guarded = _is_guarded(old)
    named = target.group_resource if guarded else GroupResource(kind.group, kind.kind)
    for member, text, present, happened in (
        ("uid", "UID", metadata.uid(old), "deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", metadata.resource_version(old), "modified"),
    ):
        precondition = (preconditions or {}).get(member)
        if precondition is None or precondition == present:
            continue
        reason = (
            f"Precondition failed: {text} in precondition: {precondition}, {text} in object meta: "
            f"{present}"
            if guarded
            else f"the {text} in the precondition ({precondition}) does not match the {text} in "
            f"record ({present}). The object might have been {happened}"
        )
        raise status.conflict(named, metadata.name(old), reason)


def _is_guarded(old: JsonObject) -> bool:
    """Return whether deletions of the object are always about the one that is there."""
    return metadata.gvk(old) == _NAMESPACE or metadata.is_definition(old)


def remaining_finalizers(old: JsonObject, options: DeleteOptions) -> list[str]:
    """Return who still has to agree: those of the object, with what the options choose for
    dependents."""
    finalizers = list(metadata.finalizers(old))
    if metadata.gvk(old).group_kind in _UNCOLLECTED:
        return [finalizer for finalizer in finalizers if finalizer not in _WANTED.values()]
    orphan = ORPHAN if options.orphan else _WANTED.get(options.propagation or "", "")
    decided = is_decided(options)
    if not decided and metadata.gvk(old) in _PRESERVING and not {*finalizers} & {*_WANTED.values()}:
        orphan = ORPHAN
    if decided:
        finalizers = [
            finalizer
            for finalizer in finalizers
            if finalizer == orphan or finalizer not in _WANTED.values()
        ]
    if orphan and orphan not in finalizers:
        finalizers.append(orphan)
    return finalizers


def is_decided(options: DeleteOptions) -> bool:
    """Return whether they say what becomes of dependents."""
    return options.orphan is not None or options.propagation is not None


def delete_warnings(options: DeleteOptions, kind: GroupVersionKind) -> Sequence[str]:
    """Return the warnings for a client that may not know what becomes of dependents."""
    return (_PRESERVED,) if kind == _JOB and not is_decided(options) else ()


def settled(options: DeleteOptions, old: JsonObject) -> DeleteOptions:
    """Return the options as admission sees them: those of a pod say how long it has, those of a
    namespace or a definition which one is meant."""
    if _is_guarded(old):
        preconditions = {"uid": metadata.uid(old), **(options.preconditions or {})}
        return replace(options, preconditions=preconditions)
    if metadata.gvk(old) != POD or metadata.deletion_timestamp(old):
        return options
    return replace(options, grace=_given_grace(old, options))


def is_pending(old: JsonObject, options: DeleteOptions) -> bool:
    """Return whether the object is a pod that has got its time to end, and no less is asked for.
    Nothing happens then, and admission is not asked."""
    left = _time_left(old) if metadata.gvk(old) == POD else 0
    return left > 0 and (options.grace is None or options.grace >= left)


def marked(old: JsonObject, options: DeleteOptions, now: str) -> JsonObject | None:
    """Return the object as it waits for its finalizers; None when nothing keeps it. An object that
    is marked already only changes its finalizers, a pod that still has time not even these, unless
    it gets less."""
    if not metadata.deletion_timestamp(old):
        if metadata.is_definition(old):
            return _marked_definition(old, now)
        if metadata.gvk(old) == _NAMESPACE:
            return _marked_namespace(old, options, now)
    elif _namespace_finalizers(old):
        return old
    if is_pending(old, options):
        return old
    is_pod = metadata.gvk(old) == POD
    left = _time_left(old) if is_pod else 0
    finalizers = remaining_finalizers(old, options)
    if not finalizers and not left and (not is_pod or metadata.deletion_timestamp(old)):
        return None
    result: JsonDict = fresh(old)
    meta = result["metadata"]
    meta["finalizers"] = finalizers
    if not finalizers:
        del meta["finalizers"]
    if left and options.grace is not None:
        _shorten(meta, options.grace, now)
    if not metadata.deletion_timestamp(old):
        grace = _given_grace(old, options) if is_pod else 0
        meta.update(deletionTimestamp=_later(now, grace), deletionGracePeriodSeconds=grace)
        if metadata.generation(old):
            meta["generation"] = metadata.generation(old) + 1
    return result


def _marked_namespace(old: JsonObject, options: DeleteOptions, now: str) -> JsonObject:
    """Mark a namespace: the first deletion does no more, whatever it has of finalizers, as
    k8s.io/kubernetes `pkg/registry/core/namespace/storage/storage.go`. Dependents that are no
    orphans are waited for."""
    if options.orphan is False:
        options = replace(options, orphan=None, propagation="Foreground")
    result: JsonDict = fresh(old)
    result["metadata"]["deletionTimestamp"] = now
    finalizers = remaining_finalizers(old, options)
    result["metadata"]["finalizers"] = finalizers
    if not finalizers:
        del result["metadata"]["finalizers"]
    result["status"] = {**(result.get("status") or {}), "phase": "Terminating"}
    return result


def _namespace_finalizers(obj: JsonObject) -> Sequence[str]:
    """Return those that a Namespace has in its `spec`, beside those of its metadata."""
    if metadata.gvk(obj) != _NAMESPACE:
        return ()
    return (obj.get("spec") or {}).get("finalizers") or ()


def _marked_definition(old: JsonObject, now: str) -> JsonObject:
    """Mark a definition with its finalizer and what it says of itself, as
    k8s.io/apiextensions-apiserver `pkg/registry/customresourcedefinition/etcd.go`. The choice for
    dependents is not looked at."""
    result: JsonDict = fresh(old)
    finalizers = dict.fromkeys((*metadata.finalizers(old), DEFINITION_CLEANUP))
    result["metadata"].update(deletionTimestamp=now, finalizers=list(finalizers))
    pending = {
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; "
        "CustomResource deletion will begin soon",
    }
    old_status = result.get("status") or {}
    result["status"] = {
        **old_status,
        "conditions": [*(old_status.get("conditions") or ()), pending],
    }
    return result


def _given_grace(pod: JsonObject, options: DeleteOptions) -> int:
    """Return how many seconds a pod has to end; none if nobody runs it. As `CheckGracefulDelete` of
    k8s.io/kubernetes `pkg/registry/core/pod/strategy.go`."""
    spec, phase = pod.get("spec") or {}, (pod.get("status") or {}).get("phase")
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
    pod_grace: int = spec.get("terminationGracePeriodSeconds") or 0
    seconds = pod_grace if options.grace is None else options.grace
    return seconds if seconds >= 0 else 1


def _time_left(pod: JsonObject) -> int:
    """Return how many seconds a pod has got that is being deleted; 0 for others."""
    meta = metadata.metadata(pod)
    return (meta.get("deletionGracePeriodSeconds") or 0) if meta.get("deletionTimestamp") else 0


def _shorten(meta: JsonDict, grace: int, now: str) -> None:
    """Give a pod less time; since 1.33 it does not end in the past."""
    end = _later(meta["deletionTimestamp"], grace - meta["deletionGracePeriodSeconds"])
    if end <= now and is_since("1.33"):  # in one second `now`, which has fractions, is later
        end, grace = now, min(grace, 1)
    meta["deletionTimestamp"] = end
    meta["deletionGracePeriodSeconds"] = grace


def _later(time: str, seconds: int) -> str:
    """Return a time so many seconds later, as Go counts them: in nanoseconds, of 64 bits. What lies
    beyond all years is not counted."""
    nanoseconds = (seconds * 10**9 + (1 << 63)) % (1 << 64) - (1 << 63)
    began = datetime.strptime(time, _TIME).replace(tzinfo=UTC)
    try:
        moved = began + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return time
    return f"{moved:%Y-%m-%dT%H:%M:%SZ}".rjust(len(time), "0")


# --- the store ---


def goes_at_once(obj: JsonObject) -> bool:
    """Return whether a marked object has neither time nor anybody to wait for: pods are marked in
    any case, so that those who watch them see it."""
    if metadata.gvk(obj) != POD or metadata.finalizers(obj):
        return False
    return not metadata.metadata(obj).get("deletionGracePeriodSeconds")


def is_released(obj: JsonObject, old: JsonObject) -> bool:
    """Return whether an update takes the last finalizer from an object that is to be deleted."""
    grace = metadata.metadata(old).get("deletionGracePeriodSeconds") or 0
    finalizers = metadata.finalizers(obj) or _namespace_finalizers(obj)
    return bool(metadata.deletion_timestamp(old)) and not grace and not finalizers


def nothing(target: Target) -> JsonDict:
    """Return what a client gets whose dry run would take the last finalizers away: upstream shows
    an object that nothing was read into."""
    kind = target.resource.gvk
    result: JsonDict = {"kind": kind.kind, "apiVersion": kind.api_version}
    codec = codec_for(kind)
    if codec is not None:
        result |= codec.empty()
        if kind in _COUNTED or (kind == _CONTROLLER and not is_since("1.33")):
            result["spec"]["replicas"] = 0
        elif kind == DAEMON_SET_KIND:
            result["metadata"]["annotations"] = {TEMPLATE_GENERATION: "0"}
        codec.complete(result)
    return result


_CONTROLLER: Final = GroupVersionKind("", "v1", "ReplicationController")
_COUNTED: Final = frozenset(
    GroupVersionKind("apps", "v1", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet")
)
"""Kinds whose internal form has a count that is never absent."""


def is_shown_when_gone(resource: Resource) -> bool:
    """Return whether a deletion is answered with the object, not with a Status."""
    return resource.gvk.kind in SHOWN_WHEN_GONE and not resource.custom


def gone_answer(old: JsonObject, target: Target) -> JsonObject:
    """Return what a client gets for an object that is gone."""
    resource = target.resource
    if is_shown_when_gone(resource):
        return {**old, "apiVersion": resource.gvk.api_version, "kind": resource.gvk.kind}
    details = {"name": metadata.name(old), "kind": resource.gvr.resource}
    if resource.gvr.group:
        details = {"name": details["name"], "group": resource.gvr.group, "kind": details["kind"]}
    if metadata.uid(old):
        details["uid"] = metadata.uid(old)
    done = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**done, "details": details}
