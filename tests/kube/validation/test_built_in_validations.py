"""Every kind that is served has rules."""

from __future__ import annotations

import pytest

from celadon.kube.names import GroupKind
from celadon.kube.resources.api_resources import known_resources
from celadon.kube.validation.built_in_validations import validation_of

ELSEWHERE = {
    "admissionregistration.k8s.io": "admission.registration",
    "apiextensions.k8s.io": "kube.custom.definitions",
    "authentication.k8s.io": "serve: reviews are not stored",
    "authorization.k8s.io": "serve: reviews are not stored",
}
"""Groups whose kinds are validated by others."""

WITHOUT_RULES = {GroupKind("", "Binding"), GroupKind("", "ComponentStatus")}
"""What nobody writes as an object."""


@pytest.mark.parametrize(
    "kind",
    sorted({one.gvk.group_kind for one in known_resources(all_versions=True).resources}, key=str),
    ids=str,
)
def test_served_kinds_have_rules(kind: GroupKind) -> None:
    excused = kind in WITHOUT_RULES or kind.group in ELSEWHERE
    assert (validation_of(kind) is not None) != excused
