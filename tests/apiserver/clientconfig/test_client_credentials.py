from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.clientconfig import (
    TOKEN_SECONDS,
    ClientCredentials,
    CredentialsError,
    ExecCommand,
    ExecTarget,
    KubeconfigUser,
    read_kubeconfigs,
)
from tests.apiserver.clientconfig.kubeconfigs import printing_plugin, write_kubeconfig
from tests.apiserver.http.certificates import client_pair, new_authority


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def headers(credentials: ClientCredentials) -> dict[str, str]:
    found = asyncio.run(credentials.headers())
    return {name.decode(): value.decode() for name, value in found}


HEADERS: dict[str, tuple[KubeconfigUser, dict[str, str]]] = {
    "nobody": (KubeconfigUser(), {}),
    "token": (KubeconfigUser(token="t", username="u"), {"Authorization": "Bearer t"}),
    "a space behind": (KubeconfigUser(token="t \t"), {"Authorization": "Bearer t"}),
    "password": (KubeconfigUser(username="u", password="p"), {"Authorization": "Basic dTpw"}),
    "somebody else": (
        KubeconfigUser(token="t", impersonation=(("Impersonate-User", "a"),)),
        {"Authorization": "Bearer t", "Impersonate-User": "a"},
    ),
}


@pytest.mark.parametrize("row", HEADERS.values(), ids=HEADERS)
def test_headers(row: tuple[KubeconfigUser, dict[str, str]]) -> None:
    assert headers(ClientCredentials(row[0], Clock())) == row[1]


def test_a_provider_is_refused() -> None:
    credentials = ClientCredentials(KubeconfigUser(auth_provider="gcp"), Clock())
    with pytest.raises(CredentialsError, match="auth provider not supported"):
        headers(credentials)


@pytest.mark.parametrize("token", ["secret\n", "secret\r\nX-Other: a", "secret\0", "secret\ud800"])
def test_a_token_that_no_header_can_have_is_told_to_nobody(token: str) -> None:
    with pytest.raises(CredentialsError, match=r"^[^s]*invalid header field value") as caught:
        headers(ClientCredentials(KubeconfigUser(token=token), Clock()))
    assert "secret" not in str(caught.value)


def test_a_file_of_a_token_with_a_name_that_there_is_not() -> None:
    with pytest.raises(CredentialsError, match="the token cannot be read: embedded null byte"):
        headers(ClientCredentials(KubeconfigUser(token_file=Path("\0")), Clock()))


def test_a_token_in_a_file_is_read_again(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "token"
    credentials = ClientCredentials(KubeconfigUser(token_file=file), clock)
    with pytest.raises(CredentialsError, match="the token cannot be read"):
        headers(credentials)
    file.write_text("first\n")
    assert headers(credentials) == {"Authorization": "Bearer first"}
    file.write_text("second")
    clock.now += TOKEN_SECONDS - 1
    assert headers(credentials) == {"Authorization": "Bearer first"}
    clock.now += 1
    assert headers(credentials) == {"Authorization": "Bearer second"}
    file.write_text("third")
    credentials.refused()
    assert headers(credentials) == {"Authorization": "Bearer third"}
    file.unlink()
    credentials.refused()
    assert headers(credentials) == {"Authorization": "Bearer third"}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (ExecCommand("v1", "\0"), "embedded null byte"),
        (ExecCommand("v1", "true", environment={"a=b": "c"}), "illegal environment variable name"),
        (ExecCommand("v1", "yes"), "printed more than 1048576 bytes"),
        (ExecCommand("v1", "sh", ("-c", "sleep 9 & yes")), "printed more than 1048576 bytes"),
        (ExecCommand("v1", "echo", ("[" * 100_000,)), "printed no ExecCredential"),
    ],
)
def test_programs_that_print_no_credential(command: ExecCommand, message: str) -> None:
    with pytest.raises(CredentialsError, match=message):
        headers(ClientCredentials(KubeconfigUser(exec_command=command), Clock()))


def plugged(folder: Path, printed: Any, clock: Clock) -> ClientCredentials:
    path = write_kubeconfig(folder / "config", {"exec": printing_plugin(folder, printed)})
    target = ExecTarget("https://there", b"authority", "name", insecure=True)
    return ClientCredentials(read_kubeconfigs([path]).users["here"], clock, target)


def credential(**status: str) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    return {"apiVersion": version, "kind": "ExecCredential", "status": status}


def test_a_plugin_runs_when_what_it_printed_has_ended(tmp_path: Path) -> None:
    clock = Clock()
    until = "1970-01-01T00:20:00Z"
    credentials = plugged(tmp_path, credential(token="t", expirationTimestamp=until), clock)
    for now, runs in ((1000.0, "1"), (1199.0, "1"), (1200.0, "2")):
        clock.now = now
        assert headers(credentials) == {"Authorization": "Bearer t"}
        assert (tmp_path / "count").read_text() == runs
    clock.now = 1000.0
    credentials.refused()
    headers(credentials)
    assert (tmp_path / "count").read_text() == "3"
    asked = json.loads((tmp_path / "asked").read_text())
    assert asked["spec"] == {
        "interactive": False,
        "cluster": {
            "server": "https://there",
            "config": None,
            "tls-server-name": "name",
            "insecure-skip-tls-verify": True,
            "certificate-authority-data": "YXV0aG9yaXR5",
        },
    }


def test_a_plugin_may_print_a_certificate(tmp_path: Path) -> None:
    pair = client_pair(new_authority(), "someone", "some")
    printed = credential(
        clientCertificateData=pair.certificate.decode(), clientKeyData=pair.key.decode()
    )
    credentials = plugged(tmp_path, printed, Clock())
    asyncio.run(credentials.load(ssl.create_default_context()))
    assert headers(credentials) == {}


def test_a_certificate_without_its_key(tmp_path: Path) -> None:
    authority = new_authority()
    user = KubeconfigUser(certificate=authority.certificate, key=new_authority().key)
    with pytest.raises(CredentialsError, match="not a client certificate with its key"):
        asyncio.run(ClientCredentials(user, Clock()).load(ssl.create_default_context()))


FAILURES: dict[str, tuple[Any, str]] = {
    "no JSON": ("hello", "printed no ExecCredential"),
    "no status": ({"kind": "ExecCredential"}, "printed no ExecCredential"),
    "another version": (
        {**credential(token="t"), "apiVersion": "v2"},
        "answered as v2, Kind=ExecCredential",
    ),
    "nothing of use": (credential(), "printed neither a token nor a certificate"),
}


@pytest.mark.parametrize("row", FAILURES.values(), ids=FAILURES)
def test_plugins_that_fail(row: tuple[Any, str], tmp_path: Path) -> None:
    with pytest.raises(CredentialsError, match=row[1]):
        headers(plugged(tmp_path, row[0], Clock()))


def test_a_plugin_that_is_not_there(tmp_path: Path) -> None:
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./nowhere"}
    path = write_kubeconfig(tmp_path / "config", {"exec": command})
    credentials = ClientCredentials(read_kubeconfigs([path]).users["here"], Clock())
    with pytest.raises(CredentialsError, match=r"exec: `\./nowhere`: no such file or directory"):
        headers(credentials)


def test_a_plugin_that_ends_badly(tmp_path: Path) -> None:
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": "false"}
    path = write_kubeconfig(tmp_path / "config", {"exec": command})
    credentials = ClientCredentials(read_kubeconfigs([path]).users["here"], Clock())
    with pytest.raises(CredentialsError, match="exec: `false` failed with exit code 1"):
        headers(credentials)
