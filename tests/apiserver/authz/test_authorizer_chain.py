"""The chain of authorizers, what is asked about a request, and the words of a refusal."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import pytest

from celadon.apiserver.authz.authorizer_chain import (
    AuthorizerChain,
    check_access,
    forbidden,
    request_attributes,
)
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import request_info
from celadon.kube import Answer, Attributes, Ruling, StatusError, User

BOB = User("bob")


@dataclass(frozen=True)
class Says:
    answer: Answer

    def authorize(self, attributes: Attributes) -> Answer:
        return self.answer


def asked(method: str, target: str, user: User = BOB) -> Attributes:
    request = HttpRequest(method, target)
    return request_attributes(user, request_info(request), request)


SILENT = Says((Ruling.NO_OPINION, "", None))
UNSURE = Says((Ruling.NO_OPINION, "perhaps", "broken"))
YES = Says((Ruling.ALLOW, "because", None))
NO = Says((Ruling.DENY, "never", None))


@pytest.mark.parametrize(
    ("authorizers", "answer"),
    [
        ((), (Ruling.NO_OPINION, "", None)),
        ((SILENT, YES), (Ruling.ALLOW, "because", None)),
        ((NO, YES), (Ruling.DENY, "never", None)),
        ((YES, NO), (Ruling.ALLOW, "because", None)),
        ((UNSURE, SILENT), (Ruling.NO_OPINION, "perhaps", "broken")),
        ((UNSURE, UNSURE), (Ruling.NO_OPINION, "perhaps\nperhaps", "broken")),
    ],
)
def test_the_first_opinion_counts(authorizers: tuple[Says, ...], answer: Answer) -> None:
    assert AuthorizerChain(authorizers).authorize(asked("GET", "/api/v1/pods")) == answer


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_no_path_is_open_to_everybody(path: str) -> None:
    assert AuthorizerChain((SILENT,)).authorize(asked("GET", path))[0] is Ruling.NO_OPINION


def test_masters_may_do_everything() -> None:
    root = User("root", ("system:masters",))
    assert AuthorizerChain((NO,)).authorize(asked("GET", "/x", root)) == (Ruling.ALLOW, "", None)


@pytest.mark.parametrize(
    ("method", "target", "message"),
    [
        (
            "GET",
            "/api/v1/namespaces/ns/pods/p/log",
            'pods "p" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in '
            'the namespace "ns"',
        ),
        (
            "DELETE",
            "/apis/apps/v1/deployments",
            'deployments.apps is forbidden: User "bob" cannot deletecollection resource '
            '"deployments" in API group "apps" at the cluster scope',
        ),
        ("POST", "/a&b", 'forbidden: User "bob" cannot post path "/a&amp;b"'),
    ],
)
def test_the_words_of_a_refusal(method: str, target: str, message: str) -> None:
    assert forbidden(asked(method, target)).status.message == message


def test_a_reason_comes_last_and_as_it_is() -> None:
    message = forbidden(asked("GET", "/x"), "RBAC: <gone>").status.message
    assert message == 'forbidden: User "bob" cannot get path "/x": RBAC: <gone>'


def test_access() -> None:
    question = asked("GET", "/api/v1/pods")
    assert check_access(question, YES) == "because"
    with pytest.raises(StatusError, match=r"at the cluster scope: never") as refused:
        check_access(question, NO)
    assert refused.value.code == 403
    with pytest.raises(StatusError, match="Internal error occurred: broken") as failed:
        check_access(question, UNSURE)
    assert failed.value.code == 500


def test_selectors_are_asked_about_where_they_select() -> None:
    target = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn&labelSelector=a+b"
    listed = asked("GET", target)
    assert str(listed.field_selector) == "spec.nodeName=n"
    assert listed.label_selector is None
    assert listed.label_selector_error.startswith("unable to parse requirement")
    created = asked("POST", target)
    assert created.field_selector is None
    assert not created.label_selector_error


@pytest.mark.parametrize(
    ("authorizer", "said"),
    [
        (YES, {"decision": "allow", "reason": "because"}),
        (NO, {"decision": "forbid", "reason": "never"}),
        (UNSURE, {"reason": "internal error"}),
    ],
)
def test_what_the_audit_event_says(authorizer: Says, said: dict[str, str]) -> None:
    found: dict[str, str] = {}
    with contextlib.suppress(StatusError):
        check_access(asked("GET", "/api/v1/pods"), authorizer, found.update)
    assert found == {f"authorization.k8s.io/{name}": text for name, text in said.items()}
