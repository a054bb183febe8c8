"""Everything that listens or calls out: the API server, and what puts it on the network.

At its core there are no sockets and no threads: `http_messages` has requests and answers as values,
and one handler turns the first into the second. Read `http_messages`, then `rest` (what a request
means and how its answer is written). Needs the packages of `celadon[serve]`.
"""

from celadon.serve.access.credentials.signer_on_demand import SignerOnDemand
from celadon.serve.access.credentials.token_file import TokenFile
from celadon.serve.access.identities import ADMINISTRATOR
from celadon.serve.api_settings import AccessSettings, Settings
from celadon.serve.apiserver import ApiServer
from celadon.serve.http_messages import (
    JSON,
    Handler,
    HttpAnswer,
    HttpRequest,
    PromptHandler,
    plain_text,
)

__all__ = [
    "ADMINISTRATOR",
    "JSON",
    "AccessSettings",
    "ApiServer",
    "Handler",
    "HttpAnswer",
    "HttpRequest",
    "PromptHandler",
    "Settings",
    "SignerOnDemand",
    "TokenFile",
    "plain_text",
]
