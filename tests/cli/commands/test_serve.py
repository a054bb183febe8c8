"""`celadon serve` as a process, with real sockets, certificates and signals."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apiserver.served_process import (
    CONFIGMAPS,
    WHOAMI,
    Served,
    command,
    config_map,
    request_headers,
)
from tests.cli.files import run


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text('alice-token,alice,alice-uid,"devs"\n')
    server = Served(
        tmp_path,
        *("--token-auth-file", str(tokens)),
        *("--data", str(tmp_path / "data.db")),
        *("--audit-log", str(tmp_path / "audit")),
    )
    yield server
    if server.process.poll() is None:
        server.end()


@pytest.mark.thorough
def test_a_server_from_its_start_to_its_end(served: Served) -> None:
    assert served.lines[0].rstrip().endswith(f"at https://{served.address}")
    assert served.call("POST", CONFIGMAPS, config_map("a"))[0] == 201
    assert served.call("GET", f"{CONFIGMAPS}/a", token="alice-token")[0] == 403
    assert served.call("GET", f"{CONFIGMAPS}/a", token="nobody")[0] == 401
    too_large = config_map("b") | {"data": {"x": "x" * (4 << 20)}}
    assert served.call("POST", CONFIGMAPS, too_large)[0] == 413
    watch = served.connection()
    watch.request("GET", f"{CONFIGMAPS}?watch=1", headers=request_headers(served.token))
    stream = watch.getresponse()
    assert json.loads(stream.readline())["type"] == "ADDED"
    assert served.call("DELETE", f"{CONFIGMAPS}/a")[0] == 200
    seen = [json.loads(stream.readline())["type"]]
    assert seen == ["DELETED"]
    assert served.end() == 0
    assert stream.read() == b""  # an orderly end, not a torn connection
    watch.close()
    events = [json.loads(line) for line in (served.folder / "audit").read_text().splitlines()]
    stages = [one["stage"] for one in events if one["verb"] == "watch"]
    assert stages == ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    forbidden = next(one for one in events if one.get("responseStatus", {}).get("code") == 403)
    assert forbidden["user"]["username"] == "alice"


@pytest.mark.thorough
def test_data_and_credentials_survive_a_restart(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data.db"))
    first = Served(tmp_path, *data)
    assert first.call("POST", CONFIGMAPS, config_map("kept"))[0] == 201
    in_use = subprocess.run(command(*data), capture_output=True, text=True, check=False)
    assert (in_use.returncode, in_use.stderr.count("\n")) == (2, 1)
    assert "in use by another process" in in_use.stderr
    assert first.end() == 0
    second = Served(tmp_path, *data)
    assert second.token == first.token
    assert second.call("GET", f"{CONFIGMAPS}/kept")[0] == 200
    assert second.end() == 0


@pytest.mark.thorough
def test_a_client_certificate_says_who_asks(tmp_path: Path) -> None:
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.x509.oid import NameOID

    from celadon.apiserver.authn.signing_keys import new_elliptic_key
    from celadon.apiserver.http.server_settings import CredentialsFolder

    now = datetime.datetime.now(datetime.UTC)
    authority = CredentialsFolder(None).authority(now)
    (tmp_path / "clients.crt").write_bytes(authority.certificate)
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    pem = new_elliptic_key()
    key = serialization.load_pem_private_key(pem, None)
    signer = serialization.load_pem_private_key(authority.key, None)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "carol")])
    certificate = (
        x509.CertificateBuilder(issuer.subject, subject, key.public_key(), 1)  # type: ignore[arg-type]  # an EC key
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .sign(signer, hashes.SHA256())  # type: ignore[arg-type]  # an EC key
    )
    both = certificate.public_bytes(serialization.Encoding.PEM) + pem
    (tmp_path / "carol.pem").write_bytes(both)
    server = Served(tmp_path, "--client-ca-file", str(tmp_path / "clients.crt"))
    server.tls.load_cert_chain(tmp_path / "carol.pem")
    connection = server.connection()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    headers = {"Content-Type": "application/json"}
    connection.request("POST", WHOAMI, json.dumps(review), headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert answer["status"]["userInfo"]["username"] == "carol"
    assert server.end() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--listen", "nowhere"], "`nowhere` is not HOST:PORT"),
        (["--tls-cert-file", "x"], "belong together"),
        (["--listen", "0.0.0.0:0", "--plain-http"], "could be read by others"),
        (["--token-auth-file", "/nonexistent"], "`/nonexistent`: No such file"),
        (["--data", "/nonexistent/data.db"], "nonexistent"),
        (["--manifests", "/nonexistent.yaml"], "cannot be read"),
        (
            ["--enable-admission-plugins", "Priority,Nope"],
            'enable-admission-plugins plugin "Nope" is unknown',
        ),
        (["--enable-admission-plugins", "EventRateLimit"], "`EventRateLimit` is not supported"),
        (["--admission-control-config-file", "/nonexistent"], "`/nonexistent`: No such file"),
        (["--etcd-servers", "x", "--credentials", "c"], "`x` is not http://HOST:PORT"),
        (["--etcd-servers", "http://x"], "`--etcd-servers` needs `--credentials`"),
        (["--etcd-servers", "http://x", "--data", "d"], "two places for the same objects"),
        (
            ["--etcd-servers", "http://x", "--credentials", "c", "--etcd-keyfile", "k"],
            "`--etcd-certfile` and `--etcd-keyfile` belong together",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.thorough
def test_what_cannot_start_says_why_in_a_line(arguments: list[str], message: str) -> None:
    ended = subprocess.run(
        [*command(), *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert message in ended.stderr


@pytest.mark.thorough
def test_a_folder_with_a_kustomization(tmp_path: Path) -> None:
    """As `check` reads it: what is no manifest is passed over, and told."""
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "kustomization.yaml").write_text("resources: [a.yaml]\npatches: [{path: b.yaml}]\n")
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(json.dumps(config_map(name)))
    served = Served(tmp_path, "--manifests", str(folder))
    assert [served.call("GET", f"{CONFIGMAPS}/{name}")[0] for name in ("a", "b")] == [200, 404]
    assert served.end() == 0
    told = "passed over: 2 files that are no manifests (parts of kustomizations: 2)"
    assert f"notice: {told}\n" in served.log.read_text()


@pytest.mark.thorough
def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [*command(), "--listen", listen],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert ended.returncode == 2
    assert ended.stderr == f"error: cannot listen on `{listen}`: Address already in use\n"


@pytest.mark.thorough
def test_another_range_of_services_and_everything_allowed(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("alice-token,alice,alice-uid\n")
    served = Served(
        tmp_path,
        *("--token-auth-file", str(tokens)),
        *("--authorization-mode", "AlwaysAllow", "--anonymous-auth", "false"),
        *("--service-cluster-ip-range", "10.7.0.0/16"),
        *("--service-account-issuer", "https://one", "--service-account-issuer", "https://two"),
    )
    try:
        own = "/api/v1/namespaces/default/services/kubernetes"
        assert served.call("GET", own, token="alice-token")[1]["spec"]["clusterIP"] == "10.7.0.1"
        path = "/api/v1/namespaces/default/serviceaccounts/default/token"
        code, request = served.call("POST", path, {"spec": {}})
        assert (code, request["spec"]["audiences"]) == (201, ["https://one", "https://two"])
        connection = served.connection()
        connection.request("GET", own)
        assert connection.getresponse().status == 401
        connection.close()
    finally:
        served.end()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--service-cluster-ip-range=10.7.0.1/16", "--service-cluster-ip-range: `10.7.0.1/16`"),
        ("--service-account-key-file=EMPTY", "there is no key and no certificate in it"),
        ("--service-account-signing-key-file=EMPTY", "cannot read the private key"),
    ],
)
def test_settings_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, message: str
) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    given = option.replace("EMPTY", str(empty))
    code, _, err = run(capsys, "serve", "--listen", "127.0.0.1:0", given)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


NOTICED = """
import atexit, sys
from celadon.cli.main import main
atexit.register(print, "taken apart")
sys.exit(main(["serve", "--listen", "127.0.0.1:0", "--data", sys.argv[1]], is_process=True))
"""


@pytest.mark.thorough
def test_a_process_ends_when_all_is_closed(tmp_path: Path) -> None:
    """Nothing is done for objects that nobody wants any more."""
    data = tmp_path / "data.db"
    process = subprocess.Popen(
        [sys.executable, "-c", NOTICED, str(data)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "serves Kubernetes" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, "taken apart" in said) == (0, False)
    assert data.exists()
    assert not data.with_name("data.db-wal").exists(), "the store has been closed"


@pytest.mark.thorough
def test_descriptions_that_cannot_be_read(tmp_path: Path) -> None:
    done = subprocess.run(
        [*command(), "--openapi-descriptions", str(tmp_path / "absent.json")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "error: --openapi-descriptions: cannot read descriptions from" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--requestheader-client-ca-file f", "`f`: unable to load root certificates: unable to"),
        ("--proxy-client-cert-file f --proxy-client-key-file f", "`f` and `f`: tls: failed to"),
        ("--requestheader-allowed-names a,,b", 'empty value in "requestheader-allowed-names"'),
        ("--requestheader-uid-headers x", "without specifying the standard X-Remote-Uid header"),
        ("--token-auth-file f", "token file 'f': 'utf-8' codec"),
        ("--audit-policy-file f --audit-log a", "`f`: 'utf-8' codec"),
        ("--admission-control-config-file f", "`f`: 'utf-8' codec"),
        ("--admission-control-config-file a.json", "in `b.json`: no object of kind"),
    ],
)
def test_what_is_wrong_in_a_file_names_it(
    options: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_bytes(b"\xff\xfejunk")
    Path("b.json").write_text("null")
    plugins = [{"name": "PodSecurity", "path": "b.json"}]
    kind = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration"}
    Path("a.json").write_text(json.dumps({**kind, "plugins": plugins}))
    code, _, err = run(capsys, "serve", "--listen", "127.0.0.1:0", *options.split())
    assert code == 2
    assert said in err
