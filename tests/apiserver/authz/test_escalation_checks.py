"""Who may write which roles and bindings."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.authz.escalation_checks import EscalationChecks
from celadon.kube import Attributes, StatusError, User
from celadon.kube.rbac import RbacAuthorizer, RoleIndex
from celadon.kube.releases import answering_as
from celadon.kube.well_known_values import RBAC_GROUP
from tests.kube.rbac.role_objects import bound, role

READ = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}
EVERYTHING = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
]
TO_BOB = {"kind": "User", "name": "bob"}
BOB = User("bob", ("devs", "system:authenticated"))
SELECTORS = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}


def right(resource: str, verb: str, *names: str) -> dict[str, Any]:
    rule = {"apiGroups": [RBAC_GROUP], "resources": [resource], "verbs": [verb]}
    return {**rule, "resourceNames": list(names)} if names else rule


def held(*rules: dict[str, Any]) -> list[dict[str, Any]]:
    return [role("held", *rules), bound("held", "ClusterRole", "held", TO_BOB)]


def check(
    held: list[dict[str, Any]],
    new: dict[str, Any],
    old: dict[str, Any] | None = None,
    user: User = BOB,
) -> None:
    roles = RbacAuthorizer(RoleIndex(held))
    meta = new["metadata"]
    attributes = Attributes(
        user,
        "create" if old is None else "update",
        resource_request=True,
        group=RBAC_GROUP,
        version="v1",
        resource=f"{new['kind'].lower()}s",
        namespace=meta.get("namespace", ""),
        name="" if old is None else meta["name"],
    )
    EscalationChecks(roles, roles).check(attributes, new, old)


@pytest.mark.parametrize(
    ("held", "new", "old"),
    [
        (held(READ), role("x", READ), None),
        (held(right("clusterroles", "escalate")), role("x", SECRETS), None),
        (held(*EVERYTHING), role("x", SECRETS, aggregationRule=SELECTORS), None),
        (held(), role("x"), None),
        (held(), role("x", SECRETS, metadata={"finalizers": ["a/b"]}), role("x", SECRETS)),
        (
            held(READ),
            role("x", READ, aggregationRule=SELECTORS),
            role("x", aggregationRule=SELECTORS),
        ),
        (held(right("clusterroles", "escalate", "x")), role("x", SECRETS), role("x")),
        ([*held(READ), role("t", READ)], bound("x", "ClusterRole", "t", TO_BOB), None),
        (held(right("clusterroles", "bind", "t")), bound("x", "ClusterRole", "t", TO_BOB), None),
        (held(right("roles", "bind")), bound("x", "Role", "t", TO_BOB, "ns"), None),
    ],
)
def test_allowed(
    held: list[dict[str, Any]], new: dict[str, Any], old: dict[str, Any] | None
) -> None:
    check(held, new, old)


GRANT = (
    'user "bob" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions '
    "not currently held:\n"
)
LACKS_SECRETS = GRANT + '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
NEEDS_ADMIN = "must have cluster-admin privileges to use the aggregationRule"


@pytest.mark.parametrize(
    ("held", "new", "old", "why"),
    [
        (held(READ), role("x", SECRETS, READ), None, LACKS_SECRETS),
        (held(right("clusterroles", "escalate", "x")), role("x", SECRETS), None, LACKS_SECRETS),
        (held(), role("x", SECRETS), role("x"), LACKS_SECRETS),
        (held(READ), role("x", READ, aggregationRule=SELECTORS), None, NEEDS_ADMIN),
        (held(READ), role("x", READ), role("x", aggregationRule=SELECTORS), NEEDS_ADMIN),
        (
            [*held(), role("t", SECRETS)],
            bound("x", "ClusterRole", "t", TO_BOB),
            None,
            LACKS_SECRETS,
        ),
        (
            [*held(), bound("lost", "ClusterRole", "gone", TO_BOB)],
            role("x", SECRETS),
            None,
            LACKS_SECRETS
            + '; resolution errors: [clusterroles.rbac.authorization.k8s.io "gone" not found]',
        ),
    ],
)
def test_refused(
    held: list[dict[str, Any]], new: dict[str, Any], old: dict[str, Any] | None, why: str
) -> None:
    with pytest.raises(StatusError) as refused:
        check(held, new, old)
    kind = f"{new['kind'].lower()}s"
    assert refused.value.status.message == (
        f'{kind}.rbac.authorization.k8s.io "x" is forbidden: {why}'
    )
    assert refused.value.code == 403


@pytest.mark.parametrize(
    ("release", "kind", "namespace", "code", "message"),
    [
        ("1.31", "ClusterRole", "ns", 404, 'clusterroles.rbac.authorization.k8s.io "t" not found'),
        ("1.31", "Role", "ns", 404, 'roles.rbac.authorization.k8s.io "t" not found'),
        ("1.32", "ClusterRole", "ns", 404, 'rolebindings.rbac.authorization.k8s.io "t" not found'),
        ("1.32", "Role", "ns", 404, 'rolebindings.rbac.authorization.k8s.io "t" not found'),
        (
            *("1.32", "ClusterRole", "", 404),
            'clusterrolebindings.rbac.authorization.k8s.io "t" not found',
        ),
        ("1.31", "Role", "", 400, "Namespace parameter required."),
        ("1.36", "Robot", "ns", 500, 'unsupported role reference kind: "Robot"'),
    ],
)
def test_references_that_lead_nowhere(
    release: str, kind: str, namespace: str, code: int, message: str
) -> None:
    """Since 1.32 upstream names the resource of the request in place of the role's."""
    with answering_as(release), pytest.raises(StatusError) as refused:
        check(held(), bound("x", kind, "t", TO_BOB, namespace))
    assert (refused.value.code, refused.value.status.message) == (code, message)


def test_roles_that_were_not_found_are_told_by_the_resource_of_the_request() -> None:
    there = [*held(), bound("lost", "ClusterRole", "gone", TO_BOB)]
    for release, resource in (("1.31", "clusterroles"), ("1.32", "roles")):
        with answering_as(release), pytest.raises(StatusError) as refused:
            check(there, role("x", SECRETS, namespace="ns"))
        assert f'[{resource}.{RBAC_GROUP} "gone" not found]' in str(refused.value)


def test_masters_are_not_asked() -> None:
    check([], role("x", *EVERYTHING), user=User("root", ("system:masters",)))


def test_rights_in_the_namespace_are_enough_there_and_nowhere_else() -> None:
    own = [role("held", READ), bound("b", "ClusterRole", "held", TO_BOB, "ns")]
    check(own, role("x", READ, namespace="ns"))
    with pytest.raises(StatusError):
        check(own, role("x", READ, namespace="other"))
    with pytest.raises(StatusError):
        check(own, role("x", READ))
