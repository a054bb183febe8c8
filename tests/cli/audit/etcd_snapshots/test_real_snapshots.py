"""A real etcd with the objects of an API server in it, its snapshot, and the same objects as YAML.

Skipped where etcd is not installed.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.cli.audit.dumps import Json
from tests.cli.audit.etcd_snapshots.stored_objects import AES, OBJECTS, shown, stored
from tests.cli.files import binding, policy, run, write

pytestmark = pytest.mark.skipif(
    not (shutil.which("etcd") and shutil.which("etcdctl")),
    reason="etcd and etcdctl are not installed (Debian: etcd-server, etcd-client)",
)
START_SECONDS = 60
Capture = pytest.CaptureFixture[str]


class Etcd:
    """One that listens on loopback, and keeps its data in a folder."""

    def __init__(self, folder: Path) -> None:
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.address = client
        self.process = subprocess.Popen(
            [
                *("etcd", "--data-dir", str(folder / "data"), "--log-level", "error"),
                *("--listen-client-urls", client, "--advertise-client-urls", client),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                *("--initial-cluster", f"default={peer}"),
            ],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def ready(self) -> None:
        """When it answers."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.call("kv/range", {"key": encoded(b"a")})
            except (URLError, ConnectionError):
                assert time.monotonic() < deadline, "etcd does not answer"
                time.sleep(0.1)
            else:
                return

    def call(self, path: str, body: Json) -> Json:
        request = Request(f"{self.address}/v3/{path}", json.dumps(body).encode())
        with urlopen(request, timeout=60) as answer:
            found: Json = json.load(answer)
        return found

    def put(self, key: str, value: bytes) -> int:
        """The revision."""
        made = self.call("kv/put", {"key": encoded(key.encode()), "value": encoded(value)})
        return int(made["header"]["revision"])

    def save(self, file: Path) -> None:
        command = ["etcdctl", "--endpoints", self.address, "snapshot", "save", str(file)]
        environment = {"ETCDCTL_API": "3", "PATH": "/usr/bin:/bin:/usr/local/bin"}
        subprocess.run(command, check=True, capture_output=True, env=environment, timeout=60)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    one = Etcd(tmp_path_factory.mktemp("etcd"))
    try:
        one.ready()
        yield one
    finally:
        one.process.kill()
        one.process.wait()


def test_a_snapshot_is_audited_as_the_same_objects_are(
    etcd: Etcd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    everything = [
        {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    ]
    about = "object.?spec.?containers.orValue([]).size() > 1"
    prod = "namespaceObject.?metadata.labels.env.orValue('') != 'prod'"
    write(
        Path("p.json"),
        *(policy(), binding()),
        *(policy("all", about, rules=everything), binding("all", actions="Warn Audit")),
        *(policy("prod", prod, rules=everything), binding("prod")),
    )
    for key, one in OBJECTS.items():
        etcd.put(key, stored({**one, "metadata": {**one["metadata"], "labels": {"old": "1"}}}))
    etcd.put("/registry/pods/shop/gone", stored(OBJECTS["/registry/pods/shop/p"]))
    etcd.call("kv/deleterange", {"key": encoded(b"/registry/pods/shop/gone")})
    for key, one in OBJECTS.items():
        revision = etcd.put(key, stored(one))
        manifest = Path(f"s.db!{key}")
        manifest.parent.mkdir(parents=True, exist_ok=True)
        manifest.write_text(yaml.safe_dump(shown(one, revision), allow_unicode=True))
    etcd.put("compact_rev_key", b"3")
    etcd.save(Path("s.db"))
    manifests = [f"s.db!{key}" for key in OBJECTS]
    for looks in (("--summary-by", "namespace"), ("-o", "json"), ("-o", "jsonl"), ("--jobs", "2")):
        expected = run(capsys, "audit", "-f", "p.json", *manifests, *looks)
        found = run(capsys, "audit", "-f", "p.json", "--etcd-snapshot", "s.db", *looks)
        assert found == (expected[0], unplaced(expected[1]), expected[2])
        assert expected[0] == 1
        assert all(one["metadata"]["name"] in expected[1] for one in OBJECTS.values())


def unplaced(report: str) -> str:
    """Keys have no lines."""
    report = re.sub(r'("file": ?"s\.db![^"]*"),\s*"line": ?1\b', r"\1", report)
    return re.sub(r"(s\.db!\S*):1\b", r"\1", report)


def test_what_is_encrypted_is_said(
    etcd: Etcd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("p.json"), policy(), binding())
    etcd.put("/sealed/secrets/shop/a", AES)
    etcd.put("/sealed/configmaps/shop/c", stored(OBJECTS["/registry/configmaps/shop/c"]))
    etcd.save(Path("s.db"))
    words = ("audit", "-f", "p.json", "--etcd-snapshot", "s.db", "--etcd-prefix", "/sealed")
    code, out, err = run(capsys, *words, "-o", "json")
    assert (code, err) == (1, "")
    (notice,) = json.loads(out)["notices"]
    assert notice["message"] == (
        "1 value is encrypted (aescbc) under `/sealed/secrets`, and not audited"
    )
