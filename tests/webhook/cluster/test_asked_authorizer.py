from __future__ import annotations

import asyncio
from typing import Any

import pytest

from celadon.kube import Attributes, Ruling, User
from celadon.kube.selectors import FieldSelector, FieldTerm, label_selector
from celadon.webhook.cluster import cluster_world
from celadon.webhook.cluster.cluster_client import ClusterUnreachable
from celadon.webhook.cluster.cluster_world import (
    GOOD_SECONDS,
    RemoteAuthorizer,
    access_review,
    answer_of,
)

ALICE = User("alice", ("devs",), "1", {"k": ["v"]})
QUESTIONS: dict[str, tuple[Attributes, dict[str, Any]]] = {
    "a path": (
        Attributes(User("bob"), "get", path="/healthz"),
        {"user": "bob", "nonResourceAttributes": {"path": "/healthz", "verb": "get"}},
    ),
    "a resource": (
        Attributes(
            ALICE, "get", "", True, "apps", "v1", "deployments", "scale", "here", "one"
        ),
        {
            "user": "alice",
            "groups": ["devs"],
            "uid": "1",
            "extra": {"k": ["v"]},
            "resourceAttributes": {
                "verb": "get",
                "group": "apps",
                "version": "v1",
                "resource": "deployments",
                "subresource": "scale",
                "namespace": "here",
                "name": "one",
            },
        },
    ),
    "selectors": (
        Attributes(
            User("bob"),
            "list",
            resource_request=True,
            resource="pods",
            field_selector=FieldSelector((FieldTerm("a", "b"), FieldTerm("c", "d", True))),
            label_selector=label_selector(
                {
                    "matchLabels": {"e": "f"},
                    "matchExpressions": [
                        {"key": "g", "operator": "NotIn", "values": ["h", "i"]},
                        {"key": "j", "operator": "Exists"},
                        {"key": "k", "operator": "DoesNotExist"},
                    ],
                }
            ),
        ),
        {
            "user": "bob",
            "resourceAttributes": {
                "verb": "list",
                "resource": "pods",
                "fieldSelector": {
                    "requirements": [
                        {"key": "a", "operator": "In", "values": ["b"]},
                        {"key": "c", "operator": "NotIn", "values": ["d"]},
                    ]
                },
                "labelSelector": {
                    "requirements": [
                        {"key": "e", "operator": "In", "values": ["f"]},
                        {"key": "g", "operator": "NotIn", "values": ["h", "i"]},
                        {"key": "j", "operator": "Exists"},
                        {"key": "k", "operator": "DoesNotExist"},
                    ]
                },
            },
        },
    ),
    "selectors that nobody understands": (
        Attributes(
            User("bob"), "list", resource_request=True, field_selector_error="x",
            field_selector=FieldSelector(), label_selector_error="y",
        ),
        {"user": "bob", "resourceAttributes": {"verb": "list"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", QUESTIONS.values(), ids=QUESTIONS)
def test_questions(row: tuple[Attributes, dict[str, Any]]) -> None:
    assert access_review(row[0]) == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": row[1],
    }


ANSWERS: dict[str, tuple[dict[str, Any], tuple[Ruling, str, str | None]]] = {
    "yes": ({"allowed": True, "reason": "r"}, (Ruling.ALLOW, "r", None)),
    "no": ({"allowed": False, "denied": True}, (Ruling.DENY, "", None)),
    "neither": ({"allowed": False, "evaluationError": "e"}, (Ruling.NO_OPINION, "", "e")),
}


@pytest.mark.parametrize("row", ANSWERS.values(), ids=ANSWERS)
def test_answers(row: tuple[dict[str, Any], tuple[Ruling, str, str | None]]) -> None:
    assert answer_of({"status": row[0]}) == row[1]


class Cluster:
    """Says yes, or cannot be reached."""

    def __init__(self) -> None:
        self.is_there = True
        self.asked = 0
        self.last: tuple[object, ...] = ()

    async def request(self, *about: object, seconds: float) -> dict[str, Any]:
        self.asked += 1
        self.last = (*about, seconds)
        await asyncio.sleep(0)
        if not self.is_there:
            raise ClusterUnreachable("gone")
        return {"status": {"allowed": True}}


def question(name: str) -> Attributes:
    return Attributes(User(name), "get", path="/")


def test_answers_are_remembered_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_world, "MOST_ANSWERS", 2)
    cluster, now = Cluster(), [0.0]

    async def run() -> None:
        authorizer = RemoteAuthorizer(cluster, lambda: now[0])  # type: ignore[arg-type]  # a double
        assert authorizer.known(question("a")) is None
        cluster.is_there = False
        assert await authorizer.ask(question("a")) == (Ruling.NO_OPINION, "", "gone")
        assert authorizer.known(question("a")) is None
        cluster.is_there = True
        both = await asyncio.gather(authorizer.ask(question("a")), authorizer.ask(question("a")))
        assert set(both) == {(Ruling.ALLOW, "", None)}
        assert cluster.asked == 2
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        assert cluster.last == ("POST", path, access_review(question("a")), 5.0)
        assert authorizer.known(question("a")) == (Ruling.ALLOW, "", None)
        now[0] = GOOD_SECONDS - 0.5
        assert authorizer.known(question("a")) == (Ruling.ALLOW, "", None)
        now[0] = GOOD_SECONDS
        assert authorizer.known(question("a")) is None
        for name in "abc":
            await authorizer.ask(question(name))
        assert [authorizer.known(question(name)) is None for name in "abc"] == [True, False, False]

    asyncio.run(run())
