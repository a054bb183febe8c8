"""Validation of Roles, ClusterRoles and their bindings.

As k8s.io/kubernetes `pkg/apis/rbac/validation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.validation.field_checks import Errors, dns_subdomain, items, required_name
from celadon.kube.validation.format_checks import selector, understood
from celadon.kube.well_known_values import RBAC_GROUP

SUBJECT_KINDS: Final = ("ServiceAccount", "User", "Group")
_ROOT: Final = FieldPath()
_ROLE_REF: Final = FieldPath("roleRef")


def role(obj: JsonObject) -> Errors:
    """Yield what is wrong with a Role, besides its metadata."""
    # As `ValidateRole` of `pkg/apis/rbac/validation`.
    return _rules(obj, namespaced=True)


def cluster_role(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ClusterRole, besides its metadata."""
    # As `ValidateClusterRole` of `pkg/apis/rbac/validation`.
    yield from _rules(obj, namespaced=False)
    aggregation = obj.get("aggregationRule")
    if aggregation is None:
        return
    path = FieldPath("aggregationRule")
    if not aggregation.get("clusterRoleSelectors"):
        detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        yield fieldpath.required(path.child("clusterRoleSelectors"), detail)
    for cluster_role_selector_path, cluster_role_selector in items(
        aggregation, "clusterRoleSelectors", path
    ):
        yield from selector(cluster_role_selector_path, cluster_role_selector)
        if understood(cluster_role_selector) is None:
            yield fieldpath.invalid(cluster_role_selector_path, None, "invalid label selector.")


def _rules(obj: JsonObject, *, namespaced: bool) -> Errors:
    # As `ValidatePolicyRule` of `pkg/apis/rbac/validation`.
    for path, rule in items(obj, "rules", _ROOT):
        if not rule.get("verbs"):
            yield fieldpath.required(path.child("verbs"), "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            yield from _urls(path.child("nonResourceURLs"), rule, namespaced=namespaced)
            continue
        for field, singular in (("apiGroups", "api group"), ("resources", "resource")):
            if not rule.get(field):
                detail = f"resource rules must supply at least one {singular}"
                yield fieldpath.required(path.child(field), detail)


def _urls(path: FieldPath, rule: JsonObject, *, namespaced: bool) -> Errors:
    urls = list(rule["nonResourceURLs"])
    if namespaced:
        detail = "namespaced rules cannot apply to non-resource URLs"
        yield fieldpath.invalid(path, urls, detail)
    if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
        detail = "rules cannot apply to both regular resources and non-resource URLs"
        yield fieldpath.invalid(path, urls, detail)


def role_binding(obj: JsonObject) -> Errors:
    """Yield what is wrong with a RoleBinding, besides its metadata."""
    # As `ValidateRoleBinding` of `pkg/apis/rbac/validation`.
    return _binding(obj, ("Role", "ClusterRole"), namespaced=True)


def cluster_role_binding(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ClusterRoleBinding, besides its metadata."""
    # As `ValidateClusterRoleBinding` of `pkg/apis/rbac/validation`.
    return _binding(obj, ("ClusterRole",), namespaced=False)


def same_role(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update: the role of a binding may not change."""
    # As `ValidateRoleBindingUpdate` of `pkg/apis/rbac/validation`.
    new, before = (_printed_role(item.get("roleRef") or {}) for item in (obj, old))
    if new != before:
        yield fieldpath.invalid(_ROLE_REF, GoValue(new, "rbac.RoleRef"), "cannot change roleRef")


def _printed_role(reference: JsonObject) -> JsonDict:
    """Return what Go prints of the struct, whose fields have no JSON names."""
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
    for path, subject in items(obj, "subjects", _ROOT):
        yield from _subject(path, subject, namespaced=namespaced)


def _subject(path: FieldPath, subject: JsonObject, *, namespaced: bool) -> Errors:
    # As `ValidateRoleBindingSubject` of `pkg/apis/rbac/validation`.
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
