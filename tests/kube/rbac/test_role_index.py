"""What an index says after changes, and that it looks only at what concerns the user."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from celadon.kube.authorization import User
from celadon.kube.rbac import PolicyRule, RoleIndex, RoleRef, role_ref
from tests.kube.rbac.role_objects import bound, role

ALICE = User("alice", ("devs",))
READ = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
WRITE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["update"]}
TO_ALICE = {"kind": "User", "name": "alice"}
TO_DEVS = {"kind": "Group", "name": "devs"}


def verbs(index: RoleIndex, user: User = ALICE, namespace: str = "ns") -> list[str]:
    grants = index.grants(user, namespace)
    return [verb for grant in grants for rule in grant.rules or () for verb in rule.verbs]


def test_changes_show_at_once() -> None:
    index = RoleIndex([role("r", READ)])
    assert verbs(index) == []
    binding = bound("b", "ClusterRole", "r", TO_ALICE)
    index.put(binding)
    assert verbs(index) == ["get"]
    index.put(role("r", WRITE))
    assert verbs(index) == ["update"]
    index.put(bound("b", "ClusterRole", "r", {"kind": "User", "name": "bob"}))
    assert verbs(index) == []
    assert verbs(index, User("bob")) == ["update"]
    index.remove(binding)
    assert verbs(index, User("bob")) == []
    index.put(binding)
    index.remove(role("r"))
    (grant,) = index.grants(ALICE, "")
    assert grant.rules is None
    assert grant.role.error == 'clusterrole.rbac.authorization.k8s.io "r" not found'


def test_an_index_stays_when_another_is_made_of_it() -> None:
    binding = bound("b", "ClusterRole", "r", TO_ALICE)
    binding["subjects"].append(TO_DEVS)
    other = bound("c", "ClusterRole", "r", TO_DEVS)
    first = RoleIndex([role("r", READ), binding, other])
    assert verbs(first) == ["get", "get"]
    bob = bound("b", "ClusterRole", "r", {"kind": "User", "name": "bob"})
    second = first.changed([bob, role("r", WRITE)], [other])
    third = second.changed([binding], [role("r")])
    assert verbs(first) == ["get", "get"]
    assert verbs(first, User("bob")) == []
    assert verbs(second) == []
    assert verbs(second, User("bob")) == ["update"]
    assert [grant.rules for grant in third.grants(ALICE, "")] == [None]
    assert verbs(first.changed([], [])) == ["get", "get"]


def test_a_binding_that_names_a_subject_twice_goes() -> None:
    binding = bound("b", "ClusterRole", "r", TO_ALICE)
    binding["subjects"].append(TO_ALICE)
    index = RoleIndex([role("r", READ), binding])
    assert verbs(index.changed([bound("b", "ClusterRole", "r", TO_DEVS)], [])) == ["get"]
    assert verbs(index.changed([], [binding])) == []


def test_the_first_subject_that_matches_is_named() -> None:
    binding = bound("b", "ClusterRole", "r", TO_DEVS)
    binding["subjects"].append(TO_ALICE)
    (grant,) = RoleIndex([role("r", READ), binding]).grants(ALICE, "")
    assert grant.source == 'ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"'


def test_cluster_wide_grants_come_first_and_in_name_order() -> None:
    index = RoleIndex(
        [
            role("r", READ),
            bound("a", "ClusterRole", "r", TO_ALICE, namespace="ns"),
            bound("c", "ClusterRole", "r", TO_ALICE),
            bound("b", "ClusterRole", "r", TO_DEVS),
        ]
    )
    titles = [grant.source.split(" of ")[0] for grant in index.grants(ALICE, "ns")]
    assert titles == ['ClusterRoleBinding "b"', 'ClusterRoleBinding "c"', 'RoleBinding "a/ns"']


NOBODY: list[dict[str, Any]] = [
    {"kind": "ServiceAccount", "name": "alice"},
    {"kind": "Robot", "name": "alice"},
    {"kind": "User", "name": "devs"},
    {"kind": "Group", "name": "alice"},
]


@pytest.mark.parametrize("subject", NOBODY)
def test_subjects_that_are_not_the_user(subject: dict[str, Any]) -> None:
    index = RoleIndex([role("r", READ), bound("b", "ClusterRole", "r", subject)])
    assert index.grants(ALICE, "ns") == ()


def test_an_account_of_the_bindings_own_namespace() -> None:
    subject = {"kind": "ServiceAccount", "name": "robot"}
    index = RoleIndex([role("r", READ), bound("b", "ClusterRole", "r", subject, namespace="ns")])
    assert verbs(index, User("system:serviceaccount:ns:robot")) == ["get"]
    assert verbs(index, User("system:serviceaccount:other:robot")) == []


@pytest.mark.parametrize(
    ("ref", "namespace", "found"),
    [
        (RoleRef("ClusterRole", "wide"), "ns", True),
        (RoleRef("ClusterRole", "wide"), "", True),
        (RoleRef("Role", "own"), "ns", True),
        (RoleRef("Role", "own"), "other", False),
        (RoleRef("Role", "wide"), "", False),
        (RoleRef("Role", "wide"), "ns", False),
    ],
)
def test_where_a_reference_leads(ref: RoleRef, namespace: str, found: bool) -> None:
    index = RoleIndex([role("wide", READ), role("own", READ, namespace="ns")])
    rules = (PolicyRule(("get",), ("",), ("pods",)),)
    assert index.rules_of(ref, namespace) == (rules if found else None)


def test_the_reference_of_a_binding() -> None:
    group = "rbac.authorization.k8s.io"
    assert role_ref(bound("b", "Role", "r", TO_ALICE, "ns")) == RoleRef("Role", "r", group)
    assert role_ref({}) == RoleRef("", "", "")


def test_stored_rules_of_aggregated_roles_count_unless_aggregating() -> None:
    rule = {"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]}
    objects = [
        role("all", WRITE, aggregationRule=rule),
        role("part", READ, metadata={"labels": {"to": "all"}}),
        bound("b", "ClusterRole", "all", TO_ALICE),
    ]
    assert verbs(RoleIndex(objects)) == ["update"]
    assert verbs(RoleIndex(objects, aggregating=True)) == ["get"]


def test_collected_rules_come_once_in_the_order_of_the_selectors() -> None:
    labels = ("late", "early", "late")
    selectors = [{"matchLabels": {"to": label}} for label in labels]
    objects = [
        role("all", aggregationRule={"clusterRoleSelectors": selectors}),
        role("a", READ, metadata={"labels": {"to": "early"}}),
        role("b", WRITE, READ, metadata={"labels": {"to": "late"}}),
        bound("b", "ClusterRole", "all", TO_ALICE),
    ]
    assert verbs(RoleIndex(objects, aggregating=True)) == ["update", "get"]


def test_a_reference_to_something_else() -> None:
    (grant,) = RoleIndex([bound("b", "Robot", "r", TO_ALICE)]).grants(ALICE, "")
    assert grant.rules is None
    assert grant.role.error == 'unsupported role reference kind: "Robot"'


def test_users_with_long_names_are_answered_and_not_remembered() -> None:
    index = RoleIndex([role("r", READ), bound("b", "ClusterRole", "r", TO_DEVS)])
    tracemalloc.start()
    try:
        for number in range(50):
            made_up = User(f"{number}{'x' * 100_000}", ("devs",))
            assert verbs(index, made_up) == ["get"]
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000
