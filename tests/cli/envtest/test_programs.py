"""The programs of a folder, started as test servers start them."""

from __future__ import annotations

import datetime
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.apiserver.self_signed import Pair, authority_certificate, server_certificate
from celadon.cli.envtest import etcd_program, kubectl_program
from celadon.cli.envtest.asset_folders import AssetVersion, make_folder

DAY = datetime.timedelta(days=1)
SECONDS = 60.0


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("assets"), AssetVersion(1, 33, 0))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(*command: str | Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(probe: Callable[[], int], process: subprocess.Popen[str]) -> None:
    """As test servers do: until the answer is 200."""
    last = time.monotonic() + SECONDS
    while time.monotonic() < last and process.poll() is None:
        try:
            if probe() == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1] if process.poll() is not None else "not ready")


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code after SIGTERM, and what was complained of."""
    process.send_signal(signal.SIGTERM)
    _, complaints = process.communicate(timeout=SECONDS)
    return process.returncode, complaints


class Plane:
    """Certificates as controller-runtime makes them, and a server with them."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        now = datetime.datetime.now(datetime.UTC)
        self._authority = self._pair("client-ca", now)
        serving, key = self._pair("serving-ca", now), new_elliptic_key()
        names = ["127.0.0.1", "localhost"]
        certificate = server_certificate(serving, key, "apiserver", names, now, DAY)
        accounts = self._pair("sa", now)
        for name, content in (
            ("apiserver.crt", certificate),
            ("apiserver.key", key),
            ("sa-signer.crt", accounts.certificate),
            ("sa-signer.key", accounts.key),
            ("client-cert-auth-ca.crt", self._authority.certificate),
            ("serving-ca.crt", serving.certificate),
        ):
            (folder / name).write_bytes(content)

    @staticmethod
    def _pair(name: str, now: datetime.datetime) -> Pair:
        key = new_elliptic_key()
        return Pair(authority_certificate(key, name, now, DAY), key)

    def flags(self, etcd: int) -> list[str]:
        return [
            "--allow-privileged=true",
            "--authorization-mode=RBAC",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder}",
            f"--client-ca-file={self.folder / 'client-cert-auth-ca.crt'}",
            "--disable-admission-plugins=ServiceAccount",
            f"--etcd-servers=http://127.0.0.1:{etcd}",
            f"--secure-port={self.port}",
            f"--service-account-issuer=https://127.0.0.1:{self.port}/",
            f"--service-account-key-file={self.folder / 'sa-signer.crt'}",
            f"--service-account-signing-key-file={self.folder / 'sa-signer.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
        ]

    def probe(self, path: str = "/readyz") -> int:
        """Without a certificate, and trusting anybody."""
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        return self._call("GET", path, None, tls)[0]

    def user(self, name: str, group: str) -> ssl.SSLContext:
        """A client that trusts the server and shows a certificate."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.x509.oid import NameOID

        now = datetime.datetime.now(datetime.UTC)
        authority = x509.load_pem_x509_certificate(self._authority.certificate)
        signer: Any = serialization.load_pem_private_key(self._authority.key, None)
        key = new_elliptic_key()
        private: Any = serialization.load_pem_private_key(key, None)
        who = [
            x509.NameAttribute(NameOID.COMMON_NAME, name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, group),
        ]
        certificate = (
            x509.CertificateBuilder(authority.subject, x509.Name(who), private.public_key(), 7)
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .sign(signer, hashes.SHA256())
        )
        pair = self.folder / f"{name}.pem"
        pair.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + key)
        tls = ssl.create_default_context(cafile=self.folder / "serving-ca.crt")
        tls.load_cert_chain(pair)
        return tls

    def call(self, method: str, path: str, body: Any, tls: ssl.SSLContext) -> tuple[int, Any]:
        code, text = self._call(method, path, body, tls)
        return code, json.loads(text)

    def _call(self, method: str, path: str, body: Any, tls: ssl.SSLContext) -> tuple[int, str]:
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=tls)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


def get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.thorough
def test_a_control_plane_as_controller_runtime_starts_it(assets: Path, tmp_path: Path) -> None:
    etcd, plane = free_port(), Plane(tmp_path, free_port())
    url = f"http://127.0.0.1:{etcd}"
    with (
        running(
            assets / "etcd",
            f"--advertise-client-urls={url}",
            f"--data-dir={tmp_path}",
            f"--listen-client-urls={url}",
            f"--listen-peer-urls=http://127.0.0.1:{free_port()}",
            "--unsafe-no-fsync=true",
        ) as store,
        running(assets / "kube-apiserver", *plane.flags(etcd)) as server,
    ):
        wait_for(lambda: get(etcd, "/health")[0], store)
        wait_for(plane.probe, server)
        admin = plane.user("default", "system:masters")
        assert plane.call("GET", "/version", None, admin)[1]["gitVersion"] == "v1.33.13"
        namespaces = "/api/v1/namespaces"
        space = {"metadata": {"name": "ns"}}
        assert plane.call("POST", namespaces, space, admin)[0] == 201
        assert plane.call("GET", f"{namespaces}/ns/secrets", None, plane.user("a", "b"))[0] == 403
        # No controllers: no account appears by itself, and the namespace does not go.
        accounts = f"{namespaces}/ns/serviceaccounts"
        assert plane.call("GET", accounts, None, admin)[1]["items"] == []
        assert plane.call("POST", accounts, {"metadata": {"name": "me"}}, admin)[0] == 201
        code, token = plane.call("POST", f"{accounts}/me/token", {"spec": {}}, admin)
        assert code == 201
        claims = token["status"]["token"].split(".")[1]
        assert f"https://127.0.0.1:{plane.port}/" in _decoded(claims)["iss"]
        assert plane.call("DELETE", f"{namespaces}/ns", None, admin)[0] == 200
        left = plane.call("GET", f"{namespaces}/ns", None, admin)[1]
        assert left["status"]["phase"] == "Terminating"
        code, complaints = ended(server)
        assert code == 0
        assert "ignored" not in complaints
        assert ended(store) == (0, "")


def _decoded(part: str) -> Any:
    import base64

    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_help_of_the_server_loads_no_server(assets: Path) -> None:
    command = [sys.executable, "-X", "importtime", str(assets / "kube-apiserver"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--etcd-servers" in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not loaded & {"argparse", "asyncio", "celadon.cli.main", "celadon.kube"}


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (["--version"], 0, "Kubernetes v1.33.13\n", ""),
        (["--oidc-issuer-url=x"], 1, "", "there is no OpenID Connect"),
        (["what"], 1, "", '"kube-apiserver" does not take any arguments, got ["what"]'),
        (["--event-ttl=x"], 1, "", 'for "--event-ttl" flag: time: invalid duration "x"'),
        (["--secure-port=0", "--token-auth-file=/no", "--odd"], 1, "", "`--odd` that is known"),
    ],
)
def test_what_ends_at_once(assets: Path, words: list[str], code: int, out: str, err: str) -> None:
    command = [str(assets / "kube-apiserver"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, out)
    assert err in done.stderr


def test_etcd_says_that_it_is_healthy(assets: Path, tmp_path: Path) -> None:
    port = free_port()
    flags = ["-data-dir", str(tmp_path), "--listen-client-urls", f"http://0.0.0.0:{port}", "--odd"]
    with running(assets / "etcd", *flags) as store:
        wait_for(lambda: get(port, "/health")[0], store)
        assert json.loads(get(port, "/health")[1])["health"] == "true"
        assert "etcdserver" in json.loads(get(port, "/version")[1])
        assert get(port, "/v3/kv/range")[0] == 404
        again = subprocess.run(
            [assets / "etcd", *flags], capture_output=True, text=True, check=False
        )
        assert again.returncode == 1
        assert "cannot listen at" in again.stderr
        code, complaints = ended(store)
        assert code == 0
        assert complaints == "warning: etcd has no flag `--odd` that is known here: ignored\n"


@pytest.mark.parametrize(
    "flag",
    [
        "auto-tls",
        "discovery-endpoints",
        "experimental-corrupt-check-time",
        "experimental-warning-unary-request-duration",
        "feature-gates",
        "proxy-dial-timeout",
        "watch-progress-notify-interval",
    ],
)
def test_flags_of_etcd_that_one_release_has(flag: str) -> None:
    assert flag in etcd_program.FLAGS


def test_etcd_answers_several_requests_of_one_connection() -> None:
    here, there = socket.socketpair()
    with here, there:
        requests = {there: b""}
        here.sendall(b"GET /health HTTP/1.1\r\n\r\nHEAD /health HTTP/1.1\r\n\r\nGET /x")
        assert etcd_program.go_on(there, requests)
        assert requests[there] == b"GET /x"
        assert here.recv(4096).count(b"200 OK") == 2
        here.sendall(b" HTTP/1.1\r\n\r\n")
        assert etcd_program.go_on(there, requests)
        assert b"404" in here.recv(4096)
        here.sendall(b"PRI * HTTP/2.0\r\n\r\n")
        assert not etcd_program.go_on(there, requests)


def test_etcd_has_no_tls() -> None:
    with pytest.raises(ValueError, match="has no TLS"):
        etcd_program.listen("https://127.0.0.1:1")


def test_kubectl_is_the_one_that_is_installed(assets: Path, tmp_path: Path) -> None:
    real = tmp_path / "kubectl"
    real.write_text('#!/bin/sh\necho "real $*"\n')
    real.chmod(0o755)
    places = os.pathsep.join([str(assets), str(tmp_path)])
    assert kubectl_program.installed_kubectl(places) == str(real)
    assert kubectl_program.installed_kubectl(str(assets)) == ""
    done = subprocess.run(
        [assets / "kubectl", "get", "pods"],
        env={"PATH": places},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "real get pods\n"


def test_without_kubectl_the_stand_in_says_so(assets: Path) -> None:
    done = subprocess.run(
        [assets / "kubectl", "apply", "-f", "x"],
        env={"PATH": str(assets)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "kubectl is not installed" in done.stderr


@pytest.mark.thorough
def test_a_control_plane_as_fabric8_starts_it(assets: Path, tmp_path: Path) -> None:
    """One certificate that signed itself is the server's, another one the client's; the server is
    ready when `kubectl get ns default` succeeds; and it is killed."""
    subject = {"apiserver": "/CN=example.org", "client": "/O=system:masters/CN=kubeapitest"}
    for name, who in subject.items():
        _self_signed(tmp_path, name, who)
    port = free_port()
    flags: list[str | Path] = [
        *("--cert-dir", tmp_path, "--secure-port", str(port)),
        *("--etcd-servers", "http://0.0.0.0:1", "--authorization-mode", "RBAC"),
        *("--service-account-issuer", "https://localhost"),
        *("--service-account-signing-key-file", tmp_path / "apiserver.key"),
        *("--service-account-key-file", tmp_path / "apiserver.key"),
        *("--service-account-issuer", tmp_path / "apiserver.crt"),
        *("--disable-admission-plugins", "ServiceAccount"),
        *("--client-ca-file", tmp_path / "client.crt"),
        *("--service-cluster-ip-range", "10.0.0.0/24", "--allow-privileged"),
    ]
    command = [
        str(assets / "kubectl"),
        f"--client-certificate={tmp_path / 'client.crt'}",
        f"--client-key={tmp_path / 'client.key'}",
        f"--certificate-authority={tmp_path / 'apiserver.crt'}",
        f"--server=https://127.0.0.1:{port}",
        "--request-timeout=5s",
        *("get", "ns", "default"),
    ]

    def probe() -> int:
        done = subprocess.run(
            command, env={"PATH": ""}, capture_output=True, text=True, check=False
        )
        return 200 if done.returncode == 0 else 0

    with running(assets / "kube-apiserver", *flags) as server:
        wait_for(probe, server)


def _self_signed(folder: Path, name: str, subject: str) -> None:
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.x509.oid import NameOID

    oids = {"CN": NameOID.COMMON_NAME, "O": NameOID.ORGANIZATION_NAME}
    pairs = [one.split("=") for one in subject.strip("/").split("/")]
    who = x509.Name([x509.NameAttribute(oids[key], value) for key, value in pairs])
    now = datetime.datetime.now(datetime.UTC)
    key = rsa.generate_private_key(65537, 2048)
    builder = (
        x509.CertificateBuilder(who, who, key.public_key(), 1)
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )
    if name == "apiserver":
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        builder = builder.add_extension(names, critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
