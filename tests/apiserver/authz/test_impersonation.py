"""Whom the headers name, which rights each mode asks for, and which refusal is seen."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.authz.impersonation import Impersonated, Impersonation, wanted_user
from celadon.apiserver.http_messages import HttpRequest
from celadon.kube import Attributes, StatusError, User
from celadon.kube.rbac import RbacAuthorizer, RoleIndex
from tests.apiserver.in_process import Running
from tests.kube.rbac.role_objects import bound, role

GROUP = "authentication.k8s.io"
BOB = User("bob")
TO_BOB = {"kind": "User", "name": "bob"}
LIST_PODS: dict[str, Any] = {"verb": "list", "resource": "pods", "namespace": "ns", "version": "v1"}


def right(group: str, resource: str, verb: str, *names: str) -> dict[str, Any]:
    rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
    return {**rule, "resourceNames": list(names)} if names else rule


def desk(
    *rules: dict[str, Any], to: dict[str, Any] = TO_BOB, constrained: bool = True
) -> Impersonation:
    objects = [role("r", *rules), bound("b", "ClusterRole", "r", to)]
    return Impersonation(RbacAuthorizer(RoleIndex(objects)), constrained=constrained)


def asked(user: User) -> Attributes:
    return Attributes(user, resource_request=True, **LIST_PODS)


def act(impersonation: Impersonation, wanted: User, user: User = BOB) -> Impersonated:
    return impersonation.impersonate(wanted, asked(user))


ON_USER = right("", "pods", "impersonate-on:user-info:list")
USERS = right(GROUP, "users", "impersonate:user-info", "jane")
EXTRA = {"acme.io/team": ("x",)}


@pytest.mark.parametrize(
    ("headers", "user"),
    [
        ([("accept", "x")], None),
        ([("impersonate-user", "jane")], User("jane")),
        (
            [
                ("impersonate-user", "jane"),
                ("impersonate-group", "a"),
                ("impersonate-group", "b"),
                ("impersonate-uid", "u"),
                ("impersonate-extra-acme.io%2fTeam", "x"),
                ("impersonate-extra-acme.io%2fteam", "y"),
                ("impersonate-extra-50%", "z"),
            ],
            User("jane", ("a", "b"), "u", {"acme.io/team": ["x", "y"], "50%": ["z"]}),
        ),
    ],
)
def test_headers(headers: list[tuple[str, str]], user: User | None) -> None:
    assert wanted_user(HttpRequest("GET", "/", headers)) == user


def test_headers_without_a_user() -> None:
    headers = [("impersonate-extra-b", "2"), ("impersonate-extra-a", "1")]
    with pytest.raises(StatusError) as refused:
        wanted_user(HttpRequest("GET", "/", headers))
    assert refused.value.status.message == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), '
        'Extra:map[string][]string{"a":[]string{"1"}, "b":[]string{"2"}}} '
        "without impersonating a user name"
    )


def test_headers_without_a_user_where_nothing_is_constrained() -> None:
    headers = [("impersonate-group", "g"), ("impersonate-uid", "u")]
    with pytest.raises(StatusError) as refused:
        wanted_user(HttpRequest("GET", "/", headers), constrained=False)
    assert refused.value.status.message == (
        "requested [{Group  g    } {UID  u  authentication.k8s.io/v1  }] without impersonating a "
        "user"
    )


NODE_OF_POD = User(
    "system:serviceaccount:ns:agent",
    extra={"authentication.kubernetes.io/node-name": ("n",)},
)
SERVICE_ACCOUNT = {"kind": "ServiceAccount", "name": "agent", "namespace": "ns"}

ALLOWED: list[tuple[Impersonation, User, User, User, str]] = [
    (
        desk(ON_USER, USERS),
        User("bob"),
        User("jane"),
        User("jane", ("system:authenticated",)),
        "impersonate:user-info",
    ),
    (
        desk(right("", "users", "impersonate", "jane")),
        User("bob"),
        User("jane"),
        User("jane", ("system:authenticated",)),
        "",
    ),
    (
        desk(right("", "users", "impersonate"), right("", "groups", "impersonate")),
        User("bob"),
        User("jane", ("system:masters",)),
        User("jane", ("system:masters", "system:authenticated")),
        "",
    ),
    (
        desk(right("", "users", "impersonate")),
        User("bob"),
        User("system:anonymous"),
        User("system:anonymous", ("system:unauthenticated",)),
        "",
    ),
    (
        desk(
            right("", "pods", "impersonate-on:serviceaccount:list"),
            right(GROUP, "serviceaccounts", "impersonate:serviceaccount"),
        ),
        User("bob"),
        User("system:serviceaccount:ns:sa"),
        User(
            "system:serviceaccount:ns:sa",
            ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"),
        ),
        "impersonate:serviceaccount",
    ),
    (
        desk(
            right("", "pods", "impersonate-on:arbitrary-node:list"),
            right(GROUP, "nodes", "impersonate:arbitrary-node", "n"),
        ),
        User("bob"),
        User("system:node:n"),
        User("system:node:n", ("system:nodes", "system:authenticated")),
        "impersonate:arbitrary-node",
    ),
    (
        desk(
            right("", "pods", "impersonate-on:associated-node:list"),
            right(GROUP, "nodes", "impersonate:associated-node", "*"),
            to=SERVICE_ACCOUNT,
        ),
        NODE_OF_POD,
        User("system:node:n"),
        User("system:node:n", ("system:nodes", "system:authenticated")),
        "impersonate:associated-node",
    ),
    (
        desk(
            ON_USER,
            USERS,
            right(GROUP, "uids", "impersonate:user-info", "u"),
            right(GROUP, "groups", "impersonate:user-info", "g"),
            right(GROUP, "userextras/acme.io/team", "impersonate:user-info", "x"),
        ),
        User("bob"),
        User("jane", ("g",), "u", EXTRA),
        User("jane", ("g", "system:authenticated"), "u", EXTRA),
        "impersonate:user-info",
    ),
    (
        desk(ON_USER, USERS, right(GROUP, "groups", "impersonate:user-info", "*")),
        User("bob"),
        User("jane", ("1", "2", "3", "4")),
        User("jane", ("1", "2", "3", "4", "system:authenticated")),
        "impersonate:user-info",
    ),
]


@pytest.mark.parametrize(("impersonation", "user", "wanted", "is_now", "constraint"), ALLOWED)
def test_allowed(
    impersonation: Impersonation, user: User, wanted: User, is_now: User, constraint: str
) -> None:
    assert act(impersonation, wanted, user) == Impersonated(is_now, constraint)


ON_PODS = (
    'User "bob" cannot impersonate-on:{}:list resource "pods" in API group "" in the namespace "ns"'
)
REFUSED: list[tuple[Impersonation, User, str]] = [
    (desk(), User("jane"), f"pods is forbidden: {ON_PODS.format('user-info')}"),
    (desk(), User("system:node:n"), f"pods is forbidden: {ON_PODS.format('arbitrary-node')}"),
    (
        desk(),
        User("system:node:n", ("g",)),
        'users "system:node:n" is forbidden: User "bob" cannot impersonate resource "users" in API '
        'group "" at the cluster scope',
    ),
    (
        desk(),
        User("system:serviceaccount:ns:sa"),
        f"pods is forbidden: {ON_PODS.format('serviceaccount')}",
    ),
    (
        desk(ON_USER),
        User("jane"),
        'users.authentication.k8s.io "jane" is forbidden: User "bob" cannot impersonate:user-info '
        'resource "users" in API group "authentication.k8s.io" at the cluster scope',
    ),
    (
        desk(ON_USER, USERS),
        User("jane", ("a", "system:masters")),
        'groups.authentication.k8s.io "system:masters" is forbidden: User "bob" cannot '
        'impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the '
        "cluster scope: impersonating the system:masters group is not allowed",
    ),
    (
        desk(ON_USER, USERS),
        User("jane", ("",)),
        'groups.authentication.k8s.io is forbidden: User "bob" cannot impersonate:user-info '
        'resource "groups" in API group "authentication.k8s.io" at the cluster scope: '
        "impersonating the empty string group is not allowed",
    ),
    (
        desk(ON_USER, USERS),
        User("jane", extra=EXTRA),
        'userextras.authentication.k8s.io "x" is forbidden: User "bob" cannot '
        'impersonate:user-info resource "userextras/acme.io/team" in API group '
        '"authentication.k8s.io" at the cluster scope',
    ),
    (
        desk(ON_USER, USERS),
        User("jane", extra={"team": ("x",)}),
        'userextras.authentication.k8s.io is forbidden: User "bob" cannot impersonate:user-info '
        'resource "userextras" in API group "authentication.k8s.io" at the cluster scope: '
        'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "team": '
        'must be a domain-prefixed path (such as "acme.io/foo")',
    ),
]


@pytest.mark.parametrize(("impersonation", "wanted", "message"), REFUSED)
def test_refused(impersonation: Impersonation, wanted: User, message: str) -> None:
    with pytest.raises(StatusError) as refused:
        act(impersonation, wanted)
    assert refused.value.status.message == message
    assert refused.value.code == 403


def test_another_node_is_not_ones_own() -> None:
    impersonation = desk(
        right("", "pods", "impersonate-on:associated-node:list"),
        right(GROUP, "nodes", "impersonate:associated-node", "*"),
        to=SERVICE_ACCOUNT,
    )
    with pytest.raises(StatusError, match="impersonate-on:arbitrary-node:list"):
        act(impersonation, User("system:node:m"), NODE_OF_POD)


def test_the_mode_that_worked_is_remembered() -> None:
    impersonation = desk(right("", "users", "impersonate", "jane"))
    with pytest.raises(StatusError, match="impersonate-on:user-info"):
        act(impersonation, User("zoe"))
    act(impersonation, User("jane"))
    with pytest.raises(StatusError, match='users "zoe" is forbidden'):
        act(impersonation, User("zoe"))
    with pytest.raises(StatusError, match="impersonate-on:user-info"):
        act(impersonation, User("zoe"), User("carol"))


def test_a_right_that_is_withdrawn_is_gone() -> None:
    index = RoleIndex([role("r", ON_USER, USERS), bound("b", "ClusterRole", "r", TO_BOB)])
    impersonation = Impersonation(RbacAuthorizer(index))
    act(impersonation, User("jane"))
    index.remove(bound("b", "ClusterRole", "r", TO_BOB))
    with pytest.raises(StatusError):
        act(impersonation, User("jane"))


OLD_RIGHTS = [right("", "users", "impersonate"), right("", "groups", "impersonate", "g")]
OLD_REFUSALS: list[tuple[list[dict[str, Any]], User, str]] = [
    ([ON_USER, USERS], User("jane"), 'users "jane"'),
    (OLD_RIGHTS, User("jane", ("h",), "u", EXTRA), 'groups "h"'),
    (OLD_RIGHTS, User("jane", ("g",), "u", EXTRA), 'userextras.authentication.k8s.io "x"'),
    (OLD_RIGHTS, User("jane", ("g",), "u"), 'uids.authentication.k8s.io "u"'),
]


@pytest.mark.parametrize(("rules", "wanted", "expected"), OLD_REFUSALS)
def test_without_the_gate_there_is_the_old_mode_alone(
    rules: list[dict[str, Any]], wanted: User, expected: str
) -> None:
    """In its order: the UID is asked about last. As kube-apiserver 1.30 to 1.35 answer."""
    with pytest.raises(StatusError) as refused:
        act(desk(*rules, constrained=False), wanted)
    assert str(refused.value).startswith(f"{expected} is forbidden: ")


@pytest.mark.parametrize(("release", "is_constrained"), [("1.35", False), ("1.36", True)])
def test_since_which_release_rights_are_constrained(release: str, is_constrained: bool) -> None:
    running = Running(Settings(version=release))
    try:
        headers = [("authorization", "Bearer alice-token"), ("impersonate-user", "jane")]
        answer = running.answer(HttpRequest("GET", "/version", headers))
        assert (b"impersonate-on:user-info:get" in answer.body) is is_constrained
    finally:
        running.close()
