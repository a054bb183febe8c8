"""An extension API server on loopback, as small as one can be: it checks the certificate of the
front proxy, believes its headers, and serves widgets and what discovery asks for."""

from __future__ import annotations

import base64
import datetime
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.servers import LOOKS_AGAIN

GROUP: Final = "metrics.k8s.io"
VERSION: Final = "v1beta1"
ROOT: Final = f"/apis/{GROUP}/{VERSION}"
SERVICE: Final = "metrics-server"
NAMESPACE: Final = "kube-system"

_NOW: Final = datetime.datetime.now(datetime.UTC)
_DAY: Final = datetime.timedelta(days=1)

NODE_METRICS: Final = {
    "kind": "NodeMetricsList",
    "apiVersion": f"{GROUP}/{VERSION}",
    "metadata": {},
    "items": [
        {
            "metadata": {"name": "one", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "timestamp": "2026-01-01T00:00:00Z",
            "window": "10s",
            "usage": {"cpu": "250m", "memory": "512Mi"},
        }
    ],
}
RESOURCES: Final = [
    {
        "name": "nodes",
        "singularName": "",
        "namespaced": False,
        "kind": "NodeMetrics",
        "verbs": ["get", "list"],
    },
    {
        "name": "pods",
        "singularName": "",
        "namespaced": True,
        "kind": "PodMetrics",
        "verbs": ["get", "list"],
    },
]
SWAGGER: Any = {
    "swagger": "2.0",
    "paths": {
        f"{ROOT}/nodes": {"get": {"schema": {"$ref": "#/definitions/metrics.Node"}}},
        "/apis/others/v1/things": {"get": {"schema": {"$ref": "#/definitions/others.Thing"}}},
    },
    "definitions": {"metrics.Node": {"type": "object"}, "others.Thing": {"type": "object"}},
}
AGGREGATED: Final = {
    "kind": "APIGroupDiscoveryList",
    "apiVersion": "apidiscovery.k8s.io/v2",
    "metadata": {},
    "items": [
        {
            "metadata": {"name": GROUP},
            "versions": [
                {
                    "version": VERSION,
                    "resources": [
                        {
                            "resource": one["name"],
                            "responseKind": {"group": "", "version": "", "kind": one["kind"]},
                            "scope": "Namespaced" if one["namespaced"] else "Cluster",
                            "singularResource": "",
                            "verbs": one["verbs"],
                        }
                        for one in RESOURCES
                    ],
                    "freshness": "Current",
                }
            ],
        }
    ],
}


class Certificates:
    """An authority, the extension server's certificate, and those of front proxies."""

    def __init__(self, folder: Path, name: str = "front-proxy-ca") -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.authority = folder / "ca.crt"
        self.authority.write_bytes(self._signed(self._name, self._key, is_authority=True))

    @property
    def bundle(self) -> str:
        """As in an APIService."""
        return base64.b64encode(self.authority.read_bytes()).decode()

    def pair(self, common_name: str, *names: str) -> tuple[Path, Path]:
        """Files with a certificate and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
        certificate, secret = (self.folder / f"{common_name}.{end}" for end in ("crt", "key"))
        certificate.write_bytes(self._signed(name, key, names))
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        secret.chmod(0o600)
        return certificate, secret

    def _signed(
        self,
        name: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        names: tuple[str, ...] = (),
        *,
        is_authority: bool = False,
    ) -> bytes:
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_NOW - _DAY)
            .not_valid_after(_NOW + _DAY)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if names:
            alternatives = x509.SubjectAlternativeName([x509.DNSName(one) for one in names])
            builder = builder.add_extension(alternatives, critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        return signed.public_bytes(serialization.Encoding.PEM)


class ExtensionServer:
    """`requests` are those that came: method, path, headers with their names in lower case, the
    body, and the common name of the certificate that was shown. `answers` overrides what a path is
    answered with; `held` are paths that are answered when `go_on` is set, and `events` what a watch
    tells, each when it is."""

    def __init__(self, certificates: Certificates) -> None:
        self.requests: list[tuple[str, str, Mapping[str, list[str]], bytes, str]] = []
        self.answers: dict[str, tuple[int, Mapping[str, str], bytes]] = {}
        self.held: set[str] = set()
        self.go_on = threading.Event()
        self.has_ended = threading.Event()
        self.aggregates = True
        self.echoed = 0
        """Bytes that came on connections which are no HTTP any more."""
        self.cut_off = 0
        """Bytes of a long answer that come."""
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.port: int = self._http.server_address[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        name = f"{SERVICE}.{NAMESPACE}.svc"
        context.load_cert_chain(*certificates.pair("extension", name))
        context.load_verify_locations(certificates.authority)
        context.verify_mode = ssl.CERT_OPTIONAL
        self._http.socket = context.wrap_socket(
            self._http.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(LOOKS_AGAIN,), daemon=True
        )

    def asked(self, path: str) -> list[tuple[str, str, Mapping[str, list[str]], bytes, str]]:
        """The requests for a path, with or without a query."""
        return [one for one in self.requests if one[1].partition("?")[0] == path]

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self.go_on.set()
        self._http.shutdown()
        self._http.server_close()


@contextmanager
def extension_server(certificates: Certificates) -> Iterator[ExtensionServer]:
    server = ExtensionServer(certificates)
    server.begin()
    try:
        yield server
    finally:
        server.end()


def service(port: int) -> dict[str, Any]:
    """A Service that leads to a port of this machine."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {
            "type": "ExternalName",
            "externalName": "localhost",
            "ports": [{"port": port, "protocol": "TCP"}],
        },
    }


def api_service(port: int, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{VERSION}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "version": VERSION,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": SERVICE, "namespace": NAMESPACE, "port": port},
            **spec,
        },
    }


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Front proxies go when they have seen enough."""


def _handler(server: ExtensionServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            headers: dict[str, list[str]] = {}
            for name, value in self.headers.items():
                headers.setdefault(name.lower(), []).append(value)
            shown = dict(one[0] for one in (self.connection.getpeercert() or {}).get("subject", ()))
            common_name = str(shown.get("commonName", ""))
            server.requests.append((self.command, self.path, headers, body, common_name))
            path = self.path.partition("?")[0]
            if path in server.held:
                server.go_on.wait(60)
            if "upgrade" in headers and path not in server.answers:
                self._echo()
                return
            if path in server.answers:
                code, more, content = server.answers[path]
                self._write(code, content, more)
            elif not common_name:
                self._status(401, "Unauthorized")
            elif "watch=true" in self.path:
                self._watch()
            else:
                self._document(path)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer

        def _document(self, path: str) -> None:
            accept = self.headers.get("Accept", "")
            if path == "/apis" and server.aggregates and "as=APIGroupDiscoveryList" in accept:
                kind = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
                self._write(200, json.dumps(AGGREGATED).encode(), {"Content-Type": kind})
            elif path == "/openapi/v3":
                url = f"/openapi/v3{ROOT}?hash=ABC"
                self._json({"paths": {ROOT.strip("/"): {"serverRelativeURL": url}}})
            elif path == f"/openapi/v3{ROOT}":
                self._json({"openapi": "3.0.0", "paths": {f"{ROOT}/nodes": {}}})
            elif path == "/openapi/v2":
                self._json(SWAGGER)
            elif path == ROOT:
                found = {"groupVersion": f"{GROUP}/{VERSION}", "resources": RESOURCES}
                self._json({"kind": "APIResourceList", "apiVersion": "v1", **found})
            elif path == f"{ROOT}/cut":
                self.send_response(200)
                self.send_header("Content-Length", str(2 * server.cut_off))
                self.end_headers()
                self.wfile.write(b"x" * server.cut_off)
                self.close_connection = True
            elif path == f"{ROOT}/nodes" and self.command == "GET":
                self._json(NODE_METRICS)
            elif self.command != "GET":
                self._json({"kind": "Status", "apiVersion": "v1", "metadata": {}})
            else:
                self._status(404, "the server could not find the requested resource")

        def _echo(self) -> None:
            """Greets, then says everything again in capitals, until there is no more."""
            head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n"
            self.wfile.write(f"{head}X-Own: 1\r\n\r\nhello".encode())
            self.close_connection = True
            while data := self.connection.recv(1 << 14):
                self.connection.sendall(data.upper())
                server.echoed += len(data)
                if data.endswith(b"bye"):
                    break
            server.has_ended.set()

        def _watch(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for name in ("one", "two"):
                    event = json.dumps({"type": "ADDED", "object": {"metadata": {"name": name}}})
                    self.wfile.write(f"{len(event) + 1:x}\r\n{event}\n\r\n".encode())
                    self.wfile.flush()
                    server.go_on.wait(60)
                self.wfile.write(b"0\r\n\r\n")
            finally:
                server.has_ended.set()

        def _status(self, code: int, message: str) -> None:
            self._json({"kind": "Status", "status": "Failure", "message": message}, code)

        def _json(self, document: Mapping[str, Any], code: int = 200) -> None:
            content = json.dumps(document).encode()
            self._write(code, content, {"Content-Type": "application/json"})

        def _write(self, code: int, content: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            if code not in (204, 304):
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler
