"""What a request is about."""

from __future__ import annotations

import re
from typing import Any

import pytest

from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import RequestInfo, UnreadablePath, request_info, selected_name
from tests.apiserver.asking import ask
from tests.apiserver.in_process import Running

API: dict[str, Any] = {"is_resource": True, "prefix": "api", "version": "v1"}


@pytest.mark.parametrize(
    ("method", "target", "wanted"),
    [
        ("GET", "/", RequestInfo("get", "/")),
        (
            "GET",
            "/api/v1/nodes/a/proxy/b//c/",
            RequestInfo(
                "get",
                "/api/v1/nodes/a/proxy/b//c/",
                resource="nodes",
                name="a",
                subresource="proxy",
                rest="b//c",
                **API,
            ),
        ),
        ("POST", "/apis/apps/v1/", RequestInfo("post", "/apis/apps/v1/")),
        (
            "GET",
            "/api/v1/pods?watch",
            RequestInfo("watch", "/api/v1/pods", resource="pods", **API),
        ),
        (
            "GET",
            "/api/v1/pods?watch=False",
            RequestInfo("list", "/api/v1/pods", resource="pods", **API),
        ),
        (
            "GET",
            "/api/v1/namespaces/a",
            RequestInfo(
                "get", "/api/v1/namespaces/a", namespace="a", resource="namespaces", name="a", **API
            ),
        ),
        (
            "PUT",
            "/api/v1/namespaces/a/finalize",
            RequestInfo(
                "update",
                "/api/v1/namespaces/a/finalize",
                namespace="a",
                resource="namespaces",
                name="a",
                subresource="finalize",
                **API,
            ),
        ),
        (
            "DELETE",
            "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx",
            RequestInfo(
                "deletecollection",
                "/api/v1/namespaces/a/pods",
                namespace="a",
                resource="pods",
                name="x",
                **API,
            ),
        ),
        (
            "GET",
            "/api/v1/watch/pods/",
            RequestInfo(
                "watch", "/api/v1/watch/pods/", resource="pods", deprecated_watch=True, **API
            ),
        ),
    ],
)
def test_what_a_request_is_about(method: str, target: str, wanted: RequestInfo) -> None:
    assert request_info(HttpRequest(method, target)) == wanted


def test_the_word_watch_alone_says_nothing() -> None:
    target = "/api/v1/watch?a=b"
    why = f"unable to determine kind and namespace from url, {target}"
    with pytest.raises(UnreadablePath, match=re.escape(why)):
        request_info(HttpRequest("GET", target))


def test_an_answer_about_such_a_path_may_be_kept(running: Running) -> None:
    answer = ask(running, "GET", "/api/v1/watch")
    assert (answer.code, "Cache-Control" in dict(answer.headers)) == (500, False)
    assert "Cache-Control" in dict(ask(running, "GET", "/api/v1/foo").headers)


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("metadata.name=a", "a"),
        ("x=y,metadata.name==a", "a"),
        ("metadata.name!=a", ""),
        ("metadata.name=..", ""),
        ("metadata.name=a/b", ""),
    ],
)
def test_the_one_name_that_a_selector_leaves(selector: str, name: str) -> None:
    assert selected_name(selector) == name
