"""`/`: the paths that a server knows, sorted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celadon.serve.http_messages import JSON, HttpAnswer
from celadon.serve.publication.health import HealthCheck
from celadon.serve.publication.published_apis import PublishedApis

ALWAYS: Final = (
    "/.well-known/openid-configuration",
    "/api",
    "/apis",
    "/apis/",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    "/version",
)


def root_answer(apis: PublishedApis, health: Mapping[str, Sequence[HealthCheck]]) -> HttpAnswer:
    """`health` has the checks below each of `healthz`, `livez` and `readyz`."""
    paths = sorted({*ALWAYS, *_api_paths(apis), *_health_paths(health)})
    return HttpAnswer(200, JSON, json.dumps({"paths": paths}, indent=2).encode())


def _api_paths(apis: PublishedApis) -> Iterable[str]:
    yield from (f"/apis/{group.name}" for group in apis.groups)
    yield from (f"/{version.path}" for version in apis.versions)


def _health_paths(health: Mapping[str, Sequence[HealthCheck]]) -> Iterable[str]:
    for root, checks in health.items():
        yield f"/{root}"
        yield from (f"/{root}/{check.name}" for check in checks)
