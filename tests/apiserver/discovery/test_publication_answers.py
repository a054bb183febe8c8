"""Which publication answers which path."""

from __future__ import annotations

import pytest

from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.in_process import Running


@pytest.mark.parametrize(
    ("path", "code", "part"),
    [
        ("/", 200, b'"paths"'),
        ("/api", 200, b"APIVersions"),
        ("/apis/apps/v1", 200, b"APIResourceList"),
        ("/version", 200, b"v1.36.0"),
        ("/readyz", 200, b"ok"),
        ("/metrics", 200, b"apiserver_request_total"),
        ("/metrics/slis", 200, b"process_start_time_seconds"),
        ("/metrics/other", 404, b"404 page not found"),
        ("/openapi/v3", 200, b"serverRelativeURL"),
        ("/nosuch", 404, b"404 page not found"),
    ],
)
def test_paths_that_are_not_for_a_resource(
    running: Running, path: str, code: int, part: bytes
) -> None:
    request = HttpRequest("GET", path, (("authorization", "Bearer admin-token"),))
    answer = running.answer(request)
    assert answer.code == code
    assert part in answer.body
