"""`celadon webhook` as a process: files, certificates, signals."""

from __future__ import annotations

import datetime
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.http import CredentialsFolder
from tests.cli.files import binding, policy, run, write
from tests.webhook.documents import review_document
from tests.webhook.webhook_process import HEADERS, PATIENCE, Load, WebhookProcess


def asked(value: str) -> dict[str, Any]:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x": value}}
    return review_document(object=obj, namespace="default")


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir()
    write(folder / "a.yaml", policy(), binding())
    return folder


@pytest.fixture
def started(tmp_path: Path, policies: Path) -> Iterator[Callable[..., WebhookProcess]]:
    made: list[WebhookProcess] = []

    def start(*arguments: str) -> WebhookProcess:
        given = arguments if "--app" in arguments else ("-f", str(policies), *arguments)
        made.append(WebhookProcess(tmp_path, *given))
        return made[-1]

    yield start
    for one in made:
        one.close()


WRONG: list[tuple[list[str], str]] = [
    ([], "no policies: give them with `-f`"),
    (["-f", "{p}", "--app", "a:b"], "`-f` and `--app` exclude each other"),
    (["--app", "a:b", "--audit-only"], "`--audit-only` is for policies, not for `--app`"),
    (["--app", "a:b", "--decision-log", "-"], "`--decision-log` is for policies"),
    (["--app", "tests.nowhere:app"], "`tests.nowhere:app` cannot be imported: ModuleNotFound"),
    (["-f", "nowhere.yaml"], "error: nowhere.yaml"),
    (["-f", "{p}", "--kubeconfig", "k"], "`--kubeconfig` goes with `--from-cluster` or `--events`"),
    (["-f", "{p}", "--context", "c"], "`--context` goes with `--from-cluster` or `--events` or"),
    (["-f", "{p}", "--max-staleness", "1m"], "`--max-staleness` goes with `--from-cluster`"),
    (["--from-cluster", "--max-staleness", "0s"], "`--max-staleness` is at least 5s"),
    (["-f", "{p}", "--review-timeout", "0s"], "`--review-timeout` is at least 100ms"),
    (["-f", "{p}", "--max-review-bytes", "0"], "`--max-review-bytes` is at least 1024"),
    (["-f", "{p}", "--tls-names", "a"], "`--tls-names` goes with `--self-signed-secret`"),
    (
        ["-f", "{p}", "--webhook-configuration", "a"],
        "`--webhook-configuration` goes with `--tls-secret` or `--self-signed-secret`",
    ),
    (["-f", "{p}", "--decision-log-sample", "0.5"], "`--decision-log-sample` goes with `--decis"),
    (["-f", "{p}", "--decision-log-objects"], "`--decision-log-objects` goes with `--decision-l"),
    (
        ["-f", "{p}", "--tls-secret", "a", "--tls-cert-file", "b", "--tls-private-key-file", "c"],
        "`--tls-cert-file` and `--tls-secret` exclude each other",
    ),
    (
        ["-f", "{p}", "--self-signed-secret", "a", "--plain-http"],
        "`--plain-http` and `--self-signed-secret` exclude each other",
    ),
    (
        ["-f", "{p}", "--plain-http", "--client-ca-file", "a"],
        "`--client-ca-file` and `--plain-http` exclude each other",
    ),
    (
        ["-f", "{p}", "--force-plain-http", "--ca-out", "a"],
        "`--ca-out` and `--force-plain-http` exclude each other",
    ),
    (["-f", "{p}", "--listen", "x"], "`x` is not HOST:PORT"),
    (["-f", "{p}", "--tls-cert-file", "a"], "belong together"),
    (["-f", "{p}", "--plain-http"], "plain HTTP on `0.0.0.0` could be read by others"),
    (["-f", "{p}", "--decision-log-sample", "2"], "`2` is not a number from 0 to 1"),
    (["-f", "{p}", "--decision-log", "/nowhere/log"], "`/nowhere/log`: No such file"),
    (["-f", "{p}", "--ca-out", "/nowhere/ca"], "`/nowhere/ca`: No such file"),
    (["-f", "{p}", "--review-timeout", "soon"], "`soon` is not a duration"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_keeps_it_from_starting(
    words: list[str], text: str, policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word.format(p=policies) for word in words]
    code, out, error = run(capsys, "webhook", *given)
    assert (code, out) == (2, "")
    assert text in error


@pytest.mark.thorough
def test_a_broken_policy_is_told_with_its_place(
    policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(policies / "b.yaml", policy("broken", "object.("))
    code, _, error = run(capsys, "webhook", "-f", str(policies))
    assert code == 2
    assert "b.yaml:30: ValidatingAdmissionPolicy" in error
    assert 'ValidatingAdmissionPolicy.admissionregistration.k8s.io "broken" is invalid' in error


@pytest.mark.thorough
def test_policies_follow_their_files(
    started: Callable[..., WebhookProcess], policies: Path
) -> None:
    served = started("--decision-log", str(policies.parent / "decisions"))
    assert served.allows(asked("ok"))
    assert not served.allows(asked("new"))

    write(policies / "a.yaml", policy(expression="object.data.x == 'new'"), binding())
    wait_until(lambda: served.allows(asked("new")))
    assert not served.allows(asked("ok"))

    (policies / "a.yaml").write_text("kind: [")
    wait_until(lambda: "earlier version" in served.said("/readyz?verbose")[1])
    assert served.allows(asked("new")), "the old version stays"
    assert served.said("/readyz")[0] == 200
    assert "celadon_webhook_policies_outdated 1\n" in served.said("/metrics")[1]

    write(policies / "a.yaml", policy(), binding())
    wait_until(lambda: served.allows(asked("ok")))
    assert "celadon_webhook_policies_outdated 0\n" in served.said("/metrics")[1]
    assert served.end() == 0
    first, *rest = served.log.read_text().splitlines()
    assert first.endswith("/validate: 1 policy, 1 binding")
    lines = [json.loads(one) for one in rest]
    assert {one["logger"] for one in lines} == {"celadon.webhook"}
    assert [one["msg"] for one in lines] == [
        "the policies were reloaded",
        "the policies cannot be reloaded, the old ones stay",
        "the policies were reloaded",
        "the webhook ends",
    ]
    decisions = (policies.parent / "decisions").read_text().splitlines()
    assert {json.loads(one)["user"] for one in decisions} == {"alice"}


@pytest.mark.thorough
def test_no_review_fails_when_a_replica_ends(
    started: Callable[..., WebhookProcess], policies: Path
) -> None:
    """Clients keep their connections, and open new ones for as long as somebody listens."""
    served = started("--shutdown-delay-duration", "500ms")
    load = Load(served, json.dumps(asked("ok")).encode())
    threads = load.begin(8)
    wait_until(lambda: len(load.answers) > 200)
    told = time.monotonic()
    assert served.end() == 0
    for one in threads:
        one.join(PATIENCE)
    assert load.failures == []
    assert [one for one in load.answers if one > told], "it goes on for a while"
    assert load.closes >= 8, "and takes leave of everybody"


@pytest.mark.thorough
def test_certificates_change_under_load(
    started: Callable[..., WebhookProcess], tmp_path: Path
) -> None:
    now = datetime.datetime.now(datetime.UTC)
    earlier = now - datetime.timedelta(days=1)
    kept = CredentialsFolder(None)
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    pair = kept.server(("first.example.com",), earlier)
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    served = started("--tls-cert-file", str(certificate), "--tls-private-key-file", str(key))
    served.tls.load_verify_locations(cadata=kept.authority(earlier).certificate.decode())
    assert "first.example.com" in names_of(served)
    load = Load(served, json.dumps(asked("ok")).encode())
    threads = load.begin(2)
    before = expiry(served)

    pair = kept.server(("second.example.com",), now)
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    wait_until(lambda: "second.example.com" in names_of(served))
    assert expiry(served) > before
    assert served.end() == 0
    for one in threads:
        one.join(PATIENCE)
    assert load.failures == []


def names_of(served: WebhookProcess) -> set[str]:
    connection = served.connection()
    connection.connect()
    assert isinstance(connection.sock, ssl.SSLSocket)
    found = connection.sock.getpeercert()
    connection.close()
    assert found is not None
    return {str(pair[1]) for pair in found["subjectAltName"]}


def expiry(served: WebhookProcess) -> float:
    (line,) = [
        one for one in served.said("/metrics")[1].splitlines() if one.startswith(EXPIRY_METRIC)
    ]
    return float(line.split()[1])


EXPIRY_METRIC = "celadon_webhook_certificate_expiry_timestamp_seconds "


@pytest.mark.thorough
def test_connections_that_have_ended_leave_nothing_behind(
    started: Callable[..., WebhookProcess],
) -> None:
    served = started()

    def meet(times: int) -> int:
        for number in range(times):
            if number % 4:
                with served.tls.wrap_socket(_plain(served), server_hostname="127.0.0.1") as client:
                    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    assert client.recv(1000).startswith(b"HTTP/1.1 200")
            else:  # no handshake
                _plain(served).close()
        return served.memory

    before = meet(200)
    assert meet(1600) - before < 5 << 20  # each of them kept 60 KB once


def _plain(served: WebhookProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE)


RULES = """
import asyncio
from celadon.webhook import Webhook

app = Webhook("rules.example.com")

@app.validate("configmaps")
async def validate(request):
    await asyncio.sleep(0.01)
    return request.object["data"]["x"] == "ok"

@app.mutate("configmaps")
def broken(request):
    raise RuntimeError("secret")
"""


@pytest.mark.thorough
def test_an_application_is_served_as_policies_are(
    started: Callable[..., WebhookProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its TLS, its pages, its end under load."""
    (tmp_path / "served_rules.py").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    served = started("--app", "served_rules:app", "--shutdown-delay-duration", "500ms")
    path = "/validate/validate"
    assert served.allows(asked("ok"), path)
    assert not served.allows(asked("new"), path)
    assert served.said("/readyz?verbose")[1].startswith("[+]application ok\n")
    connection = served.connection()
    connection.request("POST", "/mutate/broken", json.dumps(asked("ok")), HEADERS)
    answer = connection.getresponse()
    assert (answer.status, b"secret" in answer.read()) == (500, False)
    connection.close()
    figures = served.said("/metrics")[1]
    assert 'reviews_total{path="/mutate/broken",reason="broken"} 1\n' in figures
    assert f'seconds_count{{allowed="false",operation="CREATE",path="{path}"}} 1\n' in figures
    assert EXPIRY_METRIC in figures

    load = Load(served, json.dumps(asked("ok")).encode(), path)
    threads = load.begin(4)
    wait_until(lambda: len(load.answers) > 50)
    told = time.monotonic()
    assert served.end() == 0
    for one in threads:
        one.join(PATIENCE)
    assert load.failures == []
    assert [one for one in load.answers if one > told], "it goes on for a while"
