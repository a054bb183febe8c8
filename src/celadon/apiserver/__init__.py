"""The API server, and all that listens on a network or calls out.

At its core there are no sockets and no threads: `http_messages` has requests and answers as values,
and one handler turns the first into the second. Read `http_messages`, then `handlers` (what a
request means and how its answer is written). Needs the packages of `celadon[serve]`.
"""

from celadon.apiserver.aggregation.api_services import ProxySettings
from celadon.apiserver.api_settings import AccessSettings, Settings, SimulationSettings
from celadon.apiserver.assembly import ApiServer
from celadon.apiserver.authn.authentication import TokenFile
from celadon.apiserver.authn.identities import ADMINISTRATOR
from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.forks import Elsewhere, ForkFailed, ForkMessage, Parent, Template
from celadon.apiserver.http_messages import (
    JSON,
    Handler,
    HttpAnswer,
    HttpRequest,
    PromptHandler,
    plain_text,
)
from celadon.apiserver.loop_offloading import FORKED_BYTES
from celadon.apiserver.server_core import Sources
from celadon.apiserver.workers import TooMuchWork, Workers, soon_on

__all__ = [
    "ADMINISTRATOR",
    "FORKED_BYTES",
    "JSON",
    "AccessSettings",
    "ApiServer",
    "Elsewhere",
    "ForkFailed",
    "ForkMessage",
    "Handler",
    "HttpAnswer",
    "HttpRequest",
    "Parent",
    "PromptHandler",
    "ProxySettings",
    "Settings",
    "SignerOnDemand",
    "SimulationSettings",
    "Sources",
    "Template",
    "TokenFile",
    "TooMuchWork",
    "Workers",
    "plain_text",
    "soon_on",
]
