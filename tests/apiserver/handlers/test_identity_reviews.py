"""Who am I, and whose token is this."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from celadon.apiserver.authn.authentication import Authenticator, TokenFile
from celadon.apiserver.handlers.reviews import rfc3339, self_subject_review, token_review
from celadon.kube import User
from tests.apiserver.asking import ask, read
from tests.apiserver.authn.front_desk import NOW
from tests.apiserver.in_process import Running


def test_who_am_i() -> None:
    user = User("alice", ("devs",), "u", {"b": ("2",), "a": ("1",)})
    answer = self_subject_review(user, NOW)
    assert answer["metadata"] == {"creationTimestamp": "2026-01-02T03:04:05Z"}
    info = answer["status"]["userInfo"]
    assert list(info) == ["username", "uid", "groups", "extra"]
    assert info["extra"] == {"a": ["1"], "b": ["2"]}
    assert self_subject_review(User("x"), NOW)["status"]["userInfo"] == {"username": "x"}


def test_a_space_before_the_token_makes_it_nobodys() -> None:
    authenticator = Authenticator(("api",), TokenFile({"t": User("alice")}))
    answer, warnings = token_review({"spec": {"token": " t"}}, authenticator, NOW)
    assert answer["status"]["user"]["username"] == "system:anonymous"
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (
            "t",
            {
                "authenticated": True,
                "user": {"username": "alice", "groups": ["system:authenticated"]},
                "audiences": ["api"],
            },
        ),
        ("x", {"user": {"username": "u"}, "audiences": ["a"]}),
    ],
)
def test_what_a_review_says_itself_stays_where_there_is_no_answer(
    token: str, expected: dict[str, Any]
) -> None:
    authenticator = Authenticator(("api",), TokenFile({"t": User("alice")}))
    said = {"authenticated": True, "user": {"username": "u"}, "audiences": ["a"], "error": "e"}
    answer, _ = token_review({"spec": {"token": token}, "status": said}, authenticator, NOW)
    shown = answer["status"]
    assert ("error" in shown, {key: one for key, one in shown.items() if key != "error"}) == (
        True,
        expected,
    )
    assert (shown["error"] == "e") is (token == "t")


@pytest.mark.parametrize(
    ("path", "spec"),
    [
        ("authentication.k8s.io/v1/tokenreviews", {"token": "x"}),
        (
            "authorization.k8s.io/v1/subjectaccessreviews",
            {"user": "u", "nonResourceAttributes": {"path": "/x"}},
        ),
    ],
)
def test_a_review_keeps_nothing_that_servers_say(path: str, spec: dict[str, Any]) -> None:
    time = "2026-01-02T03:04:05Z"
    meta = {"uid": "u", "selfLink": "/x", "creationTimestamp": time, "deletionTimestamp": time}
    running = Running()
    try:
        answer = ask(running, "POST", f"/apis/{path}", {"metadata": meta, "spec": spec})
    finally:
        running.close()
    assert answer.code == 201
    assert set(read(answer)["metadata"]) == {"managedFields"}


def test_times_are_shown_in_utc() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    at = datetime.datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=zone)
    assert rfc3339(at) == "2026-01-02T01:04:05Z"
