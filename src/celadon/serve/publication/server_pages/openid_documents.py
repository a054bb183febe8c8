"""`/.well-known/openid-configuration` and `/openid/v1/jwks`: with what key the tokens of service
accounts are signed, for others who shall trust them.

As k8s.io/kubernetes `pkg/serviceaccount/openidmetadata.go` and `pkg/routes/openidmetadata.go`. An
issuer that is no `https` URL without query and fragment has no such documents.
"""

from __future__ import annotations

import json
import urllib.parse
from typing import Final

from celadon.kube import status
from celadon.records import dataclass
from celadon.serve.access.credentials.signer_on_demand import SignerOnDemand
from celadon.serve.http_messages import JSON, HttpAnswer, HttpRequest
from celadon.serve.requests.negotiation import require_route

CONFIGURATION: Final = "/.well-known/openid-configuration"
KEYS: Final = "/openid/v1/jwks"
KEY_SET: Final = "application/jwk-set+json"
_CACHED: Final = (("Cache-Control", "public, max-age=3600"),)


@dataclass(frozen=True, slots=True)
class OpenId:
    """Of a server at `address`, host and port."""

    issuer: str
    address: str
    signer: SignerOnDemand

    @property
    def paths(self) -> tuple[str, ...]:
        """Those that are there."""
        return (CONFIGURATION, KEYS) if _is_discoverable(self.issuer) else ()

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """None for paths of somebody else. Raises StatusError: 404 for what is below one of the
        two, 405, 406."""
        path = request.path.rstrip("/")
        root = next((one for one in self.paths if f"{path}/".startswith(f"{one}/")), None)
        if root is None:
            return None
        if path != root:
            raise status.route_not_found()
        if request.method != "GET":
            raise status.method_not_allowed()
        media_type = JSON if root == CONFIGURATION else KEY_SET
        require_route(request, (media_type,))
        key = self.signer.signer().web_key()
        document = self._configuration(key["alg"]) if root == CONFIGURATION else {"keys": [key]}
        body = json.dumps(document, separators=(",", ":")).encode()
        return HttpAnswer(200, media_type, body, _CACHED)

    def _configuration(self, algorithm: str) -> dict[str, object]:
        return {
            "issuer": self.issuer,
            "jwks_uri": f"https://{self.address}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [algorithm],
        }


def _is_discoverable(issuer: str) -> bool:
    url = urllib.parse.urlsplit(issuer)
    return url.scheme == "https" and not url.query and not url.fragment
