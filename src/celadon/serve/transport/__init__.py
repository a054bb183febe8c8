"""The server on the network: HTTP, TLS, credentials, a process with a beginning and an end.

Needs the packages of `celadon[serve]`. Read first `server_process` (how it all comes together),
then `http_server` and `http_connection` (between HTTP and the handler).
"""

from celadon.admission.plugins import PluginSettings
from celadon.serve.audit.audit_log import Rotation
from celadon.serve.calling.given_services import given_services
from celadon.serve.controllers.controller_names import controllers_named
from celadon.serve.operation.admission_file import read_admission_file
from celadon.serve.operation.feature_gates import feature_gates
from celadon.serve.operation.log_lines import LogLines
from celadon.serve.operation.log_lines import level_of as log_level
from celadon.serve.operation.request_limits import RequestLimits
from celadon.serve.operation.runtime_config import runtime_config
from celadon.serve.transport.connection_limits import ConnectionLimits
from celadon.serve.transport.generated_credentials import CredentialsFolder
from celadon.serve.transport.http_server import HttpServer
from celadon.serve.transport.kubeconfig import kubeconfig
from celadon.serve.transport.process_setup import (
    allow_many_connections,
    open_listener,
    settle_memory,
)
from celadon.serve.transport.server_process import Serving, run
from celadon.serve.transport.server_settings import (
    MEMORY,
    Address,
    ServerSettings,
    StartError,
    TlsSettings,
    parse_address,
)
from celadon.serve.transport.starting_objects import collection_path, in_creation_order
from celadon.serve.transport.tls_context import ServerTls, server_tls, trust_clients

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
