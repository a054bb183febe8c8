"""The rules of built-in kinds: the table of workloads, and the ways to ask all tables.

Those of other kinds that manifests usually have stand in `common_kind_validations`, those of
rarer groups in `uncommon_kind_validations`; each is loaded with the first of them.
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
from celadon.kube.validation import apps
from celadon.kube.validation.field_checks import METADATA, NO_ERRORS, Errors, each, holding
from celadon.kube.validation.object_meta import (
    GENERATED,
    IN_PATHS,
    LABEL,
    Naming,
    Revisit,
    Update,
    Validation,
    new_object_meta,
    no_changes,
    standard_finalizers,
    validate_meta_of_update,
    validate_object_meta,
    validate_object_meta_update,
    validate_place,
)
from celadon.kube.validation.pods import pod_specs

_CHANGED: Final = Revisit.AS_CHANGED


def _pod_update(obj: JsonObject, old: JsonObject) -> Errors:
    from celadon.kube.validation.pods import pod_updates  # late: new objects are compared with none

    return pod_updates.pod_update(obj, old)


def _pod_status(obj: JsonObject, old: JsonObject) -> Errors:
    from celadon.kube.validation.pods import pod_statuses  # late: only kubelets report one

    return pod_statuses.pod_status(obj, old)


CORE: Final[Mapping[str, Validation]] = {
    "Pod": Validation(pod_specs.pod, update=_pod_update, status=_pod_status),
    "PodTemplate": Validation(
        lambda obj: pod_specs.pod_template(FieldPath("template"), obj.get("template") or {}),
        revisit=_CHANGED,
    ),
    "ReplicationController": Validation(
        apps.replication_controller,
        GENERATED,
        status=apps.replication_controller_status,
        revisit=_CHANGED,
        repeated_until="1.35",
    ),
}
APPS: Final[Mapping[str, Validation]] = {
    "DaemonSet": Validation(
        apps.daemon_set,
        update=apps.daemon_set_update,
        status=apps.daemon_set_status,
        revisit=_CHANGED,
        repeated_until="1.34",
    ),
    "Deployment": Validation(
        apps.deployment,
        update=apps.deployment_update,
        status=apps.deployment_status,
        revisit=_CHANGED,
    ),
    "ReplicaSet": Validation(
        apps.replica_set,
        update=apps.replica_set_update,
        status=apps.replica_set_status,
        revisit=_CHANGED,
        repeated_until="1.34",
    ),
    "StatefulSet": Validation(
        apps.stateful_set,
        LABEL,
        apps.stateful_set_update,
        apps.stateful_set_status,
        _CHANGED,
        status_first=apps.stateful_set_counts,
    ),
}

VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
    **{GroupKind("", kind): validation for kind, validation in CORE.items()},
    **{GroupKind("apps", kind): validation for kind, validation in APPS.items()},
}


def validation_of(kind: GroupKind) -> Validation | None:
    """Return the rules of a kind; None for one that is not built in, or not validated here."""
    validation = VALIDATIONS.get(kind)
    if validation is not None or not _is_own_group(kind.group):
        return validation
    # late: where there are only workloads, what stands beside them is not needed
    from celadon.kube.validation.common_kind_validations import FREQUENT_VALIDATIONS

    validation = FREQUENT_VALIDATIONS.get(kind)
    if validation is not None:
        return validation
    if kind.group == "resource.k8s.io" and not is_since("1.32"):
        from celadon.kube.validation import classic_dra  # late: few manifests have such kinds

        older = classic_dra.validation_of(kind.kind)
        if older is not None:
            return older
    # late: few manifests have such kinds
    from celadon.kube.validation.uncommon_kind_validations import RARE_VALIDATIONS

    return RARE_VALIDATIONS.get(kind)


def subresource_rule(kind: GroupKind, subresource: str) -> tuple[Revisit, Update] | None:
    """Return how updates through a subresource look at metadata, and the rule besides; None if
    there is none."""
    if kind == GroupKind("", "Pod"):
        # late: what is sent to a subresource is no manifest
        from celadon.kube.validation.pods.pod_updates import POD_SUBRESOURCES

        check = POD_SUBRESOURCES.get(subresource)
        return None if check is None else (Revisit.BOTH, check)
    if kind == GroupKind("", "Namespace") and subresource == "finalize":
        # late: the same
        from celadon.kube.validation.namespaces_quotas_budgets import namespace_finalize

        return _CHANGED, namespace_finalize
    if not _is_own_group(kind.group):
        return None
    # late: few kinds have such subresources
    from celadon.kube.validation.uncommon_kind_validations import RARE_SUBRESOURCES

    return RARE_SUBRESOURCES.get((kind, subresource))


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
    of_meta = iter(()) if naming is None else new_object_meta(meta, naming)
    errors: Errors = itertools.chain(of_meta, validation.create(obj))
    if validation.says_once:
        errors = _once(errors)
    return holding(errors, gates) or _for_all_kinds(meta, is_done=naming is not None)


def _for_all_kinds(meta: JsonObject, *, is_done: bool) -> list[FieldError]:
    """Return what a server itself says of metadata, behind all strategies: names must fit into
    paths. Where a strategy has found nothing wrong with the rest, it `is_done`."""
    if not is_done:
        return list(validate_object_meta(meta, IN_PATHS))
    name, prefix = meta.get("name") or "", meta.get("generateName") or ""
    errors = [*each(METADATA.child("name"), name, IN_PATHS.rule(name))]
    if prefix:
        errors += each(METADATA.child("generateName"), prefix, IN_PATHS.of_prefix(prefix))
    return errors


def validate_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with a changed object. Subresources are not validated here."""
    validation = validation_of(kind.group_kind)
    return [] if validation is None else holding(_changed(obj, old, validation), gates)


def _changed(obj: JsonObject, old: JsonObject, validation: Validation) -> Errors:
    """Check a change: the rules of a kind find again what a server finds for all kinds."""
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    is_sound = True
    for error in validate_meta_of_update(meta, before):
        is_sound = False
        yield error
    naming = validation.naming_of(obj)
    if validation.repeated_until and not is_since(validation.repeated_until):
        if naming is not None:
            yield from new_object_meta(meta, naming)
        yield from _as_new(obj, old, validation)
    if validation.changes is not None and naming is not None:
        yield from (validate_place if is_sound else validate_object_meta)(meta, naming)
        yield from standard_finalizers(meta, naming)
        yield from _as_new(obj, old, validation)
        if not is_sound:
            yield from validate_object_meta_update(meta, before)
        yield from standard_finalizers(meta, naming)
        yield from validation.changes(obj, old)
        return
    errors = _changed_otherwise(obj, old, validation, is_sound=is_sound)
    yield from _once(errors) if validation.says_once else errors


def _as_new(obj: JsonObject, old: JsonObject, validation: Validation) -> Errors:
    """Yield what is wrong with a changed object that is judged as a new one."""
    as_new = validation.as_new
    return validation.create(obj) if as_new is None else as_new(obj, old)


def _once(errors: Errors) -> Errors:
    # By their texts, since values have no hash; a body may have as many errors as items.
    seen: set[tuple[str, str]] = set()
    for error in errors:
        key = str(error), error.gate
        if key not in seen:
            seen.add(key)
            yield error


def _changed_otherwise(
    obj: JsonObject, old: JsonObject, validation: Validation, *, is_sound: bool
) -> Errors:
    """Yield what is wrong with a change of a kind that has rules for an update as a whole."""
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    naming, revisits = validation.naming_of(obj), validation.revisits
    if validation.fixed is not None:
        yield from _revisited(meta, before, naming, revisits & _CHANGED, is_sound=is_sound)
        yield from validation.fixed(obj, old)
        revisits &= ~_CHANGED
    yield from _revisited(meta, before, naming, revisits, is_sound=is_sound)
    yield from validation.of_update(obj, old)


def _revisited(
    meta: JsonObject, before: JsonObject, naming: Naming | None, revisit: Revisit, *, is_sound: bool
) -> Errors:
    """Yield what the rules of a kind find in metadata. Of what `is_sound` for a server, they find
    only names and finalizers wrong."""
    if naming is None:
        return
    ways = [Revisit.AS_CHANGED, Revisit.AS_NEW]
    for way in reversed(ways) if Revisit.NEW_FIRST in revisit else ways:
        if way not in revisit:
            continue
        if way is Revisit.AS_NEW:
            yield from (validate_place if is_sound else validate_object_meta)(meta, naming)
        elif not is_sound:
            yield from validate_object_meta_update(meta, before)
        yield from standard_finalizers(meta, naming)


def validate_status_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with an object whose status was changed."""
    validation = validation_of(kind.group_kind)
    if validation is None:
        return list(validate_meta_of_update(obj.get("metadata") or {}, old.get("metadata") or {}))
    if validation.status is validation.update is not None:
        return validate_update(obj, old, kind, gates)
    check = no_changes if validation.status is None else validation.status
    first = validation.status_first or no_changes
    return _part_errors(
        obj, old, validation.revisit_of_status, check, validation, gates, first=first(obj, old)
    )


def validate_subresource_update(
    obj: JsonObject,
    old: JsonObject,
    kind: GroupVersionKind,
    subresource: str,
    gates: frozenset[str] | None = None,
) -> list[FieldError]:
    """Return what is wrong with an object changed through a subresource other than its status."""
    rule = subresource_rule(kind.group_kind, subresource)
    revisit, check = rule or (Revisit.NEVER, no_changes)
    return _part_errors(obj, old, revisit, check, validation_of(kind.group_kind), gates)


def _part_errors(
    obj: JsonObject,
    old: JsonObject,
    revisit: Revisit,
    check: Update,
    validation: Validation | None,
    gates: frozenset[str] | None,
    *,
    first: Errors = NO_ERRORS,
) -> list[FieldError]:
    """Return what is wrong with an object of which a part changed; `first` comes before what the
    rules of its kind find in metadata."""
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    errors = list(validate_meta_of_update(meta, before))
    naming = None if validation is None else validation.naming_of(obj)
    again = _revisited(meta, before, naming, revisit, is_sound=not errors)
    return holding(itertools.chain(errors, first, again, check(obj, old)), gates)
