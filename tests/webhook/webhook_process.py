"""`celadon webhook` as a process, and clients that hold it to its word."""

from __future__ import annotations

import http.client
import json
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 60.0
HEADERS = {"Content-Type": "application/json"}
_URL = re.compile(r"at https?://127\.0\.0\.1:(\d+)")


class WebhookProcess:
    """Its authority is in `folder/ca.pem`, its log in `folder/log`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.log = folder / "log"
        authority = folder / "ca.pem"
        command = [
            *(sys.executable, "-m", "celadon", "webhook", "--listen", "127.0.0.1:0"),
            *arguments,
        ]
        if "--plain-http" not in arguments:
            command += ["--ca-out", str(authority)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        self.port = self._announced()
        self.tls = ssl.create_default_context()
        if authority.exists():
            self.tls.load_verify_locations(authority)

    def _announced(self) -> int:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            found = _URL.search(self.log.read_text())
            if found is not None:
                return int(found[1])
            time.sleep(0.01)
        raise AssertionError(self.log.read_text())

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def memory(self) -> int:
        """Resident, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
        return int(kilobytes) << 10

    def connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=PATIENCE, context=self.tls
        )

    def said(self, path: str) -> tuple[int, str]:
        connection = self.connection()
        connection.request("GET", path)
        answer = connection.getresponse()
        found = answer.status, answer.read().decode()
        connection.close()
        return found

    def allows(self, document: Any, path: str = "/validate") -> bool:
        connection = self.connection()
        found = posted(connection, json.dumps(document).encode(), path)
        connection.close()
        return bool(found["response"]["allowed"])

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def posted(connection: http.client.HTTPSConnection, body: bytes, path: str = "/validate") -> Any:
    """The review that answers; the connection may be closed afterwards."""
    connection.request("POST", f"{path}?timeout=10s", body, HEADERS)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return json.loads(text)


@dataclass
class Load:
    """Clients that ask without a pause, each on a connection that it keeps for as long as it may.
    They end when nobody listens any more; `failures` is everything else that went wrong."""

    served: WebhookProcess
    body: bytes
    path: str = "/validate"
    answers: list[float] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    closes: int = 0

    def begin(self, clients: int) -> list[threading.Thread]:
        threads = [threading.Thread(target=self._ask) for _ in range(clients)]
        for one in threads:
            one.start()
        return threads

    def _ask(self) -> None:
        while True:
            connection = self.served.connection()
            try:
                connection.connect()
            except ConnectionError:
                return
            try:
                while connection.sock is not None:
                    posted(connection, self.body, self.path)
                    self.answers.append(time.monotonic())
                self.closes += 1
            except BaseException as error:  # noqa: BLE001  it is what the test looks at
                self.failures.append(error)
                return
            finally:
                connection.close()
