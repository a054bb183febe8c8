"""Which kind is remarked upon by what."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.names import GroupKind
from celadon.kube.resources import known_resources
from celadon.kube.warnings import STATUS_WARNINGS, WARNINGS, kind_warnings, warnings_before

POD = GroupKind("", "Pod")
GRACE: dict[str, Any] = {"metadata": {"name": "p"}, "spec": {"terminationGracePeriodSeconds": -1}}


def test_all_kinds_are_known() -> None:
    known = {one.gvk.group_kind for one in known_resources(all_versions=True)}
    assert known >= {*WARNINGS, *STATUS_WARNINGS}


@pytest.mark.parametrize("kind", sorted({*WARNINGS}, key=str))
def test_nothing_is_said_of_nothing_in_particular(kind: GroupKind) -> None:
    obj = {"metadata": {"name": "x"}}
    assert kind_warnings(kind, obj) == []
    assert kind_warnings(kind, obj, obj) == []


def test_changed_pods_are_let_be() -> None:
    assert len(kind_warnings(POD, GRACE)) == 1
    assert kind_warnings(POD, GRACE, GRACE) == []


def test_subresources() -> None:
    obj = {**GRACE, "status": {"podIPs": [{"ip": "01.1.1.1"}]}}
    assert len(kind_warnings(POD, obj, obj, subresource="status")) == 1
    assert kind_warnings(POD, obj, None, subresource="binding") == []
    assert kind_warnings(GroupKind("", "Node"), obj, obj, subresource="status") == []


def test_custom_kinds() -> None:
    kind, obj = GroupKind("example.com", "Pod"), {"metadata": {"finalizers": ["x"]}}
    assert len(kind_warnings(kind, obj, custom=True)) == 1
    assert kind_warnings(kind, obj, obj, custom=True) == []
    assert kind_warnings(kind, obj, None, subresource="status", custom=True) == []


def test_what_is_said_of_a_pod_as_it_was_sent() -> None:
    notes = {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}
    obj = {"metadata": {"annotations": notes}, "spec": {"containers": [{"name": "c"}]}}
    assert len(warnings_before(POD, obj)) == 1
    assert warnings_before(GroupKind("apps", "Deployment"), obj) == []
