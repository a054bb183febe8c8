"""User names that stand for service accounts and nodes."""

from __future__ import annotations

import pytest

from celadon.apiserver.authn.identities import ADMINISTRATOR, node_of, with_group
from celadon.kube import User
from celadon.kube.rbac import service_account_of


@pytest.mark.parametrize(
    ("name", "account"),
    [
        ("system:serviceaccount:ns:sa", ("ns", "sa")),
        ("system:serviceaccount:ns:a.b", ("ns", "a.b")),
        ("system:serviceaccount:n.s:sa", None),
        ("system:serviceaccount:ns:sa:x", None),
        ("system:serviceaccount:ns", None),
        ("system:serviceaccount:ns:", None),
        ("alice", None),
    ],
)
def test_service_accounts(name: str, account: tuple[str, str] | None) -> None:
    assert service_account_of(name) == account


@pytest.mark.parametrize(
    ("name", "node"),
    [("system:node:a.b", "a.b"), ("system:node:", None), ("system:node:A", None), ("a", None)],
)
def test_nodes(name: str, node: str | None) -> None:
    assert node_of(name) == node


def test_a_group_is_added_once_and_last() -> None:
    assert with_group(User("u", ("a",)), "b").groups == ("a", "b")
    assert with_group(User("u", ("b", "a")), "b").groups == ("b", "a")


def test_the_administrator_of_a_fresh_server_is_that_of_kubeadm() -> None:
    """Policies and audit logs see these names."""
    assert User("kubernetes-admin", ("system:masters",)) == ADMINISTRATOR
