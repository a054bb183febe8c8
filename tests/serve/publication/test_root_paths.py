"""The list of paths."""

from __future__ import annotations

import json

from celadon.serve.publication.health import HealthCheck
from celadon.serve.publication.root_paths import root_answer
from tests.serve.publication.catalogues import definition, published


def test_paths_are_sorted_and_know_everything() -> None:
    apis = published(definition("a.io", "as", "v1"))
    paths = json.loads(root_answer(apis, {"livez": [HealthCheck("ping")]}).body)["paths"]
    assert paths == sorted(paths)
    assert {
        *("/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/a.io/v1", "/livez", "/livez/ping"),
        *("/openapi/v3", "/version"),
    } <= set(paths)
