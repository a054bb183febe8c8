"""The list of paths."""

from __future__ import annotations

import json

from celadon.apiserver.discovery.discovery_documents import root_answer, root_paths
from celadon.apiserver.discovery.health_and_version import HealthCheck
from tests.apiserver.discovery.catalogues import definition, published


def test_paths_are_sorted_and_know_everything() -> None:
    apis = published(definition("a.io", "as", "v1"))
    paths = root_paths(apis, {"livez": [HealthCheck("ping")]}, ("/statusz",))
    assert json.loads(root_answer(paths).body) == {"paths": paths}
    assert paths == sorted(paths)
    assert {
        *("/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/a.io/v1", "/livez", "/livez/ping"),
        *("/openapi/v3", "/version", "/statusz"),
    } <= set(paths)
