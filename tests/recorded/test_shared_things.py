"""What keeps a scenario from running beside others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.recorded.shared_things import touches_what_is_shared


def policy(*resources: str) -> dict[str, Any]:
    rules = [{"apiGroups": ["*"], "resources": list(resources)}]
    return {"kind": "ValidatingAdmissionPolicy", "matchConstraints": {"resourceRules": rules}}


@pytest.mark.parametrize(
    ("part", "shared"),
    [
        ({"path": "/api"}, False),
        ({"user": "admin"}, False),
        ({"user": "alice"}, True),
        ({"user": ""}, True),
        ({"body": {"kind": "RoleBinding", "subjects": [{"name": "alice"}]}}, True),
        ({"body": policy("configmaps", "pods/exec")}, False),
        ({"body": policy("configmaps", "nodes")}, True),
        ({"body": policy("namespaces/status")}, True),
        ({"body": policy("*/*")}, True),
        ({"metadata": {"annotations": {"ingressclass.kubernetes.io/is-default-class": ""}}}, True),
        ({"metadata": {"annotations": {"kubernetes.io/ingress.class": "x"}}}, False),
        ({"body": {"resourceRules": [1, {"resources": "x"}, {}]}}, False),
        ({"body": {"resourceRules": "x"}}, False),
    ],
)
def test_what_is_shared(part: dict[str, Any], shared: bool) -> None:
    scenario = {"setup": [{"kind": "Namespace"}], "steps": [{"path": "/"}, part]}
    assert touches_what_is_shared(scenario) is shared
