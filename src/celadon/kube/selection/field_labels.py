"""Which fields a field selector may name, per resource, and what is said about others.

Most built-in kinds know name and namespace only. Some list fields of their own, and two of these
have their own words for a field they do not know. As k8s.io/kubernetes
`pkg/apis/*/v*/conversion.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from celadon.kube.go.go_text import quote
from celadon.kube.names import GroupKind
from celadon.kube.selection.field_selectors import FieldSelector
from celadon.kube.selection.label_selectors import SelectorError

if TYPE_CHECKING:
    from celadon.kube.catalogue.resources import Resource

STANDARD: Final = frozenset({"metadata.name", "metadata.namespace"})
ALIASES: Final = {(GroupKind("", "Pod"), "spec.host"): "spec.nodeName"}
_JOB: Final = GroupKind("batch", "Job")
_RESOURCE_SLICE: Final = GroupKind("resource.k8s.io", "ResourceSlice")


def _refusal(resource: Resource, label: str) -> str:
    kind = resource.gvk.group_kind
    if kind == _JOB:
        return f"field label {quote(label)} not supported for Job"
    if kind == _RESOURCE_SLICE:
        return f"field label not supported for {resource.gvk}: {label}"
    if not resource.custom and frozenset(resource.field_labels) == STANDARD:
        return (
            f'{quote(label)} is not a known field selector: only "metadata.name", '
            '"metadata.namespace"'
        )
    return f"field label not supported: {label}"


def resolve_fields(selector: FieldSelector, resource: Resource) -> FieldSelector:
    """The selector with aliases replaced; SelectorError for a field the resource does not offer."""

    def rename(label: str) -> str:
        if label not in resource.field_labels:
            raise SelectorError(_refusal(resource, label))
        return ALIASES.get((resource.gvk.group_kind, label), label)

    return selector.map_fields(rename)
