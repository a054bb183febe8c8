"""A server on a disk without any room: it starts, reads and deletes."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.served_process import CONFIGMAPS, config_map, request_headers
from tests.etcd.small_disks import can_mount
from tests.faults.server_under_test import Process

SIZE = "3m"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    if not can_mount():
        pytest.skip("mounting a small file system is not allowed here")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder))
    subprocess.run(mounting, check=True)
    yield folder
    subprocess.run(("umount", "-l", str(folder)), check=True)


def call(server: Process, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = server.connection()
    data = None if body is None else json.dumps(body)
    connection.request(method, path, data, request_headers(server.token))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, json.loads(content) if content.startswith(b"{") else content.decode()


def create(server: Process, name: str) -> tuple[int, Any]:
    return call(server, "POST", CONFIGMAPS, {**config_map(name), "data": {"value": "x" * 20_000}})


def fill(folder: Path) -> None:
    """What others write on the same disk."""
    with open(folder / "ballast", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


@pytest.mark.thorough
def test_it_starts_reads_and_deletes(disk: Path) -> None:
    server = Process(disk / "data.db")
    written = 0
    while (answer := create(server, f"name-{written}"))[0] == 201:
        written += 1
    assert written > 30
    assert answer[0] == 500
    assert answer[1]["message"] == "the disk or the quota is full"
    fill(disk)
    for number in (signal.SIGKILL, signal.SIGTERM):
        server.end(number)
        server = Process(disk / "data.db")
        assert create(server, "more")[0] == 500
        code, told = call(server, "GET", "/readyz/data-writable")
        assert (code, told) == (
            500,
            "internal server error: the disk or the quota is full\n",
        )
        assert call(server, "GET", "/livez")[0] == 200
        for _ in range(5):
            written -= 1
            assert call(server, "DELETE", f"{CONFIGMAPS}/name-{written}")[0] == 200
        found = call(server, "GET", CONFIGMAPS)[1]["items"]
        assert len([one for one in found if one["metadata"]["name"].startswith("name")]) == written
        while create(server, f"name-{written}")[0] == 201:
            written += 1  # what was freed can be used again
    (disk / "ballast").unlink()
    assert create(server, "room-again")[0] == 201
    assert call(server, "GET", "/readyz")[0] == 200
    server.end(signal.SIGTERM)
