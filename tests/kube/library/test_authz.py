"""Authorization checks: what is asked, of whom, and what comes back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from celadon.cel.values.runtime_types import Opaque
from celadon.kube.authorization import Attributes, Ruling, User
from celadon.kube.library.authz import Authorizer
from tests.kube.library.evaluation import evaluate, failure

USER = User("jane", ("system:authenticated",), extra={"scope": ["a"]})
BARE = Attributes(USER, "get", resource_request=True, version="*", resource="pods")


class Recorder:
    """Allows what has the verb `get`, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Attributes] = []

    def authorize(self, attributes: Attributes) -> tuple[Ruling, str, str | None]:
        self.asked.append(attributes)
        if attributes.verb == "get":
            return Ruling.ALLOW, "because", None
        return Ruling.NO_OPINION, "", "backend down"


def ask(expression: str) -> tuple[object, Attributes]:
    """The value and the last of the questions, of which both variants ask the same."""
    recorder = Recorder()
    authorizer = Authorizer(USER, recorder)
    resource = authorizer.request_resource("apps", "deployments", "status", "test", "web")
    variables: dict[str, Opaque] = {
        "authorizer": authorizer,
        "authorizer.requestResource": resource,
    }
    value = evaluate(expression, **variables)
    assert recorder.asked[0] == recorder.asked[-1]
    return value, recorder.asked[-1]


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        ("path('/healthz')", Attributes(USER, "get", path="/healthz")),
        ("group('').resource('pods')", BARE),
        (
            "group('apps').resource('deployments').subresource('scale').namespace('n').name('x')",
            replace(
                BARE,
                group="apps",
                resource="deployments",
                subresource="scale",
                namespace="n",
                name="x",
            ),
        ),
        ("group('').resource('pods').name('a').name('')", BARE),
        (
            "requestResource",
            replace(
                BARE,
                group="apps",
                resource="deployments",
                subresource="status",
                namespace="test",
                name="web",
            ),
        ),
        (
            "serviceAccount('ns', 'a.b').group('').resource('pods')",
            replace(
                BARE,
                user=User(
                    "system:serviceaccount:ns:a.b",
                    ("system:serviceaccounts", "system:serviceaccounts:ns"),
                ),
            ),
        ),
    ],
)
def test_what_is_asked(expression: str, asked: Attributes) -> None:
    assert ask(f"authorizer.{expression}.check('get').allowed()") == (True, asked)


def test_selectors() -> None:
    check = "authorizer.group('').resource('pods')"
    _, asked = ask(
        f"{check}.fieldSelector('spec.nodeName=n').labelSelector('app in (a, b)')"
        ".check('list').allowed()"
    )
    assert str(asked.field_selector) == "spec.nodeName=n"
    assert str(asked.label_selector) == "app in (a,b)"
    assert (asked.field_selector_error, asked.label_selector_error) == ("", "")


def test_bad_selectors_are_reported_and_left_out() -> None:
    check = "authorizer.group('').resource('pods')"
    _, asked = ask(f"{check}.labelSelector('a in').fieldSelector('x').check('list').errored()")
    assert asked.field_selector is None
    assert asked.label_selector is None
    assert asked.field_selector_error == "invalid selector: 'x'; can't understand 'x'"
    assert asked.label_selector_error.startswith("unable to parse requirement: ")


@pytest.mark.parametrize(
    ("accessor", "allowed", "refused"),
    [
        ("allowed", True, False),
        ("reason", "because", ""),
        ("errored", False, True),
        ("error", "", "backend down"),
    ],
)
def test_decisions(accessor: str, allowed: object, refused: object) -> None:
    assert ask(f"authorizer.path('/').check('get').{accessor}()")[0] == allowed
    assert ask(f"authorizer.path('/').check('put').{accessor}()")[0] == refused


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("authorizer.path(' \\t')", "path must not be empty"),
        ("authorizer.group('').resource('')", "resource must not be empty"),
        ("authorizer.serviceAccount('ns', 'A')", "Invalid service account name"),
        ("authorizer.serviceAccount('a.b', 'a')", "Invalid service account namespace"),
        ("authorizer.path('/a') == authorizer.path('/a')", "no such overload"),
        ("authorizer == authorizer", "no such overload"),
    ],
)
def test_errors(expression: str, error: str) -> None:
    assert failure(expression, authorizer=Authorizer(USER, Recorder())) == error
