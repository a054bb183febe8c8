"""An API server for tests, in the process of the test: no cluster, no container, no waiting.

    with KubeApi(["policies/"]) as api:
        client = api.admin.kubernetes_client()

Read `kube_api` (the server, and what a test may ask of it), then `client_access` (the set-ups of
client libraries) and `fresh_server` (why the second server of a process is there at once). The
fixture for pytest is in `celadon.pytest_plugin`. Needs the packages of `celadon[serve]`.

`policy_cases` needs no server: it runs cases of policies, as `celadon test` does.

Nothing in Celadon imports this room: it is for the tests of others.
"""

from celadon.serve import HttpAnswer, HttpRequest
from celadon.testing.client_access import ClientAccess
from celadon.testing.fresh_server import ServerOptions
from celadon.testing.given_manifests import Manifest, ManifestError
from celadon.testing.handler_access import HandlerAccess, RequestRefused
from celadon.testing.kube_api import KubeApi
from celadon.testing.policy_cases import CaseFailed, PolicyCases

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
