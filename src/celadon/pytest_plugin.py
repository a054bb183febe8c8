"""The fixtures `kube_api` and `new_kube_api`, for tests of anything that talks to Kubernetes.

    def test_with_a_client(kube_api):
        api = client.CoreV1Api(kube_api.admin.kubernetes_client())

    @pytest.mark.kube_api(manifests=["policies/", {"apiVersion": "v1", ...}], version="1.34")
    def test_of_a_policy(kube_api): ...

A server is a test's own unless `--kube-api-scope` (or `kube_api_scope` in the configuration) says
that a class, a module, a package or the session shares one. What is named in `kube_api_manifests`
of the configuration is in every server.

pytest loads this module whenever Celadon is installed, so it loads the server only for those who
ask for one; that is why it is not in the room `celadon.testing`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from celadon.testing import KubeApi, Manifest

MARKER: Final = "kube_api"
SCOPES: Final = ("function", "class", "module", "package", "session")
SCOPE_HELP: Final = "who shares the server of the fixture `kube_api` (default: function)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--kube-api-scope` and its like in the configuration."""
    group = parser.getgroup("celadon", "Kubernetes API servers by Celadon")
    group.addoption("--kube-api-scope", choices=SCOPES, help=SCOPE_HELP)
    parser.addini("kube_api_scope", SCOPE_HELP, default="function")
    parser.addini("kube_api_manifests", "files and folders for every `kube_api`", type="paths")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and refuse a scope that is none."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(manifests=[], version='1.36', all_versions=False, tls=True, controllers=True): "
        "what the server of the fixture `kube_api` has, and how it differs from a usual one; "
        "files are relative to that of the test",
    )
    _scope("kube_api", config)


def _scope(fixture_name: str, config: pytest.Config) -> Any:  # noqa: ANN401 - as pytest has it
    scope = config.getoption("--kube-api-scope") or config.getini("kube_api_scope")
    if scope not in SCOPES:
        raise pytest.UsageError(f"kube_api_scope: `{scope}` is none of {', '.join(SCOPES)}")
    return scope


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A mark on a test cannot change a server that is shared with others."""
    scope = _scope("kube_api", config)
    for item in items:
        if scope != "function" and any(mark.name == MARKER for mark in item.own_markers):
            raise pytest.UsageError(
                f"{item.nodeid}: the marker `{MARKER}` on a test needs the scope `function`, "
                f"and `kube_api_scope` is `{scope}`"
            )


@pytest.fixture(scope=_scope)
def new_kube_api(request: pytest.FixtureRequest) -> Iterator[Callable[..., KubeApi]]:
    """Makes servers: `new_kube_api(*manifests, version="1.34")`, with the options of the marker.
    They end when the test ends."""
    with ExitStack() as servers:

        def make(*manifests: Manifest, **options: Any) -> KubeApi:  # noqa: ANN401 - those of KubeApi
            from celadon.testing import KubeApi, ServerOptions

            given = (*request.config.getini("kube_api_manifests"), *manifests)
            return servers.enter_context(KubeApi(given, ServerOptions(**options)))

        yield make


@pytest.fixture(scope=_scope)
def kube_api(request: pytest.FixtureRequest, new_kube_api: Callable[..., KubeApi]) -> KubeApi:
    """A Kubernetes API server: `celadon.testing.KubeApi`."""
    manifests: list[Manifest] = []
    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers(MARKER))):
        given = dict(mark.kwargs)
        manifests += (_beside(request, one) for one in given.pop("manifests", ()))
        options |= given
    return new_kube_api(*manifests, **options)


def _beside(request: pytest.FixtureRequest, manifest: Manifest) -> Manifest:
    if isinstance(manifest, str | os.PathLike):
        return request.path.parent / manifest
    return manifest
