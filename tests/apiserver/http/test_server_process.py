"""Real processes: what cannot start says why, what ends does so in order."""

from __future__ import annotations

import contextlib
import http.client
import json
import resource
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.http.server_process import run
from celadon.apiserver.http.server_settings import (
    Address,
    CredentialsFolder,
    ServerSettings,
    StartError,
    TlsSettings,
)
from celadon.apiserver.self_signed import Pair
from tests.apiserver.http.certificates import client_pair, new_authority
from tests.apiserver.served_process import (
    CONFIGMAPS,
    WHOAMI,
    Served,
    command,
    config_map,
    request_headers,
)
from tests.apiserver.static_admission.manifests import refusing, rule, write

PATIENCE = 60.0
AUDIT_POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Everything}]\n"


def ended(*arguments: str) -> str:
    """The one line that a server which cannot start says."""
    done = subprocess.run(
        [*command(), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def eventually(found: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def file(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.thorough
def test_a_second_server_on_the_same_data_leaves_the_first_alone(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data.db"))
    first = subprocess.Popen(
        command(*data), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert first.stdout is not None
    try:
        assert first.stdout.readline()
        kubeconfig = tmp_path / "data.db.credentials" / "admin.kubeconfig"
        before = kubeconfig.read_text()
        said = ended(*data)
        assert said == f"error: `{data[1]}`: it is in use by another process or store\n"
        assert kubeconfig.read_text() == before
    finally:
        first.send_signal(signal.SIGTERM)
        first.stdout.close()
        assert first.wait(PATIENCE) == 0


@pytest.fixture(scope="module")
def no_good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that are not what they should be."""
    folder = tmp_path_factory.mktemp("no-good")
    CredentialsFolder(folder).server((), datetime.now(UTC))
    other = CredentialsFolder(None).server((), datetime.now(UTC))
    (folder / "other.key").write_bytes(other.key)
    file(folder, "text", "hello\n")
    file(folder, "tokens", "only-a-token\n")
    file(folder, "policy", AUDIT_POLICY)
    return folder


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"tls": TlsSettings(Path("server.crt"), Path("other.key"))},
            "`server.crt`: not a certificate with its key",
        ),
        ({"tls": TlsSettings(Path("server.crt"), Path("none"))}, "`none`: no such file"),
        ({"tls": TlsSettings(Path("text"), Path("other.key"))}, "`text`: not a certificate"),
        (
            {"tls": TlsSettings(client_authorities=Path("text"))},
            "`text`: no certificates of authorities",
        ),
        ({"tls": TlsSettings(client_authorities=Path("none"))}, "`none`: no certificates"),
        ({"token_file": Path("tokens")}, "must have at least 3 columns"),
        ({"token_file": Path()}, "`.`: Is a directory"),
        ({"audit_policy": Path("policy")}, "level `Everything` is none of"),
        ({"audit_policy": Path("text")}, "its kind must be Policy"),
        ({"audit_log": Path("none/log")}, "`none/log`: No such file"),
        ({"kubeconfig_out": Path("none/a/b")}, "`none/a`: No such file"),
        ({"data": "text"}, "`text`: not a SQLite database"),
        ({"data": "none/data.db"}, "none"),
        ({"listen": Address("192.0.2.1", 1)}, "cannot listen on `192.0.2.1:1`"),
        (
            {"listen": Address("0.0.0.0"), "tls": TlsSettings(plain=True)},
            "plain HTTP on `0.0.0.0` could be read by others",
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_why_a_server_does_not_start(
    given: dict[str, Any], message: str, no_good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(no_good)
    settings = replace(ServerSettings(listen=Address("127.0.0.1", 0)), **given)
    with pytest.raises(StartError) as error:
        run(settings, lambda _: pytest.fail("it started"))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(no_good.glob(".*")), "nothing half done is left behind"


@pytest.mark.thorough
def test_a_place_for_the_kubeconfig_that_is_none(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    place.mkdir()
    assert ended("--kubeconfig-out", str(place)) == f"error: `{place}`: Is a directory\n"
    assert list(tmp_path.iterdir()) == [place], "nothing half done is left behind"


@contextmanager
def tiny_disk(folder: Path, size: int) -> Iterator[Path]:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no disk of a chosen size can be had here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.thorough
def test_a_disk_that_is_full_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    with tiny_disk(tmp_path / "disk", 64 << 10) as disk:
        said = ended("--data", str(disk / "data.db"))
        assert "full" in said or "No space left" in said, said


@pytest.mark.thorough
def test_data_that_may_only_be_read(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    with tiny_disk(tmp_path / "disk", 32 << 20) as disk:
        data = ("--data", str(disk / "data.db"))
        assert Served(tmp_path, *data).end() == 0
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert ended(*data) == f"error: `{data[1]}`: it is read-only\n"


@pytest.mark.thorough
def test_a_disk_that_becomes_full_and_has_room_again(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    with tiny_disk(tmp_path / "disk", 32 << 20) as disk:
        server = Served(tmp_path, "--data", str(disk / "data.db"))
        try:
            _fill_and_free(server, disk)
        finally:
            assert server.end() == 0
        assert _is_whole(disk / "data.db")


def _fill_and_free(server: Served, disk: Path) -> None:
    assert server.call("POST", CONFIGMAPS, config_map("before"))[0] == 201
    with contextlib.suppress(OSError), (disk / "ballast").open("wb") as ballast:
        while True:
            ballast.write(b"x" * 4096)
            ballast.flush()
    name, code, refused = until_refused(server)
    assert (code, refused["kind"], refused["status"]) == (500, "Status", "Failure")
    assert refused["message"] == "the disk or the quota is full"
    assert server.call("GET", f"{CONFIGMAPS}/before")[0] == 200, "reading goes on"
    assert server.call("DELETE", f"{CONFIGMAPS}/before")[0] == 200, "and deleting"
    (disk / "ballast").unlink()
    assert server.call("POST", CONFIGMAPS, config_map("after"))[0] == 201
    names = [one["metadata"]["name"] for one in server.call("GET", CONFIGMAPS)[1]["items"]]
    assert name not in names, "what was refused did not happen"
    assert any("the data cannot be written" in one["msg"] for one in server.logged())


def until_refused(server: Served) -> tuple[str, int, Any]:
    """Large objects until one is not taken: its name, and what was answered."""
    for number in range(60):
        name = f"large-{number}"
        large = {**config_map(name), "data": {"x": "x" * 300_000}}
        code, answer = server.call("POST", CONFIGMAPS, large)
        if code != 201:
            return name, code, answer
    pytest.fail("the disk has room for everything")


@pytest.mark.thorough
def test_a_file_that_may_not_grow_any_more(tmp_path: Path) -> None:
    """The system's limit on the size of files, while serving."""
    limit = 6 << 20
    server = Served(
        tmp_path,
        *("--data", str(tmp_path / "data.db")),
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    try:
        _, code, refused = until_refused(server)
        assert (code, refused["kind"]) == (500, "Status")
        assert server.call("GET", f"{CONFIGMAPS}/large-0")[0] == 200
    finally:
        assert server.end() == 0
    assert _is_whole(tmp_path / "data.db")


def _is_whole(path: Path) -> bool:
    with sqlite3.connect(path) as connection:
        (found,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return bool(found == "ok")


@pytest.mark.thorough
def test_the_end_leaves_the_data_and_its_reserve(tmp_path: Path) -> None:
    server = Served(tmp_path, "--data", str(tmp_path / "data.db"))
    assert server.call("POST", CONFIGMAPS, config_map("a"))[0] == 201
    assert server.end() == 0
    left = {one.name for one in tmp_path.glob("data.db-*")}
    assert left == {"data.db-reserve"}, "the log of writes has been taken in"
    assert _is_whole(tmp_path / "data.db")


@pytest.mark.thorough
def test_files_that_others_can_read_are_named(tmp_path: Path) -> None:
    data, tokens = tmp_path / "data.db", tmp_path / "tokens.csv"
    tokens.write_text("secret,alice,1\n")
    tokens.chmod(0o600)
    arguments = ("--data", str(data), "--token-auth-file", str(tokens))
    for mode, warned in (
        (0o600, ""),
        (0o644, f"warning: `{data}` can be read by others: chmod 600"),
    ):
        data.touch()
        data.chmod(mode)
        process = subprocess.Popen(
            [*command(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert "serves Kubernetes" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
        assert warned in said
        assert ("can be read" in said) == bool(warned)


@pytest.mark.thorough
def test_a_delayed_end_is_not_ready_but_serves(tmp_path: Path) -> None:
    server = Served(tmp_path, "--shutdown-delay-duration", "20s")
    assert server.text("/readyz") == (200, "ok")
    server.process.send_signal(signal.SIGTERM)
    eventually(lambda: server.text("/readyz")[0] == 500)
    assert "[-]shutdown failed: reason withheld" in server.text("/readyz?verbose")[1]
    assert server.text("/livez") == (200, "ok")
    assert server.call("POST", CONFIGMAPS, config_map("late"))[0] == 201
    assert server.end() == 0, "the second signal insists"


@pytest.mark.thorough
def test_certificates_are_read_again_when_they_change(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    old, new = CredentialsFolder(None), CredentialsFolder(None)
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    key.touch(0o600)  # else the log begins with a warning

    def write(kept: CredentialsFolder) -> None:
        pair = kept.server((), now)
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)

    write(old)
    server = Served(
        tmp_path, "--tls-cert-file", str(certificate), "--tls-private-key-file", str(key)
    )
    try:
        server.tls = _trusting(old, now)
        assert server.text("/readyz")[0] == 200
        open_already = server.connection()
        open_already.request("GET", "/readyz", headers=request_headers(server.token))
        assert open_already.getresponse().read() == b"ok"
        key.write_text("broken\n")
        eventually(lambda: any("err" in one for one in server.logged()))
        assert server.text("/readyz")[0] == 200, "the old ones stay"
        write(new)
        server.tls = _trusting(new, now)
        eventually(lambda: _answers(server))
        eventually(lambda: server.trusted() == certificate.read_bytes())
        open_already.request("GET", "/readyz", headers=request_headers(server.token))
        assert open_already.getresponse().read() == b"ok"
        open_already.close()
    finally:
        assert server.end() == 0


@pytest.mark.thorough
def test_clients_of_a_new_authority_come_in_and_those_of_the_old_one_do_not(tmp_path: Path) -> None:
    people = tmp_path / "people.crt"
    old, new = new_authority(), new_authority()
    people.write_bytes(b"# Certificaci\xf3n, which is no UTF-8\n" + old.certificate)
    server = Served(tmp_path, "--client-ca-file", str(people))

    def name(authority: Pair) -> str:
        """Who somebody with a certificate of this authority is."""
        shown = client_pair(authority, "anna", "auditors")
        (tmp_path / "anna.pem").write_bytes(shown.certificate + shown.key)
        context = ssl.create_default_context(cafile=tmp_path / "ca.crt")
        context.load_cert_chain(tmp_path / "anna.pem")
        connection = http.client.HTTPSConnection(server.address, timeout=60, context=context)
        headers = {"Content-Type": "application/json"}
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        try:
            connection.request("POST", WHOAMI, json.dumps(review), headers)
            user = json.loads(connection.getresponse().read())["status"]["userInfo"]
        except (ssl.SSLError, ConnectionError):
            return "nobody"
        finally:
            connection.close()
        return str(user["username"])

    try:
        assert (name(old), name(new)) == ("anna", "nobody")
        people.write_bytes(new.certificate)
        eventually(lambda: (name(old), name(new)) == ("nobody", "anna"))
        people.write_text("broken\n")
        eventually(lambda: any("err" in one for one in server.logged()))
        assert name(new) == "anna", "the authorities before stay"
    finally:
        assert server.end() == 0


@pytest.mark.thorough
def test_a_front_proxy_of_a_new_authority_vouches_and_extension_servers_are_told(
    tmp_path: Path,
) -> None:
    proxies = tmp_path / "proxies.crt"
    old, new = new_authority(), new_authority()
    proxies.write_bytes(old.certificate)
    server = Served(
        tmp_path,
        *("--requestheader-client-ca-file", str(proxies)),
        *("--requestheader-username-headers", "X-Remote-User"),
    )

    def vouches(authority: Pair) -> bool:
        shown = client_pair(authority, "proxy", "")
        (tmp_path / "proxy.pem").write_bytes(shown.certificate + shown.key)
        context = ssl.create_default_context(cafile=tmp_path / "ca.crt")
        context.load_cert_chain(tmp_path / "proxy.pem")
        connection = http.client.HTTPSConnection(server.address, timeout=60, context=context)
        try:
            connection.request("GET", "/api", headers={"X-Remote-User": "anna"})
            return connection.getresponse().status == 200
        except (ssl.SSLError, ConnectionError):
            return False
        finally:
            connection.close()

    def told() -> str:
        path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
        return str(json.loads(server.text(path)[1])["data"]["requestheader-client-ca-file"])

    try:
        assert (vouches(old), vouches(new)) == (True, False)
        assert told() == old.certificate.decode()
        proxies.write_bytes(new.certificate)
        eventually(lambda: (vouches(old), vouches(new)) == (False, True))
        both = (old.certificate + new.certificate).decode()
        eventually(lambda: told() == both)
    finally:
        assert server.end() == 0


def _trusting(kept: CredentialsFolder, now: datetime) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=kept.authority(now).certificate.decode())


def _answers(server: Served) -> bool:
    try:
        return server.text("/readyz")[0] == 200
    except ssl.SSLError:
        return False


@pytest.mark.thorough
def test_the_log_has_requests_but_no_secrets(tmp_path: Path) -> None:
    server = Served(tmp_path, "-v", "10")
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "stringData": {"password": "hunter2"},
    }
    path = "/api/v1/namespaces/default/secrets"
    assert server.call("POST", path, secret)[0] == 201
    token = "/api/v1/namespaces/default/serviceaccounts/default/token"
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    made = server.call("POST", token, review)[1]["status"]["token"]
    assert server.end() == 0
    text = server.log.read_text()
    line = next(one for one in server.logged() if one.get("URI") == path)
    assert line["v"] == 3
    assert {"verb": "POST", "resp": 201, "user": "kubernetes-admin"}.items() <= line.items()
    for hidden in ("hunter2", "aHVudGVyMg", server.token, made, "Bearer"):
        assert hidden not in text


@pytest.mark.thorough
def test_nothing_is_written_about_requests_unless_wanted(tmp_path: Path) -> None:
    server = Served(tmp_path)
    assert server.call("GET", CONFIGMAPS)[0] == 200
    assert server.end() == 0
    assert [one["msg"] for one in server.logged()] == ["the server ends"]


@pytest.mark.thorough
def test_too_many_watches_are_told_to_come_back(tmp_path: Path) -> None:
    tokens = file(tmp_path, "tokens.csv", "t,alice,alice-uid\n")
    server = Served(tmp_path, "--max-watches", "1", "--token-auth-file", tokens)
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "alice"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}],
    }
    try:
        bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
        assert server.call("POST", bindings, binding)[0] == 201
        assert server.call("POST", CONFIGMAPS, config_map("a"), token="t")[0] == 201
        watch = server.connection()
        watch.request("GET", f"{CONFIGMAPS}?watch=1", headers=request_headers("t"))
        stream = watch.getresponse()
        assert json.loads(stream.readline())["type"] == "ADDED"
        second = server.connection()
        second.request("GET", f"{CONFIGMAPS}?watch=1", headers=request_headers("t"))
        answer = second.getresponse()
        assert (answer.status, answer.getheader("Retry-After")) == (429, "1")
        assert answer.read() == b"Too many requests, please try again later.\n"
        second.close()
        watch.close()
        stream.close()
    finally:
        assert server.end() == 0


@pytest.mark.thorough
def test_plain_http_off_the_loopback_can_be_forced() -> None:
    process = subprocess.Popen(
        [*command(), "--listen", "0.0.0.0:0", "--force-plain-http"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().rsplit(maxsplit=1)[-1]
    assert url.startswith("http://127.0.0.1:")
    with socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), PATIENCE) as client:
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")
    process.send_signal(signal.SIGTERM)
    process.stdout.close()
    assert process.wait(PATIENCE) == 0


LATE = (
    "celadon.goyaml",
    "yaml",
    "tomllib",
    "httpcore",
    "celadon.apiserver.clientconfig",
    "celadon.cli.reading",
)


@pytest.mark.thorough
def test_a_start_does_not_load_what_speaks_to_others_or_yaml() -> None:
    """They are loaded when somebody needs them: together they take a fifth of a start."""
    imports = "import sys, celadon.apiserver.http.server_process"
    code = f"{imports}; print(*(one for one in {LATE} if one in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


@pytest.mark.thorough
def test_events_are_kept_as_long_as_wanted(tmp_path: Path) -> None:
    server = Served(tmp_path, "--event-ttl", "1s")
    events = "/api/v1/namespaces/default/events"
    involved = {"kind": "Pod", "namespace": "default", "name": "x"}
    event = {"metadata": {"name": "e"}, "involvedObject": involved}
    assert server.call("POST", events, event)[0] == 201
    assert server.call("POST", CONFIGMAPS, config_map("c"))[0] == 201
    eventually(lambda: server.call("GET", f"{events}/e")[0] == 404)
    assert server.call("GET", f"{CONFIGMAPS}/c")[0] == 200
    assert server.end() == 0


@pytest.mark.thorough
def test_static_policies_are_read_again_when_they_change(tmp_path: Path) -> None:
    folder = tmp_path / "static"
    write(folder, "a.json", refusing("a.static.k8s.io", rule("configmaps")))
    configuration = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyConfiguration",
        "staticManifestsDir": str(folder),
    }
    plugin = {"name": "ValidatingAdmissionPolicy", "configuration": configuration}
    told = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [plugin],
    }
    given = ("--admission-control-config-file", file(tmp_path, "admission", json.dumps(told)))
    assert "requires the ManifestBasedAdmissionControlConfig feature gate" in ended(*given)
    gate = ("--feature-gates", "ManifestBasedAdmissionControlConfig=true")
    server = Served(tmp_path, *given, *gate)

    def code() -> int:
        return server.call("POST", f"{CONFIGMAPS}?dryRun=All", config_map("c"))[0]

    assert code() == 422
    (folder / "a.json").write_text("{}")
    eventually(lambda: any(one.get("level") == "warning" for one in server.logged()))
    assert code() == 422, "the version before stays in force"
    (folder / "a.json").unlink()
    eventually(lambda: code() == 201)
    assert server.end() == 0
    write(folder, "a.json", refusing("a", rule("configmaps")))
    assert f'failed to load static policy manifests from "{folder}"' in ended(*given, *gate)
