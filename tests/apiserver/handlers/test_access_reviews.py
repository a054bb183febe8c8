"""What access reviews ask and answer beyond what is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from celadon.apiserver.handlers.reviews import (
    local_subject_access_review,
    reviewed_attributes,
    self_subject_access_review,
    self_subject_rules_review,
    subject_access_review,
)
from celadon.kube import Answer, Attributes, Ruling, StatusError, User
from celadon.kube.rbac import RbacAuthorizer, RoleIndex
from tests.kube.rbac.role_objects import bound, role

BOB = User("bob")


@dataclass(frozen=True)
class Says:
    answer: Answer

    def authorize(self, attributes: Attributes) -> Answer:
        return self.answer


def resource(**attributes: Any) -> dict[str, Any]:
    return {"resourceAttributes": attributes}


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ((Ruling.ALLOW, "", None), {"allowed": True}),
        ((Ruling.DENY, "no", None), {"allowed": False, "denied": True, "reason": "no"}),
        ((Ruling.NO_OPINION, "", "bad"), {"allowed": False, "evaluationError": "bad"}),
    ],
)
def test_the_status(answer: Answer, shown: dict[str, Any]) -> None:
    review = {"spec": resource(verb="get"), "status": {"allowed": False}}
    got = self_subject_access_review(review, BOB, Says(answer))
    assert got == {"spec": resource(verb="get"), "status": shown}


def requirements(*rows: tuple[str, str, list[str]]) -> dict[str, Any]:
    return {
        "requirements": [
            {"key": key, "operator": operator, "values": values} for key, operator, values in rows
        ]
    }


@pytest.mark.parametrize(
    ("selectors", "asked", "error"),
    [
        (
            {"fieldSelector": {"rawSelector": "a=b"}, "labelSelector": {"rawSelector": "x in (y)"}},
            ("a=b", "x in (y)"),
            "",
        ),
        (
            {"fieldSelector": requirements(("a", "In", ["b"]), ("c", "NotIn", ["d"]))},
            ("a=b,c!=d", "None"),
            "",
        ),
        (
            {"fieldSelector": requirements(("a", "In", ["b"]), ("c", "Exists", []))},
            ("a=b", "None"),
            "spec.resourceAttributes.fieldSelector partially ignored due to parse error",
        ),
        (
            {"labelSelector": requirements(("a", "New", []))},
            ("None", "None"),
            "spec.resourceAttributes.labelSelector ignored due to parse error",
        ),
        (
            {"labelSelector": requirements(("a", "In", ["b"]), ("c", "Exists", []))},
            ("None", "a in (b),c"),
            "",
        ),
        (
            {"fieldSelector": {"rawSelector": "a"}, "labelSelector": {"rawSelector": "b c"}},
            ("None", "None"),
            "spec.resourceAttributes.fieldSelector ignored due to parse error; "
            "spec.resourceAttributes.labelSelector ignored due to parse error",
        ),
    ],
)
def test_selectors(selectors: dict[str, Any], asked: tuple[str, str], error: str) -> None:
    spec = resource(verb="list", resource="pods", **selectors)
    attributes = reviewed_attributes(spec, BOB)
    assert (str(attributes.field_selector), str(attributes.label_selector)) == asked
    answer = self_subject_access_review({"spec": spec}, BOB, Says((Ruling.ALLOW, "", None)))
    assert answer["status"].get("evaluationError", "") == error


def test_what_is_asked_about() -> None:
    given: dict[str, Any] = {
        "verb": "get",
        "group": "apps",
        "resource": "deployments",
        "subresource": "scale",
    }
    attributes = reviewed_attributes(resource(**given, name="d", namespace="ns"), BOB)
    assert attributes == Attributes(
        BOB,
        resource_request=True,
        version="*",
        name="d",
        namespace="ns",
        **given,
    )
    path = {"nonResourceAttributes": {"path": "/x", "verb": "get"}}
    assert reviewed_attributes(path, BOB) == Attributes(BOB, "get", path="/x")


def test_the_subject() -> None:
    spec = {**resource(verb="get", resource="pods"), "groups": ["devs"], "uid": "u"}
    roles = RbacAuthorizer(
        RoleIndex(
            [
                role("r", {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}),
                bound("b", "ClusterRole", "r", {"kind": "Group", "name": "devs"}),
            ]
        )
    )
    assert subject_access_review({"spec": spec}, roles)["status"]["allowed"] is True
    other = {**spec, "groups": ["ops"]}
    assert subject_access_review({"spec": other}, roles)["status"] == {"allowed": False}


def test_a_local_review_of_another_namespace() -> None:
    review = {"metadata": {"namespace": "a"}, "spec": {**resource(namespace="a"), "user": "u"}}
    with pytest.raises(StatusError, match="does not match the namespace sent on the request"):
        local_subject_access_review(review, "b", Says((Ruling.ALLOW, "", None)))


def test_a_local_review_is_of_the_namespace_of_its_path() -> None:
    review = {"spec": {**resource(namespace="a"), "user": "u"}}
    answer = local_subject_access_review(review, "a", Says((Ruling.ALLOW, "", None)))
    assert answer["metadata"] == {"namespace": "a"}
    with pytest.raises(StatusError, match=r'"a": must match metadata\.namespace'):
        local_subject_access_review(review, "b", Says((Ruling.ALLOW, "", None)))


def test_rules_of_roles_that_are_gone() -> None:
    gone = bound("b", "ClusterRole", "gone", {"kind": "User", "name": "bob"})
    answer = self_subject_rules_review(
        {"spec": {"namespace": "ns"}}, BOB, RbacAuthorizer(RoleIndex([gone]))
    )
    assert answer["status"] == {
        "resourceRules": [],
        "nonResourceRules": [],
        "incomplete": False,
        "evaluationError": 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    }
