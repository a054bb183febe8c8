"""`/`: the paths that a server knows, sorted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celadon.serve.http_messages import JSON, HttpAnswer
from celadon.serve.publication.published_apis import PublishedApis
from celadon.serve.publication.server_pages.health import HealthCheck

ALWAYS: Final = (
    "/api",
    "/apis",
    "/apis/",
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/version",
)


def root_answer(paths: Sequence[str]) -> HttpAnswer:
    """The list as an answer."""
    return HttpAnswer(200, JSON, json.dumps({"paths": list(paths)}, indent=2).encode())


def root_paths(
    apis: PublishedApis, health: Mapping[str, Sequence[HealthCheck]], others: Iterable[str]
) -> list[str]:
    """`health` has the checks below each of `healthz`, `livez` and `readyz`; `others` are what only
    some servers have."""
    return sorted({*ALWAYS, *others, *_api_paths(apis), *_health_paths(health)})


def _api_paths(apis: PublishedApis) -> Iterable[str]:
    yield from (f"/apis/{group.name}" for group in apis.groups)
    yield from (f"/{version.path}" for version in apis.versions)


def _health_paths(health: Mapping[str, Sequence[HealthCheck]]) -> Iterable[str]:
    for root, checks in health.items():
        yield f"/{root}"
        yield from (f"/{root}/{check.name}" for check in checks)
