"""An API server for tests, in the process of the test: no cluster, no container, no waiting.

    with KubeApi(["policies/"]) as api:
        client = api.admin.kubernetes_client()

Read `kube_api` (the server, what a test may ask of it, the set-ups of client libraries). The
fixture for pytest is in `celadon.pytest_plugin`. Needs the packages of `celadon[serve]`.

`policy_cases` needs neither them nor a server: it runs cases of policies, as `celadon test` does.
So the server is loaded when one of its names is asked for.

Nothing in Celadon imports this room: it is for the tests of others.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from celadon.testing.policy_cases import CaseFailed, Manifest, ManifestError, PolicyCases

if TYPE_CHECKING:
    from celadon.apiserver import HttpAnswer, HttpRequest
    from celadon.testing.handler_access import HandlerAccess, RequestRefused, ServerOptions
    from celadon.testing.kube_api import ClientAccess, KubeApi

__all__ = [
    "CaseFailed",
    "ClientAccess",
    "HandlerAccess",
    "HttpAnswer",
    "HttpRequest",
    "KubeApi",
    "Manifest",
    "ManifestError",
    "PolicyCases",
    "RequestRefused",
    "ServerOptions",
]

_OF_SERVERS = {
    "ClientAccess": "celadon.testing.kube_api",
    "HandlerAccess": "celadon.testing.handler_access",
    "HttpAnswer": "celadon.apiserver",
    "HttpRequest": "celadon.apiserver",
    "KubeApi": "celadon.testing.kube_api",
    "RequestRefused": "celadon.testing.handler_access",
    "ServerOptions": "celadon.testing.handler_access",
}
"""Names that are about servers, and the modules they come from."""

if not TYPE_CHECKING:  # type checkers would take any name for one of ours

    def __getattr__(name: str) -> object:
        """Return what is about servers and has this name. Raises ModuleNotFoundError that says what
        to install."""
        if name not in _OF_SERVERS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            return getattr(_import_module(_OF_SERVERS[name]), name)
        except ModuleNotFoundError as missing:
            if (missing.name or "celadon").startswith("celadon"):
                raise
            message = f"`{missing.name}` is not installed: pip install 'celadon[serve]'"
            raise ModuleNotFoundError(message, name=missing.name) from None
