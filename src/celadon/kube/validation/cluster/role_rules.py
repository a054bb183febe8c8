"""Roles and their bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, dns_subdomain, items, required_name
from celadon.kube.validation.label_rules import selector, understood
from celadon.kube.well_known_values import RBAC_GROUP

SUBJECT_KINDS: Final = ("ServiceAccount", "User", "Group")
_ROOT: Final = FieldPath()
_ROLE_REF: Final = FieldPath("roleRef")


def role(obj: JsonObject) -> Errors:
    """What is wrong with a Role, besides its metadata."""
    return _rules(obj, namespaced=True)


def cluster_role(obj: JsonObject) -> Errors:
    """What is wrong with a ClusterRole, besides its metadata."""
    yield from _rules(obj, namespaced=False)
    aggregation = obj.get("aggregationRule")
    if aggregation is None:
        return
    at = FieldPath("aggregationRule")
    if not aggregation.get("clusterRoleSelectors"):
        detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        yield fieldpath.required(at.child("clusterRoleSelectors"), detail)
    for where, one in items(aggregation, "clusterRoleSelectors", at):
        yield from selector(where, one)
        if understood(one) is None:
            yield fieldpath.invalid(where, None, "invalid label selector.")


def _rules(obj: JsonObject, *, namespaced: bool) -> Errors:
    for at, rule in items(obj, "rules", _ROOT):
        if not rule.get("verbs"):
            yield fieldpath.required(at.child("verbs"), "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            yield from _urls(at.child("nonResourceURLs"), rule, namespaced=namespaced)
            continue
        for field, singular in (("apiGroups", "api group"), ("resources", "resource")):
            if not rule.get(field):
                detail = f"resource rules must supply at least one {singular}"
                yield fieldpath.required(at.child(field), detail)


def _urls(path: FieldPath, rule: JsonObject, *, namespaced: bool) -> Errors:
    urls = list(rule["nonResourceURLs"])
    if namespaced:
        detail = "namespaced rules cannot apply to non-resource URLs"
        yield fieldpath.invalid(path, urls, detail)
    if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
        detail = "rules cannot apply to both regular resources and non-resource URLs"
        yield fieldpath.invalid(path, urls, detail)


def role_binding(obj: JsonObject) -> Errors:
    """What is wrong with a RoleBinding, besides its metadata."""
    return _binding(obj, ("Role", "ClusterRole"), namespaced=True)


def cluster_role_binding(obj: JsonObject) -> Errors:
    """What is wrong with a ClusterRoleBinding, besides its metadata."""
    return _binding(obj, ("ClusterRole",), namespaced=False)


def role_binding_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The role may not change."""
    yield from role_binding(obj)
    yield from _same_role(obj, old)


def cluster_role_binding_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The role may not change."""
    yield from cluster_role_binding(obj)
    yield from _same_role(obj, old)


def _same_role(obj: JsonObject, old: JsonObject) -> Errors:
    new, before = (_printed_role(one.get("roleRef") or {}) for one in (obj, old))
    if new != before:
        yield fieldpath.invalid(_ROLE_REF, new, "cannot change roleRef")


def _printed_role(reference: JsonObject) -> dict[str, Any]:
    """As Go prints the struct, whose fields have no JSON names."""
    return {
        "APIGroup": reference.get("apiGroup") or "",
        "Kind": reference.get("kind") or "",
        "Name": reference.get("name") or "",
    }


def _binding(obj: JsonObject, kinds: Sequence[str], *, namespaced: bool) -> Errors:
    reference = obj.get("roleRef") or {}
    group, kind = reference.get("apiGroup") or "", reference.get("kind") or ""
    if group != RBAC_GROUP:
        yield fieldpath.not_supported(_ROLE_REF.child("apiGroup"), group, [RBAC_GROUP])
    if kind not in kinds:
        yield fieldpath.not_supported(_ROLE_REF.child("kind"), kind, kinds)
    name = reference.get("name") or ""
    yield from required_name(_ROLE_REF.child("name"), name, name_rules.path_segment_name)
    for at, subject in items(obj, "subjects", _ROOT):
        yield from _subject(at, subject, namespaced=namespaced)


def _subject(path: FieldPath, subject: JsonObject, *, namespaced: bool) -> Errors:
    name, kind = subject.get("name") or "", subject.get("kind") or ""
    group = subject.get("apiGroup") or ""
    if not name:
        yield fieldpath.required(path.child("name"))
    if kind not in SUBJECT_KINDS:
        yield fieldpath.not_supported(path.child("kind"), kind, SUBJECT_KINDS)
    elif kind != "ServiceAccount":
        if group != RBAC_GROUP:
            yield fieldpath.not_supported(path.child("apiGroup"), group, [RBAC_GROUP])
    else:
        if name:
            yield from dns_subdomain(path.child("name"), name)
        if group:
            yield fieldpath.not_supported(path.child("apiGroup"), group, [""])
        if not namespaced and not subject.get("namespace"):
            yield fieldpath.required(path.child("namespace"))
