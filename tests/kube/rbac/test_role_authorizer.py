"""What users may do by RBAC manifests, and the reason that is given."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.authorization import Attributes, Ruling, User
from celadon.kube.rbac import RbacAuthorizer
from tests.kube.rbac.role_objects import bound, role

ALICE = User("alice", ("devs",))
READ = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
TO_ALICE = {"kind": "User", "name": "alice"}


def ask(user: User = ALICE, verb: str = "get", **given: Any) -> Attributes:
    values: dict[str, Any] = {"resource": "pods", "namespace": "ns", "version": "v1"}
    values.update(given)
    return Attributes(user, verb, resource_request=True, **values)


RULES: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    (READ, {}, True),
    (READ, {"verb": "list"}, False),
    ({**READ, "verbs": ["*"]}, {"verb": "list"}, True),
    ({**READ, "apiGroups": ["apps"]}, {}, False),
    ({**READ, "apiGroups": ["*"]}, {}, True),
    (READ, {"subresource": "exec"}, False),
    ({**READ, "resources": ["*"]}, {"subresource": "exec"}, True),
    ({**READ, "resources": ["pods/exec"]}, {"subresource": "exec"}, True),
    ({**READ, "resources": ["*/exec"]}, {"subresource": "exec"}, True),
    ({**READ, "resources": ["pods/*"]}, {"subresource": "exec"}, False),
    ({**READ, "resourceNames": ["a"]}, {"name": "a"}, True),
    ({**READ, "resourceNames": ["a"]}, {"name": "b"}, False),
    ({**READ, "resourceNames": ["a"]}, {}, False),
]


@pytest.mark.parametrize(("rule", "asked", "allowed"), RULES)
def test_rules(rule: dict[str, Any], asked: dict[str, Any], allowed: bool) -> None:
    rbac = RbacAuthorizer([role("r", rule), bound("b", "ClusterRole", "r", TO_ALICE)])
    assert (rbac.authorize(ask(**asked))[0] is Ruling.ALLOW) is allowed


@pytest.mark.parametrize(
    ("urls", "path", "allowed"),
    [
        (["/healthz"], "/healthz", True),
        (["/healthz"], "/healthz/x", False),
        (["/api/*"], "/api/v1", True),
        (["/api/*"], "/apis", False),
        (["*"], "/anything", True),
    ],
)
def test_paths(urls: list[str], path: str, allowed: bool) -> None:
    rule = {"nonResourceURLs": urls, "verbs": ["get"]}
    rbac = RbacAuthorizer([role("r", rule), bound("b", "ClusterRole", "r", TO_ALICE)])
    ruling, _, _ = rbac.authorize(Attributes(ALICE, "get", path=path))
    assert (ruling is Ruling.ALLOW) is allowed


REASONS = [
    (
        bound("crb", "ClusterRole", "r", {"kind": "Group", "name": "devs"}),
        'RBAC: allowed by ClusterRoleBinding "crb" of ClusterRole "r" to Group "devs"',
    ),
    (
        bound("rb", "Role", "own", TO_ALICE, namespace="ns"),
        'RBAC: allowed by RoleBinding "rb/ns" of Role "own" to User "alice"',
    ),
    (
        bound("rb", "ClusterRole", "r", TO_ALICE, namespace="ns"),
        'RBAC: allowed by RoleBinding "rb/ns" of ClusterRole "r" to User "alice"',
    ),
    (
        bound("rb", "Role", "gone", TO_ALICE, namespace="ns"),
        'RBAC: role.rbac.authorization.k8s.io "gone" not found',
    ),
    (bound("rb", "Role", "own", TO_ALICE, namespace="other"), ""),
    (bound("rb", "Role", "own", {"kind": "User", "name": "bob"}, namespace="ns"), ""),
]


@pytest.mark.parametrize(("binding", "reason"), REASONS)
def test_reasons(binding: dict[str, Any], reason: str) -> None:
    rbac = RbacAuthorizer([role("r", READ), role("own", READ, namespace="ns"), binding])
    ruling, given, error = rbac.authorize(ask())
    assert given == reason
    assert (ruling is Ruling.ALLOW) is reason.startswith("RBAC: allowed")
    assert error is None


def test_service_accounts_are_found_by_their_user_name() -> None:
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": "tools"}
    rbac = RbacAuthorizer([role("r", READ), bound("b", "ClusterRole", "r", subject)])
    ruling, reason, _ = rbac.authorize(ask(User("system:serviceaccount:tools:robot")))
    assert ruling is Ruling.ALLOW
    assert reason.endswith('to ServiceAccount "robot/tools"')


def test_masters_may_do_everything() -> None:
    assert RbacAuthorizer().authorize(ask(User("x", ("system:masters",)))) == (
        Ruling.ALLOW,
        "",
        None,
    )


def test_aggregated_roles_collect_rules() -> None:
    selectors = [{"matchLabels": {"to": "all"}}]
    rbac = RbacAuthorizer(
        [
            role("all", aggregationRule={"clusterRoleSelectors": selectors}),
            role("part", READ, metadata={"labels": {"to": "all"}}),
            bound("b", "ClusterRole", "all", TO_ALICE),
        ]
    )
    assert rbac.authorize(ask())[0] is Ruling.ALLOW
    assert rbac.authorize(ask(verb="delete"))[0] is Ruling.NO_OPINION


def test_aggregation_in_a_circle_ends() -> None:
    selectors = [{"matchLabels": {"x": "y"}}]
    circle = [
        role(
            name,
            metadata={"labels": {"x": "y"}},
            aggregationRule={"clusterRoleSelectors": selectors},
        )
        for name in ("a", "b", "c")
    ]
    rbac = RbacAuthorizer([*circle, bound("b", "ClusterRole", "a", TO_ALICE)])
    assert rbac.authorize(ask())[0] is Ruling.NO_OPINION
