"""Recorded scenarios against the server in process: `python -m tests.serve.replaying PATH...`.

What is compared, and how, is said by the shared replaying tool, which is loaded as it is; only its
connection is exchanged for a call of the handler.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from celadon.serve.apiserver import Settings
from celadon.serve.http_messages import HttpAnswer, HttpRequest
from tests.paths import shared_folder
from tests.serve.in_process import Running

TOKEN_SOURCE = {
    "configMap": {
        "items": [{"key": "service-ca.crt", "path": "service-ca.crt"}],
        "name": "openshift-service-ca.crt",
    }
}


def tool() -> ModuleType:
    """The shared replaying tool as a module."""
    path = shared_folder() / "tools" / "replay.py"
    spec = importlib.util.spec_from_file_location("shared_replay", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def request_of(step: dict[str, Any], path: str) -> HttpRequest:
    body = step.get("body")
    data = b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    headers = [("accept", step.get("accept", "application/json")), ("user-agent", "replay")]
    user = step.get("user", "admin")
    given = step.get("headers", {})
    if user and "Authorization" not in given:
        headers.append(("authorization", f"Bearer {user}-token"))
    if body is not None and step.get("contentType", "") is not None:
        headers.append(("content-type", step.get("contentType", "application/json")))
    for name, values in given.items():
        headers = [one for one in headers if one[0] != name.lower()]
        for value in values if isinstance(values, list) else [values]:
            headers.append((name.lower(), value))
    return HttpRequest(step.get("method", "GET"), path, headers, data)


def connected(replay: Any, running: Running) -> Any:
    """The tool's server and its streams, on a running server."""

    class Server(replay.Server):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__("http://in.process:1", None)

        def call(self, step: dict[str, Any]) -> tuple[int, Any, list[str], str]:
            answer = running.answer(request_of(step, step["path"]))
            self.headers = {name.lower(): value for name, value in answer.headers}
            if answer.content_type:
                self.headers["content-type"] = answer.content_type
            answer = plain(answer)
            self.raw = answer.body.decode(errors="replace")
            audit = self.headers["audit-id"]
            self.audit_events[audit] = {"annotations": dict(answer.audit)}
            return answer.code, parsed(answer), warnings(replay, answer), audit

        def audit(self, audit_id: str) -> dict[str, Any]:
            self.audit_log = Path(__file__)
            found: dict[str, Any] = super().audit(audit_id)
            return found

    class Stream(replay.Stream):  # type: ignore[misc]
        def __init__(self, _: Server, step: dict[str, Any]) -> None:
            answer = running.answer(request_of(step, step["watch"]))
            self.answer = {
                "code": answer.code,
                "contentType": answer.content_type,
                "warnings": warnings(replay, answer),
            }
            self.events = replay.queue.Queue()
            self.ended = False
            self.last = None
            self.columns: list[Any] = []
            if answer.stream is None:
                self.answer["body"] = parsed(answer)
                self.ended = True
                return
            self.response = running.lines(answer.stream)
            threading.Thread(target=self._read, daemon=True).start()

        def close(self) -> None:
            if hasattr(self, "response"):
                self.response.close()

    replay.Stream = Stream
    return Server()


def plain(answer: HttpAnswer) -> HttpAnswer:
    """With its body as it was before it was compressed."""
    if ("Content-Encoding", "gzip") not in answer.headers:
        return answer
    return replace(answer, body=gzip.decompress(answer.body))


def parsed(answer: HttpAnswer) -> Any:
    try:
        return json.loads(answer.body) if answer.body else None
    except ValueError:
        return answer.body.decode(errors="replace")


def warnings(replay: Any, answer: HttpAnswer) -> list[str]:
    found = [value for name, value in answer.headers if name == "Warning"]
    return [replay.parse_warning(value) for value in found]


def started(needs: Iterable[str]) -> Running:
    """A server set up as a recording needs it."""
    every = "api/all" in needs
    return Running(Settings(all_versions=every, extra_token_sources=(TOKEN_SOURCE,)))


def replayed(path: Path, running: Running | None = None) -> list[str]:
    """What differs in one scenario, on a server of its own if none is given."""
    scenario = json.loads(path.read_text())
    if running is not None:
        return _differences(scenario, running)
    own = started(scenario.get("needs", ()))
    try:
        return _differences(scenario, own)
    finally:
        own.close()


def _differences(scenario: dict[str, Any], running: Running) -> list[str]:
    replay = tool()
    try:
        answers = replay.run(connected(replay, running), scenario, 0.0)
    except Exception:  # noqa: BLE001  the scenario cannot go on: that is what is reported
        return ["failed: " + traceback.format_exc().strip()[-600:]]
    found = []
    for number, (step, answer) in enumerate(zip(scenario["steps"], answers, strict=False)):
        different = replay.differences(step["want"], answer)
        found += [f"step {number} {replay.title(step)}: {one}" for one in different]
    return found


def replayed_together(paths: Sequence[Path], jobs: int) -> Iterator[tuple[Path, list[str]]]:
    """Scenarios on shared servers, one for each kind of setup, `jobs` at a time.

    They keep out of each other's way, except those that give rights to the same users: these are
    for `jobs` 1. Most of a scenario is waiting, so that several at once are done sooner.
    """
    servers: dict[tuple[str, ...], Running] = {}
    needs = {path: tuple(json.loads(path.read_text()).get("needs", ())) for path in paths}
    for one in set(needs.values()):
        servers[one] = started(one)
    try:
        with ThreadPoolExecutor(jobs) as pool:
            yield from zip(
                paths, pool.map(lambda one: replayed(one, servers[needs[one]]), paths), strict=True
            )
    finally:
        for running in servers.values():
            running.close()


def files(paths: list[Path]) -> list[Path]:
    return [
        f for path in paths for f in (sorted(path.rglob("*.json")) if path.is_dir() else [path])
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=3, metavar="N", help="differences of each")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="scenarios at once")
    options = parser.parse_args()
    passed = failed = 0
    for path, different in replayed_together(files(options.paths), options.jobs):
        passed, failed = passed + (not different), failed + bool(different)
        if different:
            shown = "".join(f"\n    {one}" for one in different[: options.show])
            sys.stdout.write(f"FAIL {path.parent.name}/{path.stem}{shown}\n")
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
