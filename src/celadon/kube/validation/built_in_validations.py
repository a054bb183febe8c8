"""The rules of built-in kinds: the table of workloads, and the ways to ask all tables.

Those of other kinds that manifests usually have stand in `usual_validations`, those of rarer groups
in `further_validations`; each is loaded with the first of them.
Kinds of other rooms (the registration objects, definitions) are not here. A row says what upstream
says in `strategy.go` of the kind: which rules, in which writes, and how often its metadata.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Final

from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.releases import is_since
from celadon.kube.validation import apps, object_meta
from celadon.kube.validation.field_checks import METADATA, Errors, each, holding
from celadon.kube.validation.pods import pod_specs

_CHANGED: Final = object_meta.Revisit.AS_CHANGED


def _pod_update(obj: JsonObject, old: JsonObject) -> Errors:
    from celadon.kube.validation.pods import pod_updates  # late: new objects are compared with none

    return pod_updates.pod_update(obj, old)


def _pod_status(obj: JsonObject, old: JsonObject) -> Errors:
    from celadon.kube.validation.pods import pod_statuses  # late: only kubelets report one

    return pod_statuses.pod_status(obj, old)


CORE: Final[Mapping[str, object_meta.Validation]] = {
    "Pod": object_meta.Validation(pod_specs.pod, update=_pod_update, status=_pod_status),
    "PodTemplate": object_meta.Validation(
        lambda obj: pod_specs.pod_template(FieldPath("template"), obj.get("template") or {}),
        revisit=_CHANGED,
    ),
    "ReplicationController": object_meta.Validation(
        apps.replication_controller,
        object_meta.GENERATED,
        status=apps.replication_controller_status,
        revisit=_CHANGED,
        repeated_until="1.35",
    ),
}
APPS: Final[Mapping[str, object_meta.Validation]] = {
    "DaemonSet": object_meta.Validation(
        apps.daemon_set,
        update=apps.daemon_set_update,
        status=apps.daemon_set_status,
        revisit=_CHANGED,
        repeated_until="1.34",
    ),
    "Deployment": object_meta.Validation(
        apps.deployment,
        update=apps.deployment_update,
        status=apps.deployment_status,
        revisit=_CHANGED,
    ),
    "ReplicaSet": object_meta.Validation(
        apps.replica_set,
        update=apps.replica_set_update,
        status=apps.replica_set_status,
        revisit=_CHANGED,
        repeated_until="1.34",
    ),
    "StatefulSet": object_meta.Validation(
        apps.stateful_set,
        object_meta.LABEL,
        apps.stateful_set_update,
        apps.stateful_set_status,
        _CHANGED,
    ),
}

VALIDATIONS: Final[Mapping[GroupKind, object_meta.Validation]] = {
    **{GroupKind("", kind): validation for kind, validation in CORE.items()},
    **{GroupKind("apps", kind): validation for kind, validation in APPS.items()},
}


def validation_of(kind: GroupKind) -> object_meta.Validation | None:
    """The rules of a kind; None for one that is not built in, or not validated here."""
    validation = VALIDATIONS.get(kind)
    if validation is not None or not _is_own_group(kind.group):
        return validation
    # late: where there are only workloads, what stands beside them is not needed
    from celadon.kube.validation.usual_validations import USUAL_VALIDATIONS

    validation = USUAL_VALIDATIONS.get(kind)
    if validation is not None:
        return validation
    if kind.group == "resource.k8s.io" and not is_since("1.32"):
        from celadon.kube.validation import classic_devices  # late: few manifests have such kinds

        older = classic_devices.validation_of(kind.kind)
        if older is not None:
            return older
    from celadon.kube.validation.further_validations import (  # late: few manifests have such kinds
        FURTHER_VALIDATIONS,
    )

    return FURTHER_VALIDATIONS.get(kind)


def subresource_rule(kind: GroupKind, subresource: str) -> object_meta.Update | None:
    """Return the rule for updates through a subresource, besides those for the metadata; None if
    there is none."""
    if kind == GroupKind("", "Pod"):
        # late: what is sent to a subresource is no manifest
        from celadon.kube.validation.pods.pod_updates import POD_SUBRESOURCES

        return POD_SUBRESOURCES.get(subresource)
    if kind == GroupKind("", "Namespace") and subresource == "finalize":
        from celadon.kube.validation.cluster_rules import namespace_finalize  # late: the same

        return namespace_finalize
    if not _is_own_group(kind.group):
        return None
    # late: few kinds have such subresources
    from celadon.kube.validation.further_validations import FURTHER_SUBRESOURCES

    return FURTHER_SUBRESOURCES.get((kind, subresource))


def _is_own_group(group: str) -> bool:
    """Return whether a group is one of Kubernetes itself. All other groups have custom kinds."""
    return "." not in group or group.endswith(".k8s.io")


# --- The ways to ask ---------------------------------------------------------
#
# Which kind is validated by what, and the ways to ask.
#
# All take objects as validating admission sees them, and the feature gates that are on; None is
# those of the current release. A kind that is not in the table has no complaints here: custom
# resources, and kinds that other rooms validate.


def validate_create(
    obj: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with a new object."""
    validation = validation_of(kind.group_kind)
    if validation is None:
        return []
    meta = obj.get("metadata") or {}
    naming = validation.naming_of(obj)
    of_meta = iter(()) if naming is None else object_meta.new_object_meta(meta, naming)
    errors = itertools.chain(of_meta, validation.create(obj))
    return holding(errors, gates) or _for_all_kinds(meta, is_done=naming is not None)


def _for_all_kinds(meta: JsonObject, *, is_done: bool) -> list[FieldError]:
    """Return what a server itself says of metadata, behind all strategies: names must fit into
    paths. Where a strategy has found nothing wrong with the rest, it `is_done`."""
    if not is_done:
        return list(object_meta.validate_object_meta(meta, object_meta.IN_PATHS))
    name, prefix = meta.get("name") or "", meta.get("generateName") or ""
    errors = [*each(METADATA.child("name"), name, object_meta.IN_PATHS.rule(name))]
    if prefix:
        errors += each(
            METADATA.child("generateName"), prefix, object_meta.IN_PATHS.of_prefix(prefix)
        )
    return errors


def validate_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with a changed object. Subresources are not validated here."""
    validation = validation_of(kind.group_kind)
    return [] if validation is None else holding(_changed(obj, old, validation), gates)


def _changed(obj: JsonObject, old: JsonObject, validation: object_meta.Validation) -> Errors:
    """The rules of a kind find again what a server finds for all kinds."""
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    is_sound = True
    for error in object_meta.validate_meta_of_update(meta, before):
        is_sound = False
        yield error
    naming = validation.naming_of(obj)
    if validation.repeated_until and not is_since(validation.repeated_until):
        if naming is not None:
            yield from object_meta.new_object_meta(meta, naming)
        yield from validation.create(obj)
    if validation.changes is not None and naming is not None:
        yield from (object_meta.validate_place if is_sound else object_meta.validate_object_meta)(
            meta, naming
        )
        yield from object_meta.standard_finalizers(meta, naming)
        yield from validation.create(obj)
        if not is_sound:
            yield from object_meta.validate_object_meta_update(meta, before)
        yield from object_meta.standard_finalizers(meta, naming)
        yield from validation.changes(obj, old)
        return
    if naming is not None:
        revisit = validation.revisits
        if object_meta.Revisit.AS_CHANGED in revisit:
            if not is_sound:
                yield from object_meta.validate_object_meta_update(meta, before)
            yield from object_meta.standard_finalizers(meta, naming)
        if object_meta.Revisit.AS_NEW in revisit:
            yield from (
                object_meta.validate_place if is_sound else object_meta.validate_object_meta
            )(meta, naming)
            yield from object_meta.standard_finalizers(meta, naming)
    yield from validation.of_update(obj, old)


def validate_status_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with an object whose status was changed."""
    validation = validation_of(kind.group_kind)
    if validation is not None and validation.status is validation.update is not None:
        return validate_update(obj, old, kind, gates)
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    errors = list(object_meta.validate_meta_of_update(meta, before))
    if validation is None or validation.status is None:
        return errors
    if errors and object_meta.Revisit.AS_CHANGED in validation.revisit:
        errors += object_meta.validate_object_meta_update(meta, before)
    return holding(itertools.chain(errors, validation.status(obj, old)), gates)


def validate_subresource_update(
    obj: JsonObject,
    old: JsonObject,
    kind: GroupVersionKind,
    subresource: str,
    gates: frozenset[str] | None = None,
) -> list[FieldError]:
    """Return what is wrong with an object changed through a subresource other than its status."""
    errors = list(
        object_meta.validate_meta_of_update(obj.get("metadata") or {}, old.get("metadata") or {})
    )
    check = subresource_rule(kind.group_kind, subresource)
    return errors if check is None else holding(itertools.chain(errors, check(obj, old)), gates)
