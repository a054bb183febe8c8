"""Which publication answers which path."""

from __future__ import annotations

import pytest

from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.in_process import Running


@pytest.mark.parametrize(
    ("path", "code", "part"),
    [
        ("/", 200, b'"paths"'),
        ("/index.html", 200, b'"paths"'),
        ("/index.html/", 404, b"404 page not found"),
        ("/apis//apps", 404, b"404 page not found"),
        ("/api", 200, b"APIVersions"),
        ("/apis/apps/v1", 200, b"APIResourceList"),
        ("/version", 200, b"v1.36.0"),
        ("/readyz", 200, b"ok"),
        ("/metrics", 200, b"apiserver_request_total"),
        ("/metrics/slis", 200, b"process_start_time_seconds"),
        ("/metrics/other", 404, b"404 page not found"),
        ("/openapi/v3", 200, b"serverRelativeURL"),
        ("/nosuch", 404, b"404 page not found"),
        ("/%76ersion", 200, b"v1.36.0"),
        ("/%6detrics?a=b", 200, b"apiserver_request_total"),
        ("/%61pis/apps/v1%2f", 200, b"APIResourceList"),
        ("/readyz%3fverbose", 404, b"404 page not found"),
        ("/readyz/", 404, b"404 page not found"),
        ("/statusz/", 404, b"404 page not found"),
        ("//version", 404, b"404 page not found"),
        ("/%2fversion", 404, b"404 page not found"),
        ("//", 404, b"404 page not found"),
        ("//api/v1/namespaces", 404, b"404 page not found"),
    ],
)
def test_paths_that_are_not_for_a_resource(
    running: Running, path: str, code: int, part: bytes
) -> None:
    request = HttpRequest("GET", path, (("authorization", "Bearer admin-token"),))
    answer = running.answer(request)
    assert answer.code == code
    assert part in answer.body


@pytest.mark.parametrize("page", ["/healthz", "/livez", "/readyz"])
@pytest.mark.parametrize(("method", "code"), [("GET", 200), ("POST", 403), ("HEAD", 403)])
def test_whoever_is_not_known_may_only_read_how_a_server_is(
    running: Running, page: str, method: str, code: int
) -> None:
    assert running.answer(HttpRequest(method, page)).code == code
