"""The server on the network: HTTP, TLS, credentials, a process with a beginning and an end.

Needs the packages of `celadon[serve]`. Read first `server_process` (how it all comes together),
then `http_server` and `http_connection` (between HTTP and the handler).
"""

from celadon.admission.plugins import PluginSettings
from celadon.apiserver.audit import Rotation
from celadon.apiserver.controllers.controller_loops import controllers_named
from celadon.apiserver.http.http_connection import ConnectionLimits
from celadon.apiserver.http.http_server import HttpServer
from celadon.apiserver.http.server_process import (
    Serving,
    allow_many_connections,
    collection_path,
    in_creation_order,
    open_listener,
    run,
    settle_memory,
)
from celadon.apiserver.http.server_settings import (
    MEMORY,
    Address,
    CredentialsFolder,
    ServerSettings,
    ServerTls,
    StartError,
    TlsSettings,
    kubeconfig,
    parse_address,
    server_tls,
    trust_clients,
)
from celadon.apiserver.operation.log_lines import LogLines
from celadon.apiserver.operation.log_lines import level_of as log_level
from celadon.apiserver.operation.request_limits import RequestLimits
from celadon.apiserver.operation.runtime_config import (
    feature_gates,
    read_admission_file,
    runtime_config,
)
from celadon.apiserver.webhook_routes import given_services

__all__ = [
    "MEMORY",
    "Address",
    "ConnectionLimits",
    "CredentialsFolder",
    "HttpServer",
    "LogLines",
    "PluginSettings",
    "RequestLimits",
    "Rotation",
    "ServerSettings",
    "ServerTls",
    "Serving",
    "StartError",
    "TlsSettings",
    "allow_many_connections",
    "collection_path",
    "controllers_named",
    "feature_gates",
    "given_services",
    "in_creation_order",
    "kubeconfig",
    "log_level",
    "open_listener",
    "parse_address",
    "read_admission_file",
    "run",
    "runtime_config",
    "server_tls",
    "settle_memory",
    "trust_clients",
]
